"""The wordings of what people say that are worth trying on a text, by the letters they require.

Wordings are matched in lower case on lower-case text.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from wirespeed.model import shelf
from wirespeed.model.kinds import Symptoms, Topic
from wirespeed.readers import symptoms
from wirespeed.readers.parsing.letters import LetterIndex, is_plain, pieces_of, required_letters


@dataclass(frozen=True, slots=True)
class Wording:
    """One wording of a topic."""

    name: str
    topic: Topic
    written: str

    @property
    def pattern(self) -> re.Pattern[str]:
        """Compiled when it is first tried: most of a thousand wordings never are."""
        return _compiled(self.written)


def candidates(spread: str) -> Iterator[Wording]:
    """Wordings whose letters are in the spread-out text, in the order of the shelf."""
    wordings, index = _indexed()
    return (wordings[number] for number in index.candidates(spread))


@cache
def _indexed() -> tuple[tuple[Wording, ...], LetterIndex]:
    wordings = tuple(
        Wording(name, topic, wording)
        for family in shelf.every(symptoms, Symptoms).values()
        for name, topic in family.topics.items()
        for wording in topic.wordings
    )
    return wordings, LetterIndex(required_letters(one.written) for one in wordings)


@cache
def _compiled(written: str) -> re.Pattern[str]:
    return re.compile(lowered_pattern(written))


def lowered_pattern(pattern: str) -> str:
    """The same regular expression for lower-case text: its letters in lower case, its escapes and group names as they are."""
    return "".join(_lowered_piece(piece) for piece in pieces_of(pattern))


def _lowered_piece(piece: str) -> str:
    if piece.startswith("["):
        return re.sub(r"\\.|[^\\]+", lambda found: found[0] if found[0].startswith("\\") else found[0].lower(), piece)
    return piece.lower() if is_plain(piece) else piece
