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
    """Probability of the claim: the prior, what people say (which alone reaches `PROSE_CAP` at most), then what machines say."""
    if not any(one.weight_nats > 0 for one in verdict.evidence):
        return 0.0
    spoken = [one.weight_nats for one in verdict.evidence if not rests_on_machines(one)]
    seen = [one.weight_nats for one in verdict.evidence if rests_on_machines(one)]
    cap = PROSE_CAP if any(weight > 0 for weight in spoken) else 1.0
    believed = cap * _logistic(PRIOR_NATS + sum(spoken))
    return _logistic(math.log(believed / (1.0 - believed)) + sum(seen))


def rests_on_machines(evidence: Evidence) -> bool:
    """Whether a piece of evidence comes from a machine rather than from what people say."""
    return any(not isinstance(record, Statement | Quantity) for record in evidence.records)


def _logistic(odds_nats: float) -> float:
    return 1.0 / (1.0 + math.exp(-odds_nats))


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
