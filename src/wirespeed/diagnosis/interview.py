"""What to ask a person next: the rules themselves tell what an answer would change (requirements E2 and E7)."""

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from wirespeed.diagnosis.calibration import log_odds, logistic
from wirespeed.diagnosis.judge import PRIOR_NATS, Judge, Judged
from wirespeed.diagnosis.separate import SURE_RATIO, binary_entropy_nats, leader_of, rivals_of
from wirespeed.model.case import Case
from wirespeed.model.kinds import Activity, Happening, Need, Question, Rule
from wirespeed.model.labels import MEANINGS
from wirespeed.model.settings import Statement
from wirespeed.model.source import Quote, Source

SEEN_ANYHOW_RATIO = 0.1
"""How often people say yes to something that has another cause."""
MOST_SEEN_RATIO = 0.9
"""Nothing is seen by everybody who has the cause."""
MOST_CHOICES = 9
"""More are not read."""
RIVAL_TIMES = 2.0

NEAR_SHARE = 0.4
"""A cause that also others have counts so much."""
FAR_SHARE = 0.05
"""A cause that is rare where this is done."""

_HOME: Mapping[Activity, frozenset[str]] = {
    "training": frozenset(
        {
            "nccl-config",
            "transport",
            "straggler",
            "strategy",
            "placement",
            "host-gpu",
            "host-pcie",
            "host-rdma",
            "software",
            "version",
        }
    ),
    "serving": frozenset({"inference", "k8s", "net-policy"}),
    "download": frozenset({"storage"}),
    "benchmark": frozenset({"measurement", "no-fault"}),
}
"""Families of causes that belong to what is done."""
_NEAR: Mapping[Activity, frozenset[str]] = {
    "training": frozenset(
        {"fabric", "host-nic", "host-cpu", "host-net", "host-limits", "net-policy", "not-network", "no-fault", "storage"}
    ),
    "serving": frozenset(
        {"fabric", "host-nic", "host-cpu", "host-net", "host-limits", "not-network", "no-fault", "measurement", "storage"}
    ),
    "download": frozenset({"fabric", "host-nic", "host-net", "net-policy", "not-network", "no-fault", "k8s"}),
    "benchmark": frozenset(
        {
            "fabric",
            "transport",
            "nccl-config",
            "host-nic",
            "host-cpu",
            "host-gpu",
            "host-pcie",
            "host-rdma",
            "host-net",
            "inference",
        }
    ),
}
"""Families of causes that are met there as well as elsewhere."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """A question with the choices worth showing now, the most telling first."""

    question_id: str
    question: Question
    topics: tuple[str, ...]
    gain_nats: float


@dataclass(slots=True)
class Memory:
    """What has been asked, and how far answers that came to nothing make causes less likely."""

    kind: Activity | None = None
    happening: Happening | None = None
    topics: set[str] = field(default_factory=set)
    commands: set[str] = field(default_factory=set)
    doubts: dict[str, float] = field(default_factory=dict)
    """By rule id: how much of a cause's likelihood is left after nobody had seen what it shows."""

    def is_fitting(self, question: Question) -> bool:
        """Whether a question makes sense for what the user does and for what happens."""
        fits_kind = self.kind is None or self.kind in question.kinds
        return fits_kind and (self.happening is None or self.happening in question.when)

    def leave_out(self, effects: Mapping[str, float]) -> None:
        """Note that what has these effects was not seen."""
        for rule_id, nats in effects.items():
            left = (1.0 - _seen_ratio(nats)) / (1.0 - SEEN_ANYHOW_RATIO)
            self.doubts[rule_id] = self.doubts.get(rule_id, 1.0) * min(1.0, left)

    def scaled(self, shares: Mapping[str, float], rules: Mapping[str, Rule]) -> dict[str, float]:
        """Shares of causes, less for those that are rare where this is done, and less for what was not seen."""
        return {
            rule_id: share * self._share_of(MEANINGS[rules[rule_id].cause].family) * self.doubts.get(rule_id, 1.0)
            for rule_id, share in shares.items()
        }

    def _share_of(self, family: str) -> float:
        if self.kind is None or family in _HOME[self.kind]:
            return 1.0
        return NEAR_SHARE if family in _NEAR[self.kind] else FAR_SHARE


