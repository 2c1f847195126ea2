"""oha as text and as JSON."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from wirespeed.model.kinds import Reader
from wirespeed.model.lines import Lines, quote, source
from wirespeed.model.measurement import LoadRun
from wirespeed.model.record import Record
from wirespeed.model.source import Problem, Quote
from wirespeed.model.text import Text
from wirespeed.model.units import time_in_s
from wirespeed.readers.parsing.json_excerpt import marked_documents
from wirespeed.readers.parsing.load_counts import MOST_ERROR_CHARACTERS, MOST_ERROR_KINDS, LoadCounts
from wirespeed.readers.parsing.marks import marked
from wirespeed.readers.parsing.regex import regex

MOST_QUOTES = 24
MOST_DOCUMENTS = 100
MOST_COUNT = 10**15
"""A larger count is damage."""

_BEGIN = regex(r"^\s*Summary:\s*$")
_SUCCESS = regex(r"^\s*Success rate:\s+\d")
_TIME = r"(?P<number>\d{1,15}(?:\.\d+)?) ?(?P<unit>secs?|ms|us|µs|ns)"
_FIGURE = regex(rf"^\s*(?P<name>Total|Slowest|Average|DNS\+dialup):\s+{_TIME}\b")
_RATE = regex(r"^\s*Requests/sec:\s+(?P<number>\d{1,15}(?:\.\d+)?)\s*$")
_PERCENTILE = regex(rf"^\s*(?P<percent>50|90|95|99)(?:\.00)?% in {_TIME}\b")
_DOCUMENT = regex(r"\{\s*\"summary\"\s*:\s*\{\s*\"successRate\"")
_MARK = regex(r"(?m)^[ \t]*Success rate:\s+\d")


@dataclass(slots=True)
class _Run:
    """One run of text that is being read."""

    quotes: list[Quote] = field(default_factory=list)
    figures: dict[str, float] = field(default_factory=dict)
    counts: LoadCounts = field(default_factory=LoadCounts)
    is_oha: bool = False


def _read(lines: Lines) -> Iterator[Record | Problem]:
    if _DOCUMENT.search(lines.sample):
        yield from _read_json(lines)
    run = _Run()
    for index, line in lines:
        if _BEGIN.match(line) or (_SUCCESS.match(line) and run.is_oha):
            if run.is_oha:
                yield _record(lines, run)
            run = _Run()
        if _take(run, line) and len(run.quotes) < MOST_QUOTES:
            run.quotes.append(quote(lines, index, line))
    if run.is_oha:
        yield _record(lines, run)


def _take(run: _Run, line: str) -> bool:
    """Take what the line says; false when it is none of oha's."""
    if _SUCCESS.match(line):
        run.is_oha = True
    elif figure := _FIGURE.match(line):
        run.figures[figure["name"]] = _seconds(figure)
    elif rate := _RATE.match(line):
        run.figures["rate"] = float(rate["number"])
    elif percentile := _PERCENTILE.match(line):
        run.figures[percentile["percent"]] = _seconds(percentile)
    else:
        return run.counts.take(line)
    return True


def _seconds(found: re.Match[str]) -> float:
    unit = "s" if found["unit"].startswith("sec") else found["unit"]
    return round(time_in_s(float(found["number"]), unit) or 0.0, 9)


def _record(lines: Lines, run: _Run) -> LoadRun:
    figures = run.figures
    return LoadRun(
        source=source(lines, "oha"),
        quotes=tuple(run.quotes),
        tool="oha",
        requests_per_s=figures.get("rate"),
        latency_mean_s=figures.get("Average"),
        latency_p50_s=figures.get("50"),
        latency_p90_s=figures.get("90"),
        latency_p95_s=figures.get("95"),
        latency_p99_s=figures.get("99"),
        latency_max_s=figures.get("Slowest"),
        requests_count=sum(run.counts.responses.values()) + sum(run.counts.errors.values()) or None,
        error_counts=run.counts.errors,
        status_counts=run.counts.responses,
        dns_dialup_s=figures.get("DNS+dialup"),
        duration_s=figures.get("Total"),
    )


def _read_json(lines: Lines) -> Iterator[Record | Problem]:
    for found in marked_documents(lines, _DOCUMENT, "oha"):
        if isinstance(found, Problem):
            yield found
        else:
            document, rows = found
            yield _json_record(lines, document, _quotes(rows))


def _quotes(rows: list[Quote]) -> tuple[Quote, ...]:
    """The first lines of a document, which hold its summary."""
    return tuple(row for row in rows[:MOST_QUOTES] if row.text.strip(" {},"))


def _json_record(lines: Lines, document: dict[str, Any], quotes: tuple[Quote, ...]) -> LoadRun:
    summary, percentiles = _table(document, "summary"), _table(document, "latencyPercentiles")
    dial = _table(_table(document, "details"), "DNSDialup")
    statuses = _counts(_table(document, "statusCodeDistribution"))
    errors = _counts(_table(document, "errorDistribution"))
    return LoadRun(
        source=source(lines, "oha"),
        quotes=quotes,
        tool="oha",
        requests_per_s=_number(summary, "requestsPerSec"),
        latency_mean_s=_number(summary, "average"),
        latency_p50_s=_number(percentiles, "p50"),
        latency_p90_s=_number(percentiles, "p90"),
        latency_p95_s=_number(percentiles, "p95"),
        latency_p99_s=_number(percentiles, "p99"),
        latency_max_s=_number(summary, "slowest"),
        requests_count=sum(statuses.values()) + sum(errors.values()) or None,
        error_counts=errors,
        status_counts=statuses,
        dns_dialup_s=_number(dial, "average"),
        duration_s=_number(summary, "total"),
    )


def _table(table: dict[str, Any], key: str) -> dict[str, Any]:
    value = table.get(key)
    return value if isinstance(value, dict) else {}


def _number(table: dict[str, Any], key: str) -> float | None:
    value = table.get(key)
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _counts(table: dict[str, Any]) -> dict[str, int]:
    kept = list(table.items())[:MOST_ERROR_KINDS]
    return {name[:MOST_ERROR_CHARACTERS]: value for name, value in kept if isinstance(value, int) and 0 < value < MOST_COUNT}


def _problem(lines: Lines, index: int | None, why: Text) -> Problem:
    return Problem(source=source(lines, "oha"), why=why, line_index=index)


READER = Reader(
    title=Text(en="oha", zh="oha"),
    gives=(LoadRun,),
    recognises=marked(_MARK, _DOCUMENT),
    read=_read,
    obtained_by=("oha -z 30s -c 64 --no-tui URL",),
)
