"""Limits of this process that RDMA and servers run into: locked memory, open files, processes."""

from collections.abc import Iterator

from wirespeed.machines.machine import Machine
from wirespeed.model.facts.host import ProcessLimit
from wirespeed.model.record import Record
from wirespeed.model.source import Problem
from wirespeed.model.text import Text
from wirespeed.observation.asking import read_by
from wirespeed.observation.collector import Collector


def _observe(machine: Machine) -> Iterator[Record | Problem]:
    yield from read_by("process_limits", machine, "/proc/self/limits")


COLLECTOR = Collector(title=Text(en="process limits", zh="进程限制"), gives=(ProcessLimit,), observe=_observe, cost_s=0.001)
