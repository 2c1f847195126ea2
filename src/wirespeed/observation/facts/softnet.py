"""Packets handled, dropped and left over by each CPU's network softirq."""

from collections.abc import Iterator

from wirespeed.machines.machine import Machine
from wirespeed.model.facts.host import SoftnetCpu
from wirespeed.model.record import Record
from wirespeed.model.source import Problem
from wirespeed.model.text import Text
from wirespeed.observation.asking import read_by
from wirespeed.observation.collector import Collector


def _observe(machine: Machine) -> Iterator[Record | Problem]:
    yield from read_by("softnet_stat", machine, "/proc/net/softnet_stat")


COLLECTOR = Collector(
    title=Text(en="network softirq backlog", zh="网络软中断积压"), gives=(SoftnetCpu,), observe=_observe, cost_s=0.001
)