def askings(
    judged: Sequence[Judged],
    effects: Mapping[str, Mapping[str, float]],
    questions: Mapping[str, Question],
    memory: Memory,
    shares: Mapping[str, float],
) -> tuple[Asking, ...]:
    """Questions worth asking, those with the most expected information first; among equals the one that parts the network off."""
    leader = leader_of(judged)
    rivals = rivals_of(judged, leader)
    is_sure = leader is not None and leader.confidence_ratio >= SURE_RATIO
    weights = {
        one.rule_id: shares.get(one.rule_id, 0.0) * (RIVAL_TIMES if one.rule.cause in rivals else 0.0 if is_sure else 1.0)
        for one in judged
    }
    by_id = {one.rule_id: one for one in judged}
    made = []
    for name, question in questions.items():
        if not memory.is_fitting(question):
            continue
        gains = {
            topic: sum(weights[rule_id] * _information_nats(by_id[rule_id], nats) for rule_id, nats in effects[topic].items())
            for topic in question.choices
            if topic not in memory.topics and topic in effects
        }
        telling = sorted((topic for topic in gains if gains[topic] > 0.0), key=lambda topic: -gains[topic])[:MOST_CHOICES]
        if telling:
            gain = sum(gains[topic] for topic in telling)
            made.append(Asking(question_id=name, question=question, topics=tuple(telling), gain_nats=gain))
    return tuple(sorted(made, key=lambda one: (-one.gain_nats, not one.question.is_first)))


def effects_of(
    topics: Iterable[str], judged: Sequence[Judged], rules: Mapping[str, Rule], case: Case, judge: Judge
) -> dict[str, dict[str, float]]:
    """By topic: how the log odds of rules would change were it said; each rule that would hear it is asked."""
    wanted = tuple(dict.fromkeys(topics))
    hearing = _heard(wanted, rules, case, judge)
    before = {one.rule_id: _odds_nats(one) for one in judged}
    found: dict[str, dict[str, float]] = {}
    for topic in wanted:
        told = Case([*case.records, _said(topic)], case.question, case.texts)
        changes = {name: _odds_nats(judge(name, rules[name], told)) - before[name] for name in hearing[topic]}
        found[topic] = {name: nats for name, nats in changes.items() if nats != 0.0}
    return found


class _Hearing(Case):
    """A case that notes the topics a rule asks for."""

    heard: set[str]

    def said(self, *topics: str) -> tuple[Statement, ...]:
        self.heard.update(topics)
        return super().said(*topics)


def _heard(topics: Collection[str], rules: Mapping[str, Rule], case: Case, judge: Judge) -> dict[str, list[str]]:
    """Which rules a topic would reach: those that ask for it when something is said at all, and those that need it to begin with."""
    listening = _Hearing([*case.records, _said("")], case.question, case.texts)
    found: dict[str, list[str]] = {topic: [] for topic in topics}
    for name, rule in rules.items():
        listening.heard = set()
        judge(name, rule, listening)
        needed = {topic for topic in topics if topic not in listening.heard and _is_needed(rule, topic)}
        for topic in (listening.heard | needed) & found.keys():
            found[topic].append(name)
    return found


def _is_needed(rule: Rule, topic: str) -> bool:
    wanting = (need for needs in rule.needs for need in needs if isinstance(need, Need) and need.record is Statement)
    return any(need.where is not None and need.where(_said(topic)) for need in wanting)


def _said(topic: str) -> Statement:
    """Somebody says so."""
    line = Quote(source="answers", line_index=0, text=f"yes {topic}")
    return Statement(source=Source(tool="answers", path="answers"), topic=topic, quotes=(line,))


def _odds_nats(judged: Judged) -> float:
    if 0.0 < judged.confidence_ratio < 1.0:
        return log_odds(judged.confidence_ratio)
    return PRIOR_NATS + sum(min(one.weight_nats, 0.0) for one in judged.verdict.evidence)


def _seen_ratio(nats: float) -> float:
    """How often people with a cause say yes to what changes its odds by so much."""
    return min(MOST_SEEN_RATIO, SEEN_ANYHOW_RATIO * math.exp(nats))


def _information_nats(judged: Judged, nats: float) -> float:
    """Information expected about one cause from the answer yes or no."""
    ratio = logistic(_odds_nats(judged))
    yes, yes_anyhow = _seen_ratio(nats), SEEN_ANYHOW_RATIO
    said = ratio * yes + (1.0 - ratio) * yes_anyhow
    after_yes, after_no = ratio * yes / said, ratio * (1.0 - yes) / (1.0 - said)
    left = said * binary_entropy_nats(after_yes) + (1.0 - said) * binary_entropy_nats(after_no)
    return max(0.0, binary_entropy_nats(ratio) - left)
