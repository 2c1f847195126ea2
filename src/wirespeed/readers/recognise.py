"""Which readers fit a text, and reading it with all of them: machines first, then people."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import TypeAlias

from wirespeed.model.kinds import Reader
from wirespeed.model.lines import Lines, source
from wirespeed.model.record import Record
from wirespeed.model.source import Problem
from wirespeed.model.text import Text
from wirespeed.readers.parsing.marks import accepting
from wirespeed.readers.unwrapped import unwrapped

Attempt: TypeAlias = Callable[[str, Reader, Lines], Iterator[Record | Problem]]
MOST_RECORDS_A_TYPE = 50_000
"""Records of one type kept from one reader and one input: a bound on memory, far above what any rule looks at."""

FEWEST_WORDS_OF_PEOPLE = 2
_OF_PEOPLE = re.compile(
    r"\b(?:we|our|us|my|i|they|although|though|but|however|because|since|whereas|while|both|others?|only|never|always|sometimes|here"
    r"|every|each|should|would|instead|than|then|these|those|this|that|there|what|why|how|still|same|just|all|old|does|the|a|an|and)\b"
)
"""Words that machines' lines hardly hold; two different ones make a sentence."""


def readers_for(sample: str, readers: Mapping[str, Reader]) -> tuple[str, ...]:
    """Ids of the readers whose recogniser accepts the sample of a text, in the order of the shelf."""
    names = tuple(readers)
    return tuple(names[number] for number in accepting(sample, tuple(reader.recognises for reader in readers.values())))


def plainly(name: str, reader: Reader, lines: Lines) -> Iterator[Record | Problem]:
    """Just read."""
    return reader.read(lines)


def read_all(lines: Lines, readers: Mapping[str, Reader], attempt: Attempt = plainly) -> Iterator[tuple[str, Record | Problem]]:
    """Read one text with every reader that recognises it; yields the reader's id with each record or problem.

    The prose readers come last and see the lines that no machine claimed. `attempt` starts a reader and may guard it. Logs of containers
    are read without the runtime's time stamps and prefixes.
    """
    lines = unwrapped(lines)
    names = readers_for(lines.sample, readers)
    claimed: set[int] = set()
    for name in (one for one in names if readers[one].voice != "prose"):
        is_machine = readers[name].voice == "machine"
        for item in _bounded(name, lines, attempt(name, readers[name], lines)):
            if is_machine and isinstance(item, Record):
                claimed.update(quote.line_index for quote in item.quotes)
            yield name, item
    for name in (one for one in names if readers[one].voice == "prose"):
        for item in _bounded(name, lines, attempt(name, readers[name], _Unclaimed(lines, claimed))):
            yield name, item


def is_also_told(line: str) -> bool:
    """Whether a line that a machine's reader knows is a person's sentence around a figure, such as `only 12 GB/s, although we have NVLink`."""
    return len(set(_OF_PEOPLE.findall(line[:400].lower()))) >= FEWEST_WORDS_OF_PEOPLE


class _Unclaimed:
    """The lines of a text that no machine's record quotes, or that people wrote around what it quotes."""

    def __init__(self, lines: Lines, claimed: set[int]) -> None:
        self._lines = lines
        self._claimed = claimed
        self.path = lines.path

    @property
    def head(self) -> str:
        """The head of the whole text."""
        return self._lines.head

    @property
    def sample(self) -> str:
        """The sample of the whole text."""
        return self._lines.sample

    def __iter__(self) -> Iterator[tuple[int, str]]:
        return ((index, line) for index, line in self._lines if index not in self._claimed or is_also_told(line))

    def whole(self) -> str | None:
        """The whole text: whoever asks for it does not go by lines."""
        return self._lines.whole()


def _bounded(name: str, lines: Lines, items: Iterator[Record | Problem]) -> Iterator[Record | Problem]:
    seen: Counter[type] = Counter()
    for item in items:
        seen[type(item)] += 1
        if seen[type(item)] <= MOST_RECORDS_A_TYPE:
            yield item
    for kind, count in seen.items():
        if count > MOST_RECORDS_A_TYPE:
            yield Problem(
                source=source(lines, name),
                why=Text(
                    en=f"only the first {MOST_RECORDS_A_TYPE} of {count} {kind.__name__} records were used",
                    zh=f"{kind.__name__} 记录共 {count} 条，仅使用前 {MOST_RECORDS_A_TYPE} 条",
                ),
            )
