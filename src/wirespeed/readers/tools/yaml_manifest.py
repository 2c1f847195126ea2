"""Kubernetes objects as YAML or JSON, whole or in fragments, also in the middle of a transcript.

The document is read as a stream of parser events into `Leaf`s (a path and its scalar), never into objects: aliases cannot multiply
and nesting cannot overflow a stack. What a damaged document gave before the damage is used; the rest of it is read line by line.

What is taken:

- containers: `ContainerState` (one each), CPU limits as `CpuQuota`, resources as `Setting` (`limits.cpu`, `requests.memory`, and
  bare for devices: `nvidia.com/gpu`, `rdma/hca_shared`), `env` as `EnvVar`, `command` and `args` as `Command`;
- `LimitRange` defaults as `CpuQuota` (subject `LimitRange default`) and `Setting` (`default.cpu`); `ResourceQuota` as `Setting`;
- annotations as `Setting`, those of ingress-nginx also as `Directive` of `nginx`;
- `dnsConfig` options as `ResolverSetup`; Service `type` (as `Service.type`), `clusterIP`, `sessionAffinity`; ConfigMap data;
  kubelet configuration and the specification of every other kind, each scalar as `Setting` named by its last key.

`network_mode` is `host` with `hostNetwork: true`, `pod` with an explicit false, else None: excerpts leave lines out.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import groupby

import yaml

from wirespeed.model.facts.host import ContainerState, CpuQuota, EnvVar, ResolverSetup
from wirespeed.model.kinds import Reader
from wirespeed.model.lines import Lines, quote, source
from wirespeed.model.record import Record
from wirespeed.model.settings import Command, Directive, Setting
from wirespeed.model.source import Problem, Quote
from wirespeed.model.text import Text
from wirespeed.model.units import scale_of, time_in_s
from wirespeed.readers.parsing.marks import marked

MOST_BLOCK_CHARACTERS = 2 * 1024 * 1024
MOST_ALIASES = 20
MOST_DEPTH = 40
MOST_QUOTES = 12

_HINT = re.compile(
    r"(?m)^[\s\-]*[\"']?(?:apiVersion|kind|containers|initContainers|resources|securityContext|hostNetwork|hostIPC|emptyDir"
    r"|volumeMounts"
    r"|annotations|dnsConfig|dnsPolicy|limits|serializeImagePulls|maxParallelImagePulls|kubeletArguments|podSpec)[\"']?\s*:(?:\s|$)"
)
_YAML_LINE = re.compile(r"^\s*(?:-\s+)*(?:[\"'][^\"']+[\"']|[\w./\-$]+)\s*:(?:\s|$)|^\s*-(?:\s|$)|^\s*#|^\s*[{}\[\]\"]")
_KEY_VALUE = re.compile(r"^\s*(?:-\s+)*[\"']?(?P<key>[\w./\-]+)[\"']?\s*:\s+[\"']?(?P<value>[^\s\"'{}\[\],#]+)[\"']?\s*,?\s*$")
_ALIAS = re.compile(r"(?m)(?:^|[\s\[,{:-])\*[A-Za-z0-9_]")
_QUANTITY = re.compile(r"^(?P<number>-?\d+(?:\.\d+)?)(?P<suffix>m|[kMGTP]|[KMGT]i|[A-Za-z]{1,12})?$")
_GO_PART = re.compile(r"(\d+(?:\.\d+)?)(ms|us|µs|[hms])")
_GO_DURATION = re.compile(r"^(?:\d+(?:\.\d+)?(?:ms|us|µs|[hms])){2,4}$")
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_SECRET = re.compile(r"(?i)secret|token|password|passwd|api_?key|credential|private")
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

Path = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Leaf:
    """One scalar of a document and where it stands."""

    path: Path
    text: str
    line_index: int

    @property
    def keys(self) -> tuple[str, ...]:
        """The path without list positions."""
        return tuple(step for step in self.path if isinstance(step, str))


@dataclass(slots=True)
class _Place:
    """An open mapping (with the key read last) or sequence (with the next position)."""

    is_mapping: bool
    step: str | int | None = None


@dataclass(slots=True)
class _Block:
    first_index: int
    lines: list[str] = field(default_factory=list)
    characters: int = 0


# --- reading -----------------------------------------------------------------------------------------------------------------


def _read(lines: Lines) -> Iterator[Record | Problem]:
    for block in _blocks(lines):
        text = "\n".join(_without_tabs(line) for line in block.lines)
        if not _HINT.search(text):
            continue
        refused = _refusal(text)
        if refused is not None:
            yield Problem(source=source(lines, "kubernetes"), why=refused, line_index=block.first_index)
            continue
        yield from _block_records(lines, block, text)


def _blocks(lines: Lines) -> Iterator[_Block]:
    """Runs of lines that can be YAML, apart from `---` and from what a terminal shows around them."""
    block = _Block(0)
    for index, line in lines:
        in_flow = bool(block.lines) and block.lines[0].lstrip().startswith(("{", "["))
        starts = not block.lines
        fits = _YAML_LINE.match(line) or (block.lines and (not line.strip() or line[0] in " \t" or in_flow))
        if line.startswith(("---", "```")) or not fits or block.characters > MOST_BLOCK_CHARACTERS:
            if block.lines:
                yield block
            block = _Block(index)
            starts = True
        if fits and not line.startswith(("---", "```")):
            if starts:
                block.first_index = index
            block.lines.append(line)
            block.characters += len(line) + 1
    if block.lines:
        yield block


def _without_tabs(line: str) -> str:
    """JSON may be indented with tabs, which YAML forbids."""
    bare = line.lstrip("\t ")
    return line[: len(line) - len(bare)].replace("\t", "  ") + bare


def _refusal(text: str) -> Text | None:
    if len(text) > MOST_BLOCK_CHARACTERS:
        return Text(en="YAML block is too large", zh="YAML 块过大")
    if len(_ALIAS.findall(text)) > MOST_ALIASES:
        return Text(en="YAML with many aliases is not read", zh="不读取含大量别名的 YAML")
    return None


def _block_records(lines: Lines, block: _Block, text: str) -> Iterator[Record | Problem]:
    leaves, damaged_at = _leaves(text)
    shown = _Shown(lines, block)
    for item in _objects(leaves):
        yield from _object_records(shown, item)
    if damaged_at is not None:
        why = Text(en="damaged YAML: the rest is read line by line", zh="YAML 已损坏：其余部分逐行读取")
        yield Problem(source=source(lines, "kubernetes"), why=why, line_index=block.first_index + damaged_at)
        for offset in range(damaged_at, len(block.lines)):
            found = _KEY_VALUE.match(block.lines[offset])
            if found:
                yield _setting(shown, found["key"], Leaf((), found["value"], offset))


def _leaves(text: str) -> tuple[list[Leaf], int | None]:
    """Every scalar with its path, and the line at which the parser gave up, if it did."""
    leaves: list[Leaf] = []
    places: list[_Place] = []
    line_index = 0
    try:
        for event in yaml.parse(text, Loader=_LOADER):
            line_index = event.start_mark.line if event.start_mark else line_index
            if isinstance(event, yaml.MappingStartEvent):
                places.append(_Place(is_mapping=True))
            elif isinstance(event, yaml.SequenceStartEvent):
                places.append(_Place(is_mapping=False, step=0))
            elif isinstance(event, yaml.MappingEndEvent | yaml.SequenceEndEvent):
                places.pop()
                _value_done(places)
            elif isinstance(event, yaml.ScalarEvent):
                if places and places[-1].is_mapping and places[-1].step is None:
                    places[-1].step = event.value
                    continue
                leaves.append(Leaf(tuple("" if place.step is None else place.step for place in places), event.value, line_index))
                _value_done(places)
            elif isinstance(event, yaml.AliasEvent):
                _value_done(places)
            if len(places) > MOST_DEPTH:
                return leaves, line_index
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        return leaves, min(mark.line, text.count("\n")) if mark else line_index
    return leaves, None


def _value_done(places: list[_Place]) -> None:
    """A value ended: the mapping waits for a key again, the sequence moves on. A key that is no scalar counts as empty."""
    if not places:
        return
    place = places[-1]
    if place.is_mapping:
        place.step = "" if place.step is None else None
    elif isinstance(place.step, int):
        place.step += 1


# --- from leaves to records --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Shown:
    """Quotes of one block."""

    lines: Lines
    block: _Block

    def quotes(self, leaves: list[Leaf]) -> tuple[Quote, ...]:
        """One quote a line, as the input has it, in order."""
        wanted = sorted({leaf.line_index for leaf in leaves if leaf.line_index < len(self.block.lines)})[:MOST_QUOTES]
        return tuple(self._quote(offset) for offset in wanted)

    def _quote(self, offset: int) -> Quote:
        return quote(self.lines, self.block.first_index + offset, self.block.lines[offset])


def _objects(leaves: list[Leaf]) -> Iterator[list[Leaf]]:
    """The objects of a document: the items of a List, or the document itself."""
    if any(leaf.path[:1] == ("items",) for leaf in leaves):
        items = [leaf for leaf in leaves if leaf.path[:1] == ("items",) and len(leaf.path) > 2]
        for _, group in groupby(items, key=lambda leaf: leaf.path[1]):
            yield [Leaf(leaf.path[2:], leaf.text, leaf.line_index) for leaf in group]
    else:
        yield leaves


def _object_records(shown: _Shown, leaves: list[Leaf]) -> Iterator[Record]:
    kind = _text(leaves, ("kind",)) or ""
    name = _text(leaves, ("metadata", "name"))
    groups = _by_container(leaves)
    for container in groups.values():
        yield from _container_records(shown, container, leaves, name)
    if not groups:
        yield from _loose_resources(shown, leaves, kind)
    yield from _annotations(shown, leaves)
    yield from _resolver(shown, leaves)
    if kind == "Service":
        yield from _service(shown, leaves)
    elif kind == "ConfigMap":
        data = [leaf for leaf in leaves if leaf.keys[:1] == ("data",) and "\n" not in leaf.text]
        yield from (_setting(shown, str(leaf.path[-1]), leaf) for leaf in data)
    elif kind and kind not in _WORKLOADS and not groups:
        yield from _specification(shown, leaves, kind)


def _text(leaves: list[Leaf], keys: tuple[str, ...]) -> str | None:
    return next((leaf.text for leaf in leaves if leaf.keys == keys), None)


def _by_container(leaves: list[Leaf]) -> dict[Path, list[Leaf]]:
    """Leaves of each container, with paths from the container on."""
    groups: dict[Path, list[Leaf]] = {}
    for leaf in leaves:
        at = next((i for i, step in enumerate(leaf.path[:-1]) if step in ("containers", "initContainers")), None)
        if at is None or not isinstance(leaf.path[at + 1], int) or "status" in leaf.path[:1]:
            continue
        groups.setdefault(leaf.path[: at + 2], []).append(Leaf(leaf.path[at + 2 :], leaf.text, leaf.line_index))
    return groups


def _container_records(shown: _Shown, own: list[Leaf], pod: list[Leaf], object_name: str | None) -> Iterator[Record]:
    subject = _text(own, ("name",)) or object_name or "container"
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
        source=source(shown.lines, "kubernetes"),
        quotes=shown.quotes([*names, *devices, *capabilities, *device_mounts, *ports, *flags] or own[:1]),
        subject=subject,
        runtime="kubernetes",
        network_mode=None if network is None else ("host" if network.text == "true" else "pod"),
        devices=tuple(dict.fromkeys([leaf.keys[2] for leaf in devices] + [leaf.text for leaf in device_mounts])),
        capabilities=tuple(leaf.text for leaf in capabilities),
        published_ports=tuple(leaf.text for leaf in ports),
        shm_bytes=None if shm_size is None else _bytes(shm_size.text),
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
        if _text(volume, ("name",)) not in names:
            continue
        medium = next((leaf for leaf in volume if leaf.keys == ("emptyDir", "medium") and leaf.text == "Memory"), None)
        host = next((leaf for leaf in volume if leaf.keys == ("hostPath", "path") and leaf.text == "/dev/shm"), None)
        size = next((leaf for leaf in volume if leaf.keys == ("emptyDir", "sizeLimit")), None)
        if medium or host:
            return medium or host, size
    return None, None


def _is_shm(leaf: Leaf | None) -> bool:
    return leaf is not None and leaf.text.rstrip("/") == "/dev/shm"


def _resource(shown: _Shown, subject: str, side: str, leaf: Leaf) -> Iterator[Record]:
    """One limit or request. Device resources keep their own name, which is unique already."""
    resource = leaf.keys[-1]
    yield _setting(shown, resource if "/" in resource else f"{side}.{resource}", leaf)
    cpus = _cpus(leaf.text) if resource == "cpu" and side in ("limits", "default") else None
    if cpus is not None:
        yield CpuQuota(
            source=source(shown.lines, "kubernetes"), quotes=shown.quotes([leaf]), subject=subject, quota_cpus_ratio=cpus
        )


def _loose_resources(shown: _Shown, leaves: list[Leaf], kind: str) -> Iterator[Record]:
    """Limits outside a container: a LimitRange, a ResourceQuota, or a fragment that begins at `resources:`."""
    for leaf in leaves:
        keys = leaf.keys
        if kind == "LimitRange" and len(keys) >= 2 and keys[-2] in ("default", "defaultRequest", "max", "min"):
            yield from _resource(shown, "LimitRange default", keys[-2], leaf)
        elif not kind and len(keys) >= 2 and keys[-2] in ("limits", "requests"):
            yield from _resource(shown, "container", keys[-2], leaf)


def _environment(shown: _Shown, own: list[Leaf]) -> Iterator[EnvVar]:
    entries: dict[int | str, dict[str, Leaf]] = {}
    for leaf in own:
        if leaf.keys[:1] == ("env",) and len(leaf.path) == 3:
            entries.setdefault(leaf.path[1], {})[leaf.keys[1]] = leaf
    for entry in entries.values():
        if "name" in entry and "value" in entry:
            name = entry["name"].text
            yield EnvVar(
                source=source(shown.lines, "kubernetes"),
                quotes=shown.quotes([entry["name"], entry["value"]]),
                name=name,
                setting="[redacted]" if _SECRET.search(name) else entry["value"].text,
            )


def _command(shown: _Shown, own: list[Leaf]) -> Iterator[Command]:
    words = [leaf for leaf in own if leaf.keys in (("command",), ("args",))]
    if any(leaf.keys == ("command",) for leaf in words):
        words.sort(key=lambda leaf: leaf.keys != ("command",))
        yield Command(
            source=source(shown.lines, "kubernetes"),
            quotes=shown.quotes(words),
            program=words[0].text.rsplit("/", 1)[-1],
            arguments=tuple(leaf.text for leaf in words[1:]),
        )


def _annotations(shown: _Shown, leaves: list[Leaf]) -> Iterator[Record]:
    for leaf in leaves:
        if "annotations" not in leaf.keys[:-1] or "\n" in leaf.text or leaf.keys[-1].endswith("last-applied-configuration"):
            continue
        yield _setting(shown, leaf.keys[-1], leaf)
        if leaf.keys[-1].startswith(_NGINX_ANNOTATION):
            yield Directive(
                source=source(shown.lines, "kubernetes"),
                quotes=shown.quotes([leaf]),
                server="nginx",
                name=leaf.keys[-1].removeprefix(_NGINX_ANNOTATION).replace("-", "_"),
                arguments=(leaf.text,),
                block="ingress annotation",
            )


def _resolver(shown: _Shown, leaves: list[Leaf]) -> Iterator[ResolverSetup]:
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
            source=source(shown.lines, "kubernetes"),
            quotes=shown.quotes(inside),
            nameservers=tuple(leaf.text for leaf in inside if leaf.keys[-1] == "nameservers"),
            search=tuple(leaf.text for leaf in inside if leaf.keys[-1] == "searches"),
            ndots_count=int(ndots.text) if ndots is not None and ndots.text.isdecimal() else None,
            options=tuple(leaf.text for leaf in options),
        )


def _service(shown: _Shown, leaves: list[Leaf]) -> Iterator[Setting]:
    for leaf in leaves:
        if leaf.keys == ("spec", "type"):
            yield _setting(shown, "Service.type", leaf)
        elif leaf.keys[:1] == ("spec",) and leaf.keys[-1] in (
            "clusterIP",
            "sessionAffinity",
            "externalTrafficPolicy",
            "timeoutSeconds",
        ):
            yield _setting(shown, leaf.keys[-1], leaf)


def _specification(shown: _Shown, leaves: list[Leaf], kind: str) -> Iterator[Setting]:
    """Scalars of a kind that runs no containers: its `spec`, or all of a configuration file such as the kubelet's."""
    is_file = kind.endswith("Configuration")
    for leaf in leaves:
        keys = leaf.keys
        belongs = keys[:1] not in (("apiVersion",), ("kind",), ("metadata",), ("status",)) if is_file else keys[:1] == ("spec",)
        if belongs and keys and "\n" not in leaf.text and not (kind == "LimitRange" and _text(leaves, ("spec", "limits", "type"))):
            yield _setting(shown, keys[-1], leaf)


