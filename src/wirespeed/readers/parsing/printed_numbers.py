"""Numbers as programs print them for people: with separators of thousands, a decimal comma, or as hours, minutes and seconds."""

from wirespeed.readers.parsing.regex import regex

_GROUPED = regex(r"\d{1,3}(?:([.,])\d{3})(?:\1\d{3})*")


def number_of(printed: str) -> float | None:
    """A number with commas between thousands, or with a comma as the decimal sign (one comma, no point, not three digits)."""
    whole, comma, rest = printed.partition(",")
    if comma and "." not in printed and "," not in rest and len(rest) != 3:
        printed = f"{whole}.{rest}"
    try:
        return float(printed.replace(",", ""))
    except ValueError:
        return None


def whole_of(printed: str) -> int | None:
    """A count with commas or points between thousands: of bytes and files there are no parts."""
    if _GROUPED.fullmatch(printed):
        printed = printed.replace(",", "").replace(".", "")
    return int(printed) if printed.isascii() and printed.isdecimal() and len(printed) <= 20 else None


def clock_s(printed: str) -> float | None:
    """Seconds of `0:00:09` or `01:57`."""
    parts = printed.split(":")
    if not all(part.isdecimal() for part in parts):
        return None
    seconds = 0.0
    for part in parts:
        seconds = seconds * 60 + int(part)
    return seconds
