"""Block devices as iostat shows them (`iostat -x`): one record a device, of its busiest interval."""

from collections.abc import Iterator
from dataclasses import dataclass

from wirespeed.model.facts.host import DiskUse
from wirespeed.model.kinds import Reader
from wirespeed.model.lines import Lines, source
from wirespeed.model.record import Record
from wirespeed.model.source import Problem, Quote
from wirespeed.model.text import Text
from wirespeed.readers.parsing.excerpt import excerpt
from wirespeed.readers.parsing.marks import marked
from wirespeed.readers.parsing.regex import regex

TOOL = "iostat"
MOST_DEVICES = 1_024
_HEADER = regex(r"^\s*Device:?\s(?:.*\s)?%util\s*$")
_NUMBER = regex(r"^\d{1,15}(?:[.,]\d{1,6})?$")
_WAITS = ("await", "r_await", "w_await")
_QUEUES = ("aqu-sz", "avgqu-sz")
_BYTES = {"rkB/s": 1024.0, "wkB/s": 1024.0, "rMB/s": 1024.0**2, "wMB/s": 1024.0**2}
"""iostat divides by 1024 and prints kB and MB (sysstat, iostat.c)."""


@dataclass(frozen=True, slots=True)
class _Row:
    device: str
    numbers: dict[str, float]
    quote: Quote
    host: str | None


def _read(lines: Lines) -> Iterator[Record | Problem]:
    columns: list[str] = []
    busiest: dict[str, _Row] = {}
    for seen in excerpt(lines, _is_own):
        if _HEADER.match(seen.text):
            columns = seen.text.split()[1:]
            continue
        words = seen.text.split()
        if not columns or len(words) != len(columns) + 1 or not all(_NUMBER.match(word) for word in words[1:]):
            continue
        numbers = {name: float(word.replace(",", ".")) for name, word in zip(columns, words[1:], strict=True)}
        row = _Row(words[0], numbers, seen.quoted(lines), seen.host)
        before = busiest.get(row.device)
        if (before is None and len(busiest) < MOST_DEVICES) or (before and numbers["%util"] > before.numbers["%util"]):
            busiest[row.device] = row
    for row in busiest.values():
        yield _use(lines, row)


def _is_own(text: str) -> bool:
    words = text.split(maxsplit=40)
    return _HEADER.match(text) is not None or (len(words) > 4 and all(_NUMBER.match(word) for word in words[1:]))


def _use(lines: Lines, row: _Row) -> DiskUse:
    waits = [row.numbers[name] for name in _WAITS if name in row.numbers]
    rates = [row.numbers[name] * unit for name, unit in _BYTES.items() if name in row.numbers]
    return DiskUse(
        source=source(lines, TOOL, row.host),
        quotes=(row.quote,),
        device=row.device,
        busy_ratio=row.numbers["%util"] / 100.0,
        queue_count=next((row.numbers[name] for name in _QUEUES if name in row.numbers), None),
        wait_s=max(waits) / 1e3 if waits else None,
        rate_bytes_per_s=sum(rates) if rates else None,
    )


READER = Reader(
    title=Text(en="block devices (iostat)", zh="块设备（iostat）"),
    gives=(DiskUse,),
    recognises=marked(r"(?m)^[^\n]{0,80}Device:?\s[^\n]{0,400}%util\s*$"),
    read=_read,
    obtained_by=("iostat -x 1 10",),
)
