"""`ibnetdiscover`: each link as its switch sees it, with width and generation (`4xNDR`), and the hosts on each switch."""

from collections.abc import Iterator

from wirespeed.model.facts.cluster import NodeGroup
from wirespeed.model.facts.fabric import FabricLink
from wirespeed.model.kinds import Reader
from wirespeed.model.lines import Lines, quote, source
from wirespeed.model.record import Record
from wirespeed.model.source import Problem
from wirespeed.model.text import Text
from wirespeed.readers.parsing.infiniband import LANE_RATE_BITS_PER_S, rail_group
from wirespeed.readers.parsing.marks import marked
from wirespeed.readers.parsing.regex import regex

TOOL = "ibnetdiscover"

_NODE = regex(r"(?m)^(?P<kind>Switch|Ca|Rt)\s+\d{1,4}\s+\"[A-Z]-(?P<guid>[0-9a-f]{16})\"\s+#\s+\"(?P<name>[^\"\n]{0,80})\"")
_LINK = regex(
    r"^\[(?P<port>\d{1,3})\](?:\([0-9a-f]{1,16}\))?\s+\"[A-Z]-(?P<guid>[0-9a-f]{16})\"\[(?P<far_port>\d{1,3})\](?:\([0-9a-f]{1,16}\))?"
    r"(?:\[ext \d+\])?\s+#\s+(?:lid \d+ lmc \d+ )?\"(?P<name>[^\"]{0,80})\".{0,40}?\s(?P<lanes>\d{1,2})x(?P<speed>[SDQFEHNX]DR(?:10)?)\b"
)


def _read(lines: Lines) -> Iterator[Record | Problem]:
    switch: tuple[str, str] | None = None
    for index, line in lines:
        node = _NODE.match(line)
        if node:
            switch = (node["name"], node["guid"]) if node["kind"] == "Switch" else None
            continue
        found = _LINK.match(line) if switch else None
        if found is None or switch is None:
            continue
        quotes = (quote(lines, index, line),)
        yield FabricLink(
            source=source(lines, TOOL),
            quotes=quotes,
            near=switch[0],
            near_port=found["port"],
            far=found["name"],
            far_port=found["far_port"],
            width_lanes=int(found["lanes"]),
            lane_rate_bits_per_s=LANE_RATE_BITS_PER_S.get(found["speed"]),
        )
        group = rail_group(source(lines, TOOL), quotes, found["name"], switch[1])
        if group is not None:
            yield group


READER = Reader(
    title=Text(en="InfiniBand topology (ibnetdiscover)", zh="InfiniBand 拓扑（ibnetdiscover）"),
    gives=(FabricLink, NodeGroup),
    recognises=marked(_NODE),
    read=_read,
    obtained_by=("ibnetdiscover",),
)
