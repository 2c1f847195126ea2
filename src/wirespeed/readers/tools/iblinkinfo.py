"""`iblinkinfo`, by node or one a line (`-l`): links that are up, with what they could be. Ports without a partner are passed over."""

from collections.abc import Iterator

from wirespeed.model.facts.cluster import NodeGroup
from wirespeed.model.facts.fabric import FabricLink
from wirespeed.model.kinds import Reader
from wirespeed.model.lines import Lines, quote, source
from wirespeed.model.record import Record
from wirespeed.model.source import Problem
from wirespeed.model.text import Text
from wirespeed.readers.parsing.infiniband import rail_group
from wirespeed.readers.parsing.marks import marked
from wirespeed.readers.parsing.regex import regex

TOOL = "iblinkinfo"
_GIGA = 1e9

_NODE = regex(r"^\s*(?P<kind>Switch|CA|Router): (?:(?P<guid>0x[0-9a-f]{8,16}) )?(?P<name>\S.{0,80}?):\s*$")
_LINK = regex(
    r"\s(?P<port>\d{1,3})\[[ \d]{0,4}\] ==\( ?(?:(?P<lanes>\d{1,2})X *(?P<rate>\d{1,4}(?:\.\d{1,6})?) Gbps +)?"
    r"(?P<state>[A-Z][a-z]{2,11}) ?/ *(?P<physical>[A-Za-z]{2,24})\)==>(?P<far>[^\"]{0,80})\"(?P<name>[^\"]{0,80})\" *\((?P<note>[^()]{0,160})\)"
)
_QUOTED_NAME = regex(r"\"(?P<name>[^\"]{1,80})\"")
_GUID = regex(r"0x[0-9a-f]{8,16}")
_FAR_PORT = regex(r"(?P<port>\d{1,3})\[[ \d]{0,4}\]\s*$")


def _read(lines: Lines) -> Iterator[Record | Problem]:
    node, place = "", ""
    for index, line in lines:
        heading = _NODE.match(line)
        if heading:
            node, place = heading["name"], (heading["guid"] or heading["name"]) if heading["kind"] == "Switch" else ""
            continue
        found = _LINK.search(line) if "==(" in line else None
        if found is None or found["state"] == "Down":
            continue
        before = line[: found.start()]
        named, guid, port = _QUOTED_NAME.search(before), _GUID.search(before), _FAR_PORT.search(found["far"])
        near = named["name"].strip() if named else node or (guid[0] if guid else "?")
        note = found["note"].strip()
        quotes = (quote(lines, index, line),)
        yield FabricLink(
            source=source(lines, TOOL),
            quotes=quotes,
            near=near,
            near_port=found["port"],
            far=found["name"],
            far_port=port["port"] if port else None,
            state=found["state"].lower(),
            width_lanes=int(found["lanes"]) if found["lanes"] else None,
            lane_rate_bits_per_s=float(found["rate"]) * _GIGA if found["rate"] else None,
            could_be=" ".join(note.split()) or None,
        )
        switch = guid[0] if named and guid else place
        group = rail_group(source(lines, TOOL), quotes, found["name"], switch) if switch else None
        if group is not None:
            yield group


READER = Reader(
    title=Text(en="InfiniBand links (iblinkinfo)", zh="InfiniBand 链路（iblinkinfo）"),
    gives=(FabricLink, NodeGroup),
    recognises=marked(_LINK),
    read=_read,
    obtained_by=("iblinkinfo -l",),
)
