"""Learn how much each word tells of each cause, and write it to the package: `python benchmarks/words.py [--check]`.

Learned from the rules' own explanations, the meanings of the labels, the fault knowledge base (WIRESPEED_DATA) and the published cases
of the repository and of the shared data. Batches that measure the unseen (`HELD_BACK`) are left out. `--check` exits 1 when
what stands in the package is out of date.
"""

import argparse
import csv
import os
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import yaml

from wirespeed.diagnosis import rules
from wirespeed.diagnosis.affinity import learned
from wirespeed.model import shelf
from wirespeed.model.kinds import Rule
from wirespeed.model.labels import MEANINGS, Label
from wirespeed.model.vocabulary import Vocabulary

ROOT = Path(__file__).parents[1]
OWN_CASES = ROOT / "tests" / "data" / "cases"
FAULT_LABELS = ROOT / "docs" / "reference" / "fault-labels.tsv"
WORDS = ROOT / "src" / "wirespeed" / "bundled" / "words.json"
HELD_BACK = ("4", "8")
"""First digits of the case batches that nothing is learned from."""


def main() -> int:
    """Learn, and write or compare."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    shared = Path(os.environ.get("WIRESPEED_DATA", ROOT.parent / "shared"))
    if not (shared / "cases").is_dir():
        print(f"the shared cases are not at hand ({shared}): set WIRESPEED_DATA", file=sys.stderr)
        return 3
    made = msgspec.json.encode(vocabulary(shared))
    made = made.replace(b'],"', b'],\n"') + b"\n"
    is_current = WORDS.exists() and WORDS.read_bytes() == made
    if not options.check:
        WORDS.write_bytes(made)
    print(f"words: {len(made)} bytes, {'up to date' if is_current else 'out of date' if options.check else 'written'}")
    return int(options.check and not is_current)


def vocabulary(shared: Path, without: frozenset[str] = frozenset()) -> Vocabulary:
    """What is learned from everything but the held back batches and the cases `without` (by file name)."""
    paths = [path for path in sorted(OWN_CASES.glob("*.yaml")) if path.name[0] not in HELD_BACK]
    paths = [path for path in [*paths, *sorted((shared / "cases").glob("*.yaml"))] if path.name not in without]
    told = [_told(yaml.safe_load(path.read_text(encoding="utf-8"))) for path in paths]
    return learned(_explained(shared), told, f"{len(told)} published cases and the rules' explanations")


def _told(case: dict[str, Any]) -> tuple[Label, str]:
    return case["cause"], "\n".join([case["question"], *(given["content"] for given in case["inputs"])])


def _explained(shared: Path) -> dict[Label, str]:
    """Everything the project says of each cause, in both languages."""
    texts: dict[Label, list[str]] = {
        cause: [f"{cause.replace('-', ' ')} {one.text.en} {one.text.zh}"] for cause, one in MEANINGS.items()
    }
    for rule in shelf.every(rules, Rule).values():
        texts[rule.cause] += _sentences(rule)
    for cause, text in _known_faults(shared):
        texts[cause].append(text)
    return {cause: " \n".join(parts) for cause, parts in texts.items()}


def _sentences(rule: Rule) -> Iterator[str]:
    for text in (rule.title, rule.summary, rule.explain.what, rule.explain.shows):
        yield from (text.en, text.zh)
    for step in (*rule.changes, *rule.checks):
        yield from (step.what.en, step.what.zh, *step.commands)


def _known_faults(shared: Path) -> Iterator[tuple[Label, str]]:
    """The fault knowledge base's entries by label."""
    table = [line for line in FAULT_LABELS.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    labels = {row["id"]: row["label"] for row in csv.DictReader(table, delimiter="\t") if row["source"] == "faults"}
    known = yaml.safe_load((shared / "knowledge" / "faults.yaml").read_text(encoding="utf-8"))
    entries = known if isinstance(known, list) else next(part for part in known.values() if isinstance(part, list))
    by_label: dict[str, list[str]] = defaultdict(list)
    for entry in entries:
        by_label[labels.get(entry["id"], "")].append(yaml.safe_dump(entry, allow_unicode=True))
    for cause in MEANINGS:
        for text in by_label.get(cause, ()):
            yield cause, text


if __name__ == "__main__":
    sys.exit(main())
