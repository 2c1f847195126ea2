"""Reads, writes and busy time of every block device (/proc/diskstats)."""

from functools import lru_cache

from wirespeed.machines.kept import kept_file
from wirespeed.machines.machine import Machine
from wirespeed.model.samples import Key, Layout
from wirespeed.model.text import Text
from wirespeed.observation.sampler import Family, Probe, Raw, Row, Wanted

PATH = "/proc/diskstats"
SECTOR_BYTES = 512
"""Whatever the device's own sector size (Documentation/admin-guide/iostats.rst)."""
_COLUMNS = (
    ("reads", 3, 1.0, "1"), ("read_bytes", 5, float(SECTOR_BYTES), "bytes"), ("read_time", 6, 1e-3, "s"), ("writes", 7, 1.0, "1"),
    ("written_bytes", 9, float(SECTOR_BYTES), "bytes"), ("write_time", 10, 1e-3, "s"), ("in_flight", 11, 1.0, "1"),
    ("busy_time", 12, 1e-3, "s"),
)  # fmt: skip
_NO_DISKS = (b"loop", b"ram", b"zram")


@lru_cache(maxsize=16)
def _layout(disks: tuple[bytes, ...]) -> Layout:
    return tuple(
        Key("disks", disk.decode(), name, unit, "gauge" if name == "in_flight" else "counter")
        for disk in disks
        for name, _, _, unit in _COLUMNS
    )


def _parse(raw: Raw) -> Row:
    disks: list[bytes] = []
    values: list[float] = []
    for line in raw[0].splitlines():
        columns = line.split()
        if len(columns) > 12 and not columns[2].startswith(_NO_DISKS):
            disks.append(columns[2])
            values += [float(columns[column]) * factor for _, column, factor, _ in _COLUMNS]
    return _layout(tuple(disks)), values


def _open(machine: Machine, wanted: Wanted) -> Probe:
    return Probe(sources=(kept_file(machine, PATH),), parse=_parse)


FAMILY = Family(title=Text(en="disks", zh="磁盘"), open=_open, period_s=0.5, named_period_s=0.1)
