"""/proc/interrupts, whole or grepped, and /proc/irq/N/*_affinity_list: which CPUs serve which interrupt."""

import re
from collections.abc import Iterator

from wirespeed.model.facts.host import Interrupt
from wirespeed.model.kinds import Reader
from wirespeed.model.lines import Lines, source
from wirespeed.model.record import Record
from wirespeed.model.source import Problem
from wirespeed.model.text import Text
from wirespeed.readers.parsing.excerpt import Seen, excerpt
from wirespeed.readers.parsing.marks import marked
from wirespeed.readers.parsing.regex import regex

_HEADER = regex(r"^\s*CPU\d+(?:\s+CPU\d+)*\s*$")
_ROW = regex(r"^\s*(?P<irq>\d{1,5}|[A-Z]{2,4}\d?):(?P<counts>(?:\s+\d+)+)\s+(?P<rest>[^\s\d]\S*(?:\s+\S+)*)\s*$")
_CONTROLLER = regex(
    r"^(?:IR-)?(?:PCI-MSI|IO-APIC|XT-PIC|ITS|GIC|MSI|DMAR|Hyper-V|xen|ICU|PCI-HT|HPET|PLIC|APLIC|IMSIC)", re.IGNORECASE
)
_AFFINITY = regex(r"^\s*/proc/irq/(?P<irq>\d+)/(?:smp|effective)_affinity_list:\s*(?P<cpus>[\d,-]+)\s*$")
_RECOGNISED = regex(
    r"(?im)^[ \t]+CPU0(?:\s+CPU\d+)*[ \t]*$|^[ \t]*(?:[\w.-]+: *)?\d{1,5}:(?:\s+\d+)+\s+(?:IR-)?(?:PCI-MSI"
    r"|IO-APIC|ITS|GIC|MSI|xen|Hyper-V)"
    r"|/proc/irq/\d+/\w+_affinity_list:"
)
_MOST_CPUS = 8192


def _read(lines: Lines) -> Iterator[Record | Problem]:
    has_header = False
    for seen in excerpt(lines, _is_own):
        if seen.is_prompt:
            has_header = False
        elif _HEADER.match(seen.text):
            has_header = True
        else:
            yield from _row(lines, seen, has_header)


def _is_own(text: str) -> bool:
    row = _ROW.match(text)
    return (
        _HEADER.match(text) is not None
        or _AFFINITY.match(text) is not None
        or (row is not None and bool(_CONTROLLER.match(row["rest"])))
    )


def _row(lines: Lines, seen: Seen, has_header: bool) -> Iterator[Interrupt]:
    row = _ROW.match(seen.text)
    affinity = _AFFINITY.match(seen.text)
    if affinity:
        yield Interrupt(
            source=source(lines, "/proc/irq", seen.host),
            quotes=(seen.quoted(lines),),
            irq=affinity["irq"],
            name=affinity["irq"],
            effective_cpus=_cpus(affinity["cpus"]),
        )
    elif row and (has_header or _CONTROLLER.match(row["rest"])):
        words = row["rest"].split()
        is_described = not row["irq"].isdecimal()
        yield Interrupt(
            source=source(lines, "/proc/interrupts", seen.host),
            quotes=(seen.quoted(lines),),
            irq=row["irq"],
            name=" ".join(words) if is_described else words[-1],
            per_cpu_counts=tuple(int(one) for one in row["counts"].split()[:_MOST_CPUS]),
        )


def _cpus(text: str) -> tuple[int, ...] | None:
    """CPUs of a list such as `0-3,8`."""
    cpus: list[int] = []
    for part in text.split(","):
        first, _, last = part.partition("-")
        if not first.isdecimal() or (last and not last.isdecimal()):
            return None
        cpus.extend(range(int(first), min(int(last or first), _MOST_CPUS) + 1))
    return tuple(cpus)


READER = Reader(
    title=Text(en="interrupts", zh="中断分布"),
    gives=(Interrupt,),
    recognises=marked(_RECOGNISED),
    read=_read,
    obtained_by=("cat /proc/interrupts",),
)
