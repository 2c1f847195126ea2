"""`rdma statistic`: one line a port, counter names and values in turn."""

import re
from collections.abc import Iterator

from wirespeed.model.counters import canonical_name
from wirespeed.model.facts.link import Counter
from wirespeed.model.kinds import Reader
from wirespeed.model.lines import Lines, quote, source
from wirespeed.model.record import Record
from wirespeed.model.source import Problem
from wirespeed.model.text import Text
from wirespeed.readers.parsing.marks import marked

_LINE = re.compile(r"\blink (?P<scope>[\w.-]{1,64}/\d{1,3}) (?P<rest>[a-z][a-z0-9_]{2,63} \d.*)$")
_NAME = re.compile(r"^[a-z][a-z0-9_]{2,63}$")
_BAD_PAIR = Text(en="a counter of rdma statistic has no value", zh="rdma statistic 的某计数器没有数值")


def _read(lines: Lines) -> Iterator[Record | Problem]:
    scope = ""
    for index, line in lines:
        found = _LINE.search(line)
        words = found["rest"].split() if found else line.split() if scope and _is_continued(line) else []
        scope = found["scope"] if found else scope if words else ""
        for name, number in zip(words[::2], [*words[1::2], ""][: len(words[::2])], strict=True):
            if not _NAME.match(name) or not number.isdecimal() or len(number) > 20:
                yield Problem(source=source(lines, "rdma statistic"), why=_BAD_PAIR, line_index=index)
                break
            yield Counter(
                source=source(lines, "rdma statistic"),
                quotes=(quote(lines, index, line),),
                scope=scope,
                name=name,
                value_count=int(number),
                canonical=canonical_name(name),
            )


def _is_continued(line: str) -> bool:
    """A long line is often pasted in several: the rest starts with a name and a number."""
    words = line.split()
    return len(words) > 1 and _NAME.match(words[0]) is not None and words[1].isdecimal()


READER = Reader(
    title=Text(en="rdma statistic", zh="rdma statistic"),
    gives=(Counter,),
    recognises=marked(_LINE, confirmed=lambda sample: any(_LINE.search(line) for line in sample.splitlines() if "link " in line)),
    read=_read,
    obtained_by=("rdma statistic",),
)
