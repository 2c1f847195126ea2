"""What Kubernetes objects say of their state, not of what is asked for: nodes, pods, events, network policies."""

import re
from collections.abc import Callable, Iterator
from itertools import groupby

from wirespeed.model.facts.cluster import JobNodes, NetworkPolicy, NodeGroup, NodeState
from wirespeed.model.lines import source
from wirespeed.model.record import Record
from wirespeed.readers.parsing.kubernetes import PLACE_LABEL, TOOL, ended, event_of, setting_of
from wirespeed.readers.parsing.regex import regex
from wirespeed.readers.parsing.yaml_leaves import Leaf, Shown, text_at

MOST_NAMED = 200
JOB_LABELS = (
    "training.kubeflow.org/job-name", "leaderworkerset.sigs.k8s.io/name", "ray.io/cluster", "batch.kubernetes.io/job-name", "job-name",
    "jobset.sigs.k8s.io/jobset-name",
)  # fmt: skip
"""Labels by which controllers of parallel work name what a pod is a part of, the whole before its part."""
_ORDINAL = regex(r"^(?P<set>.{1,253}?)(?:-(?:worker|master|launcher|ps|chief))?-\d{1,5}(?:-[a-z0-9]{5})?$")
_BAD_CONDITIONS = frozenset(
    {"NetworkUnavailable", "MemoryPressure", "DiskPressure", "PIDPressure", "KernelDeadlock", "ReadonlyFilesystem"}
)


def state_records(shown: Shown, kind: str, leaves: list[Leaf]) -> Iterator[Record]:
    """Records of one object's state; nothing for kinds that have none here."""
    read = _READ.get(kind)
    if read is not None:
        yield from read(shown, leaves)


def job_of(pod: str) -> str | None:
    """The name that numbered pods of one set share (`llama-worker-3` of `llama`); None for pods without a number, which are replicas."""
    found = _ORDINAL.match(pod)
    return found["set"] if found else None


def _node(shown: Shown, leaves: list[Leaf]) -> Iterator[Record]:
    name = text_at(leaves, ("metadata", "name")) or ""
    for leaf in leaves:
        if (
            leaf.keys[:2] == ("metadata", "labels")
            and len(leaf.keys) == 3
            and PLACE_LABEL.search(leaf.keys[2])
            and leaf.text
            and name
        ):
            yield NodeGroup(
                source=source(shown.lines, TOOL, name),
                quotes=shown.quotes([leaf]),
                level=leaf.keys[2],
                name=leaf.text,
                nodes=(name,),
            )
        elif (
            leaf.keys[:1] == ("status",)
            and len(leaf.keys) == 3
            and leaf.keys[1] in ("capacity", "allocatable")
            and "/" in leaf.keys[2]
        ):
            yield setting_of(
                source(shown.lines, TOOL, name or None), shown.quotes([leaf]), f"{leaf.keys[1]}.{leaf.keys[2]}", leaf.text
            )
    for condition in _listed(leaves, ("status", "conditions")):
        yield from _condition(shown, name, condition)


def _condition(shown: Shown, name: str, condition: list[Leaf]) -> Iterator[NodeState]:
    told = {leaf.keys[-1]: leaf for leaf in condition if leaf.keys}
    kind, status = told.get("type"), told.get("status")
    if kind is None or status is None or not name:
        return
    is_ready = kind.text == "Ready"
    if is_ready or (kind.text in _BAD_CONDITIONS and status.text == "True"):
        reason = ": ".join(told[key].text for key in ("reason", "message") if key in told)
        yield NodeState(
            source=source(shown.lines, TOOL, name),
            quotes=shown.quotes([kind, status, *(told[key] for key in ("reason", "message") if key in told)]),
            nodes=(name,),
            state=node_state(kind.text, status.text),
            reason=reason or None,
        )


def node_state(condition: str, status: str) -> str:
    """The word for a condition of a node: `ready`, `not-ready`, or the condition that holds (`network-unavailable`)."""
    if condition == "Ready":
        return "ready" if status == "True" else "not-ready"
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "-", condition).lower()


def _pod(shown: Shown, leaves: list[Leaf]) -> Iterator[Record]:
    name = text_at(leaves, ("metadata", "name")) or ""
    placed = next((leaf for leaf in leaves if leaf.keys == ("spec", "nodeName")), None)
    labels = {leaf.keys[2]: leaf.text for leaf in leaves if leaf.keys[:2] == ("metadata", "labels") and len(leaf.keys) == 3}
    job = next((labels[label] for label in JOB_LABELS if label in labels), None) or job_of(name)
    if placed is not None and job:
        yield JobNodes(source=source(shown.lines, TOOL), quotes=shown.quotes([placed]), job=job, nodes=(placed.text,))
    for part in ("containerStatuses", "initContainerStatuses"):
        for status in _listed(leaves, ("status", part)):
            container = next((leaf.text for leaf in status if leaf.keys[-1:] == ("name",)), name)
            for which in ("state", "lastState"):
                yield from _termination(shown, container, [leaf for leaf in status if leaf.keys[2:4] == (which, "terminated")])


