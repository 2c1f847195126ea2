"""perftest (`ib_write_bw`, `ib_read_bw`, `ib_send_lat` ...): rows of bandwidth or latency, and how the test was set up.

Columns are taken by their heading, so that the forms with service levels, ports, CPU use and runs by duration are one
(linux-rdma/perftest, src/perftest_parameters.h, RESULT_FMT*). Of a test of two ports the sum is read.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from wirespeed.model.kinds import Reader
from wirespeed.model.lines import Lines, quote, source
from wirespeed.model.measurement import MessageLatency, ThroughputRun
from wirespeed.model.record import Record
from wirespeed.model.settings import Setting
from wirespeed.model.source import Problem, Quote
from wirespeed.model.text import Text
from wirespeed.readers.parsing.marks import marked
from wirespeed.readers.parsing.perftest_rows import Test, bandwidth_runs, latency
from wirespeed.readers.parsing.regex import regex

_TITLE = regex(
    r"\b(?P<verb>RDMA_Write(?:_imm)?|RDMA_Read|Send(?:_imm)?|Atomic[\w ]{0,40}?)\s+(?:Post List )?(?P<both>Bidirectional )?(?:Post List )?"
    r"(?P<what>BW|Latency)\s+Test"
)
_COMMAND = regex(r"\b(?P<tool>ib_(?:write|read|send|atomic)_(?:bw|lat))\b(?P<rest>.*)")
_BOTH_WAYS_FLAG = regex(r"\s(?:-b|--bidirectional)(?:\s|$)")
_GPU_FLAG = regex(r"--use_(?:cuda|rocm|hl|musa)\b")
_GPU_BUFFER = regex(
    r"allocated (?:\d{1,20} bytes of )?GPU buffer|cuMemAlloc\(\) of a \d{1,20} bytes GPU|ROCm? buffer|hipMalloc\(\) of"
)
_HEADING = regex(r"#bytes\s+(?:#sl\s+)?#iterations\s+\S")
_COLUMN = regex(
    r"(?P<bytes>#bytes)|#sl|#iterations|BW (?P<bandwidth>peak|average)\[(?P<unit>Gb|MB|MiB)/sec\]|MsgRate\[Mpps\]"
    r"|BW Port\d\[\w+/sec\]|MsgRate Port\d\[Mpps\]|t_(?P<time>min|max|typical|avg|stdev)\[usec\]|(?P<quantile>99(?:\.9)?)% percentile\[usec\]"
    r"|tps average|CPU_Util\[%{1,2}\]"
)
_QPS = regex(r"\((?P<count>\d{1,15}) QPs?\)")
_ROW = regex(r"^(?:[\w.-]+:)?\s*(?P<numbers>\d{1,15}\s+\d{1,15}(?:\s+-?\d{1,15}(?:\.\d+)?)*)\s*$")
_STARTS_AS_ROW = regex(r"^(?:[\w.-]+:)?\s*\d{1,15}\s+\d{1,15}\s")
_SETUP = regex(
    r"(?P<name>Number of qps|Device|Transport type|Connection type|Mtu|Link type|GID index|rdma_cm QPs|PCIe relax order)\s*:\s*(?P<setting>\S+)"
)
_LEADING_NUMBER = regex(r"^(?P<number>\d{1,15})(?:\[(?P<unit>\w+)\])?$")
_LEAST_COLUMNS = 3


@dataclass(slots=True)
class _Reading:
    """What earlier lines told about the rows to come."""

    test: Test = field(default_factory=Test)
    is_known: bool = False
    """A title, command or table of perftest was seen, so that lines of general names are its own."""
    heading: Quote | None = None
    columns: tuple[str, ...] = ()
    unit: str = "gb"
    has_rows: bool = False
    """Rows of the test were read: a title, a command or a GPU buffer that follows belongs to the next test."""


def _read(lines: Lines) -> Iterator[Record | Problem]:
    now = _Reading()
    for index, line in lines:
        if _HEADING.search(line):
            _begin_table(now, line, quote(lines, index, line))
        elif now.heading is not None and _STARTS_AS_ROW.match(line):
            yield from _row(lines, index, line, now)
        elif line.strip().startswith("----"):
            now.heading = None
        else:
            yield from _setup(lines, index, line, now)


def _begin_table(now: _Reading, line: str, heading: Quote) -> None:
    found = tuple(_COLUMN.finditer(line))
    now.heading, now.is_known = heading, True
    now.columns = tuple(_name(one) for one in found)
    now.unit = next((one["unit"].lower() for one in found if one["unit"]), now.unit)
    qps = _QPS.search(line)
    if qps:
        now.test.qps = int(qps["count"])


def _name(column: re.Match[str]) -> str:
    """Short name of a column; empty where nothing is made of it."""
    return "bytes" if column["bytes"] else column["bandwidth"] or column["time"] or column["quantile"] or ""


def _row(lines: Lines, index: int, line: str, now: _Reading) -> Iterator[Record | Problem]:
    assert now.heading is not None
    found = _ROW.match(line)
    numbers = [float(word) for word in found["numbers"].split()] if found else []
    row = {name: number for name, number in zip(now.columns, numbers, strict=False) if name}
    quotes = (now.heading, quote(lines, index, line))
    wanted = set(now.columns) - {""}
    if len(numbers) < _LEAST_COLUMNS or not wanted <= row.keys():
        yield Problem(
            source=source(lines, now.test.tool),
            why=Text(en="this row of a perftest table is cut or damaged", zh="perftest 表中的这一行不完整或已损坏"),
            line_index=index,
        )
    elif "average" in row:
        now.has_rows = True
        yield from bandwidth_runs(lines, quotes, now.test, int(row["bytes"]), now.unit, row)
    elif "avg" in row:
        now.has_rows = True
        yield latency(lines, quotes, now.test, int(row["bytes"]), row)


def _setup(lines: Lines, index: int, line: str, now: _Reading) -> Iterator[Setting]:
    title, command, is_on_gpu = _TITLE.search(line), _COMMAND.search(line), _GPU_BUFFER.search(line) is not None
    if now.has_rows and (title or command or is_on_gpu):
        now.test, now.has_rows = Test(), False
    if title:
        now.test.tool = _tool(title)
        now.test.qps = None
        now.test.is_both_ways = now.test.is_both_ways or title["both"] is not None
    elif command:
        now.test.tool = command["tool"]
        now.test.is_both_ways = _BOTH_WAYS_FLAG.search(command["rest"]) is not None
        is_on_gpu = is_on_gpu or _GPU_FLAG.search(command["rest"]) is not None
    if is_on_gpu:
        now.test.memory = "gpu"
    now.is_known = now.is_known or title is not None or command is not None
    for found in _SETUP.finditer(line) if now.is_known else ():
        leading = _LEADING_NUMBER.match(found["setting"])
        if found["name"] == "Number of qps" and leading:
            now.test.qps = int(leading["number"])
        yield Setting(
            source=source(lines, now.test.tool),
            quotes=(quote(lines, index, line),),
            name=found["name"],
            setting=found["setting"],
            value=float(leading["number"]) if leading else None,
            unit=leading["unit"] if leading else None,
        )


def _tool(title: re.Match[str]) -> str:
    """The program's name by the title of its output: `RDMA_Write BW Test` is ib_write_bw."""
    verb = title["verb"].removeprefix("RDMA_").split()[0].split("_")[0].lower()
    return f"ib_{verb}_{'bw' if title['what'] == 'BW' else 'lat'}"


READER = Reader(
    title=Text(en="perftest (RDMA bandwidth and latency)", zh="perftest（RDMA 带宽与时延）"),
    gives=(ThroughputRun, MessageLatency, Setting),
    recognises=marked(_HEADING, _TITLE),
    read=_read,
    obtained_by=("ib_write_bw -d DEVICE -F --report_gbits PEER",),
)
