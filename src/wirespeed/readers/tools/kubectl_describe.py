"""`kubectl describe` of pods, nodes and services, whole or in parts: containers and how they ended, devices offered, place labels.

The events at the end have their own reader. What `describe` does not print (capabilities, privileges) is unknown: `missing` says so.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from wirespeed.model.events.log import FrameworkEvent
from wirespeed.model.facts.cluster import JobNodes, NodeGroup, NodeState
from wirespeed.model.facts.host import ContainerState, CpuQuota, EnvVar
from wirespeed.model.kinds import Reader
from wirespeed.model.lines import Lines, source
from wirespeed.model.record import Record
from wirespeed.model.secrets import REDACTED, is_secret_name
from wirespeed.model.settings import Setting
from wirespeed.model.source import Problem, Quote, Reason
from wirespeed.model.text import Text
from wirespeed.readers.parsing.kubernetes import PLACE_LABEL, bytes_of, cpus_of, ended, setting_of
from wirespeed.readers.parsing.kubernetes_state import JOB_LABELS, job_of, node_state
from wirespeed.readers.parsing.marks import marked
from wirespeed.readers.parsing.outline import Entry, outline
from wirespeed.readers.parsing.regex import regex

TOOL = "kubectl describe"
MOST_CONTAINERS = 200
MOST_QUOTES = 12

_RECOGNISED = regex(
    r"(?m)^(?:Capacity|Allocatable|Containers|Init Containers):[ \t]*$|^[ \t]+(?:Last )?State:[ \t]+(?:Running|Waiting|Terminated)[ \t]*$"
    r"|^(?:Session Affinity|TargetPort|Endpoints):[ \t]+\S|^[ \t]+(?:Limits|Requests):[ \t]*$|^Node:[ \t]+\S+/[\d.:a-f]+[ \t]*$"
    r"|^[ \t]+Ready[ \t]+(?:False|Unknown)[ \t]+\w{3}, "
)
_LABEL = regex(r"^(?P<key>[\w./-]{1,317})=(?P<value>[\w.-]{0,63})$")
_PAIR = regex(r"^(?P<key>[\w./-]{1,317}):\s(?P<value>\S.*)$")
_MOUNT = regex(r"^(?P<path>/\S*) from (?P<volume>\S+) \(")
_CONDITION = regex(r"^(?P<kind>[A-Z]\w+)\s+(?P<status>True|False|Unknown)\s+(?P<rest>\S.*)$")
_STAMP = regex(r"\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d [+-]\d{4}")
_CONTAINERS = ("Containers", "Init Containers", "Ephemeral Containers")
_CONTAINER_NAME = regex(r"^[a-z0-9][a-z0-9-]{0,62}$")
_PARTS = frozenset({"State", "Last State", "Limits", "Requests"})
"""Sections of a container that are quoted alone."""
_SECTIONS = _PARTS | {"Environment", "Mounts", "Host Port", "Host Ports"}
_SERVICE_KEYS = {
    "Type": "Service.type",
    "IP": "clusterIP",
    "Session Affinity": "sessionAffinity",
    "Endpoints": "Endpoints",
    "Port": "Service.port",
}
_NOT_PRINTED: dict[str, Reason] = {"capabilities": "unsupported", "is_privileged": "unsupported"}


@dataclass(slots=True)
class _Container:
    """One container as it is read."""

    name: str
    quotes: list[Quote]
    limits: dict[str, tuple[str, Quote]] = field(default_factory=dict)
    mounts: dict[str, str] = field(default_factory=dict)
    host_ports: list[str] = field(default_factory=list)


@dataclass(slots=True)
class _Object:
    """What is described: a pod, a node, a service or a part of one of them."""

    name: str = ""
    node: str = ""
    node_quote: Quote | None = None
    labels: dict[str, str] = field(default_factory=dict)
    containers: list[_Container] = field(default_factory=list)
    volumes: dict[str, dict[str, tuple[str, Quote]]] = field(default_factory=dict)
    is_service: bool = False
    service: list[tuple[str, str, Quote]] = field(default_factory=list)
    ending: dict[str, tuple[str, Quote]] = field(default_factory=dict)


def _read(lines: Lines) -> Iterator[Record | Problem]:
    at = _Object()
    top = ""
    for entry in outline(lines):
        if entry.has_key and entry.indent == 0:
            yield from _ended(lines, at)
            top = entry.keys[0]
            if top in _PARTS:
                yield from _in_container(lines, at, entry)
            if top == "Name":
                yield from _finished(lines, at)
                at = _Object(name=entry.value)
            yield from _head(lines, at, entry)
        elif top in _CONTAINERS:
            yield from _in_container(lines, at, entry)
        elif top in ("Capacity", "Allocatable"):
            if entry.has_key and "/" in entry.keys[-1] and entry.value:
                name = f"{top.lower()}.{entry.keys[-1]}"
                yield setting_of(source(lines, TOOL, at.name or None), (entry.quoted(lines),), name, entry.value)
        elif top == "Labels":
            yield from _label(lines, at, entry, entry.line.strip())
        elif top == "Annotations":
            yield from _annotation(lines, entry, entry.line.strip())
        elif top == "Conditions":
            yield from _condition(lines, at, entry)
        elif top == "Volumes" and entry.has_key and len(entry.keys) > 2:
            at.volumes.setdefault(entry.keys[1], {})[entry.keys[2]] = (entry.value, entry.quoted(lines))
        elif any(key in _PARTS for key in entry.keys):
            yield from _in_container(lines, at, entry)
    yield from _ended(lines, at)
    yield from _finished(lines, at)


def _head(lines: Lines, at: _Object, entry: Entry) -> Iterator[Record]:
    """A line without indentation."""
    key, said = entry.keys[0], entry.quoted(lines)
    if key == "Node":
        at.node, at.node_quote = entry.value.partition("/")[0], said
    elif key == "Labels":
        yield from _label(lines, at, entry, entry.value)
    elif key == "Annotations":
        yield from _annotation(lines, entry, entry.value)
    elif key in ("Selector", "TargetPort"):
        at.is_service = True
    if key in _SERVICE_KEYS and entry.value:
        at.is_service = at.is_service or key in ("Session Affinity", "Endpoints")
        at.service.append((_SERVICE_KEYS[key], entry.value, said))


def _label(lines: Lines, at: _Object, entry: Entry, text: str) -> Iterator[Record]:
    found = _LABEL.match(text)
    if found is None:
        return
    at.labels[found["key"]] = found["value"]
    if PLACE_LABEL.search(found["key"]) and found["value"] and at.name:
        yield NodeGroup(
            source=source(lines, TOOL, at.name),
            quotes=(entry.quoted(lines),),
            level=found["key"],
            name=found["value"],
            nodes=(at.name,),
        )


def _annotation(lines: Lines, entry: Entry, text: str) -> Iterator[Setting]:
    found = _PAIR.match(text)
    if found and "/" in found["key"] and not found["key"].endswith("last-applied-configuration"):
        yield setting_of(source(lines, TOOL), (entry.quoted(lines),), found["key"], found["value"])


def _condition(lines: Lines, at: _Object, entry: Entry) -> Iterator[NodeState]:
    """A row of a node's conditions; those of a pod have no time stamps."""
    found = _CONDITION.match(entry.line.strip())
    if found is None or not _STAMP.search(found["rest"]) or not at.name:
        return
    is_bad = found["status"] == "True" and found["kind"].endswith(
        ("Unavailable", "Pressure", "Deadlock", "Filesystem", "Xid", "Error")
    )
    if found["kind"] == "Ready" or is_bad:
        yield NodeState(
            source=source(lines, TOOL, at.name),
            quotes=(entry.quoted(lines),),
            nodes=(at.name,),
            state=node_state(found["kind"], found["status"]),
            reason=": ".join(re.split(r"\s{2,}", _STAMP.sub("", found["rest"]).strip(), maxsplit=1)) or None,
        )


