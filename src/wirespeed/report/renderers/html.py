"""One self-contained page: no request leaves it; both languages are inside and one click switches them."""

from html import escape

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
from wirespeed.model.finding import Finding, ShownEvidence
from wirespeed.model.kinds import Renderer
from wirespeed.model.source import Quote
from wirespeed.model.text import Language, Text
from wirespeed.report import words
from wirespeed.report.page.pictures import bars, both, interval, scale, way
from wirespeed.report.page.style import SCRIPT, STYLE
from wirespeed.report.plain import visible


def _render(document: Document, language: Language, width: int) -> str:
    body = "\n".join(_block(block) for block in document.blocks)
    return (
        f'<!doctype html>\n<html lang="{language}"><head><meta charset="utf-8"><meta name="generator" content="wirespeed"><meta name="viewport" content="width=device-width,initial-scale=1">'
        f"<title>{escape(document.title[language])}</title><style>{STYLE}</style></head>\n"
        f'<body class="{language}"><main><header><b>wirespeed</b><button id="flip" type="button"><span lang="en">中文</span>'
        f'<span lang="zh">English</span></button></header>\n{body}\n</main><script>{SCRIPT}</script></body></html>\n'
    )


def _block(block: AnyBlock) -> str:
    match block:
        case Headline():
            return f'<h{block.level} class="{block.tone}">{both(block.text)}</h{block.level}>'
        case Prose():
            return f"<p>{both(block.text)}</p>"
        case FactList():
            rows = "".join(f"<dt>{both(name)}</dt><dd>{both(value)}</dd>" for name, value in block.rows)
            return f'<section class="card"><dl>{rows}</dl></section>'
        case Grid():
            return _grid(block)
        case BarChart():
            return f'<div class="picture"><h3>{both(block.title)}</h3>{bars(block)}</div>'
        case Way():
            return f'<div class="picture"><h3>{both(block.title)}</h3>{way(block)}</div>'
        case FindingBlock():
            return _finding(block.finding, block.rank_number)
        case Steps():
            items = "".join(_item(what, commands) for what, commands in block.steps)
            return f'<section class="card"><h3>{both(block.title)}</h3><ul>{items}</ul></section>'
        case Difference():
            return _difference(block)


def _difference(block: Difference) -> str:
    titles = "".join(f"<th>{both(title)}</th>" for title in (words.BEFORE, words.AFTER, words.DIFFERENCE, words.LESS_OR_MORE))
    rows = "".join(
        "<tr>"
        + "".join(f"<td>{both(cell)}</td>" for cell in (span.label, span.before, span.after, span.change))
        + f"<td>{interval(span, block.least_ratio)}</td></tr>"
        for span in block.spans
    )
    head = f"<thead><tr><th>{both(block.title)}</th>{titles}</tr></thead>"
    return f'<section class="card"><table class="spans">{head}<tbody>{rows}</tbody></table></section>'


def _grid(block: Grid) -> str:
    head = "".join(f"<th>{both(column)}</th>" for column in block.columns)
    rows = "".join("<tr>" + "".join(f"<td>{both(cell)}</td>" for cell in row) + "</tr>" for row in block.rows)
    return f'<section class="card"><table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></section>'


def _finding(finding: Finding, rank: int) -> str:
    tone = words.TONE_OF_SEVERITY[finding.severity]
    connections = "".join(
        f'<span class="soft">{both(title)}: {escape(", ".join(causes))}</span>' for title, causes in words.connections(finding)
    )
    changes = "".join(_item(change.what, change.commands, change.risk, change.side) for change in finding.changes)
    checks = "".join(_item(check.what, check.commands) for check in finding.checks)
    likes = "".join(f"<li><code>{like.cause}</code>: {both(like.because)}</li>" for like in finding.told_apart_from)
    return f"""<section class="card" id="{finding.rule}"><h2>{rank}. {both(finding.title)}</h2>
<div class="tags"><span class="tag cause">{finding.cause}</span><span class="tag">{finding.confidence_ratio:.0%} {both(words.SURE)}</span>
<span class="tag {tone}">{both(words.SEVERITY[finding.severity])}</span>{connections}</div><p>{both(finding.summary)}</p>
<h3>{both(words.PROOF)}</h3>{"".join(_evidence(one) for one in finding.evidence)}
<h3>{both(words.FIX)}</h3><ul>{changes}</ul><h3>{both(words.VERIFY)}</h3><ul>{checks}</ul>
<p><b>{both(words.GAIN)}</b>: {both(finding.gain)}</p>
<details><summary>{both(words.NOT_TO_CONFUSE)}</summary><ul>{likes}</ul></details></section>"""


def _evidence(one: ShownEvidence) -> str:
    against = "" if one.bears == "for" else f' <span class="soft">({both(words.AGAINST)})</span>'
    quotes = "".join(_quote(quote) for quote in one.quotes)
    return f'<div class="evidence">{scale(one.weight_nats)}<div class="says">{both(one.says)}{against}</div>{quotes}</div>'


def _quote(quote: Quote) -> str:
    where = f"{quote.source}:{quote.line_index + 1}"
    return f'<pre class="quote"><span class="at">{escape(visible(where))}</span>{escape(visible(quote.text.strip()))}</pre>'


def _item(what: Text, commands: tuple[str, ...], risk: Text | None = None, side: str = "both") -> str:
    for_side = "" if side == "both" else f'<span class="soft">({both(words.FOR_SIDE[side])})</span> '
    shown = "".join(f"<pre>{escape(command)}</pre>" for command in commands)
    warned = "" if risk is None else f'<div class="soft">{both(words.RISK)}: {both(risk)}</div>'
    return f"<li>{for_side}{both(what)}{shown}{warned}</li>"


RENDERER = Renderer(title=Text(en="one HTML page", zh="单个 HTML 页面"), render=_render)
