"""Active tests of paths: which say loss, which say a queue, and what most pairs of hosts agree on."""

import ipaddress
from collections import Counter
from collections.abc import Callable, Sequence
from statistics import median
from typing import Protocol, TypeVar

from wirespeed.diagnosis.joins.cluster import OWN_BRIDGES
from wirespeed.model.case import Case
from wirespeed.model.facts.path import Address
from wirespeed.model.link_runs import DatagramTrain, FlowRun, HeaderRun, LatencyRun
from wirespeed.model.measurement import PortProbe

LOSS_RATIO = 0.001
FEWEST_LOST_COUNT = 3
"""A single lost datagram of a train is chance; the same share on three is not."""
FEWEST_SENT_COUNT = 300
"""A train this long shows one percent with some certainty (three lost)."""
FEWEST_PAIRS_COUNT = 3
"""A majority needs at least as many pairs besides the odd one."""


class Paired(Protocol):
    """A record of a test between two hosts."""

    @property
    def sender(self) -> str:
        """Who sent."""

    @property
    def receiver(self) -> str:
        """Who received."""


LATE_S = 0.015
LATE_TIMES = 3.0
"""A wake-up takes 30 microseconds on an idle host and a few milliseconds on a busy one (measured: P99 4.3 ms at load 5 to 20)."""
PROMPT_S = 0.004

P = TypeVar("P", bound=Paired)


def lossy_trains(case: Case) -> tuple[DatagramTrain, ...]:
    """Paced trains that lost datagrams on the way, not in the receiver's own socket.

    One hole in one train is a host that stood still for a moment; a lossy path shows several, or one on another path of the same host too.
    """
    lossy = case.every(
        DatagramTrain,
        lambda one: one.loss_ratio >= LOSS_RATIO and lost_on_the_way(one) >= FEWEST_LOST_COUNT and one.received_count > 0,
    )
    return tuple(
        one for one in lossy if one.loss_runs_count > 1 or any(_share_a_host(one, other) for other in lossy if other is not one)
    )


def _share_a_host(one: DatagramTrain, other: DatagramTrain) -> bool:
    return bool({one.sender, one.receiver} & {other.sender, other.receiver})


def common_host(trains: Sequence[DatagramTrain]) -> str | None:
    """The one host that all of several trains touch, where there are several and there is one."""
    ends = [frozenset((one.sender, one.receiver)) for one in trains]
    shared = frozenset.intersection(*ends) if len(set(ends)) > 1 else frozenset[str]()
    return next(iter(shared)) if len(shared) == 1 else None


def clean_trains(case: Case) -> tuple[DatagramTrain, ...]:
    """Trains long enough to show loss, that arrived whole."""
    return case.every(DatagramTrain, lambda one: one.sent_count >= FEWEST_SENT_COUNT and lost_on_the_way(one) < FEWEST_LOST_COUNT)


def lost_on_the_way(train: DatagramTrain) -> int:
    """Lost datagrams without those that the receiver's socket had no room for."""
    return train.lost_count - (train.dropped_by_receiver_count or 0)


def retransmit_ratio(flow: FlowRun) -> float | None:
    """Share of segments sent again; None where the kernel did not tell."""
    if flow.retransmits_packets is None or not flow.segments_out_packets:
        return None
    return flow.retransmits_packets / flow.segments_out_packets


def odd_ones(records: Sequence[P], figure: Callable[[P], float | None], is_worse: Callable[[float, float], bool]) -> tuple[P, ...]:
    """Records whose figure is worse than the median of the others, where enough others are left to be a majority."""
    known = [(one, value) for one in records if (value := figure(one)) is not None]
    if len(known) <= FEWEST_PAIRS_COUNT:
        return ()
    usual = median(value for _, value in known)
    odd = [one for one, value in known if is_worse(value, usual)]
    return tuple(odd) if len(known) - len(odd) >= FEWEST_PAIRS_COUNT else ()


