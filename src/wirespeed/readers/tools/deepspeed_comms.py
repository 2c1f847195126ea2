"""DeepSpeed's summary of a job's communication (`deepspeed.comm.log_summary()`): each operation and message size, with its mean time.

Sizes are in powers of 1,024 under decimal names, rates in Gb/s (deepspeed/utils/comms_logging.py).
"""

import re
from collections.abc import Iterator

from wirespeed.model.kinds import Reader
from wirespeed.model.lines import Lines, quote, source
from wirespeed.model.measurement import CollectiveTotal
from wirespeed.model.record import Record
from wirespeed.model.source import Problem, Quote
from wirespeed.model.text import Text
from wirespeed.model.units import size_in_bytes
from wirespeed.readers.parsing.marks import marked
from wirespeed.readers.parsing.regex import regex

_TOOL = "deepspeed-comms"
_HEADING = regex(r"Comm\. Op\s+Message Size\s+Count\s+Total Latency\(ms\)\s+Avg Latency\(ms\)")
_OPERATION = regex(r"^(?:[\w.-]+: ?)?(?P<name>[a-z][a-z0-9_]{2,40})(?: \| \[Caller Func: [\w.]{1,60}\])?\s*$")
_N = r"\d{1,15}(?:\.\d{1,6})?"
_ROW = regex(
    rf"^(?:[\w.-]+: ?)?\s{{4,}}(?P<size>{_N}) ?(?P<unit>[KMGT]?B)\s+(?P<count>\d{{1,12}})\s+(?P<total>{_N})\s+(?P<mean>{_N})(?:\s+(?P<rate>{_N})\s+(?P<bus>{_N}))?\s*$"
)
_MS_PER_SECOND, _BITS_PER_GBIT = 1e3, 1e9


def _read(lines: Lines) -> Iterator[Record | Problem]:
    heading: Quote | None = None
    operation: tuple[str, Quote] | None = None
    for index, line in lines:
        if _HEADING.search(line):
            heading, operation = quote(lines, index, line), None
        elif heading is None:
            continue
        elif row := _ROW.match(line):
            if operation is not None:
                yield _total(lines, operation, (heading, operation[1], quote(lines, index, line)), row)
        elif name := _OPERATION.match(line):
            operation = (name["name"], quote(lines, index, line))
        elif re.match(r"^\s{4,}\d", line):
            yield Problem(
                source=source(lines, _TOOL),
                why=Text(en="this row of the communication summary is cut or damaged", zh="通信汇总中的这一行不完整或已损坏"),
                line_index=index,
            )
        elif line.strip():
            heading = None


def _total(lines: Lines, operation: tuple[str, Quote], quotes: tuple[Quote, ...], row: re.Match[str]) -> CollectiveTotal:
    unit = row["unit"]
    size = size_in_bytes(float(row["size"]), f"{unit[0]}iB" if len(unit) == 2 else "B")
    bus = float(row["bus"]) * _BITS_PER_GBIT / 8 if row["bus"] else None
    return CollectiveTotal(
        source=source(lines, _TOOL),
        quotes=quotes,
        operation=operation[0],
        size_bytes=int(size or 0),
        operations_count=int(row["count"]),
        total_s=float(row["total"]) / _MS_PER_SECOND,
        mean_s=float(row["mean"]) / _MS_PER_SECOND,
        busbw_bytes_per_s=bus,
    )


READER = Reader(
    title=Text(en="DeepSpeed communication summary", zh="DeepSpeed 通信汇总"),
    gives=(CollectiveTotal,),
    recognises=marked(_HEADING),
    read=_read,
)
