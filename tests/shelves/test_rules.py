"""Everything on the rule shelf keeps what a rule promises. This file names no rule.

`tests/data/diagnosis/rules/<rule>.yaml` holds three cases, `present`, `absent` and `unknown`, each with `inputs` (texts) and
perhaps a `question`; they go through the readers as a user's files would. `source` says where the facts come from.
"""

from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from wirespeed.diagnosis import rules
from wirespeed.diagnosis.judge import judge_rule, record_type
from wirespeed.model import shelf
from wirespeed.model.case import Case
from wirespeed.model.kinds import Reader, Rule, Symptoms
from wirespeed.model.labels import MEANINGS
from wirespeed.model.lines import MemoryLines
from wirespeed.model.record import Record
from wirespeed.model.settings import Quantity, Statement
from wirespeed.readers import symptoms, tools
from wirespeed.readers.recognise import read_all
from wirespeed.report.numbers import all_printed

DATA = Path(__file__).parents[1] / "data" / "diagnosis" / "rules"
RULES = shelf.every(rules, Rule)
READERS = shelf.every(tools, Reader)
STATES = ("present", "absent", "unknown")


@cache
def _written(name: str) -> dict[str, Any]:
    return yaml.safe_load((DATA / f"{name}.yaml").read_text(encoding="utf-8"))


def _case(written: dict[str, Any]) -> Case:
    records: list[Record] = []
    texts = [(str(index), text) for index, text in enumerate(written.get("inputs", []), 1)]
    if written.get("question"):
        texts.append(("question", written["question"]))
    for path, text in texts:
        records.extend(item for _, item in read_all(MemoryLines(text, path), READERS) if isinstance(item, Record))
    return Case(records, written.get("question", ""))


def _rests_on_prose(name: str) -> bool:
    """Whether only prose can speak for the rule: then nothing ever proves absence."""
    return all(record_type(need) in (Statement, Quantity) for needs in RULES[name].needs for need in needs)


def _states_of(name: str) -> tuple[str, ...]:
    return ("present", "unknown") if _rests_on_prose(name) else STATES


@pytest.mark.parametrize(("name", "state"), [(name, state) for name in RULES for state in _states_of(name)])
def test_state(name: str, state: str) -> None:
    judged = judge_rule(name, RULES[name], _case(_written(name)[state]))
    assert judged.state == state, [(one.says.en, one.weight_nats) for one in judged.verdict.evidence]


@pytest.mark.parametrize("name", RULES)
def test_taking_a_need_away_gives_unknown(name: str) -> None:
    """Without any record of the types its needs name, a rule knows nothing."""
    rule = RULES[name]
    wanted = {record_type(need) for needs in rule.needs for need in needs}
    case = _case(_written(name)["present"])
    bare = Case([record for record in case.records if type(record) not in wanted], case.question)
    assert judge_rule(name, rule, bare).state == "unknown"


@pytest.mark.parametrize("name", RULES)
def test_a_kind_of_evidence_taken_away_never_gives_absent(name: str) -> None:
    """What made the cause present, less all records of one type: present or unknown, since nothing speaks against it."""
    case = _case_of(name, "present")
    for wanted in {record_type(need) for needs in RULES[name].needs for need in needs}:
        less = Case([record for record in case.records if type(record) is not wanted], case.question)
        assert judge_rule(name, RULES[name], less).state != "absent", f"without {wanted.__name__}"


@pytest.mark.parametrize("name", RULES)
def test_absence_rests_on_what_is_at_hand(name: str) -> None:
    """What made the cause absent, less the records of the types that silence needs: nothing is known any more."""
    rule = RULES[name]
    if _rests_on_prose(name):
        return
    wanted = {record_type(need) for needs in (*rule.needs, *rule.silence_needs) for need in needs}
    case = _case_of(name, "absent")
    less = Case([record for record in case.records if type(record) not in wanted], case.question)
    assert judge_rule(name, rule, less).state != "absent"


@pytest.mark.parametrize("name", RULES)
def test_present_quotes_and_fills_its_sentences(name: str) -> None:
    rule = RULES[name]
    judged = judge_rule(name, rule, _case(_written(name)["present"]))
    shown = all_printed(judged.verdict.values)
    for text in (rule.title, rule.summary, rule.gain, *(change.what for change in rule.changes)):
        text.filled(shown)
    for command in (command for each in (*rule.changes, *rule.checks) for command in each.commands):
        command.format_map(shown)
    for one in judged.verdict.evidence:
        one.says.filled(all_printed(one.values))
        assert one.records or one.quotes, one.says.en


@pytest.mark.parametrize("name", RULES)
def test_no_rule_fails_on_another_rules_cases(name: str) -> None:
    for other in RULES:
        for state in _states_of(other):
            judge_rule(name, RULES[name], _case_of(other, state))


@cache
def _case_of(name: str, state: str) -> Case:
    return _case(_written(name)[state])


@pytest.mark.parametrize("name", RULES)
def test_names_are_known(name: str) -> None:
    rule = RULES[name]
    assert rule.cause in MEANINGS
    assert rule.told_apart_from
    assert rule.explain.sources
    assert {like.cause for like in rule.told_apart_from} <= set(MEANINGS)
    assert set(rule.explains) <= set(MEANINGS)
    assert rule.cause not in rule.explains


def test_topics_rules_ask_for_exist() -> None:
    """A topic is a string literal in `said(...)` or `denied(...)`; every one must be on the symptoms shelf."""
    import ast

    known = {topic for family in shelf.every(symptoms, Symptoms).values() for topic in family.topics}
    for name in RULES:
        source = (Path(rules.__file__).parent / f"{name}.py").read_text(encoding="utf-8")
        calls = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]
        asked = {
            argument.value
            for call in calls
            if isinstance(call.func, ast.Attribute) and call.func.attr in ("said", "denied")
            for argument in call.args
            if isinstance(argument, ast.Constant)
        }
        assert asked <= known, f"{name} asks for {sorted(asked - known)}"


def test_topics_have_one_home() -> None:
    families = shelf.every(symptoms, Symptoms)
    topics = [topic for family in families.values() for topic in family.topics]
    assert len(topics) == len(set(topics)), sorted(topic for topic in set(topics) if topics.count(topic) > 1)


def test_prose_alone_never_passes_its_cap() -> None:
    for name in RULES:
        case = _case_of(name, "present")
        said = Case([record for record in case.records if isinstance(record, Statement | Quantity)], case.question)
        assert judge_rule(name, RULES[name], said).confidence_ratio <= 0.7
