"""Results that nccl-tests writes with `-J FILE`, versions 1 to 3.

The file holds the whole environment of the job. Only variables of communication libraries become records, and quotes are cut
out of long lines, so that nothing else of the environment leaves the file.
"""

import json
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from wirespeed.model.facts.host import EnvVar, SoftwareVersion
from wirespeed.model.kinds import Reader
from wirespeed.model.lines import Lines, source
from wirespeed.model.measurement import BenchmarkRank, CollectiveRun, CollectiveSummary
from wirespeed.model.record import Record
from wirespeed.model.source import Problem, Quote
from wirespeed.model.text import Text
from wirespeed.readers.parsing.marks import marked
from wirespeed.readers.parsing.regex import regex

_TOOL = "nccl-tests-json"
_BYTES_PER_GB = 1e9
_US_PER_SECOND = 1e6
_LONGEST_WHOLE_LINE_CHARACTERS = 400
"""A longer line is quoted in part: the program writes everything on one line, environment included."""

_RECOGNISED = regex(
    r'"(?:alg_bw|bus_bw|average_bus_bandwidth)"\s*:|\{\s*"version"\s*:\s*\d+\s*,\s*"start_time"\s*:\s*"[^"]*"\s*,\s*"args"'
)
_BEGINS = regex(r'\{\s*"(?:version|start_time|args)"\s*:')
_SIZE = regex(r'"size"\s*:\s*\d+')
_HALF = regex(r'"(?P<name>out_of_place|in_place)"\s*:\s*\{[^{}]*\}')
_NAME = regex(r"(?P<name>\w+?)_perf(?:_mpi)?$")
_VARIABLE = regex(r'"(?P<name>(?:NCCL|RCCL|UCX|FI)_\w+)=(?:[^"\\]|\\.)*"')
_RANK = regex(r'"rank"\s*:\s*(?P<rank>\d+)')
_SECRET = regex(r"(?i)secret|token|password|passwd|api_?key|credential|private")


@dataclass(frozen=True, slots=True)
class _Document:
    """The text with the starts of its lines, to quote parts of it."""

    lines: Lines
    text: str
    starts: tuple[int, ...]

    def quotes(self, start: int, end: int) -> tuple[Quote, ...]:
        """The lines from `start` to `end`; of a long line only what lies between."""
        first, last = self.line_index(start), self.line_index(max(start, end - 1))
        return tuple(self._quote(index, start, end) for index in range(first, last + 1))

    def line_index(self, position: int) -> int:
        """The line that holds a character."""
        low, high = 0, len(self.starts) - 1
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (middle, high) if self.starts[middle] <= position else (low, middle - 1)
        return low

    def _quote(self, index: int, start: int, end: int) -> Quote:
        begins = self.starts[index]
        ends = self.starts[index + 1] - 1 if index + 1 < len(self.starts) else len(self.text)
        if ends - begins > _LONGEST_WHOLE_LINE_CHARACTERS:
            begins, ends = max(begins, start), min(ends, end)
        return Quote(source=self.lines.path, line_index=index, text=self.text[begins:ends])


def _read(lines: Lines) -> Iterator[Record | Problem]:
    text = lines.whole()
    if text is None:
        yield _unread(lines, None)
        return
    begins = _BEGINS.search(text)
    if begins is None:
        return
    starts = (0, *(found.end() for found in re.finditer("\n", text)))
    document = _Document(lines, text, starts)
    try:
        content, _ = json.JSONDecoder().raw_decode(text, begins.start())
    except (ValueError, RecursionError):
        yield _unread(lines, document.line_index(begins.start()))
        return
    if isinstance(content, dict):
        yield from _content(document, content)


def _unread(lines: Lines, index: int | None) -> Problem:
    return Problem(
        source=source(lines, _TOOL),
        why=Text(en="the JSON document is incomplete or too large", zh="JSON 文档不完整或过大"),
        line_index=index,
    )


def _content(document: _Document, content: dict[str, Any]) -> Iterator[Record]:
    config, results = content.get("config"), content.get("results")
    devices = _objects(content.get("devices")) or _objects(config.get("devices") if isinstance(config, dict) else None)
    yield from _environment(document, content.get("env"))
    yield from _versions(document, content.get("nccl_version"))
    yield from _ranks(document, devices)
    ranks = {device.get("rank") for device in devices}
    yield from _runs(document, _objects(results), _operation(content.get("args")), len(ranks) or None)
    yield from _summary(document, content)


