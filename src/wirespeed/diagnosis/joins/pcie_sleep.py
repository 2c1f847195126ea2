"""GPUs whose PCIe link sleeps: read once at a low generation, another time at the full one."""

from wirespeed.model.case import Case
from wirespeed.model.facts.gpu import Gpu


def waking_gpus(case: Case) -> tuple[Gpu, ...]:
    """Two readings of one GPU (by host and index), the first below its generation with less power drawn than in the other."""
    readings = case.every(Gpu, lambda one: bool(one.pcie_generation_number and one.pcie_generation_max_number))
    for low in readings:
        for full in readings:
            same = low.host == full.host and low.index == full.index
            rises = (low.pcie_generation_number or 0) < (full.pcie_generation_number or 0) == full.pcie_generation_max_number
            if same and rises and _is_idler(low, full):
                return (low, full)
    return ()


def _is_idler(low: Gpu, full: Gpu) -> bool:
    if low.power_w is not None and full.power_w is not None:
        return low.power_w < full.power_w
    return (low.utilisation_ratio or 0.0) <= (full.utilisation_ratio or 0.0)