def are_neighbours(case: Case) -> dict[frozenset[str], bool]:
    """For each pair of hosts, whether one subnet holds both: by their configured addresses, else as the sender's route says.

    The route alone is not asked first: a wrong route to a neighbour is what a detour is.
    """
    networks = networks_of(case)
    found = {}
    for one in case.every(HeaderRun, lambda one: one.is_same_subnet is not None):
        shared = networks.get(one.sender, frozenset()) & networks.get(one.receiver, frozenset())
        is_known = one.sender in networks and one.receiver in networks
        found[frozenset((one.sender, one.receiver))] = bool(shared) if is_known else bool(one.is_same_subnet)
    return found


def networks_of(case: Case) -> dict[str, frozenset[str]]:
    """The subnets of each host, bridges of its own apart."""
    found: dict[str, set[str]] = {}
    for one in case.every(Address, lambda one: one.scope == "global" and not one.link.startswith(OWN_BRIDGES)):
        if one.host is not None and one.prefix_length_number is not None:
            network = ipaddress.ip_network(f"{one.address}/{one.prefix_length_number}", strict=False)
            found.setdefault(one.host, set()).add(str(network))
    return {host: frozenset(networks) for host, networks in found.items()}


def farther_than_others(case: Case) -> tuple[HeaderRun, ...]:
    """Paths through more routers than other paths between different subnets take."""
    near = are_neighbours(case)
    routed = [one for one in _hops(case) if near.get(frozenset((one.sender, one.receiver))) is False]
    counts = Counter(one.hops_count or 0 for one in routed)
    if not counts:
        return ()
    usual, seen = counts.most_common(1)[0]
    return tuple(one for one in routed if (one.hops_count or 0) > usual) if seen >= FEWEST_PAIRS_COUNT else ()


def through_routers_to_a_neighbour(case: Case) -> tuple[HeaderRun, ...]:
    """Paths inside one subnet that pass routers all the same."""
    near = are_neighbours(case)
    return tuple(one for one in _hops(case) if (one.hops_count or 0) > 0 and near.get(frozenset((one.sender, one.receiver))))


def _hops(case: Case) -> tuple[HeaderRun, ...]:
    return case.every(HeaderRun, lambda one: one.hops_count is not None)


def idle_latencies(case: Case) -> tuple[LatencyRun, ...]:
    """Round trips without load, blocking, that had answers."""
    return case.every(LatencyRun, lambda one: one.load == "idle" and one.waiting == "blocking" and one.rtt_min_s is not None)


def late_hosts(case: Case) -> dict[str, tuple[LatencyRun, ...]]:
    """Hosts that answer very late now and then on every path, although their shortest round trips are as short as anybody's.

    A path that is long is so for all its packets; a host that sleeps between is late with whomever it speaks. The latest answer
    tells it: of thousands sent one after another few fall into the sleep, and percentiles do not see them.
    """
    runs = [one for one in idle_latencies(case) if one.rtt_max_s is not None]
    found = {}
    for host in sorted({name for one in runs for name in (one.sender, one.receiver)}):
        ours = [one for one in runs if host in (one.sender, one.receiver)]
        others = [one for one in runs if host not in (one.sender, one.receiver)]
        if len(ours) < 2 or len(others) < 2:
            continue
        usual_s = median(one.rtt_max_s or 0.0 for one in others)
        late = [
            one for one in ours if (one.rtt_max_s or 0.0) > max(LATE_S, LATE_TIMES * usual_s) and (one.rtt_min_s or 1.0) < PROMPT_S
        ]
        if len(late) == len(ours):
            found[host] = tuple(late)
    return found


def is_own_probe(probe: PortProbe) -> bool:
    """Whether we tried the port, rather than somebody who needs it."""
    return probe.source.tool == "connect"


def silent_ports(case: Case) -> tuple[PortProbe, ...]:
    """Connection attempts without any answer, to hosts that answer on other ports: a refusal is an answer too."""
    probes = case.every(PortProbe, lambda one: one.port is not None)
    answering = {(one.host, one.target) for one in probes if one.outcome in ("connected", "refused")}
    return tuple(one for one in probes if one.outcome == "timed-out" and (one.host, one.target) in answering)
