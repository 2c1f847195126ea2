"""The prose reader: what is denied, what a number means, where a match is quoted, and that its index loses no match."""

import re
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from wirespeed.model import shelf
from wirespeed.model.kinds import Symptoms
from wirespeed.model.lines import MemoryLines
from wirespeed.model.record import Record
from wirespeed.model.settings import Quantity, Statement
from wirespeed.readers import symptoms
from wirespeed.readers.parsing.letters import required_letters, spread_out
from wirespeed.readers.parsing.wordings import lowered_pattern
from wirespeed.readers.tools.prose import (
    QUESTION_PATH,
    READER,
    is_negated_at,
    lowered,
)

WORDINGS = tuple(
    wording for family in shelf.every(symptoms, Symptoms).values() for topic in family.topics.values() for wording in topic.wordings
)
SAFE = settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
ASCII = st.characters(min_codepoint=32, max_codepoint=126)


def _records(text: str, path: str = "note") -> Iterator[Record]:
    return (item for item in READER.read(MemoryLines(text, path)) if isinstance(item, Record))


def _said(text: str, topic: str) -> list[Statement]:
    return [one for one in _records(text) if isinstance(one, Statement) and one.topic == topic]


def _quantities(text: str) -> list[tuple[str, float]]:
    return [(one.dimension, one.value) for one in _records(text) if isinstance(one, Quantity)]


def test_a_log_line_says_nothing_unless_it_is_the_question() -> None:
    """In an input the readers of logs have it; in a question it is what the user asks about."""
    line = "NCCL INFO cuMem host not enabled, should I care?"
    topics = [{one.topic for one in _records(line, path) if isinstance(one, Statement)} for path in ("note", QUESTION_PATH)]
    assert topics[0] == set()
    assert "asks-about-message" in topics[1]


# --- negation ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "sentence",
    [
        "there is no LOSS here",
        "we never saw LOSS",
        "it runs without any LOSS",
        "the counters don't show LOSS",
        "LOSS was ruled out by the provider",
        "LOSS is not seen on either side",
        "LOSS: none",
        "LOSS = 0",
        "we ruled out LOSS",
        "neither LOSS nor delay",
        "没有LOSS",
        "not only that, but there is no LOSS",
    ],
)
def test_denied(sentence: str) -> None:
    start = sentence.index("LOSS")
    assert is_negated_at(sentence, start, start + 4)


@pytest.mark.parametrize(
    "sentence",
    [
        "we see LOSS",
        "not only LOSS but also delay",
        "we have no idea why there is LOSS",
        "I don't know where the LOSS comes from",
        "nothing is wrong with the NIC. There is LOSS",
        "no change, but LOSS on one port",
        "it does not look bad; LOSS grows",
        "LOSS did not stop after the change",
        "LOSS is not fixed by a reboot",
        "LOSS = 0.5 %",
        "we had none of it before the change; now LOSS everywhere",
        "不管怎样。有LOSS",
    ],
)
def test_not_denied(sentence: str) -> None:
    start = sentence.index("LOSS")
    assert not is_negated_at(sentence, start, start + 4)


def test_one_line_can_deny_and_affirm() -> None:
    found = _said("No ring overflow on the first node. On the second we saw a ring overflow at once.", "ring-overflow")
    assert [one.is_negated for one in found] == [True, False]


# --- where ---------------------------------------------------------------------------------------------------------------------


def test_a_wrapped_sentence_is_matched_and_both_lines_are_quoted() -> None:
    text = "Since the exchange of the card last week we see a receive\nbuffer error in every longer run.\n"
    (found,) = _said(text, "receive-buffer-errors")
    assert [(one.line_index, one.text) for one in found.quotes] == list(enumerate(text.split("\n")[:2]))


def test_short_lines_and_lists_are_not_joined() -> None:
    assert not _said("receive\nbuffer errors", "receive-buffer-errors")
    long = "- something long enough that an editor would have wrapped it: receive"
    assert not _said(f"{long}\n- buffer errors", "receive-buffer-errors")


def test_a_match_inside_the_line_before_is_not_told_twice() -> None:
    text = "In the long run of yesterday there was a ring overflow on one of\nthe nodes, and the rest was quiet."
    assert len(_said(text, "ring-overflow")) == 1


