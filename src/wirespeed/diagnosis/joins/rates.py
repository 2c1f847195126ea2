"""What bulk flows between hosts say together: which hosts, which paths and which shared links are slower than their like."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from statistics import median

from wirespeed.diagnosis.joins.paths import are_neighbours, networks_of
from wirespeed.model.case import Case
from wirespeed.model.facts.path import Route
from wirespeed.model.link_runs import FlowRun
from wirespeed.model.record import Record
from wirespeed.model.series import BEFORE_TESTS, DURING_BULK, SeriesSummary

SLOW_RATIO = 0.7
"""Of what its like reach: two flows that share a port fairly get half, and background traffic of a tenth or two is no fault."""
FEWEST_PAIRS_COUNT = 3
STARVED_RATIO = 0.25
"""On an idle machine of two cores the flows of the lab wait for up to a tenth of the time."""
NOT_STARTED = "late"
"""A flow that missed the common start was not measured, which is not slow."""
ALL_BUT_ONE_SHARE = 0.75
"""A host is slow when this share of its pairs is, and a shared link when this share of the pairs across it is."""
CROWDED_RATIO = 0.5
STEADY_RATIO = 0.5
QUIET_RATIO = 0.05
ONE_SIDED_SHARE = 0.85
"""Flows spread by hash over two links rarely put more than this on one: eight flows do so once in 30."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PairRate:
    """Goodput of one ordered pair of hosts in one test, summed over its flows."""

    sender: str
    receiver: str
    is_alone: bool
    goodput_bytes_per_s: float
    flows: tuple[FlowRun, ...]


def sound_flows(case: Case, where: Callable[[FlowRun], bool] | None = None) -> tuple[FlowRun, ...]:
    """Bulk flows that measured the network: none of a test in which an end stood ready and got no processor.

    Flows of one test share what they find, so one starved flow leaves room to the others and spoils the whole test.
    """
    starved = {one.test for one in case.every(FlowRun, is_starved)}
    return case.every(FlowRun, lambda one: one.test not in starved and (where is None or where(one)))


def is_starved(flow: FlowRun) -> bool:
    """Whether an end of the flow waited for a processor so long that its rate says little of the network."""
    return max(flow.sender_starved_ratio or 0.0, flow.receiver_starved_ratio or 0.0) >= STARVED_RATIO


def pair_rates(case: Case, *, with_starved: bool = False) -> tuple[PairRate, ...]:
    """Every pair and test that measured the network (or, `with_starved`, all, as figures). `is_alone`: no other pair was measured then."""
    pairs: dict[tuple[str, str, str], list[FlowRun]] = defaultdict(list)
    tested: dict[str, set[tuple[str, str]]] = defaultdict(set)
    for flow in case.every(FlowRun) if with_starved else sound_flows(case):
        if flow.error == NOT_STARTED:
            continue
        pairs[flow.test, flow.sender, flow.receiver].append(flow)
        tested[flow.test].add((flow.sender, flow.receiver))
    return tuple(
        PairRate(
            sender=sender,
            receiver=receiver,
            is_alone=len(tested[test]) == 1,
            goodput_bytes_per_s=sum(one.goodput_bytes_per_s for one in flows),
            flows=tuple(flows),
        )
        for (test, sender, receiver), flows in pairs.items()
    )


