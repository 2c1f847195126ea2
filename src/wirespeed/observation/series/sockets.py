"""How many sockets there are and how much memory they take (/proc/net/sockstat and sockstat6)."""

from functools import lru_cache

from wirespeed.machines.machine import Machine, absent
from wirespeed.model.samples import Key, Layout
from wirespeed.model.text import Text
from wirespeed.observation.opened import opened_files
from wirespeed.observation.sampler import Family, Probe, Raw, Row, Wanted

PATHS = ("/proc/net/sockstat", "/proc/net/sockstat6")


@lru_cache(maxsize=16)
def _layout(names: tuple[tuple[bytes, bytes], ...]) -> Layout:
    return tuple(
        Key("sockets", table.decode(), name.decode(), "pages" if name == b"mem" else "1", "gauge") for table, name in names
    )


def _parse(raw: Raw) -> Row:
    names: list[tuple[bytes, bytes]] = []
    values: list[bytes] = []
    for line in b"\n".join(raw).splitlines():
        table, _, rest = line.partition(b":")
        columns = rest.split()
        names += [(table, name) for name in columns[::2]]
        values += columns[1::2]
    return _layout(tuple(names)), list(map(float, values))


def _open(machine: Machine, wanted: Wanted) -> Probe:
    files, _ = opened_files(machine, PATHS)
    if not files:
        raise absent(PATHS[0])
    return Probe(sources=tuple(files), parse=_parse)


FAMILY = Family(title=Text(en="sockets", zh="套接字"), open=_open, period_s=0.2)
