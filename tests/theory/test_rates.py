"""Rates of counters: exact where nothing happened, a gap where something did."""

import numpy as np
import pytest

from wirespeed.theory.rates import increase, rates, weighted_quantile


def test_uneven_times() -> None:
    assert rates(np.array([0.0, 1.0, 3.0]), np.array([5.0, 15.0, 15.0])).tolist() == [10.0, 0.0]


@pytest.mark.parametrize(
    "values",
    [
        [2**32 - 10, 2**32 - 1, 15, 25],  # a counter of 32 bits that wrapped
        [1_000_000, 1_000_010, 0, 10],  # an interface made anew
    ],
)
def test_a_counter_that_falls_is_a_gap_and_no_spike(values: list[float]) -> None:
    found = rates(np.arange(4.0), np.array(values, dtype=float))
    assert np.isnan(found).tolist() == [False, True, False]
    assert found[[0, 2]].max() <= 10
    assert increase(np.array(values, dtype=float)) == found[[0, 2]].sum()


def test_what_was_not_there_is_no_rate() -> None:
    found = rates(np.arange(4.0), np.array([1.0, np.nan, 5.0, 8.0]))
    assert np.isnan(found).tolist() == [True, True, False]


def test_weighted_quantile() -> None:
    value, weight = np.array([3.0, 1.0, 2.0]), np.array([1.0, 8.0, 1.0])
    assert weighted_quantile(value, weight, 0.5) == 1.0
    assert weighted_quantile(value, weight, 0.85) == 2.0
    assert weighted_quantile(value, weight, 1.0) == 3.0
