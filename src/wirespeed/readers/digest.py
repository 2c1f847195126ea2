"""The telling part of a long text: of lines that differ only in figures and identifiers, most are left out.

Long logs say the same few hundred things a million times. Every line has a *shape*: what is left of it without words from their first
digit on, and without hexadecimal letters. Of each shape the first lines are kept, then ever fewer, and the last; so whatever occurs in
a text occurs in its digest, however rare it is and wherever it stands. Which readers fit is told by the rarest shapes, and a reader
that finds something in the digest which goes on in the text gets all of it (`recognise.read_all`).
"""

import re
from array import array
from collections import deque
from collections.abc import Iterable, Iterator
from typing import Protocol

from wirespeed.model.lines import MOST_LINE_CHARACTERS, SAMPLE_CHARACTERS, SAMPLE_HEAD_CHARACTERS, Lines, Origin

FIRST_COUNT = 4
"""So many lines of a shape are kept from its first on; then the 16th, 64th, 256th and every further power of four."""
LAST_COUNT = 2
"""So many lines of a shape are kept up to its last."""
MOST_SHAPES = 100_000
"""Of a text with more shapes nothing is left out: it is no log."""
MOST_KEPT_CHARACTERS = 24 * 1024 * 1024
"""A digest of more characters is none either."""
MOST_ROUGH_SHAPES = 50_000
_FROM_DIGIT = re.compile(rb"\d[\w.:/@%+-]*")
_HEXADECIMAL = b"0123456789abcdef"


class RunsOfLines(Lines, Protocol):
    """A text that also comes in runs of whole lines, which is faster than line by line."""

    def runs(self) -> Iterator[str]:
        """Runs of whole lines, without the end of the last."""


class _Shape:
    """How often a shape occurred, and its last lines."""

    __slots__ = ("count", "first", "last", "number")

    def __init__(self, number: int, first: int) -> None:
        self.number = number
        self.first = first
        self.count = 0
        self.last: deque[tuple[int, str]] = deque(maxlen=LAST_COUNT)


class Digest:
    """The digest of a text, as lines with the indexes they have in the text. Where lines were left out, an empty one stands."""

    def __init__(self, text: RunsOfLines, kept: dict[int, str], shapes: list[_Shape], shape_of: "array[int]") -> None:
        self._text = text
        self.path = text.path
        self.origin: Origin = text.origin
        self._kept = kept
        self._shapes = shapes
        self._shape_of = shape_of

    @property
    def lines_count(self) -> int:
        """How many lines the text has."""
        return len(self._shape_of)

    @property
    def kept_count(self) -> int:
        """How many of them are kept."""
        return len(self._kept)

    @property
    def head(self) -> str:
        """The head of the text."""
        return self._text.head

    @property
    def sample(self) -> str:
        """The head of the text, and a line of every shape, the rarest first where there is no room for all."""
        left = SAMPLE_CHARACTERS - SAMPLE_HEAD_CHARACTERS
        chosen: list[int] = []
        for shape in sorted(self._shapes, key=lambda shape: (shape.count, shape.first)):
            left -= len(self._kept[shape.first]) + 1
            if left < 0:
                break
            chosen.append(shape.first)
        return "\n".join([self.head[:SAMPLE_HEAD_CHARACTERS], *(self._kept[index] for index in sorted(chosen))])

    def __iter__(self) -> Iterator[tuple[int, str]]:
        return _with_gaps((index, self._kept[index]) for index in sorted(self._kept))

    def whole(self) -> str | None:
        """The whole text, not only what is kept of it."""
        return self._text.whole()

    def count_like(self, line_index: int) -> int:
        """How many lines of the text are like this one."""
        return self._shapes[self._shape_of[line_index]].count if 0 <= line_index < len(self._shape_of) else 0

    def goes_on(self, line_index: int) -> bool:
        """Whether the text has more lines like this one than the digest."""
        return self.count_like(line_index) > FIRST_COUNT

    def with_all(self, most_count: int) -> "Fuller":
        """The digest with all lines of the shapes that occur so often at most."""
        return Fuller(self, self._text, most_count)

    def numbers_of(self, most_count: int) -> tuple[list[bool], "array[int]"]:
        """Which shapes occur so often at most, and the shape of each line."""
        return [shape.count <= most_count for shape in self._shapes], self._shape_of

    def holds(self, line_index: int) -> bool:
        """Whether a line is kept."""
        return line_index in self._kept


