"""Things of a machine that are read again and again: opened once, then only read, and never an exception on the way.

A live machine keeps the descriptor and reads with `pread`; any other is asked anew each time. What cannot be read any more (an
interface that went away) gives nothing, which shows as a gap.
"""

import array
import fcntl
import os
import socket
import struct
from collections.abc import Callable
from typing import Protocol

from wirespeed.machines.local import NETLINK_TIMEOUT_S, SIOCETHTOOL, Local, collected
from wirespeed.machines.machine import Machine, MachineProblem, problem_of
from wirespeed.machines.nvml import KeptGpus

CHUNK_BYTES = 65_536
MOST_CHUNKS = 256
_OWN_NET, _THREAD_NET = "/proc/net/", "/proc/thread-self/net/"
"""`/proc/net` is the network namespace of the process; a thread may have moved to another."""


class Kept(Protocol):
    """Something opened; `read` gives its present bytes, or none."""

    def read(self) -> bytes:
        """The bytes as they are now; empty where there are none any more."""

    def close(self) -> None:
        """Give the descriptor back."""


class _KeptFile:
    __slots__ = ("_descriptor",)

    def __init__(self, path: str) -> None:
        if path.startswith(_OWN_NET):
            path = _THREAD_NET + path.removeprefix(_OWN_NET)
        self._descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)

    def read(self) -> bytes:
        """Files of /proc made of many records give a page at a time; the read that gives nothing is the end."""
        try:
            first = os.pread(self._descriptor, CHUNK_BYTES, 0)
            at = len(first)
            more = os.pread(self._descriptor, CHUNK_BYTES, at) if at else b""
            if not more:
                return first
            parts = [first]
            while more and len(parts) < MOST_CHUNKS:
                parts.append(more)
                at += len(more)
                more = os.pread(self._descriptor, CHUNK_BYTES, at)
            return b"".join(parts)
        except OSError:
            return b""

    def close(self) -> None:
        os.close(self._descriptor)


class _KeptDump:
    """A netlink socket and the dumps asked of it."""

    __slots__ = ("_family", "_requests", "_socket")

    def __init__(self, family: int, requests: tuple[bytes, ...]) -> None:
        self._family, self._requests = family, requests
        self._socket = self._opened()

    def _opened(self) -> socket.socket:
        handle = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW | socket.SOCK_CLOEXEC, self._family)
        handle.settimeout(NETLINK_TIMEOUT_S)
        handle.bind((0, 0))
        return handle

    def read(self) -> bytes:
        """The replies one after another. After an error the socket is opened anew, lest a late reply be taken for the next one."""
        parts = []
        for request in self._requests:
            try:
                self._socket.send(request)
                parts.append(collected(self._socket))
            except (OSError, MachineProblem):
                self._socket.close()
                try:
                    self._socket = self._opened()
                except OSError:
                    return b""
        return b"".join(parts)

    def close(self) -> None:
        self._socket.close()


class _KeptIoctl:
    """One ethtool request of one interface, with its memory."""

    __slots__ = ("_ifreq", "_memory", "_request", "_socket")

    def __init__(self, name: str, request: bytes) -> None:
        self._request = request
        self._memory = array.array("B", request)
        self._ifreq = struct.pack("16sP", name.encode()[:15], self._memory.buffer_info()[0])
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC)

    def read(self) -> bytes:
        self._memory[:] = array.array("B", self._request)
        try:
            fcntl.ioctl(self._socket.fileno(), SIOCETHTOOL, self._ifreq)
        except OSError:
            return b""
        return self._memory.tobytes()

    def close(self) -> None:
        self._socket.close()


class _Asked:
    """A machine that keeps nothing open: asked anew each time."""

    __slots__ = ("_ask",)

    def __init__(self, ask: Callable[[], bytes]) -> None:
        self._ask = ask

    def read(self) -> bytes:
        try:
            return self._ask()
        except MachineProblem:
            return b""

    def close(self) -> None:
        """Nothing was opened."""


def kept_file(machine: Machine, path: str) -> Kept:
    """A file of /proc or /sys. Raises `MachineProblem` where it cannot be read now."""
    if not isinstance(machine, Local):
        machine.read(path)
        return _Asked(lambda: machine.read(path))
    try:
        file = _KeptFile(path)
    except OSError as error:
        raise problem_of(error, path) from error
    return file


def kept_dump(machine: Machine, family: int, requests: tuple[bytes, ...]) -> Kept:
    """Netlink dumps, one after another. Raises `MachineProblem` where the family is not to be had."""
    if not isinstance(machine, Local):
        for request in requests:
            machine.netlink(family, request)
        return _Asked(lambda: b"".join([machine.netlink(family, request) for request in requests]))
    try:
        return _KeptDump(family, requests)
    except OSError as error:
        raise problem_of(error, f"netlink family {family}") from error


def kept_ioctl(machine: Machine, name: str, request: bytes) -> Kept:
    """An ethtool request of one interface. Raises `MachineProblem` where the driver does not know it."""
    machine.ioctl(name, request)
    if not isinstance(machine, Local):
        return _Asked(lambda: machine.ioctl(name, request))
    return _KeptIoctl(name, request)


def kept_gpus(machine: Machine) -> Kept:
    """What NVML tells from moment to moment, as JSON. Raises `MachineProblem` where there is no NVML."""
    if isinstance(machine, Local):
        return KeptGpus()
    machine.ask("gpus")
    return _Asked(lambda: machine.ask("gpus"))
