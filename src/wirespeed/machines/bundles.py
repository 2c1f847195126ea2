"""Trees that support programs gather: which machine they are of, what each file was printed by, and what in them tells nothing.

Known: sosreport (the sos project: `sos_commands/<plugin>/<command>` beside copies of /proc, /sys, /etc and /var), NVIDIA's
sysinfo-snapshot (`commands_txt_output`) and ibdiagnet, and dumps of clusters (`kubectl cluster-info dump`, must-gather). Where a name is
ambiguous, content decides.
"""

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import MappingProxyType

from wirespeed.machines.captured import Packed, Tree
from wirespeed.machines.machine import MachineProblem
from wirespeed.model.lines import Origin
from wirespeed.model.text import Text

MOST_ROOT_DEPTH = 3
"""How deep in an archive or a directory a gathered tree may begin."""
EMPTY: Mapping[str, str] = MappingProxyType({})
_COMMANDS = "sos_commands"
_MARKS: tuple[tuple[str, frozenset[str]], ...] = (
    ("sos", frozenset({_COMMANDS})),
    ("copy", frozenset({"proc", "sys"})),
    ("snapshot", frozenset({"commands_txt_output"})),
    ("fabric", frozenset({"ibdiagnet2.log"})),
    ("cluster", frozenset({"nodes.json", "kube-system"})),
    ("cluster", frozenset({"cluster-scoped-resources", "namespaces"})),
)
"""Kinds of trees by what lies at their root."""
_HOST_FILES = ("sos_commands/host/hostname", "sos_commands/general/hostname", "hostname")
"""Where a sosreport without /proc and /etc names its machine."""
_NAMED_ROOT = (
    re.compile(r"^sosreport-(?P<host>[\w.-]+?)(?:-\d+)?-\d{4}-\d\d-\d\d-[a-z]{7}(?:-obfuscated)?$"),
    re.compile(r"^sysinfo-snapshot-v[\d.]+-(?P<host>[\w.-]+?)-\d{8}-\d{4,6}$"),
)
_LONG_PROGRAMS = ("ibv_devinfo", "ibv_devices", "mlnx_qos", "mlnx_tune", "mlnx_perf", "show_gids", "ip_netns", "nvidia-smi")
"""Programs with an underscore in their name, which in a file's name also stands for a blank."""
_PROCESS = re.compile(r"^proc/\d+/")
_NAMESPACE = re.compile(r"^sos_commands/[^/]+/namespaces/")
_UNTELLING = {
    "processes": Text(en="files of single processes under /proc were not read", zh="个 /proc 下单个进程的文件未读取"),
    "sysfs": Text(
        en="files of /sys and /proc/sys that no collector asks for were not read",
        zh="个采集器不需要的 /sys 与 /proc/sys 文件未读取",
    ),
    "namespaces": Text(
        en="outputs of other network namespaces were not read: their interfaces are not the host's",
        zh="个其他网络命名空间的输出未读取：其中的接口不属于主机",
    ),
    "encoded": Text(en="dumps that only the maker can decode were not read", zh="个只有厂商能解码的转储未读取"),
    "pages": Text(en="pages that a proxy has ready for errors were not read", zh="个代理预置的错误页面未读取"),
    "about": Text(en="files about the gathering itself were not read", zh="个关于收集过程本身的文件未读取"),
}
"""What is left out, and how that is told after its number."""


Reading = Callable[[], bytes]
"""Gives the content of a file, or raises MachineProblem."""


@dataclass(frozen=True, slots=True)
class Bundle:
    """One gathered tree: where it begins, its machine where /proc or /sys were copied, and the machine's name."""

    root: str
    kind: str
    machine: Packed | Tree | None
    host: str | None
    commands: Mapping[str, str] = field(default_factory=dict)
    """Commands that printed files, where something else than the file's name tells."""

    def left_out(self, name: str) -> str | None:
        """Why a file is not read as a text: a key of `UNTELLING`, or nothing but that its facts were taken."""
        inside = self._inside(name)
        if self.machine is not None and inside in self.machine.asked:
            return "taken"
        if _PROCESS.match(inside):
            return "processes"
        if inside.startswith(("sys/", "proc/sys/")):
            return "sysfs"
        if _NAMESPACE.match(inside):
            return "namespaces"
        if self.commands.get(inside, "").startswith(("nvidia-debugdump", "/usr/bin/nvidia-debugdump", "base64 ")):
            return "encoded"
        if inside.startswith("etc/haproxy/errors/"):
            return "pages"
        return "about" if inside.startswith(("sos_logs/", "sos_reports/", "sos_strings/")) else None

    def origin_of(self, name: str) -> Origin:
        """What the place of a file tells of it."""
        return Origin(host=self.host, command=self._command(self._inside(name)), is_collected=True)

    def _inside(self, name: str) -> str:
        return name[len(self.root) + 1 :] if self.root else name

    def _command(self, inside: str) -> str | None:
        parts = inside.split("/")
        if inside in self.commands:
            return self.commands[inside]
        return command_of(parts[-1]) if self.kind == "sos" and parts[0] == _COMMANDS and len(parts) > 2 else None


