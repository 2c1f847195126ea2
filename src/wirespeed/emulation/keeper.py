"""The processes that are the lab. Guard (outside) -> keeper (first process of the lab's own process namespace) -> one holder a node.

When the guard dies the kernel kills the keeper, and when the keeper dies the kernel kills everything in the lab; the namespaces,
and with them interfaces, queues, tables and mounts, live only as long as these processes. So nothing can be left behind.
"""

import contextlib
import os
import select
import shutil
import signal
import socket
import sys
from pathlib import Path
from typing import NoReturn

import msgspec

from wirespeed.emulation import groups, topology
from wirespeed.emulation.holder import Holder, NotReady, Serve, run_batch
from wirespeed.emulation.state import locked
from wirespeed.machines import namespace

GONE = 1
_YES = b'""'
KNOWN = b"."
"""The answer to a report: whoever asked for the lab has written down where it is."""
MOST_MESSAGE_BYTES = 128 * 1024


class Mandate(msgspec.Struct, frozen=True, kw_only=True):
    """What the guard is told by whoever makes the lab."""

    directory: str
    drawing: topology.Drawing
    lifetime_s: float


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """What the guard tells back: the nodes' processes as seen from outside, or why there is no lab."""

    pid: int = 0
    """The guard's."""
    pids: dict[str, int] = {}
    is_in_user_namespace: bool = False
    error: str | None = None
    error_code: int = 0


def guard(channel: socket.socket, mandate: Mandate, serve: Serve) -> NoReturn:
    """Make the lab, report on `channel`, and keep it until told, timed out or killed.

    The channel must answer the report with `KNOWN`. If it closes instead, nobody knows of the lab and it is ended.
    """
    if os.fork():
        os._exit(0)  # so that the lab is nobody's child, and nobody has to wait for it
    os.setsid()
    directory = Path(mandate.directory)
    identity = directory.stat().st_ino
    in_user_namespace = not namespace.may_make_namespaces()
    try:
        if in_user_namespace:
            namespace.become_root_of_a_user_namespace()
        namespace.unshare(namespace.NEW_PID)
    except OSError as error:
        _tell(channel, Report(error=str(error), error_code=error.errno or 0))
        os._exit(GONE)
    ours, theirs = _message_pair()
    keeper = os.fork()
    if keeper == 0:
        channel.close()
        ours.close()
        _keep(theirs, directory, mandate, serve)
    theirs.close()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGALRM):
        signal.signal(number, lambda number, frame: os.kill(keeper, signal.SIGKILL))
    try:
        report = msgspec.json.decode(ours.recv(MOST_MESSAGE_BYTES) or b'{"error": "the keeper ended"}', type=Report)
        if report.error is None:
            pids = {place.name: _peer_pid(directory / f"{place.name}.sock") for place in mandate.drawing.places}
            report = Report(pid=os.getpid(), pids=pids, is_in_user_namespace=in_user_namespace)
        _tell(channel, report)
        is_known = report.error is None and channel.recv(1) == KNOWN
    except OSError:
        is_known = False
    channel.close()
    if is_known:
        signal.setitimer(signal.ITIMER_REAL, mandate.lifetime_s)
    else:
        os.kill(keeper, signal.SIGKILL)
    os.waitpid(keeper, 0)
    _clear_away(directory, identity)
    os._exit(0)


def _clear_away(directory: Path, identity: int) -> None:
    """Remove the lab's directory, unless a new lab has taken its place."""
    groups.remove_all(directory)
    with contextlib.suppress(OSError), locked(directory.parent):
        if directory.stat().st_ino == identity:
            shutil.rmtree(directory, ignore_errors=True)


def _keep(guard_end: socket.socket, directory: Path, mandate: Mandate, serve: Serve) -> NoReturn:
    """First process of the lab: start the holders, lay the cables, then wait. Any holder's end is the lab's end."""
    namespace.die_with_parent()
    if select.select([guard_end], [], [], 0)[0]:  # the guard ended before it could be tied to us
        os._exit(GONE)
    try:
        holders = _found(directory, mandate.drawing, serve)
        _tell(guard_end, Report())
    except (OSError, NotReady) as error:
        _tell(guard_end, Report(error=str(error), error_code=getattr(error, "errno", 0) or 0))
        os._exit(GONE)
    while True:
        ended, _ = os.wait()
        if ended in holders:
            os._exit(GONE)


def _found(directory: Path, drawing: topology.Drawing, serve: Serve) -> frozenset[int]:
    """Namespaces, then cables, then settings; the holders' process numbers."""
    namespace.unshare(namespace.NEW_MOUNT | namespace.NEW_UTS | namespace.NEW_IPC | namespace.NEW_NET)
    namespace.keep_mounts_private()
    namespace.mount_fresh("proc", "/proc")
    namespace.call_oneself("lab keeper")
    pids: dict[str, int] = {}
    ends: dict[str, socket.socket] = {}
    for place in drawing.places:
        ours, theirs = _message_pair()
        pids[place.name], ends[place.name] = os.fork(), ours
        if pids[place.name] == 0:
            ours.close()
            _hold(Holder(place.name, directory, serve), theirs)
        theirs.close()
    _all_say_yes(ends)
    run_batch("ip", topology.cabling(drawing, pids))
    for place in drawing.places:
        ends[place.name].sendall(msgspec.json.encode(topology.setup(drawing, place)))
    _all_say_yes(ends)
    for end in ends.values():
        end.close()
    return frozenset(pids.values())


def _hold(holder: Holder, keeper_end: socket.socket) -> NoReturn:
    """Become a node: enter its namespaces, wait for the cables, be set up, serve."""
    try:
        holder.enter()
        keeper_end.sendall(_YES)
        told = keeper_end.recv(MOST_MESSAGE_BYTES)
        if not told:
            os._exit(GONE)
        holder.configure(msgspec.json.decode(told, type=topology.Setup))
        doors = holder.listen()
        keeper_end.sendall(_YES)
        keeper_end.close()
    except (OSError, NotReady) as error:
        keeper_end.sendall(msgspec.json.encode(str(error)))
        os._exit(GONE)
    holder.run(*doors)


def _all_say_yes(ends: dict[str, socket.socket]) -> None:
    """Wait for every node. Raises NotReady with the first that says otherwise."""
    for name, end in ends.items():
        said = end.recv(MOST_MESSAGE_BYTES) or b'"ended"'
        if said != _YES:
            raise NotReady(f"{name}: {msgspec.json.decode(said, type=str)}")


def _peer_pid(place: Path) -> int:
    """The process that listens there, by the number it has here (the kernel translates it between process namespaces)."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as handle:
        handle.connect(str(place))
        return int.from_bytes(handle.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)[:4], sys.byteorder)


def _message_pair() -> tuple[socket.socket, socket.socket]:
    return socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)


def _tell(channel: socket.socket, report: Report) -> None:
    with contextlib.suppress(OSError):
        channel.sendall(msgspec.json.encode(report))
