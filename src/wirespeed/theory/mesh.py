"""A full mesh of pairs: who measures whom and when, and what the figures say of hosts, pairs and racks.

The schedule is a round-robin tournament: no host is in two pairs at once. The fit works on logarithms, so that effects are factors:

    log value(i to j) = typical + host i as sender + host j as receiver + what is odd + noise

What is odd is one of a few simple things, each one number: a host (as sender, receiver or both), a pair (one direction or both), a
rack (what leaves or enters it, or everything it touches), or the way between two racks. Terms are taken in by how much
of the spread they explain and then tested, weakest first, against the spread that remains: of single measurements (sigma) and of
ordinary hosts (tau). So a slow host, a slow pair and a slow rack are told apart by which of them explains the figures, and named
only where chance and the usual differences between hosts do not.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeAlias, TypeVar

from wirespeed.theory.students_t import tail_ratio

T = TypeVar("T")
Pair: TypeAlias = tuple[str, str]
Direction: TypeAlias = Literal["both", "sending", "receiving"]
Kind: TypeAlias = Literal["host", "pair", "uplink", "rack", "racks"]

CHANCE_RATIO = 0.001
"""How often chance may name something of one kind in a whole healthy mesh (shared over all candidates of the kind, after Bonferroni)."""
_OF_RACKS = {"uplink", "rack", "racks"}
MOST_TERMS = 5
FEWEST_HOSTS = 4
"""With three hosts a slow host and a slow pair look the same."""


class Term(NamedTuple):
    """Something that may be odd: a host, a pair (its first the sender where `direction` is `sending`), what leaves and enters a rack
    (`uplink`), all that touches it (`rack`), or the way between two racks."""

    kind: Kind
    names: tuple[str, ...]
    direction: Direction = "both"


class Odd(NamedTuple):
    """Something that is odd: a term, its factor, how sure that is, and terms the same figures would also fit."""

    term: Term
    factor_ratio: float
    """Of the typical value: 0.5 is half."""
    chance_ratio: float
    """How often chance alone would name something of this kind, here or elsewhere in the mesh."""
    same_as: tuple[Term, ...]


class MeshFit(NamedTuple):
    """What a mesh's figures say."""

    typical: float | None
    """Median of all pairs."""
    sending_ratio: dict[str, float]
    """Each host's factor as a sender, against the median host."""
    receiving_ratio: dict[str, float]
    pair_spread_ratio: float | None
    """Spread (standard deviation) of single pairs after all effects."""
    host_spread_ratio: float | None
    """Spread of ordinary hosts."""
    odd: tuple[Odd, ...]
    dead: tuple[Pair, ...]
    """Pairs that gave nothing."""
    dead_hosts: tuple[str, ...]
    """Hosts all of whose pairs gave nothing, while others did."""


