"""JSON documents inside a text: `ip -j` and the like, alone or after a prompt."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from wirespeed.model.lines import MOST_LINE_CHARACTERS, Lines, quote, source
from wirespeed.model.source import Problem, Quote
from wirespeed.model.text import Text

MOST_FAILED_STARTS = 16
"""Lines that look like a JSON document and are none, after which looking ends: it keeps reading linear."""

MOST_DOCUMENTS = 100
"""Marked documents read from one text."""

_DECODER = json.JSONDecoder()


@dataclass(frozen=True, slots=True)
class Document:
    """One JSON value and the lines it stands on."""

    value: object
    first_line_index: int
    text_lines: tuple[str, ...]

    def objects(self) -> Iterator[dict[str, object]]:
        """The objects of a list, or the object itself."""
        for one in self.value if isinstance(self.value, list) else (self.value,):
            if isinstance(one, dict):
                yield one

    def quoted(self, lines: Lines, marker: str) -> Quote:
        """The first line that holds `marker`, or the document's first line."""
        place = next((at for at, line in enumerate(self.text_lines) if marker in line), 0)
        return quote(lines, self.first_line_index + place, self.text_lines[place][:MOST_LINE_CHARACTERS])


def documents(lines: Lines) -> Iterator[Document]:
    """JSON lists and objects that start at the beginning of a line."""
    text = lines.whole()
    if text is None:
        return
    offset = 0
    index = 0
    failures = 0
    while offset < len(text) and failures < MOST_FAILED_STARTS:
        end_of_line = text.find("\n", offset)
        end_of_line = len(text) if end_of_line < 0 else end_of_line
        if text[offset : offset + 1] in ("[", "{"):
            try:
                value, end = _DECODER.raw_decode(text, offset)
            except (ValueError, RecursionError):
                failures += 1
            else:
                taken = tuple(text[offset:end].split("\n"))
                tail = text.find("\n", end)
                tail = len(text) if tail < 0 else tail
                yield Document(value, index, (*taken[:-1], taken[-1] + text[end:tail]))
                index += len(taken)
                offset = tail + 1
                continue
        offset = end_of_line + 1
        index += 1


def marked_documents(lines: Lines, opening: re.Pattern[str], tool: str) -> Iterator[tuple[dict[str, Any], list[Quote]] | Problem]:
    """JSON objects that begin with `opening` anywhere in the text, each with its lines; a damaged one is a problem at its line."""
    text = lines.whole()
    if text is None:
        yield _problem(lines, tool, None, "the document is too large to be read", "文档过大，无法读取")
        return
    rows = [quote(lines, index, line) for index, line in lines]
    position = 0
    for _ in range(MOST_DOCUMENTS):
        found = opening.search(text, position)
        if found is None:
            return
        first_line = text.count("\n", 0, found.start())
        try:
            document, position = _DECODER.raw_decode(text, found.start())
        except (ValueError, RecursionError):
            position = found.end()
            yield _problem(lines, tool, first_line, f"this {tool} document is cut or damaged", f"该 {tool} 文档不完整或已损坏")
            continue
        last_line = first_line + text.count("\n", found.start(), position)
        yield document, rows[first_line : last_line + 1]


def _problem(lines: Lines, tool: str, line_index: int | None, en: str, zh: str) -> Problem:
    return Problem(source=source(lines, tool), why=Text(en=en, zh=zh), line_index=line_index)


def number(value: object) -> int | None:
    """A JSON integer, or None for anything else."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def word(value: object) -> str | None:
    """A JSON string, or None for anything else."""
    return value if isinstance(value, str) else None
