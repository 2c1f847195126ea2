"""/etc/hosts and `getent hosts`: which address a name has on this machine."""

from collections.abc import Iterator

from wirespeed.model.events.log import FrameworkEvent
from wirespeed.model.facts.host import HostsEntry
from wirespeed.model.kinds import Reader
from wirespeed.model.lines import Lines, source
from wirespeed.model.record import Record
from wirespeed.model.source import Problem
from wirespeed.model.text import Text
from wirespeed.readers.parsing.excerpt import Seen, arguments_of, excerpt
from wirespeed.readers.parsing.ip import is_address
from wirespeed.readers.parsing.marks import marked
from wirespeed.readers.parsing.regex import regex

_ROW = regex(
    r"^\s*(?P<address>\d{1,3}(?:\.\d{1,3}){3}|[0-9a-fA-F]*:[0-9a-fA-F:.]+)\s+(?P<names>[A-Za-z][\w.-]*"
    r"(?:\s+[A-Za-z][\w.-]*)*)\s*(?:#.*)?$"
)
_ANCHOR = regex(r"^\s*(?:127\.0\.\d\.1|::1)\s+[A-Za-z]\S*|/etc/hosts\b")
_RECOGNISED = regex(r"(?m)^[ \t]*(?:[\w.-]+: *)?(?:127\.0\.\d\.1|::1)\s+[A-Za-z]|/etc/hosts\b|\bgetent (?:a?hosts)")


def _read(lines: Lines) -> Iterator[Record | Problem]:
    is_hosts = False
    asked: Seen | None = None
    for seen in excerpt(lines, _ROW.match, ("getent",)):
        if asked is not None and seen.is_prompt:
            yield _not_found(lines, asked)
        asked = (seen if _name_asked(seen) else None) if seen.is_prompt else asked if not seen.text.strip() else None
        if seen.is_prompt:
            is_hosts = "/etc/hosts" in seen.text or "hosts" in " ".join(arguments_of(seen.command, "getent") or ())
            continue
        is_hosts = is_hosts or _ANCHOR.search(seen.text) is not None
        row = _ROW.match(seen.text) if is_hosts else None
        if row and is_address(row["address"]):
            for name in row["names"].split():
                yield HostsEntry(
                    source=source(lines, "hosts", seen.host),
                    quotes=(seen.quoted(lines),),
                    name=name,
                    address=row["address"],
                )


def _name_asked(seen: Seen) -> str | None:
    """The one name that `getent hosts NAME` looks up."""
    arguments = arguments_of(seen.command, "getent") or ()
    return arguments[1] if len(arguments) == 2 and arguments[0] in ("hosts", "ahosts", "ahostsv4", "ahostsv6") else None


def _not_found(lines: Lines, asked: Seen) -> FrameworkEvent:
    """The next prompt followed at once: `getent` prints nothing for a name it does not find."""
    return FrameworkEvent(
        source=source(lines, "hosts", asked.host),
        quotes=(asked.quoted(lines),),
        topic="name-not-resolved",
        message=asked.text.strip(),
        peer=_name_asked(asked),
    )


READER = Reader(
    title=Text(en="host names (/etc/hosts)", zh="主机名（/etc/hosts）"),
    gives=(HostsEntry, FrameworkEvent),
    recognises=marked(_RECOGNISED),
    read=_read,
    obtained_by=("getent hosts NAME",),
)