def _termination(shown: Shown, container: str, told: list[Leaf]) -> Iterator[Record]:
    by_name = {leaf.keys[-1]: leaf for leaf in told}
    code = by_name.get("exitCode")
    reason = by_name.get("reason")
    number = int(code.text) if code is not None and code.text.isdecimal() and len(code.text) < 5 else None
    event = ended(
        source(shown.lines, TOOL),
        shown.quotes([leaf for leaf in (code, reason) if leaf]),
        container,
        reason.text if reason else "",
        number,
    )
    if event is not None:
        yield event


def _event(shown: Shown, leaves: list[Leaf]) -> Iterator[Record]:
    reason = next((leaf for leaf in leaves if leaf.keys == ("reason",)), None)
    message = next((leaf for leaf in leaves if leaf.keys in (("message",), ("note",))), None)
    if reason is None:
        return
    kind, name = (text_at(leaves, ("involvedObject", key)) or text_at(leaves, ("regarding", key)) for key in ("kind", "name"))
    count = text_at(leaves, ("count",)) or ""
    level = text_at(leaves, ("type",))
    yield event_of(
        source(shown.lines, TOOL),
        shown.quotes([leaf for leaf in (reason, message) if leaf]),
        reason.text,
        message.text if message else "",
        is_warning=None if level is None else level == "Warning",
        subject=f"{kind.lower()}/{name}" if kind and name else None,
        times_count=int(count) if count.isdecimal() and len(count) < 10 else None,
    )


def _policy(shown: Shown, leaves: list[Leaf]) -> Iterator[Record]:
    """A direction is closed when it is named in `policyTypes` and lists no rule; an empty rule (`- {}`) opens it wholly."""
    spec = [leaf for leaf in leaves if leaf.keys[:1] == ("spec",)]
    named = [leaf for leaf in spec if leaf.keys == ("spec", "policyTypes")]
    directions = [leaf.text.lower() for leaf in named if not leaf.is_empty] or ["ingress"]
    closed, limited = [], []
    for direction in directions:
        rules = [leaf for leaf in spec if leaf.path[:2] == ("spec", direction) and len(leaf.path) > 2]
        is_open = any(leaf.is_empty and len(leaf.path) == 3 for leaf in rules)
        if not rules:
            closed.append(direction)
        elif not is_open:
            limited.append(direction)
    ports: dict[tuple[str | int, ...], dict[str, str]] = {}
    for leaf in spec:
        if leaf.keys[2:3] == ("ports",) and leaf.keys[-1] in ("port", "endPort", "protocol"):
            ports.setdefault(leaf.path[:-1], {})[leaf.keys[-1]] = leaf.text
    selected = any(leaf.keys[:2] == ("spec", "podSelector") and not leaf.is_empty for leaf in spec)
    yield NetworkPolicy(
        source=source(shown.lines, TOOL),
        quotes=shown.quotes([leaf for leaf in leaves if leaf.keys in (("kind",), ("metadata", "name"))] + named + spec[:4]),
        name=text_at(leaves, ("metadata", "name")) or "",
        selects_all_pods=not selected,
        closed=tuple(closed),
        limited=tuple(limited),
        ports=tuple(_port(one) for one in ports.values())[:MOST_NAMED],
    )


def _port(told: dict[str, str]) -> str:
    number = told.get("port", "")
    number = f"{number}-{told['endPort']}" if "endPort" in told else number
    return f"{number}/{told['protocol']}" if told.get("protocol", "TCP") != "TCP" else number


def _listed(leaves: list[Leaf], keys: tuple[str, ...]) -> Iterator[list[Leaf]]:
    """The leaves of each item of one list."""
    inside = [leaf for leaf in leaves if leaf.keys[: len(keys)] == keys and len(leaf.path) > len(keys)]
    for _, group in groupby(inside, key=lambda leaf: leaf.path[: len(keys) + 1]):
        yield list(group)


_READ: dict[str, Callable[[Shown, list[Leaf]], Iterator[Record]]] = {
    "Node": _node, "Pod": _pod, "Event": _event, "NetworkPolicy": _policy,
}  # fmt: skip
