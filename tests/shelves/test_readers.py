"""Everything on the reader shelf keeps what a reader promises. This file names no reader."""

import random
import tomllib
from pathlib import Path

import msgspec
import pytest

from wirespeed.model import shelf
from wirespeed.model.kinds import Reader
from wirespeed.model.lines import MemoryLines
from wirespeed.model.record import Record
from wirespeed.model.source import Problem
from wirespeed.readers import tools

DATA = Path(__file__).parents[1] / "data" / "readers" / "tools"
READERS = shelf.every(tools, Reader)
CASES = sorted(path for path in DATA.glob("*/*") if path.is_dir())
ORIGINS = {"real", "published", "synthetic"}
CUTS = 50


def _text(case: Path) -> str:
    (found,) = case.glob("input.*")
    return found.read_text(encoding="utf-8")


def _read(name: str, text: str) -> list[Record | Problem]:
    return list(READERS[name].read(MemoryLines(text, "input")))


@pytest.mark.parametrize("name", READERS)
def test_every_reader_has_an_input(name: str) -> None:
    assert any(case.parent.name == name for case in CASES), f"put an input under {DATA / name}/<case>/"


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.parent.name}/{case.name}")
def test_golden(case: Path, update: bool) -> None:
    about = tomllib.loads((case / "about.toml").read_text(encoding="utf-8"))
    assert about["origin"] in ORIGINS
    assert about["source"]
    items = _read(case.parent.name, _text(case))
    assert READERS[case.parent.name].recognises(_text(case)[:65536])
    shown = msgspec.json.format(msgspec.json.encode(msgspec.to_builtins(items)), indent=1) + b"\n"
    golden = case / "expected.json"
    if update:
        golden.write_bytes(shown)
    assert golden.read_bytes() == shown


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.parent.name}/{case.name}")
def test_what_it_gives_is_declared_and_quoted(case: Path) -> None:
    text = _text(case)
    lines = text.split("\n")
    reader = READERS[case.parent.name]
    for item in _read(case.parent.name, text):
        if isinstance(item, Problem):
            continue
        assert isinstance(item, reader.gives)
        assert item.quotes, "every record quotes the line it rests on"
        for quote in item.quotes:
            assert quote.text in lines[quote.line_index]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.parent.name}/{case.name}")
def test_cut_anywhere_never_raises(case: Path) -> None:
    text = _text(case)
    chance = random.Random(7)
    for cut in sorted(chance.randrange(len(text) + 1) for _ in range(CUTS)):
        _read(case.parent.name, text[:cut])
        _read(case.parent.name, text[cut:])


@pytest.mark.parametrize("name", READERS)
@pytest.mark.parametrize("junk", ["", "\n\n", "\x00\x01\ufffd" * 40, "{", "[" * 500, "1 2 3\n" * 30, "a: b\n" * 30], ids=repr)
def test_junk_never_raises(name: str, junk: str) -> None:
    READERS[name].recognises(junk)
    _read(name, junk)
