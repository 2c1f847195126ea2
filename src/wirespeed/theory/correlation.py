"""What moved when something else did, and what comes at even intervals: rank correlation over lags, with chance measured on the data itself."""

import math
from collections.abc import Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from wirespeed.model.series import Moved, Periodic
from wirespeed.model.source import Source
from wirespeed.theory.statistics import Values, adjusted, autocorrelations

LEAST_SAMPLES = 64
"""Below that circular shifts are too few to tell one in twenty from chance."""
LEAST_ACTIVE_SAMPLES = 3
"""A series that leaves its usual value less often than this moved with anything only once or twice: no correlation."""
AS_HIGH_RATIO = 0.7
"""Peaks at multiples of a period are equally high but for noise: the first that comes near the highest is the period itself."""
LEAST_COEFFICIENT_RATIO = 0.4
"""A rhythm that explains less of a series than this is not what people would call one."""
LEAST_REPEATS = 4
"""Spikes that came fewer times than this have no period yet."""


def moved_together(
    symptoms: Mapping[str, Values],
    others: Mapping[str, Values],
    most_lag: int,
    every_s: float,
    source: Source,
    chance: float = 0.05,
) -> tuple[Moved, ...]:
    """Series whose rank correlation (Spearman 1904) with a symptom is strong at some lag of up to `most_lag` samples, strongest first.

    All series have the same length and stand on one clock, one sample every `every_s`; a gap (NaN) takes the value before it. The strongest lag is kept. How often chance does
    it is measured by circular shifts of the symptom against all others at once: at each shift beyond the lags the strongest of *all*
    series is noted, and `chance` is the share of shifts where it is as strong as what was found (maximum statistic, Westfall & Young 1993).
    So at most one symptom in twenty names any series falsely when `chance` is 0.05, however many series there are and however autocorrelated
    they are. A symptom is not compared with itself.
    """
    names, ranked = _ranked(others)
    if not names or not 0 <= most_lag <= widest_lag(ranked.shape[1], chance):
        return ()
    count = ranked.shape[1]
    spectra = np.fft.rfft(ranked, axis=1)
    found: list[Moved] = []
    for symptom, (own,) in _one_by_one(symptoms):
        rows = np.array([name != symptom for name in names])
        if len(own) != count or not rows.any():
            continue
        # at offset k: the correlation of the series at t - k with the symptom at t
        across = np.fft.irfft(np.conj(spectra[rows]) * np.fft.rfft(own)[None, :], count, axis=1)
        kept = [name for name, is_other in zip(names, rows, strict=True) if is_other]
        for name, coefficient, lag, share in _beyond_chance(kept, across, most_lag, chance):
            moved = Moved(
                source=source,
                symptom=symptom,
                series=name,
                coefficient_ratio=coefficient,
                lag_s=lag * every_s,
                samples_count=count,
                chance_ratio=share,
            )
            found.append(moved)
    return tuple(sorted(found, key=lambda one: (one.chance_ratio, -abs(one.coefficient_ratio))))


def widest_lag(count: int, chance: float = 0.05) -> int:
    """The largest lag, in samples, at which a series of this length can still be told from chance; -1 where it is too short for any."""
    return (math.floor(count * chance + 1e-9) - 1) // 2 if count >= LEAST_SAMPLES else -1


def _beyond_chance(names: list[str], across: Values, most_lag: int, chance: float) -> Iterator[tuple[str, float, int, float]]:
    """Name, coefficient, lag and chance of the rows that stand out.

    The windows of lags around the circle do not overlap, so that each is as good a witness of chance as any other.
    """
    width = 2 * most_lag + 1
    windows = across.shape[1] // width
    turned = np.roll(across, most_lag, axis=1)[:, : windows * width].reshape(len(names), windows, width)
    strongest = np.abs(turned).max(axis=2)
    of_all = strongest.max(axis=0)
    for name, near, own in zip(names, turned[:, 0, :], strongest[:, 0], strict=True):
        share = float(np.count_nonzero(of_all >= own)) / windows
        if share <= chance:
            column = int(np.abs(near).argmax())
            yield name, float(near[column]), column - most_lag, share


def _ranked(series: Mapping[str, Values]) -> tuple[list[str], Values]:
    """Names and standardised ranks of the series that move at all."""
    rows = [(name, ranks) for name, values in series.items() if (ranks := _standard_ranks(values)) is not None]
    length = max((len(ranks) for _, ranks in rows), default=0)
    kept = [(name, ranks) for name, ranks in rows if len(ranks) == length]
    return [name for name, _ in kept], np.array([ranks for _, ranks in kept])


def _one_by_one(series: Mapping[str, Values]) -> Iterator[tuple[str, Values]]:
    for name, values in series.items():
        names, ranked = _ranked({name: values})
        if names:
            yield name, ranked


def _standard_ranks(values: Values) -> Values | None:
    """Ranks of a series (ties share theirs), of mean 0 and squares that sum to 1; None where it hardly moves.

    The line from its start to its end is taken away first: a drift would correlate with every other drift, and a shift around the
    circle would have a seam. What is left of a random walk is a bridge, whose shifts are as good as itself.
    """
    filled = _filled(values)
    if filled is None or len(filled) < LEAST_SAMPLES:
        return None
    usual = np.median(filled)
    if np.count_nonzero(filled != usual) < LEAST_ACTIVE_SAMPLES:
        return None
    ranks = ranks_of(filled if _mostly_ties(filled) else _level(filled))
    ranks -= ranks.mean()
    scale = math.sqrt(float(ranks @ ranks))
    return ranks / scale if scale > 0 else None


