"""Active tests as evidence: four hosts on two leaves, one thing wrong at a time, and the rule that must lead."""

from collections.abc import Callable, Iterable

import pytest

from wirespeed.diagnosis import rules
from wirespeed.diagnosis.judge import judge_all
from wirespeed.diagnosis.rank import ranked
from wirespeed.model import shelf
from wirespeed.model.case import Case
from wirespeed.model.facts.link import Counter
from wirespeed.model.facts.path import Address, Route
from wirespeed.model.facts.sockets import Listener
from wirespeed.model.kinds import Rule
from wirespeed.model.link_runs import DatagramTrain, FlowRun, HeaderRun, LatencyRun, PathMtuRun
from wirespeed.model.measurement import NameServerRun, PortProbe
from wirespeed.model.record import Record
from wirespeed.model.series import BEFORE_TESTS, DURING_BULK, Distribution, FlowSummary, SeriesSummary
from wirespeed.model.source import Source

HOSTS = {"h1": "10.1.0.1", "h2": "10.1.0.2", "h3": "10.2.0.1", "h4": "10.2.0.2"}
PAIRS = [(one, other) for one in HOSTS for other in HOSTS if one != other]
ROUND = {
    frozenset(pair): name
    for name, pairs in {
        "1": (("h1", "h4"), ("h2", "h3")),
        "2": (("h1", "h3"), ("h2", "h4")),
        "3": (("h1", "h2"), ("h3", "h4")),
    }.items()
    for pair in pairs
}
FULL_BYTES_PER_S = 23_900_000.0
RULES = shelf.every(rules, Rule)


def _source(host: str, path: str = "test") -> Source:
    return Source(tool="wirespeed links", path=path, host=host)


def _is_near(one: str, other: str) -> bool:
    return HOSTS[one].rpartition(".")[0] == HOSTS[other].rpartition(".")[0]


def _flow(one: str, other: str, rate: float = FULL_BYTES_PER_S, **more: object) -> FlowRun:
    usual = {
        "test": f"round {ROUND[frozenset((one, other))]}", "purpose": "mesh", "rtt_min_s": 0.0001, "rtt_p50_s": 0.005,
        "rtt_p99_s": 0.006, "segments_out_packets": 10_000, "retransmits_packets": 0, "rwnd_limited_ratio": 0.0,
        "sndbuf_limited_ratio": 0.0, "limited_by": "congestion-window",
    }  # fmt: skip
    return FlowRun(
        source=_source(one), sender=one, receiver=other, address=HOSTS[other], port=5203, source_port=40_000, duration_s=1.0,
        received_bytes=int(rate), goodput_bytes_per_s=rate, **{**usual, **more},
    )  # fmt: skip


def _train(one: str, other: str, lost: int = 0, **more: int) -> DatagramTrain:
    return DatagramTrain(
        source=_source(one), sender=one, receiver=other, address=HOSTS[other], payload_bytes=200, rate_per_s=1500.0, sent_count=1200,
        received_count=1200 - lost, lost_count=lost, duplicates_count=0, reordered_count=0, loss_ratio=lost / 1200,
        loss_runs_count=lost, longest_loss_run_count=min(lost, 1), **more,
    )  # fmt: skip


def _latency(one: str, other: str, least_s: float = 0.00003, late_s: float = 0.0001, load: str = "idle") -> LatencyRun:
    return LatencyRun(
        source=_source(one), sender=one, receiver=other, address=HOSTS[other], protocol="tcp", load=load, payload_bytes=14,  # type: ignore[arg-type]
        sent_count=5000, received_count=5000, rtt_min_s=least_s, rtt_mean_s=least_s * 1.2, rtt_p50_s=least_s * 1.2, rtt_p95_s=late_s,
        rtt_p99_s=late_s * 1.5, rtt_max_s=late_s * 3,
    )  # fmt: skip


def _header(one: str, other: str, hops: int | None = None) -> HeaderRun:
    usual = 0 if _is_near(one, other) else 3
    return HeaderRun(
        source=_source(one), sender=one, receiver=other, address=HOSTS[other],
        hops_count=usual if hops is None else hops, is_same_subnet=_is_near(one, other),
    )  # fmt: skip


def _mtu(one: str, other: str, lost: int | None = None, reported: int | None = None) -> PathMtuRun:
    passed = 1500 if lost is None else lost - 1
    return PathMtuRun(
        source=_source(one), sender=one, receiver=other, address=HOSTS[other], interface_mtu_bytes=1500, passed_bytes=passed,
        lost_bytes=lost, reported_bytes=reported,
    )  # fmt: skip


def _port(one: str, other: str, port: int, outcome: str = "refused") -> PortProbe:
    return PortProbe(source=Source(tool="connect", path="", host=one), target=HOSTS[other], port=port, outcome=outcome, time_s=0.1)  # type: ignore[arg-type]


