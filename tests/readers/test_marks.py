"""Asking for required letters first rules out no text that a recogniser accepts."""

import re
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from wirespeed.model import shelf
from wirespeed.model.kinds import Reader
from wirespeed.readers import tools
from wirespeed.readers.parsing.letters import LetterIndex, required_letters, spread_out
from wirespeed.readers.parsing.marks import Marks, accepting, marked
from wirespeed.readers.recognise import readers_for

READERS = shelf.every(tools, Reader)
WRITTEN = sorted({one for reader in READERS.values() if isinstance(reader.recognises, Marks) for one in reader.recognises.written})
TEXTS = sorted((Path(__file__).parents[1] / "data" / "readers" / "tools").glob("*/*/input.*"))
SAFE = settings(deadline=None, max_examples=200, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
ASCII = st.characters(min_codepoint=32, max_codepoint=126, include_characters="\n\t")


def test_the_same_readers_as_without_letters() -> None:
    for path in TEXTS:
        text = path.read_text(encoding="utf-8")
        assert readers_for(text, READERS) == tuple(name for name, reader in READERS.items() if reader.recognises(text)), path


@SAFE
@given(data=st.data())
def test_every_match_of_a_mark_holds_its_letters(data: st.DataObject) -> None:
    written = data.draw(st.sampled_from(WRITTEN))
    match = data.draw(st.from_regex(written, alphabet=ASCII))
    assert list(LetterIndex([required_letters(written)]).candidates(spread_out(match.lower()))) == [0], (written, match)


def test_only_patterns_whose_letters_are_there_are_searched_for() -> None:
    tried: list[str] = []

    def plain(sample: str) -> bool:
        tried.append(sample)
        return True

    recognisers = (
        marked(r"Link (?:up|down)"),
        marked(r"rx_\w+: \d", "NIC statistics"),
        plain,
        marked("x", confirmed=lambda sample: False),
    )
    assert accepting("eth0: Link  up\nx", recognisers) == [2]
    assert accepting("eth0: Link up\nx", recognisers) == [0, 2]
    assert accepting("NIC statistics:", recognisers) == [1, 2]
    assert len(tried) == 3


def test_a_pattern_without_letters_is_always_tried() -> None:
    assert accepting("00 1f", (marked(re.compile(r"^[0-9a-f]{2} ")), marked(r"[a-z]{3}"))) == [0]
