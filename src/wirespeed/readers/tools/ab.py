"""ApacheBench (`ab`): the summary of one run with its table of percentiles."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from wirespeed.model.kinds import Reader
from wirespeed.model.lines import Lines, quote, source
from wirespeed.model.measurement import LoadRun
from wirespeed.model.record import Record
from wirespeed.model.source import Problem, Quote
from wirespeed.model.text import Text
from wirespeed.model.units import whole
from wirespeed.readers.parsing.marks import marked
from wirespeed.readers.parsing.regex import regex

MOST_QUOTES = 16

_BEGIN = regex(r"This is ApacheBench|^\s*Concurrency Level:")
_FIGURE = regex(
    r"^\s*(?P<name>Concurrency Level|Time taken for tests|Complete requests|Failed requests|Non-2xx responses|Requests per second"
    r"|Time per request):\s+(?P<number>\d{1,15}(?:\.\d+)?)(?P<rest>.*)$"
)
_FAILURES = regex(r"^\s*\((?P<kinds>Connect: \d{1,15}, Receive: \d{1,15}, Length: \d{1,15}, Exceptions: \d{1,15})\)")
_PERCENTILE = regex(r"^\s*(?P<percent>50|90|95|99|100)%\s+(?P<ms>\d{1,15})(?: \(longest request\))?\s*$")
_OWN = frozenset({"Requests per second", "Time per request", "Complete requests", "Non-2xx responses"})
"""Figures under names that other tools do not print; `Failed requests:` is no sign of ab."""
_MARK = regex(
    r"(?m)This is ApacheBench|^[ \t]*Requests per second:\s+\d[\d.]* \[#/sec\]|^[ \t]*Time per request:\s+\d[\d.]* \[ms\]"
)


@dataclass(slots=True)
class _Run:
    """One run that is being read."""

    quotes: list[Quote] = field(default_factory=list)
    figures: dict[str, float] = field(default_factory=dict)
    error_counts: dict[str, int] = field(default_factory=dict)


def _read(lines: Lines) -> Iterator[Record | Problem]:
    run = _Run()
    for index, line in lines:
        if _BEGIN.search(line) and _OWN & run.figures.keys():
            yield _record(lines, run)
            run = _Run()
        if _take(run, line) and len(run.quotes) < MOST_QUOTES:
            run.quotes.append(quote(lines, index, line))
    if _OWN & run.figures.keys():
        yield _record(lines, run)


def _take(run: _Run, line: str) -> bool:
    """Take what the line says; false when it is none of ab's."""
    if figure := _FIGURE.match(line):
        if "across all" in figure["rest"]:
            return False
        run.figures[figure["name"]] = float(figure["number"])
    elif percentile := _PERCENTILE.match(line):
        run.figures[percentile["percent"]] = float(percentile["ms"]) / 1e3
    elif failures := _FAILURES.match(line):
        run.error_counts = {kind: int(count) for kind, count in re.findall(r"(\w+): (\d{1,15})", failures["kinds"]) if int(count)}
    else:
        return False
    return True


def _record(lines: Lines, run: _Run) -> LoadRun:
    figures = run.figures
    mean_ms = figures.get("Time per request")
    not_2xx = whole(figures.get("Non-2xx responses"))
    failed = whole(figures.get("Failed requests"))
    return LoadRun(
        source=source(lines, "ab"),
        quotes=tuple(run.quotes),
        tool="ab",
        requests_per_s=figures.get("Requests per second"),
        latency_mean_s=None if mean_ms is None else round(mean_ms / 1e3, 9),
        latency_p50_s=figures.get("50"),
        latency_p90_s=figures.get("90"),
        latency_p95_s=figures.get("95"),
        latency_p99_s=figures.get("99"),
        latency_max_s=figures.get("100"),
        connections_count=whole(figures.get("Concurrency Level")),
        requests_count=whole(figures.get("Complete requests")),
        error_counts=run.error_counts or ({"failed": failed} if failed else {}),
        status_counts={"not 2xx": not_2xx} if not_2xx else {},
        duration_s=figures.get("Time taken for tests"),
    )


READER = Reader(
    title=Text(en="ApacheBench (ab)", zh="ApacheBench（ab）"),
    gives=(LoadRun,),
    recognises=marked(_MARK),
    read=_read,
    obtained_by=("ab -n 1000 -c 64 URL",),
)
