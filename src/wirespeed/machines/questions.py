"""Questions about the live machine that no single file answers; each reply is JSON and can be kept and replayed."""

import os
import socket
import threading
import time
from collections.abc import Callable
from pathlib import Path

import msgspec

from wirespeed.machines.machine import timed_out
from wirespeed.machines.nvml import gpus
from wirespeed.machines.variables import that_matter

NAME_LOOKUP_BOUND_S = 2.0
MOST_PROCESSES = 20_000
MOST_DESCRIPTORS = 200_000
MOST_JOB_PROCESSES = 64
"""Processes whose environment is reported: a node runs one worker per GPU and a few servers."""


def _filesystem(path: str) -> bytes:
    """Size and use of the file system that holds `path`."""
    found = os.statvfs(path)
    size = found.f_blocks * found.f_frsize
    return msgspec.json.encode({"size_bytes": size, "used_bytes": size - found.f_bfree * found.f_frsize})


def _access(path: str) -> bytes:
    """Whether this process may read and write `path`; raises when it does not exist."""
    Path(path).stat()
    return msgspec.json.encode({"is_accessible": os.access(path, os.R_OK | os.W_OK)})


def _name_lookup(name: str) -> bytes:
    """Resolve a name through the system's resolver and time it, for at most two seconds.

    `getaddrinfo` cannot be interrupted, so a daemon thread does it and is left behind when it is late.
    """
    found: dict[str, object] = {}

    def look_up() -> None:
        start = time.perf_counter()
        try:
            answers = socket.getaddrinfo(name, None, type=socket.SOCK_STREAM)
            found.update(is_answered=True, addresses=sorted({str(answer[4][0]) for answer in answers}))
        except (OSError, ValueError) as error:  # ValueError: a name that cannot be encoded
            found.update(is_answered=False, addresses=[], error=str(error))
        found["time_s"] = time.perf_counter() - start

    worker = threading.Thread(target=look_up, daemon=True)
    worker.start()
    worker.join(NAME_LOOKUP_BOUND_S)
    if "time_s" not in found:
        raise timed_out(f"name look-up of {name}")
    return msgspec.json.encode(found)


def _processes() -> list[str]:
    return sorted((name for name in os.listdir("/proc") if name.isdigit()), key=int)[:MOST_PROCESSES]  # noqa: PTH208


def _socket_owners(_: str) -> bytes:
    """Inode of each socket with the process that holds it, as far as /proc may be read."""
    owners: dict[str, str] = {}
    looked = 0
    for pid in _processes():
        if looked >= MOST_DESCRIPTORS:
            break
        try:
            descriptors = os.listdir(f"/proc/{pid}/fd")  # noqa: PTH208
        except OSError:
            continue
        inodes = [inode for name in descriptors if (inode := _socket_inode(f"/proc/{pid}/fd/{name}"))]
        looked += len(descriptors)
        if inodes:
            process = f"{_command_name(pid)} ({pid})"
            owners.update((inode, process) for inode in inodes if inode not in owners)
    return msgspec.json.encode(owners)


def _socket_inode(path: str) -> str | None:
    try:
        target = os.readlink(path)  # noqa: PTH115
    except OSError:
        return None
    return target[8:-1] if target.startswith("socket:[") else None


def _command_name(pid: str) -> str:
    try:
        return Path(f"/proc/{pid}/comm").read_text(errors="replace").strip()
    except OSError:
        return "?"


def _is_program(pid: str) -> bool:
    """Kernel threads have no command line, and no environment either."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes() != b""
    except OSError:
        return False


def _job_environments(_: str) -> bytes:
    """Of each readable process that carries framework variables: its id, name and those variables, secrets replaced."""
    jobs: list[dict[str, object]] = []
    unreadable = 0
    for pid in _processes():
        if len(jobs) >= MOST_JOB_PROCESSES:
            break
        try:
            pairs = Path(f"/proc/{pid}/environ").read_bytes().decode(errors="replace").split("\0")
        except OSError:
            unreadable += _is_program(pid)
            continue
        variables = that_matter(dict(pair.split("=", 1) for pair in pairs if "=" in pair))
        if any(
            name.startswith(("NCCL_", "MASTER_", "GLOO_", "UCX_", "FI_", "VLLM_", "SGLANG_", "RAY_", "CUDA_VISIBLE"))
            for name in variables
        ):
            jobs.append({"pid": int(pid), "command": _command_name(pid), "variables": variables})
    return msgspec.json.encode({"jobs": jobs, "unreadable_count": unreadable})


QUESTIONS: dict[str, Callable[[str], bytes]] = {
    "filesystem": _filesystem,
    "access": _access,
    "name-lookup": _name_lookup,
    "socket-owners": _socket_owners,
    "job-environments": _job_environments,
    "gpus": gpus,
}
