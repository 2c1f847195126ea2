"""The page of look-alike pairs: two published failures that look the same, and what told them apart when both were diagnosed."""

import tempfile
import tomllib
from pathlib import Path
from typing import Any

import yaml

import wirespeed
from wirespeed.model.finding import Finding
from wirespeed.model.text import Language

PAIRS = Path(__file__).parent / "look-alikes.toml"
CASES = Path(__file__).parents[1] / "tests" / "data" / "cases"
MOST_EVIDENCE = 2
MOST_QUOTE_CHARACTERS = 160
WORDS = {
    "en": {
        "head": "Both sides of each pair are published failures; what is quoted are lines of their inputs, as `wirespeed diagnose` gave them as evidence.",
        "cause": "cause", "told": "what told it", "published": "published",
    },
    "zh": {
        "head": "每一对的两侧均为公开的真实故障；引用的是其输入中的行，即 `wirespeed diagnose` 给出的证据。",
        "cause": "原因", "told": "判别依据", "published": "出处",
    },
}  # fmt: skip


def pairs() -> list[dict[str, Any]]:
    """Each pair: its `sides` (numbers of cases) and how both look, in both languages."""
    return tomllib.loads(PAIRS.read_text(encoding="utf-8"))["pair"]


def case_of(number: str) -> dict[str, Any]:
    """A published failure of the repository by its number."""
    (path,) = CASES.glob(f"{number}-*.yaml")
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def findings_of(case: dict[str, Any]) -> tuple[Finding, ...]:
    """What the case's inputs and question alone give."""
    with tempfile.TemporaryDirectory() as directory:
        for index, given in enumerate(case["inputs"], 1):
            (Path(directory) / f"{index}.txt").write_text(given["content"], encoding="utf-8")
        return wirespeed.diagnose(directory, question=case["question"]).findings


def page(language: Language) -> str:
    """The whole page."""
    return "\n\n".join([WORDS[language]["head"], *(_pair(one, language) for one in pairs())])


def _pair(pair: dict[str, Any], language: Language) -> str:
    said = WORDS[language]
    rows = [f"| {said['cause']} | {said['told']} | {said['published']} |", "|---|---|---|"]
    for number in pair["sides"]:
        case = case_of(number)
        finding = findings_of(case)[0]
        rows.append(f"| `{finding.cause}` | {_told(finding, language)} | {case['source']} |")
    return f"## {pair[language]}\n\n" + "\n".join(rows)


def _told(finding: Finding, language: Language) -> str:
    parts = []
    for evidence in [one for one in finding.evidence if one.bears == "for" and one.quotes and "words" not in one.values][
        :MOST_EVIDENCE
    ]:
        line = evidence.quotes[0].text.strip()[:MOST_QUOTE_CHARACTERS].replace("|", "\\|").replace("`", "'")
        parts.append(f"{evidence.says[language]}: `{line}`")
    return "<br>".join(parts)
