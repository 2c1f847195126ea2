"""Links, addresses, routes, neighbours and queueing disciplines from rtnetlink dumps (linux/rtnetlink.h, if_link.h, pkt_sched.h)."""

import struct
from collections.abc import Iterator, Mapping

import msgspec

from wirespeed.model.facts.path import Address, Neighbour, Qdisc, Route
from wirespeed.model.source import Source
from wirespeed.readers.netlink import wire

NETLINK_ROUTE = 0
RTM_NEWLINK, RTM_NEWADDR, RTM_NEWROUTE, RTM_NEWNEIGH, RTM_NEWQDISC = 16, 20, 24, 28, 36

LINKS_REQUEST = wire.request(18, bytes(16))
ADDRESSES_REQUEST = wire.request(22, bytes(8))
ROUTES_REQUEST = wire.request(26, bytes(12))
NEIGHBOURS_REQUEST = wire.request(30, bytes(12))
QDISCS_REQUEST = wire.request(38, bytes(20))

IFLA_ADDRESS, IFLA_IFNAME, IFLA_MTU, IFLA_MASTER, IFLA_TXQLEN, IFLA_LINKINFO, IFLA_CARRIER, IFLA_CARRIER_CHANGES = (
    1,
    3,
    4,
    10,
    13,
    18,
    33,
    35,
)
IFA_ADDRESS, IFA_LOCAL = 1, 2
RTA_DST, RTA_OIF, RTA_GATEWAY, RTA_PRIORITY, RTA_PREFSRC, RTA_METRICS, RTA_MULTIPATH, RTA_TABLE, RTA_VIA = (
    1,
    4,
    5,
    6,
    7,
    8,
    9,
    15,
    18,
)
NDA_DST, NDA_LLADDR = 1, 2
TCA_KIND, TCA_OPTIONS, TCA_STATS2 = 1, 2, 7
IFF_UP, IFF_LOWER_UP = 0x1, 0x10000

_IFINFO = struct.Struct("=BxHiII")
_IFADDR = struct.Struct("=BBBBI")
_RTMSG = struct.Struct("=BBBBBBBBI")
_NDMSG = struct.Struct("=BxxxiHBB")
_TCMSG = struct.Struct("=BxxxiIII")
_NEXT_HOP = struct.Struct("=HBBi")

_HARDWARE = {
    1: "ether",
    32: "infiniband",
    772: "loopback",
    768: "tunnel",
    769: "tunnel",
    776: "tunnel",
    778: "tunnel",
    65534: "none",
}
_SCOPES = {0: "global", 200: "site", 253: "link", 254: "host"}
_TABLES = {253: "default", 254: "main", 255: "local"}
_NEIGHBOUR_STATES = {
    0x01: "INCOMPLETE", 0x02: "REACHABLE", 0x04: "STALE", 0x08: "DELAY", 0x10: "PROBE", 0x20: "FAILED", 0x40: "NOARP", 0x80: "PERMANENT",
}  # fmt: skip
_SHOWN_ROUTE_TYPES = frozenset({1, 6, 7, 8})
"""Unicast, blackhole, unreachable, prohibit; local and broadcast routes follow from the addresses."""


class LinkSeen(msgspec.Struct, frozen=True, kw_only=True):
    """One interface as RTM_NEWLINK shows it; the collector adds what ethtool and sysfs know."""

    index: int
    name: str
    is_up: bool
    has_carrier: bool
    mtu_bytes: int | None
    mac_address: str | None
    type_name: str | None
    master_index: int | None
    tx_queue_packets: int | None
    carrier_changes_count: int | None


def links(data: bytes) -> Iterator[LinkSeen]:
    """Every interface of the reply."""
    for kind, start, end in wire.messages(data):
        if kind != RTM_NEWLINK or end - start < _IFINFO.size:
            continue
        _, hardware, index, flags, _ = _IFINFO.unpack_from(data, start)
        found = wire.attributes(data, start + _IFINFO.size, end)
        name = wire.text_of(found.get(IFLA_IFNAME))
        if not name:
            continue
        info = found.get(IFLA_LINKINFO)
        made = wire.text_of(wire.attributes(info, 0, len(info)).get(1)) if info else None
        yield LinkSeen(
            index=index,
            name=name,
            is_up=bool(flags & IFF_UP),
            has_carrier=bool(flags & IFF_LOWER_UP),
            mtu_bytes=wire.u32_of(found.get(IFLA_MTU)),
            mac_address=wire.mac_of(found.get(IFLA_ADDRESS)),
            type_name=made or _HARDWARE.get(hardware),
            master_index=wire.u32_of(found.get(IFLA_MASTER)),
            tx_queue_packets=wire.u32_of(found.get(IFLA_TXQLEN)),
            carrier_changes_count=wire.u32_of(found.get(IFLA_CARRIER_CHANGES)),
        )