def rounds(hosts: Sequence[T]) -> list[list[tuple[T, T]]]:
    """All pairs of hosts in rounds of disjoint pairs: N - 1 rounds for an even number of hosts, N for an odd one (circle method)."""
    ring: list[T | None] = [*hosts, *([None] if len(hosts) % 2 else [])]
    found = []
    for _ in range(len(ring) - 1):
        matched = [(ring[place], ring[-1 - place]) for place in range(len(ring) // 2)]
        found.append([(one, other) for one, other in matched if one is not None and other is not None])
        ring = [ring[0], ring[-1], *ring[1:-1]]
    return [pairs for pairs in found if pairs]


def rounds_sharing(hosts: Sequence[str], rack_of: Mapping[str, str], most_crossing_count: int) -> list[list[Pair]]:
    """Rounds in which at most so many pairs at once leave or enter any rack, for uplinks that carry less than all hosts together."""
    waiting = [pair for pairs in rounds(hosts) for pair in pairs]
    found = []
    while waiting:
        busy: set[str] = set()
        crossing: dict[str, int] = {}
        taken, left = [], []
        for pair in waiting:
            racks = {rack_of[host] for host in pair}
            is_full = len(racks) == 2 and any(crossing.get(rack, 0) >= max(1, most_crossing_count) for rack in racks)
            if busy & set(pair) or is_full:
                left.append(pair)
                continue
            taken.append(pair)
            busy |= set(pair)
            for rack in racks if len(racks) == 2 else ():
                crossing[rack] = crossing.get(rack, 0) + 1
        found.append(taken)
        waiting = left
    return found


def fit(values: Mapping[Pair, float | None], rack_of: Mapping[str, str] | None = None, *, is_more_better: bool = True) -> MeshFit:
    """Fit the figures of a mesh: sender and receiver to value (bandwidth; for latencies `is_more_better` is false).

    None and zero are pairs that gave nothing; they are named and left out of the fit. Racks that only some hosts have are ignored.
    """
    hosts = sorted({host for pair in values for host in pair})
    alive = {pair: float(value) for pair, value in values.items() if value is not None and value > 0}
    dead = tuple(sorted(pair for pair in values if pair not in alive))
    dead_hosts = tuple(host for host in hosts if alive and not any(host in pair for pair in alive))
    living = [host for host in hosts if host not in dead_hosts]
    racks = {host: rack_of[host] for host in living} if rack_of and all(host in rack_of for host in living) else {}
    typical = _median(sorted(alive.values())) if alive else None
    if len(living) < FEWEST_HOSTS or len(alive) < 2 * len(living):
        return MeshFit(typical, {}, {}, None, None, (), dead, dead_hosts)
    mesh = _Mesh(living, alive, racks, is_more_better)
    terms = mesh.selected()
    sigma, tau = mesh.spreads(terms)
    sending, receiving = mesh.host_factors()
    return MeshFit(typical, sending, receiving, sigma, tau, mesh.odd(terms), dead, dead_hosts)


def _median(ordered: Sequence[float]) -> float:
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2.0


@dataclass(slots=True)
class _Tested:
    """One term in a model: its effect on the logarithm and the share of chance."""

    effect: float
    chance_ratio: float


class _Mesh:
    """Figures as a vector, candidates as sets of places in it."""

    def __init__(self, hosts: list[str], values: Mapping[Pair, float], racks: Mapping[str, str], is_more_better: bool) -> None:
        import numpy

        self.np = numpy
        self.hosts, self.racks, self.is_more_better = hosts, racks, is_more_better
        self.pairs = list(values)
        number = {host: place for place, host in enumerate(hosts)}
        self.senders = numpy.array([number[sender] for sender, _ in self.pairs])
        self.receivers = numpy.array([number[receiver] for _, receiver in self.pairs])
        self.y = numpy.log(numpy.array(list(values.values())))
        crosses = numpy.array([bool(racks) and racks[one] != racks[other] for one, other in self.pairs], dtype=float)
        self.base = [numpy.ones(len(self.pairs))]
        if not is_more_better and 0 < crosses.sum() < len(self.pairs):
            self.base.append(crosses)  # a way through more switches takes longer, and is not odd
        self.candidates: dict[Term, Any] = {}
        self.twins: dict[Term, list[Term]] = {}
        self._gather()

    def _gather(self) -> None:
        """Every candidate; of those that cover the same figures the first stands for all."""
        by_places: dict[bytes, Term] = {}
        place_of = {pair: place for place, pair in enumerate(self.pairs)}
        described = [(term, self.np.flatnonzero(self.np.array(is_in))) for term, is_in in self._groups()]
        for pair, place in place_of.items():
            described.append((Term("pair", pair, "sending"), self.np.array([place])))
            back = place_of.get((pair[1], pair[0]))
            if back is not None and pair[0] < pair[1]:
                described.append((Term("pair", pair), self.np.array(sorted((place, back)))))
        for term, places in described:
            if not 0 < len(places) < len(self.pairs):
                continue
            first = by_places.setdefault(places.tobytes(), term)
            if first is term:
                self.candidates[term] = places
                self.twins[term] = []
            else:
                self.twins[first].append(term)
        self.terms = list(self.candidates)
        self.sizes = self.np.array([len(places) for places in self.candidates.values()])
        self.joined = self.np.concatenate(list(self.candidates.values()))
        self.starts = self.np.concatenate([[0], self.np.cumsum(self.sizes)[:-1]])

    def _groups(self) -> list[tuple[Term, list[bool]]]:
        """Hosts and racks, and which figures each touches."""
        found = []
        for host in self.hosts:
            found.append((Term("host", (host,)), [host in pair for pair in self.pairs]))
            found.append((Term("host", (host,), "sending"), [pair[0] == host for pair in self.pairs]))
            found.append((Term("host", (host,), "receiving"), [pair[1] == host for pair in self.pairs]))
        ends = [(self.racks[one], self.racks[other]) for one, other in self.pairs] if self.racks else []
        names = sorted(set(self.racks.values()))
        for rack in names if len(names) > 1 else ():
            found.append((Term("uplink", (rack,)), [rack in two and two[0] != two[1] for two in ends]))
            found.append((Term("rack", (rack,)), [rack in two for two in ends]))
            found.append((Term("uplink", (rack,), "sending"), [two[0] == rack != two[1] for two in ends]))
            found.append((Term("uplink", (rack,), "receiving"), [two[1] == rack != two[0] for two in ends]))
            for other in names:
                if rack < other:
                    found.append((Term("racks", (rack, other)), [set(two) == {rack, other} for two in ends]))
        return found

    def selected(self) -> list[Term]:
        """Terms by what they explain, then without those that chance or ordinary hosts would give as well, weakest first."""
        terms: list[Term] = []
        for _ in range(max(1, min(MOST_TERMS, len(self.hosts) // 3))):
            best = self._best(terms)
            if best is None:
                break
            terms.append(best)
        while terms:
            tested = self._tested(terms)
            weakest = max(terms, key=lambda term: (tested[term].chance_ratio, -abs(tested[term].effect)))
            if tested[weakest].chance_ratio <= CHANCE_RATIO:
                break
            terms.remove(weakest)
        return terms

    def odd(self, terms: list[Term]) -> tuple[Odd, ...]:
        """The terms of the final model, the surest first."""
        found = [
            Odd(term, math.exp(one.effect), one.chance_ratio, tuple(self.twins[term])) for term, one in self._tested(terms).items()
        ]
        return tuple(sorted(found, key=lambda one: (one.chance_ratio, one.factor_ratio)))

    def _columns(self, terms: Sequence[Term]) -> Any:
        columns = list(self.base)
        for term in terms:
            column = self.np.zeros(len(self.pairs))
            column[self.candidates[term]] = 1.0
            columns.append(column)
        return self.np.column_stack(columns)

    def _best(self, terms: list[Term]) -> Term | None:
        """The candidate that takes most of the remaining squares away."""
        basis, _ = self.np.linalg.qr(self._columns(terms))
        rest = self.y - basis @ (basis.T @ self.y)
        sums = self.np.add.reduceat(rest[self.joined], self.starts)
        known = (self.np.add.reduceat(basis[self.joined], self.starts, axis=0) ** 2).sum(axis=1)
        own = self.sizes - known
        gains = self.np.where(own > 1e-6, sums**2 / self.np.maximum(own, 1e-6), 0.0)
        best = int(gains.argmax())
        return self.terms[best] if gains[best] > 1e-18 else None

    def _tested(self, terms: list[Term]) -> dict[Term, _Tested]:
        """Each term's effect in a model with all of them, and its share of chance.

        An effect is a weighted sum of the figures; its variance is that sum's over the noise of pairs and over the differences of hosts.
        """
        np = self.np
        if not terms:
            return {}
        inverse = np.linalg.pinv(self._columns(terms))
        sigma2, sigma_freedom, tau2, tau_freedom = self._variances(terms)
        found = {}
        for place, term in enumerate(terms):
            weights = inverse[len(self.base) + place]
            effect = float(weights @ self.y)
            by_sender = np.bincount(self.senders, weights, len(self.hosts))
            by_receiver = np.bincount(self.receivers, weights, len(self.hosts))
            noise = sigma2 * float(weights @ weights)
            ordinary = tau2 * float(by_sender @ by_sender + by_receiver @ by_receiver)
            whole = noise + ordinary
            if whole <= 0:
                found[term] = _Tested(effect, 0.0)
                continue
            freedom = whole**2 / (noise**2 / max(1, sigma_freedom) + ordinary**2 / max(1, tau_freedom))
            tail = tail_ratio(abs(effect) / math.sqrt(whole), freedom)
            found[term] = _Tested(effect, min(1.0, self._rivals(term) * tail))
        return found

    def _rivals(self, term: Term) -> int:
        """Candidates among which chance could have chosen this one."""
        kinds = _OF_RACKS if term.kind in _OF_RACKS else {term.kind}
        return sum(other.kind in kinds for other in self.terms)

    def _variances(self, terms: list[Term]) -> tuple[float, int, float, int]:
        """Of single pairs (after all hosts' own effects), and of ordinary hosts; each with its degrees of freedom."""
        np = self.np
        dummies = np.zeros((len(self.pairs), 2 * len(self.hosts)))
        rows = np.arange(len(self.pairs))
        dummies[rows, self.senders] = 1.0
        dummies[rows, len(self.hosts) + self.receivers] = 1.0
        columns = self._columns(terms)
        full = np.column_stack([columns, dummies])
        fitted, _, rank, _ = np.linalg.lstsq(full, self.y, rcond=None)
        rest = self.y - full @ fitted
        freedom = len(self.y) - int(rank)
        sigma2 = float(rest @ rest) / max(1, freedom)
        after = self.y - columns @ np.linalg.lstsq(columns, self.y, rcond=None)[0]
        named = {name for term in terms if term.kind == "host" for name in term.names}
        ordinary = np.array([host not in named for host in self.hosts])
        tau2, tau_freedom = 0.0, max(1, int(ordinary.sum()) - 1)
        for ends in (self.senders, self.receivers):
            counts = np.maximum(1, np.bincount(ends, minlength=len(self.hosts)))
            means = (np.bincount(ends, after, len(self.hosts)) / counts)[ordinary]
            own = float(means.var(ddof=1)) if len(means) > 1 else 0.0
            tau2 += max(0.0, own - sigma2 / float(counts.mean())) / 2.0
        return sigma2, freedom, tau2, tau_freedom

    def spreads(self, terms: list[Term]) -> tuple[float, float]:
        """Spread of pairs and of ordinary hosts, as ratios."""
        sigma2, _, tau2, _ = self._variances(terms)
        return math.sqrt(sigma2), math.sqrt(tau2)

    def host_factors(self) -> tuple[dict[str, float], dict[str, float]]:
        """Median polish (Tukey): each host's factor as sender and as receiver, against the median host."""
        np = self.np
        rest = self.y.copy()
        effects = np.zeros((2, len(self.hosts)))
        for _ in range(10):
            for side, ends in enumerate((self.senders, self.receivers)):
                for place in range(len(self.hosts)):
                    chosen = ends == place
                    if chosen.any():
                        middle = float(np.median(rest[chosen]))
                        rest[chosen] -= middle
                        effects[side, place] += middle
        factors = np.exp(effects - np.median(effects, axis=1, keepdims=True))
        sending, receiving = ({host: float(row[place]) for place, host in enumerate(self.hosts)} for row in factors)
        return sending, receiving
