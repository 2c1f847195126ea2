"""Two levels in a series of measured values: where a steady one ends and a steady worse one begins."""

from collections.abc import Sequence
from itertools import accumulate
from statistics import median

FEWEST_VALUES = 12


def break_of(values: Sequence[float], times: float, steady_ratio: float) -> int | None:
    """The place at which values begin to be `times` as large and stay so, where both sides are steady; None where there is no such place.

    A side is steady when half of its values are within `steady_ratio` of its median. Fewer than `FEWEST_VALUES` tell nothing.
    """
    if len(values) < FEWEST_VALUES:
        return None
    least = max(4, len(values) // 8)
    limit = times * median(values[:least])
    large_before = list(accumulate((value > limit for value in values), initial=0))
    best = max(
        range(least, len(values) - least + 1), key=lambda place: place - 2 * large_before[place]
    )  # most values on their own side
    before, after = values[:best], values[best:]
    is_larger = median(after) >= times * median(before)
    return best if is_larger and _is_steady(before, steady_ratio) and _is_steady(after, steady_ratio) else None


def _is_steady(values: Sequence[float], steady_ratio: float) -> bool:
    middle = median(values)
    return median(abs(value - middle) for value in values) <= steady_ratio * middle
