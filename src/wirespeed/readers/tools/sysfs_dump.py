"""Files of /sys with their content: `grep . PATH...` (path:value), `head`/`tail` (==> path <==) and `cat PATH`."""

from collections.abc import Iterator
from typing import TypeVar

import msgspec

from wirespeed.model.counters import canonical_name
from wirespeed.model.facts.host import PciDevice
from wirespeed.model.facts.link import Counter, Link
from wirespeed.model.facts.rdma import Gid, RdmaPort
from wirespeed.model.kinds import Reader
from wirespeed.model.lines import Lines, quote, source
from wirespeed.model.record import Record
from wirespeed.model.source import Problem, Quote
from wirespeed.model.text import Text
from wirespeed.readers.parsing.marks import marked
from wirespeed.readers.parsing.regex import regex

_PAIR = regex(
    r"(?P<path>/sys/(?:class/(?:infiniband|net)|bus/pci/devices|devices)/[\w./:@-]{1,200}?)(?::\s*|\s*=\s*"
    r"|\s+)(?P<setting>[^\s/].*)$"
)
_SHORT_PAIR = regex(r"(?:^|\s)(?P<path>(?:hw_)?counters/[a-z]\w{2,63})[:= ]\s*(?P<setting>\d{1,20})\s*$")
_BANNER = regex(r"==> (?P<path>/sys/[\w./:@-]{1,250}) <==")
_CAT = regex(r"(?:^|[\s$#])(?:cat|more) (?P<path>/sys/[\w./:@-]{1,250})\s*$")
_RECOGNISED = regex(
    r"/sys/(?:class/(?:infiniband|net)|bus/pci/devices|devices)/|(?m:(?:^" r"|\s)(?:hw_)?counters/[a-z]\w{2,63}[:= ])"
)
_RDMA_COUNTER = regex(r"/infiniband/(?P<device>[\w.-]+)/ports/(?P<port>\d+)/(?:hw_)?counters/(?P<name>\w+)$")
_RDMA_PORT = regex(
    r"/infiniband/(?P<device>[\w.-]+)/ports/(?P<port>\d+)/(?P<name>state|phys_state|rate|link_layer|lid" r"|sm_lid)$"
)
_RDMA_GID = regex(
    r"/infiniband/(?P<device>[\w.-]+)/ports/(?P<port>\d+)/(?P<name>gids|gid_attrs/types|gid_attrs/ndevs)/(?P<index>\d{1,4})$"
)
_RDMA_DEVICE = regex(r"/infiniband/(?P<device>[\w.-]+)/(?P<name>fw_ver|board_id)$")
_NET_COUNTER = regex(
    r"/net/(?P<link>[\w.@:-]+)/(?:statistics/(?P<name>\w+)|(?P<carrier>carrier_(?:changes|up_count" r"|down_count)))$"
)
_NET = regex(r"/net/(?P<link>[\w.@:-]+)/(?P<name>speed|mtu|carrier|duplex|operstate|address|tx_queue_len|device/numa_node)$")
_PCI = regex(
    r"/(?:(?:infiniband|net)/(?P<user>[\w.@:-]+)/device|(?P<address>[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]))"
    r"/(?P<name>current_link_speed|max_link_speed|current_link_width|max_link_width|numa_node)$"
)
_TRANSFERS = regex(r"^(\d{1,3}(?:\.\d)?) GT/s")
_RATE = regex(r"^(?P<rate>\d{1,6}(?:\.\d{1,3})?) Gb/sec(?: \((?P<lanes>[^)]{1,24})\))?")
_EMPTY_GID = regex(r"^[0:]+$|^fe80(?::0000)+$")
_MOST_THINGS = 1024
"""Interfaces, ports and devices kept until the end: their files come in any order."""
_NOT_A_NUMBER = Text(en="a counter of /sys is no number", zh="/sys 的计数器不是数字")

R = TypeVar("R", bound=Record)


