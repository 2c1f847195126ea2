"""How sure a difference is: errors of means and quantiles of autocorrelated series, intervals, and control of many comparisons.

Nothing here draws a random number. The circular block bootstrap (Politis & Romano 1992) of a mean has its variance in closed form: that of
the sums of all blocks that start at each sample, wrapped around the end. Drawing blocks would only approach it.
"""

import math
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Values: TypeAlias = NDArray[np.float64]

CONFIDENCE_RATIO = 0.95
MOST_SAMPLES = 16_384
"""A longer series is averaged in groups to find its block length."""
WIDER = 2.0
LEAST_FREEDOM = 3.0
"""Fewer degrees of freedom (four blocks, or four repeats) support no interval: Student's t is then wider than any use."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """One figure of one series with its standard error to each side; `freedom` are degrees of freedom of the error."""

    value: float
    error_below: float
    error_above: float
    freedom: float
    count: int

    def limits(self, confidence: float = CONFIDENCE_RATIO) -> tuple[float, float]:
        """The confidence interval of the figure; infinite where too little is known."""
        if self.freedom < LEAST_FREEDOM:
            return -math.inf, math.inf
        times = student_quantile(0.5 + confidence / 2, self.freedom)
        return self.value - times * self.error_below, self.value + times * self.error_above


def mean_of(values: Values) -> Estimate:
    """Mean of a stationary series of any autocorrelation; `values` is one-dimensional, NaN means not known and is left out.

    Standard error of the circular block bootstrap with the block length of `block_length`. Raises ValueError when nothing is known.
    """
    known = _known(values)
    error, freedom = _error_of_mean(known, block_length(known))
    return Estimate(float(known.mean()), error, error, freedom, len(known))


def mean_of_repeats(values: Values) -> Estimate:
    """Mean of independent repeats of one measurement: the error is that of Student. Raises ValueError when nothing is known."""
    known = _known(values)
    error = float(known.std(ddof=1)) / math.sqrt(len(known)) if len(known) > 1 else math.inf
    return Estimate(float(known.mean()), error, error, len(known) - 1.0, len(known))


def quantile_of(values: Values, share: float) -> Estimate:
    """A quantile (0.5 the median) of a stationary series of any autocorrelation.

    Woodruff (1952): a value is a possible quantile while the interval of the share of samples at most as large, itself the mean of an
    autocorrelated series, holds `share`. The error of that share is taken at the quantile and at the value itself, whichever gives the
    wider interval: a burst is one event however many samples it has. An end beyond the samples is infinitely uncertain. Raises ValueError when
    nothing is known.
    """
    known = _known(values)
    ordered = np.sort(known)
    value = float(ordered[min(max(math.ceil(share * len(known)) - 1, 0), len(known) - 1)])
    # at the largest sample "at most" would hold for all, and nothing be uncertain
    below = (known < value if value == ordered[-1] else known <= value).astype(np.float64)
    block = max(block_length(below), block_length(known))
    error, freedom = _error_of_mean(below, block)
    if ordered[0] == ordered[-1] or freedom < LEAST_FREEDOM:
        error = 0.0 if freedom >= LEAST_FREEDOM else math.inf
        return Estimate(value, error, error, freedom, len(known))
    times = student_quantile(0.5 + CONFIDENCE_RATIO / 2, freedom)
    low, high = (_at_rank(ordered, share + side * times * error) for side in (-1.0, 1.0))
    low = min(low, _lowest_possible(known, ordered, value, share, block, times))
    spread_below = value - low if math.isfinite(low) else math.inf
    return Estimate(value, spread_below / times, (high - value) / times, freedom, len(known))


def _at_rank(ordered: Values, share: float) -> float:
    """The sample with this share of all at or below it; infinite beyond either end."""
    rank = math.ceil(share * len(ordered)) - 1
    return float(ordered[rank]) if 0 <= rank < len(ordered) else math.copysign(math.inf, rank)


def _lowest_possible(known: Values, ordered: Values, value: float, share: float, block: int, times: float) -> float:
    """The smallest sample that may be the quantile, by bisection over the ranks below it, to one rank in 2,000."""
    low, high = 0, int(np.searchsorted(ordered, value))
    while high - low > len(known) // 2000:
        middle = (low + high) // 2
        below = (known <= ordered[middle]).astype(np.float64)
        if float(below.mean()) + times * _error_of_mean(below, block)[0] >= share:
            high = middle
        else:
            low = middle + 1
    return float(ordered[low])


def _known(values: Values) -> Values:
    known = np.asarray(values, dtype=np.float64)
    known = known[np.isfinite(known)]
    if not len(known):
        raise ValueError("no known value")
    return known


def _error_of_mean(known: Values, block: int) -> tuple[float, float]:
    """Standard error of the mean under the circular block bootstrap, and its degrees of freedom (independent blocks less one).

    The sums of blocks scatter around the sample's own mean, so their variance is too small by the factor (n - L) / n.
    """
    count = len(known)
    if count <= block:
        return math.inf, 0.0
    centred = known - known.mean()
    sums = np.concatenate(([0.0], np.cumsum(np.concatenate((centred, centred[: block - 1])))))
    of_blocks = sums[block:] - sums[:-block]
    variance = float(np.mean(of_blocks**2)) / (block * count) * count / (count - block)
    tiny = (np.finfo(np.float64).eps * max(1.0, math.sqrt(count)) * float(np.abs(known).max())) ** 2
    return (math.sqrt(variance) if variance > tiny else 0.0), count / block - 1.0


def block_length(values: Values) -> int:
    """Samples a block must span for a circular block bootstrap of the mean.

    Politis & White (2004), with the correction of Patton, Politis & White (2009): autocorrelations up to twice the lag from which on they are
    negligible, under a flat-top window, give the length that minimises the error of the variance. It is doubled: for an interval a block too short
    is worse than one too long (`tests/theory/test_statistics.py` has the coverage). At most 3 sqrt(n) and n / 4. Long series are
    averaged in groups first.
    """
    known = _known(values)
    group = math.ceil(len(known) / MOST_SAMPLES)
    if group > 1:
        return group * block_length(known[: len(known) // group * group].reshape(-1, group).mean(axis=1))
    count = len(known)
    most = int(min(math.ceil(3 * math.sqrt(count)), count // 4))
    correlations, variance = _autocorrelations(known, _longest_lag(count))
    if most <= 1 or variance == 0.0:
        return 1
    last = min(2 * max(_last_lag_that_counts(correlations, count), 1), len(correlations) - 1)
    lags = np.arange(1, last + 1)
    window = np.minimum(1.0, 2.0 * (1.0 - lags / last)) if last > 1 else np.ones(1)
    kept = window * correlations[1 : last + 1]
    spectrum = 1.0 + 2.0 * float(np.sum(kept))
    slope = 2.0 * float(np.sum(lags * kept))
    if spectrum <= 0.0:
        return 1
    # b = (2 G^2 / D)^(1/3) n^(1/3) with D = 4/3 g(0)^2 for the circular bootstrap; both in units of the variance
    length = (2.0 * slope**2 / (4.0 / 3.0 * spectrum**2)) ** (1 / 3) * count ** (1 / 3)
    return max(1, min(most, math.ceil(WIDER * float(length))))


def _longest_lag(count: int) -> int:
    """Lags the search may need: m_max + K_n of Politis & White, doubled as the window is."""
    return max(1, min(count - 1, 2 * (math.ceil(math.sqrt(count)) + _run_of_lags(count))))


def _run_of_lags(count: int) -> int:
    return max(5, math.ceil(math.sqrt(math.log10(max(count, 2)))))


def _last_lag_that_counts(correlations: Values, count: int) -> int:
    """The lag after which K_n autocorrelations in a row are within 2 sqrt(log10(n) / n) of zero."""
    bound = 2.0 * math.sqrt(math.log10(max(count, 2)) / count)
    run = _run_of_lags(count)
    is_large = np.abs(correlations[1:]) >= bound
    last = 0
    for lag in np.flatnonzero(is_large) + 1:
        if lag - last > run:
            break
        last = int(lag)
    return last


def _autocorrelations(known: Values, most_lag: int) -> tuple[Values, float]:
    """Autocorrelations from lag 0 on (biased, as usual), and the variance; through the power spectrum, padded so that nothing wraps."""
    count = len(known)
    centred = known - known.mean()
    size = 1 << (2 * count - 1).bit_length()
    spectrum = np.abs(np.fft.rfft(centred, size)) ** 2
    covariances = np.fft.irfft(spectrum, size)[: most_lag + 1] / count
    variance = float(covariances[0])
    scale = float(np.abs(known).max())
    if variance <= (np.finfo(np.float64).eps * scale) ** 2 * count:
        return np.zeros(most_lag + 1), 0.0
    return covariances / variance, variance


def autocorrelations(values: Values, most_lag: int) -> Values:
    """Autocorrelations of a series without gaps for the lags 0 to `most_lag`; all zero for a constant series."""
    return _autocorrelations(np.asarray(values, dtype=np.float64), most_lag)[0]


@dataclass(frozen=True, slots=True)
class Difference:
    """After less before, with the standard error to each side.

    Each side takes the two errors that matter for it (MOVER, Zou & Donner 2008), so that a skewed figure keeps its skewed interval; degrees
    of freedom by Welch and Satterthwaite.
    """

    value: float
    error_below: float
    error_above: float
    freedom: float

    def limits(self, confidence: float = CONFIDENCE_RATIO) -> tuple[float, float]:
        """The confidence interval of the difference; infinite where too little is known."""
        if self.freedom < LEAST_FREEDOM:
            return -math.inf, math.inf
        times = student_quantile(0.5 + confidence / 2, self.freedom)
        return self.value - times * self.error_below, self.value + times * self.error_above

    def chance(self, least: float = 0.0) -> float:
        """How often chance alone shows this much when the true difference is at most `least` in size (two-sided)."""
        beyond = abs(self.value) - least
        if beyond <= 0.0:
            return 1.0
        error = self.error_below if self.value > 0 else self.error_above
        if not math.isfinite(error) or self.freedom < LEAST_FREEDOM:
            return 1.0
        if error == 0.0:
            return 0.0
        return min(1.0, 2.0 * student_tail(beyond / error, self.freedom))


def difference(before: Estimate, after: Estimate) -> Difference:
    """How much a figure changed from one run to another, the two being independent."""
    below = math.hypot(after.error_below, before.error_above)
    above = math.hypot(after.error_above, before.error_below)
    return Difference(after.value - before.value, below, above, _welch(before, after))


def _welch(before: Estimate, after: Estimate) -> float:
    """Degrees of freedom of the difference; a side without error adds nothing."""
    parts = [(max(one.error_below, one.error_above), one.freedom) for one in (before, after)]
    if not all(math.isfinite(error) for error, _ in parts):
        return min(freedom for _, freedom in parts)
    largest = max(error for error, _ in parts)
    if largest == 0.0:
        return min(freedom for _, freedom in parts)
    variances = [((error / largest) ** 2, freedom) for error, freedom in parts]
    total = sum(variance for variance, _ in variances) ** 2
    return total / sum(variance**2 / max(freedom, 1e-9) for variance, freedom in variances if variance > 0)


def ratio_limits(before: Estimate, after: Estimate, confidence: float = CONFIDENCE_RATIO) -> tuple[float, float] | None:
    """Interval of after / before for positive figures (MOVER-R, Donner & Zou 2012); None where `before` may be zero.

    Both estimates contribute the limits they would have alone.
    """
    if min(before.freedom, after.freedom) < LEAST_FREEDOM:
        return None
    (low_b, high_b), (low_a, high_a) = before.limits(confidence), after.limits(confidence)
    a, b = after.value, before.value
    if not low_b > 0 or not all(math.isfinite(end) for end in (high_b, low_a, high_a)):
        return None
    low = _mover_root(a * b, low_a * (2 * a - low_a), high_b * (2 * b - high_b), -1.0)
    high = _mover_root(a * b, high_a * (2 * a - high_a), low_b * (2 * b - low_b), 1.0)
    return None if low is None or high is None else (low, high)


def _mover_root(product: float, of_after: float, of_before: float, sign: float) -> float | None:
    inner = product**2 - of_after * of_before
    if of_before <= 0 or inner < 0:
        return None
    return (product + sign * math.sqrt(inner)) / of_before


def adjusted(chances: Values) -> Values:
    """Adjusted chances of Benjamini & Hochberg (1995): calling what is at most q a discovery keeps the share of false ones at most q.

    Holds for independent comparisons and for those that depend positively on each other (Benjamini & Yekutieli 2001), as the series of one
    machine do.
    """
    count = len(chances)
    if not count:
        return np.zeros(0)
    order = np.argsort(chances)
    scaled = chances[order] * count / np.arange(1, count + 1)
    result = np.empty(count)
    result[order] = np.minimum(1.0, np.minimum.accumulate(scaled[::-1])[::-1])
    return result


def student_tail(times: float, freedom: float) -> float:
    """How often Student's t exceeds `times` (not negative): half the incomplete beta function, Abramowitz & Stegun 26.7.1."""
    if times == 0.0:
        return 0.5
    return 0.5 * _incomplete_beta(freedom / (freedom + times * times), freedom / 2.0, 0.5)