def _sent(router: str, link: str, mean: float, phase: str = DURING_BULK, p50: float | None = None) -> SeriesSummary:
    return SeriesSummary(
        source=Source(tool="record", path=phase, host=router), family="links", scope=link, name="tx_bytes", unit="bytes/s", every_s=0.1,
        duration_s=1.5,
        values=Distribution(count=15, mean=mean, p50=mean if p50 is None else p50, p95=mean, p99=mean * 1.1, minimum=0.0, maximum=mean * 1.2),
    )  # fmt: skip


def healthy() -> list[Record]:
    """What a fabric without a fault shows."""
    found: list[Record] = []
    for one, other in PAIRS:
        found += [_flow(one, other), _train(one, other), _latency(one, other), _header(one, other), _mtu(one, other)]
        found += [_port(one, other, port) for port in (22, 8000, 29500, 41000)]
    for leaf in ("leaf1", "leaf2"):
        hops = ("via 10.100.1.0 dev spine1 weight 1", "via 10.100.2.0 dev spine2 weight 1")
        found.append(Route(source=_source(leaf), destination="10.2.0.0/24", next_hops=hops))
        found += [_sent(leaf, "spine1", 2e7), _sent(leaf, "spine2", 3e7)]
    found += [
        Address(source=_source(name), link="eth0", address=address, prefix_length_number=24, scope="global")
        for name, address in HOSTS.items()
    ]
    found += [
        Address(source=_source(name), link="docker0", address="172.17.0.1", prefix_length_number=16, scope="global")
        for name in HOSTS
    ]
    return found


def changed(records: Iterable[Record], change: Callable[[Record], Record]) -> list[Record]:
    return [change(one) for one in records]


def _pairs(kind: type[Record], make: Callable[[str, str], Record], which: Callable[[str, str], bool]) -> list[Record]:
    """The healthy records, with those of one kind made anew for some pairs."""

    def change(one: Record) -> Record:
        if not isinstance(one, kind):
            return one
        sender, receiver = one.sender, one.receiver  # type: ignore[attr-defined]
        return make(sender, receiver) if which(sender, receiver) else one

    return changed(healthy(), change)


def causes(records: Iterable[Record]) -> list[str]:
    found = ranked(judge_all(RULES, Case(records)))
    return [one.rule.cause for one, _ in found if one.confidence_ratio >= 0.5]


def far_host(host: str) -> list[Record]:
    """A host 20 ms away: so are the round trips of messages and of flows."""

    def change(one: Record) -> Record:
        if isinstance(one, LatencyRun) and host in (one.sender, one.receiver):
            return _latency(one.sender, one.receiver, 0.021, 0.022)
        if isinstance(one, FlowRun) and host in (one.sender, one.receiver):
            return _flow(one.sender, one.receiver, rtt_min_s=0.021, rtt_p50_s=0.026)
        return one

    return changed(healthy(), change)


def test_a_standing_queue_is_no_distance() -> None:
    queued = _pairs(LatencyRun, lambda one, other: _latency(one, other, 0.012, 0.014), lambda one, other: "h4" in (one, other))
    assert "distance" not in causes(queued)


def across(one: str, other: str) -> bool:
    return not _is_near(one, other)


def test_health_is_silent() -> None:
    assert causes(healthy()) == []


FAULTS = {
    "packet-loss": lambda: _pairs(DatagramTrain, lambda one, other: _train(one, other, lost=14), lambda one, other: "h2" in (one, other)),
    "pmtu-blackhole": lambda: _pairs(PathMtuRun, lambda one, other: _mtu(one, other, lost=1401), across),
    "l3-detour": lambda: _pairs(HeaderRun, lambda one, other: _header(one, other, hops=3), lambda one, other: {one, other} == {"h1", "h2"}),
    "distance": lambda: far_host("h4"),
    "straggler-slow-node": lambda: _pairs(LatencyRun, lambda one, other: _latency(one, other, 0.00004, 0.09), lambda one, other: "h3" in (one, other)),
    "link-speed-lower-than-assumed": lambda: _pairs(FlowRun, lambda one, other: _flow(one, other, 6e6, rtt_p50_s=0.009), lambda one, other: other == "h4"),
    "tcp-window-limited": lambda: _pairs(
        FlowRun,
        lambda one, other: _flow(one, other, 1.2e6, rtt_p50_s=0.02, rtt_min_s=0.02, rwnd_limited_ratio=0.97, send_window_bytes=24_000, limited_by="receive-window"),
        lambda one, other: other == "h4",
    ),
    "bufferbloat": lambda: _pairs(FlowRun, lambda one, other: _flow(one, other, 1.9e7, rtt_p50_s=0.11, rtt_p99_s=0.19), lambda one, other: other == "h4"),
}  # fmt: skip


@pytest.mark.parametrize("cause", FAULTS)
def test_a_fault_leads(cause: str) -> None:
    assert causes(FAULTS[cause]())[:1] == [cause]


