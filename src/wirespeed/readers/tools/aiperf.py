"""AIPerf and genai-perf: the table on the terminal, and the CSV file (`profile_export_aiperf.csv`, `profile_export_genai_perf.csv`).

Their inter token latency is the time per token after the first, one figure a request: TPOT here. Gaps between chunks are ITL.
"""

import csv
from collections.abc import Iterator

from wirespeed.model.kinds import Reader
from wirespeed.model.lines import Lines, quote, source
from wirespeed.model.measurement import ServingMetric
from wirespeed.model.record import Record
from wirespeed.model.source import Problem, Quote
from wirespeed.model.text import Text
from wirespeed.readers.parsing.marks import marked
from wirespeed.readers.parsing.regex import regex
from wirespeed.readers.parsing.serving_points import AIPERF_NAMES, Point, in_seconds, point

_TOOL = "aiperf"
_TITLE = regex(r"NVIDIA (?:AIPerf|GenAI-Perf) \|")
_HEADING = regex(r"^\s*┃\s*(?:Metric|Statistic)\s*┃(?P<names>(?:\s*(?:avg|min|max|p\d{1,2}(?:\.\d)?|std)\s*┃)+)\s*$")
_CSV_HEADING = regex(r"^Metric,(?:avg|min|max|p\d{1,2}|std|sum|count|Value)(?:,(?:avg|min|max|p\d{1,2}|std|sum|count)){0,20}\s*$")
_LABEL = regex(r"^(?P<label>[A-Za-z][A-Za-z ]{2,60}?)(?: \((?P<unit>[\w/ ]{1,24})\))?$")
_KEPT = frozenset({"avg", "p50", "p90", "p95", "p99", "max", "Value"})
_NUMBER = regex(r"^\d{1,15}(?:,\d{3}){0,5}(?:\.\d{1,12})?$")


def _read(lines: Lines) -> Iterator[Record | Problem]:
    run: Point | None = None
    columns: tuple[str, ...] = ()
    is_csv = False
    heading: Quote | None = None
    for index, line in lines:
        found, csv_found = _HEADING.match(line), _CSV_HEADING.match(line)
        if _TITLE.search(line):
            run, columns = point(lines, _TOOL, index), ()
        elif found or csv_found:
            names = found["names"].split("┃") if found else line.strip().split(",")[1:]
            columns, is_csv, heading = (
                tuple(name.strip() for name in names if name.strip()),
                csv_found is not None,
                quote(lines, index, line),
            )
            is_second_section = columns == ("Value",) and run is not None
            run = run if run is not None and (not is_csv or is_second_section) else point(lines, _TOOL, index)
        elif columns and run is not None and heading is not None:
            cells = _csv_cells(line) if is_csv else _table_cells(line)
            if cells is None or not cells[0]:
                columns = columns if is_csv and not line.strip() else columns if line[:1] in "│┡└ " else ()
                continue
            yield from _row(lines, run, columns, cells, (heading, quote(lines, index, line)))


def _table_cells(line: str) -> list[str] | None:
    text = line.strip()
    return [cell.strip() for cell in text.strip("│").split("│")] if text.startswith("│") else None


_NO_CELL = {ord(character): None for character in "\0\r\n"}
"""The csv module refuses these inside a line."""


def _csv_cells(line: str) -> list[str] | None:
    row = next(csv.reader([line[:4_000].translate(_NO_CELL)]), [])
    return [cell.strip() for cell in row] if len(row) > 1 else None


def _row(
    lines: Lines, run: Point, columns: tuple[str, ...], cells: list[str], quotes: tuple[Quote, ...]
) -> Iterator[Record | Problem]:
    label = _LABEL.match(cells[0])
    known = AIPERF_NAMES.get(label["label"].lower()) if label else None
    if label is None or known is None:
        return
    if len(cells) != len(columns) + 1:
        yield Problem(
            source=source(lines, _TOOL),
            why=Text(en="a row of this table has another number of cells than its heading", zh="该表的一行与表头列数不同"),
            line_index=quotes[-1].line_index,
        )
        return
    for statistic, cell in zip(columns, cells[1:], strict=True):
        if statistic not in _KEPT or not _NUMBER.match(cell):
            continue
        value = float(cell.replace(",", ""))
        seconds = in_seconds(value, label["unit"] or "") if known.endswith("_s") and not known.endswith("_per_s") else value
        if seconds is not None:
            yield run.metric(lines, quotes, known, seconds, "" if statistic == "Value" else statistic)


READER = Reader(
    title=Text(en="AIPerf and genai-perf results", zh="AIPerf 与 genai-perf 结果"),
    gives=(ServingMetric,),
    recognises=marked(_TITLE, r"(?m)^\s*┃\s*(?:Metric|Statistic)\s*┃\s*avg\s*┃", r"(?m)^Metric,avg,min,max,"),
    read=_read,
    obtained_by=("aiperf profile --model MODEL --url http://SERVER:8000 --endpoint-type chat --streaming --concurrency 16",),
)
