"""`ethtool IFACE`: speed, duplex, autonegotiation, the fastest advertised mode and whether a signal is there."""

from collections.abc import Iterator
from typing import Literal

from wirespeed.model.facts.link import Link
from wirespeed.model.kinds import Reader
from wirespeed.model.lines import Lines, source
from wirespeed.model.record import Record
from wirespeed.model.source import Problem
from wirespeed.model.text import Text
from wirespeed.model.units import rate_in_bits_per_s
from wirespeed.readers.parsing.ethtool import Block, blocks, on_or_off
from wirespeed.readers.parsing.excerpt import Seen
from wirespeed.readers.parsing.marks import marked
from wirespeed.readers.parsing.regex import regex

_HEADER = regex(r"^\s*Settings for (?P<link>[^\s:]+):")
_KEYS = r"Speed|Duplex|Auto-negotiation|Link detected|Advertised link modes|Supported link modes|Link partner advertised link modes"
_MODES = r"\d+base\S+(?:\s+\d+base\S+)*\s*"
_ROW = regex(rf"^\s*(?:(?P<key>{_KEYS}):\s*(?P<value>\S.*)|(?P<more>{_MODES}))$")
_SPEED = regex(r"^(?P<number>\d+(?:\.\d+)?)\s*(?P<unit>[KMGT]b/s)")
_MODE = regex(r"(?P<mbps>\d+)base")
_RECOGNISED = regex(r"(?m)Settings for \S+:|\bSpeed: *(?:\d+ ?Mb/s|Unknown!)|\bLink detected: *(?:yes|no)|\bAdvertised link modes:")
_ADVERTISED = "Advertised link modes"
_SUPPORTED = "Supported link modes"


def _read(lines: Lines) -> Iterator[Record | Problem]:
    for block in blocks(lines, _ROW, frozenset({""}), _HEADER, first_key="Speed"):
        link = _link(lines, block)
        if link is not None:
            yield link


def _link(lines: Lines, block: Block) -> Link | None:
    values = {found["key"]: found["value"] for _, found in block.rows if found["key"]}
    used = [seen for seen, found in block.rows if found["key"] in ("Speed", "Duplex", "Auto-negotiation", "Link detected")]
    advertised, advertised_lines = _advertised(block)
    used = sorted([*used, *advertised_lines], key=lambda seen: seen.index)
    if not used:
        return None
    opener = [] if block.opened_by is None else [block.opened_by]
    return Link(
        source=source(lines, "ethtool", block.host),
        quotes=tuple(seen.quoted(lines) for seen in (*opener, *used)),
        name=block.link,
        has_carrier={"yes": True, "no": False}.get(values.get("Link detected", "").split(" ")[0]),
        link_rate_bits_per_s=_rate(values.get("Speed", "")),
        advertised_max_bits_per_s=advertised,
        duplex=_duplex(values.get("Duplex", "")),
        autonegotiates=on_or_off(values.get("Auto-negotiation", "")),
    )


def _advertised(block: Block) -> tuple[float | None, list[Seen]]:
    """The fastest advertised mode; an excerpt without those lines has the supported ones, which are advertised unless told otherwise."""
    wanted = _ADVERTISED if any(found["key"] == _ADVERTISED for _, found in block.rows) else _SUPPORTED
    fastest: float | None = None
    used: list[Seen] = []
    key = ""
    for seen, found in block.rows:
        key = found["key"] or key
        if key != wanted:
            continue
        for mode in _MODE.finditer(found["value"] or found["more"] or ""):
            fastest = max(fastest or 0.0, float(mode["mbps"]) * 1e6)
            if seen not in used[-1:]:
                used.append(seen)
    return fastest, used


def _rate(text: str) -> float | None:
    found = _SPEED.match(text)
    return rate_in_bits_per_s(float(found["number"]), found["unit"]) if found else None


def _duplex(text: str) -> Literal["full", "half"] | None:
    if text.startswith("Full"):
        return "full"
    return "half" if text.startswith("Half") else None


READER = Reader(
    title=Text(en="link settings (ethtool)", zh="链路设置（ethtool）"),
    gives=(Link,),
    recognises=marked(_RECOGNISED),
    read=_read,
    obtained_by=("ethtool IFACE",),
)
