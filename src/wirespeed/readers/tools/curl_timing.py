"""Times of one request from `curl -w`: any format string that names its fields, JSON, and tables of them.

A zero stays a zero: curl prints it for a step that did not take place, such as the connect on a kept connection.
"""

import json
import re
from collections.abc import Iterator
from typing import Any, TypeAlias

from wirespeed.model.kinds import Reader
from wirespeed.model.lines import Lines, quote, source
from wirespeed.model.measurement import HttpTiming
from wirespeed.model.record import Record
from wirespeed.model.source import Problem, Quote
from wirespeed.model.text import Text
from wirespeed.readers.parsing.marks import marked
from wirespeed.readers.parsing.regex import regex

MOST_QUOTES = 12
"""Lines of one block that are quoted; curl knows fewer times than that."""

Values: TypeAlias = dict[str, float]

_FIELDS = {
    "namelookup_s": ("time_namelookup", "namelookup", "dns", "dns_lookup", "dnslookup", "lookup", "name_lookup"),
    "connect_s": ("time_connect", "connect", "tcp", "tcp_connect", "conn"),
    "appconnect_s": ("time_appconnect", "appconnect", "app_connect", "tls", "ssl", "tls_handshake", "ssl_handshake"),
    "pretransfer_s": ("time_pretransfer", "pretransfer", "pre_transfer"),
    "starttransfer_s": ("time_starttransfer", "starttransfer", "start_transfer", "ttfb", "first_byte", "time_to_first_byte"),
    "total_s": ("time_total", "total", "total_time"),
    "size_bytes": ("size_download", "size", "bytes"),
    "speed_bytes_per_s": ("speed_download", "speed"),
    "status_code": ("http_code", "response_code", "code", "status", "http_status"),
    "connects_count": ("num_connects", "connects"),
}
_FIELD_OF = {name: field for field, names in _FIELDS.items() for name in names}
_TIMES = frozenset(field for field in _FIELDS if field.endswith("_s") and not field.endswith("per_s"))
_SURE = frozenset({"time_namelookup", "time_connect", "time_appconnect", "time_pretransfer", "time_starttransfer", "time_total"})
"""Names that only curl uses: one of them on a line is enough; of the others it takes two times."""

_PAIR = regex(
    r"(?i)(?<![\w%{./-])(?P<name>[a-z]+(?:[_ ][a-z]+){0,4})\"?\s{0,20}[:=]?\s{0,20}\"?(?P<number>\d{1,15}(?:[.,]\d{1,15})?(?:e-?\d{1,15})?)\s?(?P<unit>ms|us|µs|s\b)?(?![\w.%/])"
)
_NAME = regex(
    r"(?i)\b(?:time_(?:namelookup|connect|appconnect|pretransfer|starttransfer|total)|namelookup|(?:pre|start)transfer|ttfb)\b"
)
_ONE_FIELD = regex(
    r"^[\s\"|*-]*[A-Za-z][\w ]{0,60}?\"?[ \t]{0,20}[:=]?[ \t]{0,20}\"?\d[\d.,e-]{0,20}\s?(?:ms|us|µs|s|bytes|B/s)?[\s,\"|]*$"
)
_GOES_ON = regex(r"^\s*(?:[-=_]{3,}\s*|\"?[A-Za-z][\w ]{0,60}\"?[ \t]{0,20}[:=]\s*\S+\s*)$")
"""A rule or a `name: value` that is no field of ours does not end a block."""
_AROUND_LABEL = " \t\"'|,;:-"
_SHORT_NAMES = regex(r"(?i)\bdns\w*\s?[=:]\s?\d[\d.]{0,12}\w{0,3}[\s,;]{1,9}(?:tcp_?)?conn\w*\s?[=:]\s?\d")
_COMMAND = regex(r"\bcurl\s.{0,2000}?(?:\s-w\b|--write-out\b|time_total)")
_CUT_OFF = regex(r"curl: \(28\) Operation timed out after (?P<ms>\d{1,15}) milliseconds with (?P<bytes>\d{1,15})")
"""A request that was given up: its time is the time until then."""
_CONTINUED = regex(r"\\\s*$")
_FORMAT = regex(r"%\{(?P<variable>\w+)\}")
_OWN_FORMAT = regex(r"(?:-w|--write-out)[ =]\s{0,3}(?P<mark>['\"])(?P<format>.{1,1000}?)(?P=mark)")
_URL = regex(r"\bhttps?://[^\s'\"<>)]+")
_BARE_NUMBERS = regex(r"^\s*\d{1,15}(?:\.\d+)?(?:[\s,;]+\d{1,15}(?:\.\d+)?)*\s*$")
_HEADING_WORD = regex(r"[A-Za-z_]+")
_HTTP_VERSION = regex(r"(?i)\bhttp_version\"?\s*[:=]?\s*\"?(?P<version>\d(?:\.\d)?)")


