"""Rates that follow from a size and a time written on one line: `initrd 412 MB ... 165 s`."""

from wirespeed.diagnosis.joins.pieces import quantities
from wirespeed.model.case import Case
from wirespeed.model.record import Record
from wirespeed.model.settings import Quantity

LEAST_SIZE_BYTES = 1e6
LEAST_TIME_S = 0.5
MOST_LINES = 200


def transfers(case: Case) -> list[tuple[Record, float]]:
    """Bits per second of every line that names one size of a megabyte or more and one time."""
    sizes = _by_line(quantities(case, "size"))
    times = _by_line(quantities(case, "time"))
    found: list[tuple[Record, float]] = []
    for place, named in list(sizes.items())[:MOST_LINES]:
        took = times.get(place, [])
        if len(named) == 1 and len(took) == 1 and named[0].value >= LEAST_SIZE_BYTES and took[0].value >= LEAST_TIME_S:
            found.append((named[0], 8.0 * named[0].value / took[0].value))
    return found


def _by_line(found: tuple[Quantity, ...]) -> dict[tuple[str, int], list[Quantity]]:
    lines: dict[tuple[str, int], list[Quantity]] = {}
    for one in found:
        if one.quotes:
            lines.setdefault((one.quotes[0].source, one.quotes[0].line_index), []).append(one)
    return lines
