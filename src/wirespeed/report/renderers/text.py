"""Text for terminals: colours where there is a terminal, wide characters counted as two."""

import io
from collections.abc import Sequence

from rich.cells import cell_len
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.rule import Rule as Line
from rich.table import Table
from rich.text import Text as Styled

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
    Span,
    Steps,
    Way,
)
from wirespeed.model.finding import Finding, ShownEvidence
from wirespeed.model.kinds import Renderer
from wirespeed.model.text import Language, Text
from wirespeed.report import words
from wirespeed.report.plain import visible

_STYLE = {"plain": "", "good": "bold green", "warn": "bold yellow", "bad": "bold red"}
_BAR_CELLS = 24
MOST_QUOTED_CHARACTERS = 260
_SPAN_CELLS = 24
_LABEL_CELLS = 44
"""A longer name of a figure is wrapped; a shorter one leaves that to what stands beside it."""


def rendered(document: Document, language: Language) -> RenderableType:
    """The document as something a rich console prints (with colours where it has them)."""
    return Group(*(_block(block, language) for block in document.blocks))


def uncoloured(document: Document, language: Language, width: int) -> str:
    """The document's blocks as lines without colours and without blanks at their ends."""
    sink = io.StringIO()
    Console(file=sink, width=width, color_system=None, force_terminal=False, highlight=False).print(
        rendered(document, language), crop=False
    )
    return "\n".join(line.rstrip() for line in sink.getvalue().splitlines())


def _render(document: Document, language: Language, width: int) -> str:
    return f"{document.title[language]}\n\n{uncoloured(document, language, width)}\n"


def _block(block: AnyBlock, language: Language) -> RenderableType:
    match block:
        case Headline():
            return Padding(
                Styled(block.text[language], style=_STYLE[block.tone] or "bold"), (0 if block.level == 1 else 1, 0, 0, 0)
            )
        case Prose():
            return Styled(block.text[language])
        case FactList():
            return _columns([(Styled(name[language], style="dim"), Styled(value[language])) for name, value in block.rows])
        case Grid():
            return _grid(block, language)
        case BarChart():
            return Group(Styled(block.title[language], style="dim"), _bars(block, language))
        case Way():
            return _way(block, language)
        case FindingBlock():
            return _finding(block.finding, block.rank_number, language)
        case Steps():
            return _steps(block, language)
        case Difference():
            return Group(Styled(block.title[language], style="dim"), _difference(block, language))


def _difference(block: Difference, language: Language) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim")
    fits = max((cell_len(span.label[language]) for span in block.spans), default=0) <= _LABEL_CELLS
    table.add_column("", overflow="fold", no_wrap=fits)
    for title in (words.BEFORE, words.AFTER, words.DIFFERENCE):
        table.add_column(Styled(title[language]), overflow="fold")
    table.add_column(Styled(words.LESS_OR_MORE[language]), no_wrap=True)
    for span in block.spans:
        cells = (span.label, span.before, span.after, span.change)
        table.add_row(*(Styled(cell[language]) for cell in cells), _interval(span, block.least_ratio))
    return table


def _interval(span: Span, least_ratio: float) -> Styled:
    """A line with the interval on it: `·` is a scale, `░` what does not matter, `━` the interval and `●` the difference."""
    half = _SPAN_CELLS // 2
    low, middle, high = (
        half + round(max(-1.0, min(1.0, place)) * half) for place in (span.low_ratio, span.middle_ratio, span.high_ratio)
    )
    line = Styled()
    for cell in range(2 * half + 1):
        if low <= cell <= high:
            line.append("●" if cell == middle else "━", style=_STYLE[span.tone] or "bold")
        elif cell == half:
            line.append("│", style="dim")
        else:
            line.append("░" if abs(cell - half) <= least_ratio * half else "·", style="dim")
    return line


def _grid(block: Grid, language: Language) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim")
    for column in block.columns:
        table.add_column(Styled(column[language]), overflow="fold")
    for row in block.rows:
        table.add_row(*(Styled(cell[language]) for cell in row))
    return table


def _columns(rows: Sequence[tuple[Styled, ...]]) -> Table:
    table = Table.grid(padding=(0, 2))
    for _ in rows[0] if rows else ():
        table.add_column(overflow="fold")
    for row in rows:
        table.add_row(*row)
    return table


