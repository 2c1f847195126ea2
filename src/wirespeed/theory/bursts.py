"""Bursts in a byte counter: traffic that a mean hides. Pure arithmetic on samples taken at any, also uneven, times.

The rate between two samples is the only thing known; a burst shorter than that is seen with its volume, not its height. So a burst's
length is its volume over the height of the tallest bursts, which sampling blurs least; between two samples nothing shorter can be told.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wirespeed.theory.rates import rates, weighted_quantile

Numbers = NDArray[np.float64]

LEAST_PEAK_BYTES_PER_S = 1e6
"""Slower traffic fills no queue of a link that matters here (8 Mb/s)."""
LEAST_CONTRAST_RATIO = 0.5
"""Bursts stand out where half of what exceeds the quiet level came at a height of at least half the mean rate above it: steady traffic
with 10 % noise has 0.1, a stream that is on half the time 1.0."""
MOST_BUSY_RATIO = 0.75
"""On for more of the time than this, it is a stream with pauses."""
QUIET_QUANTILE = 0.25
TALL_QUANTILE = 0.9
EVEN_RATIO = 0.2
"""Bursts come evenly where most gaps are within this share of the median gap, or within two sampling periods."""
EVEN_SHARE_RATIO = 0.75
LEAST_GAPS = 3
LEAST_BURSTS = 2
"""One is a transfer."""


@dataclass(frozen=True, slots=True)
class Bursts:
    """What was found: starts and ends (between which a queue is worth a look), lengths, and levels of the whole series."""

    starts_s: Numbers
    ends_s: Numbers
    lengths_s: Numbers
    mean_bytes_per_s: float
    peak_bytes_per_s: float
    """Highest rate between two samples."""
    quiet_bytes_per_s: float
    period_s: float | None
    """From start to start, where they come evenly."""


def bursts_of(t_s: Numbers, value: Numbers, link_rate_bytes_per_s: float | None = None) -> Bursts | None:
    """Bursts of a byte counter sampled at `t_s`; None where traffic is steady, slow or absent.

    Of a link whose rate is known, what peaks below a hundredth of it is slow.
    """
    whole = rates(t_s, value)
    known = ~np.isnan(whole)
    if known.sum() < 4:
        return None
    starts, ends, rate = t_s[:-1][known], t_s[1:][known], whole[known]
    took = ends - starts
    mean, peak = float((rate * took).sum() / took.sum()), float(rate.max())
    quiet = weighted_quantile(rate, took, QUIET_QUANTILE)
    excess = np.maximum(rate - quiet, 0.0)
    height = weighted_quantile(excess, excess * took, 0.5)
    least = max(LEAST_PEAK_BYTES_PER_S, 0.01 * (link_rate_bytes_per_s or 0.0))
    if peak < least or not height >= LEAST_CONTRAST_RATIO * mean:
        return None
    first, last = _runs(excess, height)
    length = took[_covered(first, last, len(excess))].sum()
    if len(first) < LEAST_BURSTS or length > MOST_BUSY_RATIO * took.sum():
        return None
    tops = np.array([excess[start : end + 1].max() for start, end in zip(first, last, strict=True)])
    volumes = np.array([(excess * took)[start : end + 1].sum() for start, end in zip(first, last, strict=True)])
    tall = weighted_quantile(tops, np.ones(len(tops)), TALL_QUANTILE)
    lengths = np.minimum(volumes / tall, ends[last] - starts[first])
    began = ends[first] - np.minimum(excess[first] / tall, 1.0) * took[first]
    return Bursts(
        starts_s=began,
        ends_s=ends[last],
        lengths_s=lengths,
        mean_bytes_per_s=mean,
        peak_bytes_per_s=peak,
        quiet_bytes_per_s=quiet,
        period_s=_period(began, float(np.median(took))),
    )


def _runs(excess: Numbers, height: float) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """First and last interval of each burst: it must reach half the height somewhere, and lasts as long as an eighth of it."""
    high = excess > height / 8
    edges = np.diff(np.concatenate([[0], high.astype(np.int8), [0]]))
    first, last = np.flatnonzero(edges == 1), np.flatnonzero(edges == -1) - 1
    reaches = np.array([excess[start : end + 1].max() >= height / 2 for start, end in zip(first, last, strict=True)], dtype=bool)
    return first[reaches], last[reaches]


def _covered(first: NDArray[np.intp], last: NDArray[np.intp], count: int) -> NDArray[np.bool_]:
    inside = np.zeros(count, dtype=bool)
    for start, end in zip(first, last, strict=True):
        inside[start : end + 1] = True
    return inside


def _period(starts_s: Numbers, every_s: float) -> float | None:
    """The median gap, where most gaps are close to it."""
    gaps = np.diff(starts_s)
    if len(gaps) < LEAST_GAPS:
        return None
    middle = float(np.median(gaps))
    near = np.abs(gaps - middle) <= max(EVEN_RATIO * middle, 2 * every_s)
    return middle if near.mean() >= EVEN_SHARE_RATIO and middle > 2 * every_s else None
