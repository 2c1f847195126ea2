"""XML inside a text, element by element: bounded, without entities of its own, and on past damage.

The text is read inside an element of our own, where a document type is a syntax error: no entity but the five predefined can be declared,
so nothing expands, and nothing is ever fetched.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal
from xml.parsers import expat

from wirespeed.model.lines import Lines, quote
from wirespeed.model.source import Quote

MOST_DEPTH = 64
MOST_TEXT_CHARACTERS = 1_000
"""Kept of the characters inside one element."""


@dataclass(slots=True)
class Element:
    """One element: its attributes, the characters directly in it, and where it opened."""

    name: str
    attributes: dict[str, str]
    line_index: int
    line: str
    parent: "Element | None" = None
    text: str = ""

    def quoted(self, lines: Lines) -> Quote:
        """The line on which the element opens."""
        return quote(lines, self.line_index, self.line)

    def ancestor(self, name: str) -> "Element | None":
        """The nearest element of this name around this one."""
        around = self.parent
        while around is not None and around.name != name:
            around = around.parent
        return around


@dataclass(frozen=True, slots=True)
class Step:
    """One step through a document: an element `opens` or `closes`, or the text is `damaged` on a line and reading starts anew behind it."""

    what: Literal["opens", "closes", "damaged"]
    line_index: int
    element: Element | None = None


@dataclass(slots=True)
class _Reading:
    """A parser at work and what it has made of the lines so far."""

    parser: expat.XMLParserType
    line_index: int = 0
    line: str = ""
    stack: list[Element] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    is_too_deep: bool = False


def steps(lines: Lines, root: re.Pattern[str]) -> Iterator[Step]:
    """Steps through every piece of XML that begins with what `root` matches; other lines are passed over."""
    reading: _Reading | None = None
    for index, line in lines:
        if reading is not None:
            is_sound = _feed(reading, index, line, 0)
            yield from _taken(reading)
            if is_sound:
                reading = reading if reading.stack else None
                continue
            yield Step("damaged", index)
        found = root.search(line)
        reading = _begin() if found else None
        if reading is None or found is None:
            continue
        is_sound = _feed(reading, index, line, found.start())
        yield from _taken(reading)
        if not is_sound:
            yield Step("damaged", index)
        reading = reading if is_sound and reading.stack else None
    if reading is not None:
        yield Step("damaged", reading.line_index)


def _begin() -> _Reading:
    parser = expat.ParserCreate()
    reading = _Reading(parser)

    def opens(name: str, attributes: dict[str, str]) -> None:
        if len(reading.stack) >= MOST_DEPTH:
            reading.is_too_deep = True
            return
        around = reading.stack[-1] if reading.stack else None
        element = Element(name, attributes, reading.line_index, reading.line, around)
        reading.stack.append(element)
        reading.steps.append(Step("opens", reading.line_index, element))

    def closes(_name: str) -> None:
        if reading.stack:
            reading.steps.append(Step("closes", reading.line_index, reading.stack.pop()))

    def holds(characters: str) -> None:
        if reading.stack and len(reading.stack[-1].text) < MOST_TEXT_CHARACTERS:
            reading.stack[-1].text += characters

    parser.Parse("<excerpt>")
    parser.StartElementHandler, parser.EndElementHandler, parser.CharacterDataHandler = opens, closes, holds
    return reading


def _feed(reading: _Reading, index: int, line: str, start: int) -> bool:
    """Whether the line, from `start` on, goes on as XML."""
    reading.line_index, reading.line = index, line
    try:
        reading.parser.Parse(line[start:] + "\n")
    except (expat.ExpatError, UnicodeEncodeError):
        return False
    return not reading.is_too_deep


def _taken(reading: _Reading) -> list[Step]:
    """The steps made since they were last taken."""
    made, reading.steps = reading.steps, []
    return made
