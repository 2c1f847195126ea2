"""NCCL's inspector plug-in: one JSON object an operation of a running job (`NCCL_INSPECTOR_DUMP_DIR`), as it ran on one rank.

For all-gather and reduce-scatter the inspector's message size is that of one rank; here it becomes that of the whole buffer, with which it
computes its bandwidth too (NVIDIA/nccl, plugins/profiler/inspector/inspector.cc, inspectorComputeOpBw). By default it leaves out
messages below 8 KiB.
"""

import json
from collections.abc import Iterator
from typing import Any

from wirespeed.model.kinds import Reader
from wirespeed.model.lines import Lines, quote, source
from wirespeed.model.measurement import CollectiveRun
from wirespeed.model.record import Record
from wirespeed.model.source import Problem, Quote
from wirespeed.model.text import Text
from wirespeed.readers.parsing.json_excerpt import number, word
from wirespeed.readers.parsing.marks import marked
from wirespeed.readers.parsing.regex import regex

TOOL = "nccl-inspector"
MOST_LINES_AN_OBJECT = 4_000
"""Of an object printed over several lines; with the event trace of 64 channels it takes some 800."""
MOST_QUOTE_CHARACTERS = 600

_RECOGNISED = regex(r'"coll_exec_time_us"\s*:|"p2p_exec_time_us"\s*:|"inspector_output_format_version"\s*:')
_BEGINS = regex(r'^\s*(?:\{\s*$|\{\s*"(?:header|metadata|coll_perf|p2p_perf)"\s*:)')
_FIGURE = regex(r'"(?:coll|p2p)_exec_time_us"')
_OPERATIONS = {
    "AllReduce": "all_reduce", "AllGather": "all_gather", "ReduceScatter": "reduce_scatter", "Broadcast": "broadcast", "Reduce": "reduce",
    "Send": "sendrecv", "Recv": "sendrecv", "SendRecv": "sendrecv", "AlltoAll": "alltoall", "AllToAll": "alltoall", "Gather": "gather",
    "Scatter": "scatter",
}  # fmt: skip
_OF_ONE_RANK = frozenset({"AllGather", "ReduceScatter"})
_BYTES_PER_GB = 1e9
_US_PER_SECOND = 1e6
_DECODER = json.JSONDecoder()


def _read(lines: Lines) -> Iterator[Record | Problem]:
    held: list[tuple[int, str]] = []
    depth = 0
    header: dict[str, Any] = {}
    for index, line in lines:
        if not held and not _BEGINS.match(line):
            continue
        if held and _BEGINS.match(line) and line.lstrip() == line:  # a new object at the margin: the one before was cut
            if any(_FIGURE.search(text) for _, text in held):
                yield _damaged(lines, held[0][0])
            held, depth = [], 0
        held.append((index, line))
        depth += line.count("{") - line.count("}")
        if depth > 0 and len(held) <= MOST_LINES_AN_OBJECT:
            continue
        for item in _objects(lines, held):
            if isinstance(item, dict):
                own = item.get("header")
                header = own if isinstance(own, dict) else header
                yield from _operation(lines, item, header, held)
            else:
                yield item
        held, depth = [], 0
    if any(_FIGURE.search(text) for _, text in held):
        yield _damaged(lines, held[0][0])


def _objects(lines: Lines, held: list[tuple[int, str]]) -> Iterator[dict[str, Any] | Problem]:
    text = "\n".join(line for _, line in held)
    place = 0
    while (start := text.find("{", place)) >= 0:
        try:
            found, place = _DECODER.raw_decode(text, start)
        except (ValueError, RecursionError):
            yield _damaged(lines, held[0][0])
            return
        if isinstance(found, dict):
            yield found


def _damaged(lines: Lines, index: int) -> Problem:
    return Problem(
        source=source(lines, TOOL),
        why=Text(en="an object of the inspector is cut or damaged", zh="inspector 的一个对象不完整或已损坏"),
        line_index=index,
    )


def _operation(lines: Lines, item: dict[str, Any], header: dict[str, Any], held: list[tuple[int, str]]) -> Iterator[CollectiveRun]:
    for kind in ("coll", "p2p"):
        performance = item.get(f"{kind}_perf")
        if not isinstance(performance, dict):
            continue
        name = word(performance.get(kind)) or ""
        size, time_us = number(performance.get(f"{kind}_msg_size_bytes")), _float(performance.get(f"{kind}_exec_time_us"))
        ranks, metadata = number(header.get("n_ranks")), item.get("metadata")
        if size is None or time_us is None:
            continue
        if name in _OF_ONE_RANK:
            if ranks is None:
                continue
            size *= ranks
        algbw, busbw = _float(performance.get(f"{kind}_algobw_gbs")), _float(performance.get(f"{kind}_busbw_gbs"))
        timing = word(performance.get(f"{kind}_timing_source"))
        node = word(metadata.get("hostname")) if isinstance(metadata, dict) else None
        yield CollectiveRun(
            source=source(lines, TOOL, node),
            quotes=_quotes(lines, held),
            operation=_OPERATIONS.get(name, name.lower() or None),
            size_bytes=size,
            rank_count=ranks,
            time_s=time_us / _US_PER_SECOND,
            algbw_bytes_per_s=None if algbw is None else algbw * _BYTES_PER_GB,
            busbw_bytes_per_s=None if busbw is None else busbw * _BYTES_PER_GB,
            rank=number(header.get("rank")),
            communicator=word(header.get("id")),
            sequence_number=number(performance.get(f"{kind}_sn")),
            is_timed_by_gpu=None if timing is None else timing == "kernel_gpu",
        )


def _quotes(lines: Lines, held: list[tuple[int, str]]) -> tuple[Quote, ...]:
    """The lines of the figures; the object's first line where it is on one."""
    if len(held) == 1:
        return (quote(lines, held[0][0], held[0][1][:MOST_QUOTE_CHARACTERS]),)
    wanted = [(index, line) for index, line in held if '"rank"' in line or "_msg_size_bytes" in line or _FIGURE.search(line)]
    return tuple(quote(lines, index, line) for index, line in (wanted or held)[:3])


def _float(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < 1e18:
        return None
    return float(value)


READER = Reader(
    title=Text(en="NCCL inspector dump", zh="NCCL inspector 输出"),
    gives=(CollectiveRun,),
    recognises=marked(_RECOGNISED),
    read=_read,
    obtained_by=("NCCL_PROFILER_PLUGIN=libnccl-profiler-inspector.so NCCL_INSPECTOR_ENABLE=1 <your command>",),
)
