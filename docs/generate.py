"""Write the reference pages from the code: one page a shelf and language. `--check` says whether they are up to date."""

import argparse
import sys
from pathlib import Path

import look_alikes

from wirespeed.diagnosis import rules
from wirespeed.emulation import faults, features
from wirespeed.emulation.fault import Fault
from wirespeed.model import shelf
from wirespeed.model.kinds import Reader, Rule
from wirespeed.model.labels import MEANINGS
from wirespeed.model.text import Language
from wirespeed.readers import tools
from wirespeed.report.words import SEVERITY

HERE = Path(__file__).parent / "reference"
LANGUAGES: tuple[Language, ...] = ("en", "zh")
HEADS = {
    "rules": {"en": "Causes and their rules", "zh": "原因与规则"},
    "readers": {"en": "What can be read", "zh": "可读取的格式"},
    "faults": {"en": "Faults of the lab", "zh": "实验室的故障"},
    "look-alikes": {"en": "Look-alikes and what told them apart", "zh": "易混淆的故障及其判别"},
    "labels": {"en": "The vocabulary of causes", "zh": "原因词表"},
}
WORDS = {
    "en": {"shows": "How it shows", "fix": "Fix", "verify": "Verify", "like": "Mistaken for", "sources": "Sources", "gain": "Gain"},
    "zh": {"shows": "表现", "fix": "修复", "verify": "验证", "like": "易混淆", "sources": "来源", "gain": "收益"},
}


def pages() -> dict[Path, str]:
    """Every page by its path."""
    made = {}
    for language in LANGUAGES:
        for name, body in (
            ("rules", _rules(language)),
            ("readers", _readers(language)),
            ("labels", _labels(language)),
            ("faults", _faults(language)),
            ("look-alikes", look_alikes.page(language)),
        ):
            made[HERE / f"{name}.{language}.md"] = f"# {HEADS[name][language]}\n\n{body}\n"
    return made


def _rules(language: Language) -> str:
    return "\n\n".join(_rule(name, rule, language) for name, rule in shelf.every(rules, Rule).items())


def _rule(name: str, rule: Rule, language: Language) -> str:
    said = WORDS[language]
    parts = [
        f"## {name}\n\n`{rule.cause}` · {SEVERITY[rule.severity][language]}",
        rule.explain.what[language],
        f"**{said['shows']}**: {rule.explain.shows[language]}",
        _bullets(said["fix"], [change.what[language] for change in rule.changes]),
        _bullets(said["verify"], [check.what[language] for check in rule.checks]),
        f"**{said['gain']}**: {rule.gain[language]}",
        _bullets(said["like"], [f"`{like.cause}`: {like.because[language]}" for like in rule.told_apart_from]),
        _bullets(said["sources"], list(rule.explain.sources)),
    ]
    return "\n\n".join(parts)


def _bullets(head: str, items: list[str]) -> str:
    return f"**{head}**\n\n" + "\n".join(f"- {item}" for item in items)


def _readers(language: Language) -> str:
    rows = ["| id | | records | |", "|---|---|---|---|"]
    for name, reader in shelf.every(tools, Reader).items():
        gives = ", ".join(kind.__name__ for kind in reader.gives)
        obtained = "<br>".join(f"`{command}`".replace("|", "\\|") for command in reader.obtained_by)
        rows.append(f"| {name} | {reader.title[language]} | {gives} | {obtained} |")
    return "\n".join(rows)


def _labels(language: Language) -> str:
    rows = ["| label | family | bearing | |", "|---|---|---|---|"]
    rows.extend(f"| {label} | {one.family} | {one.bearing} | {one.text[language]} |" for label, one in MEANINGS.items())
    return "\n".join(rows)


def _faults(language: Language) -> str:
    head = {"en": "| fault | | rule it must trigger | put on | needs |", "zh": "| 故障 | | 必须触发的规则 | 位置 | 需要 |"}
    rows = [head[language], "|---|---|---|---|---|"]
    for name, fault in shelf.every(faults, Fault).items():
        needs = "; ".join(features.TITLES[need][language] for need in fault.needs)
        rows.append(f"| {name} | {fault.title[language]} | {fault.rule if fault.is_counted else '-'} | {fault.where} | {needs} |")
    return "\n".join(rows)


def main() -> int:
    """Write, or compare with `--check` (exit code 1 when a page is stale)."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--check", action="store_true")
    check = parser.parse_args().check
    stale = [path for path, text in pages().items() if not path.exists() or path.read_text(encoding="utf-8") != text]
    if not check:
        HERE.mkdir(exist_ok=True)
        for path, text in pages().items():
            path.write_text(text, encoding="utf-8")
    sys.stdout.write("".join(f"{'stale' if check else 'written'}: {path.name}\n" for path in stale))
    return int(check and bool(stale))


if __name__ == "__main__":
    sys.exit(main())
