"""iperf3 and iperf 2 as text: rows of intervals, of whole runs and of sums, also a single row quoted alone."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

import msgspec

from wirespeed.model.kinds import Reader
from wirespeed.model.lines import Lines, quote, source
from wirespeed.model.measurement import ThroughputRun
from wirespeed.model.record import Record
from wirespeed.model.source import Problem
from wirespeed.model.text import Text
from wirespeed.model.units import rate_in_bits_per_s, size_in_bytes
from wirespeed.readers.parsing.marks import marked
from wirespeed.readers.parsing.regex import regex

MOST_STREAMS = 1024
"""Stream numbers remembered in one run; iperf3 itself stops at 128."""

_HEAD = r"\[\s*\*?(?P<id>\d{1,15}|SUM)(?:-[^\]\s]+)?\](?:\[(?P<direction>[TR]X-[CS])\])?\s+(?P<start>\d{1,15}\.\d+)-\s*(?P<end>\d{1,15}\.\d+)\s+sec\b"
_BEGUN = regex(_HEAD)
_ROW = regex(
    _HEAD + r"\s+(?P<size>\d[\d.]*)\s+(?P<size_unit>[KMGT]?Bytes)\s+(?P<rate>\d[\d.]*)\s+(?P<rate_unit>[KMGT]?(?:bits|Bytes)/sec)"
    r"(?P<rest>.*)"
)
_DATAGRAMS = regex(r"(?<![\d.])(?P<jitter>\d[\d.]*) ms\s+(?P<lost>\d{1,15})/\s*(?P<total>\d{1,15})")
_RETRANSMITS = regex(
    r"^\s+(?P<packets>\d{1,15})(?:\s+(?P<window>\d[\d.]*) (?P<window_unit>[KMGT]?Bytes))?\s*(?:sender|receiver)?\s*$"
)
_STREAM = regex(r"\[\s*(?P<id>\d{1,15})\] local \S+ port \d{1,15} connected (?:to|with) ")
_COMMAND = regex(r"(?:^|[\s$#])iperf3?\s+(?P<flags>-.*)")
_PARALLEL = regex(r"(?:^|\s)(?:-P\s*|--parallel[ =])(?P<count>\d{1,4})\b")
_REVERSE_FLAG = regex(r"(?:^|\s)(?:-R|--reverse)\b")
_RUN_START = regex(r"Connecting to host |Client connecting to |(?:Server|Client) listening on|Accepted connection from")
_SERVER = regex(r"Server listening on|Accepted connection from")

Role: TypeAlias = Literal["sender", "receiver", "sum-sender", "sum-receiver", "interval", "mean", "peak"]


@dataclass(slots=True)
class _Run:
    """What earlier lines told about the rows to come."""

    streams: set[str] = field(default_factory=set)
    has_rows: bool = False
    stream_count: int | None = None
    protocol: str | None = None
    is_reverse: bool = False
    is_server: bool = False
    counts_datagrams: bool = False
    open_rows: dict[str, ThroughputRun] = field(default_factory=dict)
    """Rows of iperf 2 that start at 0: the next row of the stream tells whether it was an interval or the whole run."""


def _read(lines: Lines) -> Iterator[Record | Problem]:
    run = _Run()
    for index, line in lines:
        found = _ROW.search(line)
        if found:
            yield from _settled(run, found, _row(lines, index, line, found, run))
        elif _BEGUN.search(line):
            yield _cut_row(lines, index)
        elif _RUN_START.search(line) or _COMMAND.search(line):
            yield from run.open_rows.values()
            run = _started(run, line)
        else:
            _note(run, line)
    yield from run.open_rows.values()


def _started(before: _Run, line: str) -> _Run:
    """A new run; a command line's flags hold for the client that the next line announces."""
    command = _COMMAND.search(line)
    if command:
        parallel = _PARALLEL.search(command["flags"])
        count = int(parallel["count"]) if parallel else None
        return _Run(stream_count=count, is_reverse=_REVERSE_FLAG.search(command["flags"]) is not None)
    is_first = not before.streams
    run = _Run(is_server=_SERVER.search(line) is not None)
    if is_first:
        run.stream_count, run.is_reverse = before.stream_count, before.is_reverse
    _note(run, line)
    return run


def _note(run: _Run, line: str) -> None:
    stream = _STREAM.search(line)
    if stream and run.has_rows:
        run.streams, run.has_rows = set(), False
    if stream and len(run.streams) < MOST_STREAMS:
        run.streams.add(stream["id"])
    if "Reverse mode" in line:
        run.is_reverse = True
    if "UDP port" in line or "Datagrams" in line:
        run.protocol, run.counts_datagrams = "udp", True
    elif "TCP port" in line or ("Interval" in line and "Retr" in line):
        run.protocol, run.counts_datagrams = "tcp", False


