"""A paced train of datagrams over every path, both ways: loss that no queue explains."""

from collections.abc import Iterable

from wirespeed.model.case import Case
from wirespeed.model.link_runs import DatagramTrain
from wirespeed.model.record import Record
from wirespeed.model.source import Problem
from wirespeed.model.text import Text
from wirespeed.verbs._measure import Fleet, Measure, specified

TRAIN_S = 0.5
RATE_PER_S = 2400.0
"""1,200 datagrams show a loss of a quarter of a percent; all pairs together stay at a few Mb/s a host."""
COST_S = 2.0


def _run(fleet: Fleet, case: Case) -> Iterable[Record | Problem]:
    return fleet.ask(
        [
            specified(fleet, sender, receiver, tests=("datagrams",), duration_s=TRAIN_S, datagrams_per_s=RATE_PER_S)
            for pairs in fleet.rounds()
            for sender, receiver in pairs
        ],
        12.0,
    )


MEASURE = Measure(
    title=Text(en="paced datagrams over every path", zh="各路径上的限速数据报"),
    gives=(DatagramTrain,),
    cost_s=lambda fleet: COST_S,
    run=_run,
)
