"""Bytes, packets, drops and errors of every interface (/proc/net/dev)."""

from functools import lru_cache

from wirespeed.machines.kept import kept_file
from wirespeed.machines.machine import Machine
from wirespeed.model.samples import Key, Layout
from wirespeed.model.text import Text
from wirespeed.observation.sampler import Family, Probe, Raw, Row, Wanted

PATH = "/proc/net/dev"
_NAMES = (
    "rx_bytes", "rx_packets", "rx_errors", "rx_dropped", "rx_fifo_errors", "rx_frame_errors", "rx_compressed", "multicast",
    "tx_bytes", "tx_packets", "tx_errors", "tx_dropped", "tx_fifo_errors", "collisions", "tx_carrier_errors", "tx_compressed",
)  # fmt: skip
"""Columns under their names in /sys/class/net/*/statistics. `rx_dropped` has `rx_missed_errors` in it (net/core/net-procfs.c)."""


@lru_cache(maxsize=16)
def _layout(links: tuple[bytes, ...]) -> Layout:
    units = tuple("bytes" if name.endswith("_bytes") else "packets" for name in _NAMES)
    return tuple(
        Key("links", link.decode(errors="replace"), name, unit) for link in links for name, unit in zip(_NAMES, units, strict=True)
    )


def _parse(raw: Raw) -> Row:
    links: list[bytes] = []
    values: list[bytes] = []
    for line in raw[0].splitlines()[2:]:
        link, colon, rest = line.rpartition(b":")
        columns = rest.split()
        if colon and len(columns) == len(_NAMES):
            links.append(link.strip())
            values += columns
    return _layout(tuple(links)), list(map(float, values))


def _open(machine: Machine, wanted: Wanted) -> Probe:
    return Probe(sources=(kept_file(machine, PATH),), parse=_parse)


FAMILY = Family(title=Text(en="interfaces", zh="网络接口"), open=_open, pace="fast")
