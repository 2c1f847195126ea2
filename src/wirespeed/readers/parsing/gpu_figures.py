"""Figures of a GPU as `nvidia-smi` and DCGM print them, one word or a number with its unit each; what is no such figure is None."""

from wirespeed.model.units import size_in_bytes
from wirespeed.readers.parsing.regex import regex

NO_INDEX = -1
"""Index of a GPU that a text does not number; `missing` then names the field."""
ALL_LINKS = -1
"""Link index where a text speaks of all NVLinks of a GPU together; `missing` then names the field."""
_NUMBER = regex(r"^(-?\d{1,20}(?:\.\d{1,20})?(?:[eE][+-]?\d{1,2})?)(?![\d.,])")
_ABSENT = frozenset({"", "-", "N/A", "[N/A]", "None", "[Not Supported]", "Not Supported"})


def text(printed: str) -> str | None:
    """A name or a state."""
    return None if printed in _ABSENT or printed.startswith("[") else printed


def number(printed: str) -> float | None:
    """The number at the beginning, its unit taken off: `71.50 W`, `45 C`, `38%`."""
    found = _NUMBER.match(printed)
    return float(found[1]) if found else None


def whole(printed: str) -> int | None:
    """A count."""
    return int(printed) if printed.isascii() and printed.isdecimal() and len(printed) <= 20 else None


def lanes(printed: str) -> int | None:
    """`16x` or `16`."""
    return whole(printed.rstrip("x"))


def ratio(printed: str) -> float | None:
    """A share printed in percent."""
    share = number(printed)
    return None if share is None else share / 100


def hertz(printed: str) -> float | None:
    """A clock printed in MHz."""
    clock = number(printed)
    return None if clock is None else clock * 1e6


def byte_count(printed: str) -> float | None:
    """Memory printed in MiB."""
    size = number(printed)
    return None if size is None else size_in_bytes(size, "MiB")


def seconds(printed: str) -> float | None:
    """A time printed in microseconds."""
    time = number(printed)
    return None if time is None else time / 1e6


def yes_or_no(printed: str) -> bool | None:
    """`Yes`, `No`; also 1 and 0."""
    return {"Yes": True, "No": False, "1": True, "0": False}.get(printed)


def action(printed: str) -> str | None:
    """The recovery action: here `None` is an answer, not the lack of one."""
    return None if printed in ("", "N/A") else printed.lower()


def address(printed: str) -> str | None:
    """As sysfs writes it: `00000000:18:00.0` is `0000:18:00.0`."""
    return printed.lower().removeprefix("0000") if printed.count(":") == 2 else None
