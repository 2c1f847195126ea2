"""`ibstat`: one block a device, one indented block a port; excerpts may lack any line."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from wirespeed.model.facts.rdma import RdmaPort
from wirespeed.model.kinds import Reader
from wirespeed.model.lines import Lines, quote, source
from wirespeed.model.record import Record
from wirespeed.model.source import Problem, Quote
from wirespeed.model.text import Text
from wirespeed.readers.parsing.marks import marked
from wirespeed.readers.parsing.regex import regex

_DEVICE = regex(r"\bCA '(?P<device>[\w.-]{1,64})'")
_PORT = regex(r"^\W*Port (?P<port>\d{1,3}):\s*$")
_FIELD = regex(
    r"(?:^|\s)(?P<label>CA type|Firmware version|State|Physical state|Rate|Base lid|SM lid|Link layer):\s*"
    r"(?P<setting>\S+(?: \S+){0,7}?)(?=\s*$|\s{2,}|\s(?:CA type|Firmware version|State|Physical state|Rate|Base lid|SM lid|Link layer):)"
)
_INLINE_PORT = regex(r"\bPort (?P<port>\d{1,3}):\s+\S")
_BOARD = regex(r"\((?P<board>MT\d{4,5})\)")
_RECOGNISED = regex(r"(?m)\bCA '[\w.-]+'|^\s*Physical state: \w+|^\s*Link layer: (?:InfiniBand|Ethernet)")
_STATES = {"initializing": "init", "initialize": "init"}
_BAD_RATE = Text(en="the rate of an RDMA port is no number", zh="RDMA 端口的速率不是数字")
_DEVICE_LABELS = ("CA type", "Firmware version")


@dataclass(slots=True)
class _Port:
    """What was read of one port so far; `device_lines` are shared by the ports of a device."""

    device: str = ""
    port: int = 1
    fields: dict[str, str] = field(default_factory=dict)
    quotes: list[Quote] = field(default_factory=list)
    device_fields: dict[str, str] = field(default_factory=dict)
    device_quotes: list[Quote] = field(default_factory=list)


def _read(lines: Lines) -> Iterator[Record | Problem]:
    port = _Port()
    for index, line in lines:
        said = quote(lines, index, line)
        if device := _DEVICE.search(line):
            yield from _finished(lines, port)
            port = _Port(device=device["device"], device_quotes=[said])
            if not _note_inline(port, line, said):
                yield Problem(source=source(lines, "ibstat"), why=_BAD_RATE, line_index=index)
        elif number := _PORT.match(line):
            yield from _finished(lines, port)
            port = _next_port(port, int(number["port"]), said)
        elif found := _FIELD.search(line):
            label, setting = found["label"], found["setting"].strip()
            if label in _DEVICE_LABELS:
                port.device_fields[label] = setting
                port.device_quotes = [*port.device_quotes, said][:8]
                continue
            if label in port.fields:  # the same line again: an excerpt of the next port
                yield from _finished(lines, port)
                port = _Port()
            if label == "Rate" and not _is_number(setting):
                yield Problem(source=source(lines, "ibstat"), why=_BAD_RATE, line_index=index)
                continue
            port.fields[label] = setting
            port.quotes.append(said)
    yield from _finished(lines, port)


def _note_inline(port: _Port, line: str, said: Quote) -> bool:
    """Fields that somebody has put behind the device on its line; false where the rate among them is no number."""
    found = {each["label"]: each["setting"].strip() for each in _FIELD.finditer(line)}
    if not found:
        return True
    if number := _INLINE_PORT.search(line):
        port.port = int(number["port"])
    if board := _BOARD.search(line):
        found.setdefault("CA type", board["board"])
    port.device_fields = {label: found[label] for label in _DEVICE_LABELS if label in found}
    is_sound = _is_number(found.get("Rate", "0"))
    port.fields = {
        label: setting for label, setting in found.items() if label not in _DEVICE_LABELS and (label != "Rate" or is_sound)
    }
    port.device_quotes, port.quotes = [], [said]
    return is_sound


def _next_port(before: _Port, number: int, said: Quote) -> _Port:
    return _Port(
        device=before.device,
        port=number,
        quotes=[said],
        device_fields=before.device_fields,
        device_quotes=before.device_quotes,
    )


def _finished(lines: Lines, port: _Port) -> Iterator[RdmaPort]:
    if not port.fields.keys() & {"State", "Physical state", "Rate", "Link layer"}:
        return
    state = port.fields.get("State", "").lower()
    layer = port.fields.get("Link layer", "").lower()
    physical = port.fields.get("Physical state")
    rate = port.fields.get("Rate")
    yield RdmaPort(
        source=source(lines, "ibstat"),
        quotes=(*port.device_quotes, *port.quotes),
        missing={} if port.device else {"device": "absent"},
        device=port.device,
        port=port.port,
        state=_STATES.get(state, state) or None,
        physical_state=physical.lower() if physical else None,
        link_layer="infiniband" if layer == "infiniband" else "ethernet" if layer == "ethernet" else None,
        link_rate_bits_per_s=float(rate) * 1e9 if rate else None,
        firmware=port.device_fields.get("Firmware version"),
        board=port.device_fields.get("CA type"),
        lid_number=_whole(port.fields.get("Base lid")),
        sm_lid_number=_whole(port.fields.get("SM lid")),
    )


def _is_number(setting: str) -> bool:
    return setting.replace(".", "", 1).isdecimal()


def _whole(setting: str | None) -> int | None:
    return int(setting) if setting and setting.isdecimal() else None


READER = Reader(
    title=Text(en="ibstat", zh="ibstat"),
    gives=(RdmaPort,),
    recognises=marked(_RECOGNISED),
    read=_read,
    obtained_by=("ibstat",),
)
