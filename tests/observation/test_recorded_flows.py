"""What TCP_INFO read again and again says of a connection; values of each sample are written down here."""

import numpy as np
import pytest

from wirespeed.model.samples import Block, Key
from wirespeed.model.series import FlowSummary
from wirespeed.observation.recorded_flows import flow_summaries
from wirespeed.observation.recording import Recording
from wirespeed.observation.series.flows import _COUNTERS, _GAUGES

SCOPE = "10.0.0.1:40000>10.0.0.2:443"
QUIET: dict[str, float] = {
    "mss": 1448,
    "congestion_window": 10,
    "send_window": 65536,
    "unacked": 0,
    "not_sent": 0,
    "lost": 0,
    "backoff": 0,
}


def summary(scope: str = SCOPE, **series: list[float]) -> FlowSummary:
    count = max(len(one) for one in series.values())
    keys = tuple(Key("flows", scope, name, unit, "counter") for _, name, unit in _COUNTERS)
    keys += tuple(Key("flows", scope, name, unit, "gauge") for _, name, unit in _GAUGES)
    rows = np.array([series.get(key.name, [QUIET.get(key.name, 0.0)] * count) for key in keys], dtype=float).T
    block = Block("flows", keys, np.arange(count) * 0.1, rows[0], np.arange(len(keys)), rows)
    recording = Recording(host="a", every_s=0.1, started_at_s=0.0, blocks={"flows": [block]}, labels={"flows": {scope: "cubic"}})
    (found,) = flow_summaries(recording, list(recording.series("flows")))
    return found


def test_counts_are_differences_and_shares_are_of_busy_time() -> None:
    found = summary(
        sent=[1000, 2000, 6000], retransmits=[7, 7, 9], busy=[0.5, 0.55, 0.6], rwnd_limited=[0.0, 0.04, 0.08], rtt=[0.010, 0.020, 0.030],
        recv_queue=[0, 500, 100], timeouts=[3, 3, 4],
    )  # fmt: skip
    assert (found.local_address, found.local_port, found.remote_address, found.remote_port) == ("10.0.0.1", 40000, "10.0.0.2", 443)
    assert (found.sent_bytes, found.retransmits_packets, found.timeouts_count, found.congestion_control) == (5000, 2, 1, "cubic")
    assert found.busy_ratio == pytest.approx(0.1 / 0.2)
    assert found.rwnd_limited_ratio == pytest.approx(0.8)
    assert (found.rtt_p50_s, found.recv_queue_max_bytes) == (0.020, 500)


def test_an_older_kernel_leaves_fields_out_and_none_is_zero() -> None:
    gone = [float("nan")] * 3
    found = summary(sent=gone, busy=gone, rwnd_limited=gone, not_sent=gone, send_window=gone, recv_queue=[0, 0, 0])
    assert (
        found.sent_bytes
        is found.busy_ratio
        is found.rwnd_limited_ratio
        is found.held_back_ratio
        is found.send_window_p50_bytes
        is None
    )


def test_addresses_of_six() -> None:
    found = summary("[fd00::1]:9>[::1]:80", sent=[0, 1])
    assert (found.local_address, found.remote_address, found.remote_port) == ("fd00::1", "::1", 80)


HELD = {"not_sent": [20.0] * 4, "unacked": [1.0] * 4}


@pytest.mark.parametrize(
    ("change", "ratio"),
    [
        ({}, 1.0),
        ({"not_sent": [20.0, 20.0, 0.0, 0.0]}, 0.5),
        ({"not_sent": [5000.0] * 4}, 0.0),  # more than a segment: not Nagle
        ({"unacked": [0.0] * 4}, 0.0),  # nothing to wait for
        ({"unacked": [10.0] * 4}, 0.0),  # congestion window full
        ({"send_window": [0.0] * 4}, 0.0),  # receiver's window shut
        ({"lost": [1.0] * 4}, 0.0),  # recovering
        ({"backoff": [2.0] * 4}, 0.0),  # timed out
        ({"send_window": [float("nan")] * 4}, 1.0),  # an older kernel does not tell it
    ],
)
def test_held_back_is_nagle_and_nothing_else(change: dict[str, list[float]], ratio: float) -> None:
    assert summary(**(HELD | change)).held_back_ratio == ratio