def test_a_window_over_a_distance_is_the_windows_fault() -> None:
    far = _pairs(LatencyRun, lambda one, other: _latency(one, other, 0.02, 0.021), lambda one, other: "h4" in (one, other))
    narrow = [
        _flow(one.sender, one.receiver, 1.2e6, rtt_p50_s=0.02, rtt_min_s=0.02, rwnd_limited_ratio=0.97, send_window_bytes=24_000, limited_by="receive-window")
        if isinstance(one, FlowRun) and one.receiver == "h4"
        else one
        for one in far
    ]  # fmt: skip
    assert causes(narrow)[0] == "tcp-window-limited"


@pytest.mark.parametrize(("spine1", "spine2", "cause"), [(2.4e7, 2.3e7, "oversubscribed-fabric"), (4.7e7, 1e5, "ecmp-collision")])
def test_what_pairs_share_is_told_by_the_uplinks(spine1: float, spine2: float, cause: str) -> None:
    slow = _pairs(FlowRun, lambda one, other: _flow(one, other, FULL_BYTES_PER_S / 2), across)
    without = [one for one in slow if not isinstance(one, SeriesSummary)]
    shared = [_sent(leaf, link, rate) for leaf in ("leaf1", "leaf2") for link, rate in (("spine1", spine1), ("spine2", spine2))]
    alone = _flow("h1", "h3", test="alone", purpose="parallel")
    assert causes([*without, *shared, alone])[:1] == [cause]


def test_silent_ports_are_a_filter_and_refusals_are_none() -> None:
    blocked = [_port("h1", "h3", port, "timed-out") for port in (20_000, 22_500, 25_000)]
    assert causes([*healthy(), *blocked])[:1] == ["firewall-blocks-ports"]


def test_one_silent_port_is_no_filter() -> None:
    assert causes([*healthy(), _port("h1", "h3", 20_000, "timed-out")]) == []


def test_steady_traffic_before_the_tests_is_a_neighbour_and_bursts_are_not() -> None:
    steady = [_sent("h4", "eth0", 1.5e7, BEFORE_TESTS)]
    bursts = [_sent("h4", "eth0", 1.5e7, BEFORE_TESTS, p50=0.0)]
    assert causes([*healthy(), *steady])[:1] == ["noisy-neighbour"]
    assert causes([*healthy(), *bursts]) == []


def test_a_slow_name_server() -> None:
    slow = NameServerRun(
        source=_source("h1"), server="10.1.0.253", name="h1", sent_count=5, answered_count=5, time_p50_s=0.08, time_max_s=0.09
    )
    quick = NameServerRun(
        source=_source("h1"), server="10.1.0.253", name="h1", sent_count=5, answered_count=5, time_p50_s=0.001, time_max_s=0.002
    )
    assert causes([*healthy(), slow])[:1] == ["dns-slow"]
    assert causes([*healthy(), quick]) == []


def test_a_small_piece_that_waits_is_nagle_and_a_busy_flow_is_not() -> None:
    def flow(held: float) -> FlowSummary:
        return FlowSummary(
            source=_source("h1"), local_address="10.1.0.1", local_port=40_000, remote_address="10.2.0.1", remote_port=8000,
            samples_count=120, duration_s=2.5, held_back_ratio=held,
        )  # fmt: skip

    assert causes([*healthy(), flow(0.9)])[:1] == ["nagle-delayed-ack"]
    assert causes([*healthy(), flow(0.0)]) == []


def test_an_address_of_two_hosts_and_the_bridge_that_every_host_has() -> None:
    twice = Address(source=_source("h3"), link="eth0", address="10.1.0.2", prefix_length_number=24, scope="global")
    assert causes([*healthy(), twice])[:1] == ["duplicate-address"]


def test_a_loopback_listener_matters_where_somebody_fails_to_reach_it() -> None:
    listener = Listener(source=_source("h3"), address="127.0.0.1", port=8000, backlog_count=128, queue_count=0)
    failing = Counter(source=_source("h1", BEFORE_TESTS), scope="Tcp", name="AttemptFails", value_count=40, is_delta=True)
    assert causes([*healthy(), listener]) == []
    assert causes([*healthy(), listener, failing])[:1] == ["service-bound-loopback"]


def test_flows_that_got_no_processor_blame_no_network() -> None:
    """The same rates that tell a narrow link, of ends that stood ready and waited: nothing is known of the link."""

    def slow(starved: float) -> list[Record]:
        return _pairs(
            FlowRun,
            lambda one, other: _flow(one, other, 6e6, rtt_p50_s=0.009, receiver_starved_ratio=starved),
            lambda one, other: other == "h4",
        )

    assert causes(slow(0.01))[:1] == ["link-speed-lower-than-assumed"]
    assert causes(slow(0.6)) == []


def test_answers_as_late_as_a_timeout_may_be_loss_until_datagrams_were_counted() -> None:
    late = _pairs(LatencyRun, lambda one, other: _latency(one, other, 0.00004, 0.08), lambda one, other: "h3" in (one, other))
    assert causes(late)[:1] == ["straggler-slow-node"]
    uncounted = [one for one in late if not isinstance(one, DatagramTrain)]
    assert "straggler-slow-node" not in causes(uncounted)
