"""`mlxlink` (and mstlink), as text or `--json`: state, speed and width, module, bit errors before and after correction, and its advice."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from wirespeed.model.counters import canonical_name
from wirespeed.model.facts.fabric import LinkSignal
from wirespeed.model.facts.link import Counter, Link, LinkModule
from wirespeed.model.facts.rdma import RdmaPort
from wirespeed.model.kinds import Reader
from wirespeed.model.lines import Lines, quote, source
from wirespeed.model.record import Record
from wirespeed.model.source import Problem, Quote
from wirespeed.model.text import Text
from wirespeed.readers.parsing.infiniband import DATA_RATE_BITS_PER_S
from wirespeed.readers.parsing.marks import marked
from wirespeed.readers.parsing.regex import regex

TOOL = "mlxlink"
MOST_LINE_CHARACTERS = 2_000

_COMMAND = regex(r"\b(?:mlxlink|mstlink)\b.{0,80}? -d (?P<device>\S{1,64})")
_FIELDS = (
    "State|Physical state|Speed|Width|FEC|Auto Negotiation|Enabled Link Speed(?: \\(Ext\\.\\))?|Supported Cable Speed(?: \\(Ext\\.\\))?|Status Opcode"
    "|Recommendation|Effective Physical Errors|Effective Physical BER|Raw Physical BER|Symbol Errors|Link Down Counter|Link Error Recovery Counter"
    "|Identifier|Vendor Name|Vendor Part Number|Temperature \\[C\\]"
)
_TEXT = regex(rf"^\s*(?P<key>{_FIELDS})\s+:\s*(?P<value>\S.*?)\s*$")
_JSON = regex(rf"^\s*\"(?P<key>{_FIELDS})\"\s*:\s*\"?(?P<value>[^\"{{\[]+?)\"?,?\s*$")
_JSON_VALUES = regex(r"^\s*\"values\"\s*:\s*\[(?P<value>[^\]]{1,400})\]")
_BEGINS = regex(r"(?m)^[ \t]*\"?Operational Info\"?(?:[ \t]*:[ \t]*\{)?[ \t]*$")
_RECOGNISED = regex(
    r"(?m)^[ \t]*\"?(?:Physical state(?:\"[ \t]*|[ \t]+):[ \t]*\"?(?:LinkUp|ETH_AN_FSM_ENABLE|Polling|Disabled|ETH_)|(?:Effective|Raw) Physical BER\"?[ \t]*:"
    r"|Status Opcode\"?[ \t]*:[ \t]*\"?\d)"
)
_NUMBER = regex(r"^(?P<number>\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)$")
_RATE = regex(r"^(?P<giga>\d{1,4})G(?:bE)?(?:_\d+X)?$")
_LANES = regex(r"^(?P<lanes>\d{1,2})x$", re.I)
_TEMPERATURE = regex(r"^(?P<now>-?\d{1,3})(?: \[[-\d.]+\.\.(?P<most>\d{1,3})\])?")
_DOWN = {"disable": "disabled", "polling": "polling"}
_MOST_COUNT_DIGITS = 18


@dataclass(slots=True)
class _Port:
    """One port as it is read."""

    device: str
    fields: dict[str, tuple[str, Quote]] = field(default_factory=dict)
    ranges: str = ""


def _read(lines: Lines) -> Iterator[Record | Problem]:
    at = _Port("")
    for index, line in lines:
        text = line[:MOST_LINE_CHARACTERS]
        command = _COMMAND.search(text)
        if command or _BEGINS.match(text):
            yield from _finished(lines, at)
            at = _Port(command["device"] if command else at.device)
            continue
        found = _TEXT.match(text) or _JSON.match(text)
        if found:
            at.fields.setdefault(found["key"].removesuffix(" (Ext.)"), (found["value"].strip(), quote(lines, index, line)))
        elif opened := re.match(r"^\s*\"(?P<key>Enabled Link Speed|Supported Cable Speed)", text):
            at.ranges = opened["key"]
        elif at.ranges and (listed := _JSON_VALUES.match(text)):
            at.fields.setdefault(at.ranges, (listed["value"].replace('"', ""), quote(lines, index, line)))
            at.ranges = ""
    yield from _finished(lines, at)


def _finished(lines: Lines, at: _Port) -> Iterator[Record]:
    if not at.fields:
        return
    yield from _port(lines, at)
    yield from _signal(lines, at)
    for name, canonical in (("Link Down Counter", "link_downed"), ("Link Error Recovery Counter", "link_error_recovery")):
        count = _whole(at, name)
        if count is not None:
            yield Counter(
                source=source(lines, TOOL),
                quotes=_quotes(at, name),
                scope=at.device or "?",
                name=name,
                value_count=count,
                canonical=canonical_name(canonical),
            )
    if "Identifier" in at.fields or "Temperature [C]" in at.fields:
        found = _TEMPERATURE.match(_text(at, "Temperature [C]") or "")
        yield LinkModule(
            source=source(lines, TOOL),
            quotes=_quotes(at, "Identifier", "Vendor Name", "Vendor Part Number", "Temperature [C]"),
            link=at.device,
            identifier=_text(at, "Identifier"),
            vendor=_text(at, "Vendor Name"),
            part_number_text=_text(at, "Vendor Part Number"),
            temperature_celsius=float(found["now"]) if found else None,
            temperature_warning_celsius=float(found["most"]) if found and found["most"] else None,
        )


def _port(lines: Lines, at: _Port) -> Iterator[Record]:
    state, speed = (_text(at, "State") or "").lower(), _text(at, "Speed") or ""
    lanes = _LANES.match(_text(at, "Width") or "")
    rate = _rate(speed, int(lanes["lanes"]) if lanes else None)
    layer: Literal["infiniband", "ethernet"] | None = (
        "infiniband" if speed.startswith("IB-") else "ethernet" if _RATE.match(speed) else None
    )
    if state:
        physical = _text(at, "Physical state")
        yield RdmaPort(
            source=source(lines, TOOL),
            quotes=_quotes(at, "State", "Physical state", "Speed", "Width"),
            device=at.device or "?",
            state="active" if state == "active" else "down" if state in _DOWN else state,
            physical_state=_DOWN.get(state) or (physical.lower() if physical else None),
            link_layer=layer,
            link_rate_bits_per_s=rate,
            lanes=f"{lanes['lanes']}X {speed.removeprefix('IB-')}" if lanes else None,
        )
    most = min((best for key in ("Enabled Link Speed", "Supported Cable Speed") if (best := _fastest(at, key))), default=None)
    if rate and most and layer == "ethernet":
        yield Link(
            source=source(lines, TOOL),
            quotes=_quotes(at, "Speed", "Enabled Link Speed", "Supported Cable Speed"),
            name=at.device or "?",
            link_rate_bits_per_s=rate,
            advertised_max_bits_per_s=most,
        )


def _signal(lines: Lines, at: _Port) -> Iterator[LinkSignal]:
    names = (
        "Raw Physical BER",
        "Effective Physical BER",
        "Effective Physical Errors",
        "Symbol Errors",
        "FEC",
        "Status Opcode",
        "Recommendation",
    )
    if any(name in at.fields for name in names if name != "FEC"):
        yield LinkSignal(
            source=source(lines, TOOL),
            quotes=_quotes(at, *names),
            device=at.device or "?",
            raw_error_ratio=_number(at, "Raw Physical BER"),
            effective_error_ratio=_number(at, "Effective Physical BER"),
            effective_errors_count=_whole(at, "Effective Physical Errors"),
            symbol_errors_count=_whole(at, "Symbol Errors"),
            fec=_text(at, "FEC"),
            status_code=_whole(at, "Status Opcode"),
            recommendation=_text(at, "Recommendation"),
        )


def _rate(speed: str, lanes: int | None) -> float | None:
    """`200G` and `100GbE` name the whole link, `IB-NDR` a lane's generation."""
    found = _RATE.match(speed)
    if found:
        return float(found["giga"]) * 1e9
    lane = DATA_RATE_BITS_PER_S.get(speed.removeprefix("IB-").upper())
    return lane * lanes if lane and lanes else None


