"""mtr reports: the text table (any column order), rows quoted alone, and CSV."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

import msgspec

from wirespeed.model.kinds import Reader
from wirespeed.model.lines import Lines, quote, source
from wirespeed.model.measurement import PathHop
from wirespeed.model.record import Record
from wirespeed.model.source import Problem, Quote
from wirespeed.model.text import Text
from wirespeed.model.units import whole
from wirespeed.readers.parsing.marks import marked
from wirespeed.readers.parsing.regex import regex

_DEFAULT_COLUMNS = ("Loss%", "Snt", "Last", "Avg", "Best", "Wrst", "StDev")
_CSV_COLUMNS = (
    "Mtr_Version",
    "Start_Time",
    "Status",
    "Host",
    "Hop",
    "Ip",
    "Loss%",
    "Snt",
    "",
    "Last",
    "Avg",
    "Best",
    "Wrst",
    "StDev",
)

_HEADING = regex(r"(?:HOST: \S+|\bHost)\s+(?P<columns>(?:[A-Z][A-Za-z]*%?\s+)*Loss%.*\S)")
_ROW = regex(
    r"^(?:\[?[\w.-]{1,64}\]?: ?)?\s*(?P<hop>\d{1,3})\.(?:\|--)?\s+(?:AS\S+\s+)?(?P<address>\S+(?: \([^)\s]+\))?)\s+(?P<numbers>\d[\d.]*%?(?:\s+\d[\d.]*%?)+)\s*$"
)
_STARTS_AS_ROW = regex(r"^\s*\d{1,3}\.\|-- ")
_CSV_HEADING = regex(r"^Mtr_Version[,;]")
_CSV_ROW = regex(r"^MTR\.\d[^,;]*(?P<separator>[,;])")
_MARK = regex(
    r"(?m)^[ \t]*\d{1,3}\.\|-- |^HOST: .{1,400}Loss%|^Mtr_Version[,;]|^MTR\.\d[^,;]*[,;]|^[ \t]*\d{1,3}\. \S.{0,200}\s\d{1,15}(?:\.\d+)?%\s+\d{1,15}\s+\d"
)


@dataclass(slots=True)
class _Table:
    """The table being read; the newest hop waits until it is known whether another follows."""

    columns: tuple[str, ...] = _DEFAULT_COLUMNS
    csv_columns: tuple[str, ...] = _CSV_COLUMNS
    is_whole: bool = False
    """It began with a heading or at hop 1, so its last row is the last hop and not merely the last one quoted."""
    waiting: PathHop | None = None


def _read(lines: Lines) -> Iterator[Record | Problem]:
    table = _Table()
    for index, line in lines:
        heading = _HEADING.search(line)
        if heading and "Loss%" in heading["columns"].split():
            yield from _last(table)
            table = _Table(columns=tuple(heading["columns"].split()), is_whole=True)
        elif _CSV_HEADING.match(line):
            yield from _last(table)
            table = _Table(csv_columns=tuple(name.strip() for name in re.split("[,;]", line.strip())), is_whole=True)
        else:
            hop = _hop(line, table, lines, quote(lines, index, line))
            if isinstance(hop, PathHop):
                yield from _follow(table, hop)
            elif hop is not None:
                yield from _broken_off(table)
                yield hop
            elif line.strip() and not line[0].isspace():
                yield from _last(table)
                table = _Table()
    yield from _last(table)


def _follow(table: _Table, hop: PathHop) -> Iterator[PathHop]:
    """Let the waiting hop go; a hop number that does not grow begins a new table."""
    waiting = table.waiting
    if waiting is not None and hop.hop_index <= waiting.hop_index:
        yield from _last(table)
        table.is_whole = False
    elif waiting is not None:
        yield waiting
    table.is_whole = table.is_whole or hop.hop_index == 1
    table.waiting = hop


def _broken_off(table: _Table) -> Iterator[PathHop]:
    """A row that cannot be read follows, so the waiting hop is not the last."""
    if table.waiting is not None:
        yield table.waiting
        table.waiting = None


def _last(table: _Table) -> Iterator[PathHop]:
    if table.waiting is not None:
        yield msgspec.structs.replace(table.waiting, is_last=table.is_whole)
        table.waiting = None


def _hop(line: str, table: _Table, lines: Lines, row: Quote) -> PathHop | Problem | None:
    csv = _CSV_ROW.match(line)
    if csv:
        return _csv_hop(line, csv["separator"], table, lines, row)
    found = _ROW.match(line)
    if found is None:
        return _damaged(lines, row) if _STARTS_AS_ROW.match(line) else None
    numbers = found["numbers"].split()
    if len(numbers) < len(table.columns) or "%" not in numbers[table.columns.index("Loss%")]:
        return _damaged(lines, row) if _STARTS_AS_ROW.match(line) else None
    cells = dict(zip(table.columns, numbers, strict=False))
    return _made(lines, row, int(found["hop"]), found["address"], cells)


def _csv_hop(line: str, separator: str, table: _Table, lines: Lines, row: Quote) -> PathHop | Problem:
    cells = dict(zip(table.csv_columns, (cell.strip() for cell in line.split(separator)), strict=False))
    if not cells.get("Hop", "").isdecimal() or _number(cells, "Loss%") is None or "Ip" not in cells:
        return _damaged(lines, row)
    return _made(lines, row, int(cells["Hop"]), cells["Ip"], cells)


def _made(lines: Lines, row: Quote, hop_index: int, address: str, cells: dict[str, str]) -> PathHop:
    loss = _number(cells, "Loss%")
    sent = _number(cells, "Snt")
    is_silent = address == "???"
    return PathHop(
        source=source(lines, "mtr"),
        quotes=(row,),
        hop_index=hop_index,
        address=None if is_silent else address,
        sent_count=whole(sent),
        loss_ratio=None if loss is None else loss / 100.0,
        rtt_mean_s=None if is_silent else _milliseconds(cells, "Avg"),
        rtt_min_s=None if is_silent else _milliseconds(cells, "Best"),
        rtt_max_s=None if is_silent else _milliseconds(cells, "Wrst"),
        rtt_deviation_s=None if is_silent else _milliseconds(cells, "StDev"),
    )


def _number(cells: dict[str, str], name: str) -> float | None:
    try:
        return float(cells[name].rstrip("%"))
    except (KeyError, ValueError):
        return None


def _milliseconds(cells: dict[str, str], name: str) -> float | None:
    value = _number(cells, name)
    return None if value is None else round(value / 1e3, 9)


def _damaged(lines: Lines, row: Quote) -> Problem:
    return Problem(
        source=source(lines, "mtr"),
        why=Text(en="this row of an mtr report is cut or damaged", zh="mtr 报告中的这一行不完整或已损坏"),
        line_index=row.line_index,
    )


READER = Reader(
    title=Text(en="mtr report", zh="mtr 报告"),
    gives=(PathHop,),
    recognises=marked(_MARK),
    read=_read,
    obtained_by=("mtr -r -n -c 100 PEER",),
)
