"""What the views of `ethtool` have in common: a block of rows under a header or a command that may name the interface."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from wirespeed.model.lines import Lines
from wirespeed.model.source import Quote
from wirespeed.readers.parsing.excerpt import Seen, arguments_of, excerpt
from wirespeed.readers.parsing.regex import regex

UNKNOWN_LINK = "?"
"""Name of an interface that an excerpt does not name."""
MOST_ROWS = 4096
"""Rows kept of one block: a bound on memory, above what any view prints."""

_MOST_NAME_CHARACTERS = 32
_MOST_TITLE_CHARACTERS = 64
_HEADINGS = ("Pre-set maximums", "Current hardware settings")
_LINK_NAME = regex(r"^[A-Za-z][\w.-]*\d[\w.-]*$")
_TITLE = regex(r"^[\s=#*-]*(?P<link>[a-z][a-zA-Z]*[\w.-]*\d[\w.-]*)[\s=#*:-]*$")


@dataclass(slots=True)
class Block:
    """Rows of one interface: `rows` are the lines with what the row pattern found in each."""

    link: str
    host: str | None
    is_named: bool
    """Whether a header or command said that this is the view, rather than a row alone."""
    opened_by: Seen | None = None
    rows: list[tuple[Seen, re.Match[str]]] = field(default_factory=list)

    def quotes(self, lines: Lines, keys: frozenset[str]) -> tuple[Quote, ...]:
        """The header, if there was one, and the rows whose key is among `keys`."""
        opener = () if self.opened_by is None else (self.opened_by.quoted(lines),)
        return (*opener, *(seen.quoted(lines) for seen, found in self.rows if found["key"].strip() in keys))


def blocks(
    lines: Lines, row: re.Pattern[str], flags: frozenset[str], header: re.Pattern[str] | None = None, first_key: str | None = None
) -> Iterator[Block]:
    """Blocks of one view.

    A block opens at `header` (group `link` names the interface), at a command `ethtool FLAG IFACE` with one of `flags`, at a
    row with `first_key` when the block already has one, or at a row that follows none of these; then `is_named` is False.
    """
    block: Block | None = None
    title: str | None = None

    def is_own(text: str) -> bool:
        return row.match(text) is not None or (header is not None and header.match(text) is not None)

    for seen in excerpt(lines, is_own, ("ethtool",)):
        if seen.is_prompt:
            if block and block.rows:
                yield block
            block, title = _block_of(seen, flags), None
            continue
        named = header.match(seen.text) if header else None
        if named:
            if block and block.rows:
                yield block
            link = named.groupdict().get("link") or (block.link if block and not block.rows else title or UNKNOWN_LINK)
            block = Block(link=link, host=seen.host, is_named=True, opened_by=seen)
            continue
        found = row.match(seen.text)
        if not found:
            heading = _TITLE.match(seen.text) if len(seen.text) <= _MOST_TITLE_CHARACTERS else None
            title = heading["link"] if heading else title if not seen.text.strip() else None
            if heading and block and block.rows:
                yield block
                block = None
            continue
        if block and ((seen.host and block.host != seen.host) or _starts_again(block, found, first_key)):
            yield block
            block = None
        if block is None:
            block = Block(link=title or UNKNOWN_LINK, host=seen.host, is_named=False)
        if len(block.rows) < MOST_ROWS:
            block.rows.append((seen, found))
    if block and block.rows:
        yield block


def _block_of(seen: Seen, flags: frozenset[str]) -> Block | None:
    arguments = arguments_of(seen.command, "ethtool")
    if arguments is None:
        return None
    options = {one for one in arguments if one.startswith("-")}
    if not (options & flags or (not options and "" in flags)):
        return None
    return Block(link=named_link(arguments), host=seen.host, is_named=True, opened_by=seen)


def named_link(arguments: tuple[str, ...]) -> str:
    """The interface among the arguments. Only names with a digit count: other words may be prose (`ethtool -i output`)."""
    return next((one for one in arguments if len(one) <= _MOST_NAME_CHARACTERS and _LINK_NAME.match(one)), UNKNOWN_LINK)


def _starts_again(block: Block, found: re.Match[str], first_key: str | None) -> bool:
    return first_key is not None and found["key"] == first_key and any(one["key"] == first_key for _, one in block.rows)


def whole_number(text: str) -> int | None:
    """A count, or None where the driver says `n/a` or nothing that is a number."""
    stripped = text.strip()
    return int(stripped) if stripped.isdecimal() else None


def on_or_off(text: str) -> bool | None:
    """A switch, or None where it is neither on nor off."""
    return {"on": True, "off": False}.get(text.strip().split(" ")[0].lower()) if text.strip() else None


def now_and_most(block: Block) -> tuple[dict[str, int | None], dict[str, int | None]]:
    """Current values and maxima of a view with the two headings `Pre-set maximums` and `Current hardware settings`.

    Where `grep` took the headings away, a key seen twice gives the maximum first, as ethtool prints it.
    """
    most: dict[str, int | None] = {}
    now: dict[str, int | None] = {}
    has_headings = any(found["key"] in _HEADINGS for _, found in block.rows)
    heading = ""
    for _, found in block.rows:
        key = found["key"]
        if key in _HEADINGS:
            heading = key
        elif heading == "Pre-set maximums":
            most[key] = whole_number(found["value"] or "")
        else:
            if not has_headings and key in now:
                most[key] = now[key]
            now[key] = whole_number(found["value"] or "")
    return now, most
