"""A case that is saved for sharing says the same as what it was made of, and names nobody."""

from pathlib import Path

import pytest
import yaml

import wirespeed
from wirespeed.verbs import diagnose

CASES = Path(__file__).parents[1] / "data" / "cases"
SAMPLED = sorted(CASES.glob("[123]?5-*.yaml"))


def _causes(*inputs: str, question: str = "") -> list[str]:
    answer = wirespeed.diagnose(*inputs, question=question)
    return [one.cause for one in answer.findings if one.confidence_ratio >= diagnose.LEADING_RATIO]


def _written(case: Path, directory: Path) -> str:
    told = yaml.safe_load(case.read_text(encoding="utf-8"))
    for index, given in enumerate(told["inputs"], 1):
        (directory / f"{index}.txt").write_text(given["content"], encoding="utf-8")
    return told["question"]


@pytest.mark.parametrize("case", SAMPLED, ids=lambda case: case.stem[:3])
def test_a_case_saved_for_sharing_finds_the_same(case: Path, tmp_path: Path) -> None:
    given = tmp_path / "given"
    given.mkdir()
    question = _written(case, given)
    saved = tmp_path / "case.json"
    before = _causes(str(given), question=question)
    wirespeed.diagnose(str(given), question=question, save=str(saved), redact=True)
    assert _causes(str(saved))[:1] == before[:1]


def test_names_and_addresses_do_not_stand_in_it(tmp_path: Path) -> None:
    log = tmp_path / "nccl.log"
    log.write_text("trainer-zebra:97:221 [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/IB [RO]; OOB eth0:198.51.100.77<0>\n")
    saved = tmp_path / "case.json"
    wirespeed.diagnose(str(log), save=str(saved), redact=True)
    text = saved.read_text()
    assert "trainer-zebra" not in text
    assert "198.51.100.77" not in text
