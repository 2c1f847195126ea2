"""OSU micro-benchmarks (`osu_latency`, `osu_bw`, `osu_bibw`, `osu_mbw_mr`, `osu_allreduce` ...), for MPI, NCCL and OpenSHMEM.

MB are 1e6 bytes; the latency of a point-to-point test is half of the round trip, that of a one-sided operation the whole of it (OMB 7,
c/mpi/pt2pt, c/mpi/one-sided). Sizes of all-gather, all-to-all, gather and scatter are those of one rank and become the whole with the number
of ranks; where that is not said, such rows are problems.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from wirespeed.model.kinds import Reader
from wirespeed.model.lines import Lines, quote, source
from wirespeed.model.measurement import CollectiveRun, MessageLatency, ThroughputRun
from wirespeed.model.record import Record
from wirespeed.model.source import Problem, Quote
from wirespeed.model.text import Text
from wirespeed.readers.parsing.marks import marked
from wirespeed.readers.parsing.regex import regex

_TITLE = regex(
    r"\bOSU (?P<library>MPI|NCCL|RCCL|xCCL|UPC(?:\+\+)?|OpenSHMEM)(?P<device>-(?:CUDA|ROCM|OPENACC|SYCL))?[ _]?(?P<title>[A-Za-z][\w\- /]{1,60}?)"
    r" Test(?: v[\d.][\w.-]{0,24})?\s*$"
)
_PLACES = regex(r"Send Buffer on (?P<send>HOST|DEVICE|MANAGED)[^.]{0,20} and Receive Buffer on (?P<receive>HOST|DEVICE|MANAGED)")
_PAIRS = regex(r"\[ pairs: (?P<pairs>\d{1,6}) \]")
_HEADING = regex(
    r"^\W{0,12}Size\s{1,40}(?P<what>Bandwidth \(MB/s\)|Latency \(us\)|Avg Lat(?:ency)?\(us\)|MB/s)(?P<rest>.*)$|^\W{0,8}(?P<bare>Avg Latency\(us\))(?P<more>.*)$"
)
_RANKS = regex(r"\b(?:mpirun|mpiexec(?:\.hydra)?|srun)\b.{0,400}?\s-(?:-?np?|-ntasks=?)\s?(?P<ranks>\d{1,6})\b.{0,2000}\bosu_\w+")
_ROW = regex(
    r"^(?:\[\d+(?:,\d+)?\](?:<\w+>)?:?|[\w.-]+:)?\s*(?P<numbers>\d{1,15}(?:\.\d{1,6})?(?:\s+\d{1,15}(?:\.\d{1,6})?)*)\s*(?:Pass)?\s*$"
)
_STARTS_AS_ROW = regex(r"^\s*\d{1,15}\s+\d")
_RECOGNISED = regex(
    r"\bOSU (?:MPI|NCCL|RCCL|xCCL|UPC|OpenSHMEM)\S{0,8}[ _][^\n]{2,70} Test\b|# Size\s+(?:Bandwidth \(MB/s\)|Latency \(us\)|Avg Lat)"
)

_PER_RANK_OPERATIONS = frozenset({"all_gather", "alltoall", "gather", "scatter"})
_OPERATIONS = {
    "allreduce": "all_reduce", "reduce_scatter": "reduce_scatter", "reduce-scatter": "reduce_scatter", "reduce": "reduce",
    "broadcast": "broadcast", "allgather": "all_gather", "all-to-all": "alltoall", "alltoall": "alltoall",
    "gather": "gather", "scatter": "scatter", "barrier": "barrier",
}  # fmt: skip
"""First word of a collective's title (`All-to-All Personalized Exchange`, `Reduce_scatter`), by the name nccl-tests gives it."""
_ONE_SIDED = regex(r"(?i)\b(?:put|get|accumulate|fetch|compare)\b|put_|get_|acc_")
_BYTES_PER_MB = 1e6
_US_PER_SECOND = 1e6
_CUT = Text(en="this row of an OSU table is cut or damaged", zh="OSU 表中的这一行不完整或已损坏")
_NO_RANKS = Text(
    en="OSU prints the bytes of one rank for this operation, and the number of ranks is not in the text",
    zh="OSU 对该操作打印的是单个 rank 的字节数，而文本中没有 rank 数",
)


@dataclass(slots=True)
class _Table:
    """The test that rows belong to."""

    title: str = ""
    title_quote: Quote | None = None
    library: str = "mpi"
    operation: str | None = None
    memory: Literal["host", "gpu"] | None = None
    rank_count: int | None = None
    pairs: int | None = None
    heading: Quote | None = None
    what: str = ""
    columns: tuple[str, ...] = ()
    has_rows: bool = False
    has_told_ranks: bool = False


