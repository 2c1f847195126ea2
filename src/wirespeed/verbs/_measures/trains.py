"""A paced train of datagrams over every path, both ways: loss that no queue explains."""

from collections.abc import Iterable

from wirespeed.model.case import Case
from wirespeed.model.link_runs import DatagramTrain
from wirespeed.model.record import Record
from wirespeed.model.source import Problem
from wirespeed.model.text import Text
from wirespeed.verbs._measure import Fleet, Measure, specified

TRAIN_S = 0.8
STEP_S = 1.1


def _run(fleet: Fleet, case: Case) -> Iterable[Record | Problem]:
    for pairs in fleet.rounds():
        both_ways = [*pairs, *((other, one) for one, other in pairs)]
        yield from fleet.ask(
            [specified(fleet, sender, receiver, tests=("datagrams",), duration_s=TRAIN_S) for sender, receiver in both_ways], 12.0
        )


MEASURE = Measure(
    title=Text(en="paced datagrams over every path", zh="各路径上的限速数据报"),
    gives=(DatagramTrain,),
    cost_s=lambda fleet: STEP_S * fleet.rounds_count,
    run=_run,
)
