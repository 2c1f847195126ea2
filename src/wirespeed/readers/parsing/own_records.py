"""Texts that wirespeed wrote: which they are, and the records on lines of JSON."""

import re
from collections.abc import Iterator

import msgspec

from wirespeed.model import record_lines
from wirespeed.model.lines import Lines, quote
from wirespeed.model.record import Record
from wirespeed.model.source import Problem

_LINE = re.compile(r'^\{"kind":"(?P<kind>[A-Z]\w{2,40})","source":\{"tool":"')
_LINES = re.compile(_LINE.pattern.replace("?P<kind>", "?:"), re.MULTILINE)
INTERVIEW_HEAD = "# wirespeed ask: answers"
"""First line of the answers that somebody gave to `wirespeed ask`."""


def is_interview(sample: str) -> bool:
    """Whether a text is such answers, from its first line on."""
    return sample.lstrip().startswith(INTERVIEW_HEAD)


def is_ours(sample: str) -> bool:
    """Whether a text has such lines."""
    return _LINES.search(sample) is not None


def is_ours_alone(head: str) -> bool:
    """Whether a text is a file of such lines: then no other reader may take our words for a machine's or a person's."""
    return _LINE.match(head.lstrip()) is not None


def records_of(lines: Lines, kinds: frozenset[str]) -> Iterator[Record | Problem]:
    """The records of the given kinds, each quoted by its line; a damaged one is a problem."""
    for index, line in lines:
        found = _LINE.match(line)
        if found is None or found["kind"] not in kinds:
            continue
        for item in record_lines.decoded([line.encode("utf-8", "replace")], lines.path):
            if isinstance(item, Problem):
                yield msgspec.structs.replace(item, line_index=index)
            else:
                yield msgspec.structs.replace(item, quotes=(quote(lines, index, line),))