class _Reading:
    """What earlier lines told, and the block of one-field lines being gathered."""

    def __init__(self) -> None:
        self.url: str | None = None
        self.variables: tuple[str, ...] = ()
        """Variables of the command's format string, in order."""
        self.shape: re.Pattern[str] | None = None
        """What a line of the command's own format looks like, where words of its own stand between the variables."""
        self.columns: tuple[str, ...] = ()
        self.heading: Quote | None = None
        self.command: Quote | None = None
        self.is_continued = False
        self.is_answered = False
        """A time was read since the command; a blank line then ends what the command says."""
        self.values: Values = {}
        self.quotes: list[Quote] = []


def _read(lines: Lines) -> Iterator[Record | Problem]:
    state = _Reading()
    for index, line in lines:
        row = quote(lines, index, line)
        if not line.strip() and state.is_answered:
            yield from _gathered(lines, state)
            state = _Reading()
        elif _COMMAND.search(line) or state.is_continued:
            yield from _gathered(lines, state)
            _take_command(state, row)
        elif cut := _CUT_OFF.search(line):
            yield from _gathered(lines, state)
            values = {"total_s": int(cut["ms"]) / 1e3, "size_bytes": float(cut["bytes"])}
            yield _timing(lines, state, values, (row,), "", line)
        elif line.lstrip().startswith("{"):
            yield from _gathered(lines, state)
            yield from _from_json(lines, row)
        elif "%{" not in line:
            yield from _take_line(lines, state, row)
    yield from _gathered(lines, state)


def _take_command(state: _Reading, row: Quote) -> None:
    """Remember the URL and the format of the command, which may go on over several lines."""
    if not state.is_continued:
        state.url, state.variables, state.columns, state.heading, state.shape = None, (), (), None, None
    url = _URL.search(row.text)
    state.url = url[0] if url else state.url
    state.variables += tuple(found["variable"] for found in _FORMAT.finditer(row.text))
    own = _OWN_FORMAT.search(row.text)
    state.shape = _shape_of(own["format"]) if own else state.shape
    state.command = row
    state.is_continued = _CONTINUED.search(row.text) is not None


def _shape_of(text: str) -> re.Pattern[str] | None:
    """A pattern of what a format with own words prints; None where it has none, or several lines."""
    parts = _FORMAT.split(text.removesuffix("\\n"))
    literals = parts[::2]
    if len(parts) < 3 or "\\n" in "".join(literals) or not any(re.search(r"[A-Za-z]", one) for one in literals):
        return None
    numbers = r"(\d{1,15}(?:[.,]\d{1,15})?)"
    return regex(rf"^\s*{numbers.join(re.escape(one.strip()) if not one.strip() else _spaced(one) for one in literals)}\s*$")


def _spaced(literal: str) -> str:
    """A literal as a pattern in which any blanks match any."""
    return r"\s*" + r"\s+".join(re.escape(word) for word in literal.split()) + r"\s*"