def _in_container(lines: Lines, at: _Object, entry: Entry) -> Iterator[Record]:
    said = entry.quoted(lines)
    if entry.has_key and len(entry.keys) == 2 and entry.keys[0] in _CONTAINERS:
        yield from _ended(lines, at)
        if len(at.containers) < MOST_CONTAINERS and _CONTAINER_NAME.match(entry.keys[1]):
            at.containers.append(_Container(entry.keys[1], [said]))
        return
    start = next((place for place, key in enumerate(entry.keys) if key in _SECTIONS), None)
    if start is None:
        return
    keys = ("", *entry.keys[start:])
    container = at.containers[-1] if at.containers else None
    section = keys[1]
    if entry.has_key and section in ("State", "Last State"):
        if len(keys) == 2:
            yield from _ended(lines, at)
        at.ending[keys[-1]] = (entry.value, said)
    elif section in ("Limits", "Requests") and entry.has_key and len(keys) == 3:
        yield from _resource(lines, container, section, entry)
    elif section == "Environment" and entry.has_key and len(keys) == 3 and entry.value[:1] not in ("<", "("):
        secret = is_secret_name(keys[2])
        yield EnvVar(source=source(lines, TOOL), quotes=(said,), name=keys[2], setting=REDACTED if secret else entry.value)
    elif section == "Mounts" and container is not None:
        mount = _MOUNT.match(entry.line.strip())
        if mount:
            container.mounts[mount["path"]] = mount["volume"]
            if mount["path"].startswith(("/dev/shm", "/dev/infiniband")):
                container.quotes.append(said)
    elif section in ("Host Port", "Host Ports") and container is not None and re.match(r"[1-9]", entry.value):
        container.host_ports.append(entry.value.partition("/")[0])