def _fastest(at: _Port, name: str) -> float | None:
    """The fastest of `0x000017f2 (200G,100G_2X,...)`."""
    text = _text(at, name) or ""
    inside = text[text.find("(") + 1 :].rstrip(")") if "(" in text else text
    rates = [float(found["giga"]) * 1e9 for word in inside.split(",") if (found := _RATE.match(word.strip()))]
    return max(rates, default=None)


def _text(at: _Port, name: str) -> str | None:
    value = at.fields[name][0] if name in at.fields else None
    return None if value in (None, "N/A", "") else value


def _number(at: _Port, name: str) -> float | None:
    found = _NUMBER.match(_text(at, name) or "")
    return float(found["number"]) if found else None


def _whole(at: _Port, name: str) -> int | None:
    text = _text(at, name) or ""
    return int(text) if text.isdecimal() and len(text) <= _MOST_COUNT_DIGITS else None


def _quotes(at: _Port, *names: str) -> tuple[Quote, ...]:
    return tuple(dict.fromkeys(at.fields[name][1] for name in names if name in at.fields))


READER = Reader(
    title=Text(en="mlxlink", zh="mlxlink"),
    gives=(Counter, Link, LinkModule, LinkSignal, RdmaPort),
    recognises=marked(_RECOGNISED),
    read=_read,
    obtained_by=("mlxlink -d DEVICE -m -c",),
)
