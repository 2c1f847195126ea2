"""One pair at a time, of those that were slow together: is it the pair, or what they share?"""

import time
from collections.abc import Iterable

from wirespeed.diagnosis.joins.rates import is_slow, pair_rates, usual_bytes_per_s
from wirespeed.model.case import Case
from wirespeed.model.link_runs import FlowRun
from wirespeed.model.record import Record
from wirespeed.model.source import Problem
from wirespeed.model.text import Text
from wirespeed.verbs._measure import BULK_STEP_S, FLOWS_COUNT, WINDOW_S, Fleet, Measure, lead_s, specified

MOST_PAIRS_COUNT = 1


def _slow_pairs(case: Case) -> list[tuple[str, str]]:
    rates = pair_rates(case)
    usual = usual_bytes_per_s(rates)
    slow = [one for one in rates if usual and not one.is_alone and is_slow(one, usual)]
    return list(dict.fromkeys((one.sender, one.receiver) for one in sorted(slow, key=lambda one: one.goodput_bytes_per_s)))


def _run(fleet: Fleet, case: Case) -> Iterable[Record | Problem]:
    hosts = {host.name: host for host in fleet.hosts}
    for sender, receiver in _slow_pairs(case)[:MOST_PAIRS_COUNT]:
        call = specified(
            fleet, hosts[sender], hosts[receiver], tests=("throughput",), duration_s=WINDOW_S, flows_count=FLOWS_COUNT,
            start_at_s=time.time() + lead_s(case), purpose="parallel", label=f"{sender} to {receiver} alone",
        )  # fmt: skip
        yield from fleet.ask([call], 12.0)


MEASURE = Measure(
    title=Text(en="slow pairs again, one at a time", zh="逐对重测较慢的主机对"),
    gives=(FlowRun,),
    cost_s=lambda fleet: BULK_STEP_S * MOST_PAIRS_COUNT,
    run=_run,
    among="agents",
    is_worth_it=lambda case: bool(_slow_pairs(case)),
)
