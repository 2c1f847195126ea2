"""Explain: the whole story of every cause in every format, and help for a name that is none."""

import json
import re
import subprocess
import sys

import pytest

import wirespeed
from wirespeed.diagnosis import rules
from wirespeed.model import shelf
from wirespeed.model.errors import BadRequest
from wirespeed.model.kinds import Renderer, Rule
from wirespeed.model.labels import MEANINGS
from wirespeed.report import renderers, words
from wirespeed.verbs import explain

RULES = shelf.every(rules, Rule)
HAN = re.compile(r"[\u4e00-\u9fff]")


@pytest.mark.parametrize("name", RULES)
def test_every_story_is_whole_in_every_format(name: str) -> None:
    answer = explain.run(explain.Options(cause=name))
    (story,) = answer.stories
    page = explain.present(answer, explain.Options(cause=name))
    for renderer in shelf.every(renderers, Renderer).values():
        for language in ("en", "zh"):
            text = renderer.render(page, language, 100)
            assert story.title[language] in text or renderer.title.en == "one HTML page"
            assert not re.search(r"(?<!%)\{[a-z_]+\}", text.split("<style>")[0])
    assert HAN.search(shelf.take(renderers, "text", Renderer).render(page, "zh", 100))
    assert story.shows.en and story.changes and story.checks and story.sources
    assert {like.cause for like in story.told_apart_from} == {like.cause for like in RULES[name].told_apart_from}


def test_what_it_is_mistaken_for_stands_on_both_pages() -> None:
    """nic_ring_too_small names cpu-bound-host; irq_affinity explains nic-ring-too-small (read from their files)."""
    (ring,) = wirespeed.explain(cause="nic-ring-too-small").stories
    assert "cpu-bound-host" in {like.cause for like in ring.told_apart_from}
    assert "irq-affinity" in ring.explained_by
    (busy,) = wirespeed.explain(cause="cpu-bound-host").stories
    assert "nic-ring-too-small" in busy.mistaken_from


def test_a_label_with_several_rules_tells_them_all() -> None:
    answer = wirespeed.explain(cause="no-fault-hardware-limit")
    assert [story.rule for story in answer.stories] == ["no_fault_decode_memory_bound", "no_fault_hardware_limit"]


@pytest.mark.parametrize("written", ["MTU_mismatch", "mtu-mismatch", "mtu mismatch", " mtu_mismatch "])
def test_however_it_is_written(written: str) -> None:
    assert wirespeed.explain(cause=written).stories[0].cause == "mtu-mismatch"


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("mtu", "mtu-mismatch"),
        ("pcie-acs", "pcie-acs-enabled"),
        ("packetloss", "packet-loss"),
        ("dnsslow", "dns-slow"),
        ("ring", "nic-ring-too-small"),
    ],
)
def test_a_name_that_is_none_is_helped(written: str, meant: str) -> None:
    with pytest.raises(BadRequest) as raised:
        wirespeed.explain(cause=written)
    assert meant in raised.value.why.en and meant in raised.value.why.zh


@pytest.mark.parametrize("written", ["", "   ", "zzzzqqq", "🐟", "a" * 5000])
def test_nonsense_is_refused_in_words(written: str) -> None:
    with pytest.raises(BadRequest):
        wirespeed.explain(cause=written)


def test_without_a_cause_all_are_listed_by_family() -> None:
    answer = wirespeed.explain()
    assert {one.cause for one in answer.causes} == set(MEANINGS)
    families = [one.family for one in answer.causes]
    assert list(dict.fromkeys(families)) == [name for name in words.FAMILY if name in families]
    assert {name for one in answer.causes for name in one.rules} == set(RULES)


def test_every_family_has_a_name() -> None:
    assert {meaning.family for meaning in MEANINGS.values()} <= set(words.FAMILY)


def test_the_command_says_what_is_near_and_exits_with_two() -> None:
    command = [sys.executable, "-m", "wirespeed", "explain"]
    wrong = subprocess.run([*command, "mtu-missmatch"], capture_output=True, text=True, check=False, timeout=60)
    assert wrong.returncode == 2
    assert "mtu-mismatch" in wrong.stderr and not wrong.stdout
    right = subprocess.run([*command, "mtu-mismatch", "--format", "json"], capture_output=True, text=True, check=False, timeout=60)
    story = json.loads(right.stdout)["stories"][0]
    assert story["cause"] == "mtu-mismatch"
    assert any("ip -s -d link" in output["commands"] for together in story["proofs"] for output in together)
