"""Each link test over loopback, both ends real."""

import time

import msgspec
import pytest

from benches.peers import TOKEN, responder
from wirespeed.benches.links import client
from wirespeed.benches.links.spec import Limits, LinkSpec
from wirespeed.model.link_runs import FlowRun, LatencyRun
from wirespeed.model.measurement import PortProbe


@pytest.mark.parametrize("address", ["127.0.0.1", "::1"])
def test_throughput_one_back_many_and_both_ways(address: str) -> None:
    with responder(address) as (port, _):
        spec = LinkSpec(
            address=address, port=port, token=TOKEN, tests=("throughput",), flows_count=2, is_both_ways=True, duration_s=0.3,
            sender="a", receiver="b",
        )  # fmt: skip
        flows = [one for one in client.run(spec) if isinstance(one, FlowRun)]
    assert [(flow.purpose, flow.sender) for flow in flows] == [
        ("single", "a"), ("single", "b"), ("parallel", "a"), ("parallel", "a"),
        ("both-ways", "a"), ("both-ways", "a"), ("both-ways", "b"), ("both-ways", "b"),
    ]  # fmt: skip
    for flow in flows:
        assert flow.error is None
        assert flow.goodput_bytes_per_s == pytest.approx(flow.received_bytes / 0.3)
        assert flow.goodput_bytes_per_s > 1e6  # loopback, on a machine that may be busy
        assert flow.congestion_control and flow.mss_bytes and flow.rtt_min_s
    assert len({flow.test for flow in flows}) == 4


def test_a_bound_is_kept_and_named() -> None:
    bound = 20e6
    with responder(limits=Limits(most_bytes_per_s=bound)) as (port, _):
        spec = LinkSpec(address="127.0.0.1", port=port, token=TOKEN, tests=("throughput",), duration_s=0.6)
        flows = [one for one in client.run(spec) if isinstance(one, FlowRun)]
    for flow in flows:
        assert flow.goodput_bytes_per_s <= 1.05 * bound
        assert flow.limited_by == "pacing"


def test_dropping_the_copy_is_said() -> None:
    with responder() as (port, _):
        spec = LinkSpec(address="127.0.0.1", port=port, token=TOKEN, tests=("throughput",), is_copied=False, duration_s=0.3)
        flows = [one for one in client.run(spec) if isinstance(one, FlowRun)]
    assert flows and all(not flow.is_copied and flow.received_bytes > 0 for flow in flows)


def test_latency_in_all_its_kinds() -> None:
    with responder() as (port, _):
        spec = LinkSpec(address="127.0.0.1", port=port, token=TOKEN, tests=("latency",), duration_s=0.4)
        runs = [one for one in client.run(spec) if isinstance(one, LatencyRun)]
    kinds = {(run.protocol, run.load, run.waiting) for run in runs}
    assert kinds >= {("tcp", "idle", "blocking"), ("udp", "idle", "spinning"), ("udp", "loaded", "blocking")}
    for run in runs:
        assert run.error is None and run.received_count > (1 if run.waiting == "spinning" else 50), run
        assert run.rtt_min_s is not None
        assert run.rtt_p50_s is None or run.rtt_min_s <= run.rtt_p50_s < 0.05
        assert (run.rtt_p99_s is None) == (run.received_count < 500)
        assert run.rtt_p99_s is not None or run.missing["rtt_p99_s"] == "absent"


def test_connect_tells_each_outcome() -> None:
    with responder() as (port, _):
        spec = LinkSpec(address="127.0.0.1", port=port, token=TOKEN, tests=("connect",), connects_count=5, ports=(1,))
        probes = [one for one in client.run(spec) if isinstance(one, PortProbe)]
    assert [(probe.port == port, probe.outcome) for probe in probes] == [(True, "connected")] * 5 + [(False, "refused")]


def test_a_joint_start_shares_one_window_and_who_is_too_late_says_so() -> None:
    with responder() as (port, _):
        spec = LinkSpec(
            address="127.0.0.1", port=port, token=TOKEN, tests=("throughput",), duration_s=0.3, label="together", purpose="incast"
        )
        (early,) = client.run(msgspec.structs.replace(spec, start_at_s=time.time() + 0.4))
        (late,) = client.run(msgspec.structs.replace(spec, start_at_s=time.time() - 5))
    assert isinstance(early, FlowRun) and isinstance(late, FlowRun)
    assert (early.test, early.purpose, early.error) == ("together", "incast", None)
    assert (late.received_bytes, late.error) == (0, "late")
