"""`scontrol show job` and `show node`, in blocks or one a line (`-o`): where jobs run, how they ended, how nodes are and why."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from wirespeed.model.events.log import FrameworkEvent
from wirespeed.model.facts.cluster import JobNodes, NodeState
from wirespeed.model.kinds import Reader
from wirespeed.model.lines import Lines, quote, source
from wirespeed.model.record import Record
from wirespeed.model.settings import Setting
from wirespeed.model.source import Problem, Quote
from wirespeed.model.text import Text
from wirespeed.readers.parsing.host_lists import expanded
from wirespeed.readers.parsing.marks import marked
from wirespeed.readers.parsing.regex import regex
from wirespeed.readers.parsing.slurm import job_end, node_state

TOOL = "slurm"
MOST_LINE_CHARACTERS = 8_000

_BEGINS = regex(r"(?m)^[ \t]*(?P<kind>JobId|NodeName)=(?P<name>\S{1,255})(?=[ \t]|$)")
_JOB_FIELD = regex(r"(?:^|\s)(?P<key>JobState|ExitCode|NodeList|CPUs/Task|NumNodes)=(?P<value>\S*)")
_NODE_FIELD = regex(r"(?:^|\s)(?P<key>State)=(?P<value>[A-Z][A-Z_+*~#!%$@^-]*)")
_REASON = regex(r"(?:^|\s)Reason=(?P<reason>[^\n]+?)(?: \[\w[\w.-]*@[\dT:-]+\])?\s*$")
_PARTITION = regex(r"(?m)^[ \t]*(?:PartitionName|ReservationName)=\S")


@dataclass(slots=True)
class _Object:
    """One job or node."""

    kind: str
    name: str
    fields: dict[str, tuple[str, Quote]] = field(default_factory=dict)


def _read(lines: Lines) -> Iterator[Record | Problem]:
    at: _Object | None = None
    for index, line in lines:
        text = line[:MOST_LINE_CHARACTERS]
        begins = _BEGINS.match(text)
        is_parted = not text.strip() and at is not None and at.kind == "JobId"  # nodes hold a blank line before their reason
        if begins or is_parted or _PARTITION.match(text):
            yield from _finished(lines, at)
            at = _Object(begins["kind"], begins["name"]) if begins else None
        if at is None:
            continue
        said = quote(lines, index, line)
        for found in (_JOB_FIELD if at.kind == "JobId" else _NODE_FIELD).finditer(text):
            at.fields.setdefault(found["key"], (found["value"], said))
        reason = _REASON.search(text) if at.kind == "NodeName" else None
        if reason:
            at.fields["Reason"] = (reason["reason"].strip(), said)
    yield from _finished(lines, at)


def _finished(lines: Lines, at: _Object | None) -> Iterator[Record]:
    if at is None or not at.fields:
        return
    yield from _job(lines, at) if at.kind == "JobId" else _node(lines, at)


def _job(lines: Lines, at: _Object) -> Iterator[Record]:
    origin = source(lines, TOOL)
    listed, tasks, state = (at.fields.get(key) for key in ("NodeList", "CPUs/Task", "JobState"))
    nodes = expanded(listed[0]) if listed else ()
    if listed and nodes:
        yield JobNodes(source=origin, quotes=(listed[1],), job=at.name, nodes=nodes)
    if tasks and tasks[0].isdecimal() and len(tasks[0]) < 6:
        yield Setting(source=origin, quotes=(tasks[1],), name="cpus-per-task", setting=tasks[0], value=float(tasks[0]))
    if state:
        code = at.fields.get("ExitCode", ("", state[1]))
        yield from job_end(origin, tuple(dict.fromkeys((state[1], code[1]))), at.name, state[0], code[0])


def _node(lines: Lines, at: _Object) -> Iterator[NodeState]:
    state, reason = at.fields.get("State"), at.fields.get("Reason")
    if state:
        yield NodeState(
            source=source(lines, TOOL, at.name),
            quotes=tuple(one[1] for one in (state, reason) if one),
            nodes=(at.name,),
            state=node_state(state[0]),
            reason=reason[0] if reason else None,
        )


READER = Reader(
    title=Text(en="scontrol show (jobs, nodes)", zh="scontrol show（作业、节点）"),
    gives=(FrameworkEvent, JobNodes, NodeState, Setting),
    recognises=marked(_BEGINS),
    read=_read,
    obtained_by=("scontrol show job JOBID", "scontrol show node NODE"),
)
