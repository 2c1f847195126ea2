"""`ibstatus`: one block a port, values as sysfs prints them."""

from collections.abc import Iterator

from wirespeed.model.facts.rdma import RdmaPort
from wirespeed.model.kinds import Reader
from wirespeed.model.lines import Lines, quote, source
from wirespeed.model.record import Record
from wirespeed.model.source import Problem, Quote
from wirespeed.model.text import Text
from wirespeed.readers.parsing.marks import marked
from wirespeed.readers.parsing.regex import regex

_HEADER = regex(r"Infiniband device '(?P<device>[\w.-]{1,64})' port (?P<port>\d{1,3}) status:")
_FIELD = regex(r"(?:^|\s)(?P<label>base lid|sm lid|state|phys state|rate|link_layer):\s+(?P<setting>\S.{0,63})")
_NUMBERED = regex(r"^\d+: *(?P<word>\w+)")
_RATE = regex(r"^(?P<rate>\d{1,6}(?:\.\d{1,3})?) Gb/sec(?: \((?P<lanes>[^)]{1,24})\))?")
_RECOGNISED = regex(r"(?m)Infiniband device '[\w.-]+' port \d+ status|^\s*(?:phys )?state:\s+\d: \w+|^\s*rate:\s+[\d.]+ Gb/sec")
_BAD_RATE = Text(en="the rate of an RDMA port could not be read", zh="RDMA 端口的速率无法读取")


def _read(lines: Lines) -> Iterator[Record | Problem]:
    device, port = "", 1
    fields: dict[str, str] = {}
    quotes: list[Quote] = []
    for index, line in lines:
        header = _HEADER.search(line)
        found = None if header else _FIELD.search(line)
        if header or (found and found["label"] in fields):
            yield from _finished(lines, device, port, fields, quotes)
            device, port = (header["device"], int(header["port"])) if header else ("", 1)
            fields, quotes = {}, []
        if header:
            quotes.append(quote(lines, index, line))
        elif found:
            if found["label"] == "rate" and not _RATE.match(found["setting"]):
                yield Problem(source=source(lines, "ibstatus"), why=_BAD_RATE, line_index=index)
                continue
            fields[found["label"]] = found["setting"].strip()
            quotes.append(quote(lines, index, line))
    yield from _finished(lines, device, port, fields, quotes)


def _finished(lines: Lines, device: str, port: int, fields: dict[str, str], quotes: list[Quote]) -> Iterator[RdmaPort]:
    if not fields.keys() & {"state", "phys state", "rate", "link_layer"}:
        return
    layer = fields.get("link_layer", "").lower()
    rate = _RATE.match(fields.get("rate", ""))
    yield RdmaPort(
        source=source(lines, "ibstatus"),
        quotes=tuple(quotes),
        missing={} if device else {"device": "absent"},
        device=device,
        port=port,
        state=_word(fields.get("state")),
        physical_state=_word(fields.get("phys state")),
        link_layer="infiniband" if layer == "infiniband" else "ethernet" if layer == "ethernet" else None,
        link_rate_bits_per_s=float(rate["rate"]) * 1e9 if rate else None,
        lanes=rate["lanes"] if rate else None,
        lid_number=_hex(fields.get("base lid")),
        sm_lid_number=_hex(fields.get("sm lid")),
    )


def _word(setting: str | None) -> str | None:
    """`4: ACTIVE` is `active`."""
    found = _NUMBERED.match(setting or "")
    return found["word"].lower() if found else None


def _hex(setting: str | None) -> int | None:
    try:
        return int(setting, 16) if setting else None
    except ValueError:
        return None


READER = Reader(
    title=Text(en="ibstatus", zh="ibstatus"),
    gives=(RdmaPort,),
    recognises=marked(_RECOGNISED),
    read=_read,
    obtained_by=("ibstatus",),
)
