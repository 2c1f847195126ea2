"""Order what was found: surest first, causes before the victims they explain, one entry a cause."""

from wirespeed.diagnosis.judge import Judged
from wirespeed.model.labels import Label

EXPLAINING_NATS = 1.0
"""A cause is put before its victim when it is at most this much less sure."""
SUSPECTED_AT = 0.06
"""A suspicion below this is not worth a line."""
FEWEST_LISTED = 3
"""How many causes a user is given to look at when anything at all points to them."""


def ranked(judged: tuple[Judged, ...]) -> tuple[tuple[Judged, tuple[Judged, ...]], ...]:
    """What was found, best first, each with the weaker verdicts of the same cause that it stands for.

    Where fewer than `FEWEST_LISTED` causes are present, the strongest suspicions follow them.
    """
    by_cause: dict[Label, list[Judged]] = {}
    for one in sorted(judged, key=lambda one: (one.state != "present", -one.score_nats, one.rule_id)):
        is_suspected = one.state == "unknown" and one.confidence_ratio >= SUSPECTED_AT and len(by_cause) < FEWEST_LISTED
        if one.state == "present" or is_suspected:
            by_cause.setdefault(one.rule.cause, []).append(one)
    leaders = [group[0] for group in by_cause.values()]
    return tuple((one, tuple(by_cause[one.rule.cause][1:])) for one in _causes_first(leaders))


def explained_by(leader: Judged, others: list[Judged]) -> tuple[Label, ...]:
    """Labels among the others that `leader` explains."""
    return tuple(one.rule.cause for one in others if one is not leader and one.rule.cause in leader.rule.explains)


def _causes_first(leaders: list[Judged]) -> list[Judged]:
    ordered: list[Judged] = []
    for one in leaders:
        place = next((index for index, before in enumerate(ordered) if _explains(one, before)), len(ordered))
        ordered.insert(place, one)
    return ordered


def _explains(cause: Judged, victim: Judged) -> bool:
    if cause.state != "present":
        return False
    is_sure = cause.score_nats >= victim.score_nats - EXPLAINING_NATS
    return victim.rule.cause in cause.rule.explains and cause.rule.cause not in victim.rule.explains and is_sure
