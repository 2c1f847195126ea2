"""wrk and wrk2: the summary of one run, also single lines of it."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from wirespeed.model.kinds import Reader
from wirespeed.model.lines import Lines, quote, source
from wirespeed.model.measurement import LoadRun
from wirespeed.model.record import Record
from wirespeed.model.source import Problem, Quote
from wirespeed.model.text import Text
from wirespeed.model.units import time_in_s
from wirespeed.readers.parsing.marks import marked
from wirespeed.readers.parsing.regex import regex

MOST_QUOTES = 12

_BEGIN = regex(r"Running \S+ test @ \S+")
_CONNECTIONS = regex(r"\b\d{1,15} threads? and (?P<count>\d{1,15}) connections?")
_LATENCY = regex(r"^\s*Latency\s+(?P<mean>\S+)\s+(?P<spread>\S+)\s+(?P<high>\S+)\s+(?:\d[\d.]*%|-nan%)\s*$")
_PERCENTILE = regex(r"^\s+(?P<percent>50|90|95|99)(?:\.0+)?%\s+(?P<time>\d\S*)\s*$")
_REQUESTS = regex(r"\b(?P<count>\d{1,15}) requests in (?P<time>\d\S*), \S+ read")
_SOCKET_ERRORS = regex(r"Socket errors: (?P<errors>(?:\w+ \d{1,15}(?:, )?)+)")
_BAD_STATUS = regex(r"Non-2xx or 3xx responses: (?P<count>\d{1,15})")
_RATE = regex(r"^\s*Requests/sec:\s+(?P<rate>\d{1,15}(?:\.\d+)?)\s*$")
_END = regex(r"^\s*Transfer/sec:")
_TIME = regex(r"^(?P<number>\d{1,15}(?:\.\d+)?)(?P<unit>us|ms|s|m|h)$")
_MARK = regex(
    r"(?m)Running \S+ test @ |^[ \t]*Latency\s+\d\S*[mun]?s\s+\d\S*s\s+\d\S*[smh]\s|Socket errors: connect \d|Non-2xx or 3xx responses: \d"
    r"|\d requests in \d\S*, \S+ read"
)


@dataclass(slots=True)
class _Run:
    """One run that is being read."""

    quotes: list[Quote] = field(default_factory=list)
    requests_per_s: float | None = None
    latency_mean_s: float | None = None
    latency_max_s: float | None = None
    percentiles_s: dict[str, float] = field(default_factory=dict)
    connections_count: int | None = None
    requests_count: int | None = None
    duration_s: float | None = None
    error_counts: dict[str, int] = field(default_factory=dict)
    status_counts: dict[str, int] = field(default_factory=dict)
    has_result: bool = False


def _read(lines: Lines) -> Iterator[Record | Problem]:
    run = _Run()
    for index, line in lines:
        is_begin = _BEGIN.search(line) is not None
        if is_begin and run.has_result:
            yield _record(lines, run)
        if is_begin:
            run = _Run()
        if (is_begin or _take(run, line)) and len(run.quotes) < MOST_QUOTES:
            run.quotes.append(quote(lines, index, line))
        if _END.match(line) and run.has_result:
            yield _record(lines, run)
            run = _Run()
    if run.has_result:
        yield _record(lines, run)


def _take(run: _Run, line: str) -> bool:
    """Take what the line says; false when it is none of wrk's."""
    if connections := _CONNECTIONS.search(line):
        run.connections_count = int(connections["count"])
        return True
    if latency := _LATENCY.match(line):
        run.latency_mean_s, run.latency_max_s = _seconds(latency["mean"]), _seconds(latency["high"])
    elif percentile := _PERCENTILE.match(line):
        value = _seconds(percentile["time"])
        if value is None:
            return False
        run.percentiles_s[percentile["percent"]] = value
    elif requests := _REQUESTS.search(line):
        run.requests_count, run.duration_s = int(requests["count"]), _seconds(requests["time"])
    elif errors := _SOCKET_ERRORS.search(line):
        run.error_counts |= {kind: int(count) for kind, count in re.findall(r"(\w+) (\d{1,15})", errors["errors"]) if int(count)}
    elif bad := _BAD_STATUS.search(line):
        run.status_counts["not 2xx or 3xx"] = int(bad["count"])
    elif rate := _RATE.match(line):
        run.requests_per_s = float(rate["rate"])
        return True
    else:
        return False
    run.has_result = True
    return True


def _seconds(printed: str) -> float | None:
    found = _TIME.match(printed)
    value = time_in_s(float(found["number"]), found["unit"]) if found else None
    return None if value is None else round(value, 9)


def _record(lines: Lines, run: _Run) -> LoadRun:
    return LoadRun(
        source=source(lines, "wrk"),
        quotes=tuple(run.quotes),
        tool="wrk",
        requests_per_s=run.requests_per_s,
        latency_mean_s=run.latency_mean_s,
        latency_p50_s=run.percentiles_s.get("50"),
        latency_p90_s=run.percentiles_s.get("90"),
        latency_p95_s=run.percentiles_s.get("95"),
        latency_p99_s=run.percentiles_s.get("99"),
        latency_max_s=run.latency_max_s,
        connections_count=run.connections_count,
        requests_count=run.requests_count,
        error_counts=run.error_counts,
        status_counts=run.status_counts,
        duration_s=run.duration_s,
    )


READER = Reader(
    title=Text(en="wrk", zh="wrk"),
    gives=(LoadRun,),
    recognises=marked(_MARK),
    read=_read,
    obtained_by=("wrk -t4 -c64 -d30s --latency URL",),
)