def command_of(file_name: str) -> str:
    """The command whose output sos keeps under a name: every run of other characters than letters, digits, `-` and `.` became `_`."""
    program = next((one for one in _LONG_PROGRAMS if file_name == one or file_name.startswith(f"{one}_")), None)
    if program is None:
        return file_name.replace("_", " ")
    return f"{program.replace('ip_netns', 'ip netns')}{file_name[len(program) :].replace('_', ' ')}"


def untold(reason: str, count: int) -> Text:
    """That so many files were left out for a reason of `left_out`."""
    said = _UNTELLING[reason]
    return Text(en=f"{count} {said.en}", zh=f"{count} {said.zh}")


def is_told(reason: str) -> bool:
    """Whether files left out for this reason are told of: the facts of a copied machine are read elsewhere."""
    return reason in _UNTELLING


def roots_of(names: Iterable[str]) -> dict[str, str]:
    """Where gathered trees begin among the names of files and links, and of which kind each is. None begins inside another."""
    children: dict[str, set[str]] = {}
    for name in names:
        parts = name.split("/")
        for depth in range(min(len(parts), MOST_ROOT_DEPTH + 1)):
            children.setdefault("/".join(parts[:depth]), set()).add(parts[depth])
    roots: dict[str, str] = {}
    for root in sorted(children, key=lambda root: (root.count("/") + bool(root), root)):
        kind = next((kind for kind, marks in _MARKS if marks <= children[root]), None)
        if kind is not None and not any(root.startswith(f"{outer}/") or not outer for outer in roots):
            roots[root] = kind
    return roots


def bundles_in(files: Mapping[str, Reading], links: Mapping[str, str]) -> tuple[Bundle, ...]:
    """The gathered trees of an archive."""
    return tuple(packed_bundle(root, kind, files, links) for root, kind in roots_of((*files, *links)).items())


def packed_bundle(
    root: str,
    kind: str,
    files: Mapping[str, Reading],
    links: Mapping[str, str],
    host: str | None = None,
    commands: Mapping[str, str] = EMPTY,
) -> Bundle:
    """A gathered tree among the files of an archive."""
    start = f"{root}/" if root else ""
    own = {name[len(start) :]: content for name, content in files.items() if name.startswith(start)}
    own_links = {name[len(start) :]: target for name, target in links.items() if name.startswith(start)}
    machine = Packed(own, own_links, host or _named_host(root, own.get))
    has_machine = any(name.startswith(("proc/", "sys/")) for name in own)
    return Bundle(root, kind, machine if has_machine else None, machine.host, commands)


def bundles_below(folder: Path) -> tuple[Bundle, ...]:
    """The gathered trees in a directory."""
    found = []
    for root, kind in roots_of(_names_below(folder, "", MOST_ROOT_DEPTH)).items():
        place = folder / root
        tree = Tree(place)
        tree = Tree(place, _named_host(root or folder.name, partial(_reading, tree)))
        has_machine = (place / "proc").is_dir() or (place / "sys").is_dir()
        found.append(Bundle(root, kind, tree if has_machine else None, tree.host))
    return tuple(found)


def _names_below(folder: Path, start: str, depth: int) -> Iterator[str]:
    """Names in a directory and in those below it, not followed through links."""
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError:
        return
    for entry in entries:
        yield start + entry.name
        if depth and entry.is_dir(follow_symlinks=False):
            yield from _names_below(Path(entry.path), f"{start}{entry.name}/", depth - 1)


def _reading(tree: Tree, path: str) -> Reading | None:
    try:
        content = tree.read(path)
    except MachineProblem:
        return None
    return lambda: content


def _named_host(root: str, content_of: Callable[[str], Reading | None]) -> str | None:
    """The machine's name where neither its kernel nor /etc tells it."""
    if content_of("proc/sys/kernel/hostname") or content_of("etc/hostname"):
        return None
    for path in _HOST_FILES:
        content = content_of(path)
        try:
            said = content().decode(errors="replace").split() if content else []
        except MachineProblem:
            continue
        if said:
            return said[0]
    base = root.rpartition("/")[2]
    return next((found["host"] for pattern in _NAMED_ROOT if (found := pattern.match(base))), None)


def bundle_of(bundles: Iterable[Bundle], name: str) -> Bundle | None:
    """The gathered tree in which a file lies."""
    return next((one for one in bundles if not one.root or name.startswith(f"{one.root}/")), None)
