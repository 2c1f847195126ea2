"""A conversation with whoever started a verb: shown a document, heard a line; how is the face's business."""

from typing import Protocol

from wirespeed.model.document import Document


class Talk(Protocol):
    """A verb that asks has this as a parameter `talk` of `run`."""

    def show(self, document: Document) -> None:
        """Show something; returns at once."""

    def hear(self) -> str | None:
        """One line that was answered, without its end; None when there will be no more."""


class Nobody:
    """A conversation with nobody: nothing is shown, nothing is answered."""

    def show(self, document: Document) -> None:
        """Nothing."""

    def hear(self) -> str | None:
        """No more answers."""
        return None