def _resource(lines: Lines, container: _Container | None, section: str, entry: Entry) -> Iterator[Record]:
    resource, said = entry.keys[-1], entry.quoted(lines)
    name = resource if "/" in resource else f"{section.lower()}.{resource}"
    yield setting_of(source(lines, TOOL), (said,), name, entry.value)
    if container is not None:
        container.limits.setdefault(resource, (entry.value, said))
    cpus = cpus_of(entry.value) if (section, resource) == ("Limits", "cpu") else None
    if cpus is not None:
        subject = container.name if container is not None else "container"
        yield CpuQuota(source=source(lines, TOOL), quotes=(said,), subject=subject, quota_cpus_ratio=cpus)


def _ended(lines: Lines, at: _Object) -> Iterator[FrameworkEvent]:
    """The state that was being read, where it tells how a container ended."""
    told, at.ending = at.ending, {}
    code = told.get("Exit Code")
    reason = told.get("Reason")
    number = int(code[0]) if code and code[0].isdecimal() and len(code[0]) < 5 else None
    name = at.containers[-1].name if at.containers else at.name
    event = ended(source(lines, TOOL), tuple(one[1] for one in (reason, code) if one), name, reason[0] if reason else "", number)
    if event is not None and event.quotes:
        yield event


def _finished(lines: Lines, at: _Object) -> Iterator[Record]:
    """What an object tells as a whole."""
    for container in at.containers:
        yield _container_state(lines, at, container)
    job = next((at.labels[label] for label in JOB_LABELS if label in at.labels), None) or job_of(at.name)
    if at.node and at.node_quote and at.node != "<none>" and job:
        yield JobNodes(source=source(lines, TOOL), quotes=(at.node_quote,), job=job, nodes=(at.node,))
    if at.is_service:
        for name, text, said in at.service:
            yield setting_of(source(lines, TOOL), (said,), name, text)


def _container_state(lines: Lines, at: _Object, container: _Container) -> ContainerState:
    devices = [name for name in container.limits if "/" in name]
    device_mounts = [path for path in container.mounts if path.startswith("/dev/infiniband")]
    shm = at.volumes.get(container.mounts.get("/dev/shm", ""), {})
    in_memory = [told[1] for key, told in shm.items() if (key, told[0]) in (("Medium", "Memory"), ("Path", "/dev/shm"))]
    size = shm.get("SizeLimit")
    quotes = [*container.quotes, *(container.limits[name][1] for name in devices), *in_memory, *([size[1]] if size else [])]
    has_volumes = bool(at.volumes) or "/dev/shm" not in container.mounts
    return ContainerState(
        source=source(lines, TOOL),
        quotes=tuple(quotes[:MOST_QUOTES]),
        missing=_NOT_PRINTED,
        subject=container.name,
        runtime="kubernetes",
        devices=tuple(dict.fromkeys([*devices, *device_mounts])),
        published_ports=tuple(container.host_ports),
        shm_bytes=bytes_of(size[0]) if size else None,
        has_memory_shm_volume=bool(in_memory) if has_volumes else None,
    )


READER = Reader(
    title=Text(en="kubectl describe", zh="kubectl describe"),
    gives=(ContainerState, CpuQuota, EnvVar, FrameworkEvent, JobNodes, NodeGroup, NodeState, Setting),
    recognises=marked(_RECOGNISED),
    read=_read,
    obtained_by=("kubectl describe pod POD", "kubectl describe node NODE", "kubectl describe service SERVICE"),
    voice="loose",
)
