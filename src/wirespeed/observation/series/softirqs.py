"""Softirqs of every kind on each core (/proc/softirqs)."""

from functools import lru_cache

from wirespeed.machines.kept import kept_file
from wirespeed.machines.machine import Machine
from wirespeed.model.samples import Key, Layout
from wirespeed.model.text import Text
from wirespeed.observation.opened import words
from wirespeed.observation.sampler import Family, Probe, Raw, Row, Wanted

PATH = "/proc/softirqs"


@lru_cache(maxsize=16)
def _layout(head: bytes, kinds: tuple[bytes, ...]) -> Layout:
    return tuple(Key("softirqs", cpu.lower(), kind.decode()) for kind in kinds for cpu in words(head))


def _parse(raw: Raw) -> Row:
    head, *lines = raw[0].splitlines() or [b""]
    width = len(head.split())
    kinds: list[bytes] = []
    values: list[bytes] = []
    for line in lines:
        kind, _, rest = line.partition(b":")
        columns = rest.split()
        if len(columns) == width:
            kinds.append(kind.strip())
            values += columns
    return _layout(head, tuple(kinds)), list(map(float, values))


def _open(machine: Machine, wanted: Wanted) -> Probe:
    return Probe(sources=(kept_file(machine, PATH),), parse=_parse)


FAMILY = Family(title=Text(en="softirqs of each core", zh="各核软中断"), open=_open, period_s=0.2)
