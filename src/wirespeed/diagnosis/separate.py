"""Which measurement separates the causes that remain best, for the time it costs (requirement E7)."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from wirespeed.diagnosis.judge import PRIOR_NATS, Judged, record_type
from wirespeed.model.labels import Label
from wirespeed.model.record import Record

RESOLVED_SHARE = 0.7
"""How much of what is not known about a cause its own evidence settles, as a guess that is the same for all: it only scales."""
RIVAL_TIMES = 4.0
"""What tells the leading cause from what it is mistaken for is worth more than one more cause excluded."""
SURE_RATIO = 0.95
LEADING_RATIO = 0.3
"""From here on a cause leads, and its rivals are what matters."""
LEAST_GAIN_NATS = 0.05
"""Less is not worth a second of load on somebody's network."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """A measurement that could be made: what it yields and what it costs."""

    gives: tuple[type[Record], ...]
    cost_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """The measurement chosen, with the causes it bears on: first those it tells from the leader, then the others."""

    name: str
    gain_nats: float
    cost_s: float
    leader: Label | None
    rivals: tuple[Label, ...]
    others: tuple[Label, ...]


def next_measurement(judged: Sequence[Judged], offers: Mapping[str, Offer], left_s: float) -> Choice | None:
    """The offer with the most expected information a second that fits into the time left; None where none is worth making.

    The information expected of an offer is the entropy of each cause that it bears on (a binary one, at the confidence reached so
    far or at the prior), times the share it settles. Once the leading cause is nearly certain, only its rivals count.
    """
    leader = _leader(judged)
    rivals = _rivals(judged, leader)
    is_sure = leader is not None and leader.confidence_ratio >= SURE_RATIO
    choices = []
    for name, offer in offers.items():
        if offer.cost_s > left_s:
            continue
        borne = [one for one in judged if _bears_on(offer, one)]
        near = [one for one in borne if one.rule.cause in rivals]
        far = [] if is_sure else [one for one in borne if one.rule.cause not in rivals]
        gain = RESOLVED_SHARE * (RIVAL_TIMES * sum(map(_entropy_nats, near)) + sum(map(_entropy_nats, far)))
        if gain >= LEAST_GAIN_NATS:
            choices.append(
                Choice(
                    name=name,
                    gain_nats=gain,
                    cost_s=offer.cost_s,
                    leader=leader.rule.cause if leader else None,
                    rivals=_labels(near),
                    others=_labels(far),
                )
            )
    return max(choices, key=lambda one: one.gain_nats / max(one.cost_s, 0.1), default=None)


def _leader(judged: Sequence[Judged]) -> Judged | None:
    best = max(judged, key=lambda one: one.confidence_ratio, default=None)
    return best if best is not None and best.confidence_ratio >= LEADING_RATIO else None


def _rivals(judged: Sequence[Judged], leader: Judged | None) -> frozenset[Label]:
    """What the leader is mistaken for, in either direction, and what would explain it; the leader itself while it is not sure."""
    if leader is None:
        return frozenset()
    named = {like.cause for like in leader.rule.told_apart_from}
    named |= {one.rule.cause for one in judged if any(like.cause == leader.rule.cause for like in one.rule.told_apart_from)}
    named |= {one.rule.cause for one in judged if leader.rule.cause in one.rule.explains}
    return frozenset(named | {leader.rule.cause})


def _bears_on(offer: Offer, judged: Judged) -> bool:
    """Whether a rule can be decided by what the offer yields."""
    return any(record_type(need) in offer.gives for needs in judged.rule.needs for need in needs)


def _entropy_nats(judged: Judged) -> float:
    """What is not known of one cause: its confidence, or where nothing speaks for it the prior less what speaks against it."""
    against = sum(min(one.weight_nats, 0.0) for one in judged.verdict.evidence)
    ratio = max(judged.confidence_ratio, 1.0 / (1.0 + math.exp(-PRIOR_NATS - against)))
    return 0.0 if ratio >= 1.0 else -(ratio * math.log(ratio) + (1.0 - ratio) * math.log(1.0 - ratio))


def _labels(judged: Sequence[Judged]) -> tuple[Label, ...]:
    ordered = sorted(judged, key=_entropy_nats, reverse=True)
    return tuple(dict.fromkeys(one.rule.cause for one in ordered))
