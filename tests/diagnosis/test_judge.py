"""Three states, stated weights, and what people say kept in its place."""

import math
from dataclasses import replace

import pytest

from wirespeed.diagnosis.affinity import learned
from wirespeed.diagnosis.judge import (
    PRESENT_AT,
    PRIOR_NATS,
    PROSE_CAP,
    WORDING_CAP,
    confidence_of,
    judge_all,
    judge_rule,
    score_of,
)
from wirespeed.model.case import Case
from wirespeed.model.facts.host import EnvVar, Sysctl
from wirespeed.model.finding import FAIR, PROVES, SLIGHT, STRONG, Evidence, Verdict, contradicts, supports
from wirespeed.model.kinds import Explain, Rule, wants
from wirespeed.model.settings import Statement
from wirespeed.model.source import Source
from wirespeed.model.text import same

HERE = Source(tool="test", path="1.txt")
SEEN = EnvVar(source=HERE, name="NCCL_IB_DISABLE", setting="1")
SAID = Statement(source=HERE, topic="anything")
OTHER = Sysctl(source=HERE, name="net.core.somaxconn", setting="128")


ELSEWHERE = EnvVar(source=Source(tool="test", path="2.txt", host="b"), name="NCCL_IB_DISABLE", setting="1")
HERE_TOO = EnvVar(source=Source(tool="test", path="1.txt", host="a"), name="NCCL_IB_DISABLE", setting="1")


def _for(weight: float, *records: object) -> Evidence:
    return supports(same("it is so"), weight, *records)


def _rule(*evidence: Evidence, needs: tuple[tuple[object, ...], ...] = ((EnvVar,),)) -> Rule:
    return Rule(
        cause="nccl-env-override",
        title=same("t"),
        summary=same("s"),
        needs=needs,
        judge=lambda case: Verdict(evidence=evidence),
        explain=Explain(what=same("w"), shows=same("s"), sources=("test",)),
        told_apart_from=(),
        changes=(),
        checks=(),
        gain=same("g"),
        severity="low",
    )


@pytest.mark.parametrize("weights", [(PROVES,), (STRONG, FAIR), (SLIGHT,), (FAIR, SLIGHT, SLIGHT)])
def test_machine_evidence_is_bayes(weights: tuple[float, ...]) -> None:
    """Odds after = odds before times the likelihood ratios, written out independently."""
    before = math.exp(PRIOR_NATS)
    after = before * math.prod(math.exp(weight) for weight in weights)
    verdict = Verdict(evidence=tuple(_for(weight, SEEN) for weight in weights))
    assert math.exp(score_of(verdict)) == pytest.approx(after)
    assert confidence_of(verdict) == pytest.approx(after / (1 + after))


def test_against_lowers() -> None:
    alone = Verdict(evidence=(_for(STRONG, SEEN),))
    doubted = Verdict(evidence=(*alone.evidence, contradicts(same("no"), FAIR, SEEN)))
    assert confidence_of(doubted) < confidence_of(alone)


def test_against_alone_is_no_finding() -> None:
    assert confidence_of(Verdict(evidence=(contradicts(same("no"), FAIR, SEEN),))) == 0.0


def test_prose_never_passes_its_cap_and_machines_do() -> None:
    said = Verdict(evidence=tuple(_for(PROVES, SAID) for _ in range(9)))
    assert confidence_of(said) <= PROSE_CAP
    assert confidence_of(Verdict(evidence=(*said.evidence, _for(STRONG, SEEN)))) > PROSE_CAP


def test_unmet_needs_are_unknown_and_named() -> None:
    judged = judge_rule("r", _rule(_for(PROVES, SEEN)), Case([OTHER]))
    assert (judged.state, judged.missing) == ("unknown", (EnvVar,))


def test_the_nearest_alternative_is_what_is_missing() -> None:
    rule = _rule(needs=((EnvVar, Statement, Sysctl), (EnvVar,)))
    assert judge_rule("r", rule, Case([])).missing == (EnvVar,)


def test_met_and_silent_is_absent() -> None:
    assert judge_rule("r", _rule(), Case([SEEN])).state == "absent"


def test_prose_proves_no_absence() -> None:
    rule = _rule(needs=((EnvVar,), (Statement,)))
    assert judge_rule("r", rule, Case([SAID])).state == "unknown"


def test_a_narrowed_need_wants_the_right_record() -> None:
    rule = _rule(needs=((wants(EnvVar, lambda one: one.name == "UCX_TLS"),),))
    assert judge_rule("r", rule, Case([SEEN])).state == "unknown"


def test_words_add_weak_evidence_only_where_somebody_spoke() -> None:
    rules = {"one": _rule(needs=((Sysctl,),)), "other": replace(_rule(needs=((Sysctl,),)), cause="dns-slow")}
    made = learned({"nccl-env-override": "bicycle bell sidewalk", "dns-slow": "story plot matter"}, [("dns-slow", _STORY)], "test")
    spoken = judge_all(rules, Case([SAID], texts={"1.txt": _STORY}), made)
    sure = {one.rule_id: one.confidence_ratio for one in spoken}
    assert 0 == sure["one"] < sure["other"] <= WORDING_CAP
    assert all(one.confidence_ratio == 0.0 for one in judge_all(rules, Case([SEEN], texts={"1.txt": _STORY}), made))
    assert all(one.confidence_ratio == 0.0 for one in judge_all(rules, Case([SAID], texts={"1.txt": _STORY})))


_STORY = "a story with a plot and a matter"


def test_words_do_not_revive_what_something_speaks_against() -> None:
    rule = replace(_rule(contradicts(same("it is not so"), SLIGHT, SEEN)), cause="dns-slow")
    made = learned({"nccl-env-override": "bicycle bell sidewalk", "dns-slow": "story plot matter"}, [("dns-slow", _STORY)], "test")
    (judged,) = judge_all({"r": rule}, Case([SEEN, SAID], texts={"1.txt": _STORY}), made)
    assert judged.state == "absent"


def test_a_suspicion_too_weak_to_list_is_unknown() -> None:
    judged = judge_rule("r", _rule(_for(SLIGHT, SEEN)), Case([SEEN]))
    assert (judged.state, judged.confidence_ratio < PRESENT_AT) == ("unknown", True)


def test_machines_against_outweigh_words_for() -> None:
    rule = _rule(_for(STRONG, SAID), contradicts(same("it is not so"), FAIR, SEEN))
    assert judge_rule("r", rule, Case([SEEN, SAID])).state == "absent"


def test_silence_is_absence_only_with_all_it_takes() -> None:
    rule = replace(_rule(), silence_needs=((EnvVar, Sysctl),))
    half = judge_rule("r", rule, Case([SEEN]))
    assert (half.state, half.missing) == ("unknown", (Sysctl,))
    assert judge_rule("r", rule, Case([SEEN, OTHER])).state == "absent"


def test_a_comparison_needs_several_hosts() -> None:
    rule = replace(_rule(), silence_needs=((wants(EnvVar, hosts_count=2),),))
    assert judge_rule("r", rule, Case([HERE_TOO, HERE_TOO])).state == "unknown"
    assert judge_rule("r", rule, Case([SEEN, HERE_TOO])).state == "unknown"
    assert judge_rule("r", rule, Case([HERE_TOO, ELSEWHERE])).state == "absent"
