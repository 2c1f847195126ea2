"""Connections tracked, and what connection tracking could not do, by core (/proc/net/stat/nf_conntrack)."""

from functools import lru_cache

from wirespeed.machines.kept import kept_file
from wirespeed.machines.machine import Machine
from wirespeed.model.samples import Key, Layout
from wirespeed.model.text import Text
from wirespeed.observation.opened import words
from wirespeed.observation.sampler import Family, Probe, Raw, Row, Wanted

PATH = "/proc/net/stat/nf_conntrack"
_WHOLE = "entries"
"""The same number in every row: of the machine, not of the core."""


@lru_cache(maxsize=16)
def _layout(head: bytes, cpus_count: int) -> Layout:
    names = [name for name in words(head) if name != _WHOLE]
    cores = [Key("conntrack", f"conntrack/cpu{cpu}", name) for cpu in range(cpus_count) for name in names]
    return (Key("conntrack", "conntrack", _WHOLE, "1", "gauge"), *cores)


def _parse(raw: Raw) -> Row:
    head, *lines = raw[0].splitlines() or [b""]
    names = words(head)
    rows = [line.split() for line in lines]
    if _WHOLE not in names or not rows or any(len(row) != len(names) for row in rows):
        return (), []
    at = names.index(_WHOLE)
    values = [float(int(value, 16)) for row in rows for column, value in enumerate(row) if column != at]
    return _layout(head, len(rows)), [float(int(rows[0][at], 16)), *values]


def _open(machine: Machine, wanted: Wanted) -> Probe:
    return Probe(sources=(kept_file(machine, PATH),), parse=_parse)


FAMILY = Family(title=Text(en="connection tracking", zh="连接跟踪"), open=_open, period_s=0.2)
