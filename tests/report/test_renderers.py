"""Every renderer draws every block in both languages. This file names no renderer but those it looks into."""

import pytest

from wirespeed.model import shelf
from wirespeed.model.document import (
    Bar,
    BarChart,
    Difference,
    Document,
    FactList,
    FindingBlock,
    Grid,
    Headline,
    Prose,
    Span,
    Station,
    Steps,
    Way,
)
from wirespeed.model.finding import Change, Check, Finding, LookAlike, ShownEvidence
from wirespeed.model.kinds import Renderer
from wirespeed.model.source import Quote
from wirespeed.model.text import Text, same
from wirespeed.report import renderers

RENDERERS = shelf.every(renderers, Renderer)


def _both(word: str) -> Text:
    return Text(en=f"{word} in English", zh=f"{word}，中文")


FINDING = Finding(
    cause="packet-loss",
    rule="packet_loss",
    explains=("gpu-xid",),
    confidence_ratio=0.88,
    severity="high",
    title=_both("title"),
    summary=_both("summary"),
    evidence=(
        ShownEvidence(
            says=_both("proof"),
            bears="for",
            weight_nats=3.5,
            values={},
            quotes=(Quote(source="a.log", line_index=6, text="lost <1> | `x`"),),
        ),
        ShownEvidence(says=_both("doubt"), bears="against", weight_nats=-1.0, values={}, quotes=()),
    ),
    told_apart_from=(LookAlike(cause="mtu-mismatch", because=_both("difference")),),
    gain=_both("gain"),
    changes=(Change(what=_both("change"), commands=("ip link set dev IFACE up",), side="training", risk=_both("risk")),),
    checks=(Check(what=_both("check"), commands=("ping PEER",)),),
)
BLOCKS = (
    Headline(text=_both("headline"), tone="bad"),
    Prose(text=_both("prose")),
    FactList(rows=((_both("name"), _both("value")),)),
    Grid(columns=(_both("column"),), rows=((same("cell | one"),),)),
    BarChart(title=_both("chart"), bars=(Bar(label=same("bar"), share_ratio=0.5, note=_both("note")),)),
    Way(
        title=_both("way"), stations=(Station(name=_both("station")), Station(name=_both("place"), mark=same("mark"), tone="warn"))
    ),
    FindingBlock(finding=FINDING, rank_number=1),
    Steps(title=_both("steps"), steps=((_both("step"), ("dmesg",)),)),
    Difference(
        title=_both("differences"),
        spans=(
            Span(
                label=_both("figure"),
                before=same("1/s"),
                after=same("9/s"),
                change=_both("eight more"),
                low_ratio=0.2,
                middle_ratio=0.5,
                high_ratio=7.0,
                tone="warn",
            ),
        ),
        least_ratio=0.1,
    ),
)
DOCUMENT = Document(title=_both("document"), blocks=BLOCKS)


@pytest.mark.parametrize("name", RENDERERS)
@pytest.mark.parametrize("language", ["en", "zh"])
def test_everything_is_shown(name: str, language: str) -> None:
    drawn = RENDERERS[name].render(DOCUMENT, language, 100)  # type: ignore[arg-type]
    words = (
        "headline",
        "prose",
        "name",
        "value",
        "column",
        "chart",
        "station",
        "title",
        "summary",
        "proof",
        "doubt",
        "gain",
        "change",
        "check",
        "step",
    )
    ending = "，中文" if language == "zh" else " in English"
    missing = [word for word in words if f"{word}{ending}" not in drawn]
    assert not missing
    for literal in ("packet-loss", "a.log", "ip link set dev IFACE up", "ping PEER", "dmesg", "88"):
        assert literal in drawn


def test_markdown_cells_and_quotes_cannot_break_out() -> None:
    drawn = RENDERERS["markdown"].render(DOCUMENT, "en", 100)
    assert "cell \\| one" in drawn
    assert "<1>" in drawn  # inside its fence


def test_html_holds_both_languages_and_escapes() -> None:
    drawn = RENDERERS["html"].render(DOCUMENT, "en", 100)
    assert "proof in English" in drawn and "proof，中文" in drawn
    assert "lost &lt;1&gt;" in drawn


def test_text_counts_wide_characters_as_two() -> None:
    wide = Document(title=same("t"), blocks=(Prose(text=same("网" * 60)),))
    lines = RENDERERS["text"].render(wide, "zh", 80).splitlines()
    assert max(len(line) for line in lines) <= 40
