"""Network softirqs of each CPU."""

from collections.abc import Iterator

from wirespeed.machines.machine import Machine
from wirespeed.model.facts.host import SoftirqCpu
from wirespeed.model.record import Record
from wirespeed.model.source import Problem
from wirespeed.model.text import Text
from wirespeed.observation.asking import read_by
from wirespeed.observation.collector import Collector


def _observe(machine: Machine) -> Iterator[Record | Problem]:
    yield from read_by("softirqs", machine, "/proc/softirqs")


COLLECTOR = Collector(title=Text(en="network softirqs", zh="网络软中断"), gives=(SoftirqCpu,), observe=_observe, cost_s=0.001)
