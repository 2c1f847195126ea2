"""Kubernetes objects as YAML or JSON, whole or in fragments, also in the middle of a transcript.

What a damaged document gave before the damage is used; the rest of it is read line by line.

What is taken:

- containers: `ContainerState` (one each), CPU limits as `CpuQuota`, resources as `Setting` (`limits.cpu`, `requests.memory`, and
  bare for devices: `nvidia.com/gpu`, `rdma/hca_shared`), `env` as `EnvVar`, `command` and `args` as `Command`;
- `LimitRange` defaults as `CpuQuota` (subject `LimitRange default`) and `Setting` (`default.cpu`); `ResourceQuota` as `Setting`;
- annotations as `Setting`, those of ingress-nginx also as `Directive` of `nginx`;
- `dnsConfig` options as `ResolverSetup`; Service `type` (as `Service.type`), `clusterIP`, `sessionAffinity`; ConfigMap data;
  kubelet configuration and the specification of every other kind, each scalar as `Setting` named by its last key;
- state: events as `ClusterEvent`, where pods run as `JobNodes`, containers that were killed as `FrameworkEvent`, a node's readiness as
  `NodeState`, its place labels as `NodeGroup`, its device resources as `Setting` (`allocatable.rdma/hca_shared`);
- network policies as `NetworkPolicy`; CNI configurations, also as text inside other objects, as `Setting` (`cni.calico.mtu`).

`network_mode` is `host` with `hostNetwork: true`, `pod` with an explicit false, else None: excerpts leave lines out.
"""

from collections.abc import Iterator

from wirespeed.model.events.log import FrameworkEvent
from wirespeed.model.facts.cluster import ClusterEvent, JobNodes, NetworkPolicy, NodeGroup, NodeState
from wirespeed.model.facts.host import ContainerState, CpuQuota, EnvVar, ResolverSetup
from wirespeed.model.kinds import Reader
from wirespeed.model.lines import Lines, source
from wirespeed.model.record import Record
from wirespeed.model.secrets import REDACTED, is_secret_name
from wirespeed.model.settings import Command, Directive, Setting
from wirespeed.model.source import Problem
from wirespeed.model.text import Text
from wirespeed.readers.parsing.cni import cni_settings, embedded, is_cni
from wirespeed.readers.parsing.kubernetes import TOOL, bytes_of, cpus_of, setting_of
from wirespeed.readers.parsing.kubernetes_state import state_records
from wirespeed.readers.parsing.marks import marked
from wirespeed.readers.parsing.regex import regex
from wirespeed.readers.parsing.yaml_leaves import Block, Leaf, Path, Shown, blocks, leaves_of, objects, refusal, text_at

MOST_CONTAINERS = 200
"""Containers read of one object; each looks at all of the object's volumes."""

_HINT = regex(
    r"(?m)^[\s\-{]*[\"']?(?:apiVersion|kind|containers|initContainers|resources|securityContext|hostNetwork|hostIPC|emptyDir"
    r"|volumeMounts"
    r"|annotations|cniVersion|dnsConfig|dnsPolicy|limits|serializeImagePulls|maxParallelImagePulls|kubeletArguments|podSpec)[\"']?\s*:(?:\s|$)"
)
_KEY_VALUE = regex(r"^\s*(?:-\s+)*[\"']?(?P<key>[\w./\-]+)[\"']?\s*:\s+[\"']?(?P<value>[^\s\"'{}\[\],#]+)[\"']?\s*,?\s*$")
_NGINX_ANNOTATION = "nginx.ingress.kubernetes.io/"
_WORKLOADS = frozenset(
    {
        "Pod",
        "Deployment",
        "StatefulSet",
        "DaemonSet",
        "ReplicaSet",
        "Job",
        "CronJob",
        "PyTorchJob",
        "MPIJob",
        "RayCluster",
        "Service",
    }
)

# --- reading -----------------------------------------------------------------------------------------------------------------


def _read(lines: Lines) -> Iterator[Record | Problem]:
    for block in blocks(lines):
        text = block.text
        if not _HINT.search(text):
            continue
        refused = refusal(text)
        if refused is not None:
            yield Problem(source=source(lines, TOOL), why=refused, line_index=block.first_index)
            continue
        yield from _block_records(lines, block, text)


