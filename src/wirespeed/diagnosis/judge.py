"""Apply one rule to a case: are its needs met, what did it find, and how sure does that make us."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from wirespeed.diagnosis.affinity import Affinity
from wirespeed.diagnosis.calibration import logistic
from wirespeed.model.case import Case
from wirespeed.model.facts.host import EnvVar, SoftwareVersion
from wirespeed.model.finding import SLIGHT, Evidence, Value, Verdict
from wirespeed.model.kinds import Need, Rule
from wirespeed.model.lines import QUESTION_PATH
from wirespeed.model.measurement import ServingMetric
from wirespeed.model.record import Record
from wirespeed.model.settings import CodeCall, Quantity, Setting, Statement
from wirespeed.model.source import Quote
from wirespeed.model.text import placeholders_of
from wirespeed.model.vocabulary import Vocabulary

PRIOR_NATS = -3.0
"""Log odds of one cause before any evidence: about one in twenty, since some sixty causes share most of the mass."""
PRESENT_AT = 0.2
"""A cause is listed from this confidence on; weaker suspicion only makes the list long."""
_LOOSE = (Setting, ServingMetric, CodeCall, EnvVar, SoftwareVersion)
"""Records that are also found inside sentences; there they are somebody's words."""
MOST_SURE = 0.99
"""Evidence is never as independent as adding it up supposes: nothing is certain."""
SPOKEN_SHARE = 0.5
"""How much of its weight a statement of people keeps: several wordings of one story are not independent of each other."""
PROSE_CAP = 0.7
"""What people say, alone, never makes a cause surer than this."""
WORDING_CAP = 0.55
"""Shared words alone never make a cause likelier than not: calibrated, this is 0.49."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """One rule's answer for one case."""

    rule_id: str
    rule: Rule
    state: Literal["present", "absent", "unknown"]
    verdict: Verdict
    confidence_ratio: float
    score_nats: float = -math.inf
    """What findings are ordered by: the confidence before its bounds."""
    missing: tuple[type[Record] | Need, ...] = ()


Needs: TypeAlias = tuple[tuple[type[Record] | Need, ...], ...]
Judge: TypeAlias = Callable[[str, Rule, Case], Judged]


def judge_all(
    rules: Mapping[str, Rule], case: Case, vocabulary: Vocabulary | None = None, judge: Judge | None = None
) -> tuple[Judged, ...]:
    """Judge every rule; where people have said something and a vocabulary is given, their words count as weak evidence too.

    `judge` judges one rule (by default `judge_rule`) and may guard it.
    """
    judge_one = judge or judge_rule
    judged = tuple(judge_one(name, rule, case) for name, rule in rules.items())
    if vocabulary is None or not (case.question or case.has(Statement)):
        return judged
    said = {path: text for path, text in case.texts.items() if path not in case.collected}
    words = Affinity(vocabulary).evidence(said | ({QUESTION_PATH: case.question} if case.question else {}))
    spoken = spoken_lines(case)
    return tuple(_with_words(one, words[one.rule.cause], spoken) if one.rule.cause in words else one for one in judged)


def _with_words(judged: Judged, words: Evidence, spoken: frozenset[Quote]) -> Judged:
    """The same judgement with the user's words added; where something speaks against the cause they add nothing."""
    if any(one.weight_nats < 0 for one in judged.verdict.evidence):
        return judged
    verdict = Verdict(evidence=(*judged.verdict.evidence, words), values=judged.verdict.values or unknown_values(judged.rule))
    confidence = confidence_of(verdict, spoken)
    state: Literal["present", "unknown"] = "present" if confidence >= PRESENT_AT else "unknown"
    return replace(judged, verdict=verdict, confidence_ratio=confidence, score_nats=score_of(verdict, spoken), state=state)


def unknown_values(rule: Rule) -> dict[str, Value]:
    """Every placeholder of a rule that never judged, unknown."""
    texts = [rule.title, rule.summary, rule.gain, *(change.what for change in rule.changes), *(check.what for check in rule.checks)]
    commands = [line for change in rule.changes for line in change.commands] + [
        line for check in rule.checks for line in check.commands
    ]
    names = {name for text in texts for name in text.placeholders()} | {name for line in commands for name in placeholders_of(line)}
    return {name: name.upper() for name in names}