def _take_line(lines: Lines, state: _Reading, row: Quote) -> Iterator[HttpTiming]:
    values, names, label = _pairs(row.text)
    times = _TIMES & values.keys()
    is_curls = _NAME.search(row.text) is not None or bool(state.variables)
    if (len(times) >= 2 and is_curls) or len(times) >= 3 or (label and not names.isdisjoint(_SURE)):
        yield from _gathered(lines, state)
        yield _timing(lines, state, values, (row,), label, row.text)
    elif state.shape is not None and state.command is not None and (printed := state.shape.match(row.text)):
        yield from _gathered(lines, state)
        shown = _values_by_name(state.variables, [cell.replace(",", ".") for cell in printed.groups()])
        if _TIMES & shown.keys():
            yield _timing(lines, state, shown, (state.command, row), state.url or "", row.text)
    elif values and not label and _ONE_FIELD.match(row.text):
        if state.values.keys() & values.keys():
            yield from _gathered(lines, state)
        state.values |= values
        state.quotes.append(row)
    elif not (state.quotes and _GOES_ON.match(row.text)):
        yield from _gathered(lines, state)
        yield from _table_line(lines, state, row)


def _pairs(line: str) -> tuple[Values, frozenset[str], str]:
    """Named values of a line in SI, the names as written, and what stands before the first of them."""
    values: Values = {}
    names: set[str] = set()
    label_end: int | None = None
    for found in _PAIR.finditer(line):
        name, skipped = _known_name(found["name"])
        if name is None:
            continue
        field = _FIELD_OF[name]
        number = float(found["number"].replace(",", "."))
        values.setdefault(field, number * _factor(found["unit"]) if field in _TIMES else number)
        names.add(name)
        if label_end is None:
            label_end = found.start() + skipped
    return values, frozenset(names), line[: label_end or 0].strip(_AROUND_LABEL)[:120]


def _known_name(words: str) -> tuple[str | None, int]:
    """The longest ending of `words` that names a field, and how many characters stand before it."""
    low = words.lower().replace(" ", "_")
    starts = [0, *(found.end() for found in re.finditer("_", low))]
    for start in starts:
        if low[start:] in _FIELD_OF:
            return low[start:], start
    return None, 0


def _factor(unit: str | None) -> float:
    return {"ms": 1e-3, "us": 1e-6, "µs": 1e-6}.get(unit or "s", 1.0)


def _table_line(lines: Lines, state: _Reading, row: Quote) -> Iterator[HttpTiming]:
    """A heading of curl's names, a row below one, or bare numbers in the order of the command's format."""
    if _is_heading(row.text):
        words = tuple(_HEADING_WORD.findall(row.text.lower()))
        state.columns, state.heading = words, row
        return
    cells = re.split(r"[\s,;|]+", row.text.strip(" |"))
    if state.columns and state.heading is not None:
        numbers = cells[-len(state.columns) :]
        if len(cells) >= len(state.columns) - 1 and _is_numbers(numbers[1:]):
            yield from _row(lines, state, row, cells)
        else:
            state.columns, state.heading = (), None
    elif state.variables and state.command is not None and _BARE_NUMBERS.match(row.text) and len(cells) == len(state.variables):
        values = _values_by_name(state.variables, cells)
        if _TIMES & values.keys():
            yield _timing(lines, state, values, (state.command, row), "", row.text)


def _is_heading(line: str) -> bool:
    words = [word.lower() for word in _HEADING_WORD.findall(line)]
    return len(_SURE.intersection(words)) >= 2 and not re.search(r"\d", line)


def _row(lines: Lines, state: _Reading, row: Quote, cells: list[str]) -> Iterator[HttpTiming]:
    assert state.heading is not None
    extra = len(cells) - len(state.columns)
    columns = ("",) * extra + state.columns if extra > 0 else state.columns[-len(cells) :]
    values = _values_by_name(columns, cells)
    label = " ".join(cell for name, cell in zip(columns, cells, strict=False) if name not in _FIELD_OF)
    if _TIMES & values.keys():
        yield _timing(lines, state, values, (state.heading, row), label, row.text)