def _bars(block: BarChart, language: Language) -> Table:
    rows = []
    for bar in block.bars:
        filled = round(max(0.0, min(1.0, bar.share_ratio)) * _BAR_CELLS)
        drawn = Styled("█" * filled + "░" * (_BAR_CELLS - filled), style=_STYLE[bar.tone])
        rows.append(
            (drawn, Styled(f"{bar.share_ratio:4.0%}"), Styled(bar.label[language]), Styled(bar.note[language], style="dim"))
        )
    return _columns(rows)


def _way(block: Way, language: Language) -> RenderableType:
    line = Styled()
    for index, station in enumerate(block.stations):
        if index:
            line.append(" → ", style="dim")
        is_marked = station.mark is not None
        name = f"[{station.name[language]}]" if is_marked else station.name[language]
        line.append(name, style=_STYLE[station.tone] if is_marked else "dim")
    return Group(Styled(block.title[language], style="dim"), line)


def _finding(finding: Finding, rank: int, language: Language) -> RenderableType:
    tone = _STYLE[words.TONE_OF_SEVERITY[finding.severity]]
    head = Styled(f"{rank}. {finding.title[language]}", style=tone or "bold")
    sure = f"{finding.cause} · {finding.confidence_ratio:.0%} {words.SURE[language]} · {words.SEVERITY[finding.severity][language]}"
    parts: list[RenderableType] = [Line(style="dim"), head, Styled(sure, style="dim"), Styled(finding.summary[language])]
    for title, causes in words.connections(finding):
        parts.append(Styled(f"{title[language]}: {', '.join(causes)}", style="dim"))
    parts.append(_title(words.PROOF, language))
    parts.extend(_evidence(one, language) for one in finding.evidence)
    parts.append(_title(words.FIX, language))
    for change in finding.changes:
        side = words.FOR_SIDE[change.side][language]
        parts.append(_item((f"({side}) " if side else "") + change.what[language], change.commands))
        if change.risk is not None:
            parts.append(Padding(Styled(f"{words.RISK[language]}: {change.risk[language]}", style="dim"), (0, 0, 0, 4)))
    parts.append(_title(words.VERIFY, language))
    parts.extend(_item(check.what[language], check.commands) for check in finding.checks)
    parts.append(Styled(f"{words.GAIN[language]}: {finding.gain[language]}"))
    parts.append(_title(words.NOT_TO_CONFUSE, language))
    parts.extend(_item(f"{like.cause}: {like.because[language]}") for like in finding.told_apart_from)
    return Group(*parts)


def _title(title: Text, language: Language) -> Styled:
    return Styled(title[language], style="bold")


def _evidence(one: ShownEvidence, language: Language) -> RenderableType:
    mark = "+" if one.bears == "for" else "−"
    said = one.says[language] + ("" if one.bears == "for" else f" ({words.AGAINST[language]})")
    quoted = [
        Styled(visible(f"{quote.source}:{quote.line_index + 1}│ {_shortened(quote.text.strip())}"), style="cyan")
        for quote in one.quotes
    ]
    lines = [Padding(line, (0, 0, 0, 6)) for line in quoted]
    return Group(Padding(Styled(f"{mark} {said}"), (0, 0, 0, 2)), *lines)


def _item(text: str, commands: tuple[str, ...] = ()) -> RenderableType:
    shown = [_command(command) for command in commands]
    return Group(Padding(Styled(f"• {text}"), (0, 0, 0, 2)), *shown)


def _command(command: str) -> Styled:
    """One line to copy: never wrapped, so that what is copied is what was meant."""
    return Styled(f"      {command}", style="green", no_wrap=True, overflow="ignore")


def _steps(block: Steps, language: Language) -> RenderableType:
    parts: list[RenderableType] = [Padding(_title(block.title, language), (1, 0, 0, 0))]
    parts.extend(_item(f"{what[language]}", commands) for what, commands in block.steps)
    return Group(*parts)


def _shortened(text: str) -> str:
    """A quoted line, cut where it would fill the screen; JSON and the page have it whole."""
    return text if len(text) <= MOST_QUOTED_CHARACTERS else f"{text[:MOST_QUOTED_CHARACTERS]} ..."


RENDERER = Renderer(title=Text(en="plain text", zh="纯文本"), render=_render)
