"""Surest first, causes before victims, one entry a cause, suspicions only to fill."""

import math

from wirespeed.diagnosis.judge import Judged
from wirespeed.diagnosis.rank import explained_by, ranked
from wirespeed.model.finding import Verdict
from wirespeed.model.kinds import Explain, Rule
from wirespeed.model.labels import Label
from wirespeed.model.text import same


def _judged(name: str, cause: Label, sure: float, explains: tuple[Label, ...] = (), state: str = "present") -> Judged:
    rule = Rule(
        cause=cause,
        title=same("t"),
        summary=same("s"),
        needs=(),
        judge=lambda case: Verdict(),
        explain=Explain(what=same("w"), shows=same("s"), sources=("test",)),
        told_apart_from=(),
        changes=(),
        checks=(),
        gain=same("g"),
        severity="low",
        explains=explains,
    )
    score = math.log(sure / (1.0 - sure))
    return Judged(rule_id=name, rule=rule, state=state, verdict=Verdict(), confidence_ratio=sure, score_nats=score)  # type: ignore[arg-type]


def _order(*judged: Judged) -> list[str]:
    return [leader.rule_id for leader, _ in ranked(judged)]


def test_surest_first() -> None:
    assert _order(_judged("a", "packet-loss", 0.4), _judged("b", "gpu-xid", 0.9)) == ["b", "a"]


def test_a_cause_stands_before_its_victim() -> None:
    victim = _judged("victim", "collective-timeout-too-short", 0.9)
    cause = _judged("cause", "gpu-xid", 0.8, explains=("collective-timeout-too-short",))
    assert _order(victim, cause) == ["cause", "victim"]
    assert explained_by(cause, [cause, victim]) == ("collective-timeout-too-short",)


def test_a_doubtful_cause_does_not_pass_a_sure_victim() -> None:
    victim = _judged("victim", "collective-timeout-too-short", 0.95)
    cause = _judged("cause", "gpu-xid", 0.3, explains=("collective-timeout-too-short",))
    assert _order(victim, cause) == ["victim", "cause"]


def test_rules_of_one_cause_stand_together() -> None:
    (entry,) = ranked((_judged("weak", "packet-loss", 0.4), _judged("strong", "packet-loss", 0.9)))
    assert entry[0].rule_id == "strong"
    assert [one.rule_id for one in entry[1]] == ["weak"]


def test_suspicions_fill_up_to_three_and_no_further() -> None:
    suspected = [
        _judged(f"s{number}", cause, 0.2 - number / 100, state="unknown")
        for number, cause in enumerate(("packet-loss", "gpu-xid", "iommu", "dns-slow"))
    ]
    assert _order(_judged("a", "mtu-mismatch", 0.9), *suspected) == ["a", "s0", "s1"]
    assert _order(_judged("none", "gpu-oom", 0.01, state="unknown")) == []
