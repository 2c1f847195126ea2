"""The style, as tests. Exceptions are listed and the lists may only shrink."""

import ast
import re
from pathlib import Path

import pytest

import wirespeed

ROOT = Path(wirespeed.__file__).parent
FILES = sorted(ROOT.rglob("*.py"))
MOST_FUNCTION_LINES, MOST_FILE_LINES = 60, 500
PURE_ROOMS = ("model", "theory", "readers", "diagnosis", "report")
BARRED_NAMES = {"utils", "helpers", "common", "manager", "base", "misc"}

LONG_FILES: set[str] = set()
"""Files over the limit; may only shrink."""
LONG_FUNCTIONS: set[str] = set()
"""Functions over the limit as `file:function`; may only shrink."""
DATA_TABLES = {"model/labels.py"}
"""Files that are one table of vocabulary, exempt from the file limit."""


def _name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def _room(path: Path) -> str:
    return path.relative_to(ROOT).parts[0]


@pytest.mark.parametrize("path", FILES, ids=_name)
def test_module_opens_with_a_sentence(path: Path) -> None:
    assert ast.get_docstring(_tree(path)), f"{_name(path)} has no opening sentence"


@pytest.mark.parametrize("path", FILES, ids=_name)
def test_names_say_something(path: Path) -> None:
    assert path.stem.strip("_") not in BARRED_NAMES


def test_files_fit_on_a_desk() -> None:
    long = {_name(path) for path in FILES if len(path.read_text(encoding="utf-8").splitlines()) > MOST_FILE_LINES} - DATA_TABLES
    assert long == LONG_FILES


def test_functions_fit_a_screen() -> None:
    long = set()
    for path in FILES:
        for node in ast.walk(_tree(path)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and _length(node) > MOST_FUNCTION_LINES:
                long.add(f"{_name(path)}:{node.name}")
    assert long == LONG_FUNCTIONS


def _length(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    body = node.body[1:] if ast.get_docstring(node) and len(node.body) > 1 else node.body
    return (body[-1].end_lineno or 0) - body[0].lineno + 1


@pytest.mark.parametrize("path", [path for path in FILES if _room(path) in PURE_ROOMS], ids=_name)
def test_thinking_rooms_touch_nothing(path: Path) -> None:
    """No files, environment, clock or chance in the pure rooms (the shelf itself reads its own directory)."""
    if _name(path) == "model/shelf.py":
        return
    for node in ast.walk(_tree(path)):
        if isinstance(node, ast.Call):
            called = ast.unparse(node.func)
            assert called not in {"open", "input", "exec", "eval", "compile", "os.getenv"}, (
                f"{_name(path)}:{node.lineno} calls {called}"
            )
            assert not re.search(r"\.(read_text|read_bytes|write_text|write_bytes)$", called), f"{_name(path)}:{node.lineno}"
        if isinstance(node, ast.Attribute):
            assert ast.unparse(node) != "os.environ", f"{_name(path)}:{node.lineno}"


@pytest.mark.parametrize("path", [path for path in FILES if _room(path) != "faces"], ids=_name)
def test_only_faces_print(path: Path) -> None:
    calls = [node for node in ast.walk(_tree(path)) if isinstance(node, ast.Call)]
    assert not [node.lineno for node in calls if ast.unparse(node.func) in {"print", "sys.stdout.write"}]


@pytest.mark.parametrize("path", [path for path in FILES if _room(path) not in ("faces", "verbs")], ids=_name)
def test_only_verbs_and_faces_catch_broadly(path: Path) -> None:
    for node in ast.walk(_tree(path)):
        if isinstance(node, ast.ExceptHandler):
            caught = "" if node.type is None else ast.unparse(node.type)
            assert caught not in {"", "Exception", "BaseException"}, f"{_name(path)}:{node.lineno}"


@pytest.mark.parametrize("path", FILES, ids=_name)
def test_no_pickle_no_shell(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert "shell=True" not in text
    imported = {alias.name for node in ast.walk(_tree(path)) if isinstance(node, ast.Import) for alias in node.names}
    assert not imported & {"pickle", "marshal", "shelve"}


@pytest.mark.parametrize("path", FILES, ids=_name)
def test_no_possessive_groups(path: Path) -> None:
    """Python before 3.11.5 matches a possessive group that repeats inside wrongly (gh-106052), and we run on 3.11.2."""
    strings = [node.value for node in ast.walk(_tree(path)) if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    assert not [text for text in strings if re.search(r"(?<!\\)\)(?:\+\+|\*\+|\?\+|\{\d*,?\d*\}\+)|\(\?>", text)]
