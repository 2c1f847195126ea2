"""The only place that rounds, scales and prints units. A value's unit is the ending of its name."""

from collections.abc import Mapping
from datetime import UTC, datetime

_DECIMAL = ((1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))
_BINARY = ((2.0**40, "Ti"), (2.0**30, "Gi"), (2.0**20, "Mi"), (2.0**10, "Ki"))
UNKNOWN = "?"
"""What is printed for a value that is not known."""


def printed(name: str, value: object) -> str:
    """One value as people read it: `rate_bits_per_s=25e9` is `25 Gb/s`. Unknown is `?`, never zero."""
    if value is None:
        return UNKNOWN
    if isinstance(value, bool):
        return "yes" if value else "no"
    if not isinstance(value, int | float):
        return str(value)
    number = float(value)
    if name.endswith("_at_s"):
        return moment(number)
    if name.endswith("_bits_per_s"):
        return _scaled(number, _DECIMAL, "b/s")
    if name.endswith("_bytes_per_s"):
        return _scaled(number, _DECIMAL, "B/s")
    if name.endswith("_transfers_per_s"):
        return _scaled(number, _DECIMAL, "T/s")
    if name.endswith("mtu_bytes") or name.endswith("mss_bytes"):
        return f"{number:.0f}"
    if name.endswith("_bytes"):
        return _scaled(number, _BINARY, "B") if abs(number) >= 2**20 else f"{_short(number)} B"
    if name.endswith("_ratio"):
        return f"{_short(number * 100)} %"
    if name.endswith("_per_s"):
        return f"{_grouped(number)}/s"
    if name.endswith("_s"):
        return seconds(number)
    if name.endswith("_hz"):
        return _scaled(number, _DECIMAL, "Hz")
    if name.endswith("_celsius"):
        return f"{_short(number)} °C"
    if name.endswith("_w"):
        return f"{_short(number)} W"
    return _grouped(number)


_ENDINGS = {
    "bytes/s": "_bytes_per_s", "bits/s": "_bits_per_s", "packets/s": "_per_s", "1/s": "_per_s", "bytes": "_bytes", "ratio": "_ratio", "s": "_s",
    "celsius": "_celsius", "w": "_w", "hz": "_hz", "pages/s": "_per_s",
}  # fmt: skip
"""The name endings of the units that stand beside a value."""


def in_unit(unit: str, value: float | None, *, is_signed: bool = False) -> str:
    """A value whose unit stands beside it (`SeriesSummary.unit`), on request with its sign."""
    text = printed(_ENDINGS.get(unit, ""), value)
    return f"+{text}" if is_signed and value is not None and value > 0 else text.replace("-", "−", 1) if is_signed else text


def moment(seconds_since_1970: float) -> str:
    """A date and time, in UTC, to the second; `?` for one that no calendar has."""
    try:
        return datetime.fromtimestamp(seconds_since_1970, UTC).strftime("%Y-%m-%d %H:%M:%SZ")
    except (ValueError, OverflowError, OSError):
        return UNKNOWN


def all_printed(values: Mapping[str, object]) -> dict[str, str]:
    """Every value as people read it, by name."""
    return {name: printed(name, value) for name, value in values.items()}


def seconds(number: float) -> str:
    """A time: ns, us, ms, s, min or h, whichever reads best."""
    size = abs(number)
    if size >= 7200:
        return f"{_short(number / 3600)} h"
    if size >= 120:
        return f"{_short(number / 60)} min"
    if size >= 1 or size == 0:
        return f"{_short(number)} s"
    if size >= 1e-3:
        return f"{_short(number * 1e3)} ms"
    if size >= 1e-6:
        return f"{_short(number * 1e6)} us"
    return f"{_short(number * 1e9)} ns"


def _scaled(number: float, steps: tuple[tuple[float, str], ...], unit: str) -> str:
    for factor, prefix in steps:
        if abs(number) >= factor:
            return f"{_short(number / factor)} {prefix}{unit}"
    return f"{_short(number)} {unit}"


def _short(number: float) -> str:
    if number == int(number) and abs(number) < 1e6:
        return str(int(number))
    return f"{number:.3g}" if abs(number) < 1000 else f"{number:.0f}"


def _grouped(number: float) -> str:
    return f"{number:,.0f}" if number == int(number) else _short(number)
