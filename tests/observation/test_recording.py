"""The recorder against machines whose counters are known functions of time, and once against this one."""

import errno
import os
import socket
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from observation.scripted import Scripted, net_dev, stop_the_clock
from wirespeed.model.facts.link import Counter
from wirespeed.model.facts.sockets import Listener
from wirespeed.model.record import Record
from wirespeed.model.samples import Block
from wirespeed.model.series import Burst, FlowSummary, RecordingCost, SeriesSummary
from wirespeed.model.source import Problem
from wirespeed.observation.recording import Recording, family_names, fast_family_names, record

SOFTNET = "{:08x} {:08x} {:08x} 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 {:08x}\n"


def of(recording: Recording, kind: type[Record]) -> list[Record]:
    return [one for one in recording.records() if isinstance(one, kind)]


def test_rates_are_exact(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = stop_the_clock(monkeypatch)
    machine = Scripted(tmp_path, clock, {"/proc/net/dev": lambda t: net_dev(eth0=(5000 + 125_000 * t, 0))})
    recording = record(machine, ["links"], for_s=2.0, every_s=0.1)
    assert recording.ended == "finished"
    found = recording.one("links", "eth0", "rx_bytes")
    assert found is not None
    assert found.t_s == pytest.approx(np.arange(21) * 0.1)
    assert found.value.tolist() == [round(5000 + 125_000 * t) for t in found.t_s]
    (rate,) = [one for one in of(recording, SeriesSummary) if one.name == "rx_bytes"]  # type: ignore[attr-defined]
    assert isinstance(rate, SeriesSummary)
    assert (rate.unit, rate.first_count, rate.last_count) == ("bytes/s", 5000, 255_000)
    assert rate.values.mean == pytest.approx(125_000)
    assert rate.values.maximum == pytest.approx(125_000, rel=1e-3)
    (counter,) = [one for one in of(recording, Counter) if one.name == "rx_bytes"]  # type: ignore[attr-defined]
    assert isinstance(counter, Counter)
    assert (counter.value_count, counter.is_delta, counter.over_s) == (250_000, True, pytest.approx(2.0))


def test_deadlines_do_not_drift_and_lateness_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each sleep wakes 3 ms late, and once 250 ms: two deadlines are missed, and the grid stays where it was."""
    clock = stop_the_clock(monkeypatch)
    clock.late_s = lambda now_s: 0.25 if 1000.95 < now_s < 1001.05 else 0.003
    machine = Scripted(tmp_path, clock, {"/proc/net/dev": lambda t: net_dev(eth0=(t, 0))})
    recording = record(machine, ["links"], for_s=3.0, every_s=0.1)
    times = recording.times("links")
    on_grid = np.round(times / 0.1) * 0.1
    assert set(np.round(times - on_grid, 3).tolist()) == {0.0, 0.003, -0.05}  # at once, a little late, and once at 1.25 s
    cost = recording.cost()
    assert cost.missed_count == 2
    assert cost.lateness_p50_s == pytest.approx(0.003)
    assert cost.lateness_max_s == pytest.approx(0.25)
    assert len(times) == 31 - 2


def test_a_wrapped_counter_and_an_interface_made_anew_are_gaps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = stop_the_clock(monkeypatch)

    def dev(t: float) -> str:
        return net_dev(eth0=((2**32 - 500_000 + 1e6 * t) % 2**32, 0), veth1=(1e6 * t if t < 1 else 1e3 * (t - 1), 0))

    recording = record(Scripted(tmp_path, clock, {"/proc/net/dev": dev}), ["links"], for_s=2.0, every_s=0.1)
    rates = {one.scope: one for one in of(recording, SeriesSummary) if one.name == "rx_bytes"}  # type: ignore[attr-defined]
    assert rates["eth0"].values.maximum == pytest.approx(1e6, rel=1e-3)  # type: ignore[attr-defined]
    assert rates["veth1"].values.maximum == pytest.approx(1e6, rel=1e-3)  # type: ignore[attr-defined]
    assert not of(recording, Burst)


def test_an_interface_that_comes_and_goes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = stop_the_clock(monkeypatch)

    def dev(t: float) -> str:
        return net_dev(eth0=(1e6 * t, 0), veth1=(7, 0)) if 0.55 < t < 1.45 else net_dev(eth0=(1e6 * t, 0))

    recording = record(Scripted(tmp_path, clock, {"/proc/net/dev": dev}), ["links"], for_s=2.0, every_s=0.1)
    veth, eth = recording.one("links", "veth1", "rx_bytes"), recording.one("links", "eth0", "rx_bytes")
    assert veth is not None
    assert eth is not None
    assert np.isnan(veth.value).tolist() == [not 0.55 < t < 1.45 for t in veth.t_s]
    assert not np.isnan(eth.value).any()


def test_bursts_of_twenty_milliseconds_show(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = stop_the_clock(monkeypatch)
    clock.late_s = lambda now_s: 0.0007 * (now_s * 7919 % 1)

    def dev(t: float) -> str:
        sent = 25e6 * (0.02 * int(t) + min(t % 1, 0.02))
        return net_dev(eth0=(0, sent))

    recording = record(Scripted(tmp_path, clock, {"/proc/net/dev": dev}), ["links"], for_s=6.0, every_s=0.01)
    (burst,) = of(recording, Burst)
    assert isinstance(burst, Burst)
    assert (burst.link, burst.direction, burst.bursts_count) == ("eth0", "tx", 6)
    assert burst.period_s == pytest.approx(1.0, abs=0.01)
    assert burst.burst_p50_s == pytest.approx(0.02, abs=0.003)
    assert burst.peak_bytes_per_s == pytest.approx(25e6, rel=0.1)
    assert burst.mean_bytes_per_s == pytest.approx(0.5e6, rel=0.05)
    assert burst.queue_peak_packets is None


def test_protocol_and_softnet_counters_come_under_the_names_of_the_facts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = stop_the_clock(monkeypatch)
    files = {
        "/proc/net/snmp": lambda t: f"Tcp: RtoMin CurrEstab OutSegs RetransSegs\nTcp: 200 5 {int(1000 * t)} {int(10 * t)}\n",
        "/proc/net/netstat": lambda t: "TcpExt: ListenOverflows TCPOFOQueue\nTcpExt: 0 77\n",
        "/proc/net/softnet_stat": lambda t: SOFTNET.format(int(100 * t), 0, 0, 0) + SOFTNET.format(int(900 * t), 3, int(8 * t), 2),
    }
    recording = record(Scripted(tmp_path, clock, files), ["protocols", "softnet"], for_s=1.0, every_s=0.1)  # type: ignore[arg-type]
    found = {(one.scope, one.name): (one.value_count, one.canonical) for one in of(recording, Counter)}  # type: ignore[attr-defined]
    assert found["Tcp", "RetransSegs"] == (10, "tcp_retransmits")
    assert found["TcpExt", "ListenOverflows"] == (0, "listen_overflows")
    assert ("TcpExt", "TCPOFOQueue") not in found
    assert found["softnet/cpu2", "processed"] == (900, None)
    assert found["softnet/cpu2", "time_squeeze"] == (8, None)
    assert not {name for _, name in found} & {"RtoMin", "CurrEstab"}


def test_what_a_machine_has_not_is_absent_with_a_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = stop_the_clock(monkeypatch)
    machine = Scripted(tmp_path, clock, {"/proc/net/dev": lambda t: net_dev(eth0=(0, 0))})
    recording = record(machine, for_s=0.3, every_s=0.1)
    assert set(recording.blocks) == {"links"}
    reasons = {problem.source.path: problem.reason for problem in recording.problems}
    assert reasons["rdma"] == reasons["gpus"] == "absent"
    assert set(reasons) == set(family_names()) - {"links"}


def test_damaged_bytes_are_a_gap_and_no_exception(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = stop_the_clock(monkeypatch)
    broken = lambda t: net_dev(eth0=(t, 0)).replace(" 0 0", " x 0") if 0.4 < t < 0.6 else net_dev(eth0=(t, 0))
    recording = record(Scripted(tmp_path, clock, {"/proc/net/dev": broken}), ["links"], for_s=1.0, every_s=0.1)
    found = recording.one("links", "eth0", "rx_bytes")
    assert found is not None
    assert np.isnan(found.value).tolist() == [0.4 < t < 0.6 for t in found.t_s]


def test_a_disk_that_takes_no_more_ends_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = stop_the_clock(monkeypatch)
    given: list[Block] = []

    def sink(blocks: Sequence[Block]) -> None:
        if len(given) >= 2:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        given.extend(blocks)

    machine = Scripted(tmp_path, clock, {"/proc/net/dev": lambda t: net_dev(eth0=(t, 0))})
    recording = record(machine, ["links"], for_s=10.0, every_s=0.1, sink=sink)
    assert recording.ended == "not-kept"
    assert recording.duration_s < 2.5
    assert any("No space left" in problem.why.en for problem in recording.problems)


def test_a_wall_clock_that_is_set_does_not_move_the_samples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = stop_the_clock(monkeypatch)

    def dev(t: float) -> str:
        if 0.95 < t < 1.05:
            clock.wall_s -= 3600.0
        return net_dev(eth0=(t, 0))

    recording = record(Scripted(tmp_path, clock, {"/proc/net/dev": dev}), ["links"], for_s=2.0, every_s=0.1)
    assert np.diff(recording.times("links")).min() > 0.09
    assert [problem.source.path for problem in recording.problems] == ["clock"]


def test_ctrl_c_keeps_what_there_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = stop_the_clock(monkeypatch)

    def dev(t: float) -> str:
        if t > 1.25:
            raise KeyboardInterrupt
        return net_dev(eth0=(t, 0))

    machine = Scripted(tmp_path, clock, {"/proc/net/dev": dev})
    with pytest.raises(KeyboardInterrupt):  # the closing sample of this machine interrupts once more
        record(machine, ["links"], for_s=9.0, every_s=0.1)
    stopped = record(machine := Scripted(tmp_path, clock, {"/proc/net/dev": lambda t: net_dev(eth0=(t, 0))}), ["links"], for_s=9.0, every_s=0.1,
                     should_stop=lambda: clock.now_s > 1003.0)  # fmt: skip
    assert stopped.ended == "stopped"
    assert len(stopped.times("links")) >= 5


def test_an_unknown_family_is_the_callers_mistake(tmp_path: Path) -> None:
    with pytest.raises(LookupError):
        record(None, ["nonsense"], for_s=0.1, every_s=0.1)


def test_this_machine() -> None:
    """Everything there is, for half a second, with a listener whose queue fills and a connection that sends small pieces."""
    with socket.create_server(("127.0.0.1", 0), backlog=1) as server:
        port = server.getsockname()[1]
        with socket.create_connection(server.getsockname()) as one:
            for _ in range(50):
                one.send(b"x" * 100)
            recording = record(None, for_s=0.6, every_s=0.05, flows=(f":{port}",))
    assert set(fast_family_names()) <= set(recording.blocks)
    assert not set(recording.blocks) & {problem.source.path for problem in recording.problems if problem.reason}
    flows = of(recording, FlowSummary)
    assert {one.remote_port for one in flows} | {one.local_port for one in flows} >= {port}  # type: ignore[attr-defined]
    assert all(port in (one.remote_port, one.local_port) for one in flows)  # type: ignore[attr-defined]
    full = [one for one in of(recording, Listener) if one.port == port]  # type: ignore[attr-defined]
    assert [one.queue_count for one in full] == [1]  # type: ignore[attr-defined]
    (cost,) = of(recording, RecordingCost)
    assert cost.cpu_ratio > 0  # type: ignore[attr-defined]
    assert all(isinstance(one, Record | Problem) for one in recording.records())
