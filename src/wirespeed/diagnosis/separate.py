"""Which measurement separates the causes that remain best, for the time it costs (requirement E7)."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from wirespeed.diagnosis.calibration import logistic
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
    """Something that could be measured, run or asked: what it yields and what it costs."""

    gives: tuple[type[Record], ...] = ()
    """It bears on every rule that needs one of these."""
    cost_s: float
    decides: Mapping[str, float] = field(default_factory=dict)
    """Rules by id that it bears on whatever it gives, with the share of the question it settles."""


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
    """The offer with the most expected information a second that fits into the time left; None where none is worth making."""
    fitting = {name: offer for name, offer in offers.items() if offer.cost_s <= left_s}
    return next(iter(choices(judged, fitting)), None)


def choices(
    judged: Sequence[Judged],
    offers: Mapping[str, Offer],
    shares: Mapping[str, float] | None = None,
    rival_times: float = RIVAL_TIMES,
) -> tuple[Choice, ...]:
    """The offers worth making, those with the most expected information a second first.

    The information expected of an offer is the entropy of each cause that it bears on (a binary one, at the confidence reached so
    far or at the prior), times the share it settles. Once the leading cause is nearly certain, only its rivals count. `shares` scale
    causes by rule id, for what speaks for or against them without being evidence.
    """
    leader = leader_of(judged)
    rivals = rivals_of(judged, leader)
    is_sure = leader is not None and leader.confidence_ratio >= SURE_RATIO
    scale = shares or {}
    made = []
    for name, offer in offers.items():
        borne = [(one, share) for one in judged if (share := _settled_share(offer, one) * scale.get(one.rule_id, 1.0)) > 0.0]
        near = [pair for pair in borne if pair[0].rule.cause in rivals]
        far = [] if is_sure else [pair for pair in borne if pair[0].rule.cause not in rivals]
        gain = RESOLVED_SHARE * (rival_times * _information_nats(near) + _information_nats(far))
        if gain >= LEAST_GAIN_NATS:
            made.append(
                Choice(
                    name=name,
                    gain_nats=gain,
                    cost_s=offer.cost_s,
                    leader=leader.rule.cause if leader else None,
                    rivals=_labels(near),
                    others=_labels(far),
                )
            )
    return tuple(sorted(made, key=lambda one: -one.gain_nats / max(one.cost_s, 0.1)))


def leader_of(judged: Sequence[Judged]) -> Judged | None:
    """The surest cause, once it is sure enough to lead."""
    best = max(judged, key=lambda one: one.confidence_ratio, default=None)
    return best if best is not None and best.confidence_ratio >= LEADING_RATIO else None


def rivals_of(judged: Sequence[Judged], leader: Judged | None) -> frozenset[Label]:
    """What the leader is mistaken for, in either direction, and what would explain it; the leader itself while it is not sure."""
    if leader is None:
        return frozenset()
    named = {like.cause for like in leader.rule.told_apart_from}
    named |= {one.rule.cause for one in judged if any(like.cause == leader.rule.cause for like in one.rule.told_apart_from)}
    named |= {one.rule.cause for one in judged if leader.rule.cause in one.rule.explains}
    return frozenset(named | {leader.rule.cause})


def _settled_share(offer: Offer, judged: Judged) -> float:
    """How much of a rule's question the offer settles: all where it yields what the rule needs, none where it has no bearing."""
    gives = any(record_type(need) in offer.gives for needs in judged.rule.needs for need in needs)
    return 1.0 if gives else offer.decides.get(judged.rule_id, 0.0)


def _information_nats(borne: Sequence[tuple[Judged, float]]) -> float:
    return sum(share * entropy_nats(one) for one, share in borne)


def entropy_nats(judged: Judged) -> float:
    """What is not known of one cause: its confidence, or where nothing speaks for it the prior less what speaks against it."""
    against = sum(min(one.weight_nats, 0.0) for one in judged.verdict.evidence)
    return binary_entropy_nats(max(judged.confidence_ratio, logistic(PRIOR_NATS + against)))


def binary_entropy_nats(ratio: float) -> float:
    """Entropy of yes or no, where yes has this probability."""
    return 0.0 if ratio in (0.0, 1.0) else -(ratio * math.log(ratio) + (1.0 - ratio) * math.log(1.0 - ratio))


def _labels(borne: Sequence[tuple[Judged, float]]) -> tuple[Label, ...]:
    ordered = sorted(borne, key=lambda pair: -pair[1] * entropy_nats(pair[0]))
    return tuple(dict.fromkeys(one.rule.cause for one, _ in ordered))