def usual_bytes_per_s(rates: Iterable[PairRate]) -> float | None:
    """What a healthy pair reaches: the median of the better half, so that a shared limit of many pairs does not count as usual."""
    values = sorted((one.goodput_bytes_per_s for one in rates), reverse=True)
    return median(values[: (len(values) + 1) // 2]) if len(values) > FEWEST_PAIRS_COUNT else None


def is_slow(rate: PairRate, usual: float) -> bool:
    """Whether a pair reaches clearly less than is usual."""
    return rate.goodput_bytes_per_s < SLOW_RATIO * usual


@dataclass(frozen=True, slots=True, kw_only=True)
class SlowHost:
    """A host whose pairs are slow in one or both directions while pairs without it are not."""

    host: str
    directions: tuple[str, ...]
    share_ratio: float
    """Of the usual rate."""
    flows: tuple[FlowRun, ...]


def slow_hosts(case: Case) -> tuple[SlowHost, ...]:
    """Hosts that are the common member of the slow pairs, the slowest first."""
    rates = pair_rates(case)
    usual = usual_bytes_per_s(rates)
    if not usual:
        return ()
    hosts = sorted({name for one in rates for name in (one.sender, one.receiver)})
    found = [one for host in hosts if (one := _slow_host(host, rates, usual)) is not None]
    return tuple(sorted(found, key=lambda one: one.share_ratio))


def _slow_host(host: str, rates: tuple[PairRate, ...], usual: float) -> SlowHost | None:
    elsewhere = [one for one in rates if host not in (one.sender, one.receiver)]
    if len(elsewhere) < 2 or sum(is_slow(one, usual) for one in elsewhere) > (1 - ALL_BUT_ONE_SHARE) * len(elsewhere):
        return None
    directions, slow = [], []
    for direction, ours in (
        ("out", [one for one in rates if one.sender == host]),
        ("in", [one for one in rates if one.receiver == host]),
    ):
        bad = [one for one in ours if is_slow(one, usual)]
        peers = {one.receiver if direction == "out" else one.sender for one in bad}
        if len(peers) >= 2 and len(bad) >= ALL_BUT_ONE_SHARE * len(ours):
            directions.append(direction)
            slow += bad
    if not slow:
        return None
    share = median(one.goodput_bytes_per_s for one in slow) / usual
    return SlowHost(
        host=host, directions=tuple(directions), share_ratio=share, flows=tuple(flow for one in slow for flow in one.flows)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedLimit:
    """Pairs across routers that are slow when several send at once, while pairs inside a subnet are not."""

    together: tuple[PairRate, ...]
    near: tuple[PairRate, ...]
    alone_is_full: bool | None
    """Whether one such pair alone reaches the usual rate; None where that was not measured."""
    share_ratio: float


def shared_limit(case: Case) -> SharedLimit | None:
    """The limit that pairs across routers share, if there is one; links limit each direction for itself."""
    rates = pair_rates(case)
    usual = usual_bytes_per_s(rates)
    neighbours = are_neighbours(case)
    if not usual or not neighbours:
        return None
    near = [one for one in rates if neighbours.get(frozenset((one.sender, one.receiver)))]
    if any(is_slow(one, usual) for one in near):
        return None
    limits = [one for far in _by_direction(case, rates, neighbours) if (one := _limit_of(far, near, usual)) is not None]
    return min(limits, key=lambda one: one.share_ratio, default=None)


def _by_direction(case: Case, rates: tuple[PairRate, ...], neighbours: dict[frozenset[str], bool]) -> Iterable[list[PairRate]]:
    """Rates across routers, from each subnet to each other; where subnets are not known, all together."""
    networks = networks_of(case)
    groups: dict[tuple[frozenset[str], frozenset[str]], list[PairRate]] = defaultdict(list)
    for one in rates:
        if neighbours.get(frozenset((one.sender, one.receiver))) is False:
            groups[networks.get(one.sender, frozenset()), networks.get(one.receiver, frozenset())].append(one)
    return groups.values()


def _limit_of(far: list[PairRate], near: list[PairRate], usual: float) -> SharedLimit | None:
    together = [one for one in far if not one.is_alone]
    alone = [one for one in far if one.is_alone]
    slow = [one for one in together if is_slow(one, usual)]
    if len(slow) < 2 or len(slow) < ALL_BUT_ONE_SHARE * len(together):
        return None
    return SharedLimit(
        together=tuple(slow),
        near=tuple(near),
        alone_is_full=not any(is_slow(one, usual) for one in alone) if alone else None,
        share_ratio=median(one.goodput_bytes_per_s for one in slow) / usual,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class UplinkUse:
    """How a router's equal-cost links shared what it sent."""

    router: str
    busiest: str
    share_ratio: float
    """Of all that the group sent, on the busiest."""
    is_thin: bool
    """Whether even the busiest never carried what one pair reaches elsewhere: the links are slow, whatever the hash does."""
    series: tuple[Record, ...]


def uplink_use(case: Case) -> tuple[UplinkUse, ...]:
    """Routers with equal-cost links, by what each link sent while bulk flows ran, most one-sided first."""
    usual = usual_bytes_per_s(pair_rates(case)) or 0.0
    found = []
    for router, group in _equal_cost_groups(case).items():
        sent = {
            one.scope: one
            for one in _link_rates(case, DURING_BULK)
            if one.host == router and one.scope in group and one.name == "tx_bytes" and one.values.mean > 0
        }
        total = sum(one.values.mean for one in sent.values())
        if total > 0 and len(group) > 1:
            busiest = max(sent, key=lambda link: sent[link].values.mean)
            share = sent[busiest].values.mean / total
            found.append(
                UplinkUse(
                    router=router,
                    busiest=busiest,
                    share_ratio=share,
                    is_thin=sent[busiest].values.p95 < SLOW_RATIO * usual,
                    series=tuple(sent.values()),
                )
            )
    return tuple(sorted(found, key=lambda one: -one.share_ratio))


def crowded_links(case: Case) -> tuple[SeriesSummary, ...]:
    """Links that carried steady bulk traffic before any test of ours ran, busiest first.

    Traffic that comes in bursts is what a training job makes of its own; steady traffic of half of what a flow can reach is not
    the requests of a service.
    """
    usual = usual_bytes_per_s(pair_rates(case))
    found = _link_rates(case, BEFORE_TESTS)
    if not usual:
        return ()
    crowded = [one for one in found if one.values.mean >= CROWDED_RATIO * usual and one.values.p50 >= STEADY_RATIO * one.values.p99]
    return tuple(sorted(crowded, key=lambda one: -one.values.mean))


def quiet_links(case: Case) -> tuple[SeriesSummary, ...]:
    """Links that carried next to nothing before the tests."""
    usual = usual_bytes_per_s(pair_rates(case)) or 0.0
    return tuple(one for one in _link_rates(case, BEFORE_TESTS) if one.values.mean < QUIET_RATIO * usual)


def _link_rates(case: Case, phase: str) -> tuple[SeriesSummary, ...]:
    return case.every(
        SeriesSummary,
        lambda one: (
            one.family == "links" and one.name in ("rx_bytes", "tx_bytes") and one.source.path == phase and one.scope != "lo"
        ),
    )


def _equal_cost_groups(case: Case) -> Mapping[str, frozenset[str]]:
    """Links of each host's multipath routes."""
    groups: dict[str, set[str]] = defaultdict(set)
    for route in case.every(Route, lambda one: len(one.next_hops) > 1 and one.host is not None):
        for hop in route.next_hops:
            words = hop.split()
            if "dev" in words[:-1]:
                groups[route.host or ""].add(words[words.index("dev") + 1])
    return {host: frozenset(links) for host, links in groups.items()}
