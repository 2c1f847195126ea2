"""Percentiles need samples behind them."""

from wirespeed.theory.samples import is_enough, median, quantile


def test_a_percentile_needs_five_samples_beyond_it() -> None:
    assert [is_enough(count, 0.99) for count in (499, 500)] == [False, True]
    assert [is_enough(count, 0.5) for count in (9, 10)] == [False, True]
    assert quantile(list(range(499)), 0.99) is None
    assert quantile(list(range(1000)), 0.99) == 990


def test_median_of_few() -> None:
    assert median([]) is None
    assert median([3, 1, 2]) == 2
    assert median([4, 1, 2, 3]) == 2.5
