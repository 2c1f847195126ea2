"""resolv.conf: name servers, search domains and options."""

import re
from collections.abc import Iterator

from wirespeed.model.facts.host import ResolverSetup
from wirespeed.model.kinds import Reader
from wirespeed.model.lines import Lines, source
from wirespeed.model.record import Record
from wirespeed.model.source import Problem
from wirespeed.model.text import Text
from wirespeed.readers.parsing.excerpt import Seen, excerpt
from wirespeed.readers.parsing.ip import is_address
from wirespeed.readers.parsing.marks import marked
from wirespeed.readers.parsing.regex import regex

_ROW = regex(r"^\s*(?P<key>nameserver|search|domain|options)\s+(?P<rest>[^\s#;][^#;]*)(?:[#;].*)?$")
_OPTION = regex(
    r"^(?:ndots|timeout|attempts|rotate|single-request|single-request-reopen|use-vc|edns0|trust-ad|no-aaaa"
    r"|no-reload|inet6|debug|no-check-names|no-tld-query)(?::\d+)?$"
)
_DOMAIN = regex(r"^[\w.-]+$")
_RECOGNISED = regex(
    r"(?m)^[ \t]*(?:[\w.-]+: *)?(?:nameserver\s+[0-9a-fA-F:.]+|options\s+[\w-]+(?::\d+)?\b|search\s+[\w.-]+\.[\w.-]+)"
)
_MOST_ROWS = 64


def _read(lines: Lines) -> Iterator[Record | Problem]:
    rows: list[tuple[Seen, re.Match[str]]] = []
    for seen in excerpt(lines, _row):
        if seen.is_prompt or (rows and seen.host != rows[0][0].host):
            yield from _setup(lines, rows)
            rows = []
        row = None if seen.is_prompt else _row(seen.text)
        if row and len(rows) < _MOST_ROWS:
            rows.append((seen, row))
    yield from _setup(lines, rows)


def _row(text: str) -> re.Match[str] | None:
    row = _ROW.match(text)
    if row is None:
        return None
    words = row["rest"].split()
    if row["key"] == "nameserver":
        return row if len(words) == 1 and is_address(words[0]) else None
    if row["key"] == "options":
        return row if all(_OPTION.match(one) for one in words) else None
    return row if _are_domains(words) else None


def _are_domains(words: list[str]) -> bool:
    """A lone word may be a domain (`search lan`); several without a dot are a sentence."""
    return all(_DOMAIN.match(word) for word in words) and (len(words) == 1 or all("." in word for word in words))


def _setup(lines: Lines, rows: list[tuple[Seen, re.Match[str]]]) -> Iterator[ResolverSetup]:
    options = _words(rows, "options")
    servers = _words(rows, "nameserver")
    if not servers and not options:
        return
    search = _words(rows, "search", "domain")
    ndots = next((one.partition(":")[2] for one in options if one.startswith("ndots:")), "")
    yield ResolverSetup(
        source=source(lines, "resolv.conf", rows[0][0].host),
        quotes=tuple(seen.quoted(lines) for seen, _ in rows),
        nameservers=servers,
        search=search,
        ndots_count=int(ndots) if ndots.isdecimal() else None,
        options=options,
    )


def _words(rows: list[tuple[Seen, re.Match[str]]], *keys: str) -> tuple[str, ...]:
    return tuple(word for _, row in rows if row["key"] in keys for word in row["rest"].split())


READER = Reader(
    title=Text(en="resolver set-up (resolv.conf)", zh="域名解析设置（resolv.conf）"),
    gives=(ResolverSetup,),
    recognises=marked(_RECOGNISED),
    read=_read,
    obtained_by=("cat /etc/resolv.conf",),
)