def _objects(value: object) -> list[dict[str, Any]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _operation(arguments: object) -> str | None:
    """The collective, by the program's name."""
    if not isinstance(arguments, list) or not arguments or not isinstance(arguments[0], str):
        return None
    found = _NAME.search(arguments[0].rsplit("/", 1)[-1])
    return found["name"] if found else None


def _environment(document: _Document, variables: object) -> Iterator[EnvVar]:
    if not isinstance(variables, list):
        return
    places = {found["name"]: found.span() for found in _VARIABLE.finditer(document.text)}
    for variable in variables:
        name, separator, setting = variable.partition("=") if isinstance(variable, str) else ("", "", "")
        if separator and name in places and not _SECRET.search(name):
            quotes = document.quotes(*places[name])
            yield EnvVar(source=source(document.lines, _TOOL), quotes=quotes, name=name, setting=setting)


def _versions(document: _Document, code: object) -> Iterator[SoftwareVersion]:
    if not isinstance(code, int) or code < 10_000:
        return
    quotes = _first(document, regex(rf'"nccl_version"\s*:\s*{code}'))
    version = f"{code // 10_000}.{code % 10_000 // 100}.{code % 100}"
    yield SoftwareVersion(source=source(document.lines, _TOOL), quotes=quotes, name="nccl", version=version)


def _ranks(document: _Document, devices: list[dict[str, Any]]) -> Iterator[BenchmarkRank]:
    places = {int(found["rank"]): found.span() for found in _RANK.finditer(document.text)}
    for device in devices:
        rank = device.get("rank")
        if not isinstance(rank, int) or rank not in places:
            continue
        node, title = device.get("hostname"), device.get("device_info")
        yield BenchmarkRank(
            source=source(document.lines, _TOOL, node if isinstance(node, str) else None),
            quotes=document.quotes(*places[rank]),
            rank=rank,
            node=node if isinstance(node, str) else None,
            device_index=_whole(device.get("device")),
            device=title.strip() if isinstance(title, str) else None,
            group=_whole(device.get("group")),
        )


def _runs(
    document: _Document, results: list[dict[str, Any]], operation: str | None, rank_count: int | None
) -> Iterator[CollectiveRun]:
    """Two runs a result: the k-th `size` of the text belongs to the k-th result, and its halves follow before the next."""
    begins = document.text.find('"results"')
    sizes = [found.span() for found in _SIZE.finditer(document.text, max(begins, 0))]
    for index, result in enumerate(results):
        size = _whole(result.get("size"))
        if size is None or index >= len(sizes):
            continue
        end = sizes[index + 1][0] if index + 1 < len(sizes) else len(document.text)
        spans = {found["name"]: found.span() for found in _HALF.finditer(document.text, sizes[index][1], end)}
        for name in ("out_of_place", "in_place"):
            half = result.get(name)
            if isinstance(half, dict) and name in spans:
                quotes = (*document.quotes(*sizes[index]), *document.quotes(*spans[name]))
                yield _run(document, half, operation, size, rank_count, name == "in_place", quotes)


def _run(
    document: _Document,
    half: dict[str, Any],
    operation: str | None,
    size_bytes: int,
    rank_count: int | None,
    in_place: bool,
    quotes: tuple[Quote, ...],
) -> CollectiveRun:
    time_us, algbw, busbw = (
        _number(half.get("time", half.get("cpu_time"))),
        _number(half.get("alg_bw")),
        _number(half.get("bus_bw")),
    )
    return CollectiveRun(
        source=source(document.lines, _TOOL),
        quotes=tuple(dict.fromkeys(quotes)),
        operation=operation,
        size_bytes=size_bytes,
        rank_count=rank_count,
        time_s=None if time_us is None else time_us / _US_PER_SECOND,
        algbw_bytes_per_s=None if algbw is None else algbw * _BYTES_PER_GB,
        busbw_bytes_per_s=None if busbw is None else busbw * _BYTES_PER_GB,
        in_place=in_place,
        wrong_count=_whole(half.get("nwrong")),
    )


def _summary(document: _Document, content: dict[str, Any]) -> Iterator[CollectiveSummary]:
    bounds, mean = content.get("out_of_bounds"), content.get("average_bus_bandwidth")
    bounds, mean = bounds if isinstance(bounds, dict) else {}, mean if isinstance(mean, dict) else {}
    if not bounds and not mean:
        return
    busbw, okay = _number(mean.get("bandwidth")), bounds.get("okay")
    yield CollectiveSummary(
        source=source(document.lines, _TOOL),
        quotes=_first(document, regex(r'"out_of_bounds"\s*:\s*\{[^{}]*\}'))
        + _first(document, regex(r'"average_bus_bandwidth"\s*:\s*\{[^{}]*\}')),
        busbw_mean_bytes_per_s=None if busbw is None else busbw * _BYTES_PER_GB,
        out_of_bounds_count=_whole(bounds.get("count")),
        is_correct=okay in ("true", True) if okay is not None else None,
    )


def _first(document: _Document, pattern: re.Pattern[str]) -> tuple[Quote, ...]:
    """Quotes of the first place that matches."""
    found = pattern.search(document.text)
    return () if found is None else document.quotes(*found.span())


def _number(value: object) -> float | None:
    """A finite number; nccl-tests writes the string `nan` where it has none."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return float(value)


def _whole(value: object) -> int | None:
    number = _number(value)
    return None if number is None else int(number)


READER = Reader(
    title=Text(en="nccl-tests results (JSON)", zh="nccl-tests 结果（JSON）"),
    gives=(CollectiveRun, BenchmarkRank, CollectiveSummary, EnvVar, SoftwareVersion),
    recognises=marked(_RECOGNISED),
    read=_read,
    obtained_by=("all_reduce_perf -b 8M -e 8G -f 2 -g 1 -J results.json",),
)
