"""Indented `Key: value` text (`kubectl describe`, `lldpctl`, `devlink`): each line with the keys above it, deeper ones indented more."""

from collections.abc import Iterator
from dataclasses import dataclass

from wirespeed.model.lines import Lines, quote
from wirespeed.model.source import Quote
from wirespeed.readers.parsing.regex import regex

MOST_DEPTH = 12
MOST_LINE_CHARACTERS = 4_000

_ENTRY = regex(r"^(?P<indent>[ \t]*)(?P<key>[A-Za-z0-9_\"'][^:]{0,120}?)[ \t]*:(?:[ \t]+(?P<value>\S.*?))?[ \t]*$")


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of an outline. `keys` is the path down to its own key; a line without a key has the path of the one above and no key."""

    index: int
    line: str
    keys: tuple[str, ...]
    value: str
    indent: int
    has_key: bool

    def quoted(self, lines: Lines) -> Quote:
        """The quotation of this line."""
        return quote(lines, self.index, self.line)


def outline(lines: Lines) -> Iterator[Entry]:
    """Every line that is not blank. A key may hold dots, slashes and single blanks, but no colon."""
    above: list[tuple[int, str]] = []
    for index, line in lines:
        text = line[:MOST_LINE_CHARACTERS].expandtabs(8)
        if not text.strip():
            continue
        found = _ENTRY.match(text)
        if found is None or "  " in found["key"]:
            indent = len(text) - len(text.lstrip())
            yield Entry(index, line, tuple(key for _, key in above), text.strip(), indent, has_key=False)
            continue
        indent = len(found["indent"])
        while above and (above[-1][0] >= indent or len(above) >= MOST_DEPTH):
            above.pop()
        above.append((indent, found["key"].strip("\"'")))
        yield Entry(index, line, tuple(key for _, key in above), found["value"] or "", indent, has_key=True)
