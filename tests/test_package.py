"""The package is its verbs, loaded when they are used."""

import subprocess
import sys

import pytest

import wirespeed


def test_importing_loads_no_verb() -> None:
    code = "import sys, wirespeed; print([name for name in sys.modules if name.startswith('wirespeed.')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_an_unknown_verb_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no verb 'nothing'"):
        _ = wirespeed.nothing


def test_a_verb_is_a_function(tmp_path: object) -> None:
    answer = wirespeed.diagnose(str(tmp_path), question="Is ping slow?")
    assert answer.schema == "wirespeed/diagnose/1"
