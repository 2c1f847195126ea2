"""nccl-tests and rccl-tests (`all_reduce_perf` and its kin): the result table of every version since 2018, ranks and footer."""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from wirespeed.model.facts.host import SoftwareVersion
from wirespeed.model.kinds import Reader
from wirespeed.model.lines import Lines, quote, source
from wirespeed.model.measurement import BenchmarkRank, BenchmarkStart, CollectiveRun, CollectiveSummary
from wirespeed.model.record import Record
from wirespeed.model.source import Problem
from wirespeed.model.text import Text
from wirespeed.model.units import whole
from wirespeed.readers.parsing.marks import marked
from wirespeed.readers.parsing.regex import regex

_TOOL = "nccl-tests"
_BYTES_PER_GB = 1e9
_US_PER_SECOND = 1e6

_TYPES = (
    "int8|char|uint8|int32|int|uint32|uint|int64|uint64|half|float16|float|float32|double|float64|bfloat16|bf16"
    "|f8e4m3|f8e5m2|fp8_e4m3|fp8_e5m2|f16|f32|f64"
)
_ROW = regex(rf"(?<![\w.,+-])(?P<size>\d+)\s+(?P<count>\d+)\s+(?P<type>{_TYPES})\s+(?P<rest>\S.*)$")
_REDUCTION = regex(r"^(?:sum|prod|max|min|avg|mulsum|premulsum|none|all)\s+")
_CLOCK = regex(r"\s\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d\S*")
_HEADING = regex(r"#\s+size\s+count\b.*\b(?:cpu)?time\b")
_RANK = regex(
    r"#?\s*\bRank\s+(?P<rank>\d+)(?:\s+Group\s+(?P<group>\d+))?(?:\s+Pid\s+\d+)?\s+on\s+(?P<node>\S+)\s+device\s+(?P<index>\d+)"
    r"\s+\[[0-9a-fA-Fx:.]+\]\s*(?P<device>.*)$"
)
_STARTS = regex(r"#\s*nThread\b(?:\s+(?P<threads>\d+)\s+nGpus\s+(?P<gpus>\d+))?")
_NAME = regex(
    r"\b(?P<name>all_reduce|all_gather|reduce_scatter|alltoallv?|all_to_allv?|broadcast|reduce|sendrecv|gather"
    r"|scatter|hypercube)_perf\b"
)
_CONCLUDED = regex(r"Collective test concluded")
_VERSION = regex(r"#\s*(?:nccl|rccl)-tests:? version (?P<tests>\d[\w.]*)(?:.*\b[nr]ccl-library=(?P<library>\d+))?")
_BOUNDS = regex(r"#\s*Out of bounds values\s*:\s*(?P<count>\d+)\s*(?P<verdict>OK|FAILED)?")
_MEAN = regex(r"#\s*Avg bus bandwidth\s*:\s*(?P<mean>\S+)")
_RECOGNISED = regex(
    rf"(?m)(?<![\w.,+-])\d+\s+\d+\s+(?:{_TYPES})\s+(?:[a-z]+\s+)?(?:-?\d+\s+)?[\d.]+(?:e[+-]?\d+)?\s+[\d.]+\s+[\d.]+"
    r"|\bRank\s+\d+ .{0,60}\bon\s+\S+\s+device\s|#\s*Avg bus bandwidth|#\s*Out of bounds values|#\s*nThread\b|#\s+size\s+count\s"
)
_PLAIN_HALF, _SIDE_HALF, _TIMED_HALF = 4, 5, 8
"""Numbers of one half of a row: time, algbw, busbw, wrong; a fork has a second bandwidth before wrong; `-I 1` adds the least,
greatest and p99 time and their variation after it."""


@dataclass(slots=True)
class _Run:
    """What the lines so far say about the run that the next rows belong to."""

    operation: str | None = None
    ranks: set[int] = field(default_factory=set)
    half_width: int | None = None
    wrong_is_error: bool | None = None
    has_rows: bool = False
    bounds: CollectiveSummary | None = None


def _read(lines: Lines) -> Iterator[Record | Problem]:
    run = _Run()
    for index, line in lines:
        _follow(run, line)
        row = _ROW.search(line)
        if row is not None:
            run.has_rows = True
            yield from _row(lines, index, line, row, run)
        elif "#" in line or "Rank" in line:
            yield from _comment(lines, index, line, run)
    if run.bounds is not None:
        yield run.bounds


def _follow(run: _Run, line: str) -> None:
    """Take up what a line says about the run it belongs to."""
    name = _NAME.search(line)
    if name is not None:
        run.operation = name["name"].replace("all_to_all", "alltoall")
    if _CONCLUDED.search(line):
        run.operation = None
    if _STARTS.search(line):
        if run.has_rows and name is None:
            run.operation = None
        run.ranks, run.half_width, run.wrong_is_error, run.has_rows = set(), None, None, False
    if _HEADING.search(line):
        cells = ["time" if cell == "cputime" else cell for cell in line.split()]
        starts = [position for position, cell in enumerate(cells) if cell == "time"]
        run.half_width = starts[1] - starts[0] if len(starts) > 1 else None
        run.wrong_is_error = "error" in cells


