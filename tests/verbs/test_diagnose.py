"""Diagnose as a function: a reader that fails costs nothing else, and the question is no input."""

from collections.abc import Iterator
from pathlib import Path

import pytest

import wirespeed
from wirespeed.model.kinds import Reader
from wirespeed.model.lines import Lines
from wirespeed.model.record import Record
from wirespeed.model.settings import Statement
from wirespeed.model.source import Problem, Source
from wirespeed.model.text import same
from wirespeed.verbs import _diagnosis, diagnose

RINGS = "Ring parameters for eth2:\nPre-set maximums:\nRX:\t\t4096\nCurrent hardware settings:\nRX:\t\t256\n"


def _broken(lines: Lines) -> Iterator[Record | Problem]:
    yield Statement(source=Source(tool="broken", path=lines.path), topic="nothing")
    raise ZeroDivisionError("ours")


def test_a_reader_that_fails_is_a_problem_and_the_rest_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = Reader(title=same("broken"), gives=(Statement,), recognises=lambda sample: True, read=_broken)
    every = diagnose.shelf.every
    monkeypatch.setattr(
        diagnose.shelf,
        "every",
        lambda package, kind: {"broken": broken, **every(package, kind)} if kind is Reader else every(package, kind),
    )
    (tmp_path / "rings.txt").write_text(RINGS)
    answer = wirespeed.diagnose(str(tmp_path))
    assert ["ours" in problem.why.en for problem in answer.problems] == [True]
    assert answer.findings[0].cause == "nic-ring-too-small"


def test_a_question_file_is_the_question(tmp_path: Path) -> None:
    (tmp_path / "question.txt").write_text("Why are packets lost?")
    (tmp_path / "rings.txt").write_text(RINGS)
    answer = wirespeed.diagnose(str(tmp_path))
    assert [Path(one.path).name for one in answer.inputs] == ["rings.txt"]


def test_the_fix_is_for_the_side_asked(tmp_path: Path) -> None:
    (tmp_path / "env.txt").write_text(
        "NCCL_IB_QPS_PER_CONNECTION=1\nbond0 with LACP: one flow never exceeds one leg, more flows reach the full rate\n"
    )
    everything = wirespeed.diagnose(str(tmp_path))
    serving = wirespeed.diagnose(str(tmp_path), side="serving")
    training = [change for change in everything.findings[0].changes if change.side == "training"]
    assert training
    assert not [change for change in serving.findings[0].changes if change.side == "training"]


@pytest.mark.parametrize("question", ["", "Is it slow?"])
def test_nothing_gives_nothing(tmp_path: Path, question: str) -> None:
    (tmp_path / "empty.txt").write_text("")
    answer = wirespeed.diagnose(str(tmp_path), question=question)
    assert answer.network_is_the_limit is None
    assert not [one for one in answer.findings if one.confidence_ratio >= 0.5]


def test_a_secret_on_another_line_than_its_name_is_not_quoted(tmp_path: Path) -> None:
    manifest = (
        "env:\n- name: HF_TOKEN\n  value: tkqqzzyyxx991\n- name: NCCL_IB_DISABLE\n  value: '1'\nNCCL sockets tkqqzzyyxx991 only\n"
    )
    (tmp_path / "pod.yaml").write_text(manifest)
    answer = wirespeed.diagnose(str(tmp_path), question="Why does NCCL use sockets although there is InfiniBand?")
    assert "tkqqzzyyxx991" not in str(answer.findings)


def test_a_rule_that_fails_is_a_problem_and_the_rest_is_judged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    judge_rule = _diagnosis.judge_rule

    def failing(name: str, rule: object, case: object) -> object:
        if name == "packet_loss":
            raise KeyError("ours")
        return judge_rule(name, rule, case)  # type: ignore[arg-type]

    monkeypatch.setattr(_diagnosis, "judge_rule", failing)
    (tmp_path / "rings.txt").write_text(RINGS)
    answer = wirespeed.diagnose(str(tmp_path))
    assert [problem.source.path for problem in answer.problems] == ["packet_loss"]
    assert answer.findings[0].cause == "nic-ring-too-small"
