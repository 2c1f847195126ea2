"""Loose GPU figures: `nvidia-smi --query-gpu` CSV, `dmon`, and single lines that name a GPU or a query field."""

from collections.abc import Callable, Iterator

from wirespeed.model.facts.gpu import Gpu
from wirespeed.model.kinds import Reader
from wirespeed.model.lines import Lines, quote, source
from wirespeed.model.record import Record
from wirespeed.model.source import Problem, Quote
from wirespeed.model.text import Text
from wirespeed.readers.parsing import gpu_figures as figures
from wirespeed.readers.parsing.marks import marked
from wirespeed.readers.parsing.regex import regex

_QUERY_FIELD = regex(
    r"\b(?:clocks_(?:throttle|event)_reasons\.\w+|clocks\.(?:current\.|max\.)?\w+|temperature\.gpu|power\.(?:draw|limit|max_limit)"
    r"|utilization\.gpu|memory\.(?:used|total)|pcie\.link\.(?:gen|width)\.\w+)"
)
_QUERY = regex(r"--query-gpu=(?P<names>[\w.,]{3,2000})")
_DMON = regex(r"^# ?(?:Date[, ]+)?(?:Time[, ]+)?gpu[, ]+(?!pid\b)\w+")
_DMON_CELL = regex(r"^(?:-|\d[\d:./]{0,20})$")
_NAMED = regex(r"^\W{0,4}(?:GPU|gpu)[ #]?(?P<gpu>\d{1,3})\b[:,]?(?P<rest>.*)$")
_REASON = regex(
    r"\b(?P<reason>(?:HW|SW) (?:Power Cap|Slowdown|Thermal Slowdown" r"|Power Brake Slowdown)): *(?P<state>Not Active|Active)"
)
_REASON_FIELD = regex(r"clocks_(?:throttle|event)_reasons\.(?P<reason>[a-z_]{1,40})\s*[:=]?\s*(?P<state>Not Active|Active)")
_LOOSE = regex(r"(?P<field>[a-z_]{1,24}(?:\.[a-z_]{1,24}){1,3})\s*[:=]?\s*(?P<number>\d{1,9}(?:\.\d{1,6})?)")
_CLOCK_MAX = regex(r"clocks\.(?:current\.)?sm\b[^,;()]{0,24}\(max (?P<number>\d{1,6})")
_WATTS = regex(r"(?<![\w.])(?P<number>\d{1,4}(?:\.\d{1,3})?) ?W(?:\s*/\s*(?P<limit>\d{1,4}(?:\.\d{1,3})?) ?W)?\b")
_CELSIUS = regex(r"(?<![\w.])(?P<number>\d{1,3}) ?°?C\b")
_SM_MHZ = regex(r"(?<![\w.])(?P<number>\d{2,5}) ?MHz\b")
_SHARE = regex(r"(?<![\w.])(?P<number>\d{1,3}(?:\.\d{1,3})?) ?%")
_WORD = regex(r"[A-Za-z]{3}")
_RECOGNISED = regex(
    rf"(?m){_QUERY_FIELD.pattern}|{_DMON.pattern}|^\W{{0,4}}(?:GPU|gpu)[ #]?\d{{1,3}}\b.{{0,80}}(?:\d ?(?:W|°?C|MHz"
    rf"|%)(?:\W|$)|: *(?:Not )?Active)"
)
_MOST_COLUMNS = 64
_ROW_LENGTH = Text(en="a row of the GPU table has another number of cells than its heading", zh="GPU 表的一行与表头列数不同")