def addresses(data: bytes, names: Mapping[int, str], source: Source) -> Iterator[Address]:
    """Every address of the reply."""
    for kind, start, end in wire.messages(data):
        if kind != RTM_NEWADDR or end - start < _IFADDR.size:
            continue
        _, prefix, _, scope, index = _IFADDR.unpack_from(data, start)
        found = wire.attributes(data, start + _IFADDR.size, end)
        address = wire.address_of(found.get(IFA_LOCAL) or found.get(IFA_ADDRESS) or b"")
        if address is not None:
            link = names.get(index, f"if{index}")
            yield Address(
                source=source, link=link, address=address, prefix_length_number=prefix, scope=_SCOPES.get(scope, str(scope))
            )


def routes(data: bytes, names: Mapping[int, str], source: Source) -> Iterator[Route]:
    """Every unicast route and every refusal (blackhole, unreachable, prohibit)."""
    for kind, start, end in wire.messages(data):
        if kind != RTM_NEWROUTE or end - start < _RTMSG.size:
            continue
        _, prefix, _, _, table, _, _, route_type, flags = _RTMSG.unpack_from(data, start)
        if route_type not in _SHOWN_ROUTE_TYPES or flags & 0x200:  # RTM_F_CLONED: a cache entry
            continue
        found = wire.attributes(data, start + _RTMSG.size, end)
        mtu, congestion_control = _metrics(found.get(RTA_METRICS))
        number = wire.u32_of(found.get(RTA_TABLE)) or table
        link = wire.u32_of(found.get(RTA_OIF))
        yield Route(
            source=source,
            destination=_destination(found.get(RTA_DST), prefix),
            link=None if link is None else names.get(link, f"if{link}"),
            gateway=wire.address_of(found.get(RTA_GATEWAY) or found.get(RTA_VIA, b"")[2:]),
            preferred_source=wire.address_of(found.get(RTA_PREFSRC, b"")),
            metric_number=wire.u32_of(found.get(RTA_PRIORITY)),
            table=_TABLES.get(number, str(number)),
            mtu_bytes=mtu,
            congestion_control=congestion_control,
            next_hops=tuple(_next_hops(found.get(RTA_MULTIPATH, b""), names)),
        )


def _destination(value: bytes | None, prefix: int) -> str:
    address = wire.address_of(value or b"")
    return "default" if address is None else f"{address}/{prefix}"


def _metrics(value: bytes | None) -> tuple[int | None, str | None]:
    if value is None:
        return None, None
    found = wire.attributes(value, 0, len(value))
    return wire.u32_of(found.get(2)), wire.text_of(found.get(16))


def _next_hops(value: bytes, names: Mapping[int, str]) -> Iterator[str]:
    offset = 0
    while offset + _NEXT_HOP.size <= len(value):
        length, _, weight, index = _NEXT_HOP.unpack_from(value, offset)
        if length < _NEXT_HOP.size:
            return
        found = wire.attributes(value, offset + _NEXT_HOP.size, min(offset + length, len(value)))
        gateway = wire.address_of(found.get(RTA_GATEWAY, b""))
        via = f"via {gateway} " if gateway else ""
        yield f"{via}dev {names.get(index, f'if{index}')} weight {weight + 1}"
        offset += (length + 3) & ~3


