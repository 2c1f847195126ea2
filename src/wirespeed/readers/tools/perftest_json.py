"""Results that perftest writes with `--out_json`, one test a file.

The file does not say whether its bandwidths are in Gb/s or MiB/s: the message rate and size beside them tell. Early versions
(linux-rdma/perftest 45e574b to 2023) wrote names and words without quotation marks, which is no JSON; so lines are read, not a document.
"""

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
from wirespeed.readers.parsing.perftest_rows import BITS_PER_S, Test, bandwidth_runs, latency
from wirespeed.readers.parsing.regex import regex

_TOOL = "perftest-json"
_PAIR = regex(r'(?<![\w."])"?(?P<name>[A-Za-z_][\w .]{0,30}?)"? ?:\s*"?(?P<setting>[^",{}\s][^",{}\n]{0,60})')
_RECOGNISED = regex(r'"?MsgSize"?:\s*\d+,\s*"?(?:sl|n_iterations)"?:')
_TEST = regex(r"(?P<verb>RDMA_Write|RDMA_Read|Send|Atomic)\w*?_(?P<what>BW|Latency)_Test")
_SETTINGS = {
    "Device": "Device", "Number_of_qps": "Number of qps", "Transport_type": "Transport type", "Connection_type": "Connection type",
    "Mtu": "Mtu", "Link_type": "Link type", "GID_index": "GID index", "rdma_cm_QPs": "rdma_cm QPs", "PCIe_relax_order": "PCIe relax order",
}  # fmt: skip
"""Names in the file and in the table that the same programs print."""
_COLUMNS = {
    "MsgSize": "bytes", "BW_peak": "peak", "BW_average": "average", "MsgRate": "messages", "t_min": "min",
    "t_max": "max", "t_typical": "typical", "t_avg": "avg", "t_stdev": "stdev", "percentile_99": "99", "percentile_99.9": "99.9",
}  # fmt: skip
_AGREES_RATIO = 0.05
"""Rates are printed with two decimals: small ones are that far from message rate times size. Gb/s and MiB/s are 119 apart."""
_ROUNDING_OF_RATE, _ROUNDING_OF_MESSAGES = 0.005, 5e-7


@dataclass(slots=True)
class _File:
    """What was read of one file so far."""

    test: Test = field(default_factory=Test)
    row: dict[str, float] = field(default_factory=dict)
    quotes: list[Quote] = field(default_factory=list)


def _read(lines: Lines) -> Iterator[Record | Problem]:
    now = _File()
    for index, line in lines:
        for found in _PAIR.finditer(line):
            name, setting = found["name"].strip(), found["setting"].strip()
            if name == "test":
                yield from _finished(lines, now)
                now = _File(test=_test(setting))
            elif name in _SETTINGS:
                yield _setting(lines, quote(lines, index, line), now, name, setting)
            elif name in ("cuda_device", "musa_device") or (name == "Use_ROCm_memory" and setting == "ON"):
                now.test.memory = "gpu"
            elif (number := _number(setting)) is not None and name in _COLUMNS:
                if name == "MsgSize" and "bytes" in now.row:
                    yield from _finished(lines, now)
                    now = _File(test=now.test)
                now.row[_COLUMNS[name]] = number
                now.quotes.append(quote(lines, index, line))
    yield from _finished(lines, now)


def _test(title: str) -> Test:
    found = _TEST.search(title)
    if found is None:
        return Test()
    verb = found["verb"].removeprefix("RDMA_").lower()
    return Test(tool=f"ib_{verb}_{'bw' if found['what'] == 'BW' else 'lat'}", is_both_ways="Bidirectional" in title)


def _setting(lines: Lines, said: Quote, now: _File, name: str, setting: str) -> Setting:
    number = _number(setting)
    if name == "Number_of_qps" and number is not None:
        now.test.qps = int(number)
    return Setting(source=source(lines, now.test.tool), quotes=(said,), name=_SETTINGS[name], setting=setting, value=number)


def _finished(lines: Lines, now: _File) -> Iterator[Record | Problem]:
    row, size = now.row, int(now.row.get("bytes", 0))
    quotes = tuple(dict.fromkeys(now.quotes))
    if "average" in row:
        unit = _unit(row, size)
        if unit is None:
            yield _unknown_unit(lines, quotes)
        else:
            yield from bandwidth_runs(lines, quotes, now.test, size, unit, row)
    elif "avg" in row:
        yield latency(lines, quotes, now.test, size or None, {name: row[name] for name in row.keys() - {"bytes"}})


def _unit(row: dict[str, float], size_bytes: int) -> str | None:
    """The unit in which the average is message rate times size."""
    messages = row.get("messages", 0.0)
    bits = messages * 1e6 * size_bytes * 8
    room = _AGREES_RATIO * bits + _ROUNDING_OF_MESSAGES * 1e6 * size_bytes * 8
    fitting = [
        unit
        for unit, factor in BITS_PER_S.items()
        if unit != "mb" and bits > 0 and abs(row["average"] * factor - bits) <= room + _ROUNDING_OF_RATE * factor
    ]
    return fitting[0] if len(fitting) == 1 else None


def _unknown_unit(lines: Lines, quotes: tuple[Quote, ...]) -> Problem:
    return Problem(
        source=source(lines, _TOOL),
        why=Text(
            en="the file does not say whether its bandwidth is in Gb/s or MiB/s, and the message rate beside it does not tell",
            zh="文件未说明带宽单位是 Gb/s 还是 MiB/s，旁边的消息速率也无法判断",
        ),
        line_index=quotes[0].line_index if quotes else None,
    )


def _number(setting: str) -> float | None:
    try:
        value = float(setting)
    except ValueError:
        return None
    return value if abs(value) < 1e15 else None


READER = Reader(
    title=Text(en="perftest results (--out_json)", zh="perftest 结果（--out_json）"),
    gives=(ThroughputRun, MessageLatency, Setting),
    recognises=marked(_RECOGNISED),
    read=_read,
    obtained_by=("ib_write_bw -d DEVICE -F --report_gbits --out_json PEER",),
)
