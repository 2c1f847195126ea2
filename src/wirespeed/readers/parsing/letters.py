"""Which of many patterns are worth trying on a text: those whose required letters are in it.

A pattern is read once for the runs of letters that the text around each of its matches must hold. A text is looked up by its
three-letter runs, so most texts try a handful of a thousand patterns.
"""

import re
from collections import deque
from collections.abc import Iterable, Iterator
from functools import cache

GRAM_CHARACTERS = 3

Requirement = tuple[frozenset[str], ...]
"""Runs of letters that the text around every match holds: one of each set. The most telling set comes first."""


class LetterIndex:
    """Numbered requirements, found by the letters of a text: under the first letters of a run, the whole run and the numbers that want it."""

    def __init__(self, requirements: Iterable[Requirement]) -> None:
        self._further: list[Requirement] = []
        self._always: list[int] = []
        by_letters: dict[str, list[int]] = {}
        for number, required in enumerate(requirements):
            self._further.append(required[1:])
            for letters in required[0] if required else ():
                by_letters.setdefault(letters, []).append(number)
            if not required:
                self._always.append(number)
        self._by_gram: dict[str, list[tuple[str, list[int]]]] = {}
        self._short: list[tuple[str, list[int]]] = []
        for letters, numbers in by_letters.items():
            if len(letters) < GRAM_CHARACTERS:
                self._short.append((letters, numbers))
            else:
                self._by_gram.setdefault(letters[:GRAM_CHARACTERS], []).append((letters, numbers))

    def candidates(self, spread: str) -> Iterator[int]:
        """Numbers whose letters are in the `spread_out` text, in their order."""
        grams = {spread[at : at + GRAM_CHARACTERS] for at in range(len(spread) - GRAM_CHARACTERS + 1)}
        found = set(self._always)
        for gram in grams & self._by_gram.keys():
            for letters, numbers in self._by_gram[gram]:
                if letters in spread:
                    found.update(numbers)
        for letters, numbers in self._short:
            if letters in spread:
                found.update(numbers)
        return (number for number in sorted(found) if holds_all(spread, self._further[number]))


def holds_all(spread: str, required: Requirement) -> bool:
    """Whether a spread-out text holds one of the runs of each set."""
    for runs in required:
        for letters in runs:
            if letters in spread:
                break
        else:
            return False
    return True


def spread_out(low: str) -> str:
    """Words with one blank between, before and after: so a blank in a required run stands for any edge of a word."""
    return f" {_NO_WORD.sub(' ', low)} "


_PIECE = re.compile(
    r"[^\\\[\]().|*+?{}^$]+(?![*+?{])"
    r"|\\(?:x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|.)|\[\^?\]?(?:\\.|[^\]\\])*\]|\(\?P=\w+\)|\(\?[aiLmsux]+\)|\(\?(?:P<\w+>|[:>=!]"
    r"|<[=!]|[aiLmsux]+:)|\("
    r"|[*+?][?+]?|\{\d*,?\d*\}[?+]?|.",
    re.DOTALL,
)
_ASSERTIONS = ("(?=", "(?!", "(?<=", "(?<!")
_MAY_BE_ABSENT = re.compile(r"^(?:[*?]|\{0?,|\{0\})")
_QUANTIFIER = re.compile(r"^(?:[*+?]|\{\d*,?\d*\})")
_OPENING = re.compile(r"^\((?:\?(?:P<\w+>|[:>=!]|<[=!]|[aiLmsux]+:))?$")
_FLAGS = re.compile(r"^\(\?[aiLmsux]+\)$")
_SPECIAL = frozenset("\\[]().|*+?{}^$")
"""What begins a piece that is no run of plain characters."""
WORD_EDGE = r"\b"
_NO_WORD = re.compile(r"\W+")
_DIGITS_REQUIRED = frozenset("0123456789")
MOST_REQUIRED = 6


def required_letters(pattern: str) -> Requirement:
    """Lower-case runs that the `spread_out` text around every match holds, one of each set; empty where nothing can be told.

    Conservative: what is not understood requires nothing.
    """
    return tuple(sorted(_alternatives(deque(_PIECE.findall(pattern))), key=_commonness)[:MOST_REQUIRED])


@cache
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
    while pieces:
        piece = pieces.popleft()
        role = _role(piece)
        if role == "end":
            return [*required, *_required(runs)], piece
        if role == "opening":
            inner = _alternatives(pieces, " " if runs[-1] == " " else "")
            runs.append("")
            is_certain = piece not in _ASSERTIONS and not (pieces and _MAY_BE_ABSENT.match(pieces[0]))
            required.extend(inner if is_certain else ())
        elif role == "edge":
            runs[-1] += " "
            runs.append(" ")
        elif role == "quantifier":
            runs[-1] = runs[-1][:-1] if _MAY_BE_ABSENT.match(piece) else runs[-1]
            runs.append("")
        elif role == "several":
            if piece == r"\d" and not (pieces and _MAY_BE_ABSENT.match(pieces[0])):
                required.append(_DIGITS_REQUIRED)
            runs.append("")
        else:
            runs[-1] += _letters(piece)
    return [*required, *_required(runs)], ""


def _required(runs: list[str]) -> Iterator[frozenset[str]]:
    for run in runs:
        letters = run if run.isalnum() else _NO_WORD.sub(" ", run)
        if letters and letters != " ":
            yield frozenset({letters})


@cache
def _role(piece: str) -> str:
    """What a piece does: it ends a branch, opens a group, says where a word begins or ends, repeats, stands for several letters or for itself."""
    if piece in ("|", ")"):
        return "end"
    if _OPENING.match(piece):
        return "opening"
    if piece == WORD_EDGE:
        return "edge"
    if _QUANTIFIER.match(piece):
        return "quantifier"
    if piece[0] not in _SPECIAL or (piece[0] == "\\" and len(piece) == 2 and not piece[1].isalnum()):
        return "itself"
    return "itself" if len(piece) == 1 and piece not in ".^$" else "several"


def _letters(piece: str) -> str:
    """The characters that a piece stands for, in lower case."""
    return piece[1] if len(piece) == 2 and piece[0] == "\\" else piece.lower()


def pieces_of(pattern: str) -> list[str]:
    """A pattern in the pieces it is read by: runs of plain characters, escapes, classes, quantifiers, brackets."""
    return _PIECE.findall(pattern)


def branches_of(pattern: str) -> tuple[str, ...]:
    """The alternatives of a pattern as patterns of their own, each with the flags that stand before the first."""
    pieces = pieces_of(pattern)
    flags = pieces[0] if pieces and _FLAGS.match(pieces[0]) else ""
    branches = [flags]
    depth = 0
    for piece in pieces[1:] if flags else pieces:
        depth += 1 if _OPENING.match(piece) else -1 if piece == ")" else 0
        if piece == "|" and depth == 0:
            branches.append(flags)
        else:
            branches[-1] += piece
    return tuple(branches)


def is_plain(piece: str) -> bool:
    """Whether a piece stands for its own characters."""
    return piece[0] not in _SPECIAL
