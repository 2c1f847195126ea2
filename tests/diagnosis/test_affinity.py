"""Words in common with how a cause is told: weak, quoted, and only for causes that stand out."""

import math

from wirespeed.diagnosis.affinity import Affinity, learned, terms_of, words_of
from wirespeed.verbs._vocabulary import vocabulary

AFFINITY = Affinity(vocabulary())


def test_endings_and_common_words_go() -> None:
    assert words_of("The rings were dropped, dropping") == ["ring", "dropp", "dropp"]


def test_chinese_is_taken_in_pairs() -> None:
    assert {"网卡", "接收", "收环"} <= set(words_of("网卡接收环"))


def test_terms_are_words_and_neighbours() -> None:
    assert terms_of("the receive ring overflows") == ["receive", "ring", "overflow", "receive ring", "ring overflow"]


def test_learned_weights_are_those_computed_by_hand() -> None:
    """Three texts; `ring` stands in two of them, everything else in one, so it is the only term kept."""
    made = learned({"nic-ring-too-small": "ring", "packet-loss": "loss"}, [("packet-loss", "ring ring")], "test")
    rarity = math.log(1 + 3 / 2)
    assert made.causes == ("nic-ring-too-small", "packet-loss")
    assert made.terms == {"ring": (0, round(1000 * rarity), 1, round(1000 * rarity))}


def test_a_cause_told_by_others_is_known_again() -> None:
    told = [("dns-slow", "resolver takes five seconds"), ("gpu-xid", "card fell off the bus")]
    made = learned({"dns-slow": "resolver seconds", "gpu-xid": "card bus", "packet-loss": "frames lost"}, told * 2, "test")
    found = Affinity(made).evidence({"note": "our resolver takes five seconds"})
    assert set(found) == {"dns-slow"}


def test_weight_stands_out_and_lines_are_quoted() -> None:
    text = "nothing here\nthe receive ring of the NIC overflows in bursts and the descriptors run out\n"
    found = AFFINITY.evidence({"note": text})
    best = max(found, key=lambda cause: found[cause].weight_nats)
    assert best == "nic-ring-too-small"
    assert [quote.line_index for quote in found[best].quotes] == [1]


def test_foreign_words_give_nothing() -> None:
    assert AFFINITY.evidence({"note": "qwxz vbnm plok"}) == {}
