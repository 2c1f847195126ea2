"""GuideLLM's tables, as it prints them at the end: latencies and throughput of each strategy (0.1 to 0.6 and later).

Its ITL is the time per token after the first, one figure a request: TPOT here. Its TPOT counts from the start of the request and is not
read. Up to 0.3 the heading of request latencies says ms where the figures are seconds: what is below the first token's time is seconds.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from wirespeed.model.kinds import Reader
from wirespeed.model.lines import Lines, quote, source
from wirespeed.model.measurement import ServingMetric
from wirespeed.model.record import Record
from wirespeed.model.source import Problem, Quote
from wirespeed.model.text import Text
from wirespeed.readers.parsing.marks import marked
from wirespeed.readers.parsing.regex import regex
from wirespeed.readers.parsing.serving_points import Point, in_seconds

_TOOL = "guidellm"
_TITLE = regex(r"(?:Request Latency|Server Throughput) Statistics|^\s*Benchmarks Stats:\s*$")
_FIRST_OF_A_REPORT = regex(r"Run Summary Info|^\s*Benchmarks Info:\s*$")
_RULE = regex(r"^\s*\|?[-|]{12,}\s*$")
_BORDER = regex(r"^\s*\|?[=|]{12,}\s*$")
_STRATEGY = regex(
    r"^(?P<kind>synchronous|throughput|concurrent|constant|poisson|async|replay)(?:@(?P<rate>\d{1,9}(?:\.\d{1,6})?))?$"
)
_NUMBER = regex(r"^\d{1,12}(?:,\d{3}){0,4}(?:\.\d{1,9})?$")
_NAMES: tuple[tuple[re.Pattern[str], str], ...] = (
    (regex(r"^(?:request latency|req latency)\b"), "e2e_s"),
    (regex(r"^ttft\b"), "ttft_s"),
    (regex(r"^itl\b"), "tpot_s"),
    (regex(r"^tpot\b"), ""),
    (regex(r"^requests?(?: stats)? concurrency\b"), "in_flight_count"),
    (regex(r"^requests?(?: stats)? per sec(?:ond)?\b"), "requests_per_s"),
    (regex(r"^(?:output tokens per sec|out tok/sec)\b"), "output_tokens_per_s"),
    (regex(r"^input tokens per sec\b"), "prompt_tokens_per_s"),
    (regex(r"^(?:total tokens per sec|tot tok/sec)\b"), "total_tokens_per_s"),
)
_RATES = frozenset({"in_flight_count", "requests_per_s", "output_tokens_per_s", "prompt_tokens_per_s", "total_tokens_per_s"})
"""Of these the mean over the run is read; the median of a rate over moments says little."""
_UNIT = regex(r"(?:\(|\b)(sec|ms)(?:\)|\b)")
_STATISTIC = regex(r"\b(mean|median|mdn|p\d{2})$")
_OWN_TPOT = Text(
    en="GuideLLM's TPOT counts from the start of the request over all tokens: it is not comparable and was not read",
    zh="GuideLLM 的 TPOT 从请求开始计算并除以全部 token，不可比较，未读取",
)


@dataclass(slots=True)
class _Table:
    """A table whose headings are being read, or have been."""

    title: Quote
    report: int
    headings: list[str] = field(default_factory=list)
    has_begun: bool = False
    row: int = 0


def _read(lines: Lines) -> Iterator[Record | Problem]:
    table: _Table | None = None
    report, has_told = 0, False
    told: set[str] = set()
    for index, line in lines:
        if _FIRST_OF_A_REPORT.search(line):
            report = index
        if _TITLE.search(line) and len(line) < 200:
            table = _Table(quote(lines, index, line), report)
        elif table is None or "|" not in line or _BORDER.match(line):
            if table is not None and table.has_begun and not _BORDER.match(line):
                table = None
        elif _RULE.match(line):
            table.has_begun = True
        elif not table.has_begun:
            table.headings = _joined(table.headings, _cells(line))
            if not has_told and any(heading.startswith("tpot") for heading in table.headings):
                has_told = True
                yield Problem(source=source(lines, _TOOL), why=_OWN_TPOT, line_index=index)
        else:
            yield from _row(lines, table, quote(lines, index, line), told)
            table.row += 1


def _cells(line: str) -> list[str]:
    """Cells of a row; an empty one between two bars is spanned by the cell before it."""
    cells = _split(line)
    filled: list[str] = []
    for cell in cells:
        filled.append(filled[-1] if cell == "" and filled else cell.strip())
    return filled


def _split(line: str) -> list[str]:
    """What stands between bars; only tables that begin with a bar end with one."""
    text = line.strip()
    return text[1:].removesuffix("|").split("|") if text.startswith("|") else text.split("|")


def _joined(above: list[str], cells: list[str]) -> list[str]:
    low = [cell.lower() for cell in cells]
    return [f"{first} {second}".strip() for first, second in zip(above, low, strict=True)] if len(above) == len(low) else low


def _row(lines: Lines, table: _Table, said: Quote, told: set[str]) -> Iterator[ServingMetric | Problem]:
    cells = [cell.strip() for cell in _split(said.text)]
    strategy = _STRATEGY.match(cells[0])
    if strategy is None:
        return
    if len(cells) != len(table.headings):
        yield Problem(
            source=source(lines, _TOOL),
            why=Text(en="a row of this table has another number of cells than its heading", zh="该表的一行与表头列数不同"),
            line_index=said.line_index,
        )
        return
    run = Point(_TOOL, f"{lines.path}:{table.report}:{table.row}")
    quotes = (table.title, said)
    if run.run not in told:
        told.add(run.run)
        yield from _load(lines, run, quotes, strategy)
    figures = dict(zip(table.headings, cells, strict=True))
    first_token_s = _first_token_s(figures)
    for heading, cell in figures.items():
        yield from _figure(lines, run, quotes, heading, cell, first_token_s)


def _load(lines: Lines, run: Point, quotes: tuple[Quote, ...], strategy: re.Match[str]) -> Iterator[ServingMetric]:
    """What the strategy asks for, where its name tells."""
    if strategy["kind"] == "synchronous":
        yield run.metric(lines, quotes, "concurrency_count", 1.0)
    elif strategy["rate"]:
        name = "concurrency_count" if strategy["kind"] == "concurrent" else "offered_per_s"
        yield run.metric(lines, quotes, name, float(strategy["rate"]))


def _first_token_s(figures: dict[str, str]) -> float | None:
    times = [
        _value(cell)
        for heading, cell in figures.items()
        if heading.startswith("ttft") and heading.endswith(("mean", "median", "mdn"))
    ]
    known = [one for one in times if one is not None]
    return min(known) / 1e3 if known else None


def _figure(
    lines: Lines, run: Point, quotes: tuple[Quote, ...], heading: str, cell: str, first_token_s: float | None
) -> Iterator[ServingMetric]:
    name = next((name for shape, name in _NAMES if shape.search(heading)), "")
    value, statistic, unit = _value(cell), _STATISTIC.search(heading), _UNIT.search(heading)
    is_a_rate = name in _RATES
    if (
        not name
        or value is None
        or (statistic is None and not is_a_rate)
        or (is_a_rate and statistic is not None and statistic[1] != "mean")
    ):
        return
    word = statistic[1] if statistic else "mean"
    if not is_a_rate:
        seconds = in_seconds(value, unit[1]) if unit else None
        if (
            name == "e2e_s"
            and unit
            and unit[1] == "ms"
            and seconds is not None
            and first_token_s is not None
            and seconds < first_token_s
        ):
            seconds = value
        if seconds is not None:
            yield run.metric(lines, quotes, name, seconds, word)
    else:
        yield run.metric(lines, quotes, name, value, word)


def _value(cell: str) -> float | None:
    return float(cell.replace(",", "")) if _NUMBER.match(cell) else None


READER = Reader(
    title=Text(en="GuideLLM tables", zh="GuideLLM 表格"),
    gives=(ServingMetric,),
    recognises=marked(
        r"Request Latency Statistics",
        r"Server Throughput Statistics",
        r"(?m)^\s*Benchmarks Stats:\s*$",
        r"\| TTFT +\(?(?:ms)?\)? *\|\|+ ITL",
    ),
    read=_read,
    obtained_by=("guidellm benchmark --target http://SERVER:8000 --rate-type sweep",),
)
