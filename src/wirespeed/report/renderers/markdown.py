"""Markdown: for issues, chats and wikis."""

from wirespeed.model.document import (
    AnyBlock,
    BarChart,
    Difference,
    Document,
    FactList,
    FindingBlock,
    Grid,
    Headline,
    Prose,
    Steps,
    Way,
)
from wirespeed.model.finding import Finding
from wirespeed.model.kinds import Renderer
from wirespeed.model.text import Language, Text
from wirespeed.report import words
from wirespeed.report.plain import visible


def _render(document: Document, language: Language, width: int) -> str:
    body = "\n\n".join(part for block in document.blocks if (part := _block(block, language)))
    return f"{document.title[language]}\n\n{body}\n"


def _block(block: AnyBlock, language: Language) -> str:
    match block:
        case Headline():
            return f"{'#' * block.level} {_safe(block.text[language])}"
        case Prose():
            return _safe(block.text[language])
        case FactList():
            return "\n".join(f"- **{_safe(name[language])}**: {_safe(value[language])}" for name, value in block.rows)
        case Grid():
            return _grid(block.columns, block.rows, language)
        case BarChart():
            rows = tuple(
                (bar.label, Text(en=f"{bar.share_ratio:.0%}", zh=f"{bar.share_ratio:.0%}"), bar.note) for bar in block.bars
            )
            blank = Text(en=" ", zh=" ")
            return _grid((block.title, words.SURE, blank), rows, language)
        case Way():
            stations = [
                f"**{one.name[language]} ({one.mark[language]})**" if one.mark else one.name[language] for one in block.stations
            ]
            return f"{block.title[language]}: {' → '.join(stations)}"
        case FindingBlock():
            return _finding(block.finding, block.rank_number, language)
        case Steps():
            return f"**{block.title[language]}**\n\n" + "\n".join(
                f"{number}. {_safe(what[language])}{_commands(commands)}" for number, (what, commands) in enumerate(block.steps, 1)
            )
        case Difference():
            columns = (block.title, words.BEFORE, words.AFTER, words.DIFFERENCE)
            return _grid(columns, tuple((span.label, span.before, span.after, span.change) for span in block.spans), language)


def _finding(finding: Finding, rank: int, language: Language) -> str:
    sure = f"{finding.confidence_ratio:.0%} {words.SURE[language]}"
    parts = [
        f"## {rank}. {_safe(finding.title[language])}",
        f"`{finding.cause}` · {sure} · {words.SEVERITY[finding.severity][language]}",
        _safe(finding.summary[language]),
        *(f"{title[language]}: {', '.join(f'`{cause}`' for cause in causes)}" for title, causes in words.connections(finding)),
        f"**{words.PROOF[language]}**",
    ]
    for one in finding.evidence:
        against = "" if one.bears == "for" else f" ({words.AGAINST[language]})"
        parts.append(f"- {_safe(one.says[language])}{against}")
        parts.extend(_fenced(visible(f"{quote.source}:{quote.line_index + 1}: {quote.text}")) for quote in one.quotes)
    parts.append(f"**{words.FIX[language]}**")
    parts.extend(f"- {_safe(change.what[language])}{_commands(change.commands)}" for change in finding.changes)
    parts.append(f"**{words.VERIFY[language]}**")
    parts.extend(f"- {_safe(check.what[language])}{_commands(check.commands)}" for check in finding.checks)
    parts.append(f"**{words.GAIN[language]}**: {_safe(finding.gain[language])}")
    parts.append(f"**{words.NOT_TO_CONFUSE[language]}**")
    parts.extend(f"- `{like.cause}`: {_safe(like.because[language])}" for like in finding.told_apart_from)
    return "\n\n".join(parts)


def _grid(columns: tuple[Text, ...], rows: tuple[tuple[Text, ...], ...], language: Language) -> str:
    lines = [_row(columns, language), "|" + " --- |" * len(columns), *(_row(row, language) for row in rows)]
    return "\n".join(lines)


def _row(cells: tuple[Text, ...], language: Language) -> str:
    return "| " + " | ".join(_safe(cell[language]).replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"


def _commands(commands: tuple[str, ...]) -> str:
    return "".join(f"\n\n    {command}" for command in commands)


def _fenced(text: str) -> str:
    fence = "`" * max(3, _longest_run(text) + 1)
    return f"  {fence}\n  {text}\n  {fence}"


def _longest_run(text: str) -> int:
    longest = run = 0
    for letter in text:
        run = run + 1 if letter == "`" else 0
        longest = max(longest, run)
    return longest


def _safe(text: str) -> str:
    return text.replace("<", "&lt;")


RENDERER = Renderer(title=Text(en="Markdown", zh="Markdown"), render=_render)