def _block_records(lines: Lines, block: Block, text: str) -> Iterator[Record | Problem]:
    leaves, damaged_at = leaves_of(text)
    shown = Shown(lines, block)
    for item in objects(leaves):
        yield from _object_records(shown, item)
    if damaged_at is not None:
        why = Text(en="damaged YAML: the rest is read line by line", zh="YAML 已损坏：其余部分逐行读取")
        yield Problem(source=source(lines, TOOL), why=why, line_index=block.first_index + damaged_at)
        for offset in range(damaged_at, len(block.lines)):
            found = _KEY_VALUE.match(block.lines[offset])
            if found:
                yield _setting(shown, found["key"], Leaf((), found["value"], offset))


# --- from leaves to records --------------------------------------------------------------------------------------------------


def _object_records(shown: Shown, every: list[Leaf]) -> Iterator[Record]:
    leaves = [leaf for leaf in every if not leaf.is_empty]
    kind = text_at(leaves, ("kind",)) or ""
    name = text_at(leaves, ("metadata", "name"))
    groups = _by_container(leaves)
    for container in list(groups.values())[:MOST_CONTAINERS]:
        yield from _container_records(shown, container, leaves, name)
    if not groups:
        yield from _loose_resources(shown, leaves, kind)
    yield from _annotations(shown, leaves)
    yield from _resolver(shown, leaves)
    yield from state_records(shown, kind, every)
    yield from _pod_networks(shown, leaves)
    if kind == "Service":
        yield from _service(shown, leaves)
    elif kind == "ConfigMap":
        data = [leaf for leaf in leaves if leaf.keys[:1] == ("data",) and "\n" not in leaf.text]
        yield from (_setting(shown, str(leaf.path[-1]), leaf) for leaf in data)
    elif kind and kind not in _WORKLOADS and kind != "NetworkPolicy" and not groups:
        yield from _specification(shown, leaves, kind)


def _pod_networks(shown: Shown, leaves: list[Leaf]) -> Iterator[Setting]:
    """Configurations of CNI plug-ins: the document itself, or texts inside it."""
    if is_cni(leaves):
        yield from cni_settings(shown, leaves)
        return
    for leaf in leaves:
        yield from cni_settings(shown, embedded(leaf), leaf)


def _by_container(leaves: list[Leaf]) -> dict[Path, list[Leaf]]:
    """Leaves of each container, with paths from the container on."""
    groups: dict[Path, list[Leaf]] = {}
    for leaf in leaves:
        at = next((i for i, step in enumerate(leaf.path[:-1]) if step in ("containers", "initContainers")), None)
        if at is None or not isinstance(leaf.path[at + 1], int) or "status" in leaf.path[:1]:
            continue
        groups.setdefault(leaf.path[: at + 2], []).append(Leaf(leaf.path[at + 2 :], leaf.text, leaf.line_index))
    return groups


def _container_records(shown: Shown, own: list[Leaf], pod: list[Leaf], object_name: str | None) -> Iterator[Record]:
    subject = text_at(own, ("name",)) or object_name or "container"
    resources = [leaf for leaf in own if leaf.keys[:1] == ("resources",) and len(leaf.keys) == 3]
    devices = [leaf for leaf in resources if "/" in leaf.keys[2]]
    capabilities = [leaf for leaf in own if leaf.keys == ("securityContext", "capabilities", "add")]
    shm, shm_size = _shm_volume(own, pod)
    device_mounts = [leaf for leaf in own if leaf.keys == ("volumeMounts", "mountPath") and leaf.text.startswith("/dev/infiniband")]
    privileged = next((leaf for leaf in own if leaf.keys == ("securityContext", "privileged")), None)
    network = next((leaf for leaf in pod if leaf.keys[-1:] == ("hostNetwork",)), None)
    ipc = next((leaf for leaf in pod if leaf.keys[-1:] == ("hostIPC",)), None)
    ports = [leaf for leaf in own if leaf.keys == ("ports", "hostPort")]
    names = [leaf for leaf in own if leaf.keys in (("name",), ("image",))][:2]
    flags = [leaf for leaf in (privileged, network, ipc, shm, shm_size) if leaf is not None]
    yield ContainerState(
        source=source(shown.lines, TOOL),
        quotes=shown.quotes([*names, *devices, *capabilities, *device_mounts, *ports, *flags] or own[:1]),
        subject=subject,
        runtime="kubernetes",
        network_mode=None if network is None else ("host" if network.text == "true" else "pod"),
        devices=tuple(dict.fromkeys([leaf.keys[2] for leaf in devices] + [leaf.text for leaf in device_mounts])),
        capabilities=tuple(leaf.text for leaf in capabilities),
        published_ports=tuple(leaf.text for leaf in ports),
        shm_bytes=None if shm_size is None else bytes_of(shm_size.text),
        ipc_mode="host" if ipc is not None and ipc.text == "true" else None,
        is_privileged=None if privileged is None else privileged.text == "true",
        has_memory_shm_volume=shm is not None,
    )
    for leaf in resources:
        yield from _resource(shown, subject, leaf.keys[1], leaf)
    yield from _environment(shown, own)
    yield from _command(shown, own)


