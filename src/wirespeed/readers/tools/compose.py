"""Services of a Docker Compose file, whole or as the excerpt of one service.

A service of a whole file (under `services:`) without `network_mode` is on the project's own network, which is a bridge; an excerpt
leaves lines out, so there it stays None. Anchors and merge keys (`<<`) are followed; aliases are counted before composing.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

import yaml

from wirespeed.model.facts.host import ContainerState, CpuQuota, EnvVar
from wirespeed.model.kinds import Reader
from wirespeed.model.lines import Lines, quote, source
from wirespeed.model.record import Record
from wirespeed.model.settings import Command
from wirespeed.model.source import Problem, Quote
from wirespeed.model.text import Text
from wirespeed.model.units import scale_of
from wirespeed.readers.parsing.marks import marked
from wirespeed.readers.parsing.regex import regex

MOST_BLOCK_CHARACTERS = 256 * 1024
MOST_ALIASES = 50
MOST_BRACKETS = 60
MOST_DASHES_A_LINE = 20
MOST_INDENT_CHARACTERS = 80
"""A compose file nests a few levels; deeper input could only serve to exhaust the composer's stack."""
MOST_MERGES = 8

_SERVICES = regex(r"(?m)^\s*services:\s*(?:#.*)?$")
_SERVICE_KEYS = frozenset(
    {
        "image",
        "build",
        "network_mode",
        "ports",
        "shm_size",
        "ipc",
        "cap_add",
        "ulimits",
        "privileged",
        "devices",
        "deploy",
        "runtime",
    }
)
_EXCERPT = regex(r"(?m)^\s*(?:network_mode|shm_size|cap_add|ulimits|ipc):")
_YAML_LINE = regex(r"^\s*(?:-\s+)?(?:[\"'][^\"']+[\"']|[\w./\-<]+)\s*:(?:\s|$)|^\s*-\s|^\s*#")
_ALIAS = regex(r"(?m)(?:^|[\s\[,{:-])\*[A-Za-z0-9_]")
_SIZE = regex(r"(?i)^(?P<number>\d+(?:\.\d+)?)\s*(?P<scale>[kmgt])?i?b?$")
_SECRET = regex(r"(?i)secret|token|password|passwd|api_?key|credential|private")
_NUMBER = regex(r"^\d*\.?\d+$")


@dataclass(frozen=True, slots=True)
class _Block:
    lines: Lines
    first_index: int
    written: tuple[str, ...]

    def quotes(self, *nodes: yaml.Node | None) -> tuple[Quote, ...]:
        """Lines at which these nodes begin."""
        wanted = sorted({node.start_mark.line for node in nodes if node is not None and node.start_mark.line < len(self.written)})
        return tuple(quote(self.lines, self.first_index + line, self.written[line]) for line in wanted)


def _read(lines: Lines) -> Iterator[Record | Problem]:
    for block in _blocks(lines):
        text = "\n".join(block.written)
        if not (_SERVICES.search(text) or _EXCERPT.search(text)):
            continue
        root = _composed(text)
        if isinstance(root, Text):
            yield Problem(source=source(lines, "compose"), why=root, line_index=block.first_index)
        elif isinstance(root, yaml.MappingNode):
            yield from _services(block, root)


def _blocks(lines: Lines) -> Iterator[_Block]:
    """Runs of lines that can be YAML."""
    run: list[str] = []
    first_index = 0
    for index, line in lines:
        fits = _YAML_LINE.match(line) or (run and (not line.strip() or line.startswith((" ", "\t"))))
        if fits:
            first_index = first_index if run else index
            run.append(line)
        elif run:
            yield _Block(lines, first_index, tuple(run))
            run = []
    if run:
        yield _Block(lines, first_index, tuple(run))


def _composed(text: str) -> yaml.Node | Text | None:
    if len(text) > MOST_BLOCK_CHARACTERS or len(_ALIAS.findall(text)) > MOST_ALIASES or _nests_deeply(text):
        return Text(en="compose file too large, too deep or with too many aliases", zh="compose 文件过大、嵌套过深或别名过多")
    try:
        return yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.YAMLError:
        return Text(en="damaged compose file", zh="compose 文件已损坏")


def _nests_deeply(text: str) -> bool:
    """Whether brackets, indentation or dashes go deeper than any compose file does."""
    depth = 0
    for bracket in re.findall(r"[\[\]{}]", text):
        depth += 1 if bracket in "[{" else -1
        if depth > MOST_BRACKETS:
            return True
    return any(
        line.count("- ") > MOST_DASHES_A_LINE or line.count("? ") > MOST_DASHES_A_LINE or _indent(line) > MOST_INDENT_CHARACTERS
        for line in text.split("\n")
    )


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip()) if line.strip() else 0


def _services(block: _Block, root: yaml.MappingNode) -> Iterator[Record]:
    """Services under `services:`; else the mapping itself, or its members, where they look like services."""
    top = _members(root)
    services = top.get("services")
    if isinstance(services, yaml.MappingNode):
        for name, node in _members(services).items():
            if isinstance(node, yaml.MappingNode):
                yield from _service(block, name, _members(node), is_whole=True)
    elif len(_SERVICE_KEYS & top.keys()) >= 2:
        yield from _service(block, "service", top, is_whole=False)
    else:
        for name, node in top.items():
            own = _members(node) if isinstance(node, yaml.MappingNode) else {}
            if len(_SERVICE_KEYS & own.keys()) >= 2:
                yield from _service(block, name, own, is_whole=False)