def _read(lines: Lines) -> Iterator[Record | Problem]:
    table = _Table()
    for index, line in lines:
        title, heading = _TITLE.search(line), _HEADING.match(line)
        if ranks := _RANKS.search(line):
            table = _Table(rank_count=int(ranks["ranks"]))
        elif title:
            table = _titled(title, quote(lines, index, line), table.rank_count if table.title_quote is None else None)
        elif heading:
            table.heading = quote(lines, index, line)
            table.what = heading["what"] or heading["bare"]
            rest = heading["rest"] if heading["what"] else heading["more"]
            table.columns = (*(() if heading["bare"] else ("size",)), "value", *_statistics(rest or ""))
        elif places := _PLACES.search(line):
            table.memory = "gpu" if "DEVICE" in (places["send"], places["receive"]) else table.memory
        elif pairs := _PAIRS.search(line):
            table.pairs = int(pairs["pairs"])
        elif table.heading is not None and (found := _ROW.match(line)):
            table.has_rows = True
            yield from _row(lines, quote(lines, index, line), table, found["numbers"].split())
        elif table.heading is not None and _STARTS_AS_ROW.match(line):
            yield Problem(source=source(lines, "osu"), why=_CUT, line_index=index)
        elif table.has_rows and not line.strip():
            table.heading = None


def _titled(title: re.Match[str], said: Quote, rank_count: int | None) -> _Table:
    words = title["title"].strip().lower()
    return _Table(
        title=words,
        title_quote=said,
        library=title["library"].lower(),
        operation=_OPERATIONS.get(words.split()[0].removesuffix("v")) if "latency" in words else None,
        memory="gpu" if title["device"] or title["library"] in ("NCCL", "RCCL", "xCCL") else None,
        rank_count=rank_count,
    )


def _statistics(rest: str) -> tuple[str, ...]:
    """Columns behind the first figure: `Min Latency(us)`, `Max Latency(us)`, `P50 Tail Lat(us)`, `Iterations`, `Messages/s`."""
    return tuple(found[0].lower().split()[0] for found in re.finditer(r"[A-Za-z][\w./]*(?: [A-Z][\w]*)*(?:\(us\))?", rest))


def _row(lines: Lines, row: Quote, table: _Table, numbers: list[str]) -> Iterator[Record | Problem]:
    values = {name: float(number) for name, number in zip(table.columns, numbers, strict=False)}
    size = int(values["size"]) if "size" in values and values["size"].is_integer() else None
    if "value" not in values or ("size" in table.columns and size is None):
        yield Problem(source=source(lines, "osu"), why=_CUT, line_index=row.line_index)
        return
    said = [one for one in (table.title_quote, table.heading) if one is not None]
    quotes = (*said, row)
    if "MB/s" in table.what:
        yield _throughput(lines, quotes, table, size, values["value"])
    elif table.operation is not None:
        yield from _collective(lines, quotes, table, size or 0, values)
    elif table.what == "Latency (us)" or "latency" in table.title:
        yield _latency(lines, quotes, table, size, values)


def _throughput(lines: Lines, quotes: tuple[Quote, ...], table: _Table, size: int | None, megabytes: float) -> ThroughputRun:
    return ThroughputRun(
        source=source(lines, "osu"),
        quotes=quotes,
        tool="osu",
        rate_bits_per_s=megabytes * _BYTES_PER_MB * 8,
        protocol=table.library,
        stream_count=table.pairs,
        size_bytes=size,
        is_both_ways="bi-directional" in table.title,
        memory=table.memory,
    )


def _collective(
    lines: Lines, quotes: tuple[Quote, ...], table: _Table, size: int, values: dict[str, float]
) -> Iterator[Record | Problem]:
    if table.operation in _PER_RANK_OPERATIONS:
        if table.rank_count is None:
            if not table.has_told_ranks:
                yield Problem(source=source(lines, "osu"), why=_NO_RANKS, line_index=quotes[-1].line_index)
            table.has_told_ranks = True
            return
        size *= table.rank_count
    yield CollectiveRun(
        source=source(lines, "osu"),
        quotes=quotes,
        operation=table.operation,
        size_bytes=size,
        rank_count=table.rank_count,
        time_s=values["value"] / _US_PER_SECOND,
        time_min_s=_seconds(values.get("min")),
        time_max_s=_seconds(values.get("max")),
    )


def _latency(lines: Lines, quotes: tuple[Quote, ...], table: _Table, size: int | None, values: dict[str, float]) -> MessageLatency:
    return MessageLatency(
        source=source(lines, "osu"),
        quotes=quotes,
        tool="osu",
        is_round_trip=_ONE_SIDED.search(table.title) is not None,
        protocol=table.library,
        size_bytes=size,
        memory=table.memory,
        latency_mean_s=_seconds(values["value"]),
        latency_p50_s=_seconds(values.get("p50")),
        latency_p99_s=_seconds(values.get("p99")),
    )


def _seconds(microseconds: float | None) -> float | None:
    return None if microseconds is None else microseconds / _US_PER_SECOND


READER = Reader(
    title=Text(en="OSU micro-benchmarks", zh="OSU 微基准测试"),
    gives=(ThroughputRun, MessageLatency, CollectiveRun),
    recognises=marked(_RECOGNISED),
    read=_read,
    obtained_by=("mpirun -np 2 -H node-a,node-b osu_bw", "mpirun -np 2 -H node-a,node-b osu_latency"),
)
