"""Which of a thousand wordings are worth trying on a text: those whose required letters are in it.

Every wording is read once for the runs of letters that each of its matches must hold. A text is looked up by its three-letter runs,
so most lines try a handful of patterns. Wordings are matched in lower case on lower-case text.
"""

import re
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from wirespeed.model import shelf
from wirespeed.model.kinds import Symptoms, Topic
from wirespeed.readers import symptoms

GRAM_CHARACTERS = 3

Requirement = tuple[frozenset[str], ...]
"""Runs of letters that the text around every match holds: one of each set. The most telling set comes first."""


@dataclass(frozen=True, slots=True)
class Wording:
    """One wording of a topic, with what must be in a text for it to match at all."""

    name: str
    topic: Topic
    written: str
    further: Requirement
    """What is required besides the runs it is indexed by."""

    @property
    def pattern(self) -> re.Pattern[str]:
        """Compiled when it is first tried: most of a thousand wordings never are."""
        return _compiled(self.written)


@cache
def _compiled(written: str) -> re.Pattern[str]:
    return re.compile(lowered_pattern(written))


@dataclass(frozen=True, slots=True)
class _Index:
    """Wordings by the letters they require: under the first letters of a run, the whole run and the wordings that want it."""

    wordings: tuple[Wording, ...]
    by_gram: dict[str, tuple[tuple[str, tuple[int, ...]], ...]]
    short: tuple[tuple[str, tuple[int, ...]], ...]
    always: tuple[int, ...]


def spread_out(low: str) -> str:
    """Words with one blank between, before and after: so a blank in a required run stands for any edge of a word."""
    return f" {_NO_WORD.sub(' ', low)} "


def candidates(spread: str) -> Iterator[Wording]:
    """Wordings whose letters are in the spread-out text, in the order of the shelf."""
    index = _index()
    grams = {spread[at : at + GRAM_CHARACTERS] for at in range(len(spread) - GRAM_CHARACTERS + 1)}
    numbers = set(index.always)
    for gram in grams & index.by_gram.keys():
        for letters, wanted in index.by_gram[gram]:
            if letters in spread:
                numbers.update(wanted)
    for letters, wanted in index.short:
        if letters in spread:
            numbers.update(wanted)
    for number in sorted(numbers):
        wording = index.wordings[number]
        if _holds_all(spread, wording.further):
            yield wording


def _holds_all(spread: str, required: Requirement) -> bool:
    for runs in required:
        for letters in runs:
            if letters in spread:
                break
        else:
            return False
    return True


@cache
def _index() -> _Index:
    wordings: list[Wording] = []
    by_letters: dict[str, list[int]] = {}
    always: list[int] = []
    for family in shelf.every(symptoms, Symptoms).values():
        for name, topic in family.topics.items():
            for wording in topic.wordings:
                required = required_letters(wording)
                for letters in required[0] if required else ():
                    by_letters.setdefault(letters, []).append(len(wordings))
                if not required:
                    always.append(len(wordings))
                wordings.append(Wording(name, topic, wording, required[1:]))
    by_gram: dict[str, list[tuple[str, tuple[int, ...]]]] = {}
    for letters, numbers in by_letters.items():
        by_gram.setdefault(letters[:GRAM_CHARACTERS], []).append((letters, tuple(numbers)))
    return _Index(
        wordings=tuple(wordings),
        by_gram={gram: tuple(found) for gram, found in by_gram.items() if len(gram) == GRAM_CHARACTERS},
        short=tuple(one for gram, found in by_gram.items() if len(gram) < GRAM_CHARACTERS for one in found),
        always=tuple(always),
    )


