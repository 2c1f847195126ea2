"""Forked child processes that do one thing and hand back one JSON document: one core each, no interpreter lock, no threads."""

import ctypes
import gc
import os
import select
import signal
import time
from collections.abc import Callable
from types import TracebackType
from typing import TypeVar

import msgspec

T = TypeVar("T")
_PR_SET_PDEATHSIG = 1
_LIBC = ctypes.CDLL(None, use_errno=True)


class Children:
    """A group of children; leaving the block ends and reaps all that still run."""

    def __init__(self) -> None:
        self._pipes: dict[int, int] = {}
        """Process id by the read end of its pipe."""
        self._parts: dict[int, bytearray] = {}

    def __enter__(self) -> "Children":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        for pipe, pid in self._pipes.items():
            end(pid)
            os.close(pipe)
        self._pipes.clear()

    def start(self, work: Callable[[], msgspec.Struct]) -> int:
        """Fork a child for `work`; its handle is for `results`. A child that fails hands back nothing."""
        near, far = os.pipe()
        parent = os.getpid()
        pid = os.fork()
        if pid:
            os.close(far)
            self._pipes[near] = pid
            self._parts[near] = bytearray()
            return near
        code = 1
        try:
            os.close(near)
            dies_with(parent)
            gc.disable()
            body = msgspec.json.encode(work())
            while body:
                body = body[os.write(far, body) :]
            code = 0
        finally:
            os._exit(code)

    def results(self, kind: type[T], timeout_s: float) -> dict[int, T]:
        """What the children handed back, by handle; those that took longer or failed are left out. All are ended and reaped."""
        deadline_s = time.monotonic() + timeout_s
        waiting = set(self._pipes)
        while waiting and (left_s := deadline_s - time.monotonic()) > 0:
            watch = select.poll()
            for pipe in waiting:
                watch.register(pipe, select.POLLIN)
            for pipe, _ in watch.poll(left_s * 1e3):
                part = os.read(pipe, 65536)
                self._parts[pipe] += part
                if not part:
                    waiting.discard(pipe)
        found = {}
        for pipe in set(self._pipes) - waiting:
            if self._parts[pipe]:
                found[pipe] = msgspec.json.decode(bytes(self._parts[pipe]), type=kind)
        self.__exit__(None, None, None)
        return found


def dies_with(parent: int) -> None:
    """Tie this process's life to its parent's, also where the parent is killed; Ctrl-C is the parent's business."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def end(pid: int) -> None:
    """Kill a child of ours, if it still runs, and reap it."""
    try:
        if os.waitpid(pid, os.WNOHANG) == (0, 0):
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
    except (ChildProcessError, ProcessLookupError):
        return