def test_question_is_marked() -> None:
    (found,) = [
        one
        for one in _records("Is it a ring overflow?", QUESTION_PATH)
        if isinstance(one, Statement) and one.topic == "ring-overflow"
    ]
    assert found.is_question


@pytest.mark.parametrize(
    "line",
    [
        "h:1:2 [0] NCCL INFO ring overflow 5 ms",
        "[   12.345678] mlx5_core: ring overflow 5 ms",
        "2024-01-01T12:00:00Z ring overflow 5 ms",
        "Jan  1 12:00:00 node-a kernel: ring overflow 5 ms",
        'File "ring overflow.py", line 5 ms',
    ],
)
def test_log_lines_say_nothing(line: str) -> None:
    assert not list(_records(line))


@pytest.mark.parametrize("line", ["ring_overflow: 5", "A_RING=overflow", '"ring overflow": 5,', "1 2 3 4 5", "<ring overflow='1'>"])
def test_data_lines_make_no_statement(line: str) -> None:
    assert not [one for one in _records(line) if isinstance(one, Statement)]


# --- numbers -------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("4-5 of 10 Gb/s", [("rate", 4e9), ("rate", 5e9), ("rate", 10e9)]),
        ("1,804 MiB", [("size", 1804 * 2**20)]),
        ("12 %", [("share", 0.12)]),
        ("40-45 ms", [("time", 0.04), ("time", 0.045)]),
        ("2.7 times", [("factor", 2.7)]),
        ("3x slower", [("factor", 3.0)]),
        ("8x A100", []),
        ("400 B/s", [("rate", 3200.0)]),
        ("5 GB per second", [("rate", 40e9)]),
        ("30-second", [("time", 30.0)]),
        ("228 bytes", [("size", 228.0)]),
        ("87 °C", [("temperature", 87.0)]),
        ("1.4 GHz", [("clock", 1.4e9)]),
        ("192.0.2.1 s", []),
        ("1e-06 s", []),
        ("70k tokens", []),
    ],
)
def test_quantities(text: str, expected: list[tuple[str, float]]) -> None:
    assert _quantities(text) == [(dimension, pytest.approx(value)) for dimension, value in expected]


# --- the index loses nothing ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pattern", "required"),
    [
        (r"receive[- ]buffer errors?", {frozenset({"receive"}), frozenset({"buffer error"})}),
        (r"(?:switch|port).{0,60}pause", {frozenset({"switch", "port"}), frozenset({"pause"})}),
        (r"\bfoo\b", {frozenset({" foo "})}),
        (r"\b(?:ab|cd)x?", {frozenset({" ab", " cd"})}),
        (r"(?:maybe)? sure", {frozenset({" sure"})}),
        (r"(?!never)\w+|x", set()),
        (r"one|\w+", set()),
        (r"a{0,3}bc", {frozenset({"bc"})}),
        (r"NCCL_P2P", {frozenset({"nccl_p2p"})}),
        (r"(?i:Foo|bar) \(x\)*", {frozenset({"foo", "bar"}), frozenset({" x"})}),
    ],
)
def test_required_letters(pattern: str, required: set[frozenset[str]]) -> None:
    assert set(required_letters(pattern)) == required


@SAFE
@given(data=st.data())
def test_every_match_holds_what_its_wording_requires(data: st.DataObject) -> None:
    wording = data.draw(st.sampled_from(WORDINGS))
    match = data.draw(st.from_regex(wording, alphabet=ASCII))
    spread = spread_out(lowered(match))
    for runs in required_letters(wording):
        assert any(letters in spread for letters in runs), (wording, match, runs)


@SAFE
@given(data=st.data())
def test_lower_case_finds_what_the_wording_finds(data: st.DataObject) -> None:
    wording = data.draw(st.sampled_from(WORDINGS))
    text = data.draw(st.from_regex(wording, alphabet=ASCII)).swapcase()
    plain = re.search(wording, text, re.IGNORECASE)
    low = re.search(lowered_pattern(wording), lowered(text))
    assert (plain and plain.span()) == (low and low.span())


@SAFE
@given(text=st.text(max_size=400))
def test_any_text_is_read_and_quoted_word_for_word(text: str) -> None:
    lines = text.split("\n")
    assert len(lowered(text)) == len(text)
    for record in _records(text):
        assert record.quotes
        assert all(lines[one.line_index] == one.text for one in record.quotes)
