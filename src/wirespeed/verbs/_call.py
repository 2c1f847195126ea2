"""What a file on the shelf of calls offers, and how calls and answers stand on the wire."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import msgspec

from wirespeed.model.record import Record
from wirespeed.model.source import Problem
from wirespeed.model.text import Text


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One thing done where the agent runs. `options` is a struct that is read from the request; `run` may yield as it goes."""

    options: type[msgspec.Struct]
    run: Callable[[Any], Iterable[Record | Problem]]


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """One line to an agent."""

    call: str
    options: msgspec.Raw = msgspec.Raw(b"{}")


class End(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", tag="End"):
    """The last line of an answer: how long it took, or why it ended early."""

    duration_s: float
    why: Text | None = None
