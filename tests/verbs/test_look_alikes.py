"""The look-alike pairs of the documentation: both sides are told right, and neither for the other."""

import importlib.util
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "look_alikes.py"
_spec = importlib.util.spec_from_file_location("look_alikes", PAGE)
assert _spec is not None
assert _spec.loader is not None
look_alikes = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(look_alikes)
CLEARLY_RATIO = 0.1
SIDES = [(side, other) for pair in look_alikes.pairs() for side, other in (pair["sides"], pair["sides"][::-1])]


def test_there_are_ten() -> None:
    assert len(SIDES) >= 20


@pytest.mark.parametrize(("side", "other"), SIDES)
def test_each_side_is_told_from_the_other(side: str, other: str) -> None:
    case, like = look_alikes.case_of(side), look_alikes.case_of(other)
    found = {one.cause: one.confidence_ratio for one in reversed(look_alikes.findings_of(case))}
    assert list(found)[-1] == case["cause"]
    assert found[case["cause"]] >= found.get(like["cause"], 0.0) + CLEARLY_RATIO