class Fuller:
    """A digest with all lines of its rarer shapes."""

    def __init__(self, digest: Digest, text: RunsOfLines, most_count: int) -> None:
        self._digest = digest
        self._text = text
        self._most_count = most_count
        self.path = digest.path
        self.origin: Origin = digest.origin

    @property
    def head(self) -> str:
        """The head of the text."""
        return self._digest.head

    @property
    def sample(self) -> str:
        """The sample of the digest."""
        return self._digest.sample

    def __iter__(self) -> Iterator[tuple[int, str]]:
        return _with_gaps(self._wanted())

    def _wanted(self) -> Iterator[tuple[int, str]]:
        is_rare, shape_of = self._digest.numbers_of(self._most_count)
        start = 0
        for run in self._text.runs():
            lines = run.split("\n")
            for offset, (line, number) in enumerate(zip(lines, shape_of[start : start + len(lines)], strict=True)):
                if is_rare[number] or self._digest.holds(start + offset):
                    yield start + offset, line[:MOST_LINE_CHARACTERS]
            start += len(lines)

    def whole(self) -> str | None:
        """The whole text."""
        return self._digest.whole()


def _with_gaps(lines: Iterable[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    following = 0
    for index, line in lines:
        if index > following:
            yield index - 1, ""
        yield index, line
        following = index + 1


def digest_of(text: RunsOfLines) -> Digest | None:
    """The digest of a text; None where there is nothing to leave out."""
    shapes = _Shapes()
    shape_of = array("I")
    kept: dict[int, str] = {}
    left = MOST_KEPT_CHARACTERS
    index = 0
    for run in text.runs():
        plain = run.encode("ascii", "replace")
        for line, rough in zip(run.split("\n"), plain.translate(None, _HEXADECIMAL).split(b"\n"), strict=True):
            shape = shapes.known(rough) or shapes.of(rough, line, index)
            shape_of.append(shape.number)
            shape.count = count = shape.count + 1
            if count <= FIRST_COUNT or (not count & (count - 1) and count.bit_length() & 1):
                kept[index] = line[:MOST_LINE_CHARACTERS]
                left -= len(line)
            else:
                shape.last.append((index, line))
            index += 1
        if left < 0 or len(shapes.every) > MOST_SHAPES:
            return None
    for shape in shapes.every:
        kept.update((at, line[:MOST_LINE_CHARACTERS]) for at, line in shape.last)
    return Digest(text, kept, shapes.every, shape_of) if len(kept) < index else None


class _Shapes:
    """Shapes of lines, found by the line without hexadecimal digits first: that is cheap, and most lines are known by it."""

    def __init__(self) -> None:
        self.every: list[_Shape] = []
        self._by_rough: dict[bytes, _Shape] = {}
        self._by_form: dict[bytes, _Shape] = {}
        self.known = self._by_rough.get

    def of(self, rough: bytes, line: str, index: int) -> _Shape:
        """The shape of a line that is not known by its rough form; a new one begins at this index."""
        form = _FROM_DIGIT.sub(b"", line.encode("ascii", "replace")).translate(None, _HEXADECIMAL)
        shape = self._by_form.get(form)
        if shape is None:
            shape = self._by_form[form] = _Shape(len(self.every), index)
            self.every.append(shape)
        if len(self._by_rough) >= MOST_ROUGH_SHAPES:
            self._by_rough.clear()
        self._by_rough[rough] = shape
        return shape
