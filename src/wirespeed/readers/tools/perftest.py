"""perftest (`ib_write_bw`, `ib_read_bw`, `ib_send_lat` ...): rows of bandwidth or latency, and how the test was set up."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from wirespeed.model.kinds import Reader
from wirespeed.model.lines import Lines, quote, source
from wirespeed.model.measurement import ThroughputRun
from wirespeed.model.record import Record
from wirespeed.model.settings import Setting
from wirespeed.model.source import Problem, Quote
from wirespeed.model.text import Text

BITS_PER_S = {"gb": 1e9, "mb": 8.0 * 2**20, "mib": 8.0 * 2**20}
"""perftest divides by 2^20 for MB/sec (older) and MiB/sec (newer), and by 1e9 bits for Gb/sec."""

_TITLE = re.compile(
    r"\b(?P<verb>RDMA_Write|RDMA_Read|Send|Atomic[\w ]*?)\s+(?:Post List )?(?:Bidirectional )?(?P<what>BW|Latency)\s+Test"
)
_COMMAND = re.compile(r"\b(?P<tool>ib_(?:write|read|send|atomic)_(?:bw|lat))\b")
_COLUMNS = re.compile(r"#bytes\s+#iterations\s+(?P<columns>\S.*)")
_BANDWIDTH_UNIT = re.compile(r"BW average\[(?P<unit>Gb|MB|MiB)/sec\]")
_LATENCY_COLUMN = re.compile(r"(?P<name>(?:t_\w+|99(?:\.9+)?% percentile))\[usec\]")
_QPS = re.compile(r"\((?P<count>\d{1,15}) QPs?\)")
_ROW = re.compile(r"^(?:[\w.-]+:)?\s*(?P<bytes>\d{1,15})\s+(?P<iterations>\d{1,15})(?P<numbers>(?:\s+-?\d{1,15}(?:\.\d+)?)*)\s*$")
_STARTS_AS_ROW = re.compile(r"^(?:[\w.-]+:)?\s*\d{1,15}\s+\d{1,15}\s")
_SETUP = re.compile(
    r"(?P<name>Number of qps|Device|Transport type|Connection type|Mtu|Link type|GID index|rdma_cm QPs|PCIe relax order)\s*:\s*(?P<setting>\S+)"
)
_LEADING_NUMBER = re.compile(r"^(?P<number>\d{1,15})(?:\[(?P<unit>\w+)\])?$")


@dataclass(slots=True)
class _Test:
    """What earlier lines told about the rows to come."""

    tool: str = "perftest"
    is_known: bool = False
    """A title, command or table of perftest was seen, so that lines of general names are its own."""
    qps: int | None = None
    header: Quote | None = None
    bandwidth_unit: str | None = None
    latency_columns: tuple[str, ...] = ()


def _read(lines: Lines) -> Iterator[Record | Problem]:
    test = _Test()
    for index, line in lines:
        columns = _COLUMNS.search(line)
        if columns:
            _begin_table(test, columns["columns"], quote(lines, index, line))
        elif test.header is not None and _STARTS_AS_ROW.match(line):
            yield from _row(lines, index, line, test)
        elif line.strip().startswith("----"):
            test.header = None
        else:
            yield from _setup(lines, index, line, test)


def _begin_table(test: _Test, columns: str, header: Quote) -> None:
    unit = _BANDWIDTH_UNIT.search(columns)
    qps = _QPS.search(columns)
    test.header, test.is_known = header, True
    test.bandwidth_unit = unit["unit"].lower() if unit else None
    test.latency_columns = tuple(found["name"] for found in _LATENCY_COLUMN.finditer(columns))
    if qps:
        test.qps = int(qps["count"])


def _row(lines: Lines, index: int, line: str, test: _Test) -> Iterator[Record | Problem]:
    found = _ROW.match(line)
    numbers = [float(word) for word in found["numbers"].split()] if found else []
    row = quote(lines, index, line)
    if found and test.bandwidth_unit and len(numbers) >= 2:
        yield from _bandwidth(lines, row, int(found["bytes"]), numbers, test)
    elif found and test.latency_columns and len(numbers) >= len(test.latency_columns):
        yield from _latencies(lines, row, numbers, test)
    else:
        yield Problem(
            source=source(lines, test.tool),
            why=Text(en="this row of a perftest table is cut or damaged", zh="perftest 表中的这一行不完整或已损坏"),
            line_index=index,
        )


def _bandwidth(lines: Lines, row: Quote, size_bytes: int, numbers: list[float], test: _Test) -> Iterator[ThroughputRun]:
    """The mean, and the peak where one was taken (runs by duration print 0)."""
    assert test.header is not None
    factor = BITS_PER_S[test.bandwidth_unit or "gb"]
    shown = (test.header, row)
    mean = ThroughputRun(
        source=source(lines, test.tool),
        quotes=shown,
        tool=test.tool,
        rate_bits_per_s=numbers[1] * factor,
        protocol="rdma",
        stream_count=test.qps,
        size_bytes=size_bytes,
    )
    yield mean
    if numbers[0] > 0:
        yield ThroughputRun(
            source=mean.source,
            quotes=shown,
            tool=test.tool,
            rate_bits_per_s=numbers[0] * factor,
            role="peak",
            protocol="rdma",
            stream_count=test.qps,
            size_bytes=size_bytes,
        )


def _latencies(lines: Lines, row: Quote, numbers: list[float], test: _Test) -> Iterator[Setting]:
    """One-way times (half of the round trip), by the column's own name."""
    assert test.header is not None
    for name, number in zip(test.latency_columns, numbers, strict=False):
        yield Setting(
            source=source(lines, test.tool),
            quotes=(test.header, row),
            name=f"{name}[usec]",
            setting=f"{number:g}",
            value=number,
            unit="us",
            duration_s=number / 1e6,
        )


def _setup(lines: Lines, index: int, line: str, test: _Test) -> Iterator[Setting]:
    title = _TITLE.search(line)
    command = _COMMAND.search(line)
    if title:
        verb = title["verb"].removeprefix("RDMA_").split()[0].lower()
        test.tool = f"ib_{verb}_{'bw' if title['what'] == 'BW' else 'lat'}"
        test.qps = None
    elif command:
        test.tool = command["tool"]
    test.is_known = test.is_known or title is not None or command is not None
    for found in _SETUP.finditer(line) if test.is_known else ():
        leading = _LEADING_NUMBER.match(found["setting"])
        if found["name"] == "Number of qps" and leading:
            test.qps = int(leading["number"])
        yield Setting(
            source=source(lines, test.tool),
            quotes=(quote(lines, index, line),),
            name=found["name"],
            setting=found["setting"],
            value=float(leading["number"]) if leading else None,
            unit=leading["unit"] if leading else None,
        )


READER = Reader(
    title=Text(en="perftest (RDMA bandwidth and latency)", zh="perftest（RDMA 带宽与时延）"),
    gives=(ThroughputRun, Setting),
    recognises=lambda sample: _COLUMNS.search(sample) is not None or _TITLE.search(sample) is not None,
    read=_read,
    obtained_by=("ib_write_bw -d DEVICE -F --report_gbits PEER",),
)
