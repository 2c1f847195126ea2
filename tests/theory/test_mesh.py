"""Schedules of a mesh, and what a fit names: simulated meshes with a slow host, pair or rack, or nothing, known in advance."""

import itertools
import math
import random

import pytest

from wirespeed.theory.mesh import MeshFit, Pair, Term, fit, rounds, rounds_sharing
from wirespeed.theory.students_t import tail_ratio

TRIALS = 500
WANTED_RATIO = 0.99


@pytest.mark.parametrize("count", [2, 3, 4, 7, 8, 33])
def test_every_pair_meets_once_and_no_host_twice_a_round(count: int) -> None:
    hosts = [f"h{place}" for place in range(count)]
    plan = rounds(hosts)
    assert len(plan) == count - 1 + count % 2
    met = [frozenset(pair) for pairs in plan for pair in pairs]
    assert sorted(map(sorted, met)) == sorted(map(list, itertools.combinations(sorted(hosts), 2)))
    for pairs in plan:
        busy = [host for pair in pairs for host in pair]
        assert len(busy) == len(set(busy))


@pytest.mark.parametrize("most", [1, 2, 4])
def test_shared_uplinks_carry_no_more_than_they_may(most: int) -> None:
    hosts = [f"h{place}" for place in range(12)]
    rack_of = {host: f"r{place // 4}" for place, host in enumerate(hosts)}
    plan = rounds_sharing(hosts, rack_of, most)
    assert len({frozenset(pair) for pairs in plan for pair in pairs}) == sum(map(len, plan)) == 66
    for pairs in plan:
        for rack in ("r0", "r1", "r2"):
            assert sum((rack_of[one] == rack) != (rack_of[other] == rack) for one, other in pairs) <= most
        assert len({host for pair in pairs for host in pair}) == 2 * len(pairs)


@pytest.mark.parametrize(
    ("t", "freedom", "wanted"),
    # two-sided tails from printed tables of Student's t (such as NIST/SEMATECH 1.3.6.7.2)
    [
        (12.706, 1, 0.05),
        (4.303, 2, 0.05),
        (2.228, 10, 0.05),
        (3.169, 10, 0.01),
        (4.587, 10, 0.001),
        (1.960, 1e6, 0.05),
        (0.0, 5, 1.0),
    ],
)
def test_tail_of_students_t(t: float, freedom: float, wanted: float) -> None:
    assert tail_ratio(t, freedom) == pytest.approx(wanted, rel=0.01)


def simulated(
    chance: random.Random, planted: str, hosts_count: int, noise: float, host_spread: float
) -> tuple[dict[Pair, float], dict[str, str], set[Term]]:
    """A mesh in racks of four; the truth as terms."""
    hosts = [f"h{place:02}" for place in range(hosts_count)]
    rack_of = {host: f"r{place // 4}" for place, host in enumerate(hosts)}
    own = {host: (chance.gauss(0, host_spread), chance.gauss(0, host_spread)) for host in hosts}
    slow, other = chance.sample(hosts, 2)
    rack = rack_of[slow]
    factor = math.log(chance.uniform(0.4, 0.65))
    truth: dict[str, set[Term]] = {
        "nothing": set(),
        "host": {Term("host", (slow,))},
        "sender": {Term("host", (slow,), "sending")},
        "pair": {Term("pair", (min(slow, other), max(slow, other)))},
        "way": {Term("pair", (slow, other), "sending")},
        "rack": {Term("uplink", (rack,))},
        "host and pair": {Term("host", (slow,)), Term("pair", (hosts[0], hosts[1]))},
    }
    if planted == "host and pair":
        slow = hosts[-1]
        truth[planted] = {Term("host", (slow,)), Term("pair", (hosts[0], hosts[1]))}
    values = {}
    for one, two in itertools.permutations(hosts, 2):
        is_odd = {
            "nothing": False,
            "host": slow in (one, two),
            "sender": one == slow,
            "pair": {one, two} == {slow, other},
            "way": (one, two) == (slow, other),
            "rack": (rack_of[one] == rack) != (rack_of[two] == rack),
            "host and pair": slow in (one, two) or {one, two} == {hosts[0], hosts[1]},
        }[planted]
        values[one, two] = 1.2e9 * math.exp(own[one][0] + own[two][1] + chance.gauss(0, noise) + (factor if is_odd else 0.0))
    return values, rack_of, truth[planted]