def _read(lines: Lines) -> Iterator[Record | Problem]:
    names: list[str] = []
    is_dmon = is_asked = False
    row = 0
    above: Quote | None = None
    for index, line in lines:
        said = quote(lines, index, line)
        asked = _QUERY.search(line)
        heading = _csv_heading(line) or (asked["names"].strip(",").split(",")[:_MOST_COLUMNS] if asked else [])
        if heading or _DMON.match(line):
            is_dmon, is_asked = not heading, asked is not None
            names, row, above = heading or _dmon_columns(line), 0, said
            continue
        cells = line.replace(",", " ").split() if is_dmon else [cell.strip() for cell in line.split(",")]
        if names and above and len(cells) == len(names) and not line.startswith("#") and _is_row(names, cells):
            yield _from_row(lines, dict(zip(names, cells, strict=True)), row, (above, said))
            row += 1
            continue
        if names and not line.strip():
            names = []
        elif names and not is_dmon and line.startswith("#"):  # a remark between two readings
            row = 0
        elif names and not is_asked and (_is_cut(cells) if is_dmon else len(cells) > 1 and len(cells) >= len(names) - 1):
            yield Problem(source=source(lines, "nvidia-smi"), why=_ROW_LENGTH, line_index=index)
        else:
            yield from _loose(lines, line, said)


def _csv_heading(line: str) -> list[str]:
    """Column names of a `--query-gpu` heading, units in brackets taken off; empty where the line is none."""
    cells = [cell.strip() for cell in line.split(",")[:_MOST_COLUMNS]]
    names = [cell.split(" [")[0] for cell in cells]
    known = sum(name in _FIELDS or _REASON_COLUMN.match(name) is not None for name in names)
    return names if len(names) > 1 and known > len(names) / 2 and known > 1 and not any(" " in name for name in names) else []


def _is_row(names: list[str], cells: list[str]) -> bool:
    """A number where the index stands; without one, numbers in half of the cells at least."""
    if "index" in names:
        return cells[names.index("index")].isdecimal()
    return cells[0] != "" and 2 * sum(any(map(str.isdigit, cell)) for cell in cells) >= len(cells)


def _is_cut(cells: list[str]) -> bool:
    """Whether this is a row of dmon that is too short or too long."""
    return len(cells) > 1 and all(_DMON_CELL.match(cell) for cell in cells)


def _dmon_columns(line: str) -> list[str]:
    return [_DMON_NAMES.get(name, name) for name in line[1:].replace(",", " ").split()[:_MOST_COLUMNS]]


def _from_row(lines: Lines, cells: dict[str, str], row: int, quotes: tuple[Quote, ...]) -> Gpu:
    fields: dict[str, object] = {}
    reasons: list[str] | None = None
    for name, cell in cells.items():
        reason = _REASON_COLUMN.match(name)
        if reason and cell in ("Active", "Not Active"):
            reasons = (reasons or []) + ([reason["reason"]] if cell == "Active" else [])
        elif name in _FIELDS and (value := _FIELDS[name][1](cell)) is not None:
            fields[_FIELDS[name][0]] = value
    return _gpu(lines, quotes, fields, reasons, default_index=row)


def _loose(lines: Lines, line: str, said: Quote) -> Iterator[Gpu]:
    """One line that names a GPU, or one that names query fields."""
    named = _NAMED.match(line)
    fields: dict[str, object] = {}
    states = [(_snake(found["reason"]), found["state"]) for found in _REASON.finditer(line)] if named else []
    states += [(found["reason"], found["state"]) for found in _REASON_FIELD.finditer(line)]
    for found in _LOOSE.finditer(line):
        known = _FIELDS.get(found["field"])
        if known and (value := known[1](found["number"])) is not None:
            fields[known[0]] = value
    clock_max = _CLOCK_MAX.search(line)
    if clock_max:
        fields["sm_clock_max_hz"] = float(clock_max["number"]) * 1e6
    if named:
        fields = {**_printed(named["rest"]), **fields, "index": int(named["gpu"])}
    if states or fields.keys() - {"index"}:
        reasons = [reason for reason, state in states if state == "Active"] if states else None
        yield _gpu(lines, (said,), fields, reasons)


def _printed(rest: str) -> dict[str, object]:
    """Figures with units behind the GPU's number: power, temperature, clock, load."""
    fields: dict[str, object] = {}
    power, heat, clock, share = _WATTS.search(rest), _CELSIUS.search(rest), _SM_MHZ.search(rest), _SHARE.search(rest)
    if power:
        fields["power_w"] = float(power["number"])
        if power["limit"]:
            fields["power_limit_w"] = float(power["limit"])
    if heat:
        fields["temperature_celsius"] = float(heat["number"])
    if clock:
        fields["sm_clock_hz"] = float(clock["number"]) * 1e6
    if share and ("util" in rest.lower() or not _WORD.search(rest.replace("MHz", ""))):  # "95 % memory" is no utilisation
        fields["utilisation_ratio"] = float(share["number"]) / 100
    return fields


