"""Apply one rule to a case: are its needs met, what did it find, and how sure does that make us."""

import math
from dataclasses import dataclass
from typing import Literal

from wirespeed.model.case import Case
from wirespeed.model.finding import Evidence, Verdict
from wirespeed.model.kinds import Need, Rule
from wirespeed.model.record import Record
from wirespeed.model.settings import Quantity, Statement

PRIOR_NATS = -3.0
"""Log odds of one cause before any evidence: about one in twenty, since some sixty causes share most of the mass."""
PRESENT_AT = 0.2
"""A cause is listed from this confidence on; weaker suspicion only makes the list long."""
PROSE_CAP = 0.7
"""What people say, alone, never makes a cause surer than this."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """One rule's answer for one case."""

    rule_id: str
    rule: Rule
    state: Literal["present", "absent", "unknown"]
    verdict: Verdict
    confidence_ratio: float
    missing: tuple[type[Record] | Need, ...] = ()


def judge_rule(rule_id: str, rule: Rule, case: Case) -> Judged:
    """Judge one rule. Unmet needs give unknown; so does silence when only prose could have spoken (it proves no absence)."""
    met = [needs for needs in rule.needs if all(is_met(need, case) for need in needs)]
    if not met:
        return Judged(
            rule_id=rule_id, rule=rule, state="unknown", verdict=Verdict(), confidence_ratio=0.0, missing=_nearest(rule, case)
        )
    verdict = rule.judge(case)
    confidence = confidence_of(verdict)
    state: Literal["present", "absent", "unknown"]
    if confidence >= PRESENT_AT:
        state = "present"
    elif verdict.cannot_tell is not None or all(_is_prose(needs) for needs in met):
        state = "unknown"
    else:
        state = "absent"
    missing = _nearest(rule, case) if state == "unknown" else ()
    return Judged(rule_id=rule_id, rule=rule, state=state, verdict=verdict, confidence_ratio=confidence, missing=missing)


def confidence_of(verdict: Verdict) -> float:
    """Probability of the claim: logistic of prior plus the weights, scaled to `PROSE_CAP` when only prose speaks for it."""
    if not any(one.weight_nats > 0 for one in verdict.evidence):
        return 0.0
    odds = PRIOR_NATS + sum(one.weight_nats for one in verdict.evidence)
    certainty = 1.0 / (1.0 + math.exp(-odds))
    return certainty if rests_on_machines(verdict.evidence) else certainty * PROSE_CAP


def rests_on_machines(evidence: tuple[Evidence, ...]) -> bool:
    """Whether any evidence in favour comes from a machine rather than from what people say."""
    return any(not isinstance(record, Statement | Quantity) for one in evidence if one.weight_nats > 0 for record in one.records)


def is_met(need: type[Record] | Need, case: Case) -> bool:
    """Whether the case holds what is needed."""
    return need.is_met(case) if isinstance(need, Need) else case.has(need)


def _is_prose(needs: tuple[type[Record] | Need, ...]) -> bool:
    return all(record_type(need) in (Statement, Quantity) for need in needs)


def record_type(need: type[Record] | Need) -> type[Record]:
    """The record type a need asks for."""
    return need.record if isinstance(need, Need) else need


def _nearest(rule: Rule, case: Case) -> tuple[type[Record] | Need, ...]:
    """What is missing of the alternative that lacks least."""
    lacks = [tuple(need for need in needs if not is_met(need, case)) for needs in rule.needs if not _is_prose(needs)]
    return min(lacks, key=len, default=())
