"""Which readers fit a text, and reading it with all of them."""

from collections import Counter
from collections.abc import Iterator, Mapping

from wirespeed.model.kinds import Reader
from wirespeed.model.lines import Lines, source
from wirespeed.model.record import Record
from wirespeed.model.source import Problem
from wirespeed.model.text import Text

MOST_RECORDS_A_TYPE = 50_000
"""Records of one type kept from one reader and one input: a bound on memory, far above what any rule looks at."""


def readers_for(sample: str, readers: Mapping[str, Reader]) -> tuple[str, ...]:
    """Ids of the readers whose recogniser accepts the head of the text."""
    return tuple(name for name, reader in readers.items() if reader.recognises(sample))


def read_all(lines: Lines, readers: Mapping[str, Reader]) -> Iterator[tuple[str, Record | Problem]]:
    """Read one text with every reader that recognises it; yields the reader's id with each record or problem.

    Identical records that two readers make of one text are the readers' business; each is yielded.
    """
    for name in readers_for(lines.sample, readers):
        for item in _bounded(name, lines, readers[name]):
            yield name, item


def _bounded(name: str, lines: Lines, reader: Reader) -> Iterator[Record | Problem]:
    seen: Counter[type] = Counter()
    for item in reader.read(lines):
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
