"""A recording with bursts that fill a queue and lose packets: the queue, the drops and the rate are told together."""

import time

import numpy as np
import pytest

from wirespeed.diagnosis.correlated import correlated
from wirespeed.model.samples import Key, Series
from wirespeed.model.series import Moved, Periodic

EVERY_S = 0.05
COUNT = 1200


def counter(family: str, name: str, unit: str, per_s: np.ndarray, every: int = 1) -> Series:
    value = np.concatenate(([100.0], 100 + np.cumsum(per_s * EVERY_S)))[::every]
    return Series(host="a", key=Key(family, "eth0", name, unit), t_s=np.arange(len(value)) * EVERY_S * every, value=value)


def recording(seed: int, starts: np.ndarray | None = None) -> list[Series]:
    """Even traffic, with bursts at these samples; drops come one sample after."""
    rng = np.random.default_rng(seed)
    rate = 2e6 * rng.gamma(4, 0.25, COUNT)
    if starts is not None:
        rate[starts] += 3e7 * rng.uniform(0.8, 1.2, len(starts))
    queue = np.concatenate((rng.poisson(0.2, 1), 60 * (rate / 3e7).clip(0, 1) ** 2))[: COUNT + 1]
    drops = np.roll(rng.poisson(40 * (rate > 2e7) * rng.uniform(0.2, 1.8, COUNT)), 1) / EVERY_S
    noise = [counter("cpu", f"noise{index}", "1", 300 * rng.gamma(2, 0.5, COUNT)) for index in range(20)]
    backlog = Series(
        host="a", key=Key("qdiscs", "eth0", "backlog_packets", "packets", "gauge"), t_s=np.arange(COUNT + 1) * EVERY_S, value=queue
    )
    return [counter("links", "tx_bytes", "bytes", rate), backlog, counter("protocols", "RetransSegs", "packets", drops), *noise]


def test_rate_queue_and_retransmits_are_told_together() -> None:
    rng = np.random.default_rng(2)
    found = correlated(recording(1, np.flatnonzero(rng.random(COUNT) < 0.05)))
    moved = {(one.symptom, one.series): one for one in found if isinstance(one, Moved)}
    with_retransmits = moved["a protocols/eth0/RetransSegs", "a links/eth0/tx_bytes"]
    assert with_retransmits.lag_s == pytest.approx(EVERY_S), "the burst comes first"
    assert ("a qdiscs/eth0/backlog_packets", "a links/eth0/tx_bytes") in moved
    assert not [series for _, series in moved if "noise" in series]
    assert not [one for one in found if isinstance(one, Periodic)]


def test_even_bursts_have_one_period_in_rate_queue_and_retransmits() -> None:
    """What comes evenly correlates with all that comes as evenly: the common period is what can be told, and no lag."""
    found = correlated(recording(1, np.arange(0, COUNT, 20)))
    periods = {one.series: one.period_s for one in found if isinstance(one, Periodic)}
    assert set(periods) == {"a links/eth0/tx_bytes", "a qdiscs/eth0/backlog_packets", "a protocols/eth0/RetransSegs"}
    assert all(period_s == pytest.approx(1.0, rel=0.02) for period_s in periods.values())


@pytest.mark.parametrize("seed", range(10, 16))
def test_an_even_flow_has_no_symptom(seed: int) -> None:
    assert correlated(recording(seed)) == ()


def test_nothing_from_nothing() -> None:
    empty = Series(host=None, key=Key("links", "e", "rx"), t_s=np.zeros(0), value=np.zeros(0))
    assert correlated([]) == ()
    assert correlated([empty]) == ()
    assert correlated([Series(host=None, key=empty.key, t_s=np.arange(5.0), value=np.arange(5.0))]) == ()


def test_a_long_recording_is_quick() -> None:
    rng = np.random.default_rng(5)
    many = [counter("links", f"rx_dropped{index}", "packets", rng.poisson(5, 20_000).astype(float)) for index in range(100)]
    start_s = time.process_time()
    correlated(many)
    assert time.process_time() - start_s < 2.0
