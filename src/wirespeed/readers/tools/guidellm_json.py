"""GuideLLM's report file (`benchmarks.json`), of 0.2 and later: load, latencies and throughput, and how late its own workers were.

Its `inter_token_latency_ms` is the time per token after the first, one figure a request: TPOT here. Its `time_per_output_token_ms` counts
from the start of the request and is not read.
"""

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from wirespeed.model.kinds import Reader
from wirespeed.model.lines import Lines, source
from wirespeed.model.measurement import ServingMetric
from wirespeed.model.record import Record
from wirespeed.model.source import Problem, Quote
from wirespeed.model.text import Text
from wirespeed.readers.parsing.marks import marked
from wirespeed.readers.parsing.regex import regex
from wirespeed.readers.parsing.serving_points import Point

_TOOL = "guidellm"
MOST_QUOTE_CHARACTERS = 200
_OPENING = regex(r'\{\s*"(?:metadata|benchmarks|args|config)"\s*:')
_MARK = regex(r'"type_"\s*:\s*"generative_benchmark"|"guidellm_version"\s*:')
_TIMES = {"time_to_first_token_ms": ("ttft_s", 1e-3), "inter_token_latency_ms": ("tpot_s", 1e-3), "request_latency": ("e2e_s", 1.0)}
_RATES = {
    "requests_per_second": "requests_per_s", "request_concurrency": "in_flight_count", "output_tokens_per_second": "output_tokens_per_s",
    "prompt_tokens_per_second": "prompt_tokens_per_s", "tokens_per_second": "total_tokens_per_s",
}  # fmt: skip
_TIMED = frozenset({"constant", "poisson", "async"})
"""Strategies that send at set times; the others send when they can, and are never late."""
_DECODER = json.JSONDecoder()


@dataclass(slots=True)
class _Text:
    """The rows of the text, and the row on which the benchmark at hand begins."""

    path: str
    rows: list[str]
    head: int = -1

    def next_head(self, mark: str) -> None:
        """Go on to the next row with the mark; stay where there is none, as in a text of one line."""
        self.head = next((index for index in range(self.head + 1, len(self.rows)) if mark in self.rows[index]), max(self.head, 0))

    def below(self, mark: str) -> Quote:
        """The next row with the mark from the head on, or the head."""
        return self.quoted(next((index for index in range(self.head, len(self.rows)) if mark in self.rows[index]), self.head), mark)

    def quoted(self, index: int, mark: str) -> Quote:
        """A row, of a long one the part from the mark on."""
        row = self.rows[index]
        start = max(row.find(mark), 0) if len(row) > MOST_QUOTE_CHARACTERS else 0
        return Quote(source=self.path, line_index=index, text=row[start : start + MOST_QUOTE_CHARACTERS])


def _read(lines: Lines) -> Iterator[Record | Problem]:
    text = lines.whole()
    found = _OPENING.search(text) if text is not None else None
    if text is None or found is None:
        if text is None:
            yield _problem(lines, None)
        return
    try:
        document, _ = _DECODER.raw_decode(text, found.start())
    except (ValueError, RecursionError):
        yield _problem(lines, text.count("\n", 0, found.start()))
        return
    rows = _Text(lines.path, text.split("\n"))
    for number, benchmark in enumerate(_objects(document.get("benchmarks") if isinstance(document, dict) else None)):
        yield from _benchmark(lines, rows, benchmark, number)


def _problem(lines: Lines, line_index: int | None) -> Problem:
    return Problem(
        source=source(lines, _TOOL),
        why=Text(en="this GuideLLM report is cut, damaged or too large", zh="该 GuideLLM 报告不完整、已损坏或过大"),
        line_index=line_index,
    )


def _objects(value: object) -> list[dict[str, Any]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _benchmark(lines: Lines, rows: _Text, benchmark: dict[str, Any], number: int) -> Iterator[ServingMetric]:
    metrics = _inside(benchmark, "metrics")
    run = Point(_TOOL, f"{lines.path}:{number}")
    rows.next_head('"generative_benchmark"')
    said = (rows.quoted(rows.head, '"generative_benchmark"'),)
    strategy = _inside(benchmark, "config", "strategy") or _inside(benchmark, "args", "strategy")
    yield from _load(lines, run, said, strategy)
    for name, count in (("successful", "successful_count"), ("errored", "failed_count")):
        value = _number(_inside(metrics, "request_totals").get(name))
        if value is not None:
            yield run.metric(lines, said, count, value)
    for key, (name, factor) in _TIMES.items():
        distribution = _inside(metrics, key, "successful")
        quotes = (rows.below(f'"{key}"'),)
        for statistic, value in _statistics(distribution):
            yield run.metric(lines, quotes, name, value * factor, statistic)
    for key, name in _RATES.items():
        value = _number(_inside(metrics, key, "total").get("mean"))
        if value is None:
            value = _number(_inside(metrics, key, "successful").get("mean"))
        if value is not None:
            yield run.metric(lines, (rows.below(f'"{key}"'),), name, value, "mean")
    if strategy.get("type_") in _TIMED:
        yield from _lateness(lines, run, rows, benchmark)


def _inside(value: object, *keys: str) -> dict[str, Any]:
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}


def _load(lines: Lines, run: Point, said: tuple[Quote, ...], strategy: dict[str, Any]) -> Iterator[ServingMetric]:
    kind = strategy.get("type_")
    rate, streams = _number(strategy.get("rate")), _number(strategy.get("streams", strategy.get("max_concurrency")))
    if kind == "synchronous":
        yield run.metric(lines, said, "concurrency_count", 1.0)
    elif kind == "concurrent" and streams is not None:
        yield run.metric(lines, said, "concurrency_count", streams)
    elif kind in _TIMED and rate is not None:
        yield run.metric(lines, said, "offered_per_s", rate)


def _statistics(distribution: dict[str, Any]) -> Iterator[tuple[str, float]]:
    for statistic in ("mean", "median"):
        value = _number(distribution.get(statistic))
        if value is not None:
            yield statistic, value
    for statistic in ("p95", "p99"):
        value = _number(_inside(distribution, "percentiles").get(statistic))
        if value is not None:
            yield statistic, value


def _lateness(lines: Lines, run: Point, rows: _Text, benchmark: dict[str, Any]) -> Iterator[ServingMetric]:
    """How long after its time a request began, on average; -1 stands for none."""
    for section, key in (
        ("scheduler_metrics", "request_targeted_start_delay_avg"),
        ("run_stats", "request_start_time_targeted_delay_avg"),
    ):
        value = _number(_inside(benchmark, section).get(key))
        if value is not None and value >= 0:
            yield run.metric(lines, (rows.below(f'"{key}"'),), "client_delay_s", value, "mean")


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return float(value)


READER = Reader(
    title=Text(en="GuideLLM report (JSON)", zh="GuideLLM 报告（JSON）"),
    gives=(ServingMetric,),
    recognises=marked(_MARK),
    read=_read,
    obtained_by=("guidellm benchmark --target http://SERVER:8000 --rate-type sweep --output-path benchmarks.json",),
)