def judge_rule(rule_id: str, rule: Rule, case: Case) -> Judged:
    """Judge one rule.

    Unmet needs give unknown; so do a suspicion that is not enough to be listed, and silence where only prose could have spoken
    or where more would have to be at hand.
    """
    if not _met(rule.needs, case):
        return Judged(
            rule_id=rule_id, rule=rule, state="unknown", verdict=Verdict(), confidence_ratio=0.0, missing=_nearest(rule, case)
        )
    verdict = rule.judge(case)
    spoken_on = spoken_lines(case)
    confidence = confidence_of(verdict, spoken_on)
    refuted: Literal["absent", "unknown"] = "absent" if _is_refuted(rule, verdict, case) else "unknown"
    state: Literal["present", "absent", "unknown"] = "present" if confidence >= PRESENT_AT else refuted
    missing = _nearest(rule, case) if state == "unknown" else ()
    return Judged(
        rule_id=rule_id,
        rule=rule,
        state=state,
        verdict=verdict,
        confidence_ratio=confidence,
        score_nats=score_of(verdict, spoken_on),
        missing=missing,
    )


def _is_refuted(rule: Rule, verdict: Verdict, case: Case) -> bool:
    """Whether machines speak more against the claim than for it, or nothing speaks although what would show it is at hand."""
    spoken_on = spoken_lines(case)
    if sum(one.weight_nats for one in verdict.evidence if rests_on_machines(one, spoken_on)) < 0.0:
        return True
    if sum(one.weight_nats for one in verdict.evidence) >= SLIGHT:
        return False
    return any(not is_prose(needs) for needs in _met(rule.silence_needs or rule.needs, case))


def _met(alternatives: Needs, case: Case) -> list[tuple[type[Record] | Need, ...]]:
    """The alternatives of which everything is at hand."""
    return [needs for needs in alternatives if all(is_met(need, case) for need in needs)]


def spoken_lines(case: Case) -> frozenset[Quote]:
    """Lines in which somebody says something: a setting or figure taken from such a line is hearsay too."""
    return frozenset(quote for one in case.every(Statement) for quote in one.quotes)


def score_of(verdict: Verdict, spoken_on: frozenset[Quote] = frozenset()) -> float:
    """Log odds of the claim in nats, uncalibrated: the prior, what machines say, and half of what people say.

    Minus infinity where nothing speaks for the claim.
    """
    if not any(one.weight_nats > 0 for one in verdict.evidence):
        return -math.inf
    seen = sum(one.weight_nats for one in verdict.evidence if rests_on_machines(one, spoken_on))
    spoken = sum(one.weight_nats for one in verdict.evidence if not rests_on_machines(one, spoken_on))
    return PRIOR_NATS + seen + SPOKEN_SHARE * spoken


def confidence_of(verdict: Verdict, spoken_on: frozenset[Quote] = frozenset()) -> float:
    """The score as a ratio, not yet calibrated, bounded by what it rests on (wording, what people say, machines)."""
    score = score_of(verdict, spoken_on)
    if score == -math.inf:
        return 0.0
    speaking = [one for one in verdict.evidence if one.weight_nats > 0]
    if all(is_wording(one) for one in speaking):
        bound = WORDING_CAP
    elif not any(rests_on_machines(one, spoken_on) for one in speaking):
        bound = PROSE_CAP
    else:
        bound = MOST_SURE
    return min(bound, logistic(score))


def is_wording(evidence: Evidence) -> bool:
    """Whether a piece of evidence is only that the cause's words are used: no reader made a record of it."""
    return not evidence.records


def rests_on_machines(evidence: Evidence, spoken_on: frozenset[Quote] = frozenset()) -> bool:
    """Whether a piece of evidence comes from a machine rather than from what people say."""
    return any(not _is_said(record, spoken_on) for record in evidence.records)


def _is_said(record: Record, spoken_on: frozenset[Quote]) -> bool:
    if isinstance(record, Statement | Quantity):
        return True
    return isinstance(record, _LOOSE) and bool(record.quotes) and all(quote in spoken_on for quote in record.quotes)


def is_met(need: type[Record] | Need, case: Case) -> bool:
    """Whether the case holds what is needed."""
    return need.is_met(case) if isinstance(need, Need) else case.has(need)


def is_prose(needs: tuple[type[Record] | Need, ...]) -> bool:
    """Whether only people speak here."""
    return all(record_type(need) in (Statement, Quantity) for need in needs)


def record_type(need: type[Record] | Need) -> type[Record]:
    """The record type a need asks for."""
    return need.record if isinstance(need, Need) else need


def _nearest(rule: Rule, case: Case) -> tuple[type[Record] | Need, ...]:
    """What is missing of the alternative that lacks least, of those that would settle it."""
    settling = rule.silence_needs or rule.needs
    lacks = [tuple(need for need in needs if not is_met(need, case)) for needs in settling if not is_prose(needs)]
    return min(lacks, key=len, default=())