class _Merged:
    """Records that several lines describe, by type and name."""

    def __init__(self) -> None:
        self._kept: dict[tuple[str, ...], Record] = {}

    def add(self, key: tuple[str, ...], record: R) -> R | None:
        """Put what `record` knows into the one kept under `key`; returned at once when there is no room."""
        before = self._kept.get(key)
        if before is None and len(self._kept) >= _MOST_THINGS:
            return record
        if before is not None:
            known = {
                name: value
                for name in record.__struct_fields__
                if name not in ("source", "quotes", "missing") and (value := getattr(record, name)) is not None
            }
            record = msgspec.structs.replace(before, **known, quotes=(*before.quotes, *record.quotes))  # type: ignore[assignment]
        self._kept[key] = record
        return None

    def all(self) -> Iterator[Record]:
        """Everything kept, in order of appearance; GIDs that are empty are left out."""
        for record in self._kept.values():
            if not (isinstance(record, Gid) and record.gid is None):
                yield record


def _read(lines: Lines) -> Iterator[Record | Problem]:
    merged = _Merged()
    pending: tuple[str, Quote] | None = None
    for index, line in lines:
        said = quote(lines, index, line)
        named = _BANNER.search(line) or _CAT.search(line)
        if named:
            pending = (named["path"], said)
            continue
        pair = _PAIR.search(line) if "/sys/" in line else _SHORT_PAIR.search(line)
        if pair:
            yield from _file(lines, merged, pair["path"], pair["setting"].strip(), (said,), index)
        elif pending and line.strip():
            yield from _file(lines, merged, pending[0], line.strip(), (pending[1], said), index)
        pending = None
    yield from merged.all()


def _file(
    lines: Lines, merged: _Merged, path: str, setting: str, quotes: tuple[Quote, ...], index: int
) -> Iterator[Record | Problem]:
    """What one file of /sys says."""
    named = _counter_name(path)
    if named and setting.isdecimal() and len(setting) <= 20:
        yield Counter(
            source=source(lines, "sysfs"),
            quotes=quotes,
            scope=named[0],
            name=named[1],
            value_count=int(setting),
            canonical=canonical_name(named[1]),
        )
    elif named:
        yield Problem(source=source(lines, "sysfs"), why=_NOT_A_NUMBER, line_index=index)
        return
    for key, record in _things(lines, path, setting, quotes):
        overflowing = merged.add(key, record)
        if overflowing is not None:
            yield overflowing


def _counter_name(path: str) -> tuple[str, str] | None:
    """Scope and name of a counter file; a dump made inside the port's directory does not say which port it is."""
    if path.startswith(("counters/", "hw_counters/")):
        return "rdma", path.rpartition("/")[2]
    if found := _RDMA_COUNTER.search(path):
        return f"{found['device']}/{found['port']}", found["name"]
    if found := _NET_COUNTER.search(path):
        return found["link"], found["name"] or found["carrier"]
    return None


def _things(lines: Lines, path: str, setting: str, quotes: tuple[Quote, ...]) -> Iterator[tuple[tuple[str, ...], Record]]:
    origin = source(lines, "sysfs")
    if found := _RDMA_PORT.search(path):
        port = RdmaPort(source=origin, quotes=quotes, device=found["device"], port=int(found["port"]))
        yield ("port", found["device"], found["port"]), msgspec.structs.replace(port, **_port_fields(found["name"], setting))
    elif found := _RDMA_GID.search(path):
        gid = Gid(source=origin, quotes=quotes, device=found["device"], port=int(found["port"]), index=int(found["index"]))
        key = ("gid", found["device"], found["port"], found["index"])
        yield key, msgspec.structs.replace(gid, **_gid_fields(found["name"], setting))
    elif found := _RDMA_DEVICE.search(path):
        name = "firmware" if found["name"] == "fw_ver" else "board"
        port = RdmaPort(source=origin, quotes=quotes, device=found["device"])
        yield ("port", found["device"], "1"), msgspec.structs.replace(port, **{name: setting})
    if found := _NET.search(path) or _NET_COUNTER.search(path):
        fields = _link_fields(path.rpartition(f"/{found['link']}/")[2], setting)
        if fields:
            link = Link(source=origin, quotes=quotes, name=found["link"])
            yield ("link", found["link"]), msgspec.structs.replace(link, **fields)
    if found := _PCI.search(path):
        fields = _pci_fields(found["name"], setting)
        device_class = "nic" if found["user"] else None
        device = PciDevice(source=origin, quotes=quotes, address=found["address"], title=found["user"], device_class=device_class)
        if fields:
            yield ("pci", found["user"] or found["address"]), msgspec.structs.replace(device, **fields)


