"""Answers that somebody gave to `wirespeed ask`, as that writes them down: one topic of the symptoms a line, with its wording."""

import re
from collections.abc import Iterator
from functools import lru_cache

from wirespeed.model import shelf
from wirespeed.model.kinds import Reader, Symptoms
from wirespeed.model.lines import Lines, quote, source
from wirespeed.model.record import Record
from wirespeed.model.settings import Statement
from wirespeed.model.source import Problem
from wirespeed.model.text import Text
from wirespeed.readers import symptoms
from wirespeed.readers.parsing.own_records import is_interview

_LINE = re.compile(r"^yes (?P<topic>[a-z0-9][a-z0-9-]{0,60}): ")


@lru_cache(maxsize=1)
def _topics() -> frozenset[str]:
    return frozenset(topic for family in shelf.every(symptoms, Symptoms).values() for topic in family.topics)


def _read(lines: Lines) -> Iterator[Record | Problem]:
    for index, line in lines:
        found = _LINE.match(line)
        if found is None:
            continue
        if found["topic"] in _topics():
            yield Statement(source=source(lines, "interview"), quotes=(quote(lines, index, line),), topic=found["topic"])
        else:
            yield Problem(source=source(lines, "interview"), why=_UNKNOWN, line_index=index)


_UNKNOWN = Text(en="an answer on something this version does not know", zh="该版本不认识的回答")

READER = Reader(
    title=Text(en="answers given to wirespeed ask", zh="对 wirespeed ask 的回答"),
    gives=(Statement,),
    recognises=is_interview,
    read=_read,
)
