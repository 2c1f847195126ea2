"""`conntrack -S`, `conntrack -C` and /proc/net/stat/nf_conntrack: what connection tracking counts on each CPU."""

from collections.abc import Iterator

from wirespeed.model.counters import canonical_name
from wirespeed.model.facts.host import Sysctl
from wirespeed.model.facts.link import Counter
from wirespeed.model.kinds import Reader
from wirespeed.model.lines import Lines, source
from wirespeed.model.record import Record
from wirespeed.model.source import Problem, Quote
from wirespeed.model.text import Text
from wirespeed.readers.parsing.excerpt import Seen, arguments_of, excerpt
from wirespeed.readers.parsing.marks import marked
from wirespeed.readers.parsing.regex import regex

_ROW = regex(r"^\s*cpu=(?P<cpu>\d+)\s+(?P<pairs>\w+=\d+(?:\s+\w+=\d+)*)\s*$")
_LOOSE = regex(r"(?<!\w)(?P<name>insert_failed|early_drop|search_restart)[=: ]+(?P<count>\d+)\b")
_HEADING = regex(r"^\s*entries\s+.*\binsert_failed\b")
_HEX_ROW = regex(r"^\s*[0-9a-f]{8}(?:\s+[0-9a-f]{8}){9,20}\s*$")
_TOTAL = regex(r"^\s*(?P<count>\d+)\s*$")
_RECOGNISED = regex(r"\bcpu=\d+\s+\w+=\d|\binsert_failed\b|\bconntrack (?:-C|--count)\b")
_LEVELS = frozenset({"entries"})


def _read(lines: Lines) -> Iterator[Record | Problem]:
    names: list[str] = []
    heading: Quote | None = None
    cpu = 0
    for seen in excerpt(lines, _is_own, ("conntrack",)):
        if seen.is_prompt:
            names, heading, cpu = [], None, 0
        elif _HEADING.match(seen.text):
            names, heading, cpu = seen.text.split(), seen.quoted(lines), 0
        elif heading and _HEX_ROW.match(seen.text):
            yield from _from_hex(lines, seen, names, heading, cpu)
            cpu += 1
        else:
            yield from _line(lines, seen)


def _is_own(text: str) -> bool:
    return any(shape.match(text) for shape in (_ROW, _HEADING, _HEX_ROW))


def _line(lines: Lines, seen: Seen) -> Iterator[Record]:
    row = _ROW.match(seen.text)
    total = _TOTAL.match(seen.text)
    if row:
        for pair in row["pairs"].split():
            name, _, count = pair.partition("=")
            yield _counter(lines, (seen.quoted(lines),), f"conntrack/cpu{row['cpu']}", name, int(count), seen.host)
    elif total and _asks_for_count(seen.command):
        yield Sysctl(
            source=source(lines, "conntrack -C", seen.host),
            quotes=(seen.quoted(lines),),
            name="net.netfilter.nf_conntrack_count",
            setting=total["count"],
        )
    else:
        for found in _LOOSE.finditer(seen.text):
            yield _counter(lines, (seen.quoted(lines),), "conntrack", found["name"], int(found["count"]), seen.host)


def _asks_for_count(command: tuple[str, ...]) -> bool:
    arguments = arguments_of(command, "conntrack") or ()
    return "-C" in arguments or "--count" in arguments


def _from_hex(lines: Lines, seen: Seen, names: list[str], heading: Quote, cpu: int) -> Iterator[Counter]:
    for name, text in zip(names, seen.text.split(), strict=False):
        if name not in _LEVELS:
            yield _counter(lines, (heading, seen.quoted(lines)), f"conntrack/cpu{cpu}", name, int(text, 16), seen.host)


def _counter(lines: Lines, quotes: tuple[Quote, ...], scope: str, name: str, count: int, host: str | None) -> Counter:
    return Counter(
        source=source(lines, "conntrack -S", host),
        quotes=quotes,
        scope=scope,
        name=name,
        value_count=count,
        canonical=canonical_name(name),
    )


READER = Reader(
    title=Text(en="connection tracking (conntrack)", zh="连接跟踪（conntrack）"),
    gives=(Counter, Sysctl),
    recognises=marked(_RECOGNISED),
    read=_read,
    obtained_by=("conntrack -S",),
)
