"""One internal unit per dimension, the endings a numeric name may have, and the only unit conversions of input."""

import math
import re
from typing import NewType

Seconds = NewType("Seconds", float)
Bytes = NewType("Bytes", float)
BytesPerS = NewType("BytesPerS", float)
BitsPerS = NewType("BitsPerS", float)

NAME_ENDINGS = (
    "_s", "_ns", "_bytes", "_bytes_per_s", "_bits_per_s", "_ratio", "_count", "_counts", "_packets", "_tokens", "_per_s",
    "_celsius", "_w", "_hz", "_index", "_port", "_rank", "_code", "_number", "_entries", "_hops", "_nats", "_lanes",
    "_transfers_per_s",
)  # fmt: skip
"""What a numeric field's name must end in; identifiers end in `_index`, `_number` or `_code`."""

IDENTIFIER_NAMES = frozenset(
    {"port", "ports", "rank", "cpu", "cpus", "effective_cpus", "irq", "pid", "index", "group", "count", "value", "level", "records"}
    | {"enabled_priorities", "dscp_priorities", "distances", "source_port"}
    | {"mean", "p50", "p95", "p99", "minimum", "maximum"}
    | {"before", "after", "difference", "lowest", "highest", "least"}
)
"""Whole names that need no unit: they count or identify. `value` and the words of a distribution or a comparison stand beside a `unit` field."""

_DECIMAL = {"": 1.0, "k": 1e3, "m": 1e6, "g": 1e9, "t": 1e12, "p": 1e15}
_BINARY = {"ki": 2.0**10, "mi": 2.0**20, "gi": 2.0**30, "ti": 2.0**40}
_TIME_S = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "μs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0, "d": 86400.0}
_RATE = re.compile(r"(?ix) ^ (?P<scale>[kmgtp]i?)? (?P<what>b(?:its?)?|bytes?) (?:ps|/s(?:ec)?|\ per\ s(?:econd)?) $")
_DURATION_PART = re.compile(r"(\d+(?:\.\d+)?)\s*([a-zµμ]+)")
_SIZE = re.compile(r"(?ix) ^ (?P<scale>[kmgtp]i?)? (?P<what>b(?:its?)?|bytes?) $")


def scale_of(prefix: str) -> float:
    """Factor of a decimal (k, M, G) or binary (Ki, Mi, Gi) prefix; empty is 1. Raises KeyError for anything else."""
    low = prefix.lower()
    return _BINARY[low] if low in _BINARY else _DECIMAL[low]


def rate_in_bits_per_s(value: float, unit: str) -> float | None:
    """A transfer rate in bits per second, or None where `unit` is no rate.

    A single `B` is a byte and a single `b` a bit (IEEE 1541): `GB/s` is eight times `Gb/s`.
    """
    found = _RATE.match(unit.strip())
    if not found:
        return None
    return value * scale_of(found["scale"] or "") * (8.0 if _is_bytes(found["what"]) else 1.0)


def size_in_bytes(value: float, unit: str) -> float | None:
    """A size in bytes, or None where `unit` is no size. `KB` is 1,000 and `KiB` 1,024 bytes."""
    found = _SIZE.match(unit.strip())
    if not found:
        return None
    return value * scale_of(found["scale"] or "") / (1.0 if _is_bytes(found["what"]) else 8.0)


def time_in_s(value: float, unit: str) -> float | None:
    """A time in seconds, or None where `unit` is no time."""
    factor = _TIME_S.get(unit.strip())
    return None if factor is None else value * factor


def duration_in_s(text: str) -> float | None:
    """A time written as people do, in seconds: `30s`, `100ms`, `5m`, `1.5h`, `1m30s`; a bare number is seconds. None where it is none."""
    try:
        return float(text) if math.isfinite(float(text)) else None
    except ValueError:
        pass
    parts = _DURATION_PART.findall(text.strip().lower())
    if not parts or "".join(number + unit for number, unit in parts) != "".join(text.lower().split()):
        return None
    times = [time_in_s(float(number), unit) for number, unit in parts]
    return None if None in times else sum(value for value in times if value is not None)


def whole(value: float | None) -> int | None:
    """The number without its fraction; None for unknown and for what is not finite (damage, since nothing counts to infinity)."""
    return int(value) if value is not None and math.isfinite(value) else None


def _is_bytes(word: str) -> bool:
    return word == "B" or word.lower().startswith("byte")