def _gpu(
    lines: Lines, quotes: tuple[Quote, ...], fields: dict[str, object], reasons: list[str] | None, default_index: int | None = None
) -> Gpu:
    number = fields.pop("index", default_index)
    return Gpu(
        source=source(lines, "nvidia-smi"),
        quotes=quotes,
        missing={} if isinstance(number, int) else {"index": "absent"},
        index=number if isinstance(number, int) else figures.NO_INDEX,
        throttle_reasons=None if reasons is None else tuple(reasons),
        **fields,  # type: ignore[arg-type]
    )


def _snake(label: str) -> str:
    return label.lower().replace(" ", "_")


_REASON_COLUMN = regex(r"^clocks_(?:throttle|event)_reasons\.(?P<reason>(?!active|supported)[a-z_]+)$")
_FIELDS: dict[str, tuple[str, Callable[[str], object]]] = {
    "index": ("index", figures.whole),
    "name": ("title", figures.text),
    "gpu_name": ("title", figures.text),
    "driver_version": ("driver", figures.text),
    "pci.bus_id": ("pci_address", figures.address),
    "gpu_bus_id": ("pci_address", figures.address),
    "temperature.gpu": ("temperature_celsius", figures.number),
    "utilization.gpu": ("utilisation_ratio", figures.ratio),
    "memory.used": ("memory_used_bytes", figures.byte_count),
    "memory.total": ("memory_total_bytes", figures.byte_count),
    "power.draw": ("power_w", figures.number),
    "power.draw.instant": ("power_w", figures.number),
    "power.limit": ("power_limit_w", figures.number),
    "enforced.power.limit": ("power_limit_w", figures.number),
    "power.max_limit": ("power_limit_max_w", figures.number),
    "clocks.sm": ("sm_clock_hz", figures.hertz),
    "clocks.current.sm": ("sm_clock_hz", figures.hertz),
    "clocks.max.sm": ("sm_clock_max_hz", figures.hertz),
    "pcie.link.gen.current": ("pcie_generation_number", figures.whole),
    "pcie.link.gen.gpucurrent": ("pcie_generation_number", figures.whole),
    "pcie.link.gen.max": ("pcie_generation_max_number", figures.whole),
    "pcie.link.width.current": ("pcie_width_lanes", figures.whole),
    "pcie.link.width.max": ("pcie_width_max_lanes", figures.whole),
    "ecc.errors.uncorrected.volatile.total": ("ecc_uncorrected_count", figures.whole),
    "fabric.state": ("fabric_state", figures.text),
    "fabric.status": ("fabric_status", figures.text),
    "dmon.pviol": ("power_limited_ratio", figures.ratio),
    "dmon.tviol": ("is_thermally_limited", figures.yes_or_no),
    "dmon.pci": ("pcie_replays_count", figures.whole),
}
_DMON_NAMES = {
    "gpu": "index",
    "pwr": "power.draw",
    "gtemp": "temperature.gpu",
    "temp": "temperature.gpu",
    "pviol": "dmon.pviol",
    "tviol": "dmon.tviol",
    "pci": "dmon.pci",
    "sm": "utilization.gpu",
    "pclk": "clocks.sm",
    "fb": "memory.used",
}

READER = Reader(
    title=Text(en="GPU figures: CSV, dmon and single lines", zh="GPU 数值：CSV、dmon 与单行"),
    gives=(Gpu,),
    recognises=marked(_RECOGNISED),
    read=_read,
    obtained_by=(
        "nvidia-smi --query-gpu=index,name,power.draw,power.limit,temperature.gpu,clocks.sm,clocks.max.sm,"
        "clocks_event_reasons.sw_power_cap,clocks_event_reasons.sw_thermal_slowdown,clocks_event_reasons.hw_slowdown --format=csv",
        "nvidia-smi dmon -s pucvmet -c 10",
    ),
    voice="loose",
)
