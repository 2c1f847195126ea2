"""The collected cases keep their form: a known label, a source, inputs that do not carry the answer's name."""

from pathlib import Path

import pytest
import yaml

from wirespeed.model.labels import MEANINGS

CASES = sorted((Path(__file__).parents[1] / "data" / "cases").glob("*.yaml"))
KEYS = {"id", "source", "domain", "negative", "inputs", "question", "cause", "cause_detail", "ambiguity"}


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_form(path: Path) -> None:
    case = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert set(case) >= KEYS
    assert {case["cause"], *(case["ambiguity"] or [])} <= set(MEANINGS)
    assert case["source"]
    assert all(
        given["content"].strip() and given["origin"] in {"quoted", "facts", "synthetic", "prose"} for given in case["inputs"]
    )
    assert case["cause"] not in case["question"]