def _row(lines: Lines, index: int, line: str, row: re.Match[str], run: _Run) -> Iterator[Record | Problem]:
    words = _REDUCTION.sub("", _CLOCK.sub("", f" {row['rest']}").strip()).split()
    halves = _halves(words, run.half_width)
    if not halves:
        yield Problem(
            source=source(lines, _TOOL),
            why=Text(en="a row of results is cut or damaged", zh="结果行不完整或已损坏"),
            line_index=index,
        )
        return
    for position, half in enumerate(halves):
        wrong, error = _wrong(half[-1], run.wrong_is_error)
        time_us, algbw, busbw = (_number(word) for word in half[:3])
        yield CollectiveRun(
            source=source(lines, _TOOL),
            quotes=(quote(lines, index, line),),
            operation=run.operation,
            size_bytes=int(row["size"]),
            rank_count=len(run.ranks) or None,
            time_s=None if time_us is None else time_us / _US_PER_SECOND,
            algbw_bytes_per_s=None if algbw is None else algbw * _BYTES_PER_GB,
            busbw_bytes_per_s=None if busbw is None else busbw * _BYTES_PER_GB,
            in_place=position == 1,
            wrong_count=wrong,
            error_ratio=error,
        )


def _halves(words: list[str], width: int | None) -> list[list[str]]:
    """Time, algbw, busbw and wrong of each half; the root in front, where there is one, is left out.

    Without a heading the number of words tells the form: 4 a half, or 8 with times of single iterations.
    """
    if any(not _is_value(word) for word in words):
        return []
    if width is None:
        width = _TIMED_HALF if len(words) >= 2 * _TIMED_HALF else _PLAIN_HALF
    whole = len(words) // width
    if whole not in (1, 2) or len(words) - whole * width > 1:
        return []
    start = len(words) - whole * width
    wrong_at = 4 if width == _SIDE_HALF else 3
    if width <= wrong_at:
        return []
    halves = [words[start + part * width : start + (part + 1) * width] for part in range(whole)]
    return [[*half[:3], half[wrong_at]] for half in halves]


def _is_value(word: str) -> bool:
    return word == "N/A" or _number(word) is not None or word.lstrip("-+").lower() in ("nan", "inf")


def _number(word: str) -> float | None:
    try:
        value = float(word)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def _wrong(word: str, is_error: bool | None) -> tuple[int | None, float | None]:
    """The last column: a count of wrong elements, or before 2022-08 the largest relative error (`1e-06`)."""
    value = _number(word)
    if value is None:
        return None, None
    if is_error is None:
        is_error = "e-" in word or word in ("0e+00", "0.0e+00")
    return (None, value) if is_error else (whole(value), None)


def _comment(lines: Lines, index: int, line: str, run: _Run) -> Iterator[Record | Problem]:
    rank, version, bounds, mean = _RANK.search(line), _VERSION.search(line), _BOUNDS.search(line), _MEAN.search(line)
    start = _STARTS.search(line)
    if start is not None:
        yield BenchmarkStart(
            source=source(lines, _TOOL),
            quotes=(quote(lines, index, line),),
            threads_count=int(start["threads"]) if start["threads"] else None,
            gpus_count=int(start["gpus"]) if start["gpus"] else None,
        )
    if rank is not None:
        run.ranks.add(int(rank["rank"]))
        yield BenchmarkRank(
            source=source(lines, _TOOL, rank["node"]),
            quotes=(quote(lines, index, line),),
            rank=int(rank["rank"]),
            node=rank["node"],
            device_index=int(rank["index"]),
            device=rank["device"].strip() or None,
            group=int(rank["group"]) if rank["group"] else None,
        )
    if version is not None:
        yield _version(lines, index, line, "nccl-tests", version["tests"])
        if version["library"]:
            yield _version(lines, index, line, "nccl", _nccl_version(int(version["library"])))
    if bounds is not None:
        if run.bounds is not None:
            yield run.bounds
        run.bounds = _bounds(lines, index, line, bounds)
    if mean is not None:
        yield _mean(lines, index, line, mean, run)
        run.bounds = None


def _version(lines: Lines, index: int, line: str, name: str, version: str) -> SoftwareVersion:
    return SoftwareVersion(source=source(lines, _TOOL), quotes=(quote(lines, index, line),), name=name, version=version)


def _nccl_version(code: int) -> str:
    """The version behind NCCL_VERSION_CODE: 22807 is 2.28.7, and up to 2.8 (four digits) 2708 is 2.7.8."""
    scale = 10_000 if code >= 10_000 else 1_000
    return f"{code // scale}.{code % scale // 100}.{code % 100}"


def _bounds(lines: Lines, index: int, line: str, found: re.Match[str]) -> CollectiveSummary:
    count = int(found["count"])
    is_correct = found["verdict"] == "OK" if found["verdict"] else count == 0
    return CollectiveSummary(
        source=source(lines, _TOOL), quotes=(quote(lines, index, line),), out_of_bounds_count=count, is_correct=is_correct
    )


def _mean(lines: Lines, index: int, line: str, found: re.Match[str], run: _Run) -> CollectiveSummary:
    """The footer's last line, joined with the line on correctness before it."""
    value = _number(found["mean"])
    here = quote(lines, index, line)
    before = run.bounds
    return CollectiveSummary(
        source=source(lines, _TOOL),
        quotes=(*before.quotes, here) if before else (here,),
        busbw_mean_bytes_per_s=None if value is None else value * _BYTES_PER_GB,
        out_of_bounds_count=before.out_of_bounds_count if before else None,
        is_correct=before.is_correct if before else None,
    )


READER = Reader(
    title=Text(en="nccl-tests results", zh="nccl-tests 结果"),
    gives=(CollectiveRun, BenchmarkStart, BenchmarkRank, CollectiveSummary, SoftwareVersion),
    recognises=marked(_RECOGNISED),
    read=_read,
    obtained_by=("all_reduce_perf -b 8M -e 8G -f 2 -g 1",),
)
