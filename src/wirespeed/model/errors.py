"""Errors people are told about in one sentence; anything else that is raised is our own mistake."""

from wirespeed.model.text import Text


class BadRequest(Exception):
    """The caller asked for something impossible (exit code 2)."""

    def __init__(self, why: Text) -> None:
        super().__init__(why.en)
        self.why = why


class CouldNot(Exception):
    """What was asked could not be done (exit code 3)."""

    def __init__(self, why: Text) -> None:
        super().__init__(why.en)
        self.why = why
