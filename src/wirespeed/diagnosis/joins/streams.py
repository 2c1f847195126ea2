"""Tables of first tokens and totals by place: where an answer was passed on piece by piece, and where it came at the end."""

import re

from wirespeed.model.case import Case
from wirespeed.model.settings import Table

HELD_SHARE, FLOWING_SHARE = 0.85, 0.7
"""Mean share of the whole time before the first token: above the one it came with the end, below the other it was streamed."""
_FIRST = re.compile(r"(?i)\b(?:ttft|ttfb|first (?:token|byte|chunk|event))\b")
_TOTAL = re.compile(r"(?i)\b(?:total|e2e|end[- ]to[- ]end|whole|last (?:token|byte)|complete|finish\w*)\b")
_TIME = re.compile(r"(\d+(?:\.\d+)?)\s*(ms|s|min)?")
_S = {"ms": 1e-3, "s": 1.0, "min": 60.0, None: 1.0, "": 1.0}


def held_at_one_place(case: Case) -> tuple[Table, float, float] | None:
    """A table in which one place sees its first token with the end and another one early, and those two shares."""
    for table in case.every(Table):
        first = [place for place, name in enumerate(table.columns) if _FIRST.search(name)]
        total = [place for place, name in enumerate(table.columns) if _TOTAL.search(name) and place not in first]
        if len(first) < 2 or len(first) != len(total):
            continue
        shares = [share for pair in zip(first, total, strict=True) if (share := _mean_share(table, *pair)) is not None]
        if len(shares) == len(first) and max(shares) >= HELD_SHARE and min(shares) <= FLOWING_SHARE:
            return table, max(shares), min(shares)
    return None


def _mean_share(table: Table, first: int, total: int) -> float | None:
    cells = [(_seconds(row[first]), _seconds(row[total])) for row in table.rows if len(row) > max(first, total)]
    shares = [early / whole for early, whole in cells if early is not None and whole]
    return sum(shares) / len(shares) if shares and max(shares) <= 1.05 else None


def _seconds(cell: str) -> float | None:
    found = _TIME.search(cell)
    return float(found[1]) * _S[found[2]] if found else None
