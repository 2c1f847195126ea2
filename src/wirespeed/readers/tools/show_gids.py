"""`show_gids`: the RoCE GID table, one line an entry; the IPv4 column may be empty."""

from collections.abc import Iterator

from wirespeed.model.facts.rdma import Gid
from wirespeed.model.kinds import Reader
from wirespeed.model.lines import Lines, quote, source
from wirespeed.model.record import Record
from wirespeed.model.source import Problem
from wirespeed.model.text import Text
from wirespeed.readers.parsing.excerpt import excerpt
from wirespeed.readers.parsing.marks import marked
from wirespeed.readers.parsing.regex import regex

_ENTRY = regex(
    r"(?:^|\s)(?P<device>[A-Za-z][\w.-]{1,63})\s+(?P<port>\d{1,3})\s+(?P<index>\d{1,4})"
    r"\s+(?P<gid>(?:[0-9a-fA-F]{4}:){7}[0-9a-fA-F]{4})"
    r"(?:\s+(?P<ipv4>\d{1,3}(?:\.\d{1,3}){3}))?(?:\s+(?P<version>v[12]))?(?:\s+(?P<link>[\w.@-]{1,32}))?\s*$"
)
_START = regex(r"^\s*(?:mlx|bnxt|roce|irdma|hns)\w*\s+\d{1,3}\s+\d{1,4}\s+[0-9a-fA-F]{4}:")
_RECOGNISED = regex(
    r"(?m)^\s*DEV\s+PORT\s+INDEX\s+GID"
    r"|\s\d{1,4}\s{1,16}(?:[0-9a-fA-F]{4}:){7}[0-9a-fA-F]{4}"
)
_BAD_ENTRY = Text(en="an entry of the GID table could not be read", zh="GID 表的一项无法读取")


def _read(lines: Lines) -> Iterator[Record | Problem]:
    for seen in excerpt(lines, _ENTRY.search):
        index, line = seen.index, seen.line
        found = None if seen.is_prompt else _ENTRY.search(line)
        if found:
            yield Gid(
                source=source(lines, "show_gids", seen.host),
                quotes=(quote(lines, index, line),),
                device=found["device"],
                port=int(found["port"]),
                index=int(found["index"]),
                gid=found["gid"].lower(),
                ipv4=found["ipv4"],
                roce_version="v1" if found["version"] == "v1" else "v2" if found["version"] == "v2" else None,
                link=found["link"],
            )
        elif _START.match(line):
            yield Problem(source=source(lines, "show_gids"), why=_BAD_ENTRY, line_index=index)


READER = Reader(
    title=Text(en="show_gids", zh="show_gids"),
    gives=(Gid,),
    recognises=marked(_RECOGNISED),
    read=_read,
    obtained_by=("show_gids",),
)
