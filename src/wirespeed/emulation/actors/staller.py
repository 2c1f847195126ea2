"""A host whose programs get the processor only in slices: everything in it is stopped and continued in turn."""

import contextlib
import os
import signal
import time
from pathlib import Path
from typing import Any

LOOK_AGAIN_S = 0.03


def act(arguments: dict[str, Any]) -> None:
    """Let the host's programs run for `run_s` of every `period_s`; on SIGTERM let them go."""
    stopped: set[int] = set()

    def let_run() -> None:
        for pid in stopped:
            _tell(pid, signal.SIGCONT)
        stopped.clear()

    def leave(number: int, frame: object) -> None:
        let_run()
        os._exit(0)

    signal.signal(signal.SIGTERM, leave)
    while True:
        until_s = time.monotonic() + arguments["period_s"] - arguments["run_s"]
        while (left_s := until_s - time.monotonic()) > 0:
            stopped |= _programs()  # again and again: programs start other programs
            for pid in stopped:
                _tell(pid, signal.SIGSTOP)
            time.sleep(min(LOOK_AGAIN_S, left_s))
        let_run()
        time.sleep(arguments["run_s"])


def _programs() -> set[int]:
    """Processes of this host: neither this one, nor the one that holds the host, nor those that somebody outside waits for
    (`nsenter` would stop itself with them, and nobody would continue it)."""
    here, spared = Path("/proc/self/ns/net").readlink(), {os.getpid(), os.getppid()}
    found = set()
    for place in Path("/proc").iterdir():
        with contextlib.suppress(OSError, ValueError):
            pid = int(place.name)
            if pid not in spared and (place / "ns" / "net").readlink() == here and _parent_of(place) != 0:
                found.add(pid)
    return found


def _parent_of(place: Path) -> int:
    return int((place / "stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()[1])


def _tell(pid: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)
