"""`kubectl get` of pods (`-o wide`), nodes and services: where pods run, which were killed, which nodes are not ready, where nodes stand.

Place labels are read from `--show-labels` and from the columns of `-L` whose heading names a place (`ZONE`, `RACK`, `CLIQUE`).
"""

import re
from collections.abc import Iterator

from wirespeed.model.events.log import FrameworkEvent
from wirespeed.model.facts.cluster import JobNodes, NodeGroup, NodeState
from wirespeed.model.kinds import Reader
from wirespeed.model.lines import Lines, quote, source
from wirespeed.model.record import Record
from wirespeed.model.settings import Setting
from wirespeed.model.source import Problem, Quote
from wirespeed.model.text import Text
from wirespeed.readers.parsing.kubernetes import PLACE_LABEL, ended, setting_of
from wirespeed.readers.parsing.kubernetes_state import job_of
from wirespeed.readers.parsing.marks import marked
from wirespeed.readers.parsing.regex import regex

TOOL = "kubectl get"
MOST_LINE_CHARACTERS = 8_000

_NAME = r"[a-z0-9][a-z0-9.-]{0,252}"
_AGE = r"(?:\d+[smhdy]){1,3}|<unknown>|<invalid>"
_POD = regex(
    rf"(?m)^[ \t]*(?:{_NAME}[ \t]+)?(?P<name>(?:pod/)?{_NAME})[ \t]+\d{{1,3}}/\d{{1,3}}[ \t]+(?P<status>[A-Z]\w+(?::\w+(?::\d+|/\d+)?)?)"
    rf"[ \t]+\d{{1,6}}(?: \((?:{_AGE}) ago\))?[ \t]+(?:{_AGE})(?:[ \t]+(?P<ip>[\d.:a-f]{{2,45}}|<none>)[ \t]+(?P<node>{_NAME}|<none>)(?:[ \t].*)?)?[ \t]*$"
)
_NODE = regex(
    rf"(?m)^[ \t]*(?P<name>{_NAME})[ \t]+(?P<status>(?:Not)?Ready(?:,[A-Za-z,]{{1,80}})?)[ \t]+(?P<roles>[\w,<>-]{{1,200}})[ \t]+(?:{_AGE})[ \t]+v\d+\.\d+\S*(?P<rest>.*)$"
)
_SERVICE = regex(
    rf"(?m)^[ \t]*(?:{_NAME}[ \t]+)?(?:service/)?{_NAME}[ \t]+(?P<type>ClusterIP|NodePort|LoadBalancer)[ \t]+(?P<ip>[\d.:a-f]{{2,45}}|None)[ \t]+\S+"
    rf"[ \t]+\d{{1,5}}(?::\d{{1,5}})?/(?:TCP|UDP|SCTP)\S*[ \t]+(?:{_AGE})(?:[ \t].*)?$"
)
_NODE_HEADING = regex(r"^\s*NAME\s+STATUS\s+ROLES\s+AGE\s+VERSION(?P<rest>.*)$")
_LABELS = regex(r"(?:^|[\s,])(?P<key>[\w./-]{1,317})=(?P<value>[\w.-]{1,63})(?=,|\s|$)")


def _read(lines: Lines) -> Iterator[Record | Problem]:
    columns: list[str] = []
    heading: Quote | None = None
    for index, line in lines:
        text = line[:MOST_LINE_CHARACTERS]
        headed = _NODE_HEADING.match(text)
        if headed:
            columns, heading = headed["rest"].split(), quote(lines, index, line)
            continue
        node = _NODE.match(text)
        if node:
            yield from _of_node(lines, quote(lines, index, line), node, columns, heading)
            continue
        service = _SERVICE.match(text)
        if service:
            quotes = (quote(lines, index, line),)
            yield setting_of(source(lines, TOOL), quotes, "Service.type", service["type"])
            yield setting_of(source(lines, TOOL), quotes, "clusterIP", service["ip"])
            continue
        pod = _POD.match(text)
        if pod:
            yield from _of_pod(lines, quote(lines, index, line), pod)


def _of_pod(lines: Lines, said: Quote, found: re.Match[str]) -> Iterator[Record]:
    name = found["name"].removeprefix("pod/")
    if found["status"] == "OOMKilled":
        event = ended(source(lines, TOOL), (said,), name, "OOMKilled", None)
        if event is not None:
            yield event
    job = job_of(name)
    if job and found["status"] == "Running" and found["node"] and found["node"] != "<none>":
        yield JobNodes(source=source(lines, TOOL), quotes=(said,), job=job, nodes=(found["node"],))


def _of_node(lines: Lines, said: Quote, found: re.Match[str], columns: list[str], heading: Quote | None) -> Iterator[Record]:
    name, status = found["name"], found["status"]
    state = "not-ready" if status.startswith("NotReady") else "ready"
    yield NodeState(
        source=source(lines, TOOL, name), quotes=(said,), nodes=(name,), state=state, reason=status.partition(",")[2] or None
    )
    for label in _LABELS.finditer(found["rest"]):
        if PLACE_LABEL.search(label["key"]):
            yield _group(lines, (said,), name, label["key"], label["value"])
    cells = found["rest"].split()
    if heading is not None and len(cells) == len(columns):
        for column, cell in zip(columns, cells, strict=True):
            if PLACE_LABEL.search(column) and cell != "<none>":
                yield _group(lines, (heading, said), name, column.lower(), cell)


def _group(lines: Lines, quotes: tuple[Quote, ...], node: str, level: str, place: str) -> NodeGroup:
    return NodeGroup(source=source(lines, TOOL, node), quotes=quotes, level=level, name=place, nodes=(node,))


READER = Reader(
    title=Text(en="kubectl get (pods, nodes, services)", zh="kubectl get（Pod、节点、服务）"),
    gives=(FrameworkEvent, JobNodes, NodeGroup, NodeState, Setting),
    recognises=marked(_POD, _NODE, _SERVICE),
    read=_read,
    obtained_by=("kubectl get pods -o wide", "kubectl get nodes --show-labels", "kubectl get services"),
    voice="loose",
)
