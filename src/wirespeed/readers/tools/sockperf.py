"""sockperf: latency of ping-pong and under-load runs with its quantiles, and the rate of throughput runs.

Times are half of the exchange, unless `--full-rtt` was given (`Round trip`, `avg-rtt`). What sockperf calls MBps divides by 2^20 bytes, and
its Gbps by 1,000 of those (Mellanox/sockperf, src/client.cpp: client_statistics, stream_statistics).
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from wirespeed.model.kinds import Reader
from wirespeed.model.lines import Lines, quote, source
from wirespeed.model.measurement import MessageLatency, ThroughputRun
from wirespeed.model.record import Record
from wirespeed.model.source import Problem, Quote
from wirespeed.model.text import Text
from wirespeed.readers.parsing.marks import marked
from wirespeed.readers.parsing.regex import regex

_LINE = regex(r"(?:sockperf(?:\[CLIENT\])?: |^\s*)(?=\S)")
_BEGIN = regex(r"sockperf: == version #|\bsockperf(?:\.bin)? (?P<mode>pp|ping-pong|ul|under-load|tp|throughput)\b(?P<rest>.*)")
_DESTINATION = regex(r"\[ ?\d+\] (?:IP = \S+|ADDR = \S+)\s+(?:PORT =\s*\d+)?\s*# (?P<protocol>TCP|UDP)")
_SENT = regex(
    r"\[(?P<what>Total Run|Valid Duration)\] RunTime=[\d.]{1,20} sec;.{0,60}? SentMessages=(?P<sent>\d{1,19}); ReceivedMessages=\d{1,19}"
)
_MEAN = regex(r"====> avg-(?P<what>lat(?:ency)?|rtt)= *(?P<mean>\d{1,15}\.\d+) \(std-dev= *(?P<deviation>\d{1,15}\.\d+)")
_DROPPED = regex(
    r"# dropped messages = (?P<dropped>\d{1,19}); # duplicated messages = \d{1,19}; # out-of-order messages = \d{1,19}"
)
_SUMMARY = regex(r"Summary: (?P<what>Latency|Round trip) (?:of burst of \d{1,9} messages )?is \**(?P<mean>\d{1,15}\.\d+) usec")
_QUANTILE = regex(r"---> (?:(?P<end><?M(?:AX|IN)>?) observation|percentile +(?P<percent>\d{1,3}\.\d+)) = *\**(?P<us>\d{1,15}\.\d+)")
_RATE = regex(r"Summary: BandWidth is [\d.]{1,20} (?P<scale>[MG])Bps \((?P<bits>\d{1,15}\.\d+) [MG]bps\)")
_RECOGNISED = regex(
    r"sockperf: (?:== version|Summary|====>|--->|\[(?:Total|Valid))|Summary: (?:Latency|Round trip) is [\d.]+ usec|Summary: BandWidth is [\d.]+ [MG]Bps"
)
_SIZE_FLAG = regex(r"\s(?:-m|--msg-size)[ =](?P<bytes>\d{1,9})\b")
_US_PER_SECOND = 1e6
_BITS_OF_MBPS = {"M": 2.0**20, "G": 1000.0 * 2.0**20}
_QUANTILES = {"50.000": "p50_s", "99.000": "p99_s", "99.900": "p999_s"}


@dataclass(slots=True)
class _Run:
    """One run so far."""

    mode: str | None = None
    size_bytes: int | None = None
    protocol: str | None = None
    is_round_trip: bool = False
    times: dict[str, float] = field(default_factory=dict)
    sent_count: int | None = None
    dropped_count: int | None = None
    quotes: list[Quote] = field(default_factory=list)


def _read(lines: Lines) -> Iterator[Record | Problem]:
    run = _Run()
    for index, line in lines:
        if "sockperf" not in line and "=" not in line and "Summary" not in line:
            continue
        begin = _BEGIN.search(line)
        if begin:
            if run.times:
                yield _latency(lines, run)
                run = _Run()
            if begin["mode"]:
                run = _started(begin)
        elif rate := _RATE.search(line):
            yield _throughput(lines, quote(lines, index, line), rate, run)
        else:
            if _MEAN.search(line) and "deviation_s" in run.times:  # the next of several servers
                yield _latency(lines, run)
                run = _Run(mode=run.mode, size_bytes=run.size_bytes, protocol=run.protocol)
            if _take(run, line):
                run.quotes.append(quote(lines, index, line))
            elif "sockperf: ====>" in line or ("sockperf: --->" in line and not _QUANTILE.search(line)):
                yield _damaged(lines, index)
    if run.times:
        yield _latency(lines, run)


def _started(begin: re.Match[str]) -> _Run:
    size = _SIZE_FLAG.search(begin["rest"])
    return _Run(mode=begin["mode"], size_bytes=int(size["bytes"]) if size else None)


def _take(run: _Run, line: str) -> bool:
    """Take what a line says into the run; false when it says nothing."""
    if found := _DESTINATION.search(line):
        run.protocol = found["protocol"].lower()
        return False
    if found := _SENT.search(line):
        run.sent_count = int(found["sent"])
    elif found := _MEAN.search(line):
        run.is_round_trip = found["what"] == "rtt"
        run.times["mean_s"] = float(found["mean"]) / _US_PER_SECOND
        run.times["deviation_s"] = float(found["deviation"]) / _US_PER_SECOND
    elif found := _DROPPED.search(line):
        run.dropped_count = int(found["dropped"])
    elif found := _SUMMARY.search(line):
        run.is_round_trip = found["what"] == "Round trip"
        run.times["mean_s"] = float(found["mean"]) / _US_PER_SECOND
    elif found := _QUANTILE.search(line):
        ends = {"MAX": "max_s", "MIN": "min_s"}
        name = ends[found["end"].strip("<>")] if found["end"] else _QUANTILES.get(found["percent"])
        if name:
            run.times[name] = float(found["us"]) / _US_PER_SECOND
        return name is not None
    else:
        return False
    return True


def _latency(lines: Lines, run: _Run) -> MessageLatency:
    return MessageLatency(
        source=source(lines, "sockperf"),
        quotes=tuple(run.quotes),
        tool="sockperf",
        is_round_trip=run.is_round_trip,
        protocol=run.protocol,
        size_bytes=run.size_bytes,
        load="loaded" if run.mode in ("ul", "under-load") else "idle",
        sent_count=run.sent_count,
        dropped_count=run.dropped_count,
        latency_min_s=run.times.get("min_s"),
        latency_mean_s=run.times.get("mean_s"),
        latency_p50_s=run.times.get("p50_s"),
        latency_p99_s=run.times.get("p99_s"),
        latency_p999_s=run.times.get("p999_s"),
        latency_max_s=run.times.get("max_s"),
        latency_deviation_s=run.times.get("deviation_s"),
    )


def _throughput(lines: Lines, said: Quote, rate: re.Match[str], run: _Run) -> ThroughputRun:
    """What was sent: sockperf's throughput run does not ask what arrived."""
    return ThroughputRun(
        source=source(lines, "sockperf"),
        quotes=(said,),
        tool="sockperf",
        rate_bits_per_s=float(rate["bits"]) * _BITS_OF_MBPS[rate["scale"]],
        role="sender",
        protocol=run.protocol,
        stream_count=1,
        size_bytes=run.size_bytes,
    )


def _damaged(lines: Lines, index: int) -> Problem:
    return Problem(
        source=source(lines, "sockperf"),
        why=Text(en="this line of sockperf is cut or damaged", zh="该 sockperf 行不完整或已损坏"),
        line_index=index,
    )


READER = Reader(
    title=Text(en="sockperf", zh="sockperf"),
    gives=(MessageLatency, ThroughputRun),
    recognises=marked(_RECOGNISED),
    read=_read,
    obtained_by=("sockperf ping-pong -i PEER -p PORT --tcp -t 10 --full-rtt",),
)
