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
"""Of one direction of one round, measured in a lab of four hosts on two cores."""
LATENCY_S = 0.4


def _run(fleet: Fleet, case: Case) -> Iterable[Record | Problem]:
    for pairs in fleet.rounds():
        for ways in (pairs, tuple((other, one) for one, other in pairs)):
            calls = [specified(fleet, sender, receiver, tests=("latency",), duration_s=LATENCY_S) for sender, receiver in ways]
            yield from fleet.ask(calls, 12.0)


MEASURE = Measure(
    title=Text(en="every path without load", zh="无负载时的各条路径"),
    gives=(LatencyRun, HeaderRun, PathMtuRun, PathHop),
    cost_s=lambda fleet: 2 * STEP_S * fleet.rounds_count,
    run=_run,
)
