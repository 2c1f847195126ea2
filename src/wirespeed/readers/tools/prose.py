"""What people write: named symptoms and numbers with units. The weakest evidence, and often the only one."""

import re
from collections.abc import Iterator
from functools import cache

from wirespeed.model import shelf
from wirespeed.model.kinds import Reader, Symptoms, Topic
from wirespeed.model.lines import QUESTION_PATH, Lines, quote, source
from wirespeed.model.record import Record
from wirespeed.model.settings import Quantity, Statement
from wirespeed.model.source import Problem
from wirespeed.model.text import Text
from wirespeed.model.units import rate_in_bits_per_s, size_in_bytes, time_in_s

_MACHINE_LINE = re.compile(
    r"NCCL (?:INFO|WARN|TRACE|ERROR)|^\s*\[\s*\d+\.\d+\]|^\s*File \"|^\w{3}\s+\d+ \d\d:\d\d:\d\d \S+ kernel:"
)
_CLAUSE_END = re.compile(r"[.;:!?]\s|,\s+(?:but|and|while)\s|\bbut\b|\bthough\b")
_NEGATION = re.compile(
    r"(?i)\b(?:no|not|never|without|neither|nor|isn't|aren't|wasn't|doesn't|don't|didn't|cannot|can't|won't|none|zero)\b"
)
_NEGATION_REACH_CHARACTERS = 32
_NUMBER = re.compile(
    r"(?<![\w.])(?P<number>\d[\d,]*(?:\.\d+)?)\s*(?P<unit>[kKMGTP]i?(?:[Bb](?:its?|ytes?)?)(?:/s(?:ec)?|ps)?|[Bb]/s|bps"
    r"|ns|us|µs|ms|seconds?|minutes?|hours?|min|s|h|%|tok(?:ens)?/s|W|°?C|[MG]Hz)(?![\w/])"
)
_LONG_UNITS = {"second": "s", "seconds": "s", "minute": "min", "minutes": "min", "hour": "h", "hours": "h", "sec": "s"}


def _read(lines: Lines) -> Iterator[Record | Problem]:
    for index, line in lines:
        if not line.strip() or _MACHINE_LINE.search(line):
            continue
        yield from _statements(lines, index, line)
        yield from _quantities(lines, index, line)


def _statements(lines: Lines, index: int, line: str) -> Iterator[Statement]:
    for name, topic, wordings in _topics():
        found = next((match for wording in wordings if (match := wording.search(line))), None)
        if found is None:
            continue
        groups = found.groupdict()
        yield Statement(
            source=source(lines, "prose"),
            quotes=(quote(lines, index, line),),
            topic=name,
            value=_float(groups.get("value")),
            unit=groups.get("unit"),
            is_negated=topic.negatable and _is_negated(line, found.start()),
            is_question=lines.path == QUESTION_PATH,
        )


def _is_negated(line: str, start: int) -> bool:
    before = line[max(0, start - _NEGATION_REACH_CHARACTERS) : start]
    clause = _CLAUSE_END.split(before)[-1]
    return _NEGATION.search(clause) is not None


def _float(text: str | None) -> float | None:
    try:
        return None if text is None else float(text.replace(",", ""))
    except ValueError:
        return None


def _quantities(lines: Lines, index: int, line: str) -> Iterator[Quantity]:
    for found in _NUMBER.finditer(line):
        measured = _in_si(float(found["number"].replace(",", "")), found["unit"])
        if measured is None:
            continue
        dimension, value = measured
        yield Quantity(
            source=source(lines, "prose"),
            quotes=(quote(lines, index, line),),
            dimension=dimension,
            value=value,
            printed=found[0],
            subject=line[: found.start()].strip().lower()[-80:],
        )


def _in_si(number: float, unit: str) -> tuple[str, float] | None:
    unit = _LONG_UNITS.get(unit, unit)
    if unit == "%":
        return "share", number / 100.0
    if unit.startswith("tok"):
        return "tokens_per_s", number
    if unit == "W":
        return "power", number
    if unit.endswith("C"):
        return "temperature", number
    if unit.endswith("Hz"):
        return "clock", number * (1e9 if unit.startswith("G") else 1e6)
    for dimension, convert in (("rate", rate_in_bits_per_s), ("size", size_in_bytes), ("time", time_in_s)):
        value = convert(number, unit)
        if value is not None:
            return dimension, value
    return None


@cache
def _topics() -> tuple[tuple[str, Topic, tuple[re.Pattern[str], ...]], ...]:
    from wirespeed.readers import symptoms

    return tuple(
        (name, topic, tuple(re.compile(wording, re.IGNORECASE) for wording in topic.wordings))
        for family in shelf.every(symptoms, Symptoms).values()
        for name, topic in family.topics.items()
    )


READER = Reader(
    title=Text(en="what people write", zh="用户描述"),
    gives=(Statement, Quantity),
    recognises=lambda sample: bool(sample.strip()),
    read=_read,
)
