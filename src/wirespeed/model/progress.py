"""How far a verb has come, told to whoever started it; what becomes of it is the face's business."""

from collections.abc import Callable
from typing import TypeAlias

import msgspec

from wirespeed.model.document import Document
from wirespeed.model.text import Text


class Update(msgspec.Struct, frozen=True, kw_only=True):
    """One sign of life. `view` is what there is to see so far, for a live picture on a terminal."""

    says: Text
    done_ratio: float | None = None
    remaining_s: float | None = None
    view: Document | None = None


Progress: TypeAlias = Callable[[Update], None]
"""A verb that takes longer than two seconds has this as the second parameter of `run`. It must be cheap to call."""


def unheard(update: Update) -> None:
    """Progress that nobody watches."""