def student_quantile(share: float, freedom: float) -> float:
    """The value Student's t stays below with this probability (above one half), by Newton's method on the tail."""
    if freedom <= 0 or not 0.5 < share < 1.0:
        return math.inf
    log_scale = math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2) - 0.5 * math.log(freedom * math.pi)
    times = 0.0
    for _ in range(100):  # the tail is convex: Newton's steps from below never pass the root
        density = math.exp(log_scale - (freedom + 1) / 2 * math.log1p(times * times / freedom))
        step = (student_tail(times, freedom) - (1.0 - share)) / density
        times += step
        if abs(step) <= 1e-10 * times:
            break
    return times


def _incomplete_beta(x: float, a: float, b: float) -> float:
    """Regularised incomplete beta function by its continued fraction (Abramowitz & Stegun 26.5.8), evaluated by Lentz's method."""
    if x <= 0.0 or x >= 1.0:
        return 0.0 if x <= 0.0 else 1.0
    if x > (a + 1.0) / (a + b + 2.0):
        return 1.0 - _incomplete_beta(1.0 - x, b, a)
    front = math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)) / a
    small = 1e-300
    upper, lower, product = 1.0, 0.0, 1.0
    for step in range(400):
        half = step // 2
        if step == 0:
            term = 1.0
        elif step % 2 == 0:
            term = half * (b - half) * x / ((a + 2 * half - 1) * (a + 2 * half))
        else:
            term = -(a + half) * (a + b + half) * x / ((a + 2 * half) * (a + 2 * half + 1))
        lower = 1.0 + term * lower
        lower = 1.0 / (lower if abs(lower) > small else small)
        upper = 1.0 + term / (upper if abs(upper) > small else small)
        product *= upper * lower
        if abs(1.0 - upper * lower) < 1e-14:
            break
    return front * (product - 1.0)
