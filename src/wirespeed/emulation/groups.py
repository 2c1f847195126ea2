"""Control groups that hold a host's processes to a share of the processor: v1 `cpu.cfs_quota_us` or v2 `cpu.max`."""

import contextlib
import os
import time
import zlib
from pathlib import Path

from wirespeed.model.errors import CouldNot
from wirespeed.model.text import Text

ROOT = Path("/sys/fs/cgroup")
PERIOD_US = 100_000
"""The kernel's default period (sched-bwc.rst)."""
ONESELF = 0
"""Process number that means the process which writes it (cgroups.rst)."""
REMOVE_PATIENCE_S = 2.0


def can_limit() -> bool:
    """Whether this process may make groups with a quota."""
    base = _base()
    return base is not None and os.access(base, os.W_OK)


def path_for(directory: Path, host: str) -> str:
    """The group of one host of the lab that is kept in this directory."""
    return str((_base() or ROOT) / f"{_prefix(directory)}{host}")


def limit(group: str, share_ratio: float, pid: int) -> None:
    """Make the group, give it its quota, and move the process and all its descendants there. Raises CouldNot."""
    place = Path(group)
    try:
        place.mkdir(exist_ok=True)
        quota_us = max(1000, round(PERIOD_US * share_ratio))
        if (place / "cpu.cfs_quota_us").exists():
            (place / "cpu.cfs_period_us").write_text(str(PERIOD_US), encoding="ascii")
            (place / "cpu.cfs_quota_us").write_text(str(quota_us), encoding="ascii")
        else:
            (place / "cpu.max").write_text(f"{quota_us} {PERIOD_US}", encoding="ascii")
        for one in (pid, *_descendants(pid)):
            join(group, one)
    except OSError as error:
        raise CouldNot(Text(en=f"{group}: {error.strerror}", zh=f"{group}：{error.strerror}")) from error


def join(group: str, pid: int) -> None:
    """Put one more process under the quota; a group that has gone holds nobody."""
    with contextlib.suppress(OSError):
        (Path(group) / "cgroup.procs").write_text(str(pid), encoding="ascii")


def group_of(pid: int) -> str:
    """The group a process is in now, of the hierarchy that has the quotas."""
    base = _base() or ROOT
    for line in Path(f"/proc/{pid}/cgroup").read_text(encoding="utf-8").splitlines():
        _, controllers, path = line.split(":", 2)
        if controllers == "" if base == ROOT else "cpu" in controllers.split(","):
            return str(base / path.lstrip("/"))
    return str(base)


def remove(group: str, former: str) -> None:
    """Give the group's processes back to their former group and remove it; one that is not there is no trouble."""
    with contextlib.suppress(OSError):
        for pid in (Path(group) / "cgroup.procs").read_text(encoding="ascii").split():
            join(former, int(pid))
    _remove_empty(Path(group))


def remove_all(directory: Path) -> None:
    """What a lab that died without healing left: empty groups."""
    base = _base()
    for place in base.glob(f"{_prefix(directory)}*") if base is not None else ():
        _remove_empty(place)


def _remove_empty(place: Path) -> None:
    """A group counts as busy for a moment after its last process has ended."""
    deadline = time.monotonic() + REMOVE_PATIENCE_S
    while time.monotonic() < deadline:
        try:
            place.rmdir()
        except FileNotFoundError:
            return
        except OSError:
            time.sleep(0.01)


def _prefix(directory: Path) -> str:
    """Labs of one name can live in several directories."""
    return f"wirespeed-lab-{zlib.crc32(str(directory).encode()):08x}-"


def _base() -> Path | None:
    """Where groups with a quota are made: the v1 cpu hierarchy, or the v2 one with the cpu controller handed down."""
    if (ROOT / "cpu" / "cpu.cfs_quota_us").exists():
        return ROOT / "cpu"
    with contextlib.suppress(OSError):
        if "cpu" in (ROOT / "cgroup.subtree_control").read_text(encoding="ascii").split():
            return ROOT
    return None


def _descendants(pid: int) -> list[int]:
    found: list[int] = []
    waiting = [pid]
    while waiting:
        one = waiting.pop()
        with contextlib.suppress(OSError):
            children = [int(word) for word in Path(f"/proc/{one}/task/{one}/children").read_text(encoding="ascii").split()]
            found += children
            waiting += children
    return found
