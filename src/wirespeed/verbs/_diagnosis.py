"""From a case to an answer: every cause judged, what was found in order, what contradicts it, and what would tell more."""

from collections.abc import Iterable

import msgspec

from wirespeed.diagnosis import rules
from wirespeed.diagnosis.calibration import calibrated
from wirespeed.diagnosis.conflicts import conflicts_of
from wirespeed.diagnosis.effort import takes_s
from wirespeed.diagnosis.judge import Judged, judge_all, judge_rule, record_type
from wirespeed.diagnosis.next_steps import next_commands
from wirespeed.diagnosis.rank import explained_by, ranked
from wirespeed.diagnosis.separate import Choice
from wirespeed.diagnosis.settling import Settling
from wirespeed.model import shelf
from wirespeed.model.case import Case
from wirespeed.model.finding import Conflict, Evidence, Finding, ShownEvidence, Verdict
from wirespeed.model.kinds import Rule
from wirespeed.model.labels import MEANINGS, Label
from wirespeed.model.lines import QUESTION_PATH
from wirespeed.model.secrets import REDACTED, without_secrets
from wirespeed.model.source import Problem, Quote, Source
from wirespeed.model.text import Text
from wirespeed.report.numbers import all_printed
from wirespeed.report.verdict import filled_change, filled_check
from wirespeed.verbs._gathered import Gathered, Input
from wirespeed.verbs._live import Step
from wirespeed.verbs._vocabulary import vocabulary

SCHEMA = "wirespeed/diagnose/1"
MOST_QUOTES = 6
"""Quotes shown for one piece of evidence; more repeat the same."""
LEADING_RATIO = 0.5
"""From this confidence on a finding may decide whether the network is the limit."""
MOST_NEXT_STEPS = 8
MOST_WOULD_SETTLE = 3


class Unknown(msgspec.Struct, frozen=True, kw_only=True):
    """A cause that could not be judged, how far it is suspected, what is missing and which commands would settle it."""

    cause: Label
    rule: str
    suspicion_ratio: float
    missing: tuple[str, ...]
    would_settle: tuple[str, ...]


class NextStep(msgspec.Struct, frozen=True, kw_only=True):
    """A command worth running: what its output is, how long it takes, and what it would tell.

    `gain_nats` is the information expected of it; the steps are in the order of information for effort.
    """

    command: str
    title: Text
    takes_s: float
    gain_nats: float
    leader: Label | None
    tells_from_leader: tuple[Label, ...]
    bears_on: tuple[Label, ...]


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """The answer of `diagnose`; its JSON is the contract `wirespeed/diagnose/1`."""

    schema: str = SCHEMA
    findings: tuple[Finding, ...]
    network_is_the_limit: bool | None
    unknown: tuple[Unknown, ...]
    problems: tuple[Problem, ...]
    inputs: tuple[Input, ...]
    unread: tuple[str, ...] = ()
    """Inputs that were named and of which nothing could be read."""
    saved: str | None = None
    steps: tuple[Step, ...] = ()
    """Measurements that a live diagnosis made, in order, each with its reason."""
    conflicts: tuple[Conflict, ...] = ()
    """Likely findings that contradict each other or are taken for one another."""
    next_steps: tuple[NextStep, ...] = ()
    """Commands whose output would tell most, for the effort."""


def judged_all(case: Case, problems: list[Problem]) -> tuple[Judged, ...]:
    """Every rule's judgement; a rule that fails is a problem."""
    return judge_all(shelf.every(rules, Rule), case, vocabulary(), lambda name, rule, case: _judged(name, rule, case, problems))


def concluded(
    case: Case, gathered: Gathered, side: str | None = None, saved: str | None = None, steps: tuple[Step, ...] = ()
) -> Answer:
    """The answer for what was gathered."""
    judged = judged_all(case, gathered.problems)
    settling = Settling(gathered.readers)
    out_of_reach = gathered.out_of_reach(case)
    findings = _without(
        frozenset(gathered.secrets),
        _findings(ranked(judged), judged, side),
    )
    return Answer(
        findings=findings,
        network_is_the_limit=_network_is_the_limit(findings),
        unknown=tuple(
            _unknown(one, settling) for one in sorted(judged, key=lambda one: -one.confidence_ratio) if one.state == "unknown"
        ),
        problems=tuple(gathered.problems),
        inputs=tuple(gathered.inputs),
        unread=tuple(gathered.unread),
        saved=saved,
        steps=steps,
        conflicts=conflicts_of(findings),
        next_steps=tuple(next_step(one, settling) for one in next_commands(judged, case, settling, out_of_reach)[:MOST_NEXT_STEPS]),
    )


def _judged(name: str, rule: Rule, case: Case, problems: list[Problem]) -> Judged:
    """Judge one rule; should it fail, that is a problem, its cause is unknown, and the other rules go on."""
    try:
        return judge_rule(name, rule, case)
    except Exception as error:  # noqa: BLE001 - one rule's mistake must not cost the user every other finding
        said = f"{type(error).__name__}: {error}"
        why = Text(en=f"our mistake while judging: {said}", zh=f"判断时出现内部错误：{said}")
        problems.append(Problem(source=Source(tool="rule", path=name), why=why))
        return Judged(rule_id=name, rule=rule, state="unknown", verdict=Verdict(), confidence_ratio=0.0)