def _level(filled: Values) -> Values:
    """The series without the straight line between its ends, each end being a twentieth of it."""
    count = len(filled)
    edge = max(1, count // 20)
    slope = (filled[-edge:].mean() - filled[:edge].mean()) / (count - edge)
    is_flat = abs(slope) * count <= 1e-9 * float(np.abs(filled).max())
    return filled if is_flat else filled - slope * np.arange(count)


def _mostly_ties(filled: Values) -> bool:
    """Whether half the samples share one value: a counter that rarely counts. A line taken away would order its ties."""
    return 2 * int(np.count_nonzero(filled == np.median(filled))) >= len(filled)


def ranks_of(values: Values) -> Values:
    """Ranks from 0 on; equal values share the mean of theirs."""
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    return (ends - (counts + 1) / 2.0)[inverse]


def _filled(values: Values) -> Values | None:
    """The series with each gap filled by what stood before it (the first by what follows)."""
    series = np.asarray(values, dtype=np.float64)
    known: NDArray[np.bool_] = np.isfinite(series)
    if not known.any():
        return None
    if known.all():
        return series
    last = np.maximum.accumulate(np.where(known, np.arange(len(series)), -1))
    return series[np.where(last < 0, int(np.argmax(known)), last)]


def rhythms(series: Mapping[str, Values], every_s: float, source: Source, chance: float = 0.01) -> tuple[Periodic, ...]:
    """Series that spike at even intervals, strongest first; gaps (NaN) count as the value before.

    The period is the first autocorrelation peak beyond the first valley that is nearly as high as the highest, refined by its later repeats. Chance: under
    no rhythm the autocorrelation at a lag is near normal with the variance of Bartlett (1946), (1 + 2 sum of the squares before the valley) / (n - lag); the
    highest of all lags is judged, and all series together (Benjamini & Hochberg).
    """
    names: list[str] = []
    found: list[tuple[float, float, int, float]] = []
    for name, values in series.items():
        filled = _filled(values)
        if filled is None or len(filled) < LEAST_SAMPLES:
            continue
        one = _rhythm(filled)
        if one is not None:
            names.append(name)
            found.append(one)
    untested = len(series) - len(found)
    corrected = adjusted(np.array([one[3] for one in found] + [1.0] * untested))
    kept = [
        Periodic(
            source=source,
            series=name,
            period_s=period * every_s,
            coefficient_ratio=coefficient,
            repeats_count=repeats,
            chance_ratio=float(share),
        )
        for name, (period, coefficient, repeats, _), share in zip(names, found, corrected, strict=False)
        if share <= chance and coefficient >= LEAST_COEFFICIENT_RATIO
    ]
    return tuple(sorted(kept, key=lambda one: -one.coefficient_ratio))


def _rhythm(filled: Values) -> tuple[float, float, int, float] | None:
    """Period, autocorrelation there, repeats seen and chance of the strongest rhythm of one series."""
    count = len(filled)
    most_lag = count // LEAST_REPEATS
    # the usual biased estimate falls with the lag; without that, repeats of one rhythm are equally high
    shape = autocorrelations(_level(filled), most_lag) * count / (count - np.arange(most_lag + 1))
    valley = int(np.argmax(shape[1:] < 0.0)) + 1
    if shape[0] == 0.0 or shape[valley] >= 0.0:
        return None
    inner = shape[valley + 1 : -1]
    is_peak = (inner > 0) & (inner >= shape[valley:-2]) & (inner > shape[valley + 2 :])
    peaks = np.flatnonzero(is_peak) + valley + 1
    if not len(peaks):
        return None
    # spikes of a period of 33.5 samples come after 33 and 34 in turn: half of each neighbour is counted
    height = shape[peaks] + (shape[peaks - 1] + shape[peaks + 1]).clip(0.0) / 2
    first = int(peaks[height >= AS_HIGH_RATIO * height.max()][0])
    spread = math.sqrt((1.0 + 2.0 * float(np.sum(shape[1:valley] ** 2))) / (count - first))
    lags_tried = max(1, most_lag - valley)
    chance = min(1.0, lags_tried * math.erfc(float(shape[first]) / spread / math.sqrt(2.0)) / 2.0)
    return _refined(shape, peaks, first), float(min(1.0, shape[first])), int(count // first), chance


def _refined(shape: Values, peaks: NDArray[np.intp], first: int) -> float:
    """The period from the furthest peak that is still a repeat of the first: its lag divided by how many periods it spans."""
    period = float(first)
    for times in range(2, len(shape) // first + 1):
        near = peaks[np.abs(peaks - times * period) <= max(1.0, 0.2 * period)]
        strong = near[shape[near] >= 0.5 * shape[first]] if len(near) else near
        if not len(strong):
            break
        period = float(strong[np.argmax(shape[strong])]) / times
    return period