def _port_fields(name: str, setting: str) -> dict[str, object]:
    if name in ("state", "phys_state"):
        word = setting.rpartition(":")[2].strip().lower()
        return {"state" if name == "state" else "physical_state": word}
    if name == "rate":
        found = _RATE.match(setting)
        return {"link_rate_bits_per_s": float(found["rate"]) * 1e9, "lanes": found["lanes"]} if found else {}
    if name == "link_layer":
        return {"link_layer": setting.lower()} if setting.lower() in ("infiniband", "ethernet") else {}
    try:
        return {"lid_number" if name == "lid" else "sm_lid_number": int(setting, 16)}
    except ValueError:
        return {}


def _gid_fields(name: str, setting: str) -> dict[str, object]:
    if name == "gids":
        return {} if _EMPTY_GID.match(setting) else {"gid": setting.lower(), "ipv4": _mapped_ipv4(setting)}
    if name == "gid_attrs/ndevs":
        return {"link": setting}
    return {"roce_version": "v2" if setting.endswith("v2") else "v1"} if "RoCE" in setting else {}


def _mapped_ipv4(gid: str) -> str | None:
    """The IPv4 address inside `0000:...:ffff:c0a8:0a0b`."""
    head, _, tail = gid.lower().partition(":ffff:")
    digits = tail.replace(":", "")
    if head.strip("0:") or len(digits) != 8:
        return None
    try:
        return ".".join(str(int(digits[at : at + 2], 16)) for at in (0, 2, 4, 6))
    except ValueError:
        return None


def _link_fields(name: str, setting: str) -> dict[str, object]:
    if name == "operstate":
        if setting == "up":
            return {"is_up": True, "has_carrier": True}
        return {"has_carrier": False} if setting in ("down", "lowerlayerdown") else {}  # set up or not: operstate does not tell
    if name == "duplex":
        return {"duplex": setting} if setting in ("full", "half") else {}
    if name == "address":
        return {"mac_address": setting.lower()}
    if not setting.isdecimal():
        return {}  # speed -1 and numa_node -1 mean that the device does not know
    number = int(setting)
    known: dict[str, dict[str, object]] = {
        "speed": {"link_rate_bits_per_s": number * 1e6} if 0 < number < 4_000_000_000 else {},
        "mtu": {"mtu_bytes": number},
        "carrier": {"has_carrier": number == 1},
        "tx_queue_len": {"tx_queue_packets": number},
        "carrier_changes": {"carrier_changes_count": number},
        "device/numa_node": {"numa_node_index": number},
    }
    return known.get(name, {})


def _pci_fields(name: str, setting: str) -> dict[str, object]:
    if name.endswith("_speed"):
        found = _TRANSFERS.match(setting)
        field = "speed_transfers_per_s" if name.startswith("current") else "max_speed_transfers_per_s"
        return {field: float(found[1]) * 1e9} if found else {}
    if not setting.isdecimal():
        return {}
    if name == "numa_node":
        return {"numa_node_index": int(setting)}
    return {"width_lanes" if name.startswith("current") else "max_width_lanes": int(setting)}


READER = Reader(
    title=Text(en="files of /sys", zh="/sys 文件"),
    gives=(Counter, Link, PciDevice, RdmaPort, Gid),
    recognises=marked(_RECOGNISED),
    read=_read,
    obtained_by=(
        "grep . /sys/class/infiniband/*/ports/*/{state,rate,counters/*,hw_counters/*}",
        "grep . /sys/class/net/*/{speed,mtu,carrier_changes,device/numa_node,device/*_link_*,statistics/*}",
    ),
)
