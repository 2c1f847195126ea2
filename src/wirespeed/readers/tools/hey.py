"""hey: the summary of one run with its latency, status and error distributions."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from wirespeed.model.kinds import Reader
from wirespeed.model.lines import Lines, quote, source
from wirespeed.model.measurement import LoadRun
from wirespeed.model.record import Record
from wirespeed.model.source import Problem, Quote
from wirespeed.model.text import Text
from wirespeed.readers.parsing.load_counts import LoadCounts
from wirespeed.readers.parsing.marks import marked
from wirespeed.readers.parsing.regex import regex

MOST_QUOTES = 24

_COMMAND = regex(r"(?:^|[\s$#%./])hey\s+(?P<flags>-.*)")
_CONCURRENCY = regex(r"(?:^|\s)-c\s*(?P<count>\d{1,7})\b")
_BEGIN = regex(r"^\s*Summary:\s*$")
_OTHER_TOOL = regex(r"^\s*Success rate:")
_FIGURE = regex(r"^\s*(?P<name>Total|Slowest|Average|Requests/sec):\s+(?P<number>\d{1,15}(?:\.\d+)?)(?:\s+secs)?\s*$")
_PERCENTILE = regex(r"^\s*(?P<percent>50|90|95|99)%+ in (?P<number>\d{1,15}(?:\.\d+)?) secs")
_DIAL = regex(r"^\s*DNS\+dialup:\s+(?P<number>\d{1,15}(?:\.\d+)?) secs")
_OWN = frozenset({"Slowest", "dial", "50", "90", "95", "99"})
"""Figures under names that other tools do not print; `Total:` and `Requests/sec:` are no sign of hey."""
_MARK = regex(
    r"(?m)^[ \t]*DNS\+dialup:\s+\d|^[ \t]*resp wait:\s+\d|^[ \t]*\[\d{3}\]\s+\d{1,15} responses|^[ \t]*Slowest:\s+\d[\d.]* secs|^[ \t]*\d{1,15}% in \d[\d.]* secs"
)


@dataclass(slots=True)
class _Run:
    """One run that is being read."""

    quotes: list[Quote] = field(default_factory=list)
    figures: dict[str, float] = field(default_factory=dict)
    connections_count: int | None = None
    counts: LoadCounts = field(default_factory=LoadCounts)
    is_other_tool: bool = False

    def has_result(self) -> bool:
        """Whether anything of hey's was read."""
        return not self.is_other_tool and bool(_OWN & self.figures.keys() or self.counts.errors or self.counts.responses)


def _read(lines: Lines) -> Iterator[Record | Problem]:
    run = _Run()
    for index, line in lines:
        command = _COMMAND.search(line)
        if command or _BEGIN.match(line):
            if run.has_result():
                yield _record(lines, run)
            run = _Run(connections_count=None if run.has_result() else run.connections_count)
        if command:
            concurrency = _CONCURRENCY.search(command["flags"])
            run.connections_count = int(concurrency["count"]) if concurrency else None
        elif _take(run, line) and len(run.quotes) < MOST_QUOTES:
            run.quotes.append(quote(lines, index, line))
    if run.has_result():
        yield _record(lines, run)


def _take(run: _Run, line: str) -> bool:
    """Take what the line says; false when it is none of hey's."""
    if _OTHER_TOOL.match(line):
        run.is_other_tool = True
    elif figure := _FIGURE.match(line):
        run.figures[figure["name"]] = float(figure["number"])
        return True
    elif percentile := _PERCENTILE.match(line):
        run.figures[percentile["percent"]] = float(percentile["number"])
        return True
    elif dial := _DIAL.match(line):
        run.figures["dial"] = float(dial["number"])
        return True
    else:
        return run.counts.take(line)
    return False


def _record(lines: Lines, run: _Run) -> LoadRun:
    figures = run.figures
    requests = sum(run.counts.responses.values()) + sum(run.counts.errors.values())
    return LoadRun(
        source=source(lines, "hey"),
        quotes=tuple(run.quotes),
        tool="hey",
        requests_per_s=figures.get("Requests/sec"),
        latency_mean_s=figures.get("Average"),
        latency_p50_s=figures.get("50"),
        latency_p90_s=figures.get("90"),
        latency_p95_s=figures.get("95"),
        latency_p99_s=figures.get("99"),
        latency_max_s=figures.get("Slowest"),
        connections_count=run.connections_count,
        requests_count=requests or None,
        error_counts=run.counts.errors,
        status_counts=run.counts.responses,
        dns_dialup_s=figures.get("dial"),
        duration_s=figures.get("Total"),
    )


READER = Reader(
    title=Text(en="hey", zh="hey"),
    gives=(LoadRun,),
    recognises=marked(_MARK),
    read=_read,
    obtained_by=("hey -z 30s -c 64 URL",),
)
