"""Intervals cover what they say, on series whose truth is known; formulas agree with drawing and with printed tables."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wirespeed.theory.statistics import (
    LEAST_FREEDOM,
    Estimate,
    adjusted,
    block_length,
    difference,
    mean_of,
    mean_of_repeats,
    quantile_of,
    ratio_limits,
    student_quantile,
    student_tail,
)

PAIRS = 150
NORMAL_99 = 2.326348
"""99th percentile of the standard normal distribution."""


def autoregressive(phi: float, count: int, rows: int, rng: np.random.Generator) -> np.ndarray:
    """Rows of a stationary AR(1) process of mean 0 and variance 1 / (1 - phi^2)."""
    noise = rng.standard_normal((rows, count))
    series = np.empty_like(noise)
    series[:, 0] = noise[:, 0] / math.sqrt(1 - phi**2)
    for index in range(1, count):
        series[:, index] = phi * series[:, index - 1] + noise[:, index]
    return series


@pytest.mark.parametrize(("phi", "count"), [(0.0, 100), (0.0, 1500), (0.5, 300), (0.9, 300), (0.9, 1500), (-0.5, 300)])
def test_the_interval_of_a_difference_covers_it(phi: float, count: int) -> None:
    """At least nine in ten at a stated 95 %, for mean, median and 99th percentile, and not by being endless."""
    rng = np.random.default_rng(20)
    before, after = autoregressive(phi, count, PAIRS, rng), 1.0 + autoregressive(phi, count, PAIRS, rng)
    for figure in (mean_of, lambda series: quantile_of(series, 0.5), lambda series: quantile_of(series, 0.99)):
        limits = [difference(figure(old), figure(new)).limits() for old, new in zip(before, after, strict=True)]
        assert np.mean([low <= 1.0 <= high for low, high in limits]) >= 0.90
    widths = [high - low for low, high in (difference(mean_of(a), mean_of(b)).limits() for a, b in zip(before, after, strict=True))]
    truth = 2 * 1.96 * math.sqrt(2 / count) / (1 - phi)
    assert np.median(widths) < 2 * truth


def test_the_interval_of_a_ratio_covers_it() -> None:
    rng = np.random.default_rng(21)
    before, after = 20 + autoregressive(0.7, 600, PAIRS, rng), 25 + autoregressive(0.7, 600, PAIRS, rng)
    limits = [ratio_limits(mean_of(old), mean_of(new)) for old, new in zip(before, after, strict=True)]
    assert np.mean([low <= 1.25 <= high for low, high in limits if (low, high)]) >= 0.90
    assert ratio_limits(mean_of(before[0] - 20), mean_of(after[0])) is None, "what may be zero divides nothing"


def test_the_closed_form_is_what_drawing_blocks_gives() -> None:
    """The same circular blocks, drawn 4,000 times."""
    rng = np.random.default_rng(22)
    (series,) = autoregressive(0.8, 400, 1, rng)
    block = block_length(series)
    starts = rng.integers(0, len(series), (4000, len(series) // block))
    drawn = series[(starts[:, :, None] + np.arange(block)) % len(series)].mean(axis=(1, 2))
    used = len(series) // block * block
    corrected = drawn.std() * math.sqrt(used / len(series)) * math.sqrt(len(series) / (len(series) - block))
    assert mean_of(series).error_below == pytest.approx(corrected, rel=0.05)


def test_blocks_are_longer_where_memory_is() -> None:
    rng = np.random.default_rng(23)
    lengths = [np.mean([block_length(row) for row in autoregressive(phi, 1500, 20, rng)]) for phi in (0.0, 0.5, 0.9)]
    assert lengths[0] < 6 < lengths[1] < lengths[2]
    assert block_length(np.repeat(rng.standard_normal(5000), 20)) >= 20, "also where a long series is averaged first"


@given(
    st.integers(0, 2**32 - 1),
    st.floats(1e-6, 1e9),
    st.floats(-100.0, 100.0),
)
def test_units_do_not_matter(seed: int, scale: float, shift: float) -> None:
    rng = np.random.default_rng(seed)
    before, after = rng.standard_normal(120) + shift, rng.standard_normal(120) + shift
    for figure in (mean_of, lambda series: quantile_of(series, 0.9)):
        plain, scaled = difference(figure(before), figure(after)), difference(figure(before * scale), figure(after * scale))
        assert scaled.value == pytest.approx(plain.value * scale, rel=1e-6, abs=1e-9 * scale)
        assert scaled.chance() == pytest.approx(plain.chance(), rel=1e-5, abs=1e-12)


@given(st.lists(st.floats(-1e12, 1e12), min_size=1, max_size=200))
def test_a_series_does_not_differ_from_itself(values: list[float]) -> None:
    series = np.array(values)
    for figure in (mean_of(series), quantile_of(series, 0.5), quantile_of(series, 0.99)):
        same = difference(figure, figure)
        low, high = same.limits()
        assert (same.value, same.chance()) == (0.0, 1.0)
        assert low <= 0.0 <= high


def test_too_little_is_told() -> None:
    with pytest.raises(ValueError, match="no known value"):
        mean_of(np.array([np.nan]))
    few = difference(mean_of(np.array([1.0, 2.0])), mean_of(np.array([100.0, 101.0])))
    assert few.freedom < LEAST_FREEDOM
    assert (few.chance(), few.limits()) == (1.0, (-math.inf, math.inf))
    single = difference(mean_of_repeats(np.array([1.0])), mean_of_repeats(np.array([100.0])))
    assert single.chance() == 1.0
    tail = quantile_of(np.random.default_rng(1).standard_normal(50), 0.99)
    assert math.isinf(tail.error_above), "fifty samples have no upper end of a 99th percentile"


def test_one_burst_is_one_event_and_many_are_not() -> None:
    """A tenth of the samples in one stretch says little of the next run; the same tenth in thirty stretches says much."""
    once, often = np.zeros(300), np.zeros(300)
    once[100:130], often[::10] = 1000.0, 1000.0
    quiet = quantile_of(np.zeros(300), 0.99)
    assert difference(quiet, quantile_of(once, 0.99)).chance(least=1.0) > 0.05
    assert difference(quiet, quantile_of(often, 0.99)).chance(least=1.0) < 0.001


def test_gaps_are_left_out() -> None:
    rng = np.random.default_rng(24)
    series = rng.standard_normal(300)
    holed = np.insert(series, [0, 100, 300], np.nan)
    assert mean_of(holed) == mean_of(series)


def test_repeats_are_students_case() -> None:
    """Worked by hand: 10, 12, 14 against 20, 22, 24 differ by 10 with an error of sqrt(4/3 + 4/3) and four degrees of freedom."""
    change = difference(mean_of_repeats(np.array([10.0, 12, 14])), mean_of_repeats(np.array([20.0, 22, 24])))
    assert (change.value, change.freedom) == (10.0, pytest.approx(4.0))
    assert change.error_below == pytest.approx(math.sqrt(8 / 3))
    assert change.limits()[1] - 10 == pytest.approx(2.776445 * math.sqrt(8 / 3), rel=1e-6)
    assert change.chance(least=9.9) > 0.9


@pytest.mark.parametrize(
    ("freedom", "share", "value"),
    [(1, 0.975, 12.7062), (2, 0.975, 4.30265), (5, 0.995, 4.03214), (30, 0.95, 1.69726), (1e6, 0.975, 1.95996)],
)
def test_student_as_printed_in_tables(freedom: float, share: float, value: float) -> None:
    assert student_quantile(share, freedom) == pytest.approx(value, rel=1e-5)
    assert student_tail(value, freedom) == pytest.approx(1 - share, rel=1e-4)


def test_benjamini_and_hochberg_as_published() -> None:
    """The example of their paper (1995, section 3.2): 15 chances, of which four are discoveries at 0.05."""
    chances = [0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1.0]
    assert int(np.sum(adjusted(np.array(chances)) <= 0.05)) == 4
    assert adjusted(np.array(chances[::-1]))[-1] == pytest.approx(0.0001 * 15)
    assert len(adjusted(np.zeros(0))) == 0


def test_skew_is_kept() -> None:
    """A figure that is uncertain upwards only makes a difference that is so too, on the side it belongs to."""
    skewed, sure = Estimate(5.0, 0.1, 2.0, 50.0, 100), Estimate(5.0, 0.0, 0.0, 50.0, 100)
    assert (difference(sure, skewed).error_above, difference(sure, skewed).error_below) == (2.0, 0.1)
    assert (difference(skewed, sure).error_above, difference(skewed, sure).error_below) == (0.1, 2.0)
