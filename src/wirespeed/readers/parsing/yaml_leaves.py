"""YAML and JSON documents inside a text as leaves: a path and its scalar, never objects.

Aliases cannot multiply and nesting cannot overflow a stack. What a damaged document gave before the damage is used.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import groupby

import yaml

from wirespeed.model.lines import Lines, quote
from wirespeed.model.source import Quote
from wirespeed.model.text import Text
from wirespeed.readers.parsing.regex import regex

MOST_BLOCK_CHARACTERS = 2 * 1024 * 1024
MOST_ALIASES = 20
MOST_DEPTH = 40
MOST_QUOTES = 12

_YAML_LINE = regex(r"^\s*(?:-\s+)*(?:[\"'][^\"']+[\"']|[\w./\-$]+)\s*:(?:\s|$)|^\s*-(?:\s|$)|^\s*#|^\s*[{}\[\]\"]")
_ALIAS = regex(r"(?m)(?:^|[\s\[,{:-])\*[A-Za-z0-9_]")
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

Path = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Leaf:
    """One scalar of a document and where it stands; an empty collection is a leaf as well (`{}` in a policy means everything)."""

    path: Path
    text: str
    line_index: int
    is_empty: bool = False

    @property
    def keys(self) -> tuple[str, ...]:
        """The path without list positions."""
        return tuple(step for step in self.path if isinstance(step, str))


@dataclass(slots=True)
class _Place:
    """An open mapping (with the key read last) or sequence (with the next position)."""

    is_mapping: bool
    line_index: int
    step: str | int | None = None
    is_empty: bool = True


@dataclass(slots=True)
class Block:
    """Lines that can be one document."""

    first_index: int
    lines: list[str] = field(default_factory=list)
    characters: int = 0

    @property
    def text(self) -> str:
        """The document; JSON may be indented with tabs, which YAML forbids."""
        return "\n".join(_without_tabs(line) for line in self.lines)


@dataclass(frozen=True, slots=True)
class Shown:
    """Quotes of one block."""

    lines: Lines
    block: Block

    def quotes(self, leaves: list[Leaf]) -> tuple[Quote, ...]:
        """One quote a line, as the input has it, in order."""
        wanted = sorted({leaf.line_index for leaf in leaves if leaf.line_index < len(self.block.lines)})[:MOST_QUOTES]
        return tuple(self._quote(offset) for offset in wanted)

    def _quote(self, offset: int) -> Quote:
        return quote(self.lines, self.block.first_index + offset, self.block.lines[offset])


def blocks(lines: Lines) -> Iterator[Block]:
    """Runs of lines that can be YAML, apart from `---` and from what a terminal shows around them."""
    block = Block(0)
    for index, line in lines:
        in_flow = bool(block.lines) and block.lines[0].lstrip().startswith(("{", "["))
        starts = not block.lines
        fits = _YAML_LINE.match(line) or (block.lines and (not line.strip() or line[0] in " \t" or in_flow))
        begins_anew = line.startswith("apiVersion:") and not any(one.startswith(("kind:", "metadata:")) for one in block.lines[-4:])
        if line.startswith(("---", "```")) or not fits or begins_anew or block.characters > MOST_BLOCK_CHARACTERS:
            if block.lines:
                yield block
            block = Block(index)
            starts = True
        if fits and not line.startswith(("---", "```")):
            if starts:
                block.first_index = index
            block.lines.append(line)
            block.characters += len(line) + 1
    if block.lines:
        yield block


def refusal(text: str) -> Text | None:
    """Why a document is not parsed at all, where it is not."""
    if len(text) > MOST_BLOCK_CHARACTERS:
        return Text(en="YAML block is too large", zh="YAML 块过大")
    if len(_ALIAS.findall(text)) > MOST_ALIASES:
        return Text(en="YAML with many aliases is not read", zh="不读取含大量别名的 YAML")
    return None


def leaves_of(text: str) -> tuple[list[Leaf], int | None]:
    """Every leaf with its path, and the line at which the parser gave up, if it did."""
    leaves: list[Leaf] = []
    places: list[_Place] = []
    line_index = 0
    try:
        for event in yaml.parse(text, Loader=_LOADER):
            line_index = event.start_mark.line if event.start_mark else line_index
            if isinstance(event, yaml.MappingStartEvent | yaml.SequenceStartEvent):
                is_mapping = isinstance(event, yaml.MappingStartEvent)
                places.append(_Place(is_mapping=is_mapping, line_index=line_index, step=None if is_mapping else 0))
            elif isinstance(event, yaml.MappingEndEvent | yaml.SequenceEndEvent):
                ended = places.pop()
                if ended.is_empty and places:
                    leaves.append(Leaf(_path(places), "", ended.line_index, is_empty=True))
                _value_done(places)
            elif isinstance(event, yaml.ScalarEvent):
                if places and places[-1].is_mapping and places[-1].step is None:
                    places[-1].step, places[-1].is_empty = event.value, False
                    continue
                leaves.append(Leaf(_path(places), event.value, line_index))
                _value_done(places)
            elif isinstance(event, yaml.AliasEvent):
                _value_done(places)
            if len(places) > MOST_DEPTH:
                return leaves, line_index
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        return leaves, min(mark.line, text.count("\n")) if mark else line_index
    return leaves, None


def _path(places: list[_Place]) -> Path:
    return tuple("" if place.step is None else place.step for place in places)


def _value_done(places: list[_Place]) -> None:
    """A value ended: the mapping waits for a key again, the sequence moves on. A key that is no scalar counts as empty."""
    if not places:
        return
    place = places[-1]
    place.is_empty = False
    if place.is_mapping:
        place.step = "" if place.step is None else None
    elif isinstance(place.step, int):
        place.step += 1


def objects(leaves: list[Leaf]) -> Iterator[list[Leaf]]:
    """The objects of a document: the items of a List, or the document itself."""
    if any(leaf.path[:1] == ("items",) for leaf in leaves):
        items = [leaf for leaf in leaves if leaf.path[:1] == ("items",) and len(leaf.path) > 2]
        for _, group in groupby(items, key=lambda leaf: leaf.path[1]):
            yield [Leaf(leaf.path[2:], leaf.text, leaf.line_index, leaf.is_empty) for leaf in group]
    else:
        yield leaves


def text_at(leaves: list[Leaf], keys: tuple[str, ...]) -> str | None:
    """The scalar at these keys, list positions left out; None where there is none."""
    return next((leaf.text for leaf in leaves if leaf.keys == keys and not leaf.is_empty), None)


def _without_tabs(line: str) -> str:
    bare = line.lstrip("\t ")
    return line[: len(line) - len(bare)].replace("\t", "  ") + bare
