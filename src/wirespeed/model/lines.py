"""The text a reader is given: bounded lines that can be read more than once, never a file."""

from collections.abc import Iterator
from typing import Protocol

from wirespeed.model.source import Quote, Source

MOST_LINE_CHARACTERS = 16_384
"""A longer line is cut here; no format we read has longer lines that matter, and a cut bounds memory."""
MOST_WHOLE_CHARACTERS = 64 * 1024 * 1024
"""Whole-document formats (JSON, XML, YAML) are refused beyond this size."""
SAMPLE_CHARACTERS = 65_536
"""How much of the head recognition looks at."""
QUESTION_PATH = "question"
"""Name of the input that holds what the user asked."""


class Lines(Protocol):
    """One text input. Iterating again starts from the beginning."""

    @property
    def path(self) -> str:
        """The input's name as the user gave it (an archive member as `archive!member`)."""

    @property
    def sample(self) -> str:
        """The first `SAMPLE_CHARACTERS`, for recognition."""

    def __iter__(self) -> Iterator[tuple[int, str]]:
        """Each line with its index from 0, without line end, ANSI sequences and NULs."""

    def whole(self) -> str | None:
        """The whole text, or None when it is larger than `MOST_WHOLE_CHARACTERS`."""


class MemoryLines:
    """Lines of a string at hand."""

    def __init__(self, text: str, path: str = "-") -> None:
        self.path = path
        self._text = text

    @property
    def sample(self) -> str:
        """Head of the text."""
        return self._text[:SAMPLE_CHARACTERS]

    def __iter__(self) -> Iterator[tuple[int, str]]:
        for index, line in enumerate(self._text.split("\n")):
            yield index, line[:MOST_LINE_CHARACTERS]

    def whole(self) -> str | None:
        """The text, unless it is too large."""
        return self._text if len(self._text) <= MOST_WHOLE_CHARACTERS else None


def quote(lines: Lines, index: int, text: str) -> Quote:
    """The quotation of one line."""
    return Quote(source=lines.path, line_index=index, text=text)


def source(lines: Lines, tool: str, host: str | None = None) -> Source:
    """The source of a record read from these lines."""
    return Source(tool=tool, path=lines.path, host=host)