# --- values ------------------------------------------------------------------------------------------------------------------


def _setting(shown: _Shown, name: str, leaf: Leaf) -> Setting:
    found = _QUANTITY.match(leaf.text)
    number = float(found["number"]) if found else None
    unit = found["suffix"] if found else None
    return Setting(
        source=source(shown.lines, "kubernetes"),
        quotes=shown.quotes([leaf]),
        name=name,
        setting="[redacted]" if _SECRET.search(name) else leaf.text,
        value=number,
        unit=unit,
        duration_s=_duration_s(name, leaf.text, number, unit),
    )


def _duration_s(name: str, text: str, number: float | None, unit: str | None) -> float | None:
    """A time as Go writes it (`4h0m0s`), or a number whose name speaks of time; Kubernetes and ingress-nginx then mean seconds."""
    if _GO_DURATION.match(text):
        parts = [time_in_s(float(count), each) for count, each in _GO_PART.findall(text)]
        return sum(part for part in parts if part is not None)
    is_time = "time" in name.lower() or name.lower().endswith(("seconds", "period", "interval", "duration", "age"))
    return time_in_s(number, unit or "s") if is_time and number is not None else None


def _cpus(text: str) -> float | None:
    """CPUs of a Kubernetes quantity: `500m` is half of one."""
    found = _QUANTITY.match(text)
    if not found or found["suffix"] not in (None, "m"):
        return None
    return float(found["number"]) / (1000.0 if found["suffix"] else 1.0)


def _bytes(text: str) -> int | None:
    """Bytes of a Kubernetes quantity: `16Gi` is binary, `16G` decimal."""
    found = _QUANTITY.match(text)
    if not found:
        return None
    try:
        return int(min(float(found["number"]), 1e15) * scale_of(found["suffix"] or ""))
    except KeyError:
        return None


READER = Reader(
    title=Text(en="Kubernetes manifest", zh="Kubernetes 清单"),
    gives=(ContainerState, CpuQuota, Setting, EnvVar, Command, Directive, ResolverSetup),
    recognises=marked(_HINT, "kind: "),
    read=_read,
    obtained_by=("kubectl get pod POD -o yaml",),
    voice="loose",
)
