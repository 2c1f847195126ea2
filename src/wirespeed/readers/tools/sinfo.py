"""`sinfo` by partition, by node (`-N`, `-lNe`) and with reasons (`-R`): which nodes are down or drained, and why."""

import re
from collections.abc import Iterator

from wirespeed.model.facts.cluster import NodeState
from wirespeed.model.kinds import Reader
from wirespeed.model.lines import Lines, quote, source
from wirespeed.model.record import Record
from wirespeed.model.source import Problem
from wirespeed.model.text import Text
from wirespeed.readers.parsing.host_lists import expanded
from wirespeed.readers.parsing.marks import marked
from wirespeed.readers.parsing.regex import regex
from wirespeed.readers.parsing.slurm import node_state

TOOL = "slurm"
MOST_LINE_CHARACTERS = 8_000

_STATE = r"[a-z]{3,14}[*~#!%$@^-]{0,2}"
_HEADINGS: dict[str, re.Pattern[str]] = {
    "partitions": regex(r"^\s*PARTITION\s+AVAIL\s+TIMELIMIT\b"),
    "nodes": regex(r"^\s*NODELIST\s+NODES\s+PARTITION\s+STATE\b"),
    "reasons": regex(r"^\s*REASON\s+USER\s+TIMESTAMP\s+(?:STATE\s+)?NODELIST\b"),
}
_ROWS: dict[str, re.Pattern[str]] = {
    "partitions": regex(
        rf"^\s*\S+\s+(?:up|down|drain|inact)\s+\S+\s+(?:\S+\s+){{0,6}}?(?P<state>{_STATE})\s+(?:\S+\s+)?(?P<nodes>\S+)\s*$"
    ),
    "nodes": regex(
        rf"^\s*(?P<nodes>\S+)\s+\d{{1,6}}\s+\S+\s+(?P<state>{_STATE})(?:\s+\d\S*\s+\S+:\S+:\S+\s+\d+\s+\d+\s+\d+\s+\S+\s+(?P<reason>\S.*?))?\s*$"
    ),
    "reasons": regex(
        rf"^\s*(?P<reason>\S.{{0,400}}?)\s+[\w.()-]+\s+(?:\d{{4}}-\d\d-\d\dT[\d:]{{8}}|Unknown)\s+(?:(?P<state>{_STATE})\s+)?(?P<nodes>\S+)\s*$"
    ),
}


def _read(lines: Lines) -> Iterator[Record | Problem]:
    table: str | None = None
    for index, line in lines:
        text = line[:MOST_LINE_CHARACTERS]
        heading = next((name for name, shape in _HEADINGS.items() if shape.match(text)), None)
        if heading:
            table = heading
            continue
        found = _ROWS[table].match(text) if table else None
        if found is None:
            table = None
            continue
        nodes = expanded(found["nodes"])
        told = found.groupdict()
        if nodes:
            reason = told.get("reason")
            yield NodeState(
                source=source(lines, TOOL),
                quotes=(quote(lines, index, line),),
                nodes=nodes,
                state=node_state(told["state"]) if told["state"] else "drained",
                reason=reason if reason and reason != "none" else None,
            )


READER = Reader(
    title=Text(en="sinfo", zh="sinfo"),
    gives=(NodeState,),
    recognises=marked(*(rf"(?m){shape.pattern}".replace(r"\s", r"[ \t]") for shape in _HEADINGS.values())),
    read=_read,
    obtained_by=("sinfo -R", "sinfo -lNe"),
)
