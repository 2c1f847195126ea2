"""What monitors tell of a machine's GPUs: checks that failed, one GPU that differs from its equals, processes that share one."""

import re
from collections import defaultdict
from statistics import median

from wirespeed.model.case import Case
from wirespeed.model.facts.gpu import Gpu, GpuCheck, GpuProcess

FEWEST_TWINS_COUNT = 3
"""Of two devices nobody can tell which is the odd one."""
HELD_BACK_S = 60.0
HELD_BACK_TIMES = 5.0
"""A GPU held back for a minute and five times as long as the usual of its equals; starting points, not calibrated."""
REPLAYS_COUNT = 100
REPLAYS_TIMES = 10.0
FULLY_USED_RATIO = 0.9
FEW_SM_RATIO = 0.2

_NVLINK = re.compile(r"nv-?link|nvswitch")
_PCIE = re.compile(r"\bpcie?\b|min_pci_width")
_PCIE_LINK = re.compile(r"replay|link (?:width|speed|generation)|\bwidth\b|pci_generation")
_HEAT_OR_POWER = re.compile(r"therm|clocks? (?:event|throttl)|throttl|power (?:violation|cap|slowdown|brake)|temperature")
_MEMORY = re.compile(r"row[ _-]?remap|uncorrect|double[ -]?bit|\bdbe\b|page retire|fallen off|\bxid\b|sram|contained ecc")


def failed_checks(case: Case, what: str) -> tuple[GpuCheck, ...]:
    """Checks that failed or warned on account of `nvlink`, `pcie`, `heat` or `memory`; one that names NVLink is none of PCIe."""
    return case.every(GpuCheck, lambda one: one.outcome != "pass" and _subject(one) == what)


def _subject(one: GpuCheck) -> str | None:
    said = f"{one.check} {one.detail or ''}".lower()
    if _NVLINK.search(said):
        return "nvlink"
    if _MEMORY.search(said) or one.check in ("memory system", "mem"):
        return "memory"
    if _PCIE_LINK.search(said) and _PCIE.search(said):
        return "pcie"
    if _HEAT_OR_POWER.search(said) or one.check == "power system":
        return "heat"
    return None


def held_back(case: Case) -> tuple[Gpu, float] | None:
    """The GPU that heat, the power cap or the power brake held back far longer than the other GPUs of its machine, and how long."""
    found = [
        pair
        for name in ("thermal_slowed_s", "power_braked_s", "power_capped_s")
        for pair in _odd_ones(case, name, HELD_BACK_S, HELD_BACK_TIMES)
    ]
    return max(found, key=lambda pair: pair[1], default=None)


def replaying(case: Case) -> tuple[Gpu, ...]:
    """GPUs whose PCIe link repeats far more packets than those of the other GPUs of the machine."""
    return tuple(one for one, _ in _odd_ones(case, "pcie_replays_count", REPLAYS_COUNT, REPLAYS_TIMES))


def _odd_ones(case: Case, name: str, least: float, times: float) -> list[tuple[Gpu, float]]:
    """GPUs whose total is at least `least`, and so many times the median of the machine's other GPUs; the last sample of each counts."""
    machines: dict[tuple[str | None, str], dict[int, Gpu]] = defaultdict(dict)
    for one in case.every(Gpu, lambda one: getattr(one, name) is not None and "index" not in one.missing):
        machines[one.host, one.source.path][one.index] = one
    found: list[tuple[Gpu, float]] = []
    for gpus in machines.values():
        totals = {index: float(getattr(one, name)) for index, one in gpus.items()}
        if len(totals) < FEWEST_TWINS_COUNT:
            continue
        for index, total in totals.items():
            usual = median(other for place, other in totals.items() if place != index)
            if total >= max(least, times * usual):
                found.append((gpus[index], total))
    return found


def shared_gpus(case: Case) -> tuple[GpuProcess, ...]:
    """The processes of GPUs on which several compute, where most GPUs of the machine have one."""
    machines: dict[tuple[str | None, str], dict[int, dict[int, GpuProcess]]] = defaultdict(lambda: defaultdict(dict))
    for one in case.every(GpuProcess, lambda one: one.is_compute):
        machines[one.host, one.source.path][one.gpu_index][one.process_number] = one
    found: list[GpuProcess] = []
    for gpus in machines.values():
        crowded = [processes for processes in gpus.values() if len(processes) > 1]
        if len(gpus) >= FEWEST_TWINS_COUNT and 0 < 3 * len(crowded) <= len(gpus):
            found += [one for processes in crowded for one in processes.values()]
    return tuple(found)


def waits_on_few(gpu: Gpu) -> bool:
    """Whether a GPU counts as fully used while a fifth or less of its multiprocessors run, as under kernels that wait for others.

    NCCL's kernels hold one multiprocessor a channel, of more than a hundred; the share is a starting point, not calibrated.
    """
    return (
        (gpu.utilisation_ratio or 0.0) >= FULLY_USED_RATIO
        and gpu.sm_active_ratio is not None
        and gpu.sm_active_ratio <= FEW_SM_RATIO
    )
