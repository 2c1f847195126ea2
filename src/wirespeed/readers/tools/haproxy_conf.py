"""HAProxy configuration: whole files and single lines; a directive's name is its first word (`timeout`, `option`, `server`)."""

import re
from collections.abc import Iterator

from wirespeed.model.kinds import Reader
from wirespeed.model.lines import Lines, quote, source
from wirespeed.model.record import Record
from wirespeed.model.settings import Directive
from wirespeed.model.source import Problem
from wirespeed.model.text import Text
from wirespeed.readers.parsing.marks import marked
from wirespeed.readers.parsing.regex import regex

_SECTION = regex(
    r"^(?:\s*(?=global|defaults))?(?P<kind>global|defaults|frontend|backend|listen|peers|resolvers|userlist|cache|program|ring|http-errors|fcgi-app)"
    r"(?:\s+(?P<name>[\w.:-]+))?(?:\s+from\s+[\w.-]+)?\s*(?:#.*)?$"
)
_ALONE = regex(r"^\s*(?:global|defaults)\s*(?:#.*)?$|^(?:frontend|backend|listen)\s+[\w.:-]+\s*(?:#.*)?$")
_SURE = regex(
    r"^\s*(?:(?:no )?option (?:http-(?:server-close|keep-alive|no-delay|buffer-request|use-htx|pretend-keepalive)|httpclose|httplog|tcplog|redispatch"
    r"|forwardfor|httpchk|splice-\w+|tcp-smart-\w+|clitcpka|srvtcpka|tcpka|dontlognull|abortonclose|persist|logasap)\b[^;{]*$"
    r"|timeout (?:connect|client|client-fin|server|server-fin|http-request|http-keep-alive|tunnel|queue|check|tarpit) \d{1,15}(?:us|ms|s|m|h|d)?"
    r"|balance (?:roundrobin|leastconn|first|source|uri|hdr|random|static-rr)\b[^;{]*$|http-reuse (?:never|safe|aggressive|always)"
    r"|(?:default_backend|use_backend) [\w.-]+[^;{]*$|tune\.[\w.-]+ \S+|(?:default-)?server (?:[\w.-]+ )?\S+:\d{1,15} (?:[^;{]*\b(?:check|maxconn|inter|weight|backup|proto|ssl)\b)[^;{]*$"
    r"|compression (?:algo|type|offload)\b[^;{]*$)\s*(?:#.*)?$"
)
_KEYWORD = regex(
    r"^\s+(?P<word>[a-z][a-z0-9._-]*)(?:\s|$)"
    r"|^(?:bind \S*:\d|mode (?:http|tcp)|server \S+ \S+:\d|(?:maxconn|retries) \d|acl \S+ \S|option \S|timeout \S+ \d)"
)
_NOT_OURS = regex(r"[;{]\s*(?:#.*)?$|^\s*[\w.-]+:(?:\s|$)")
_WORD = regex(
    r"\"(?P<double>(?:[^\"\\]|\\.)*)\"|'(?P<single>[^']*)'|(?P<escaped>\\.)|(?P<space>\s+)|(?P<comment>#.*)|(?P<plain>[^\s\"'\\#]+|.)"
)


def _read(lines: Lines) -> Iterator[Record | Problem]:
    block: str | None = None
    for index, line in lines:
        section = _SECTION.match(line)
        if section and (_ALONE.match(line) or section["name"] or block is not None):
            block = " ".join(part for part in (section["kind"], section["name"]) if part)
            continue
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        is_inside = block is not None and _KEYWORD.match(line) is not None and _NOT_OURS.search(line) is None
        if not is_inside and not _SURE.match(line):
            block = None if block is not None and not line[:1].isspace() else block
            continue
        words = _words(line)
        if words is None:
            why = Text(en="a quotation mark is not closed on this line", zh="该行引号没有闭合")
            yield Problem(source=source(lines, "haproxy"), why=why, line_index=index)
        elif words:
            yield Directive(
                source=source(lines, "haproxy"),
                quotes=(quote(lines, index, line),),
                server="haproxy",
                name=words[0],
                arguments=tuple(words[1:]),
                block=block or "",
            )


def _words(line: str) -> list[str] | None:
    """The words of a line as HAProxy splits it: quotes, backslashes, `#`; None where a quotation mark stays open."""
    words: list[str] = []
    part: str | None = None
    for found in _WORD.finditer(line):
        kind = found.lastgroup
        if kind == "comment":
            break
        if kind == "space":
            if part is not None:
                words.append(part)
            part = None
        elif kind == "plain" and found[0] in "\"'":
            return None
        elif kind is not None:
            text = found[kind] if kind == "single" else re.sub(r"\\(.)", r"\1", found[kind])
            part = (part or "") + text
    return words if part is None else [*words, part]


def _recognises(sample: str) -> bool:
    lines = sample.split("\n")
    if any(_SURE.match(line) for line in lines):
        return True
    return sum(1 for line in lines if _ALONE.match(line)) >= 2


READER = Reader(
    title=Text(en="HAProxy configuration", zh="HAProxy 配置"),
    gives=(Directive,),
    recognises=marked(_ALONE, _SURE, confirmed=_recognises),
    read=_read,
    obtained_by=("cat /etc/haproxy/haproxy.cfg",),
)
