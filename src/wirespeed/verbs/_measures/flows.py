"""Bulk flows between this host and each peer, one way and the other, with the round trips beside them."""

from collections.abc import Iterable

from wirespeed.model.case import Case
from wirespeed.model.link_runs import FlowRun, LatencyRun
from wirespeed.model.record import Record
from wirespeed.model.source import Problem
from wirespeed.model.text import Text
from wirespeed.verbs._measure import FLOWS_COUNT, Fleet, Measure, specified

FLOW_S = 1.0
COST_S = 9.0
"""Of one peer: three phases of flows and six of round trips."""


def _run(fleet: Fleet, case: Case) -> Iterable[Record | Problem]:
    for peer in fleet.peers:
        call = specified(
            fleet, fleet.hosts[0], peer, tests=("throughput", "latency"), duration_s=FLOW_S, flows_count=FLOWS_COUNT, is_brief=False,
            most_s=20.0,
        )  # fmt: skip
        yield from fleet.ask([call], 25.0)


MEASURE = Measure(
    title=Text(en="bulk flows to and from each peer", zh="与各对端之间的大流量"),
    gives=(FlowRun, LatencyRun),
    cost_s=lambda fleet: COST_S * len(fleet.peers),
    run=_run,
    among="peers",
)
