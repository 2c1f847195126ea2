"""`ip addr`, also `-br`, `-o` and `-j`: addresses of interfaces."""

import re
from collections.abc import Iterator

from wirespeed.model.facts.path import Address
from wirespeed.model.kinds import Reader
from wirespeed.model.lines import Lines, source
from wirespeed.model.record import Record
from wirespeed.model.source import Problem, Quote
from wirespeed.model.text import Text
from wirespeed.readers.parsing.excerpt import Seen, excerpt
from wirespeed.readers.parsing.ip import HEADER, is_address, value_after
from wirespeed.readers.parsing.json_excerpt import documents, number, word
from wirespeed.readers.parsing.marks import marked
from wirespeed.readers.parsing.regex import regex

_INET = regex(
    r"^\s*(?:\d+: +(?P<name>[\w.-]+)(?:@\S+)? +)?inet6? (?P<address>[0-9A-Fa-f.:]+)(?: peer \S+?)?(?:/"
    r"(?P<length>\d+))(?P<rest>\s.*)?$"
)
_BRIEF = regex(r"^(?P<name>[A-Za-z0-9_][\w.-]*)(?:@\S+)? +(?:UP|DOWN|UNKNOWN|LOWERLAYERDOWN|DORMANT) +(?P<all>[0-9a-f.:]+/\d+.*)$")
_RECOGNISED = regex(r"(?m)\binet6? [0-9a-fA-F.:]+(?: peer \S+)?/\d|^\S+ +(?:UP|DOWN|UNKNOWN) +[0-9a-f.:]+/\d|\"addr_info\"")


def _read(lines: Lines) -> Iterator[Record | Problem]:
    link: str | None = None
    opener: tuple[Quote, ...] = ()
    for seen in excerpt(lines, _is_own):
        if seen.is_prompt:
            link, opener = None, ()
            continue
        header = HEADER.match(seen.text)
        if header:
            link, opener = header["name"], (seen.quoted(lines),)
            continue
        inet = _INET.match(seen.text)
        brief = _BRIEF.match(seen.text)
        if inet:
            yield _address(lines, seen, inet, link, opener)
        elif brief:
            yield from _brief(lines, seen, brief)
    yield from _from_json(lines)


def _is_own(text: str) -> bool:
    return any(shape.match(text) for shape in (HEADER, _INET, _BRIEF))


def _address(lines: Lines, seen: Seen, inet: re.Match[str], link: str | None, opener: tuple[Quote, ...]) -> Record | Problem:
    if not is_address(inet["address"]):
        return Problem(
            source=source(lines, "ip addr", seen.host),
            line_index=seen.index,
            why=Text(en="not an IP address", zh="不是 IP 地址"),
        )
    words = (inet["rest"] or "").split("\\")[0].split()
    return Address(
        source=source(lines, "ip addr", seen.host),
        quotes=(seen.quoted(lines),) if inet["name"] else (*opener, seen.quoted(lines)),
        link=inet["name"] or link or _label(words) or "?",
        address=inet["address"],
        prefix_length_number=int(inet["length"]),
        scope=value_after(words, "scope"),
    )


def _label(words: list[str]) -> str | None:
    """IPv4 lines end in the interface's name (`scope global dynamic eth0`)."""
    after = words[words.index("scope") + 2 :] if "scope" in words else []
    return (
        after[-1]
        if after and after[-1] not in ("dynamic", "noprefixroute", "nodad", "tentative", "secondary", "deprecated")
        else None
    )


def _brief(lines: Lines, seen: Seen, found: re.Match[str]) -> Iterator[Address]:
    for word_ in found["all"].split():
        address, _, length = word_.partition("/")
        if length.isdecimal() and is_address(address):
            yield Address(
                source=source(lines, "ip -br addr", seen.host),
                quotes=(seen.quoted(lines),),
                link=found["name"],
                address=address,
                prefix_length_number=int(length),
                scope="link" if address.lower().startswith("fe80:") else None,
            )


def _from_json(lines: Lines) -> Iterator[Address]:
    if '"addr_info"' not in lines.sample:
        return
    for document in documents(lines):
        for one in document.objects():
            name = word(one.get("ifname"))
            held = one.get("addr_info")
            for each in held if isinstance(held, list) and name else ():
                address = word(each.get("local")) if isinstance(each, dict) else None
                if address is None or name is None:
                    continue
                yield Address(
                    source=source(lines, "ip -j addr"),
                    quotes=(document.quoted(lines, f'"{address}"'),),
                    link=name,
                    address=address,
                    prefix_length_number=number(each.get("prefixlen")),
                    scope=word(each.get("scope")),
                )


READER = Reader(
    title=Text(en="addresses (ip addr)", zh="地址（ip addr）"),
    gives=(Address,),
    recognises=marked(_RECOGNISED),
    read=_read,
    obtained_by=("ip addr",),
)
