"""The reference pages equal what the shelves say, and the guide names every verb."""

import importlib
import subprocess
import sys
from pathlib import Path

import pytest

from wirespeed import verbs
from wirespeed.model import shelf

ROOT = Path(__file__).parents[2]


def _verbs() -> list[str]:
    inside = [
        f"{group} {name.strip('_')}"
        for group in shelf.groups(verbs)
        for name in shelf.ids(importlib.import_module(f"{verbs.__name__}.{group}"))
    ]
    return [name.replace("_", "-") for name in (*shelf.ids(verbs), *inside)]


def test_reference_pages_are_fresh() -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "docs" / "generate.py"), "--check"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"run `make docs`: {done.stdout}{done.stderr}"


@pytest.mark.parametrize("readme", ["README.md", "README.zh-CN.md"])
@pytest.mark.parametrize("verb", _verbs())
def test_every_verb_is_in_the_readme(readme: str, verb: str) -> None:
    assert f"wirespeed {verb}" in (ROOT / readme).read_text(encoding="utf-8")
