"""Series of different paces on one clock, as `theory/correlation.py` wants them."""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from wirespeed.model.samples import Series
from wirespeed.theory.rates import rates

Numbers = NDArray[np.float64]


def on_grid(series: Iterable[Series], every_s: float, duration_s: float) -> dict[str, Numbers]:
    """Each series by `host family/scope/name`, one value for each whole `every_s` of the recording.

    A counter gives its mean rate in the cell, NaN where it fell or was not there for any of it; a gauge its highest value in the cell, so
    that a spike is not lost, or the value before it where it was not read meanwhile. All have the same length.
    """
    edges: Numbers = np.arange(int(duration_s / every_s + 1e-9) + 1, dtype=np.float64) * every_s
    return {name_of(one): _rates_in(one, edges) if one.key.kind == "counter" else _most_in(one, edges) for one in series}


def name_of(series: Series) -> str:
    """`host family/scope/name`, as `Moved` and `Periodic` name a series."""
    key = series.key
    return f"{series.host or '?'} {key.family}/{key.scope}/{key.name}"


def _rates_in(series: Series, edges: Numbers) -> Numbers:
    t_s, found = series.t_s, rates(series.t_s, series.value)
    if not len(found):
        return np.full(len(edges) - 1, np.nan)
    steps, unknown = np.diff(t_s), np.isnan(found)
    counted = np.concatenate([[0.0], np.cumsum(np.where(unknown, 0.0, found * steps))])
    dark_s = np.concatenate([[0.0], np.cumsum(np.where(unknown, steps, 0.0))])
    width_s = np.diff(edges)
    values: Numbers = np.diff(np.interp(edges, t_s, counted)) / width_s
    slack_s = 0.5 * width_s  # first and last samples stand a little beside the edges
    is_outside = (edges[1:] - slack_s < t_s[0]) | (edges[:-1] + slack_s > t_s[-1])
    values[is_outside | (np.diff(np.interp(edges, t_s, dark_s)) > 0)] = np.nan
    return values


def _most_in(series: Series, edges: Numbers) -> Numbers:
    there = ~np.isnan(series.value)
    t_s, value = series.t_s[there], series.value[there]
    cells = np.searchsorted(edges, t_s, side="right") - 1
    most = np.full(len(edges) - 1, -np.inf)
    inside = (cells >= 0) & (cells < len(most))
    np.maximum.at(most, cells[inside], value[inside])
    before = np.searchsorted(t_s, edges[:-1], side="right") - 1
    carried = np.where(before >= 0, value[np.maximum(before, 0)], np.nan) if len(value) else np.full(len(most), np.nan)
    return np.where(np.isinf(most), carried, most)
