"""Percentiles of samples, told only where enough samples stand behind them."""

from collections.abc import Sequence

ENOUGH_BEYOND_COUNT = 5
"""A percentile is told where at least so many samples lie beyond it: 10 for P50, 100 for P95, 500 for P99."""


def is_enough(count: int, quantile_ratio: float) -> bool:
    """Whether `count` samples tell this quantile."""
    return count * (1.0 - quantile_ratio) >= ENOUGH_BEYOND_COUNT - 1e-9


def quantile(ordered: Sequence[float], quantile_ratio: float) -> float | None:
    """The quantile of samples in ascending order (nearest rank), or None where too few samples stand behind it."""
    if not is_enough(len(ordered), quantile_ratio):
        return None
    return ordered[min(len(ordered) - 1, int(len(ordered) * quantile_ratio))]


def median(values: Sequence[float]) -> float | None:
    """The middle of values in any order, None of none. For a typical value, not for a distribution's statement."""
    ordered = sorted(values)
    middle = len(ordered) // 2
    if not ordered:
        return None
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2.0
