"""Tables of rates by delay: where one window moves each round trip, the product of the two stays what the window is."""

import re
from dataclasses import dataclass

from wirespeed.model.case import Case
from wirespeed.model.settings import Table

FEWEST_ROWS_COUNT = 3
LEAST_SPAN_TIMES = 8.0
"""Delays from one to eight times and more: a shorter span would let a rate that hardly changes pass."""
STEADY_RATIO = 1.3
"""Products of the two longest delays: over those the fixed costs of an exchange no longer matter."""
NEAR_RATIO = 0.7
_DELAY = re.compile(r"(?i)\b(?:delay|rtt|latency|round[- ]?trip|ping)\b")
_RATE = re.compile(r"(?i)\b(?:bandwidth|throughput|rate|speed|goodput|transfer)\b")
_BYTES = re.compile(r"(?i)\bbytes?\b|\b(?:window|buffer)\b")
_DELAY_UNITS = {"us": 1e-6, "µs": 1e-6, "ms": 1e-3, "msec": 1e-3, "s": 1.0, "sec": 1.0}
_RATE_UNITS = {
    "kb/s": 1e3, "kbps": 1e3, "kbit/s": 1e3, "mb/s": 1e6, "mbps": 1e6, "mbit/s": 1e6, "mbits/s": 1e6, "gb/s": 1e9, "gbps": 1e9, "gbit/s": 1e9,
}  # fmt: skip
_UNIT = re.compile(r"[A-Za-zµ]+(?:/s(?:ec)?)?")
_NUMBER = re.compile(r"^[~≈]?\s*(\d+(?:\.\d+)?)")


@dataclass(frozen=True, slots=True)
class FallingRate:
    """A table whose rates fall as its delays grow, and the window that the product says; `is_named` where a column names that size."""

    table: Table
    window_bytes: float
    is_named: bool


def rate_falls_as_delay_grows(case: Case) -> FallingRate | None:
    """The first table in which rate times delay is steady over the long delays and the rate falls all the way."""
    return next((found for one in case.every(Table) if (found := _judged(one))), None)


def is_by_delay(table: Table) -> bool:
    """Whether the table has a column of delays and one of rates."""
    return _column(table, _DELAY, _DELAY_UNITS) is not None and _column(table, _RATE, _RATE_UNITS) is not None


def _judged(table: Table) -> FallingRate | None:
    delay, rate = _column(table, _DELAY, _DELAY_UNITS), _column(table, _RATE, _RATE_UNITS)
    if delay is None or rate is None:
        return None
    cells = [(_number(row, delay[0]), _number(row, rate[0]), row) for row in table.rows]
    points = sorted((after * delay[1], bits * rate[1], row) for after, bits, row in cells if after and bits)
    rates = [bits for _, bits, _ in points]
    if len(points) < FEWEST_ROWS_COUNT or points[-1][0] < LEAST_SPAN_TIMES * points[0][0] or rates != sorted(rates, reverse=True):
        return None
    products = [seconds * bits / 8.0 for seconds, bits, _ in points]
    if not 1 / STEADY_RATIO <= products[-1] / products[-2] <= STEADY_RATIO or rates[0] < 2.0 * rates[-1]:
        return None
    sizes = [_number(points[-1][2], place) for place, name in enumerate(table.columns) if _BYTES.search(name)]
    return FallingRate(table, products[-1], any(one and NEAR_RATIO <= products[-1] / one <= 1 / NEAR_RATIO for one in sizes))


def _column(table: Table, heading: re.Pattern[str], units: dict[str, float]) -> tuple[int, float] | None:
    """Place and unit of the first column that is headed so and names a unit."""
    for place, name in enumerate(table.columns):
        factor = next((units[word.lower()] for word in _UNIT.findall(name) if word.lower() in units), None)
        if heading.search(name) and factor is not None:
            return place, factor
    return None


def _number(row: tuple[str, ...], place: int) -> float | None:
    found = _NUMBER.match(row[place]) if place < len(row) else None
    return float(found[1]) if found else None
