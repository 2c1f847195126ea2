"""`ip neigh` (also `-j`) and `arp`: the neighbour tables."""

import re
from collections.abc import Iterator

from wirespeed.model.facts.path import Neighbour
from wirespeed.model.kinds import Reader
from wirespeed.model.lines import Lines, source
from wirespeed.model.record import Record
from wirespeed.model.source import Problem
from wirespeed.model.text import Text
from wirespeed.readers.parsing.excerpt import Seen, excerpt
from wirespeed.readers.parsing.ip import is_address
from wirespeed.readers.parsing.json_excerpt import documents, word
from wirespeed.readers.parsing.marks import marked

_STATES = "REACHABLE|STALE|DELAY|PROBE|FAILED|INCOMPLETE|PERMANENT|NOARP|NONE"
_ADDRESS = r"(?P<address>[0-9A-Fa-f.:]+)"
_MAC = r"(?P<mac>[0-9A-Fa-f]{2}(?::[0-9A-Fa-f]{2}){5,19})"
_IP_NEIGH = re.compile(rf"^\s*{_ADDRESS} dev (?P<link>\S+)(?: lladdr {_MAC})?(?: \w+)*? +(?P<state>{_STATES})\s*$")
_ARP_TABLE = re.compile(rf"^{_ADDRESS} +(?:ether|infiniband) +{_MAC} +[A-Z]+ +(?P<link>[\w.-]+)\s*$")
_ARP_MISSING = re.compile(rf"^{_ADDRESS} +\(incomplete\) +(?P<link>[\w.-]+)\s*$")
_ARP_ALL = re.compile(rf"^\S+ \({_ADDRESS}\) at (?:{_MAC}|<incomplete>)(?: \[\w+\])?(?: on (?P<link>\S+))?")
_SHAPES = (_IP_NEIGH, _ARP_TABLE, _ARP_MISSING, _ARP_ALL)
_RECOGNISED = re.compile(
    rf"(?m) dev \S+ [^\n]{{0,80}}\b(?:{_STATES})[ \t]*$|^\S+ \([0-9a-f.:]+\) at |^\S+ +(?:ether +[0-9a-f]{{2}}:"
    rf"|\(incomplete\) )|\"lladdr\""
)


def _read(lines: Lines) -> Iterator[Record | Problem]:
    for seen in excerpt(lines, _found):
        found = _found(seen.text)
        if found and is_address(found["address"]):
            yield _neighbour(lines, seen, found)
    yield from _from_json(lines)


def _found(text: str) -> re.Match[str] | None:
    return next((found for shape in _SHAPES if (found := shape.match(text))), None)


def _neighbour(lines: Lines, seen: Seen, found: re.Match[str]) -> Neighbour:
    groups = found.groupdict()
    is_missing = found.re is _ARP_MISSING or (found.re is _ARP_ALL and groups["mac"] is None)
    return Neighbour(
        source=source(lines, "ip neigh" if found.re is _IP_NEIGH else "arp", seen.host),
        quotes=(seen.quoted(lines),),
        address=found["address"],
        link=found["link"],
        mac_address=groups.get("mac"),
        state=groups.get("state") or ("INCOMPLETE" if is_missing else None),
    )


def _from_json(lines: Lines) -> Iterator[Neighbour]:
    if '"dst"' not in lines.sample or '"state"' not in lines.sample:
        return
    for document in documents(lines):
        for one in document.objects():
            address = word(one.get("dst"))
            states = one.get("state")
            if address is None or not isinstance(states, list) or not is_address(address):
                continue
            yield Neighbour(
                source=source(lines, "ip -j neigh"),
                quotes=(document.quoted(lines, f'"{address}"'),),
                address=address,
                link=word(one.get("dev")),
                mac_address=word(one.get("lladdr")),
                state=word(states[0]) if states else None,
            )


READER = Reader(
    title=Text(en="neighbour tables (ip neigh, arp)", zh="邻居表（ip neigh、arp）"),
    gives=(Neighbour,),
    recognises=marked(
        _RECOGNISED,
        '"dst"',
        confirmed=lambda sample: _RECOGNISED.search(sample) is not None or ('"dst"' in sample and '"state"' in sample),
    ),
    read=_read,
    obtained_by=("ip neigh",),
)
