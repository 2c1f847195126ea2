"""Planted relations are found with their lag among noise, and noise alone is called a relation no more often than stated."""

import time

import numpy as np
import pytest

from theory.test_statistics import autoregressive
from wirespeed.model.source import Source
from wirespeed.theory.correlation import moved_together, ranks_of, rhythms, widest_lag

SOURCE = Source(tool="test", path="run")
EVERY_S = 0.1


def named(rows: np.ndarray) -> dict[str, np.ndarray]:
    return {f"link/eth{index}/rx": row for index, row in enumerate(rows)}


def moved(symptom: np.ndarray, others: dict[str, np.ndarray], most_lag: int) -> dict[str, float]:
    found = moved_together({"tcp/retransmits": symptom}, others, most_lag, EVERY_S, SOURCE)
    return {one.series: one.lag_s for one in found}


@pytest.mark.parametrize("lag", [-9, 0, 4])
def test_a_lagged_relation_is_found_among_noise(lag: int) -> None:
    rng = np.random.default_rng(30)
    others = named(np.concatenate([autoregressive(phi, 600, 20, rng) for phi in (0.0, 0.9, 0.99)]))
    driver = autoregressive(0.6, 600, 1, rng)[0]
    symptom = np.roll(np.exp(driver), lag) + 0.3 * rng.standard_normal(600)
    found = moved_together({"s": symptom}, {**others, "queue": driver}, 12, EVERY_S, SOURCE)
    assert found[0].series == "queue"
    assert found[0].lag_s == pytest.approx(lag * EVERY_S), "positive where the series moves before the symptom"
    assert found[0].coefficient_ratio > 0.7
    assert found[0].chance_ratio <= 1 / 24
    assert found[0].samples_count == 600


def test_rare_events_that_coincide_are_found() -> None:
    rng = np.random.default_rng(31)
    drops = (rng.random(600) < 0.02).astype(float)
    others = named((rng.random((30, 600)) < 0.02).astype(float))
    assert moved(np.roll(drops, 2) * 7, {**others, "drops": drops}, 5) == {"drops": pytest.approx(0.2)}


@pytest.mark.parametrize("phi", [0.0, 0.9, 1.0])
def test_noise_alone_is_rarely_called_a_relation(phi: float) -> None:
    """At most one symptom in twenty, for white noise and for random walks; 0.09 leaves room for the 200 trials (three sigma)."""
    rng = np.random.default_rng(32)
    false = 0
    for _ in range(200):
        rows = np.cumsum(rng.standard_normal((11, 300)), axis=1) if phi == 1.0 else autoregressive(phi, 300, 11, rng)
        false += bool(moved(rows[0], named(rows[1:]), 7))
    assert false / 200 <= 0.09


def test_drifts_are_no_relation() -> None:
    """Two gauges that grow all the time have that in common with every other, and it says nothing."""
    rng = np.random.default_rng(33)
    ramp = np.linspace(0, 100, 400)
    assert not moved(ramp + rng.standard_normal(400), {"memory": 2 * ramp + rng.standard_normal(400)}, 5)


def test_what_does_not_move_or_is_too_short_is_left_out() -> None:
    rng = np.random.default_rng(34)
    series = rng.standard_normal(200)
    single = np.zeros(200)
    single[50] = 1.0
    others = {"still": np.ones(200), "unknown": np.full(200, np.nan), "single": single, "short": series[:70]}
    assert not moved(series, others, 2)
    assert not moved(series, {"s": series}, widest_lag(200) + 1)
    assert not moved(series[:20], {"s": series[:20]}, 0)
    assert not moved(series, {}, 2)
    assert widest_lag(10) == -1


def test_a_series_is_not_its_own_cause() -> None:
    series = np.random.default_rng(35).standard_normal(300)
    assert not moved(series, {"tcp/retransmits": series}, 3)


def test_gaps_take_the_value_before() -> None:
    rng = np.random.default_rng(36)
    driver = autoregressive(0.8, 400, 1, rng)[0]
    holed = driver.copy()
    holed[[0, 40, 41, 399]] = np.nan
    assert moved(driver, {"holed": holed}, 4) == {"holed": 0.0}


def test_three_hundred_series_within_two_seconds() -> None:
    rng = np.random.default_rng(37)
    rows = rng.standard_normal((305, 1500))
    start_s = time.process_time()
    moved_together(named(rows[:5]), named(rows), widest_lag(1500), EVERY_S, SOURCE)
    assert time.process_time() - start_s < 2.0


def test_ranks_share_ties() -> None:
    assert ranks_of(np.array([5.0, 1, 5, 3])).tolist() == [2.5, 0, 2.5, 1]


@pytest.mark.parametrize("period", [7, 20, 33.5, 100])
def test_even_spikes_have_their_period(period: float) -> None:
    rng = np.random.default_rng(38)
    series = 0.2 * rng.standard_normal(800)
    series[np.arange(3, 800, period).astype(int)] += 5
    others = named(autoregressive(0.9, 800, 40, rng))
    found = rhythms({**others, "spikes": series}, EVERY_S, SOURCE)
    assert [one.series for one in found] == ["spikes"]
    assert found[0].period_s == pytest.approx(period * EVERY_S, rel=0.02)
    assert found[0].repeats_count == pytest.approx(800 / period, abs=1)


@pytest.mark.parametrize("phi", [0.0, 0.5, 0.9, 0.99])
def test_noise_has_no_rhythm(phi: float) -> None:
    """Stated: one family of series in a hundred; 5 of 100 leaves room for the trials."""
    rng = np.random.default_rng(39)
    assert sum(bool(rhythms(named(autoregressive(phi, 400, 10, rng)), EVERY_S, SOURCE)) for _ in range(100)) <= 5


def test_a_single_spike_or_a_step_has_no_rhythm() -> None:
    spike, step = np.zeros(300), np.zeros(300)
    spike[100], step[150:] = 1.0, 1.0
    assert not rhythms({"spike": spike, "step": step, "still": np.ones(300), "ramp": np.arange(300.0)}, EVERY_S, SOURCE)
