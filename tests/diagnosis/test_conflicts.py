"""Contradictions are said: findings that exclude each other, and look-alikes that are both likely."""

from pathlib import Path

import msgspec
import pytest

import wirespeed
from wirespeed.diagnosis.conflicts import conflicts_of
from wirespeed.model.finding import Finding, LookAlike
from wirespeed.model.kinds import Renderer
from wirespeed.model.labels import Label
from wirespeed.model.shelf import every
from wirespeed.model.text import Text, same
from wirespeed.report import renderers
from wirespeed.verbs import diagnose


def _finding(cause: Label, sure: float, explains: tuple[Label, ...] = (), like: Label | None = None) -> Finding:
    apart = (LookAlike(cause=like, because=Text(en="one is louder", zh="其一更响")),) if like else ()
    return Finding(
        cause=cause, rule=cause.replace("-", "_"), explains=explains, confidence_ratio=sure, severity="medium", title=same(cause),
        summary=same(""), evidence=(), told_apart_from=apart, gain=same(""), changes=(), checks=(),
    )  # fmt: skip


def test_a_fault_and_no_fault_exclude_each_other() -> None:
    (one,) = conflicts_of([_finding("packet-loss", 0.9), _finding("no-fault-queueing", 0.6)])
    assert one.causes == ("packet-loss", "no-fault-queueing") and not one.may_both_be


def test_the_limit_is_in_one_place() -> None:
    (one,) = conflicts_of([_finding("packet-loss", 0.9), _finding("dataloader-bound", 0.6)])
    assert "only one" in one.because.en and "其一" in one.because.zh


def test_look_alikes_may_both_be_and_say_what_tells_them_apart() -> None:
    (one,) = conflicts_of([_finding("packet-loss", 0.9, like="bufferbloat"), _finding("bufferbloat", 0.6)])
    assert one.may_both_be and one.because.en == "one is louder"


@pytest.mark.parametrize(
    "others",
    [
        [_finding("packet-loss", 0.9), _finding("dataloader-bound", 0.4)],
        [_finding("packet-loss", 0.9, explains=("dataloader-bound",)), _finding("dataloader-bound", 0.9)],
        [_finding("packet-loss", 0.9), _finding("mtu-mismatch", 0.9)],
        [_finding("packet-loss", 0.9)],
        [],
    ],
    ids=["unlikely", "explained", "unrelated", "alone", "none"],
)
def test_what_does_not_contradict(others: list[Finding]) -> None:
    assert not conflicts_of(others)


def test_pages_say_what_does_not_fit_and_what_explains_what(tmp_path: Path) -> None:
    """Rings are small though nothing was dropped: nic_ring_too_small counts zero drops against itself."""
    (tmp_path / "rings.txt").write_text(
        "Ring parameters for eth2:\nPre-set maximums:\nRX:\t\t4096\nCurrent hardware settings:\nRX:\t\t256\n"
    )
    answer = wirespeed.diagnose(str(tmp_path))
    first = msgspec.structs.replace(answer.findings[0], explained_by=("irq-affinity",), confidence_ratio=0.9)
    rival = _finding("no-fault-queueing", 0.8)
    made = msgspec.structs.replace(answer, findings=(first, rival), conflicts=conflicts_of([first, rival]))
    page = diagnose.present(made, diagnose.Options())
    for name, renderer in every(renderers, Renderer).items():
        shown = renderer.render(page, "en", 200)
        assert "cannot both be" in shown, name
        assert "irq-affinity" in shown, name
        assert "不能同时成立" in renderer.render(page, "zh", 200), name
