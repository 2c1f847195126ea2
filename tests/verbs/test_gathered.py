"""What a diagnosis is given is read whatever lies beside it, and kept as far as it can be. Inputs are synthetic."""

import os
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

import wirespeed
from wirespeed.machines import opening
from wirespeed.machines.streams import StreamLines
from wirespeed.model.errors import CouldNot
from wirespeed.model.lines import MemoryLines
from wirespeed.verbs import _gathered
from wirespeed.verbs._gathered import Gathered, check_target

RINGS = "Ring parameters for eth2:\nPre-set maximums:\nRX:\t\t4096\nCurrent hardware settings:\nRX:\t\t256\n"


def test_evidence_behind_a_long_build_is_found(tmp_path: Path) -> None:
    (tmp_path / "job.log").write_text("[ 12%] Building CXX object src/part.cc.o\n" * 6000 + RINGS)
    answer = wirespeed.diagnose(str(tmp_path / "job.log"))
    assert answer.findings[0].cause == "nic-ring-too-small"
    assert answer.findings[0].evidence[0].quotes[0].line_index >= 6000


def test_what_cannot_be_opened_costs_no_other_input(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "rings.txt").write_text(RINGS)
    names = (str(tmp_path / "pipe"), "x" * 300, "a\0b", "\ud800")
    answer = wirespeed.diagnose(*names, str(tmp_path / "rings.txt"))
    assert answer.findings[0].cause == "nic-ring-too-small"
    assert len(answer.problems) == len(answer.unread) == 4
    assert all(not one.why.en.startswith("our mistake") for one in answer.problems)
    assert msgspec.json.encode(answer)


def test_a_text_that_fails_while_it_is_read_costs_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = StreamLines.whole

    def failing(self: StreamLines) -> str | None:
        if self.path.endswith("bad"):
            raise OSError(5, "Input/output error")
        return whole(self)

    monkeypatch.setattr(StreamLines, "whole", failing)
    (tmp_path / "bad").write_text("words\n")
    (tmp_path / "rings.txt").write_text(RINGS)
    answer = wirespeed.diagnose(str(tmp_path))
    assert [one.why.en for one in answer.problems] == [f"{tmp_path / 'bad'}: Input/output error"]
    assert answer.findings[0].cause == "nic-ring-too-small"


class _Huge(MemoryLines):
    def whole(self) -> str | None:
        return None

    def __iter__(self) -> Iterator[tuple[int, str]]:
        return ((index, f"line {index}") for index in range(1000))


def test_of_a_text_too_large_to_save_both_ends_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_gathered, "MOST_KEPT_END_CHARACTERS", 20)
    gathered = Gathered({})
    gathered.take(_Huge("", "huge.log"))
    gathered.save(tmp_path / "case.json")
    assert ["saved whole" in one.why.en for one in gathered.problems] == [True]
    (lines,) = opening.open_inputs((str(tmp_path / "case.json"),))
    assert isinstance(lines, MemoryLines)
    # 20 characters hold "line 0\nline 1\n" (14), and "line 998\nline 999\n" (18).
    assert [line for _, line in lines] == [
        "line 0",
        "line 1",
        "[996 lines were left out here when this was saved]",
        "line 998",
        "line 999",
    ]


def test_the_place_to_save_is_looked_at_first(tmp_path: Path) -> None:
    (tmp_path / "there.json").write_text("")
    (tmp_path / "dangling.json").symlink_to("nowhere")
    check_target(tmp_path / "new" / "case.json")
    for place in (tmp_path / "there.json", tmp_path / "dangling.json", tmp_path / "there.json" / "case.json"):
        with pytest.raises(CouldNot) as caught:
            check_target(place)
        assert caught.value.why.zh


def test_nothing_is_read_for_a_place_that_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Gathered, "gather", lambda *_: pytest.fail("read all the same"))
    (tmp_path / "case.json").write_text("")
    with pytest.raises(CouldNot):
        wirespeed.diagnose(save=str(tmp_path / "case.json"))
