"""Plain tables in text: cells apart by two blanks, a tab or a bar; a heading and at least two rows of as many cells, half numbers.

Markdown tables and tables drawn with box characters are read the same way; rules of dashes between heading and rows are skipped.
A heading that is indented may lack the name of the first column, as data frames print it; that column's name is then empty.
"""

from collections.abc import Iterator

from wirespeed.model.kinds import Reader
from wirespeed.model.lines import Lines, quote, source
from wirespeed.model.record import Record
from wirespeed.model.settings import Table
from wirespeed.model.source import Problem
from wirespeed.model.text import Text
from wirespeed.readers.parsing.marks import marked
from wirespeed.readers.parsing.regex import regex

FEWEST_ROWS = 2
MOST_ROWS = 2_000
MOST_CELLS = 64
MOST_LINE_CHARACTERS = 2_000

_BAR = regex(r"\s*[|│┃]\s*")
_GAP = regex(r"\s{2,}|\t")
_RULE = regex(r"^[\s|│┃├┤┼╞╡╪┌┐└┘┬┴+:=\-─━═]+$")
_NUMERIC = regex(r"^[<>~≈±+\-]?\d[\d,.]*(?:[eE][-+]?\d+)?\s?(?:[A-Za-z%µμ°/][\w/%]*)?$|^[\-–—]$|^(?i:n/a|nan|inf)$")
_LETTER = regex(r"[^\W\d_]")
_RECOGNISED = regex(r"\S(?:  |\t|\s?[|│┃])")

Row = tuple[int, str, tuple[str, ...]]


def _read(lines: Lines) -> Iterator[Record | Problem]:
    heading: Row | None = None
    rows: list[Row] = []
    for index, line in lines:
        if heading is not None and _RULE.match(line) and line.strip():
            continue
        cells = _cells(line)
        if heading is not None and not rows:
            heading = _with_index_column(heading, cells)
        if heading is not None and len(cells) == len(heading[2]) and _is_row(cells) and len(rows) < MOST_ROWS:
            rows.append((index, line, cells))
            continue
        yield from _table(lines, heading, rows)
        heading, rows = ((index, line, cells) if _is_heading(cells) else None), []
    yield from _table(lines, heading, rows)


def _cells(line: str) -> tuple[str, ...]:
    """Cells of one line, or none where nothing parts it."""
    text = line.strip()
    if len(text) > MOST_LINE_CHARACTERS:
        return ()
    if "|" in text or "│" in text or "┃" in text:
        cells = tuple(_BAR.split(text.strip("|│┃ ")))
    elif "  " in text or "\t" in text:
        cells = tuple(_GAP.split(text.removeprefix("# ").strip()))
    else:
        return ()
    return cells if 2 <= len(cells) <= MOST_CELLS else ()


def _with_index_column(heading: Row, cells: tuple[str, ...]) -> Row:
    index, line, columns = heading
    return (index, line, ("", *columns)) if len(cells) == len(columns) + 1 and line[:2].isspace() else heading


def _is_heading(cells: tuple[str, ...]) -> bool:
    """Mostly words, and no `name:  value` line, of which there are many below each other."""
    named = sum(1 for cell in cells if _LETTER.search(cell) and not _NUMERIC.match(cell))
    return bool(cells) and 2 * named >= len(cells) and not cells[0].endswith(":")


def _is_row(cells: tuple[str, ...]) -> bool:
    """At least half of the cells that say something are numbers."""
    filled = [cell for cell in cells if cell]
    numeric = sum(1 for cell in filled if _NUMERIC.match(cell))
    return numeric > 0 and 2 * numeric >= len(filled)


def _table(lines: Lines, heading: Row | None, rows: list[Row]) -> Iterator[Table]:
    if heading is None or len(rows) < FEWEST_ROWS:
        return
    yield Table(
        source=source(lines, "table"),
        quotes=tuple(quote(lines, index, line) for index, line, _ in (heading, *rows)),
        columns=heading[2],
        rows=tuple(cells for _, _, cells in rows),
    )


READER = Reader(
    title=Text(en="plain tables", zh="文本表格"),
    gives=(Table,),
    recognises=marked(_RECOGNISED),
    read=_read,
    voice="loose",
)