def _findings(
    listed: tuple[tuple[Judged, tuple[Judged, ...]], ...], judged: tuple[Judged, ...], side: str | None
) -> tuple[Finding, ...]:
    present = [other for other in judged if other.state == "present"]
    explaining = {one.rule.cause: _explained(one, present) for one, _ in listed}
    found = []
    for one, same_cause in listed:
        causes = tuple(cause for cause, victims in explaining.items() if one.rule.cause in victims)
        found.append(_finding(one, same_cause, explaining[one.rule.cause], causes, side))
    return tuple(found)


def _explained(one: Judged, present: list[Judged]) -> tuple[Label, ...]:
    return tuple(dict.fromkeys(explained_by(one, present))) if one.state == "present" else ()


def _finding(
    one: Judged, same_cause: tuple[Judged, ...], explains: tuple[Label, ...], causes: tuple[Label, ...], side: str | None
) -> Finding:
    rule = one.rule
    shown = all_printed(one.verdict.values)
    evidence = [*one.verdict.evidence, *(extra for other in same_cause for extra in other.verdict.evidence)]
    return Finding(
        cause=rule.cause,
        rule=one.rule_id,
        also=tuple(other.rule_id for other in same_cause),
        explains=explains,
        explained_by=causes,
        confidence_ratio=round(calibrated(one.confidence_ratio), 3),
        severity=rule.severity,
        title=rule.title.filled(shown),
        summary=rule.summary.filled(shown),
        evidence=tuple(_shown(each) for each in sorted(evidence, key=_order)),
        told_apart_from=rule.told_apart_from,
        gain=rule.gain.filled(shown),
        changes=tuple(filled_change(each, shown) for each in rule.changes if side is None or each.side in ("both", side)),
        checks=tuple(filled_check(each, shown) for each in rule.checks),
    )


def _order(evidence: Evidence) -> tuple[bool, float]:
    """What rests on records first, weightiest first; mere wording last."""
    return not evidence.records, -abs(evidence.weight_nats)


def _without(secrets: frozenset[str], findings: tuple[Finding, ...]) -> tuple[Finding, ...]:
    """The findings without secrets whose name stands on another line than they do: no quote of one line shows what it holds."""
    if not secrets:
        return findings
    encoded = msgspec.json.encode(findings)
    for secret in secrets:
        encoded = encoded.replace(msgspec.json.encode(secret)[1:-1], REDACTED.encode())
    return msgspec.json.decode(encoded, type=tuple[Finding, ...])


def _shown(one: Evidence) -> ShownEvidence:
    quotes = one.quotes or tuple(quote for record in one.records for quote in record.quotes)
    unique = tuple(dict.fromkeys(_safe(quote) for quote in quotes if quote.source != QUESTION_PATH))
    return ShownEvidence(
        says=one.says.filled(all_printed(one.values)),
        bears="for" if one.weight_nats > 0 else "against",
        weight_nats=one.weight_nats,
        values=one.values,
        quotes=unique[:MOST_QUOTES],
    )


def _safe(quote: Quote) -> Quote:
    """The quote as it stands in the input, but for passwords, tokens and keys: answers are pasted everywhere."""
    return Quote(source=quote.source, line_index=quote.line_index, text=without_secrets(quote.text))


def _unknown(one: Judged, settling: Settling) -> Unknown:
    kinds = dict.fromkeys(record_type(need) for need in one.missing)
    return Unknown(
        cause=one.rule.cause,
        rule=one.rule_id,
        suspicion_ratio=round(calibrated(one.confidence_ratio), 3),
        missing=tuple(kind.__name__ for kind in kinds),
        would_settle=cheapest_first(settling.commands_for(one.rule, one.missing))[:MOST_WOULD_SETTLE],
    )


def cheapest_first(commands: Iterable[str]) -> tuple[str, ...]:
    """Commands in the order of the time they take."""
    return tuple(sorted(commands, key=takes_s))


def next_step(choice: Choice, settling: Settling) -> NextStep:
    """A chosen command as answers carry it."""
    return NextStep(
        command=choice.name,
        title=settling.title_of(choice.name),
        takes_s=takes_s(choice.name),
        gain_nats=round(choice.gain_nats, 3),
        leader=choice.leader,
        tells_from_leader=choice.rivals,
        bears_on=choice.others,
    )


def _network_is_the_limit(findings: tuple[Finding, ...]) -> bool | None:
    """What the surest finding says of the network; None when nothing is sure enough or it does not decide."""
    leading = [one for one in findings if one.confidence_ratio >= LEADING_RATIO and MEANINGS[one.cause].bearing != "neither"]
    return None if not leading else MEANINGS[leading[0].cause].bearing == "network"
