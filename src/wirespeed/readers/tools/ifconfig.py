"""`ifconfig`, old and new: interfaces, addresses and counters."""

import ipaddress
import re
from collections.abc import Iterator

from wirespeed.model.counters import canonical_name
from wirespeed.model.facts.link import Counter, Link
from wirespeed.model.facts.path import Address
from wirespeed.model.kinds import Reader
from wirespeed.model.lines import Lines, source
from wirespeed.model.record import Record
from wirespeed.model.source import Problem, Quote
from wirespeed.model.text import Text
from wirespeed.readers.parsing.excerpt import Seen, excerpt
from wirespeed.readers.parsing.ip import is_address
from wirespeed.readers.parsing.marks import marked

_NEW_HEADER = re.compile(r"^\s*(?P<name>[\w.-]+(?::\w+)?): flags=\d+<(?P<flags>[A-Z0-9_,-]*)>\s+mtu (?P<mtu>\d+)")
_OLD_HEADER = re.compile(
    r"^(?P<name>[\w.-]+(?::\w+)?)\s+Link encap:(?P<type>[\w-]+(?: Loopback)?)(?:\s+HWaddr (?P<mac>[0-9A-Fa-f:]+))?"
)
_OLD_FLAGS = re.compile(r"^\s+(?P<flags>(?:[A-Z]+ +)+)MTU:(?P<mtu>\d+)")
_NEW_INET = re.compile(r"^\s+inet (?P<address>[\d.]+)\s+netmask (?P<mask>0x[0-9a-f]{8}|[\d.]+)")
_OLD_INET = re.compile(r"^\s+inet addr:(?P<address>[\d.]+)(?:.*?Mask:(?P<mask>[\d.]+))?")
_INET6 = re.compile(r"^\s+inet6(?: addr:)? (?P<address>[0-9a-f:]+)(?:/|\s+prefixlen )(?P<length>\d+)")
_NEW_MAC = re.compile(
    r"^\s+(?P<type>ether|loop|infiniband|unspec)\b(?:\s+(?P<mac>[0-9a-f]{2}(?::[0-9a-f]{2})+))?\s+txqueuelen (?P<queue>\d+)"
)
_COUNTS = re.compile(r"^\s+(?P<way>RX|TX) (?P<what>packets|errors)[ :](?P<rest>.*)$")
_PAIR = re.compile(r"(packets|errors|dropped|overruns|frame|carrier|collisions)[ :](\d+)")
_RECOGNISED = re.compile(r"(?m)^[ \t]*\S+: flags=\d+<[^>]*>\s+mtu \d|\bLink encap:|^[ \t]+(?:RX|TX) (?:packets|errors)[ :]\d")
_NAMES = {"frame": "frame_errors", "carrier": "carrier_errors"}


def _read(lines: Lines) -> Iterator[Record | Problem]:
    name = "?"
    opener: tuple[Quote, ...] = ()
    for seen in excerpt(lines, _is_own):
        header = None if seen.is_prompt else _NEW_HEADER.match(seen.text) or _OLD_HEADER.match(seen.text)
        if seen.is_prompt:
            name, opener = "?", ()
        elif header:
            name, opener = header["name"], (seen.quoted(lines),)
            yield _link(lines, seen, name, (), header.groupdict())
        else:
            yield from _row(lines, seen, name, opener)


_ROWS = (_OLD_FLAGS, _NEW_INET, _OLD_INET, _INET6, _NEW_MAC, _COUNTS)


def _is_own(text: str) -> bool:
    return any(shape.match(text) for shape in (_NEW_HEADER, _OLD_HEADER, *_ROWS))


def _row(lines: Lines, seen: Seen, name: str, opener: tuple[Quote, ...]) -> Iterator[Record | Problem]:
    found = next((match for shape in _ROWS if (match := shape.match(seen.text))), None)
    if found is None:
        return
    if found.re is _COUNTS:
        yield from _counters(lines, seen, name, found, opener)
    elif found.re in (_OLD_FLAGS, _NEW_MAC):
        if opener:
            yield _link(lines, seen, name, opener, found.groupdict())
    elif opener:
        yield _address(lines, seen, name, found, opener)


def _link(lines: Lines, seen: Seen, name: str, opener: tuple[Quote, ...], groups: dict[str, str | None]) -> Link:
    flags = re.split(r"[ ,]+", groups.get("flags") or "")
    mtu, queue, kind = groups.get("mtu"), groups.get("queue"), groups.get("type")
    return Link(
        source=source(lines, "ifconfig", seen.host),
        quotes=(*opener, seen.quoted(lines)),
        name=name,
        is_up=("UP" in flags) if groups.get("flags") is not None else None,
        has_carrier=("RUNNING" in flags) if "UP" in flags else None,
        mtu_bytes=int(mtu) if mtu else None,
        type_name={"loop": "loopback", "Local Loopback": "loopback", "Ethernet": "ether", "InfiniBand": "infiniband"}.get(
            kind or "", kind
        ),
        mac_address=groups.get("mac"),
        tx_queue_packets=int(queue) if queue else None,
    )


def _address(lines: Lines, seen: Seen, name: str, found: re.Match[str], opener: tuple[Quote, ...]) -> Record | Problem:
    if not is_address(found["address"]):
        return Problem(
            source=source(lines, "ifconfig", seen.host), line_index=seen.index, why=Text(en="not an IP address", zh="不是 IP 地址")
        )
    groups = found.groupdict()
    length = groups.get("length")
    return Address(
        source=source(lines, "ifconfig", seen.host),
        quotes=(*opener, seen.quoted(lines)),
        link=name,
        address=found["address"],
        prefix_length_number=int(length) if length else _length(groups.get("mask")),
        scope="link" if found["address"].startswith("fe80:") else None,
    )


def _length(mask: str | None) -> int | None:
    try:
        if mask is None:
            return None
        number = int(mask, 16) if mask.startswith("0x") else int(ipaddress.IPv4Address(mask))
    except ValueError:
        return None
    return number.bit_count()


def _counters(lines: Lines, seen: Seen, name: str, found: re.Match[str], opener: tuple[Quote, ...]) -> Iterator[Counter]:
    way = found["way"].lower()
    for column, count in _PAIR.findall(f"{found['what']}:{found['rest']}"):
        full = column if column == "collisions" else f"{way}_{_NAMES.get(column, column)}"
        yield Counter(
            source=source(lines, "ifconfig", seen.host),
            quotes=(*opener, seen.quoted(lines)),
            scope=name,
            name=full,
            value_count=int(count),
            canonical=canonical_name(full),
        )


READER = Reader(
    title=Text(en="interfaces (ifconfig)", zh="网络接口（ifconfig）"),
    gives=(Link, Address, Counter),
    recognises=marked(_RECOGNISED),
    read=_read,
    obtained_by=("ifconfig -a",),
)
