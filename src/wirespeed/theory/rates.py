"""From samples to rates: differences of counters without spikes, and distributions weighted by time. Arrays in, arrays out."""

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]


def rates(t_s: Numbers, value: Numbers) -> Numbers:
    """Rate in each of the `n - 1` intervals between `n` samples of a counter.

    NaN where the counter was not there, and where it fell: a 32-bit counter that wrapped, or a device that was made anew. What it
    counted in such an interval is not known, and neither zero nor a huge number would be true.
    """
    steps, moved = np.diff(t_s), np.diff(value)
    with np.errstate(divide="ignore", invalid="ignore"):
        found = moved / steps
    found[(moved < 0) | (steps <= 0)] = np.nan
    return found


def increase(value: Numbers) -> float:
    """How much a counter counted over all its samples: the sum of its steps, those left out where it fell or was not there."""
    there = value[~np.isnan(value)]
    steps = np.diff(there)
    return float(steps[steps > 0].sum())


def weighted_quantile(value: Numbers, weight: Numbers, at: float) -> float:
    """The smallest value below or at which the share `at` of all weight lies. NaN for no values."""
    if not len(value):
        return float("nan")
    order = np.argsort(value, kind="stable")
    total = np.cumsum(weight[order])
    place = int(np.searchsorted(total, at * total[-1], side="left"))
    return float(value[order][min(place, len(value) - 1)])
