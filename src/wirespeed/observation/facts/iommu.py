"""Whether the IOMMU is on, and whether it translates."""

from collections.abc import Iterator

from wirespeed.machines.machine import Machine
from wirespeed.model.facts.host import IommuState
from wirespeed.model.record import Record
from wirespeed.model.source import Problem
from wirespeed.model.text import Text
from wirespeed.observation.asking import Gathered
from wirespeed.observation.collector import Collector

ROOT = "/sys/kernel/iommu_groups"
_MODES = {"identity": "passthrough", "DMA": "translated", "DMA-FQ": "translated"}


def _observe(machine: Machine) -> Iterator[Record | Problem]:
    groups = machine.listing(ROOT)
    found = Gathered(machine, "sysfs", ROOT)
    found.put("is_on", bool(groups))
    if groups:
        first = min(groups, key=lambda name: (len(name), name))
        found.take("mode", f"{ROOT}/{first}/type", lambda text: _MODES.get(text, text))
    yield found.into(IommuState)


COLLECTOR = Collector(title=Text(en="IOMMU", zh="IOMMU"), gives=(IommuState,), observe=_observe, cost_s=0.001)
