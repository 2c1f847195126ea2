"""Recognising formats by patterns, after asking for the letters that every match must hold: most formats are ruled out by those.

A text is spread out once (lower case, one blank between words) and all patterns are looked up by its letters at once, which is
many times faster than searching with a hundred of them. A pattern that requires no letters is never ruled out.
"""

import re
from collections.abc import Callable, Iterable
from functools import cache, lru_cache

from wirespeed.readers.parsing.letters import LetterIndex, branches_of, required_letters, spread_out
from wirespeed.readers.parsing.regex import flags_beside

Recogniser = Callable[[str], bool]


class Marks:
    """A recogniser: one of the patterns is found; or one is found on some line, and `confirmed` accepts the text.

    Alternatives of a pattern are patterns of their own: only those whose letters are in a text are searched for.
    """

    def __init__(self, patterns: tuple[re.Pattern[str] | str, ...], confirmed: Recogniser | None) -> None:
        self.written = tuple(
            branch for one in patterns for branch in branches_of(one if isinstance(one, str) else _with_flags(one))
        )
        self._confirmed = confirmed

    def __call__(self, sample: str) -> bool:
        """Whether the sample is of this format."""
        if self._confirmed is not None:
            return self._confirmed(sample)
        return any(_compiled(written).search(sample) for written in self.written)

    def accepts(self, sample: str, numbers: Iterable[int]) -> bool:
        """The same, where only these of the patterns could be found."""
        if self._confirmed is None:
            return any(_compiled(self.written[number]).search(sample) for number in numbers)
        is_on_a_line = "\r" in sample or any(_compiled_for_lines(self.written[number]).search(sample) for number in numbers)
        return is_on_a_line and self._confirmed(sample)


def _with_flags(pattern: re.Pattern[str]) -> str:
    """A pattern as it is written, with flags that were given beside it."""
    given = flags_beside(pattern)
    leading = _LEADING_FLAGS.match(pattern.pattern)
    letters = {letter for letter, flag in _FLAG_LETTERS if given & flag} | set(leading[1] if leading else "")
    return f"(?{''.join(sorted(letters))}){pattern.pattern[leading.end() if leading else 0 :]}" if letters else pattern.pattern


_LEADING_FLAGS = re.compile(r"\(\?([aiLmsux]+)\)")
_FLAG_LETTERS = (("i", re.IGNORECASE), ("m", re.MULTILINE), ("s", re.DOTALL))


@cache
def _compiled(written: str) -> re.Pattern[str]:
    """Compiled when it is first searched for: most never are."""
    return re.compile(written)


@cache
def _compiled_for_lines(written: str) -> re.Pattern[str]:
    """The pattern as it would be matched with single lines; carriage returns within a line begin none here."""
    return re.compile(written, re.MULTILINE)


def marked(*patterns: re.Pattern[str] | str, confirmed: Recogniser | None = None) -> Marks:
    """A recogniser by regular expressions.

    With `confirmed`, a text on some line of which one of them is found is left to it: for what takes more than one search.
    """
    return Marks(patterns, confirmed)


def accepting(sample: str, recognisers: tuple[Recogniser, ...]) -> list[int]:
    """Numbers of the recognisers that accept a sample of text, in their order."""
    marks, index = _indexed(recognisers)
    possible: dict[int, list[int]] = {}
    for found in index.candidates(spread_out(sample.lower())):
        number, pattern = marks[found]
        possible.setdefault(number, []).append(pattern)
    return [number for number, patterns in possible.items() if _accepts(recognisers[number], sample, patterns)]


def _accepts(recogniser: Recogniser, sample: str, patterns: list[int]) -> bool:
    return recogniser.accepts(sample, patterns) if isinstance(recogniser, Marks) else recogniser(sample)


@lru_cache(maxsize=8)
def _indexed(recognisers: tuple[Recogniser, ...]) -> tuple[tuple[tuple[int, int], ...], LetterIndex]:
    """For every pattern whose it is and which, and the letters of all. A recogniser without marks has one that requires nothing."""
    marks = [(number, which, written) for number, one in enumerate(recognisers) for which, written in enumerate(_written(one))]
    return tuple((number, which) for number, which, _ in marks), LetterIndex(required_letters(written) for *_, written in marks)


def _written(recogniser: Recogniser) -> tuple[str, ...]:
    return recogniser.written if isinstance(recogniser, Marks) else ("",)
