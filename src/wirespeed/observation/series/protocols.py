"""What TCP, UDP, IP and ICMP count: retransmits, out-of-order segments, overflows, timeouts (/proc/net/snmp and netstat)."""

from functools import lru_cache

from wirespeed.machines.machine import Machine, absent
from wirespeed.model.samples import Key, Layout
from wirespeed.model.text import Text
from wirespeed.observation.opened import opened_files, words
from wirespeed.observation.sampler import Family, Probe, Raw, Row, Wanted

PATHS = ("/proc/net/snmp", "/proc/net/netstat")
_SETTINGS = frozenset({"Forwarding", "DefaultTTL", "RtoAlgorithm", "RtoMin", "RtoMax", "MaxConn"})
_GAUGES = _SETTINGS | {"CurrEstab"}
_PACKETS = ("Segs", "Pkts", "Datagrams", "Receives", "Requests", "OutTransmits")


@lru_cache(maxsize=16)
def _layout(heads: tuple[bytes, ...]) -> Layout:
    return tuple(
        Key("protocols", table.rstrip(":"), name, _unit(name), "gauge" if name in _GAUGES else "counter")
        for table, *names in map(words, heads)
        for name in names
    )


def _unit(name: str) -> str:
    return "setting" if name in _SETTINGS else "bytes" if name.endswith("Octets") else "packets" if name.endswith(_PACKETS) else "1"


def _parse(raw: Raw) -> Row:
    """Lines come in pairs: names and values of one table."""
    heads: list[bytes] = []
    values: list[bytes] = []
    for text in raw:
        lines = text.splitlines()
        for head, line in zip(lines[::2], lines[1::2], strict=False):
            columns = line.split()
            if head.count(b" ") == len(columns) - 1 and head.partition(b":")[0] == line.partition(b":")[0]:
                heads.append(head)
                values += columns[1:]
    return _layout(tuple(heads)), list(map(float, values))


def _open(machine: Machine, wanted: Wanted) -> Probe:
    files, problems = opened_files(machine, PATHS)
    if not files:
        raise absent(PATHS[0])
    return Probe(sources=tuple(files), parse=_parse, problems=problems)


FAMILY = Family(title=Text(en="protocol counters", zh="协议计数器"), open=_open, pace="fast")
