"""What a file on the facts shelf offers."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from wirespeed.machines.machine import Machine
from wirespeed.model.record import Record
from wirespeed.model.source import Problem
from wirespeed.model.text import Text


@dataclass(frozen=True, slots=True, kw_only=True)
class Collector:
    """One kind of fact and how to ask a machine for it.

    `observe` yields what there is; `MachineProblem` may leave it at any point and ends this collector only. `cost_s` is what it
    takes on an ordinary host (measured by `benchmarks/facts.py`).
    """

    title: Text
    gives: tuple[type[Record], ...]
    observe: Callable[[Machine], Iterator[Record | Problem]]
    cost_s: float
