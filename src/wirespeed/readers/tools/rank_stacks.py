"""Where each rank stands, as people gather it from py-spy: `rank 0-5, 7   all_reduce (torch/distributed/distributed_c10d.py:2501)`."""

from collections.abc import Iterator

from wirespeed.model.events.log import FrameworkEvent
from wirespeed.model.kinds import Reader
from wirespeed.model.lines import Lines, quote, source
from wirespeed.model.record import Record
from wirespeed.model.source import Problem
from wirespeed.model.text import Text
from wirespeed.readers.parsing.marks import marked
from wirespeed.readers.parsing.regex import regex

MOST_RANKS = 4096
_STAND = regex(
    r"^\s*\[?[Rr]anks? ?(?P<ranks>\d{1,6}(?:\s?[-,]\s?\d{1,6}){0,64})\]?\s?:?\s+(?:(?:in|at) )?(?P<function>[A-Za-z_][\w.]{0,80}) "
    r"\((?P<file>[\w./-]{1,200}\.py):\d{1,7}\)"
)
"""A frame is printed by py-spy as `function (file:line)`."""


def _read(lines: Lines) -> Iterator[Record | Problem]:
    for index, line in lines:
        found = _STAND.match(line)
        for rank in _ranks(found["ranks"]) if found else ():
            yield FrameworkEvent(
                source=source(lines, "py-spy"),
                quotes=(quote(lines, index, line),),
                topic="rank-stands",
                message=line.strip()[:500],
                rank=rank,
                operation=found["function"] if found else None,
            )


def _ranks(text: str) -> Iterator[int]:
    for part in text.replace(" ", "").split(","):
        first, _, last = part.partition("-")
        yield from range(int(first), min(int(last or first), int(first) + MOST_RANKS) + 1)


READER = Reader(
    title=Text(en="where each rank stands (py-spy)", zh="各 rank 所在函数（py-spy）"),
    gives=(FrameworkEvent,),
    recognises=marked(regex(rf"(?m){_STAND.pattern}")),
    read=_read,
    obtained_by=("py-spy dump --pid PID",),
)
