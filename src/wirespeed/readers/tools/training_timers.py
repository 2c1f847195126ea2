"""Timers of a training step: Megatron-LM's blocks over all ranks, and the `time (ms) | fwd: ...` lines of DeepSpeed and GPT-NeoX.

Megatron-LM prints the least and the most of all ranks, the most alone, or every rank (`--timing-log-option minmax`, `max`, `all`); its figures
are means over the iterations since the last report.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from wirespeed.model.kinds import Reader
from wirespeed.model.lines import Lines, quote, source
from wirespeed.model.measurement import PhaseTime
from wirespeed.model.record import Record
from wirespeed.model.source import Problem, Quote
from wirespeed.model.text import Text
from wirespeed.readers.parsing.marks import marked
from wirespeed.readers.parsing.regex import regex

_TOOL = "training-timers"
MOST_PARTS = 64
_BLOCK = regex(r"(?P<how>\(min, max\) time|max time|times) across ranks \(ms\):\s*$")
_N = r"\d{1,12}(?:\.\d{1,6})?"
_OVER_RANKS = regex(
    rf"^(?:\[?\w*\d\]?:)?\s{{2,}}(?P<name>[a-z][\w/-]{{1,60}}) \.{{2,}}: (?:\((?P<least>{_N}), (?P<most>{_N})\)|(?P<alone>{_N}))\s*$"
)
_NAME = regex(r"^(?:\[?\w*\d\]?:)?\s{2,}(?P<name>[a-z][\w/-]{1,60}):\s*$")
_RANK = regex(rf"^(?:\[?\w*\d\]?:)?\s{{3,}}rank +(?P<rank>\d{{1,7}}): (?P<ms>{_N})\s*$")
_CUT = regex(r"^\s{2,}[a-z][\w/-]{1,60} \.{2,}:?(?: \(?[\d.]*,?)?\s*$")
_LINE = regex(r"(?:\[Rank (?P<rank>\d{1,7})\] )?time \(ms\) \| (?P<parts>[a-z][\w -]{1,40}: \d[^|]{0,20}(?:\|[^|]{1,64}){0,40})")
_PART = regex(r"(?P<name>[a-z][\w -]{1,40}?): (?P<ms>\d{1,12}\.\d{1,6})\s*$")
_RECOGNISED = regex(
    r"time across ranks \(ms\):|times across ranks \(ms\):|time \(ms\) \| (?:fwd|forward|bwd|optimizer_allgather|[a-z]\w+_microstep)[\w -]*: \d|^\s{2,}forward-backward \.{2,}: "
)
_MS_PER_SECOND = 1e3


@dataclass(slots=True)
class _Block:
    """A block of timers that is being read."""

    heading: Quote
    is_most_only: bool
    name: str = ""
    name_quote: Quote | None = None


def _read(lines: Lines) -> Iterator[Record | Problem]:
    block: _Block | None = None
    report = 0
    last_names: set[str] = set()
    for index, line in lines:
        heading, one_line = _BLOCK.search(line), _LINE.search(line)
        if heading:
            report += 1
            block, last_names = _Block(quote(lines, index, line), heading["how"] == "max time"), set()
        elif one_line:
            names = {part["name"] for part in _parts(one_line["parts"])}
            report, last_names = (report + 1, names) if names & last_names or not last_names else (report, last_names | names)
            yield from _line(lines, quote(lines, index, line), one_line, report)
        elif (over := _OVER_RANKS.match(line)) is not None:
            yield _over_ranks(lines, block, quote(lines, index, line), over, report)
        elif block is not None:
            yield from _inside(lines, block, index, line, report)
            block = block if line.startswith((" ", "\t", "[")) or not line.strip() else None


def _inside(lines: Lines, block: _Block, index: int, line: str, report: int) -> Iterator[Record | Problem]:
    name, rank = _NAME.match(line), _RANK.match(line)
    if name:
        block.name, block.name_quote = name["name"], quote(lines, index, line)
    elif rank and block.name_quote is not None:
        yield PhaseTime(
            source=source(lines, _TOOL),
            quotes=(block.name_quote, quote(lines, index, line)),
            name=block.name,
            time_s=float(rank["ms"]) / _MS_PER_SECOND,
            rank=int(rank["rank"]),
            report_index=report,
        )
    elif _CUT.match(line):
        yield Problem(
            source=source(lines, _TOOL),
            why=Text(en="this timer has no figure", zh="该计时器没有数值"),
            line_index=index,
        )


def _over_ranks(lines: Lines, block: _Block | None, said: Quote, found: re.Match[str], report: int) -> PhaseTime:
    """The least and the most of all ranks; a figure alone is the most, where the heading says so, or that of one rank."""
    alone = float(found["alone"]) / _MS_PER_SECOND if found["alone"] else None
    is_most = block is not None and block.is_most_only
    return PhaseTime(
        source=source(lines, _TOOL),
        quotes=(said,) if block is None else (block.heading, said),
        name=found["name"],
        time_s=None if is_most else alone,
        time_min_s=float(found["least"]) / _MS_PER_SECOND if found["least"] else None,
        time_max_s=float(found["most"]) / _MS_PER_SECOND if found["most"] else alone if is_most else None,
        report_index=report,
    )


def _parts(text: str) -> list[re.Match[str]]:
    return [found for part in text.split("|")[:MOST_PARTS] if (found := _PART.match(part.strip()))]


def _line(lines: Lines, said: Quote, found: re.Match[str], report: int) -> Iterator[PhaseTime]:
    for part in _parts(found["parts"]):
        yield PhaseTime(
            source=source(lines, _TOOL),
            quotes=(said,),
            name=part["name"].strip(),
            time_s=float(part["ms"]) / _MS_PER_SECOND,
            rank=int(found["rank"]) if found["rank"] else None,
            report_index=report,
        )


READER = Reader(
    title=Text(en="timers of a training step (Megatron-LM, DeepSpeed)", zh="训练步计时器（Megatron-LM、DeepSpeed）"),
    gives=(PhaseTime,),
    recognises=marked(_RECOGNISED),
    read=_read,
    obtained_by=("torchrun pretrain_gpt.py --timing-log-level 2 --timing-log-option minmax",),
)
