"""The lab as others use it: make it, open it, reach its nodes, end it."""

import contextlib
import errno
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import msgspec

from wirespeed.emulation import control, topology
from wirespeed.emulation.keeper import KNOWN, MOST_MESSAGE_BYTES, Mandate, Report
from wirespeed.emulation.state import (
    DEFAULT_NAME,
    LOG_NAME,
    Guard,
    LabState,
    lab_directory,
    locked,
    make_directory,
    read_state,
    root_directory,
    started_count,
    write_state,
)
from wirespeed.emulation.topology import Role, Spec
from wirespeed.model.errors import BadRequest, CouldNot
from wirespeed.model.text import Text

NEEDED_PROGRAMS = {"ip": "iproute2", "tc": "iproute2", "nsenter": "util-linux"}
DEFAULT_LIFETIME_S = 8 * 3600.0
UP_PATIENCE_S = 30.0
DOWN_PATIENCE_S = 10.0
_POLL_S = 0.01
_FORBIDDEN = frozenset({errno.EPERM, errno.EACCES, errno.ENOSPC, errno.EUSERS})
"""How a kernel refuses namespaces: no right to them, or none left (user.max_*_namespaces)."""


class Node(msgspec.Struct, frozen=True, kw_only=True):
    """One host or router. `pid` is the process whose namespaces are the node's; agents are reached at `socket_path`."""

    name: str
    role: Role
    pid: int
    addresses: tuple[str, ...]
    socket_path: str


class Lab:
    """A lab that lives."""

    def __init__(self, directory: Path, state: LabState) -> None:
        self.directory = directory
        self.state = state
        self.nodes = tuple(
            Node(
                name=place.name,
                role=place.role,
                pid=state.pids[place.name],
                addresses=place.addresses,
                socket_path=str(directory / f"{place.name}.sock"),
            )
            for place in state.drawing.places
        )

    @property
    def hosts(self) -> tuple[Node, ...]:
        """The nodes that are no routers."""
        return tuple(node for node in self.nodes if node.role == "host")

    def node(self, name: str) -> Node:
        """One node by its name. Raises BadRequest naming those there are."""
        for node in self.nodes:
            if node.name == name:
                return node
        known = ", ".join(node.name for node in self.nodes)
        raise BadRequest(Text(en=f"there is no {name} in this lab; there are {known}", zh=f"该实验室中没有 {name}；现有：{known}"))

    def connect(self, node: Node) -> socket.socket:
        """A connection to the node's agent, which runs in the node. Raises OSError."""
        handle = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            handle.connect(node.socket_path)
        except OSError:
            handle.close()
            raise
        return handle

    def enter_argv(self, node: Node, working_directory: str | None = None) -> tuple[str, ...]:
        """What to put before a command so that it runs in the node. Killing the process that this starts ends the command too."""
        user = ("--user", "--preserve-credentials") if self.state.is_in_user_namespace else ()
        directory = ("env", f"--chdir={working_directory}") if working_directory is not None else ()
        tie = ("setpriv", "--pdeathsig", "KILL", "--") if shutil.which("setpriv") else ()
        return (
            "nsenter", "--target", str(node.pid), *user, "--mount", "--uts", "--ipc", "--net", "--pid", "--", *tie, *directory,
        )  # fmt: skip

    def order(self, name: str, order: control.Order) -> control.Reply:
        """Have an order carried out in a node. Raises CouldNot."""
        return control.send(str(self.directory / f"{name}.ctl"), order, name)


def open_lab(name: str = DEFAULT_NAME) -> Lab:
    """The lab of this name. Raises CouldNot where none lives, BadRequest for a name that is none."""
    directory = lab_directory(name)
    state = read_state(directory)
    if state is None:
        raise CouldNot(
            Text(
                en=f"there is no lab called {name}; `wirespeed lab up` makes one",
                zh=f"没有名为 {name} 的实验室；可用 `wirespeed lab up` 创建",
            )
        )
    return Lab(directory, state)


def up(spec: Spec, keeper_module: str, *, name: str = DEFAULT_NAME, lifetime_s: float = DEFAULT_LIFETIME_S) -> Lab:
    """Make a lab and return when every link is up.

    `keeper_module` is run as a program with the channel's descriptor as its argument; it must call `keeper.guard`.
    Raises BadRequest for a drawing that makes no sense, CouldNot where the machine does not permit it or the lab exists.
    """
    _check(spec, lifetime_s)
    missing = next((program for program in NEEDED_PROGRAMS if shutil.which(program) is None), None)
    if missing is not None:
        package = NEEDED_PROGRAMS[missing]
        raise CouldNot(
            Text(
                en=f"the program {missing} is missing; install the package {package}",
                zh=f"缺少程序 {missing}；请安装软件包 {package}",
            )
        )
    with locked(root_directory()):
        directory = lab_directory(name)
        if read_state(directory) is not None:
            raise CouldNot(
                Text(
                    en=f"the lab {name} is up already; end it with `wirespeed lab down`, or give another --name",
                    zh=f"实验室 {name} 已在运行；请用 `wirespeed lab down` 结束它，或另取 --name",
                )
            )
        make_directory(name)
        is_up = False
        try:
            lab = _founded(directory, name, spec, keeper_module, lifetime_s)
            is_up = True
            return lab
        finally:
            if not is_up:
                shutil.rmtree(directory, ignore_errors=True)


