"""Which readers fit a text, and reading it with all of them: machines first, then people."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import TypeAlias

import msgspec

from wirespeed.model.facts.host import EnvVar, KernelModule, SoftwareVersion, Sysctl
from wirespeed.model.facts.path import Address
from wirespeed.model.kinds import Reader
from wirespeed.model.lines import Lines, Origin, source
from wirespeed.model.record import Record
from wirespeed.model.settings import CodeCall, Command, Directive, Setting, Table
from wirespeed.model.source import Problem
from wirespeed.model.text import Text
from wirespeed.readers.digest import Digest
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
SAID_ONCE = Setting | Directive | Command | CodeCall | Table | SoftwareVersion | EnvVar | KernelModule | Address | Sysctl
"""What is so and says nothing new when it is said again."""
MUCH_MORE = 4
"""Lines that occur so many times more often than what a reader found are none of its lines, nor headings of theirs."""
_BEFORE_THE_FIRST = -1
"""Index of a line that is not in the text: the command that printed it."""


def readers_for(sample: str, readers: Mapping[str, Reader]) -> tuple[str, ...]:
    """Ids of the readers whose recogniser accepts the sample of a text, in the order of the shelf."""
    names = tuple(readers)
    return tuple(names[number] for number in accepting(sample, tuple(reader.recognises for reader in readers.values())))


def plainly(name: str, reader: Reader, lines: Lines) -> Iterator[Record | Problem]:
    """Just read."""
    return reader.read(lines)


def read_all(lines: Lines, readers: Mapping[str, Reader], attempt: Attempt = plainly) -> Iterator[tuple[str, Record | Problem]]:
    """Read one text with every reader that recognises it; yields the reader's id with each record or problem.

    The prose readers come last and see the lines that no machine claimed; of what a program gathered they see nothing. Logs of
    containers are read without the runtime's time stamps and prefixes. A text whose command is known is read as if the command stood
    above it. `attempt` starts a reader and may guard it.

    A reader that finds events or measurements in a digest, of which the text has more, reads all that is not much commoner than they.
    """
    plain = unwrapped(lines)
    told = announced(plain)
    names = readers_for(told.sample, readers)
    claimed: set[int] = set()
    for name in (one for one in names if readers[one].voice != "prose"):
        is_machine = readers[name].voice == "machine"
        for item in _bounded(name, readers[name], lines, _read(name, readers[name], lines, told, attempt)):
            if is_machine and isinstance(item, Record):
                claimed.update(quote.line_index for quote in item.quotes)
            yield name, item
    for name in (one for one in names if readers[one].voice == "prose" and not lines.origin.is_collected):
        for item in _bounded(name, readers[name], lines, attempt(name, readers[name], _Unclaimed(plain, claimed))):
            yield name, item


def is_also_told(line: str) -> bool:
    """Whether a line that a machine's reader knows is a person's sentence around a figure, such as `only 12 GB/s, although we have NVLink`."""
    return len(set(_OF_PEOPLE.findall(line[:400].lower()))) >= FEWEST_WORDS_OF_PEOPLE


def _read(name: str, reader: Reader, lines: Lines, told: Lines, attempt: Attempt) -> Iterator[Record | Problem]:
    """One reader's items, without what rests on the announced command alone."""
    if isinstance(lines, Digest) and reader.needs_every_line:
        told = announced(unwrapped(lines.with_all(lines.lines_count)))
    items = attempt(name, reader, told)
    if isinstance(lines, Digest) and not reader.needs_every_line:
        held = list(items)
        most_count = max((_count_that_goes_on(item, lines) for item in held), default=0)
        items = (
            iter(held) if most_count == 0 else attempt(name, reader, announced(unwrapped(lines.with_all(MUCH_MORE * most_count))))
        )
    yield from items if lines.origin.command is None else _of_text(items)


def _count_that_goes_on(item: Record | Problem, digest: Digest) -> int:
    """How often the text has what was found, where the digest does not have all of it and it matters: events and measurements are counted."""
    if isinstance(item, Problem | SAID_ONCE):
        return 0
    return max((digest.count_like(quote.line_index) for quote in item.quotes if digest.goes_on(quote.line_index)), default=0)


def announced(lines: Lines) -> Lines:
    """The text under the command that printed it, where that is known, as a transcript shows it."""
    return lines if lines.origin.command is None else _Announced(lines, lines.origin.command)


def _of_text(items: Iterator[Record | Problem]) -> Iterator[Record | Problem]:
    """Items with quotes of the text itself only."""
    for item in items:
        if isinstance(item, Problem) or all(quote.line_index > _BEFORE_THE_FIRST for quote in item.quotes):
            yield item
        elif kept := tuple(quote for quote in item.quotes if quote.line_index > _BEFORE_THE_FIRST):
            yield msgspec.structs.replace(item, quotes=kept)


class _Announced:
    """A text under the command that printed it, as a transcript shows it; the command's line is none of the text's."""

    def __init__(self, lines: Lines, command: str) -> None:
        self._lines = lines
        self._prompt = f"root@{lines.origin.host or 'host'}:~# {command}" if lines.origin.host else f"$ {command}"
        self.path = lines.path
        self.origin: Origin = lines.origin

    @property
    def head(self) -> str:
        """The command and the head of the text."""
        return f"{self._prompt}\n{self._lines.head}"

    @property
    def sample(self) -> str:
        """The command and the sample of the text."""
        return f"{self._prompt}\n{self._lines.sample}"

    def __iter__(self) -> Iterator[tuple[int, str]]:
        yield _BEFORE_THE_FIRST, self._prompt
        yield from self._lines

    def whole(self) -> str | None:
        """The whole text, without the command: whoever asks for it does not go by lines."""
        return self._lines.whole()


class _Unclaimed:
    """The lines of a text that no machine's record quotes, or that people wrote around what it quotes."""

    def __init__(self, lines: Lines, claimed: set[int]) -> None:
        self._lines = lines
        self._claimed = claimed
        self.path = lines.path
        self.origin: Origin = lines.origin

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


def _bounded(name: str, reader: Reader, lines: Lines, items: Iterator[Record | Problem]) -> Iterator[Record | Problem]:
    """No more than are used. A reader of one type of record is stopped then; another may have more of its other types."""
    seen: Counter[type] = Counter()
    for item in items:
        kind = type(item)
        seen[kind] += 1
        if seen[kind] <= MOST_RECORDS_A_TYPE:
            yield item
        elif (kind,) == reader.gives:
            break
    for kind, count in seen.items():
        if count > MOST_RECORDS_A_TYPE:
            yield Problem(
                source=source(lines, name),
                why=Text(
                    en=f"only the first {MOST_RECORDS_A_TYPE} {kind.__name__} records were used",
                    zh=f"仅使用前 {MOST_RECORDS_A_TYPE} 条 {kind.__name__} 记录",
                ),
            )
