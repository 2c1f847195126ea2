"""One node of the lab: a small process whose namespaces are the node, and which carries out orders inside them."""

import contextlib
import fcntl
import importlib
import os
import select
import signal
import socket
import struct
import subprocess
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

import msgspec

from wirespeed.emulation import control
from wirespeed.emulation.topology import Setup
from wirespeed.machines import namespace

Serve = Callable[[socket.socket], None]
"""Answers one connection of an agent; handed in by whoever makes the lab."""

PROGRAM_TIMEOUT_S = 20.0
STOP_PATIENCE_S = 1.0
READY_PATIENCE_S = 5.0
READY_POLL_S = 0.004
ACTORS = "wirespeed.emulation.actors"
_SIOCGIFFLAGS, _IFF_RUNNING = 0x8913, 0x40
_INTERFACE_FLAGS = struct.Struct("16sH14x")
"""`struct ifreq` as SIOCGIFFLAGS uses it."""


class NotReady(Exception):
    """The node could not be set up; the sentence says why."""


class Holder:
    """The main loop of a node: accept, fork, reap."""

    def __init__(self, name: str, directory: Path, serve: Serve) -> None:
        self.name = name
        self.directory = directory
        self.serve = serve
        self.actors: dict[str, int] = {}

    def enter(self) -> None:
        """Leave the keeper's namespaces for the node's own. Raises OSError; a /sys that cannot be had is gone without."""
        namespace.unshare(namespace.NEW_MOUNT | namespace.NEW_UTS | namespace.NEW_NET)
        namespace.keep_mounts_private()
        socket.sethostname(self.name)
        for file in ("hosts", "resolv.conf"):
            if Path("/etc", file).exists():
                namespace.bind(str(self.directory / self.name / file), f"/etc/{file}")
        with contextlib.suppress(OSError):
            self._show_own_devices()
        namespace.call_oneself(f"lab {self.name}")

    def _show_own_devices(self) -> None:
        """/sys of this network namespace, with the control groups that were seen there."""
        groups = os.open("/sys/fs/cgroup", os.O_PATH)
        try:
            namespace.mount_fresh("sysfs", "/sys")
            namespace.bind(f"/proc/self/fd/{groups}", "/sys/fs/cgroup", recursive=True)
        finally:
            os.close(groups)

    def configure(self, setup: Setup) -> None:
        """Addresses, routes, queues; returns when every port is up. Raises NotReady."""
        for key, value in setup.sysctls:
            with contextlib.suppress(FileNotFoundError):  # an older kernel, or one without IPv6
                Path("/proc/sys", key).write_text(value, encoding="ascii")
        run_batch("ip", setup.ip_lines)
        run_batch("tc", setup.tc_lines)
        deadline = time.monotonic() + READY_PATIENCE_S
        waiting = list(setup.ports)
        while waiting := [port for port in waiting if not _is_up(port)]:
            if time.monotonic() > deadline:
                raise NotReady(f"{self.name}: {waiting[0]} does not come up")
            time.sleep(READY_POLL_S)

    def listen(self) -> tuple[socket.socket, socket.socket]:
        """The node's doors: `<node>.sock` for agents, `<node>.ctl` for orders; both for their owner only."""
        return self._listening("sock"), self._listening("ctl")

    def run(self, agents: socket.socket, orders: socket.socket) -> NoReturn:
        """Serve until killed."""
        wake, wakened = socket.socketpair()
        wake.setblocking(False)
        wakened.setblocking(False)
        signal.signal(signal.SIGCHLD, lambda number, frame: None)
        signal.set_wakeup_fd(wakened.fileno(), warn_on_full_buffer=False)
        while True:
            ready, _, _ = select.select([agents, orders, wake], [], [])
            with contextlib.suppress(BlockingIOError):
                wake.recv(4096)
            self._reap()
            if agents in ready:
                self._in_child(agents.accept()[0], self.serve, (agents, orders, wake, wakened))
            if orders in ready:
                self._order(orders.accept()[0], (agents, orders, wake, wakened))

    def _listening(self, ending: str) -> socket.socket:
        handle = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        place = str(self.directory / f"{self.name}.{ending}")
        handle.bind(place)
        Path(place).chmod(0o600)
        handle.listen(64)
        return handle

    def _reap(self) -> None:
        with contextlib.suppress(ChildProcessError):
            while True:
                pid, _ = os.waitpid(-1, os.WNOHANG)
                if pid == 0:
                    return
                self.actors = {tag: actor for tag, actor in self.actors.items() if actor != pid}

    def _in_child(self, connection: socket.socket, act: Serve, ours: tuple[socket.socket, ...]) -> None:
        pid = os.fork()
        if pid:
            connection.close()
            return
        _as_child(lambda: act(connection), ours)

    def _order(self, connection: socket.socket, ours: tuple[socket.socket, ...]) -> None:
        """Actors are this process's children; all else is done in a child, so that nothing holds up the node."""
        connection.settimeout(control.ORDER_TIMEOUT_S)
        try:
            order = msgspec.json.decode(control.received(connection), type=control.Order)
        except (OSError, msgspec.DecodeError):
            connection.close()
            return
        if isinstance(order, control.Start):
            reply = self._start(order, (*ours, connection))
        elif isinstance(order, control.Stop):
            reply = self._stop(order)
        else:
            chosen = order
            self._in_child(connection, lambda handle: _answer(handle, _carried_out(chosen)), ours)
            return
        with contextlib.suppress(OSError):
            _answer(connection, reply)
        connection.close()

    def _start(self, order: control.Start, ours: tuple[socket.socket, ...]) -> control.Reply:
        if order.tag_name in self.actors:
            return control.Reply(error=f"{order.tag_name} runs already")
        pid = os.fork()
        if pid == 0:
            log = self.directory / self.name / order.log
            _as_child(lambda: _act(order, log), ours)
        with contextlib.suppress(OSError):
            os.setpgid(pid, pid)
        self.actors[order.tag_name] = pid
        return control.Reply(pid=pid)

    def _stop(self, order: control.Stop) -> control.Reply:
        pid = self.actors.pop(order.tag_name, None)
        if pid is not None:
            _end(pid)
        return control.Reply()


