"""Units stand in names, sentences stand in both languages."""

import importlib
import inspect
import pkgutil
import typing
from typing import Any

import msgspec
import pytest

import wirespeed
from wirespeed.model.labels import MEANINGS, Label
from wirespeed.model.text import Text, placeholders_of
from wirespeed.model.units import IDENTIFIER_NAMES, NAME_ENDINGS


def _modules() -> list[Any]:
    found = pkgutil.walk_packages(wirespeed.__path__, "wirespeed.")
    return [importlib.import_module(info.name) for info in found if not info.name.endswith("__main__")]


MODULES = _modules()
STRUCTS = sorted(
    {
        value
        for module in MODULES
        for value in vars(module).values()
        if inspect.isclass(value) and issubclass(value, msgspec.Struct) and value.__module__.startswith("wirespeed")
    },
    key=lambda kind: f"{kind.__module__}.{kind.__qualname__}",
)


def _is_number(hint: Any) -> bool:
    kinds = {hint, *typing.get_args(hint)}
    return bool(kinds & {int, float}) and bool not in kinds and str not in kinds


@pytest.mark.parametrize("struct", STRUCTS, ids=lambda kind: kind.__qualname__)
def test_numbers_carry_their_unit(struct: type[msgspec.Struct]) -> None:
    hints = typing.get_type_hints(struct)
    for name in struct.__struct_fields__:
        if _is_number(hints[name]):
            assert name in IDENTIFIER_NAMES or name.endswith(NAME_ENDINGS), f"{struct.__qualname__}.{name} has no unit"


def _texts(value: Any, depth: int = 0) -> list[Text]:
    if isinstance(value, Text):
        return [value]
    if depth > 6:
        return []
    if isinstance(value, dict):
        return [text for each in value.values() for text in _texts(each, depth + 1)]
    if isinstance(value, list | tuple):
        return [text for each in value for text in _texts(each, depth + 1)]
    if isinstance(value, msgspec.Struct):
        return [text for name in value.__struct_fields__ for text in _texts(getattr(value, name), depth + 1)]
    if hasattr(value, "__dataclass_fields__") and not inspect.isclass(value):
        return [text for name in value.__dataclass_fields__ for text in _texts(getattr(value, name), depth + 1)]
    return []


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_sentences_stand_in_both_languages(module: Any) -> None:
    for name, value in vars(module).items():
        for text in _texts(value):
            assert text.en.strip() or not text.zh.strip(), f"{module.__name__}.{name}"
            assert text.zh.strip() or not text.en.strip(), f"{module.__name__}.{name}: {text.en!r} has no Chinese"
            assert text.placeholders() == placeholders_of(text.zh), f"{module.__name__}.{name}: {text.en!r}"


def test_every_label_has_a_meaning() -> None:
    assert set(MEANINGS) == set(typing.get_args(Label))


def test_every_shared_label_is_in_the_vocabulary(shared_data: Any) -> None:
    import re

    text = (shared_data / "cases" / "labels.md").read_text(encoding="utf-8")
    labels = {found[1] for found in re.finditer(r"(?m)^\| ([a-z0-9-]+) \|", text)} - {"label"}
    assert labels <= set(MEANINGS)