def down(name: str = DEFAULT_NAME) -> bool:
    """End the lab and wait until nothing of it is left; False where there was none. Raises CouldNot when it does not end."""
    directory = lab_directory(name)
    state = read_state(directory)
    if state is None:
        with locked(root_directory()):
            if read_state(directory) is None:
                shutil.rmtree(directory, ignore_errors=True)
        return False
    try:
        guard = os.pidfd_open(state.guard.pid)
    except ProcessLookupError:
        return True
    try:
        if started_count(state.guard.pid) == state.guard.started_count:
            signal.pidfd_send_signal(guard, signal.SIGTERM)
    except ProcessLookupError:
        return True
    finally:
        os.close(guard)
    deadline = time.monotonic() + DOWN_PATIENCE_S
    while started_count(state.guard.pid) == state.guard.started_count:
        if time.monotonic() > deadline:
            raise CouldNot(Text(en=f"the lab {name} does not end", zh=f"实验室 {name} 无法结束"))
        time.sleep(_POLL_S)
    return True


def names() -> tuple[str, ...]:
    """Labs of this user that live."""
    found = (path for path in root_directory().glob("lab-*") if read_state(path) is not None)
    return tuple(sorted(path.name.removeprefix("lab-") for path in found))


def _check(spec: Spec, lifetime_s: float) -> None:
    def refuse(en: str, zh: str) -> None:
        raise BadRequest(Text(en=en, zh=zh))

    if not 1 <= spec.leaves_count <= topology.MOST_LEAVES:
        refuse(f"--leaves is 1 to {topology.MOST_LEAVES}", f"--leaves 取 1 到 {topology.MOST_LEAVES}")
    if not 1 <= spec.spines_count <= topology.MOST_SPINES:
        refuse(f"--spines is 1 to {topology.MOST_SPINES}", f"--spines 取 1 到 {topology.MOST_SPINES}")
    if not spec.leaves_count <= spec.hosts_count <= topology.MOST_HOSTS:
        refuse(
            f"--hosts is at least one a leaf and at most {topology.MOST_HOSTS}",
            f"--hosts 每个叶交换机至少一台，至多 {topology.MOST_HOSTS} 台",
        )
    if not all(1e6 <= rate <= 100e9 for rate in (spec.host_rate_bits_per_s, spec.uplink_rate_bits_per_s)):
        refuse("a link's rate is 1 to 100,000 Mbit/s", "链路速率取 1 到 100,000 Mbit/s")
    if not 0 <= spec.delay_s <= 1 or not 0 <= spec.loss_ratio < 1:
        refuse("a delay is 0 to 1 s, and a loss below 1", "时延取 0 到 1 秒，丢包率小于 1")
    if not 1 <= lifetime_s <= 7 * 86400:
        refuse("--for is 1 s to 7 days", "--for 取 1 秒到 7 天")


def _founded(directory: Path, name: str, spec: Spec, keeper_module: str, lifetime_s: float) -> Lab:
    drawing = topology.drawn(spec)
    for place in drawing.places:
        (directory / place.name).mkdir()
        (directory / place.name / "hosts").write_text(topology.hosts_file(drawing, place.name), encoding="utf-8")
        (directory / place.name / "resolv.conf").write_text(topology.RESOLVER_FILE, encoding="utf-8")
    mandate = Mandate(directory=str(directory), drawing=drawing, lifetime_s=lifetime_s)
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with ours:
        with theirs:
            ours.sendall(msgspec.json.encode(mandate))
            _start_guard(keeper_module, theirs, directory)
        ours.settimeout(UP_PATIENCE_S)
        try:
            said = ours.recv(MOST_MESSAGE_BYTES)
        except TimeoutError:
            said = b""
        report = msgspec.json.decode(said, type=Report) if said else Report(error="the keeper ended")
        guard = Guard(pid=report.pid, started_count=started_count(report.pid) or 0)
        if report.error is not None:
            raise _not_founded(report, directory)
        now_s = time.time()
        state = LabState(
            name=name,
            created_at_s=now_s,
            ends_at_s=now_s + lifetime_s,
            guard=guard,
            is_in_user_namespace=report.is_in_user_namespace,
            drawing=drawing,
            pids=report.pids,
        )
        write_state(directory, state)
        ours.sendall(KNOWN)
    return Lab(directory, state)


def _not_founded(report: Report, directory: Path) -> CouldNot:
    """Why there is no lab, and what would permit it."""
    if report.error_code in _FORBIDDEN:
        return CouldNot(
            Text(
                en="this kernel does not permit namespaces here: run as root, or allow user namespaces (sysctl user.max_user_namespaces "
                "above 0, kernel.unprivileged_userns_clone=1, kernel.apparmor_restrict_unprivileged_userns=0, where they exist); "
                f"it said: {report.error}",
                zh="此处内核不允许创建命名空间：请以 root 运行，或允许用户命名空间（sysctl user.max_user_namespaces 大于 0、"
                "kernel.unprivileged_userns_clone=1、kernel.apparmor_restrict_unprivileged_userns=0，以系统实有者为准）；"
                f"内核提示：{report.error}",
            )
        )
    with contextlib.suppress(OSError):
        last = (directory / LOG_NAME).read_text(encoding="utf-8", errors="replace").strip().splitlines()[-1:]
        said = "; ".join(filter(None, (report.error, *last)))
        return CouldNot(Text(en=f"the lab could not be made: {said}", zh=f"无法建立实验室：{said}"))
    return CouldNot(Text(en=f"the lab could not be made: {report.error}", zh=f"无法建立实验室：{report.error}"))


def _start_guard(keeper_module: str, channel: socket.socket, directory: Path) -> None:
    package_root = str(Path(__file__).parents[2])
    search = os.pathsep.join(filter(None, (package_root, os.environ.get("PYTHONPATH"))))
    with (directory / LOG_NAME).open("wb") as log:
        subprocess.run(  # noqa: S603 - our own interpreter
            (sys.executable, "-P", "-m", keeper_module, str(channel.fileno())),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            pass_fds=(channel.fileno(),),
            env={**os.environ, "PYTHONPATH": search},
            cwd="/",
            check=False,
        )
