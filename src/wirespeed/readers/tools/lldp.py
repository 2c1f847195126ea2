"""LLDP: `lldpctl` and `lldpcli show neighbors` (the switch at the other end and its largest frame), and `lldptool` (PFC and frame size TLVs).

Of `lldptool -t -n` the TLVs are the neighbour's; its PFC is told under the interface's name and `(peer)`.
"""

import re
from collections.abc import Iterator

import msgspec

from wirespeed.model.facts.fabric import LinkNeighbour
from wirespeed.model.facts.link import PriorityFlowControl
from wirespeed.model.kinds import Reader
from wirespeed.model.lines import Lines, source
from wirespeed.model.record import Record
from wirespeed.model.source import Problem
from wirespeed.model.text import Text
from wirespeed.readers.parsing.excerpt import Seen, arguments_of, excerpt
from wirespeed.readers.parsing.marks import marked
from wirespeed.readers.parsing.regex import regex

_INTERFACE = regex(r"^\s*Interface:\s+(?P<link>[\w.@-]{1,32}), via: (?:LLDP|unknown)\b")
_FIELD = regex(r"^\s*(?P<key>SysName|PortID|PortDescr|MFS):\s+(?P<value>\S.*?)\s*$")
_KEY_VALUE = regex(
    r"^\s*lldp\.(?P<link>[\w@-]{1,32})\.(?P<key>chassis\.name|port\.(?:ifname|local|descr|mfs))=(?P<value>\S.*?)\s*$"
)
_NAMES = {"chassis.name": "SysName", "port.ifname": "PortID", "port.local": "PortID", "port.descr": "PortDescr", "port.mfs": "MFS"}
_PFC = regex(r"^\s*PFC enabled: (?P<on>none|[0-7](?: [0-7]){0,7}) ?\s*$")
_FRAME_TLV = regex(r"^\s*Maximum Frame Size TLV\s*$")
_WHOLE = regex(r"^\s*(?P<bytes>\d{3,5})\s*$")
_RECOGNISED = regex(
    r"(?m)^[ \t]*Interface:[ \t]+[\w.@-]{1,32}, via: (?:LLDP|unknown)|^[ \t]*lldp\.[\w@-]{1,32}\.(?:chassis|port)\.|^[ \t]*PFC enabled: (?:none|\d)"
    r"|^[ \t]*Maximum Frame Size TLV"
)


def _read(lines: Lines) -> Iterator[Record | Problem]:
    at: LinkNeighbour | None = None
    link, is_peer, wants_size = "", False, False
    for seen in excerpt(lines, _RECOGNISED.search, ("lldpctl", "lldptool", "lldpcli")):
        if seen.is_prompt:
            words = arguments_of(seen.command, "lldptool")
            if words is not None:
                link, is_peer = _asked(words)
            continue
        interface, pair = _INTERFACE.match(seen.text), _KEY_VALUE.match(seen.text)
        named = interface or pair
        if named and (interface or at is None or at.link != named["link"]):
            if at is not None:
                yield at
            at = _begun(lines, seen, named["link"])
        found = _FIELD.match(seen.text) if at is not None else None
        if at is not None and (found or pair):
            key, value = (found["key"], found["value"]) if found else (_NAMES[pair["key"]], pair["value"]) if pair else ("", "")
            at = _with(lines, at, seen, key, value)
        elif pfc := _PFC.match(seen.text):
            on = () if pfc["on"] == "none" else tuple(int(number) for number in pfc["on"].split())
            name = f"{link} (peer)" if is_peer else link
            yield PriorityFlowControl(
                source=source(lines, "lldptool", seen.host), quotes=(seen.quoted(lines),), link=name, enabled_priorities=on
            )
        elif wants_size and (size := _WHOLE.match(seen.text)):
            yield LinkNeighbour(
                source=source(lines, "lldptool", seen.host),
                quotes=(seen.quoted(lines),),
                link=link,
                max_frame_bytes=int(size["bytes"]),
            )
        wants_size = is_peer and _FRAME_TLV.match(seen.text) is not None
    if at is not None:
        yield at


def _asked(words: tuple[str, ...]) -> tuple[str, bool]:
    """Interface and side of `lldptool -t -n -i eth0 -V PFC`, also with the letters together (`-tni`)."""
    place = next((at for at, word in enumerate(words) if re.fullmatch(r"-\w*i", word)), None)
    link = words[place + 1] if place is not None and place + 1 < len(words) else ""
    return link, any(re.fullmatch(r"-\w*n\w*", word) for word in words)


def _begun(lines: Lines, seen: Seen, link: str) -> LinkNeighbour:
    return LinkNeighbour(source=source(lines, "lldpctl", seen.host), quotes=(seen.quoted(lines),), link=link)


def _with(lines: Lines, at: LinkNeighbour, seen: Seen, key: str, value: str) -> LinkNeighbour:
    told: dict[str, str | int] = {}
    if key == "SysName":
        told["switch"] = value
    elif key == "PortID":
        told["switch_port"] = value.removeprefix("ifname ").removeprefix("local ")
    elif key == "MFS" and value.isdecimal() and len(value) < 6:
        told["max_frame_bytes"] = int(value)
    quotes = tuple(dict.fromkeys((*at.quotes, seen.quoted(lines))))
    return msgspec.structs.replace(at, quotes=quotes, **told) if told else at


READER = Reader(
    title=Text(en="LLDP neighbours (lldpctl, lldptool)", zh="LLDP 邻居（lldpctl、lldptool）"),
    gives=(LinkNeighbour, PriorityFlowControl),
    recognises=marked(_RECOGNISED),
    read=_read,
    obtained_by=("lldpctl", "lldptool -t -n -i IFACE -V PFC"),
)
