"""Patterns that are compiled on first use do what compiled ones do, and every one of them compiles."""

import importlib
import pkgutil
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from wirespeed import readers
from wirespeed.readers.parsing.regex import _Deferred, flags_beside, regex

MODULES = sorted(one.name for one in pkgutil.walk_packages(readers.__path__, "wirespeed.readers."))
SOURCES = sorted(Path(readers.__file__).parent.rglob("*.py"))


def _deferred(value: object, depth: int = 3) -> Iterator[_Deferred]:
    if isinstance(value, _Deferred):
        yield value
    elif depth and isinstance(value, tuple | list):
        for one in value:
            yield from _deferred(one, depth - 1)
    elif depth and isinstance(value, dict):
        for one in value.values():
            yield from _deferred(one, depth - 1)


def test_it_does_what_a_compiled_one_does() -> None:
    for flags in (0, re.IGNORECASE):
        compiled, deferred = re.compile(r"(?P<a>a+)(b)?", flags), regex(r"(?P<a>a+)(b)?", flags)
        assert deferred.pattern == compiled.pattern
        assert flags_beside(deferred) == flags
        assert "search" not in vars(deferred)
        for text in ("xaab aA", "b", ""):
            assert [one.span() for one in deferred.finditer(text)] == [one.span() for one in compiled.finditer(text)]
            assert deferred.sub("-", text) == compiled.sub("-", text)
            assert deferred.findall(text) == compiled.findall(text)
            assert bool(deferred.fullmatch(text)) == bool(compiled.fullmatch(text))
        assert deferred.groupindex == compiled.groupindex
        assert "search" in vars(deferred)


def test_what_a_pattern_does_not_have_it_has_not() -> None:
    with pytest.raises(AttributeError):
        regex("x").serach  # type: ignore[attr-defined]  # noqa: B018


@pytest.mark.parametrize("name", MODULES)
def test_every_pattern_compiles(name: str) -> None:
    for value in vars(importlib.import_module(name)).values():
        for one in _deferred(value):
            re.compile(one.pattern, one.given_flags)


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem)
def test_no_match_is_asked_for_a_deferred_pattern(path: Path) -> None:
    """`found.re is _SHAPE` never holds for them: what a match knows is the compiled pattern."""
    source = path.read_text(encoding="utf-8")
    assert "import regex\n" not in source or not re.search(r"\.re (?:is|in|==|!=)\b", source)
