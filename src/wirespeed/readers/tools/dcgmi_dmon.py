"""`dcgmi dmon`: a line per entity and sample under columns of DCGM's short field names (dcgmi/DeviceMonitor.cpp)."""

import re
from collections.abc import Iterator

from wirespeed.model.facts.gpu import Gpu, NvLink
from wirespeed.model.kinds import Reader
from wirespeed.model.lines import Lines, quote, source
from wirespeed.model.record import Record
from wirespeed.model.source import Problem, Quote
from wirespeed.model.text import Text
from wirespeed.readers.parsing import dcgm_fields as dcgm
from wirespeed.readers.parsing import gpu_figures as figures
from wirespeed.readers.parsing.marks import marked
from wirespeed.readers.parsing.regex import regex

_TOOL = "dcgmi dmon"
_HEADING = regex(r"^#\s?Entity\s+(?P<columns>[A-Z][A-Z0-9]{1,9}(?:\s+[A-Z][A-Z0-9]{1,9}){0,63})\s*$")
_ROW = regex(r"^\s*GPU (?P<gpu>\d{1,3})\s+(?P<cells>\S.*)$")
_CUT = Text(en="a row of dcgmi dmon has another number of cells than its heading", zh="dcgmi dmon 的一行与表头列数不同")


def _read(lines: Lines) -> Iterator[Record | Problem]:
    columns: list[str] = []
    above: Quote | None = None
    for index, line in lines:
        heading, row = _HEADING.match(line), _ROW.match(line)
        if heading:
            columns, above = heading["columns"].split(), quote(lines, index, line)
        elif row and above is not None:
            cells = row["cells"].split()
            if len(cells) != len(columns):
                yield Problem(source=source(lines, _TOOL), why=_CUT, line_index=index)
                continue
            yield from _records(lines, int(row["gpu"]), dict(zip(columns, cells, strict=True)), (above, quote(lines, index, line)))


def _records(lines: Lines, gpu: int, cells: dict[str, str], quotes: tuple[Quote, ...]) -> Iterator[Record]:
    values = [
        (dcgm.BY_COLUMN[column], value)
        for column, cell in cells.items()
        if column in dcgm.BY_COLUMN and (value := dcgm.value(cell)) is not None
    ]
    if values:
        yield dcgm.gpu_of(source(lines, _TOOL), quotes, gpu, values)
    counts: dict[str, int] = {}
    for column, name in dcgm.NVLINK_BY_COLUMN.items():
        value = dcgm.value(cells.get(column, ""))
        if value is not None:
            counts[name] = counts.get(name, 0) + int(value)
    if counts:
        yield NvLink(
            source=source(lines, _TOOL),
            quotes=quotes,
            missing={"link_index": "absent"},
            gpu_index=gpu,
            link_index=figures.ALL_LINKS,
            is_active=None,
            **counts,
        )


READER = Reader(
    title=Text(en="dcgmi dmon", zh="dcgmi dmon"),
    gives=(Gpu, NvLink),
    recognises=marked(regex(_HEADING.pattern, re.MULTILINE)),
    read=_read,
    obtained_by=("dcgmi dmon -e 100,112,113,150,155,202,203,230,235,236,237,238 -c 10",),
)
