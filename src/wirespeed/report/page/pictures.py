"""Pictures of the page, as SVG: the way of the data with what was found on it, bars of confidence, scales of evidence."""

from html import escape

from wirespeed.model.document import BarChart, Span, Station, Way
from wirespeed.model.text import Text

COLOUR = {"plain": "var(--soft)", "good": "var(--good)", "warn": "var(--warn)", "bad": "var(--bad)"}
_STATION_WIDTH, _STATION_HEIGHT, _GAP = 132, 54, 30
_MARK_HEIGHT = 46
_WEIGHT_FULL_NATS = 5.0
"""Weight that fills the small scale beside a piece of evidence: that of evidence which proves alone."""


def both(text: Text) -> str:
    """One text in both languages; the page shows one of them."""
    if text.en == text.zh:
        return escape(text.en)
    return f'<span lang="en">{escape(text.en)}</span><span lang="zh">{escape(text.zh)}</span>'


def way(block: Way) -> str:
    """Stations from left to right, a pin on each where a cause sits."""
    width = len(block.stations) * (_STATION_WIDTH + _GAP) - _GAP
    height = _MARK_HEIGHT + _STATION_HEIGHT + 8
    parts = [_station(index, station) for index, station in enumerate(block.stations)]
    arrows = [_arrow(index) for index in range(len(block.stations) - 1)]
    label = escape(block.title.en)
    return f'<svg class="way" viewBox="0 0 {width + 4} {height}" width="{width}" role="img" aria-label="{label}">{"".join(arrows + parts)}</svg>'


def _station(index: int, station: Station) -> str:
    left, top = index * (_STATION_WIDTH + _GAP) + 2, _MARK_HEIGHT
    colour = COLOUR[station.tone] if station.mark else "var(--line)"
    ink = colour if station.mark else "var(--soft)"
    fill = f"color-mix(in srgb, {colour} 14%, var(--card))" if station.mark else "var(--card)"
    middle = left + _STATION_WIDTH / 2
    box = (
        f'<rect x="{left}" y="{top}" width="{_STATION_WIDTH}" height="{_STATION_HEIGHT}" rx="10" fill="{fill}" stroke="{colour}" '
        f'stroke-width="{2 if station.mark else 1.2}"/>'
    )
    name = _name(station, middle, top, ink)
    if station.mark is None:
        return box + name
    pin = f'<path d="M{middle} {top - 2} l-6 -9 h12 z" fill="{colour}"/>'
    return box + name + pin + _words(station.mark, middle, top - 18, colour, 13, bold=True)


def _name(station: Station, middle: float, top: float, ink: str) -> str:
    """The station's name in the middle of its box, one line a part: `GPU, PCIe, NVLink` takes two lines."""
    parts = station.name.en.split(", ", 1), station.name.zh.replace("与", "、").split("、", 1)
    rows = max(len(part) for part in parts)
    first = top + _STATION_HEIGHT / 2 + 5 - (rows - 1) * 9
    lines = []
    for row in range(rows):
        text = Text(en=parts[0][row] if row < len(parts[0]) else "", zh=parts[1][row] if row < len(parts[1]) else "")
        lines.append(_words(text, middle, first + row * 18, ink, 14, bold=station.mark is not None))
    return "".join(lines)


def _words(text: Text, x: float, y: float, colour: str, size: int, *, bold: bool = False, anchor: str = "middle") -> str:
    weight = ' font-weight="600"' if bold else ""
    style = f'x="{x}" y="{y}" text-anchor="{anchor}" fill="{colour}" font-size="{size}"{weight}'
    if text.en == text.zh:
        return f"<text {style}>{escape(text.en)}</text>"
    return f'<text lang="en" {style}>{escape(text.en)}</text><text lang="zh" {style}>{escape(text.zh)}</text>'


def _arrow(index: int) -> str:
    left = index * (_STATION_WIDTH + _GAP) + 2 + _STATION_WIDTH
    middle = _MARK_HEIGHT + _STATION_HEIGHT / 2
    return (
        f'<path d="M{left + 3} {middle} H{left + _GAP - 6} m-6 -5 l6 5 l-6 5" fill="none" stroke="var(--soft)" stroke-width="1.6" '
        f'stroke-linecap="round" stroke-linejoin="round"/>'
    )


def bars(block: BarChart) -> str:
    """Bars from 0 to 1: the label, the bar with its figure, and the note, which wraps."""
    rows = []
    for bar in block.bars:
        colour = COLOUR[bar.tone] if bar.tone != "plain" else "var(--accent)"
        filled = f'<i style="width:{max(1.0, bar.share_ratio * 100):.0f}%;background:{colour}"></i>'
        rows.append(f"<b>{both(bar.label)}</b><span>{filled}</span><em>{bar.share_ratio:.0%}</em><div>{both(bar.note)}</div>")
    return f'<div class="bars">{"".join(rows)}</div>'


def scale(weight_nats: float) -> str:
    """A small scale: how much one piece of evidence weighs, to the right for the claim, to the left against it."""
    said = f"weight {weight_nats:+.1f} nats: to the right speaks for the cause, to the left against it"
    half = 40
    length = min(1.0, abs(weight_nats) / _WEIGHT_FULL_NATS) * half
    left = half if weight_nats >= 0 else half - length
    colour = "var(--for)" if weight_nats >= 0 else "var(--against)"
    return (
        f'<svg viewBox="0 0 {2 * half} 18" width="{2 * half}" height="18" role="img"><title>{said}</title><rect x="0" y="6" width="{2 * half}" height="6" '
        f'rx="3" fill="var(--code)"/><rect x="{left:.1f}" y="6" width="{length:.1f}" height="6" rx="3" fill="{colour}"/>'
        f'<path d="M{half} 2 v14" stroke="var(--soft)"/></svg>'
    )


def interval(span: Span, least_ratio: float) -> str:
    """The interval of a difference as a bar on a scale whose middle is no difference; the grey zone does not matter."""
    half = 70
    low, middle, high = (half + max(-1.0, min(1.0, place)) * half for place in (span.low_ratio, span.middle_ratio, span.high_ratio))
    colour = COLOUR[span.tone] if span.tone != "plain" else "var(--accent)"
    zone = least_ratio * half
    return (
        f'<svg viewBox="-6 0 {2 * half + 12} 18" width="{2 * half + 12}" height="18" role="img"><title>{escape(span.change.en)}</title>'
        f'<path d="M0 9 H{2 * half}" stroke="var(--line)"/>'
        f'<rect x="{half - zone:.1f}" y="3" width="{2 * zone:.1f}" height="12" fill="var(--code)"/><path d="M{half} 2 v14" stroke="var(--soft)"/>'
        f'<rect x="{low:.1f}" y="7" width="{max(high - low, 1.0):.1f}" height="4" rx="2" fill="{colour}"/>'
        f'<circle cx="{middle:.1f}" cy="9" r="4.5" fill="{colour}"/></svg>'
    )
