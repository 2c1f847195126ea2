"""Packets handled, dropped and left over by the network softirq of each core (/proc/net/softnet_stat)."""

from functools import lru_cache

from wirespeed.machines.kept import kept_file
from wirespeed.machines.machine import Machine
from wirespeed.model.samples import Key, Layout
from wirespeed.model.text import Text
from wirespeed.observation.sampler import Family, Probe, Raw, Row, Wanted

PATH = "/proc/net/softnet_stat"
_COLUMNS = {"processed": 0, "dropped": 1, "time_squeeze": 2, "received_rps": 9, "flow_limit_count": 10, "backlog": 11}
_CPU_COLUMN = 12
"""Since 5.10; before, the row's number is the core's as long as none is offline."""


@lru_cache(maxsize=16)
def _layout(cpus: tuple[int, ...], width: int) -> Layout:
    return tuple(
        Key("softnet", f"cpu{cpu}", name, "1" if name == "time_squeeze" else "packets", "gauge" if name == "backlog" else "counter")
        for cpu in cpus
        for name, column in _COLUMNS.items()
        if column < width
    )


def _parse(raw: Raw) -> Row:
    rows = [line.split() for line in raw[0].splitlines()]
    width = min(map(len, rows), default=0)
    cpus = tuple(int(row[_CPU_COLUMN], 16) if width > _CPU_COLUMN else number for number, row in enumerate(rows))
    columns = [column for column in _COLUMNS.values() if column < width]
    return _layout(cpus, width), [float(int(row[column], 16)) for row in rows for column in columns]


def _open(machine: Machine, wanted: Wanted) -> Probe:
    return Probe(sources=(kept_file(machine, PATH),), parse=_parse)


FAMILY = Family(title=Text(en="network softirq of each core", zh="各核网络软中断"), open=_open, pace="fast")