@pytest.mark.parametrize("planted", ["nothing", "host", "sender", "pair", "way", "rack", "host and pair"])
@pytest.mark.parametrize("trials", [40, pytest.param(TRIALS, marks=pytest.mark.exhaustive)])
def test_what_is_odd_is_named_and_nothing_else(planted: str, trials: int) -> None:
    """One direction of one pair is a single figure: with 10 % noise a third less is not sure enough, so its noise ends at 6 %."""
    right, most_noise = 0, 0.06 if planted == "way" else 0.10
    for trial in range(trials):
        chance = random.Random(f"{planted} {trial}")
        hosts_count = chance.choice([8, 12, 16]) if planted != "rack" else chance.choice([12, 16])
        values, rack_of, truth = simulated(
            chance, planted, hosts_count, chance.uniform(0.02, most_noise), chance.uniform(0.0, 0.02)
        )
        found = fit(values, rack_of)
        right += {odd.term for odd in found.odd} == truth
    assert right >= WANTED_RATIO * trials


def test_two_racks_are_one_way_between_them() -> None:
    """With two racks nobody can say whose uplink it is: both names stand."""
    chance = random.Random(5)
    hosts = ["a1", "a2", "a3", "b1", "b2", "b3"]
    values = {
        (one, two): (4e8 if one[0] != two[0] else 1e9) * math.exp(chance.gauss(0, 0.03))
        for one, two in itertools.permutations(hosts, 2)
    }
    found = fit(values, {host: host[0] for host in hosts})
    (odd,) = found.odd
    assert {odd.term, *odd.same_as} == {Term("uplink", ("a",)), Term("uplink", ("b",)), Term("racks", ("a", "b"))}
    assert odd.factor_ratio == pytest.approx(0.4, rel=0.1)


def test_latency_through_more_switches_is_not_odd_and_a_slow_host_is() -> None:
    chance = random.Random(6)
    hosts = [f"h{place}" for place in range(12)]
    rack_of = {host: f"r{place // 4}" for place, host in enumerate(hosts)}

    def measured(slow: str | None) -> MeshFit:
        values = {}
        for one, two in itertools.permutations(hosts, 2):
            base = 20e-6 if rack_of[one] == rack_of[two] else 45e-6
            values[one, two] = base * (2.0 if slow in (one, two) else 1.0) * math.exp(chance.gauss(0, 0.05))
        return fit(values, rack_of, is_more_better=False)

    assert measured(None).odd == ()
    assert [odd.term for odd in measured("h5").odd] == [Term("host", ("h5",))]


def test_dead_pairs_are_named_and_left_out() -> None:
    hosts = [f"h{place}" for place in range(6)]
    chance = random.Random(7)
    values: dict[Pair, float | None] = {pair: 1e9 * math.exp(chance.gauss(0, 0.02)) for pair in itertools.permutations(hosts, 2)}
    values["h0", "h1"] = None
    for pair in values:
        if "h5" in pair:
            values[pair] = 0.0
    found = fit(values)
    assert found.dead_hosts == ("h5",)
    assert ("h0", "h1") in found.dead and len(found.dead) == 11
    assert found.odd == ()
    assert found.typical == pytest.approx(1e9, rel=0.05)


def test_too_few_hosts_say_nothing() -> None:
    found = fit({("a", "b"): 1.0, ("b", "a"): 1.0, ("a", "c"): 0.1, ("c", "a"): 0.1})
    assert found.odd == () and found.typical is not None
