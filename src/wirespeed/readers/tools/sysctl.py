"""`sysctl -a`, sysctl.conf and files below /proc/sys: kernel settings."""

import re
from collections.abc import Iterator

from wirespeed.model.facts.host import Sysctl
from wirespeed.model.kinds import Reader
from wirespeed.model.lines import Lines, source
from wirespeed.model.record import Record
from wirespeed.model.source import Problem, Quote
from wirespeed.model.text import Text
from wirespeed.readers.parsing.excerpt import Seen, excerpt
from wirespeed.readers.parsing.marks import marked
from wirespeed.readers.parsing.regex import regex

_ROOTS = r"(?:net|kernel|vm|fs|user|sunrpc)"
_DOTTED = regex(
    rf"^\s*(?:sysctl (?:-w )?)?-?(?P<name>{_ROOTS}(?:[./][\w.:/-]*\w))\s*[=:]\s*(?P<setting>[^\s#;][^#;]*)?(?:[#;].*)?$"
)
_BARE = regex(rf"^\s*(?P<name>{_ROOTS}\.(?:[\w-]+\.)+\w+)\s+(?P<setting>-?\d+(?:\s+-?\d+)*)\s*$")
_PATH = regex(r"^\s*/proc/sys/(?P<name>[\w./:-]*\w)\s*(?:[:=]|\s)\s*(?P<setting>\S.*)$")
_CONNTRACK = regex(r"^\s*(?P<name>nf_conntrack_(?:count|max|buckets))\s*[:=]?\s*(?P<setting>\d+)\s*$")
_ASSIGNED = regex(rf"\b(?P<name>{_ROOTS}\.[\w.-]{{1,120}})=(?P<setting>\"[^\"]*\"|'[^']*'|\S+)")
_VALUE = regex(r"^\s*(?P<setting>-?\d+(?:\s+-?\d+)*|[a-z][\w ]{0,60})\s*$")
_RECOGNISED = regex(
    rf"(?m)^[ \t]*(?:[\w.-]+: *)?(?:sysctl (?:-w )?)?-?{_ROOTS}[./][\w./-]+\s*[=:]|/proc/sys/\w|\bnf_conntrack_"
    rf"(?:count|max)\b|\bsysctl\b[^\n]*\b{_ROOTS}\."
    rf"|^[ \t]*{_ROOTS}\.\w+\.[\w.]+\s+\d"
)
_SHAPES = (_DOTTED, _BARE, _PATH, _CONNTRACK)


def _read(lines: Lines) -> Iterator[Record | Problem]:
    asked: list[str] = []
    prompt: Quote | None = None
    for seen in excerpt(lines, _is_own):
        if seen.is_prompt:
            asked, prompt = _asked(seen.command), seen.quoted(lines)
            for found in _ASSIGNED.finditer(seen.text) if "sysctl" in seen.text else ():
                yield _sysctl(lines, seen, found["name"], found["setting"].strip("'\""))
            continue
        named = next((match for shape in _SHAPES if (match := shape.match(seen.text))), None)
        value = _VALUE.match(seen.text) if asked and not named else None
        if named and named["setting"] is not None:
            yield _sysctl(lines, seen, named["name"], named["setting"])
        elif value and prompt:
            yield _sysctl(lines, seen, asked.pop(0), value["setting"], prompt)
        elif seen.text.strip():
            asked = []


def _is_own(text: str) -> bool:
    return any(shape.match(text) for shape in _SHAPES)


def _asked(command: tuple[str, ...]) -> list[str]:
    """Names whose bare values follow: `cat /proc/sys/net/core/rmem_max` or `sysctl -n net.core.rmem_max`."""
    words = [word.strip("'\";") for word in command]
    paths = [word.removeprefix("/proc/sys/") for word in words if word.startswith("/proc/sys/") and "*" not in word]
    if "cat" in words:
        return paths
    if "sysctl" in words and "-n" in words:
        return [word for word in words if re.match(rf"{_ROOTS}\.", word)]
    return []


def _sysctl(lines: Lines, seen: Seen, name: str, setting: str, prompt: Quote | None = None) -> Sysctl:
    quotes = (seen.quoted(lines),) if prompt is None else (prompt, seen.quoted(lines))
    return Sysctl(source=source(lines, "sysctl", seen.host), quotes=quotes, name=_dotted(name), setting=setting.strip())


def _dotted(name: str) -> str:
    """The dotted name of a path; dots inside a component (`eth0.100`) become slashes, as sysctl(8) writes them."""
    if name.startswith("nf_conntrack_"):
        return f"net.netfilter.{name}"
    if "/" not in name:
        return name
    return name.translate(str.maketrans("/.", "./"))


READER = Reader(
    title=Text(en="kernel settings (sysctl)", zh="内核参数（sysctl）"),
    gives=(Sysctl,),
    recognises=marked(_RECOGNISED),
    read=_read,
    obtained_by=("sysctl -a",),
)
