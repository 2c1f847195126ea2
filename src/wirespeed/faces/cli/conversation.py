"""A conversation on the terminal or through pipes: shown on standard error, heard on standard input, so that the answer stays clean."""

import sys

from wirespeed.model.document import Document
from wirespeed.model.text import Language

PROMPT = "> "
PIPED_WIDTH = 100
MOST_LINE_CHARACTERS = 1 << 20
"""A longer line is answered in pieces."""


class Conversation:
    """One conversation in one language."""

    def __init__(self, language: Language) -> None:
        self._language = language

    def show(self, document: Document) -> None:
        """The document's blocks, in colours where there is a terminal."""
        if sys.stderr is None:
            return
        from wirespeed.report.renderers import text

        if sys.stderr.isatty():
            from rich.console import Console

            Console(stderr=True, highlight=False).print(text.rendered(document, self._language), crop=False)
        else:
            self._write(text.uncoloured(document, self._language, PIPED_WIDTH) + "\n")

    def hear(self) -> str | None:
        """One line; None at the end of the input. What did not come from a terminal is shown, so that a transcript can be read."""
        if sys.stdin is None:
            return None
        self._write(PROMPT)
        line = sys.stdin.readline(MOST_LINE_CHARACTERS)
        if not line:
            self._write("\n")
            return None
        line = line.rstrip("\r\n")
        if not sys.stdin.isatty():
            self._write(f"{line}\n")
        return line

    def _write(self, text: str) -> None:
        if sys.stderr is not None:
            sys.stderr.write(text)
            sys.stderr.flush()