_PIECE = re.compile(
    r"\\(?:x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|.)|\[\^?\]?(?:\\.|[^\]\\])*\]|\(\?P=\w+\)|\(\?[aiLmsux]+\)|\(\?(?:P<\w+>|[:>=!]"
    r"|<[=!])|\("
    r"|[*+?][?+]?|\{\d*,?\d*\}[?+]?|.",
    re.DOTALL,
)
_ASSERTIONS = ("(?=", "(?!", "(?<=", "(?<!")
_MAY_BE_ABSENT = re.compile(r"^(?:[*?]|\{0?,|\{0\})")
_QUANTIFIER = re.compile(r"^(?:[*+?]|\{\d*,?\d*\})")
_OPENING = re.compile(r"^\((?:\?(?:P<\w+>|[:>=!]|<[=!]))?$")
WORD_EDGE = r"\b"
_NO_WORD = re.compile(r"\W+")
_DIGITS_REQUIRED = frozenset("0123456789")
MOST_REQUIRED = 6


def lowered_pattern(pattern: str) -> str:
    """The same regular expression for lower-case text: its letters in lower case, its escapes and group names as they are."""
    return "".join(_lowered_piece(piece) for piece in _PIECE.findall(pattern))


def _lowered_piece(piece: str) -> str:
    if piece.startswith("["):
        return re.sub(r"\\.|[^\\]+", lambda found: found[0] if found[0].startswith("\\") else found[0].lower(), piece)
    return piece if len(piece) > 1 else piece.lower()


def required_letters(pattern: str) -> Requirement:
    """Lower-case runs that the `spread_out` text around every match holds, one of each set; empty where nothing can be told.

    Conservative: what is not understood requires nothing.
    """
    return tuple(sorted(_alternatives(deque(_PIECE.findall(pattern))), key=_commonness)[:MOST_REQUIRED])


def _commonness(runs: frozenset[str]) -> float:
    """How often one of these runs will be met by chance: a longer run is rarer (a letter of text tells some three bits)."""
    return sum(8.0 ** -len(letters) for letters in runs)


def _alternatives(pieces: deque[str], first: str = "") -> list[frozenset[str]]:
    """Read up to the closing bracket of this group; `first` is a blank where a word must begin here.

    A match takes one branch: of several, only the best of each is sure, joined.
    """
    branches: list[list[frozenset[str]]] = []
    while True:
        required, ended_by = _branch(pieces, first)
        branches.append(required)
        if ended_by != "|":
            break
    if len(branches) == 1:
        return branches[0]
    if not all(branches):
        return []
    return [frozenset().union(*(min(required, key=_commonness) for required in branches))]


def _branch(pieces: deque[str], first: str) -> tuple[list[frozenset[str]], str]:
    """All that one branch requires, and the piece that ended it (`|`, `)` or nothing)."""
    required: list[frozenset[str]] = []
    runs = [first]
    while pieces and pieces[0] not in ("|", ")"):
        piece = pieces.popleft()
        if _OPENING.match(piece):
            inner = _alternatives(pieces, " " if runs[-1] == " " else "")
            runs.append("")
            is_certain = piece not in _ASSERTIONS and not (pieces and _MAY_BE_ABSENT.match(pieces[0]))
            required.extend(inner if is_certain else ())
        elif piece == WORD_EDGE:
            runs[-1] += " "
            runs.append(" ")
        elif _QUANTIFIER.match(piece):
            runs[-1] = runs[-1][:-1] if _MAY_BE_ABSENT.match(piece) else runs[-1]
            runs.append("")
        else:
            letter = _letter(piece)
            if piece == r"\d" and not (pieces and _MAY_BE_ABSENT.match(pieces[0])):
                required.append(_DIGITS_REQUIRED)
            if letter is None:
                runs.append("")
            else:
                runs[-1] += letter
    spread = (_NO_WORD.sub(" ", letters) for letters in runs)
    required.extend(frozenset({letters}) for letters in spread if letters != " " and letters)
    return required, pieces.popleft() if pieces else ""


def _letter(piece: str) -> str | None:
    """The character a piece stands for, in lower case; None for classes, anchors and whatever stands for several."""
    if len(piece) == 1:
        return None if piece in ".^$" else piece.lower()
    return piece[1] if len(piece) == 2 and piece[0] == "\\" and not piece[1].isalnum() else None
