"""`wirespeed diagnose`: from whatever there is to ranked causes with quoted evidence."""

from collections import Counter
from typing import Literal

import msgspec

from wirespeed.diagnosis import rules
from wirespeed.diagnosis.judge import Judged, judge_rule
from wirespeed.diagnosis.rank import explained_by, ranked
from wirespeed.machines.opening import open_inputs
from wirespeed.model import shelf
from wirespeed.model.case import Case
from wirespeed.model.finding import Evidence, Severity
from wirespeed.model.kinds import Need, Reader, Rule
from wirespeed.model.labels import MEANINGS, Label
from wirespeed.model.lines import MemoryLines
from wirespeed.model.record import Record
from wirespeed.model.source import Problem, Quote
from wirespeed.model.text import Text
from wirespeed.readers import tools
from wirespeed.readers.recognise import read_all
from wirespeed.readers.tools.prose import QUESTION_PATH
from wirespeed.report.numbers import all_printed

SCHEMA = "wirespeed/diagnose/1"
MOST_QUOTES = 6
"""Quotes shown for one piece of evidence; more repeat the same."""


class Options(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What to diagnose and for whom."""

    inputs: tuple[str, ...] = ()
    question: str = ""
    side: Literal["training", "serving"] | None = None


class ShownEvidence(msgspec.Struct, frozen=True, kw_only=True):
    """One piece of evidence, ready to read."""

    says: Text
    bears: Literal["for", "against"]
    values: dict[str, str | int | float | bool | None]
    quotes: tuple[Quote, ...]


class ToldApart(msgspec.Struct, frozen=True, kw_only=True):
    """A look-alike and what tells it apart."""

    cause: Label
    because: Text


class ShownChange(msgspec.Struct, frozen=True, kw_only=True):
    """What to set."""

    what: Text
    commands: tuple[str, ...]
    side: str
    risk: Text | None = None


class ShownCheck(msgspec.Struct, frozen=True, kw_only=True):
    """How to verify."""

    what: Text
    commands: tuple[str, ...]


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """One cause that was found, with its proof, its look-alikes, its fix and its check."""

    cause: Label
    rule: str
    also: tuple[str, ...] = ()
    explains: tuple[Label, ...]
    confidence_ratio: float
    severity: Severity
    title: Text
    summary: Text
    evidence: tuple[ShownEvidence, ...]
    told_apart_from: tuple[ToldApart, ...]
    gain: Text
    changes: tuple[ShownChange, ...]
    checks: tuple[ShownCheck, ...]


class Unknown(msgspec.Struct, frozen=True, kw_only=True):
    """A cause that could not be judged, what is missing and which commands would settle it."""

    cause: Label
    rule: str
    missing: tuple[str, ...]
    would_settle: tuple[str, ...]


class Input(msgspec.Struct, frozen=True, kw_only=True):
    """One text that was read."""

    path: str
    recognised_as: str
    also: tuple[str, ...] = ()
    records: int


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """The answer of `diagnose`; its JSON is the contract `wirespeed/diagnose/1`."""

    schema: str = SCHEMA
    findings: tuple[Finding, ...]
    network_is_the_limit: bool | None
    unknown: tuple[Unknown, ...]
    problems: tuple[Problem, ...]
    inputs: tuple[Input, ...]


def run(options: Options) -> Answer:
    """Read everything, judge every cause, order what was found."""
    readers = shelf.every(tools, Reader)
    records: list[Record] = []
    problems: list[Problem] = []
    inputs: list[Input] = []
    for opened in open_inputs(options.inputs):
        if isinstance(opened, Problem):
            problems.append(opened)
            continue
        counts: Counter[str] = Counter()
        for name, item in read_all(opened, readers):
            if isinstance(item, Problem):
                problems.append(item)
            else:
                records.append(item)
                counts[name] += 1
        inputs.append(_input(opened.path, counts))
    if options.question:
        asked = MemoryLines(options.question, QUESTION_PATH)
        records.extend(item for _, item in read_all(asked, readers) if isinstance(item, Record))
    case = Case(records, options.question)
    judged = tuple(judge_rule(name, rule, case) for name, rule in shelf.every(rules, Rule).items())
    findings = tuple(_finding(one, same, judged) for one, same in ranked(judged))
    return Answer(
        findings=findings,
        network_is_the_limit=_network_is_the_limit(findings),
        unknown=tuple(_unknown(one, readers) for one in judged if one.state == "unknown"),
        problems=tuple(problems),
        inputs=tuple(inputs),
    )


def _input(path: str, counts: Counter[str]) -> Input:
    machine = [name for name, _ in counts.most_common() if name != "prose"]
    names = machine or [name for name in counts if name == "prose"]
    return Input(path=path, recognised_as=names[0] if names else "unknown", also=tuple(names[1:]), records=counts.total())


def _finding(one: Judged, same: tuple[Judged, ...], judged: tuple[Judged, ...]) -> Finding:
    rule = one.rule
    shown = all_printed(one.verdict.values)
    evidence = one.verdict.evidence + tuple(extra for other in same for extra in other.verdict.evidence)
    present = [other for other in judged if other.state == "present"]
    return Finding(
        cause=rule.cause,
        rule=one.rule_id,
        also=tuple(other.rule_id for other in same),
        explains=explained_by(one, present),
        confidence_ratio=round(one.confidence_ratio, 3),
        severity=rule.severity,
        title=rule.title.filled(shown),
        summary=rule.summary.filled(shown),
        evidence=tuple(_shown(each) for each in sorted(evidence, key=lambda each: -abs(each.weight_nats))),
        told_apart_from=tuple(ToldApart(cause=like.cause, because=like.because) for like in rule.told_apart_from),
        gain=rule.gain.filled(shown),
        changes=tuple(
            ShownChange(what=each.what.filled(shown), commands=_commands(each.commands, shown), side=each.side, risk=each.risk)
            for each in rule.changes
        ),
        checks=tuple(ShownCheck(what=each.what.filled(shown), commands=_commands(each.commands, shown)) for each in rule.checks),
    )


def _commands(commands: tuple[str, ...], shown: dict[str, str]) -> tuple[str, ...]:
    return tuple(command.format_map(shown) for command in commands)


def _shown(one: Evidence) -> ShownEvidence:
    quotes = one.quotes or tuple(quote for record in one.records for quote in record.quotes)
    unique = tuple(dict.fromkeys(quote for quote in quotes if quote.source != QUESTION_PATH))
    return ShownEvidence(
        says=one.says.filled(all_printed(one.values)),
        bears="for" if one.weight_nats > 0 else "against",
        values=one.values,
        quotes=unique[:MOST_QUOTES],
    )


def _unknown(one: Judged, readers: dict[str, Reader]) -> Unknown:
    wanted = [need.record if isinstance(need, Need) else need for need in one.missing]
    commands = one.rule.settled_by + tuple(
        command for kind in wanted for reader in readers.values() if kind in reader.gives for command in reader.obtained_by[:1]
    )
    return Unknown(
        cause=one.rule.cause,
        rule=one.rule_id,
        missing=tuple(kind.__name__ for kind in wanted),
        would_settle=tuple(dict.fromkeys(commands))[:3],
    )


def _network_is_the_limit(findings: tuple[Finding, ...]) -> bool | None:
    leading = [one for one in findings if one.confidence_ratio >= 0.5 and one.severity != "info"][:1] or list(findings[:1])
    bearings = {MEANINGS[one.cause].bearing for one in leading if one.confidence_ratio >= 0.5}
    if bearings == {"network"}:
        return True
    return False if bearings == {"not-network"} else None