def _act(order: control.Start, log: Path) -> None:
    """Become an actor: output to its log, and a group of its own (which the parent makes as well, whoever comes first)."""
    os.setpgid(0, 0)
    output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.dup2(output, 1)
    os.dup2(output, 2)
    namespace.call_oneself(order.actor)
    importlib.import_module(f"{ACTORS}.{order.actor}").act(order.arguments)


def _as_child(act: Callable[[], None], ours: tuple[socket.socket, ...]) -> NoReturn:
    """The rest of a forked child's life: none of the node's own sockets, the usual signals, and never back into the loop."""
    code = 1
    try:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        for handle in ours:
            handle.close()
        act()
        code = 0
    finally:
        if sys.exc_info()[0] is not None:
            traceback.print_exc()
        with contextlib.suppress(OSError, ValueError):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code)


def _end(pid: int) -> None:
    """Ask a child and what it started to end, and make it."""
    for number, patience_s in ((signal.SIGTERM, STOP_PATIENCE_S), (signal.SIGKILL, STOP_PATIENCE_S)):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(pid, number)
        deadline = time.monotonic() + patience_s
        while time.monotonic() < deadline:
            with contextlib.suppress(ChildProcessError):
                if os.waitpid(pid, os.WNOHANG)[0] == 0:
                    time.sleep(READY_POLL_S)
                    continue
            return


def _answer(connection: socket.socket, reply: control.Reply) -> None:
    connection.sendall(msgspec.json.encode(reply))
    connection.shutdown(socket.SHUT_WR)


def _carried_out(order: control.Run | control.Read | control.Write) -> control.Reply:
    try:
        if isinstance(order, control.Read):
            return control.Reply(output=Path(order.path).read_text(encoding="utf-8", errors="replace"))
        if isinstance(order, control.Write):
            with Path(order.path).open("r+", encoding="utf-8") as file:
                if not Path(order.path).is_relative_to("/proc"):
                    file.truncate(0)
                file.write(order.text)
            return control.Reply()
        done = subprocess.run(  # noqa: S603 - the argv comes through a private socket
            order.argv, input=order.stdin, capture_output=True, text=True, timeout=PROGRAM_TIMEOUT_S, check=False, errors="replace"
        )
    except OSError as error:
        return control.failed(error)
    except subprocess.TimeoutExpired:
        return control.Reply(error=f"{order.argv[0]} did not end in time" if isinstance(order, control.Run) else "timed out")
    return control.Reply(exit_code=done.returncode, output=done.stdout, errors=done.stderr)


def run_batch(program: str, lines: tuple[str, ...]) -> None:
    """Give `ip` or `tc` all its lines at once. Raises NotReady with what it complained of."""
    done = subprocess.run(  # noqa: S603 - ip and tc, with lines of our own
        (program, "-batch", "-"),
        input="\n".join(lines) + "\n",
        capture_output=True,
        text=True,
        timeout=PROGRAM_TIMEOUT_S,
        check=False,
    )
    if done.returncode:
        raise NotReady(f"{program}: {' '.join(done.stderr.split())[:300]}")


def _is_up(port: str) -> bool:
    """Whether the kernel has started the port's queue: until then what is sent is lost without a word."""
    asked = _INTERFACE_FLAGS.pack(port.encode()[:15], 0)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as handle:
        _, flags = _INTERFACE_FLAGS.unpack(fcntl.ioctl(handle.fileno(), _SIOCGIFFLAGS, asked))
    return bool(flags & _IFF_RUNNING)