def _shm_volume(own: list[Leaf], pod: list[Leaf]) -> tuple[Leaf | None, Leaf | None]:
    """The line that makes /dev/shm a memory volume (or the host's), and the line with its size limit."""
    mounts: dict[int | str, dict[str, Leaf]] = {}
    for leaf in own:
        if leaf.keys[:1] == ("volumeMounts",) and len(leaf.path) == 3:
            mounts.setdefault(leaf.path[1], {})[leaf.keys[1]] = leaf
    names = [mount["name"].text for mount in mounts.values() if "name" in mount and _is_shm(mount.get("mountPath"))]
    volumes: dict[Path, list[Leaf]] = {}
    for leaf in pod:
        at = next((i for i, step in enumerate(leaf.path[:-1]) if step == "volumes"), None)
        if at is not None:
            volumes.setdefault(leaf.path[: at + 2], []).append(Leaf(leaf.path[at + 2 :], leaf.text, leaf.line_index))
    for volume in volumes.values():
        if text_at(volume, ("name",)) not in names:
            continue
        medium = next((leaf for leaf in volume if leaf.keys == ("emptyDir", "medium") and leaf.text == "Memory"), None)
        host = next((leaf for leaf in volume if leaf.keys == ("hostPath", "path") and leaf.text == "/dev/shm"), None)
        size = next((leaf for leaf in volume if leaf.keys == ("emptyDir", "sizeLimit")), None)
        if medium or host:
            return medium or host, size
    return None, None


def _is_shm(leaf: Leaf | None) -> bool:
    return leaf is not None and leaf.text.rstrip("/") == "/dev/shm"


def _resource(shown: Shown, subject: str, side: str, leaf: Leaf) -> Iterator[Record]:
    """One limit or request. Device resources keep their own name, which is unique already."""
    resource = leaf.keys[-1]
    yield _setting(shown, resource if "/" in resource else f"{side}.{resource}", leaf)
    cpus = cpus_of(leaf.text) if resource == "cpu" and side in ("limits", "default") else None
    if cpus is not None:
        yield CpuQuota(source=source(shown.lines, TOOL), quotes=shown.quotes([leaf]), subject=subject, quota_cpus_ratio=cpus)


def _loose_resources(shown: Shown, leaves: list[Leaf], kind: str) -> Iterator[Record]:
    """Limits outside a container: a LimitRange, a ResourceQuota, or a fragment that begins at `resources:`."""
    for leaf in leaves:
        keys = leaf.keys
        if kind == "LimitRange" and len(keys) >= 2 and keys[-2] in ("default", "defaultRequest", "max", "min"):
            yield from _resource(shown, "LimitRange default", keys[-2], leaf)
        elif not kind and len(keys) >= 2 and keys[-2] in ("limits", "requests"):
            yield from _resource(shown, "container", keys[-2], leaf)


def _environment(shown: Shown, own: list[Leaf]) -> Iterator[EnvVar]:
    entries: dict[int | str, dict[str, Leaf]] = {}
    for leaf in own:
        if leaf.keys[:1] == ("env",) and len(leaf.path) == 3:
            entries.setdefault(leaf.path[1], {})[leaf.keys[1]] = leaf
    for entry in entries.values():
        if "name" in entry and "value" in entry:
            name = entry["name"].text
            yield EnvVar(
                source=source(shown.lines, TOOL),
                quotes=shown.quotes([entry["name"], entry["value"]]),
                name=name,
                setting=REDACTED if is_secret_name(name) else entry["value"].text,
            )


