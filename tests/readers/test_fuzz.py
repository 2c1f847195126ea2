"""No input makes a reader raise, however damaged; none makes it slow or large. Seeded, so a failure can be repeated."""

import random
import time
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import pytest

from wirespeed.model import shelf
from wirespeed.model.kinds import Reader
from wirespeed.model.lines import SAMPLE_CHARACTERS, MemoryLines
from wirespeed.readers import tools

DATA = Path(__file__).parents[1] / "data"
READERS = shelf.every(tools, Reader)
SEEDS = {path: path.read_text(encoding="utf-8") for path in sorted(DATA.glob("readers/tools/*/*/input.*"))}
JUNK = [
    "\x00",
    "\ufffd",
    "\x1b[31m",
    "\r",
    "\t",
    "{",
    "}",
    '"',
    "[",
    "=",
    ":",
    "9" * 400,
    "-",
    "NaN",
    "1e999",
    "é",
    "。",
    "\u202e",
    "%",
    "\\",
    "\n\n",
]
QUICK_COUNT, THOROUGH_COUNT = 3_000, 100_000
MOST_CHARACTERS = 3_000
SECONDS_A_MEGABYTE, MOST_MEGABYTES = 1.0, 200


def _mutated(chance: random.Random, count: int) -> Iterator[tuple[str, str]]:
    """Texts made from the captured inputs: cut, spliced, with bytes dropped, doubled, swapped or replaced by junk."""
    paths = list(SEEDS)
    for _ in range(count):
        path = chance.choice(paths)
        text = SEEDS[path]
        start = chance.randrange(max(1, len(text) - MOST_CHARACTERS))
        text = text[start : start + MOST_CHARACTERS]
        for _ in range(chance.randrange(1, 6)):
            at = chance.randrange(len(text) + 1)
            length = chance.randrange(1, 40)
            match chance.randrange(6):
                case 0:
                    text = text[:at]
                case 1:
                    text = text[:at] + text[at + length :]
                case 2:
                    text = text[:at] + chance.choice(JUNK) * chance.randrange(1, 4) + text[at:]
                case 3:
                    text = text[:at] + text[max(0, at - length) : at] * 3 + text[at:]
                case 4:
                    other = SEEDS[chance.choice(paths)]
                    cut = chance.randrange(len(other) + 1)
                    text = text[:at] + other[cut : cut + 200] + text[at:]
                case _:
                    text = text[:at] + "".join(chr(chance.randrange(1, 0x2FF)) for _ in range(length)) + text[at + length :]
        yield path.parents[1].name, text


def _try(name: str, text: str) -> None:
    try:
        for _ in READERS[name].read(MemoryLines(text, "fuzz")):
            pass
    except Exception as error:
        raise AssertionError(f"{name} raised {error!r} on {text!r}") from error


def _fuzz(seed: int, count: int) -> None:
    chance = random.Random(seed)
    names = list(READERS)
    for owner, text in _mutated(chance, count):
        for reader in READERS.values():
            reader.recognises(text) if chance.random() < 0.05 else None
        _try(owner, text)
        _try(chance.choice(names), text)


def test_damaged_inputs_never_raise() -> None:
    _fuzz(seed=1, count=QUICK_COUNT)


@pytest.mark.exhaustive
@pytest.mark.parametrize("part", range(4))
def test_damaged_inputs_never_raise_thoroughly(part: int) -> None:
    _fuzz(seed=100 + part, count=THOROUGH_COUNT // 4)


def _large(name: str, characters: int) -> str:
    texts = [text for path, text in SEEDS.items() if path.parents[1].name == name]
    whole = "\n".join(texts)
    return (whole + "\n") * (characters // max(1, len(whole)) + 1)


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", READERS)
def test_large_inputs_are_read_in_bounds(name: str) -> None:
    """A megabyte of a reader's own format in a second, and bounded memory. The best of two runs: machines are noisy."""
    text = _large(name, 1_000_000)
    took = min(_seconds(name, text) for _ in range(2))
    assert took <= SECONDS_A_MEGABYTE * len(text) / 1e6, f"{name}: {took:.2f} s for {len(text) / 1e6:.1f} MB"
    tracemalloc.start()
    _try(name, text)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < MOST_MEGABYTES * 1e6


def _seconds(name: str, text: str) -> float:
    started = time.perf_counter()
    READERS[name].recognises(text[:SAMPLE_CHARACTERS])
    _try(name, text)
    return time.perf_counter() - started


@pytest.mark.parametrize(
    "line", ["a_" * 40 + "!", "a" + " " * 60_000 + "b", "1" * 60_000 + "!", "<" + "a" * 60_000], ids=lambda line: line[:4]
)
def test_a_line_of_one_repeated_piece_is_read_in_bounds(line: str) -> None:
    """Of the reader that gets every text nobody else knows: names of forty words, blanks, digits and tags without end."""
    assert min(_seconds("prose", line) for _ in range(2)) <= SECONDS_A_MEGABYTE
