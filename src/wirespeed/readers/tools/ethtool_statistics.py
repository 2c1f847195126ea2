"""`ethtool -S IFACE` and excerpts of it: what the driver counts."""

from collections.abc import Iterator

from wirespeed.model.counters import canonical_name
from wirespeed.model.facts.link import Counter
from wirespeed.model.kinds import Reader
from wirespeed.model.lines import Lines, source
from wirespeed.model.record import Record
from wirespeed.model.source import Problem
from wirespeed.model.text import Text
from wirespeed.readers.parsing.ethtool import UNKNOWN_LINK, named_link
from wirespeed.readers.parsing.excerpt import Seen, arguments_of, excerpt
from wirespeed.readers.parsing.marks import marked
from wirespeed.readers.parsing.regex import regex

_HEADER = regex(r"^\s*NIC statistics(?: for (?P<link>[^\s:]+))?:\s*$")
_ROW = regex(r"^\s*(?P<name>[\w\[\].-][\w\[\]. -]{0,79}(?:: [a-z][\w.-]*)?)\s*: *(?P<count>\d+)\s*$")
_LOOSE_NAME = (
    r"(?:[rt]x\d*[._-]|port\.|veb\.|queue_\d|pfc_pri|bw_(?:in|out)_|pps_|conntrack_allowance|linklocal_"
    r"|outbound_pci|link_down_events"
    r"|module_high)[\w.-]*"
)
_LOOSE = regex(rf"(?<![\w./-])(?P<name>{_LOOSE_NAME})(?:\[\d+\])?(?:\s*[:=]\s*|\s+)(?P<plus>\+)?(?P<count>\d+)(?![\w.%/])")
_RECOGNISED = regex(rf"NIC statistics|\bethtool (?:-S|--statistics)\b|\b(?<![./-]){_LOOSE_NAME}(?:\[\d+\])?(?:\s*[:=]\s*|\s+)\+?\d")
_FLAGS = frozenset({"-S", "--statistics"})


def _read(lines: Lines) -> Iterator[Record | Problem]:
    link: str | None = None
    for seen in excerpt(lines, _is_own, ("ethtool",)):
        if seen.is_prompt:
            link = _link_of(seen)
            continue
        header = _HEADER.match(seen.text)
        if header:
            link = header["link"] or link or UNKNOWN_LINK
            continue
        row = _ROW.match(seen.text) if link is not None else None
        if row:
            yield _counter(lines, seen, link or UNKNOWN_LINK, row["name"], int(row["count"]))
        elif link is None:
            yield from _loose(lines, seen)
        elif seen.text.strip() and not _LOOSE.search(seen.text):
            link = None
        else:
            yield from _loose(lines, seen, link)


def _is_own(text: str) -> bool:
    return _HEADER.match(text) is not None or _ROW.match(text) is not None


def _link_of(seen: Seen) -> str | None:
    arguments = arguments_of(seen.command, "ethtool")
    if arguments is None or not _FLAGS & set(arguments):
        return None
    return named_link(arguments)


def _loose(lines: Lines, seen: Seen, link: str = UNKNOWN_LINK) -> Iterator[Counter]:
    for found in _LOOSE.finditer(seen.text):
        if canonical_name(found["name"]) is not None:
            yield _counter(lines, seen, link, found["name"], int(found["count"]), is_delta=found["plus"] is not None)


def _counter(lines: Lines, seen: Seen, link: str, name: str, count: int, is_delta: bool = False) -> Counter:
    return Counter(
        source=source(lines, "ethtool -S", seen.host),
        quotes=(seen.quoted(lines),),
        scope=link,
        name=name.strip(),
        value_count=count,
        canonical=canonical_name(name.strip()),
        is_delta=is_delta,
    )


READER = Reader(
    title=Text(en="driver statistics (ethtool -S)", zh="网卡驱动统计（ethtool -S）"),
    gives=(Counter,),
    recognises=marked(_RECOGNISED),
    read=_read,
    obtained_by=("ethtool -S IFACE",),
)