def _row(lines: Lines, index: int, line: str, found: re.Match[str], run: _Run) -> ThroughputRun:
    start_s, end_s = float(found["start"]), float(found["end"])
    is_iperf3 = len(found["start"].partition(".")[2]) == 2
    run.has_rows = True
    if found["id"] != "SUM" and len(run.streams) < MOST_STREAMS:
        run.streams.add(found["id"])
    rest = found["rest"]
    datagrams = _DATAGRAMS.search(rest)
    retransmits = None if datagrams or run.counts_datagrams else _RETRANSMITS.match(rest)
    return ThroughputRun(
        source=source(lines, "iperf3" if is_iperf3 else "iperf"),
        quotes=(quote(lines, index, line),),
        tool="iperf3" if is_iperf3 else "iperf",
        rate_bits_per_s=_rate(found["rate"], found["rate_unit"]),
        role=_role(found, run, is_iperf3),
        protocol=_protocol(run, datagrams is not None, is_iperf3 and (retransmits is not None or "er" in rest)),
        stream_count=_stream_count(found["id"], run, found["direction"] is not None),
        duration_s=round(end_s - start_s, 4),
        transferred_bytes=_size(found["size"], found["size_unit"]),
        retransmits_packets=int(retransmits["packets"]) if retransmits else None,
        congestion_window_bytes=_size(retransmits["window"], retransmits["window_unit"])
        if retransmits and retransmits["window"]
        else None,
        lost_ratio=_lost(datagrams) if datagrams else None,
        jitter_s=float(datagrams["jitter"]) / 1e3 if datagrams else None,
        is_reverse=run.is_reverse or (found["direction"] or "").startswith("RX"),
    )


def _role(found: re.Match[str], run: _Run, is_iperf3: bool) -> Role:
    is_sum = found["id"] == "SUM"
    rest = found["rest"]
    if "receiver" in rest:
        return "sum-receiver" if is_sum else "receiver"
    if "sender" in rest:
        return "sum-sender" if is_sum else "sender"
    if is_iperf3 or float(found["start"]) > 0:
        return "interval"
    if is_sum:
        return "sum-receiver" if run.is_server else "sum-sender"
    return "mean"


def _settled(run: _Run, found: re.Match[str], row: ThroughputRun) -> Iterator[ThroughputRun]:
    """Rows whose role is known by now. iperf 2 marks neither intervals nor totals: both may start at 0."""
    if row.tool == "iperf3":
        yield row
        return
    earlier = run.open_rows.pop(found["id"], None)
    if earlier is not None:
        yield msgspec.structs.replace(earlier, role="interval") if float(found["start"]) > 0 else earlier
    if float(found["start"]) > 0 or len(run.open_rows) >= MOST_STREAMS:
        yield row
    else:
        run.open_rows[found["id"]] = row


def _protocol(run: _Run, has_jitter: bool, is_tcp_row: bool) -> str | None:
    if has_jitter:
        return "udp"
    return run.protocol or ("tcp" if is_tcp_row else None)


def _stream_count(stream: str, run: _Run, goes_both_ways: bool) -> int | None:
    """Streams a figure sums up; unknown for one stream of several, whose rate is a share of a common one."""
    seen = len(run.streams) // 2 if goes_both_ways else len(run.streams)
    known = run.stream_count or seen or None
    if stream == "SUM":
        return known if known != 1 else None
    return 1 if known == 1 else None


def _rate(number: str, unit: str) -> float:
    """Bits count in thousands and bytes in 1,024s, as iperf prints them."""
    return rate_in_bits_per_s(_float(number), _binary(unit)) or 0.0


def _size(number: str, unit: str) -> float | None:
    return size_in_bytes(_float(number), _binary(unit))


def _binary(unit: str) -> str:
    return unit.replace("Bytes", "iBytes") if "Bytes" in unit and unit[0] != "B" else unit


def _float(number: str) -> float:
    try:
        return float(number)
    except ValueError:
        return 0.0


def _lost(datagrams: re.Match[str]) -> float | None:
    total = int(datagrams["total"])
    return int(datagrams["lost"]) / total if total else None


def _cut_row(lines: Lines, index: int) -> Problem:
    return Problem(
        source=source(lines, "iperf3"),
        why=Text(en="this iperf row is cut or damaged", zh="该 iperf 行不完整或已损坏"),
        line_index=index,
    )


READER = Reader(
    title=Text(en="iperf3 and iperf", zh="iperf3 与 iperf"),
    gives=(ThroughputRun,),
    recognises=marked(_BEGUN),
    read=_read,
    obtained_by=("iperf3 -c PEER -t 10", "iperf3 -c PEER -t 10 -P 8"),
)
