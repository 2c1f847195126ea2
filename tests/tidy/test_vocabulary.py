"""The words in the package are those that are learned from the rules and cases as they stand."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

from wirespeed.model.labels import MEANINGS
from wirespeed.model.vocabulary import Vocabulary
from wirespeed.verbs._vocabulary import vocabulary

LEARNING = Path(__file__).parents[2] / "benchmarks" / "words.py"
MOST_STALE_RATIO = 0.05
"""A sentence changed here and there moves little; what has moved more is learned again by `make words`."""


def _learning() -> ModuleType:
    spec = importlib.util.spec_from_file_location("learning_words", LEARNING)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _entries(one: Vocabulary) -> set[tuple[str, str]]:
    """Every term with every cause it speaks for."""
    return {(term, one.causes[place]) for term, weights in one.terms.items() for place in weights[::2]}


def test_every_cause_has_words() -> None:
    known = {cause for _, cause in _entries(vocabulary())}
    assert known == set(MEANINGS)


def test_the_package_is_up_to_date(shared_data: Path) -> None:
    now, then = _entries(_learning().vocabulary(shared_data)), _entries(vocabulary())
    assert len(now ^ then) <= MOST_STALE_RATIO * len(now | then), "run `make words`"
