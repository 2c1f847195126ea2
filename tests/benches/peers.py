"""A responder in a forked child, for tests of both ends."""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from wirespeed.benches.links.responder import listen_at, serve
from wirespeed.benches.links.spec import Limits

TOKEN = "correct horse"


@contextmanager
def responder(address: str = "127.0.0.1", limits: Limits | None = None, for_s: float = 60.0) -> Iterator[tuple[int, int]]:
    """Its port and process id."""
    listening = listen_at(address, 0)
    port = listening.getsockname()[1]
    pid = os.fork()
    if pid == 0:
        try:
            serve(listening, TOKEN, for_s, limits)
        finally:
            os._exit(0)
    listening.close()
    try:
        yield port, pid
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


def children_of(pid: int) -> set[int]:
    """Process ids of all that descend from a process."""
    found: set[int] = set()
    for place in Path("/proc").glob("[0-9]*"):
        try:
            parent = int((place / "stat").read_text(encoding="ascii", errors="replace").rpartition(")")[2].split()[1])
        except OSError:
            continue
        if parent == pid:
            found |= {int(place.name)} | children_of(int(place.name))
    return found


def in_namespace() -> list[str]:
    """The start of a command line that runs what follows in namespaces of its own, which end with it."""
    return ["unshare", "--user", "--map-root-user", "--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]
