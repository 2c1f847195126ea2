"""Interrupts by line and by core (/proc/interrupts); which core serves which line is a fact, not a series."""

from functools import lru_cache

from wirespeed.machines.kept import kept_file
from wirespeed.machines.machine import Machine
from wirespeed.model.samples import Key, Layout
from wirespeed.model.text import Text
from wirespeed.observation.opened import words
from wirespeed.observation.sampler import Family, Probe, Raw, Row, Wanted

PATH = "/proc/interrupts"


@lru_cache(maxsize=16)
def _layout(head: bytes, lines: tuple[bytes, ...]) -> Layout:
    named = [Key("interrupts", f"irq {_named(line)}", "count") for line in lines]
    return (*named, *(Key("interrupts", cpu.lower(), "count") for cpu in words(head)))


def _named(line: bytes) -> str:
    """`24: ... PCI-MSIX-0000:00:03.0 0-edge virtio2-input.0` is `24 virtio2-input.0`; named ones such as `LOC` keep their name."""
    number, *rest = words(line)
    return f"{number.rstrip(':')} {rest[-1]}" if number.rstrip(":").isdigit() and rest else number.rstrip(":")


def _parse(raw: Raw) -> Row:
    head, *lines = raw[0].splitlines() or [b""]
    width = len(head.split())
    labels: list[bytes] = []
    sums: list[float] = []
    per_cpu = [0.0] * width
    for line in lines:
        columns = line.split()
        counts = columns[1 : 1 + width]
        if len(counts) == width and counts[-1].isdigit():
            numbers = list(map(float, counts))
            labels.append(b" ".join((columns[0], *columns[1 + width :])))
            sums.append(sum(numbers))
            per_cpu = [one + more for one, more in zip(per_cpu, numbers, strict=True)]
    return _layout(head, tuple(labels)), sums + per_cpu


def _open(machine: Machine, wanted: Wanted) -> Probe:
    return Probe(sources=(kept_file(machine, PATH),), parse=_parse)


FAMILY = Family(title=Text(en="interrupts", zh="中断"), open=_open, period_s=1.0, named_period_s=0.1)
