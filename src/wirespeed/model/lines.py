"""The text a reader is given: bounded lines that can be read more than once, never a file."""

from collections.abc import Iterator
from typing import Protocol

import msgspec

from wirespeed.model.source import Quote, Source

MOST_LINE_CHARACTERS = 16_384
"""A longer line is cut here; no format we read has longer lines that matter, and a cut bounds memory."""
MOST_WHOLE_CHARACTERS = 64 * 1024 * 1024
"""Whole-document formats (JSON, XML, YAML) are refused beyond this size."""
HEAD_CHARACTERS = 65_536
"""What `Lines.head` gives."""
SAMPLE_CHARACTERS = 131_072
"""What recognition looks at in all: a text of this size whole, of a larger one its head and windows over the rest."""
SAMPLE_HEAD_CHARACTERS = 32_768
SAMPLE_WINDOW_COUNT = 16
SAMPLE_WINDOW_CHARACTERS = (SAMPLE_CHARACTERS - SAMPLE_HEAD_CHARACTERS) // SAMPLE_WINDOW_COUNT
CAPTURE_HEADS = (
    b"\xd4\xc3\xb2\xa1", b"\xa1\xb2\xc3\xd4", b"\x4d\x3c\xb2\xa1", b"\xa1\xb2\x3c\x4d", b"\x34\xcd\xb2\xa1", b"\xa1\xb2\xcd\x34",
    b"\x0a\x0d\x0d\x0a",
)  # fmt: skip
"""What packet captures begin with: pcap in microseconds, in nanoseconds and modified, each in both byte orders, and pcapng."""
QUESTION_PATH = "question"
"""Name of the input that holds what the user asked."""


class Origin(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of a text besides its name, from where it was found."""

    host: str | None = None
    """The machine it was taken on."""
    command: str | None = None
    """The command that printed it."""
    is_collected: bool = False
    """Whether a program gathered it from a machine, as support archives are: nothing in it is anybody's own words."""


UNKNOWN_ORIGIN = Origin()


class Lines(Protocol):
    """One text input. Iterating again starts from the beginning."""

    @property
    def path(self) -> str:
        """The input's name as the user gave it (an archive member as `archive!member`)."""

    @property
    def origin(self) -> Origin:
        """What is known of it besides its name."""

    @property
    def head(self) -> str:
        """The first `HEAD_CHARACTERS`, without a gap."""

    @property
    def sample(self) -> str:
        """For recognition: the text, or whole lines from all over it where it is larger than `SAMPLE_CHARACTERS`."""

    def __iter__(self) -> Iterator[tuple[int, str]]:
        """Each line with its index from 0, without line end, ANSI sequences and NULs."""

    def whole(self) -> str | None:
        """The whole text, or None when it is larger than `MOST_WHOLE_CHARACTERS`."""


class Chunks(Protocol):
    """One input that is no text, such as a packet capture. Iterating again starts from the beginning."""

    @property
    def path(self) -> str:
        """The input's name as the user gave it."""

    @property
    def origin(self) -> Origin:
        """What is known of it besides its name."""

    @property
    def size_bytes(self) -> int:
        """How many bytes there are."""

    def __iter__(self) -> Iterator[bytes]:
        """All of them, in chunks of bounded size."""


class MemoryLines:
    """Lines of a string at hand."""

    def __init__(self, text: str, path: str = "-", origin: Origin = UNKNOWN_ORIGIN) -> None:
        self.path = path
        self.origin = origin
        self._text = text

    @property
    def head(self) -> str:
        """Head of the text."""
        return self._text[:HEAD_CHARACTERS]

    @property
    def sample(self) -> str:
        """The text, or lines from all over it."""
        size = len(self._text)
        pieces = (whole_lines_of(self._text[start:end], begins=start == 0, ends=end == size) for start, end in sample_windows(size))
        return "\n".join(pieces)

    def __iter__(self) -> Iterator[tuple[int, str]]:
        for index, line in enumerate(self._text.split("\n")):
            yield index, line[:MOST_LINE_CHARACTERS]

    def whole(self) -> str | None:
        """The text, unless it is too large."""
        return self._text if len(self._text) <= MOST_WHOLE_CHARACTERS else None


def sample_windows(size: int) -> tuple[tuple[int, int], ...]:
    """Start and end of what recognition looks at in a text of this size: the head, and windows up to the very end."""
    if size <= SAMPLE_CHARACTERS:
        return ((0, size),)
    last = size - SAMPLE_WINDOW_CHARACTERS
    strides = SAMPLE_WINDOW_COUNT - 1
    starts = [SAMPLE_HEAD_CHARACTERS + (last - SAMPLE_HEAD_CHARACTERS) * number // strides for number in range(strides + 1)]
    return ((0, SAMPLE_HEAD_CHARACTERS), *((start, start + SAMPLE_WINDOW_CHARACTERS) for start in starts))


def whole_lines_of(window: str, begins: bool, ends: bool) -> str:
    """A window without the lines it cuts; `begins` and `ends` tell whether it does so with the text. A head within one line stays."""
    if not begins:
        window = window.partition("\n")[2]
    if not ends:
        whole, end, _ = window.rpartition("\n")
        window = whole if end or not begins else window
    return window


def quote(lines: Lines, index: int, text: str) -> Quote:
    """The quotation of one line."""
    return Quote(source=lines.path, line_index=index, text=text)


def source(lines: Lines, tool: str, host: str | None = None) -> Source:
    """The source of a record read from these lines; the host that the text names goes before the one it was taken on."""
    return Source(tool=tool, path=lines.path, host=lines.origin.host if host is None else host)
