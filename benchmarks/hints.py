"""Score the commands that `wirespeed diagnose` suggests: of inputs that told much, held back, is the command that gives them named?

Usage: python benchmarks/hints.py [--verbose]
For each case of `tests/data/cases` that rules may be improved with (none of the holdout), each input that a tool wrote is held back in turn.
Those count without which an accepted cause is less sure by 0.1 or more. A hit is a suggestion whose output one of the readers that
recognised the held-back input reads.
"""

import argparse
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

import wirespeed
from wirespeed.model import shelf
from wirespeed.model.kinds import Reader
from wirespeed.readers import tools

CASES = Path(__file__).parents[1] / "tests" / "data" / "cases"
HOLDOUT = ("4", "8", "9")
TELLS_RATIO = 0.1
FIRST = (1, 4, 8)
READERS = shelf.every(tools, Reader)


@dataclass(frozen=True)
class Held:
    """One input that was held back, and what was suggested without it."""

    case: str
    readers: tuple[str, ...]
    suggested: tuple[str, ...]
    place: int | None
    """Of the first suggestion that gives such an output."""


def main() -> int:
    """Run and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    found = [held for path in sorted(CASES.glob("*.yaml")) if path.name[0] not in HOLDOUT for held in held_back(path)]
    if options.verbose:
        for one in found:
            print(
                f"{'-' if one.place is None else one.place + 1:>3} {one.case:45s} {', '.join(one.readers)} <- {one.suggested[:4]}"
            )
    shares = [sum(one.place is not None and one.place < most for one in found) / max(1, len(found)) for most in FIRST]
    shown = ", ".join(f"among the first {most} {share:.2f}" for most, share in zip(FIRST, shares, strict=True))
    print(f"bench-hints: {len(found)} inputs held back; the command that gives them is {shown}")
    return 0


def held_back(path: Path) -> list[Held]:
    """Every telling input of a case, held back."""
    case = yaml.safe_load(path.read_text(encoding="utf-8"))
    inputs = [given["content"] for given in case["inputs"]]
    if len(inputs) < 2:
        return []
    whole = _answer(inputs, case["question"])
    accepted = {case["cause"], *(case.get("ambiguity") or [])}
    found = []
    for one in whole.inputs:
        readers = tuple(name for name in (one.recognised_as, *one.also) if name in READERS)
        commands = {command for name in readers for command in READERS[name].obtained_by}
        if not commands:
            continue
        left = list(inputs)
        left[int(Path(one.path).stem)] = ""
        without = _answer(left, case["question"])
        if _sure(whole, accepted) - _sure(without, accepted) < TELLS_RATIO:
            continue
        suggested = tuple(step.command for step in without.next_steps)
        place = next((place for place, command in enumerate(suggested) if command in commands), None)
        found.append(Held(case=path.stem, readers=readers, suggested=suggested, place=place))
    return found


def _answer(inputs: list[str], question: str) -> Any:
    with tempfile.TemporaryDirectory() as directory:
        for number, content in enumerate(inputs):
            if content:
                (Path(directory) / f"{number}.txt").write_text(content, encoding="utf-8")
        return wirespeed.diagnose(directory, question=question)


def _sure(answer: Any, accepted: set[str]) -> float:
    return max((one.confidence_ratio for one in answer.findings if one.cause in accepted), default=0.0)


if __name__ == "__main__":
    sys.exit(main())
