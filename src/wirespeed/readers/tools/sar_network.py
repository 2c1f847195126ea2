"""Traffic of interfaces as sar prints it (`sar -n DEV`): one record an interface, of its busiest interval and direction."""

from collections.abc import Iterator
from dataclasses import dataclass

from wirespeed.model.kinds import Reader
from wirespeed.model.lines import Lines, source
from wirespeed.model.measurement import ThroughputRun
from wirespeed.model.record import Record
from wirespeed.model.source import Problem
from wirespeed.model.text import Text
from wirespeed.readers.parsing.excerpt import Seen, excerpt
from wirespeed.readers.parsing.marks import marked
from wirespeed.readers.parsing.regex import regex

TOOL = "sar"
BITS_PER_KB = 8 * 1024.0
"""sar divides bytes by 1024 and prints kB (sysstat, pr_stats.c)."""
MOST_INTERFACES = 256

_HEADER = regex(r"\bIFACE\b.*\brxkB/s\b")
_ROW = regex(
    r"^\s*(?:Average:|\d\d:\d\d:\d\d(?: [AP]M)?)\s+(?P<interface>[A-Za-z][\w.@-]*)\s+[\d.]+\s+[\d.]+\s+(?P<rx>[\d.]+)\s+(?P<tx>[\d.]+)(?:\s|$)"
)
_SAR_ROW = regex(
    r"^\s*(?:Average:|\d\d:\d\d:\d\d(?: [AP]M)?)\s+(?:lo|(?:eth|en[opsx]|bond|ib|wlan|br|docker|veth|cali|team)[\w.@-]*)(?:\s+\d+\.\d{1,2}){7,8}\s*$"
)
"""A row as a whole, as `grep` leaves it without its heading: interface, then seven or eight numbers with decimals."""
_BARE_ROW = regex(r"^\s*(?P<interface>[A-Za-z][\w.@-]*)\s+[\d.]+\s+[\d.]+\s+(?P<rx>[\d.]+)\s+(?P<tx>[\d.]+)(?:\s+[\d.]+){0,5}\s*$")
"""A row whose time somebody cut off; it counts below a heading only."""
_NAMED = regex(r"\b(?P<direction>[rt]x)kB/s[\s:=]+(?P<rate>\d+(?:\.\d+)?)\b")
_INTERFACE = regex(r"\b(?P<interface>(?:eth|en[opsx]|ens|bond|ib|wlan|br)[\w.-]*\d[\w.-]*)\b")
_RECOGNISED = regex(rf"\b[rt]xkB/s\b|(?m:{_SAR_ROW.pattern})")


@dataclass(frozen=True, slots=True)
class _Busiest:
    rate_bits_per_s: float
    seen: Seen


def _read(lines: Lines) -> Iterator[Record | Problem]:
    busiest: dict[str, _Busiest] = {}
    interface, in_table = "", False
    for seen in excerpt(lines, _is_own):
        named = _INTERFACE.search(seen.text)
        interface = named["interface"] if named else interface
        in_table = in_table or _HEADER.search(seen.text) is not None
        row = _ROW.match(seen.text) if in_table or _SAR_ROW.match(seen.text) else None
        row = row or (_BARE_ROW.match(seen.text) if in_table else None)
        if row and row["interface"] != "IFACE":
            _note(busiest, row["interface"], seen, [row["rx"], row["tx"]])
        elif not row:
            _note(busiest, interface, seen, [found["rate"] for found in _NAMED.finditer(seen.text)])
    for one in busiest.values():
        yield ThroughputRun(
            source=source(lines, TOOL, one.seen.host),
            quotes=(one.seen.quoted(lines),),
            tool=TOOL,
            rate_bits_per_s=one.rate_bits_per_s,
            role="peak",
        )


def _note(busiest: dict[str, _Busiest], interface: str, seen: Seen, rates: list[str]) -> None:
    """Keep the highest rate of an interface."""
    if interface not in busiest and len(busiest) >= MOST_INTERFACES:
        return
    numbers = [float(rate) for rate in rates if rate.count(".") <= 1 and rate.strip(".")]
    rate_bits_per_s = BITS_PER_KB * max(numbers, default=0.0)
    if rate_bits_per_s > 0 and (interface not in busiest or rate_bits_per_s > busiest[interface].rate_bits_per_s):
        busiest[interface] = _Busiest(rate_bits_per_s, seen)


def _is_own(text: str) -> bool:
    return _ROW.match(text) is not None or _BARE_ROW.match(text) is not None or _NAMED.search(text) is not None


READER = Reader(
    title=Text(en="interface traffic (sar)", zh="接口流量（sar）"),
    gives=(ThroughputRun,),
    recognises=marked(_RECOGNISED),
    read=_read,
    obtained_by=("sar -n DEV 1 10",),
)
