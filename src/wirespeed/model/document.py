"""The blocks a report is made of. A verb presents its answer as blocks; a renderer knows blocks and no answer.

Architecture asks for eleven kinds; those stand here that a verb uses. A new kind touches every renderer and is meant to be rare.
"""

from typing import Literal, TypeAlias

import msgspec

from wirespeed.model.finding import Finding
from wirespeed.model.text import Text

Tone = Literal["plain", "good", "warn", "bad"]


class Block(msgspec.Struct, frozen=True, kw_only=True, tag_field="block", tag=True):
    """Base of all blocks."""


class Headline(Block, frozen=True, kw_only=True):
    """The answer in one line; `level` 1 opens the document, 2 a section."""

    text: Text
    level: int = 1
    tone: Tone = "plain"


class Prose(Block, frozen=True, kw_only=True):
    """A paragraph."""

    text: Text


class FactList(Block, frozen=True, kw_only=True):
    """Names and values side by side."""

    rows: tuple[tuple[Text, Text], ...]


class Grid(Block, frozen=True, kw_only=True):
    """A table; cells are text in both languages, numbers already printed."""

    columns: tuple[Text, ...]
    rows: tuple[tuple[Text, ...], ...]


class Bar(msgspec.Struct, frozen=True, kw_only=True):
    """One bar: a share of the whole, with what stands beside it."""

    label: Text
    share_ratio: float
    note: Text
    tone: Tone = "plain"


class BarChart(Block, frozen=True, kw_only=True):
    """Bars from 0 to 1, such as how sure each cause is."""

    title: Text
    bars: tuple[Bar, ...]


class Station(msgspec.Struct, frozen=True, kw_only=True):
    """A place on the way of the data; `mark` says what was found there."""

    name: Text
    mark: Text | None = None
    tone: Tone = "plain"


class Way(Block, frozen=True, kw_only=True):
    """The stations data passes, with those marked where a cause sits."""

    title: Text
    stations: tuple[Station, ...]


class FindingBlock(Block, frozen=True, kw_only=True):
    """One finding in full."""

    finding: Finding
    rank_number: int


class Steps(Block, frozen=True, kw_only=True):
    """Things to do, in order, each with the commands that do it."""

    title: Text
    steps: tuple[tuple[Text, tuple[str, ...]], ...]


class Span(msgspec.Struct, frozen=True, kw_only=True):
    """One figure before and after. The ratios are places on a scale from -1 (much less) to 1 (much more), 0 being no difference."""

    label: Text
    before: Text
    after: Text
    change: Text
    low_ratio: float
    middle_ratio: float
    high_ratio: float
    tone: Tone = "plain"


class Difference(Block, frozen=True, kw_only=True):
    """Figures before and after, each with a small picture of its interval; within `least_ratio` of the middle nothing matters."""

    title: Text
    spans: tuple[Span, ...]
    least_ratio: float


AnyBlock: TypeAlias = Headline | Prose | FactList | Grid | BarChart | Way | FindingBlock | Steps | Difference


class Document(msgspec.Struct, frozen=True, kw_only=True):
    """Blocks in order, in both languages."""

    title: Text
    blocks: tuple[AnyBlock, ...]
