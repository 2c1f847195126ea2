"""Bursts whose truth is known, at several sampling rates, with jitter, noise and background."""

import numpy as np
import pytest

from wirespeed.theory.bursts import bursts_of

LINE = 25e6
"""Bytes a second: 200 Mb/s."""


def counter(at_s: np.ndarray, starts_s: np.ndarray, length_s: float, background: float = 0.0) -> np.ndarray:
    """A byte counter read at these times: line rate inside bursts, a steady background always."""
    inside = np.clip(at_s[:, None] - starts_s[None, :], 0.0, length_s).sum(axis=1)
    return np.floor(inside * (LINE - background) + at_s * background)


def times(duration_s: float, every_s: float, jitter_s: float, seed: int) -> np.ndarray:
    """Absolute deadlines, each met late by up to `jitter_s`, and now and then by much more."""
    rng = np.random.default_rng(seed)
    late = rng.uniform(0, jitter_s, round(duration_s / every_s))
    late[rng.random(len(late)) < 0.01] *= 5
    return np.sort(np.arange(len(late)) * every_s + late)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("background", [0.0, 0.1 * LINE])
@pytest.mark.parametrize("every_s", [0.005, 0.01, 0.02])
def test_twenty_milliseconds_at_line_rate_each_second(every_s: float, background: float, seed: int) -> None:
    starts = 0.337 + np.arange(10) * 1.0 + np.random.default_rng(seed).uniform(0, 0.004, 10)
    t_s = times(10.5, every_s, every_s / 5, seed)
    found = bursts_of(t_s, counter(t_s, starts, 0.02, background), LINE)
    assert found is not None
    assert len(found.starts_s) == 10
    assert found.period_s == pytest.approx(1.0, abs=0.01)
    assert np.abs(found.starts_s - starts).max() <= every_s * 1.5
    assert float(np.median(found.lengths_s)) == pytest.approx(0.02, abs=max(0.004, every_s / 2))
    assert found.peak_bytes_per_s > 0.6 * LINE
    assert found.mean_bytes_per_s == pytest.approx(0.02 * (LINE - background) * 10 / 10.5 + background, rel=0.03)


def test_sampled_slower_than_they_last_they_still_show_and_are_no_shorter_than_a_sample() -> None:
    starts = 0.337 + np.arange(20) * 1.0
    t_s = times(20.5, 0.1, 0.001, 1)
    found = bursts_of(t_s, counter(t_s, starts, 0.02), LINE)
    assert found is not None
    assert len(found.starts_s) == 20
    assert found.period_s == pytest.approx(1.0, abs=0.05)
    assert 0.02 <= float(np.median(found.lengths_s)) <= 0.11


def test_a_training_step_of_half_a_second_on_and_half_off() -> None:
    starts = np.arange(10) * 1.0 + 0.2
    t_s = times(10.2, 0.01, 0.001, 2)
    found = bursts_of(t_s, counter(t_s, starts, 0.5), LINE)
    assert found is not None
    assert len(found.starts_s) == 10
    assert float(np.median(found.lengths_s)) == pytest.approx(0.5, rel=0.05)
    assert found.period_s == pytest.approx(1.0, abs=0.02)


def test_bursts_at_random_have_no_period() -> None:
    starts = np.cumsum(np.random.default_rng(5).exponential(0.7, 20)) + 0.1
    t_s = times(float(starts[-1]) + 1, 0.01, 0.001, 3)
    found = bursts_of(t_s, counter(t_s, starts, 0.02), LINE)
    assert found is not None
    assert 15 <= len(found.starts_s) <= 20
    assert found.period_s is None


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("noise", [0.0, 0.05, 0.2])
@pytest.mark.parametrize("every_s", [0.01, 0.1])
def test_steady_traffic_has_none(every_s: float, noise: float, seed: int) -> None:
    t_s = times(10.0, every_s, every_s / 10, seed)
    steps = np.random.default_rng(seed).normal(1.0, noise, len(t_s)).clip(0)
    value = np.concatenate([[0.0], np.cumsum(LINE * np.diff(t_s) * steps[1:])])
    assert bursts_of(t_s, value, LINE) is None


def test_slow_traffic_and_none_have_none() -> None:
    t_s = np.arange(1000) * 0.01
    assert bursts_of(t_s, np.floor(t_s) * 1500.0, LINE) is None  # a ping a second
    assert bursts_of(t_s, np.zeros(1000), LINE) is None
    assert bursts_of(t_s[:3], np.array([0.0, 1e9, 1e9]), LINE) is None
    assert bursts_of(t_s, np.full(1000, np.nan), LINE) is None


def test_a_counter_that_starts_anew_makes_no_burst() -> None:
    t_s = np.arange(1000) * 0.01
    value = t_s * 1e6
    value[500:] -= value[500]
    assert bursts_of(t_s, value, LINE) is None
