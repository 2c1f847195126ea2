"""A lab that lives, as others use it: open it, reach its nodes, end it."""

import contextlib
import os
import shutil
import signal
import socket
import time
from pathlib import Path

import msgspec

from wirespeed.emulation import control, groups
from wirespeed.emulation.state import (
    DEFAULT_NAME,
    Guard,
    LabState,
    lab_directory,
    locked,
    read_state,
    root_directory,
    started_count,
)
from wirespeed.emulation.topology import Role
from wirespeed.model.errors import BadRequest, CouldNot
from wirespeed.model.text import Text

DOWN_PATIENCE_S = 10.0
_POLL_S = 0.01


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
        """What to put before a command so that it runs in the node. Killing the process that this starts ends the command too.

        With a `working_directory` the command also gets back a SIGINT that the caller ignores.
        """
        user = ("--user", "--preserve-credentials") if self.state.is_in_user_namespace else ()
        directory = ("env", f"--chdir={working_directory}", "--default-signal=INT") if working_directory is not None else ()
        tie = ("setpriv", "--pdeathsig", "KILL", "--") if shutil.which("setpriv") else ()
        return (
            "nsenter", "--target", str(node.pid), *user, "--mount", "--uts", "--ipc", "--net", "--pid", "--", *tie, *directory,
        )  # fmt: skip

    def cpu_group(self, node: Node) -> str | None:
        """The control group that holds this host to a share of the processor, where such a fault is in force."""
        found = (
            undo.what for fault in self.state.faults for undo in fault.undo if undo.kind == "cgroup" and undo.node == node.name
        )
        return next(found, None)

    def order(self, name: str, order: control.Order) -> control.Reply:
        """Have an order carried out in a node. Raises CouldNot."""
        return control.send(str(self.directory / f"{name}.ctl"), order, name)


def named(name: str) -> str:
    """The option that names this lab on a command line; nothing for the usual one."""
    return "" if name == DEFAULT_NAME else f" --name {name}"


def open_lab(name: str = DEFAULT_NAME) -> Lab:
    """The lab of this name. Raises CouldNot where none lives, BadRequest for a name that is none."""
    directory = lab_directory(name)
    state = read_state(directory)
    if state is None:
        raise CouldNot(
            Text(
                en=f"there is no lab called {name}; `wirespeed lab up{named(name)}` makes one",
                zh=f"没有名为 {name} 的实验室；可用 `wirespeed lab up{named(name)}` 创建",
            )
        )
    return Lab(directory, state)


def down(name: str = DEFAULT_NAME) -> bool:
    """End the lab and wait until nothing of it is left; False where there was none. Raises CouldNot when it does not end."""
    directory = lab_directory(name)
    state = read_state(directory)
    if state is not None:
        _end(state.guard, name)
    with locked(root_directory()):  # a guard that was killed cannot clear away
        if read_state(directory) is None:
            groups.remove_all(directory)
            shutil.rmtree(directory, ignore_errors=True)
    return state is not None


def _end(guard: Guard, name: str) -> None:
    with contextlib.suppress(ProcessLookupError):
        handle = os.pidfd_open(guard.pid)
        try:
            if started_count(guard.pid) == guard.started_count:  # the number has not been given to another process
                signal.pidfd_send_signal(handle, signal.SIGTERM)
        finally:
            os.close(handle)
    deadline = time.monotonic() + DOWN_PATIENCE_S
    while started_count(guard.pid) == guard.started_count:
        if time.monotonic() > deadline:
            raise CouldNot(Text(en=f"the lab {name} does not end", zh=f"实验室 {name} 无法结束"))
        time.sleep(_POLL_S)


def names() -> tuple[str, ...]:
    """Labs of this user that live."""
    found = (path for path in root_directory().glob("lab-*") if read_state(path) is not None)
    return tuple(sorted(path.name.removeprefix("lab-") for path in found))
