"""Errors of every interface one by one, where /proc/net/dev adds several up, and whether and how often its carrier came and went (rtnetlink)."""

import struct
from functools import lru_cache
from math import nan

from wirespeed.machines.kept import kept_dump
from wirespeed.machines.machine import Machine
from wirespeed.model.samples import Key, Layout
from wirespeed.model.text import Text
from wirespeed.observation.sampler import Family, Probe, Raw, Row, Wanted
from wirespeed.readers.netlink import rtnetlink, wire

_STATISTICS = (
    "rx_packets", "tx_packets", "rx_bytes", "tx_bytes", "rx_errors", "tx_errors", "rx_dropped", "tx_dropped", "multicast", "collisions",
    "rx_length_errors", "rx_over_errors", "rx_crc_errors", "rx_frame_errors", "rx_fifo_errors", "rx_missed_errors", "tx_aborted_errors",
    "tx_carrier_errors", "tx_fifo_errors", "tx_heartbeat_errors", "tx_window_errors", "rx_compressed", "tx_compressed", "rx_nohandler",
)  # fmt: skip
"""`struct rtnl_link_stats64` (linux/if_link.h) up to 4.6, under the names of /sys/class/net/*/statistics."""
_ELSEWHERE = frozenset({"rx_packets", "tx_packets", "rx_bytes", "tx_bytes", "multicast", "rx_compressed", "tx_compressed"})
_SHOWN = tuple((number, name) for number, name in enumerate(_STATISTICS) if name not in _ELSEWHERE)
_VALUES = struct.Struct(f"={len(_STATISTICS)}Q")
_MESSAGE_BYTES, _IFNAME, _CARRIER, _CARRIER_CHANGES, _STATS64 = 16, 3, 33, 35, 23
_WANTED = frozenset({_IFNAME, _CARRIER, _CARRIER_CHANGES, _STATS64})


@lru_cache(maxsize=64)
def _layout(links: tuple[str, ...]) -> Layout:
    return tuple(
        key
        for link in links
        for key in (
            *(Key("link_errors", link, name, "packets") for _, name in _SHOWN),
            Key("link_errors", link, "carrier_changes"),
            Key("link_errors", link, "carrier", "1", "gauge"),
        )
    )


def _parse(raw: Raw) -> Row:
    links: list[str] = []
    values: list[float] = []
    for kind, start, end in wire.messages(raw[0]):
        found = wire.attributes(raw[0], start + _MESSAGE_BYTES, end, _WANTED) if kind == rtnetlink.RTM_NEWLINK else {}
        name, statistics = wire.text_of(found.get(_IFNAME)), found.get(_STATS64, b"")
        if name and len(statistics) >= _VALUES.size:
            counted = _VALUES.unpack_from(statistics)
            links.append(name)
            values += [float(counted[number]) for number, _ in _SHOWN]
            changes, carrier = wire.u32_of(found.get(_CARRIER_CHANGES)), found.get(_CARRIER)
            values.append(nan if changes is None else float(changes))
            values.append(float(carrier[0]) if carrier else nan)
    return _layout(tuple(links)), values


def _open(machine: Machine, wanted: Wanted) -> Probe:
    return Probe(sources=(kept_dump(machine, rtnetlink.NETLINK_ROUTE, (rtnetlink.LINKS_REQUEST,)),), parse=_parse)


FAMILY = Family(title=Text(en="interface errors and carrier", zh="接口错误与载波"), open=_open, period_s=0.5, named_period_s=0.02)