def neighbours(data: bytes, names: Mapping[int, str], source: Source) -> Iterator[Neighbour]:
    """Every entry that is not a permanent multicast or broadcast mapping."""
    for kind, start, end in wire.messages(data):
        if kind != RTM_NEWNEIGH or end - start < _NDMSG.size:
            continue
        _, index, state, _, neighbour_type = _NDMSG.unpack_from(data, start)
        if state & 0x40 or neighbour_type in (3, 5):
            continue
        found = wire.attributes(data, start + _NDMSG.size, end)
        address = wire.address_of(found.get(NDA_DST, b""))
        if address is not None:
            yield Neighbour(
                source=source,
                address=address,
                link=names.get(index, f"if{index}"),
                mac_address=wire.mac_of(found.get(NDA_LLADDR)),
                state=_NEIGHBOUR_STATES.get(state, f"{state:#x}"),
            )


def qdiscs(data: bytes, names: Mapping[int, str], source: Source) -> Iterator[Qdisc]:
    """Every queueing discipline with the statistics of TCA_STATS2."""
    for kind, start, end in wire.messages(data):
        if kind != RTM_NEWQDISC or end - start < _TCMSG.size:
            continue
        _, index, handle, parent, _ = _TCMSG.unpack_from(data, start)
        found = wire.attributes(data, start + _TCMSG.size, end)
        discipline = wire.text_of(found.get(TCA_KIND))
        if not discipline:
            continue
        counted = _statistics(found.get(TCA_STATS2, b""))
        shaped = _shaping(discipline, found.get(TCA_OPTIONS, b""))
        yield Qdisc(
            source=source,
            link=names.get(index, f"if{index}"),
            discipline=discipline,
            handle=f"{handle >> 16:x}:",
            parent="root" if parent == 0xFFFFFFFF else f"{parent >> 16:x}:{parent & 0xFFFF:x}",
            sent_bytes=counted.get("sent_bytes"),
            sent_packets=counted.get("sent_packets"),
            dropped_packets=counted.get("dropped_packets"),
            overlimits_count=counted.get("overlimits_count"),
            requeues_count=counted.get("requeues_count"),
            backlog_bytes=counted.get("backlog_bytes"),
            backlog_packets=counted.get("backlog_packets"),
            rate_bits_per_s=shaped.get("rate_bits_per_s"),
            delay_s=shaped.get("delay_s"),
            loss_ratio=shaped.get("loss_ratio"),
        )


def _statistics(value: bytes) -> dict[str, int]:
    """gnet_stats_basic and gnet_stats_queue (linux/gen_stats.h)."""
    found = wire.attributes(value, 0, len(value))
    counted: dict[str, int] = {}
    basic, queue = found.get(1, b""), found.get(3, b"")
    if len(basic) >= 12:
        counted["sent_bytes"], counted["sent_packets"] = struct.unpack_from("=QI", basic)
    if len(queue) >= 20:
        names = ("backlog_packets", "backlog_bytes", "dropped_packets", "requeues_count", "overlimits_count")
        counted.update(zip(names, struct.unpack_from("=IIIII", queue), strict=True))
    wide = found.get(8, b"")  # TCA_STATS_PKT64
    if len(wide) >= 8:
        counted["sent_packets"] = struct.unpack_from("=Q", wide)[0]
    return counted


def _shaping(discipline: str, value: bytes) -> dict[str, float]:
    """Rate of a token bucket, and delay, loss and rate of the emulator: what limits on purpose."""
    if discipline == "tbf":
        found = wire.attributes(value, 0, len(value))
        return _rate(found.get(5), found.get(1, b"")[8:12])
    if discipline == "netem" and len(value) >= 24:
        latency, _, loss, _, _, _ = struct.unpack_from("=IIIIII", value)
        found = wire.attributes(value, 24, len(value))
        delay_ns = found.get(10, b"")  # TCA_NETEM_LATENCY64, since 4.14
        delay_s = int.from_bytes(delay_ns[:8], "little") / 1e9 if len(delay_ns) >= 8 else latency * 64e-9  # psched ticks of 64 ns
        return {"delay_s": delay_s, "loss_ratio": loss / 0xFFFFFFFF} | _rate(found.get(8), found.get(6, b"")[:4])
    return {}


def _rate(wide: bytes | None, narrow: bytes) -> dict[str, float]:
    if wide is not None and len(wide) >= 8:
        return {"rate_bits_per_s": int.from_bytes(wide[:8], "little") * 8.0}
    rate = wire.u32_of(narrow)
    return {"rate_bits_per_s": rate * 8.0} if rate else {}
