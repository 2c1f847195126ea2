"""Words in common with a cause's own explanation: weak, quoted, and only for rules that stand out."""

from wirespeed.diagnosis import rules
from wirespeed.diagnosis.affinity import MOST_NATS, Affinity, words_of
from wirespeed.model import shelf
from wirespeed.model.kinds import Rule

RULES = shelf.every(rules, Rule)
AFFINITY = Affinity(RULES)


def test_endings_and_common_words_go() -> None:
    assert words_of("The rings were dropped, dropping") == ["ring", "dropp", "dropp"]


def test_chinese_is_taken_in_pairs() -> None:
    assert {"网卡", "接收", "收环"} <= set(words_of("网卡接收环"))


def test_a_rules_own_words_lead_to_it() -> None:
    """Its own summary must stand out for most rules; this would fail if documents or weights were mixed up."""
    hits = 0
    for name, rule in RULES.items():
        found = AFFINITY.evidence({"note": f"{rule.summary.en} {rule.explain.shows.en}"})
        best = max(found, key=lambda one: found[one].weight_nats, default=None)
        hits += best is not None and RULES[best].cause == rule.cause
        assert name
    assert hits >= 0.9 * len(RULES)


def test_weight_is_bounded_and_lines_are_quoted() -> None:
    text = "nothing here\nthe receive ring of the NIC overflows in bursts and the descriptors run out\n"
    found = AFFINITY.evidence({"note": text})
    ring = found["nic_ring_too_small"]
    assert 0 < ring.weight_nats <= MOST_NATS
    assert [quote.line_index for quote in ring.quotes] == [1]


def test_foreign_words_give_nothing() -> None:
    assert AFFINITY.evidence({"note": "qwxz vbnm plok"}) == {}
