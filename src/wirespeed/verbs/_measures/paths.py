"""Every path without load: round trips, hops, marks and the largest packet, both ways."""

from collections.abc import Iterable

from wirespeed.model.case import Case
from wirespeed.model.link_runs import HeaderRun, LatencyRun, PathMtuRun
from wirespeed.model.measurement import PathHop
from wirespeed.model.record import Record
from wirespeed.model.source import Problem
from wirespeed.model.text import Text
from wirespeed.verbs._measure import Fleet, Measure, specified

STEP_S = 0.5
"""Of one round, measured in a lab of four hosts on two cores. Round trips are those of both ways, and the other tests go both ways."""
LATENCY_S = 0.4


def _run(fleet: Fleet, case: Case) -> Iterable[Record | Problem]:
    for pairs in fleet.rounds():
        calls = [
            specified(fleet, sender, receiver, tests=("latency", "hops", "dscp", "path_mtu"), duration_s=LATENCY_S)
            for sender, receiver in pairs
        ]
        yield from fleet.ask(calls, 12.0)


MEASURE = Measure(
    title=Text(en="every path without load", zh="无负载时的各条路径"),
    gives=(LatencyRun, HeaderRun, PathMtuRun, PathHop),
    cost_s=lambda fleet: STEP_S * fleet.rounds_count,
    run=_run,
)
