"""Bulk flows between all hosts, in rounds of disjoint pairs, both ways at once, while the routers count."""

import time
from collections.abc import Iterable

from wirespeed.model.case import Case
from wirespeed.model.link_runs import FlowRun
from wirespeed.model.record import Record
from wirespeed.model.series import DURING_BULK, SeriesSummary
from wirespeed.model.source import Problem
from wirespeed.model.text import Text
from wirespeed.verbs._measure import BULK_STEP_S, FLOWS_COUNT, WINDOW_S, Fleet, Measure, lead_s, relabelled, specified


def _run(fleet: Fleet, case: Case) -> Iterable[Record | Problem]:
    for number, pairs in enumerate(fleet.rounds()):
        both_ways = [*pairs, *((other, one) for one, other in pairs)]
        start_at_s = time.time() + lead_s(case)
        calls = [
            specified(
                fleet, sender, receiver, tests=("throughput",), duration_s=WINDOW_S, flows_count=FLOWS_COUNT,
                start_at_s=start_at_s, purpose="mesh", label=f"round {number + 1}",
            )
            for sender, receiver in both_ways
        ]  # fmt: skip
        watches = [
            (router, "watch", {"for_s": lead_s(case) + WINDOW_S + 0.5, "every_s": 0.1, "families": ("links", "qdiscs")})
            for router in fleet.routers
        ]
        yield from relabelled(fleet.ask([*calls, *watches], 12.0), DURING_BULK)


MEASURE = Measure(
    title=Text(en="bulk flows between all pairs", zh="所有主机对之间的大流量"),
    gives=(FlowRun, SeriesSummary),
    cost_s=lambda fleet: BULK_STEP_S * fleet.rounds_count,
    run=_run,
    among="agents",
)
