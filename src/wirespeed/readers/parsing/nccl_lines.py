"""One line of NCCL, RCCL or a plugin taken apart: who said it, where in the source, at which level, and what."""

from dataclasses import dataclass

from wirespeed.model.lines import Lines, quote, source
from wirespeed.model.source import Quote, Source
from wirespeed.readers.parsing.regex import regex

LEVEL = regex(r"\b[NR]CCL (?P<level>INFO|WARN|TRACE|ERROR|ABORT)\b ?")
_PROCESS = regex(r"(?:^|[\s>:|])(?P<host><[\w.-]+>|[^\s:\[\]<>|]+):(?P<pid>\d+):\d+(?![\d:.])")
_ALONE = regex(r"^\s*(?P<host>[A-Za-z][\w.-]*\d[\w.-]*|[A-Za-z]+-[\w.-]+|rank \d+):\s*$")
"""A name and a colon, and nothing else in front of the level: how people and launchers say whose line it is."""
_OF_HOST = regex(r"^\s*(?P<host>[A-Za-z][\w.-]*\d[\w.-]*|[A-Za-z]+-[\w.-]+): +(?=[NR]CCL version\b)")
"""The same in front of the line that NCCL prints without a level."""
_CLOCK = regex(r"[\dT-]*\d")
_PLACE = regex(r"(?P<place>[\w./+-]+\.(?:cc|h|cu|cpp|c|hpp|hip)):\d+")
_RANK = regex(r"\[(?:default|rank)(?P<rank>\d+)\]|\[\d+,(?P<mpi>\d+)\]<")
_LAUNCHER = regex(
    r"^\s*(?:(?:\[(?:default|rank)?\d+\]|\[\d+,\d+\](?:<\w+>)?|\([^()]* pid=\d+[^()]*\)|\[?\d{4}-\d\d-\d\d[T ][\d:.,]+Z?\]?):?\s*)+"
)

_LISTED = regex(r"^\s*\[\d+\][\w.-]+:[^\s<>]+<\d+>\s*$")
"""One interface of a list, whose number is no rank."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What one line says. `level` is None for a line without `NCCL INFO` or `NCCL WARN`: an excerpt, or another program's line."""

    level: str | None
    message: str
    """The text after the level, indentation kept; the line without its launcher's prefix where there is no level."""
    host: str | None = None
    process: str | None = None
    """`host:pid`, where the line begins with it."""
    rank: int | None = None
    """The rank that the launcher put in front."""
    place: str | None = None
    """Source file that a warning names, such as `transport/nvls.cc`."""


def take_apart(line: str) -> Said:
    """The parts of one line; a line of any kind is accepted."""
    level = LEVEL.search(line)
    if level is None:
        found = None if _LISTED.match(line) else _LAUNCHER.match(line)
        place = _PLACE.match(line)
        owner = _OF_HOST.match(line)
        return Said(
            level=None,
            host=owner["host"] if owner else None,
            message=line[found.end() :] if found else line,
            rank=_rank(found[0]) if found else None,
            place=place["place"] if place else None,
        )
    front = line[: level.start()]
    host, process = _speaker(front)
    place = _PLACE.search(front)
    return Said(
        level=level["level"],
        message=line[level.end() :],
        host=host,
        process=process,
        rank=_rank(front),
        place=place["place"] if place else None,
    )


def _speaker(front: str) -> tuple[str | None, str | None]:
    """Host and `host:pid`: the last `name:number:number` that is no time of day."""
    found = [one for one in _PROCESS.finditer(front) if not _CLOCK.fullmatch(one["host"])]
    if not found:
        alone = _ALONE.match(front)
        return (alone["host"] if alone else None), None
    host = found[-1]["host"].strip("<>")
    return host, f"{host}:{found[-1]['pid']}"


def _rank(front: str) -> int | None:
    found = _RANK.search(front)
    return None if found is None else int(found["rank"] or found["mpi"])


@dataclass(frozen=True, slots=True, kw_only=True)
class At:
    """Where a record rests: its source, its quotes and the process that spoke."""

    source: Source
    quotes: tuple[Quote, ...]
    process: str | None


def at(lines: Lines, tool: str, said: Said, *quoted: tuple[int, str]) -> At:
    """The place of a record that rests on the quoted lines, each given with its index."""
    return At(
        source=source(lines, tool, said.host),
        quotes=tuple(quote(lines, index, line) for index, line in quoted),
        process=said.process,
    )