def _members(node: yaml.MappingNode, merges_left: int = MOST_MERGES) -> dict[str, yaml.Node]:
    """Members by key; merged mappings count where the mapping itself has no such key."""
    own: dict[str, yaml.Node] = {}
    merged: dict[str, yaml.Node] = {}
    for key, value in node.value:
        if key.value == "<<" and merges_left:
            for one in value.value if isinstance(value, yaml.SequenceNode) else [value]:
                if isinstance(one, yaml.MappingNode):
                    merged |= _members(one, merges_left - 1)
        elif isinstance(key, yaml.ScalarNode):
            own[key.value] = value
    return merged | own


def _service(block: _Block, name: str, own: dict[str, yaml.Node], *, is_whole: bool) -> Iterator[Record]:
    network = own.get("network_mode")
    ulimits = own.get("ulimits")
    memlock = _members(ulimits).get("memlock") if isinstance(ulimits, yaml.MappingNode) else None
    privileged = own.get("privileged")
    shm = own.get("shm_size")
    shown = [own.get(key) for key in ("image", "ports", "devices", "cap_add", "ipc")]
    yield ContainerState(
        source=source(block.lines, "compose"),
        quotes=block.quotes(*shown, network, memlock, privileged, shm) or block.quotes(*own.values())[:1],
        subject=name,
        runtime="docker",
        network_mode=_scalar(network) or ("bridge" if is_whole else None),
        devices=(*(one.split(":")[0] for one in _list(own.get("devices"))), *_gpus(own)),
        capabilities=tuple(_list(own.get("cap_add"))),
        published_ports=tuple(_ports(own.get("ports"))),
        shm_bytes=_bytes(_scalar(shm)),
        ipc_mode=_scalar(own.get("ipc")),
        memlock_is_unlimited=None if memlock is None else _memlock(memlock) == "-1",
        is_privileged=None if privileged is None else _scalar(privileged) == "true",
        has_memory_shm_volume=True if any(":/dev/shm" in one for one in _list(own.get("volumes"))) else None,
    )
    yield from _cpu_quota(block, name, own)
    yield from _environment(block, own.get("environment"))
    yield from _command(block, name, own)


def _command(block: _Block, name: str, own: dict[str, yaml.Node]) -> Iterator[Command]:
    """Entry point and command; a command of options alone goes to the image's own program, shown by the service's name."""
    nodes = [node for node in (own.get("entrypoint"), own.get("command")) if node is not None]
    words = [word for node in nodes for word in (_list(node) or (_scalar(node) or "").split())]
    if words:
        program, arguments = (name, words) if words[0].startswith("-") else (words[0].rsplit("/", 1)[-1], words[1:])
        yield Command(
            source=source(block.lines, "compose"), quotes=block.quotes(*nodes), program=program, arguments=tuple(arguments)
        )


def _scalar(node: yaml.Node | None) -> str | None:
    return str(node.value) if isinstance(node, yaml.ScalarNode) else None


def _list(node: yaml.Node | None) -> list[str]:
    return [str(one.value) for one in node.value if isinstance(one, yaml.ScalarNode)] if isinstance(node, yaml.SequenceNode) else []


def _ports(node: yaml.Node | None) -> Iterator[str]:
    """Short form as written; long form as `published:target`."""
    yield from _list(node)
    for one in node.value if isinstance(node, yaml.SequenceNode) else []:
        if isinstance(one, yaml.MappingNode):
            members = _members(one)
            yield f"{_scalar(members.get('published')) or ''}:{_scalar(members.get('target')) or ''}".strip(":")


def _memlock(node: yaml.Node) -> str | None:
    return _scalar(_members(node).get("soft")) if isinstance(node, yaml.MappingNode) else _scalar(node)


def _inner(node: yaml.Node | None, *keys: str) -> yaml.Node | None:
    for key in keys:
        if not isinstance(node, yaml.MappingNode):
            return None
        node = _members(node).get(key)
    return node


def _gpus(own: dict[str, yaml.Node]) -> Iterator[str]:
    """GPU reservations, as the device `gpus=COUNT`."""
    reserved = _inner(own.get("deploy"), "resources", "reservations", "devices")
    for one in reserved.value if isinstance(reserved, yaml.SequenceNode) else []:
        capabilities = _list(_inner(one, "capabilities"))
        if "gpu" in capabilities:
            yield f"gpus={_scalar(_inner(one, 'count')) or 'all'}"


def _cpu_quota(block: _Block, name: str, own: dict[str, yaml.Node]) -> Iterator[CpuQuota]:
    node = own.get("cpus") or _inner(own.get("deploy"), "resources", "limits", "cpus")
    text = _scalar(node)
    if text and _NUMBER.match(text):
        yield CpuQuota(source=source(block.lines, "compose"), quotes=block.quotes(node), subject=name, quota_cpus_ratio=float(text))


def _environment(block: _Block, node: yaml.Node | None) -> Iterator[EnvVar]:
    """The mapping form; the list form (`- NAME=value`) is read as environment assignments already."""
    if not isinstance(node, yaml.MappingNode):
        return
    for name, value in _members(node).items():
        yield EnvVar(
            source=source(block.lines, "compose"),
            quotes=block.quotes(value),
            name=name,
            setting="[redacted]" if _SECRET.search(name) else _scalar(value),
        )


def _bytes(text: str | None) -> int | None:
    """Compose's units are binary whether written `g`, `gb` or `gib`."""
    found = _SIZE.match(text or "")
    if not found:
        return None
    return int(min(float(found["number"]), 1e15) * (scale_of(f"{found['scale']}i") if found["scale"] else 1.0))


READER = Reader(
    title=Text(en="Docker Compose file", zh="Docker Compose 文件"),
    gives=(ContainerState, CpuQuota, EnvVar, Command),
    recognises=marked(_SERVICES, _EXCERPT),
    read=_read,
    obtained_by=("docker compose config",),
    voice="loose",
)
