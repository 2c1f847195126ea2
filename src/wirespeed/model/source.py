"""Where a value came from, what could not be used, and why a value is missing."""

from typing import Literal, TypeAlias

import msgspec

from wirespeed.model.text import Text

Reason: TypeAlias = Literal["absent", "denied", "unsupported", "timed-out"]
"""Why a fact could not be had. None of them is zero."""


class Source(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The tool or file a record was read from; `path` is the input's name as the user gave it."""

    tool: str
    path: str
    host: str | None = None


class Quote(msgspec.Struct, frozen=True, kw_only=True):
    """One line of one input, word for word; `line_index` counts from 0."""

    source: str
    line_index: int
    text: str


class Problem(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Input that could not be used, with the place and the reason. The rest of the input is still used."""

    source: Source
    why: Text
    line_index: int | None = None
    reason: Reason | None = None
    """Set where a machine could not give a fact: absent, denied, unsupported or timed-out."""