def _values_by_name(names: tuple[str, ...], cells: list[str]) -> Values:
    values: Values = {}
    for name, cell in zip(names, cells, strict=False):
        if name in _FIELD_OF and _is_numbers([cell]):
            values[_FIELD_OF[name]] = float(cell)
    return values


def _is_numbers(cells: list[str]) -> bool:
    return all(re.fullmatch(r"\d{1,15}(?:\.\d+)?", cell) for cell in cells)


def _gathered(lines: Lines, state: _Reading) -> Iterator[HttpTiming]:
    """The block of lines with one field each, as one request."""
    text = "\n".join(one.text for one in state.quotes)
    if _TIMES & state.values.keys() and (_NAME.search(text) or state.variables):
        yield _timing(lines, state, state.values, tuple(state.quotes[:MOST_QUOTES]), "", text)
    state.values, state.quotes = {}, []


def _from_json(lines: Lines, row: Quote) -> Iterator[HttpTiming | Problem]:
    if _NAME.search(row.text) is None or '"' not in row.text:
        return
    try:
        document = json.loads(row.text[row.text.index("{") :])
    except (ValueError, RecursionError):
        why = Text(en="this JSON line of curl is cut or damaged", zh="该 curl JSON 行不完整或已损坏")
        yield Problem(source=source(lines, "curl"), why=why, line_index=row.line_index)
        return
    yield _json_timing(lines, row, document)


def _json_timing(lines: Lines, row: Quote, document: dict[str, Any]) -> HttpTiming:
    values: Values = {}
    for name, value in document.items():
        if name in _FIELD_OF and isinstance(value, int | float) and not isinstance(value, bool):
            values[_FIELD_OF[name]] = float(value)
    state = _Reading()
    url = document.get("url_effective") or document.get("url")
    state.url = url if isinstance(url, str) else None
    return _timing(lines, state, values, (row,), "", row.text)


def _timing(lines: Lines, state: _Reading, values: Values, quotes: tuple[Quote, ...], label: str, text: str) -> HttpTiming:
    state.is_answered = True
    own_url = _URL.search(text)
    url = own_url[0] if own_url and not text.lstrip().startswith("{") else state.url
    version = _HTTP_VERSION.search(text)
    return HttpTiming(
        source=source(lines, "curl"),
        quotes=quotes,
        label=label or url or "",
        url=url,
        namelookup_s=_time_s(values, "namelookup_s"),
        connect_s=_time_s(values, "connect_s"),
        appconnect_s=_time_s(values, "appconnect_s"),
        pretransfer_s=_time_s(values, "pretransfer_s"),
        starttransfer_s=_time_s(values, "starttransfer_s"),
        total_s=_time_s(values, "total_s"),
        size_bytes=values.get("size_bytes"),
        speed_bytes_per_s=values.get("speed_bytes_per_s"),
        status_code=_code(values.get("status_code")),
        connects_count=_code(values.get("connects_count")),
        http_version=version["version"] if version else None,
    )


def _time_s(values: Values, field: str) -> float | None:
    return round(values[field], 9) if field in values else None


def _code(value: float | None) -> int | None:
    return int(value) if value is not None and 0 <= value < 1000 else None


READER = Reader(
    title=Text(en="curl request times (-w)", zh="curl 请求时间（-w）"),
    gives=(HttpTiming,),
    recognises=marked(_NAME, _SHORT_NAMES, "Operation timed out after"),
    read=_read,
    obtained_by=(
        "curl -s -o /dev/null -w 'dns %{time_namelookup} connect %{time_connect} ttfb %{time_starttransfer} total %{time_total}\\n' URL",
    ),
)
