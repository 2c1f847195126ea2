"""`dig`: one timed look-up of a name."""

from collections.abc import Iterator

from wirespeed.model.kinds import Reader
from wirespeed.model.lines import Lines, source
from wirespeed.model.measurement import NameLookup
from wirespeed.model.record import Record
from wirespeed.model.source import Problem, Quote
from wirespeed.model.text import Text
from wirespeed.model.units import time_in_s
from wirespeed.readers.parsing.excerpt import Seen, arguments_of, excerpt
from wirespeed.readers.parsing.marks import marked
from wirespeed.readers.parsing.regex import regex

_BANNER = regex(r"^\s*; <<>> DiG \S+ <<>> (?P<arguments>.*\S)\s*$")
_STATUS = regex(r"->>HEADER<<- .*\bstatus: (?P<status>[A-Z]+)")
_ASKED = regex(r"^\s*;(?P<name>[\w.-]+\.)\s+(?:IN|CH)\s+[A-Z]+\s*$")
_TIME = regex(r"\bQuery time: (?P<number>\d+) (?P<unit>msec|usec)\b")
_SHAPES = (_BANNER, _STATUS, _ASKED, _TIME)
_RECOGNISED = regex(r"<<>> DiG |\bQuery time: \d+ [mu]sec")
UNNAMED = "?"
"""Name where an excerpt shows only the time."""


def _read(lines: Lines) -> Iterator[Record | Problem]:
    name = UNNAMED
    status: str | None = None
    quotes: tuple[Quote, ...] = ()
    for seen in excerpt(lines, _is_own, ("dig",)):
        banner, header, asked, timed = (None,) * 4 if seen.is_prompt else tuple(shape.search(seen.text) for shape in _SHAPES)
        if seen.is_prompt:
            name, status, quotes = _name_of(arguments_of(seen.command, "dig") or ()), None, ()
        elif banner:
            name, status, quotes = _name_of(tuple(banner["arguments"].split())), None, ()
        elif header:
            status, quotes = header["status"], (seen.quoted(lines),)
        elif asked:
            name, quotes = asked["name"].rstrip(".") or name, (*quotes[:1], seen.quoted(lines))
        elif timed:
            time_s = time_in_s(float(timed["number"]), timed["unit"].removesuffix("ec"))
            if time_s is not None:
                yield _lookup(lines, seen, time_s, name, status, quotes)
            status, quotes = None, ()


def _is_own(text: str) -> bool:
    return any(shape.search(text) for shape in _SHAPES)


def _name_of(arguments: tuple[str, ...]) -> str:
    return next(
        (one.rstrip(".") for one in arguments if not one.startswith(("-", "+", "@")) and one not in ("A", "AAAA", "IN")), UNNAMED
    )


def _lookup(lines: Lines, seen: Seen, time_s: float, name: str, status: str | None, quotes: tuple[Quote, ...]) -> NameLookup:
    return NameLookup(
        source=source(lines, "dig", seen.host),
        quotes=(*quotes, seen.quoted(lines)),
        name=name,
        time_s=time_s,
        is_answered=None if status is None else status == "NOERROR",
    )


READER = Reader(
    title=Text(en="name look-up (dig)", zh="域名查询（dig）"),
    gives=(NameLookup,),
    recognises=marked(_RECOGNISED),
    read=_read,
    obtained_by=("dig NAME",),
)