def _command(shown: Shown, own: list[Leaf]) -> Iterator[Command]:
    words = [leaf for leaf in own if leaf.keys in (("command",), ("args",))]
    if any(leaf.keys == ("command",) for leaf in words):
        words.sort(key=lambda leaf: leaf.keys != ("command",))
        yield Command(
            source=source(shown.lines, TOOL),
            quotes=shown.quotes(words),
            program=words[0].text.rsplit("/", 1)[-1],
            arguments=tuple(leaf.text for leaf in words[1:]),
        )


def _annotations(shown: Shown, leaves: list[Leaf]) -> Iterator[Record]:
    for leaf in leaves:
        if "annotations" not in leaf.keys[:-1] or "\n" in leaf.text or leaf.keys[-1].endswith("last-applied-configuration"):
            continue
        yield _setting(shown, leaf.keys[-1], leaf)
        if leaf.keys[-1].startswith(_NGINX_ANNOTATION):
            yield Directive(
                source=source(shown.lines, TOOL),
                quotes=shown.quotes([leaf]),
                server="nginx",
                name=leaf.keys[-1].removeprefix(_NGINX_ANNOTATION).replace("-", "_"),
                arguments=(leaf.text,),
                block="ingress annotation",
            )


def _resolver(shown: Shown, leaves: list[Leaf]) -> Iterator[ResolverSetup]:
    inside = [leaf for leaf in leaves if "dnsConfig" in leaf.keys[:-1]]
    options = [leaf for leaf in inside if leaf.keys[-2:] == ("options", "name")]
    ndots = next(
        (
            leaf
            for leaf in inside
            for option in options
            if option.text == "ndots" and leaf.keys[-2:] == ("options", "value") and leaf.path[:-1] == option.path[:-1]
        ),
        None,
    )
    if inside:
        yield ResolverSetup(
            source=source(shown.lines, TOOL),
            quotes=shown.quotes(inside),
            nameservers=tuple(leaf.text for leaf in inside if leaf.keys[-1] == "nameservers"),
            search=tuple(leaf.text for leaf in inside if leaf.keys[-1] == "searches"),
            ndots_count=int(ndots.text) if ndots is not None and ndots.text.isdecimal() else None,
            options=tuple(leaf.text for leaf in options),
        )


def _service(shown: Shown, leaves: list[Leaf]) -> Iterator[Setting]:
    for leaf in leaves:
        if leaf.keys == ("spec", "type"):
            yield _setting(shown, "Service.type", leaf)
        elif leaf.keys in (("spec", "ports", "name"), ("spec", "ports", "appProtocol")):
            yield _setting(shown, "Service.port", leaf)
        elif leaf.keys[:1] == ("spec",) and leaf.keys[-1] in (
            "clusterIP",
            "sessionAffinity",
            "externalTrafficPolicy",
            "timeoutSeconds",
        ):
            yield _setting(shown, leaf.keys[-1], leaf)


def _specification(shown: Shown, leaves: list[Leaf], kind: str) -> Iterator[Setting]:
    """Scalars of a kind that runs no containers: its `spec`, or all of a configuration file such as the kubelet's."""
    is_file = kind.endswith("Configuration")
    for leaf in leaves:
        keys = leaf.keys
        belongs = keys[:1] not in (("apiVersion",), ("kind",), ("metadata",), ("status",)) if is_file else keys[:1] == ("spec",)
        if (
            belongs
            and keys
            and "\n" not in leaf.text
            and not (kind == "LimitRange" and text_at(leaves, ("spec", "limits", "type")))
        ):
            yield _setting(shown, keys[-1], leaf)


def _setting(shown: Shown, name: str, leaf: Leaf) -> Setting:
    return setting_of(source(shown.lines, TOOL), shown.quotes([leaf]), name, leaf.text)


READER = Reader(
    title=Text(en="Kubernetes manifest", zh="Kubernetes 清单"),
    gives=(
        ContainerState,
        CpuQuota,
        Setting,
        EnvVar,
        Command,
        Directive,
        ResolverSetup,
        ClusterEvent,
        FrameworkEvent,
        JobNodes,
        NodeState,
        NodeGroup,
        NetworkPolicy,
    ),
    recognises=marked(_HINT, "kind: "),
    read=_read,
    obtained_by=("kubectl get pod POD -o yaml", "kubectl get networkpolicy -A -o yaml", "cat /etc/cni/net.d/*"),
    voice="loose",
)
