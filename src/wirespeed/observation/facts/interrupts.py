"""Interrupts by CPU, and the CPUs each may run on."""

from collections.abc import Iterator

import msgspec

from wirespeed.machines.machine import Machine, MachineProblem
from wirespeed.model.facts.host import Interrupt
from wirespeed.model.record import Record
from wirespeed.model.source import Problem, Quote
from wirespeed.model.text import Text
from wirespeed.observation.asking import cpus_of, read_by, text_of
from wirespeed.observation.collector import Collector

MOST_AFFINITIES = 8_192


def _observe(machine: Machine) -> Iterator[Record | Problem]:
    asked = 0
    for item in read_by("interrupts", machine, "/proc/interrupts"):
        if isinstance(item, Interrupt) and item.irq.isdigit() and asked < MOST_AFFINITIES:
            asked += 1
            yield _with_affinity(machine, item)
        else:
            yield item


def _with_affinity(machine: Machine, interrupt: Interrupt) -> Interrupt:
    """Where it really goes; kernels before 4.15 only tell where it may go."""
    reason = None
    for name in ("effective_affinity_list", "smp_affinity_list"):
        path = f"/proc/irq/{interrupt.irq}/{name}"
        try:
            line = text_of(machine, path).partition("\n")[0]
        except MachineProblem as trouble:
            reason = reason or trouble.reason
            continue
        cpus = cpus_of(line)
        if cpus:
            quotes = (*interrupt.quotes, Quote(source=path, line_index=0, text=line))
            return msgspec.structs.replace(interrupt, effective_cpus=cpus, quotes=quotes)
    return msgspec.structs.replace(interrupt, missing={"effective_cpus": reason or "absent"})


COLLECTOR = Collector(title=Text(en="interrupts", zh="中断"), gives=(Interrupt,), observe=_observe, cost_s=0.002)
