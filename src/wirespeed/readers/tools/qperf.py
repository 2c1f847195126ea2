"""qperf: one test after another (`tcp_bw:`), each with its figures, and with `-v` what was used and how busy the processors were.

Units are decimal and change with the size of the number; a latency is the time of one way, half of the exchange (linux-rdma/qperf,
src/qperf.c: view_band, view_time, calc_results). Bits are printed with `-ub` only.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from wirespeed.model.kinds import Reader
from wirespeed.model.lines import Lines, quote, source
from wirespeed.model.measurement import MessageLatency, ThroughputRun
from wirespeed.model.record import Record
from wirespeed.model.source import Problem, Quote
from wirespeed.model.text import Text
from wirespeed.model.units import rate_in_bits_per_s, size_in_bytes, time_in_s, whole
from wirespeed.readers.parsing.marks import marked
from wirespeed.readers.parsing.regex import regex

_TESTS = r"(?:(?:tcp|udp|sctp|sdp|rds|rc|uc|ud|xrc)_(?:bi_)?(?:bw|lat)|(?:rc|uc)_rdma_(?:read|write)_(?:bw|lat|poll_lat)|(?:rc|uc)_rdma_write_poll_lat)"
_TEST = regex(rf"^(?:[\w.-]+: )?\s*(?P<test>{_TESTS}):\s*$")
_FIGURE = regex(
    r"^(?:[\w.-]+: )?\s+(?P<name>[a-z][a-z_]{1,24})\s+=\s+(?P<number>[\d,]{1,20}(?:\.\d{1,12})?)(?: (?P<unit>[A-Za-z%/]{1,10}(?: cpus)?))?(?: \([\d,]{1,24}\))?\s*$"
)
_RECOGNISED = regex(rf"(?m)^(?:[\w.-]+: )?\s*{_TESTS}:\s*\n(?:[\w.-]+: )?\s+[a-z_]{{2,24}}\s+=\s+\d")
_FULL_PERCENT = 100.0


@dataclass(slots=True)
class _Test:
    """One test and its figures so far: value, unit and line by name."""

    name: str
    title: Quote
    figures: dict[str, tuple[float, str, Quote]] = field(default_factory=dict)


def _read(lines: Lines) -> Iterator[Record | Problem]:
    test: _Test | None = None
    for index, line in lines:
        title = _TEST.match(line)
        if title:
            yield from _finished(lines, test)
            test = _Test(title["test"], quote(lines, index, line))
        elif test is not None and (found := _FIGURE.match(line)):
            test.figures.setdefault(
                found["name"], (float(found["number"].replace(",", "")), found["unit"] or "", quote(lines, index, line))
            )
        elif test is not None and line.strip():
            yield from _finished(lines, test)
            test = None
    yield from _finished(lines, test)


def _finished(lines: Lines, test: _Test | None) -> Iterator[Record | Problem]:
    if test is None:
        return
    is_rdma = test.name.split("_")[0] in ("rc", "uc", "ud", "xrc")
    size = test.figures.get("msg_size")
    size_bytes = whole(size_in_bytes(size[0], size[1])) if size else None
    protocol = "rdma" if is_rdma else test.name.split("_")[0]
    made = False
    for name in ("bw", "send_bw", "recv_bw"):
        figure = test.figures.get(name)
        rate = _rate(figure) if figure else None
        if figure and rate is not None:
            made = True
            yield _throughput(lines, test, name, rate, protocol, size_bytes)
    figure = test.figures.get("latency")
    latency_s = time_in_s(figure[0], figure[1].removesuffix("ec")) if figure else None
    if figure and latency_s is not None:
        made = True
        yield MessageLatency(
            source=source(lines, "qperf"),
            quotes=(test.title, figure[2]),
            tool="qperf",
            is_round_trip="rdma_read" in test.name,
            protocol=protocol,
            size_bytes=size_bytes,
            latency_mean_s=latency_s,
        )
    if not made:
        yield Problem(
            source=source(lines, "qperf"),
            why=Text(en="this qperf test is cut before its result", zh="该 qperf 测试在结果之前被截断"),
            line_index=test.title.line_index,
        )


def _rate(figure: tuple[float, str, Quote]) -> float | None:
    """Bits per second of `1.17 GB/sec`, `940 Mb/sec` or `512 bytes/sec`."""
    unit = figure[1]
    return rate_in_bits_per_s(figure[0], unit)


def _throughput(
    lines: Lines, test: _Test, name: str, rate_bits_per_s: float, protocol: str, size_bytes: int | None
) -> ThroughputRun:
    cpus = [test.figures.get(f"{side}_cpus_used") for side in ("loc", "rem")]
    if not any(cpus):
        cpus = [test.figures.get(f"{side}_cpus_used") for side in ("send", "recv")]
    shown = (test.title, test.figures[name][2], *(one[2] for one in cpus if one))
    return ThroughputRun(
        source=source(lines, "qperf"),
        quotes=shown,
        tool="qperf",
        rate_bits_per_s=rate_bits_per_s,
        role={"send_bw": "sender", "recv_bw": "receiver"}.get(name, "mean"),  # type: ignore[arg-type]
        protocol=protocol,
        stream_count=1,
        size_bytes=size_bytes,
        is_both_ways="_bi_" in test.name,
        cpu_local_ratio=cpus[0][0] / _FULL_PERCENT if cpus[0] else None,
        cpu_remote_ratio=cpus[1][0] / _FULL_PERCENT if cpus[1] else None,
    )


READER = Reader(
    title=Text(en="qperf", zh="qperf"),
    gives=(ThroughputRun, MessageLatency),
    recognises=marked(_RECOGNISED),
    read=_read,
    obtained_by=("qperf PEER -v tcp_bw tcp_lat",),
)
