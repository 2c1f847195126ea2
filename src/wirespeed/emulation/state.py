"""What is kept of a running lab: a private directory with one JSON file, and who may write it."""

import contextlib
import errno
import fcntl
import os
import re
import secrets
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

import msgspec

from wirespeed.emulation.topology import Drawing
from wirespeed.model.errors import BadRequest, CouldNot
from wirespeed.model.text import Text

STATE_NAME, LOG_NAME = "state.json", "keeper.log"
DEFAULT_NAME = "lab"
_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,31}")
_MOST_SOCKET_PATH_BYTES = 107
"""`sun_path` of unix(7), less its closing zero."""


class Undo(msgspec.Struct, frozen=True, kw_only=True):
    """One step back, written down before the step forward is taken. Undoing what never happened does nothing."""

    node: str
    kind: Literal["ip", "tc", "nft", "write", "stop", "cgroup"]
    """`ip`, `tc`, `nft`: lines for that program; `write`: a file's former content; `stop`: an actor; `cgroup`: a control group."""
    what: str = ""
    """The file, the actor's tag or the group."""
    lines: tuple[str, ...] = ()


class FaultInForce(msgspec.Struct, frozen=True, kw_only=True):
    """A fault that was put in and not yet taken out."""

    fault: str
    where: str
    seed_number: int
    details: dict[str, str]
    """What was drawn: rates, ratios, who is concerned."""
    undo: tuple[Undo, ...] = ()
    is_told: bool = True
    """False where whoever broke it asked not to be told."""


class Guard(msgspec.Struct, frozen=True, kw_only=True):
    """The process that keeps the lab, and that ends it."""

    pid: int
    started_count: int
    """Clock ticks from boot to its start: a recycled process number is told by it."""


class LabState(msgspec.Struct, frozen=True, kw_only=True):
    """Everything another process must know to use the lab."""

    name: str
    created_at_s: float
    ends_at_s: float
    guard: Guard
    is_in_user_namespace: bool
    drawing: Drawing
    pids: dict[str, int]
    """The process whose namespaces are the node, as seen from where the lab was made."""
    faults: tuple[FaultInForce, ...] = ()
    traffic: FaultInForce | None = None
    """Healthy load, kept in the same form because it is stopped in the same way."""
    wires: dict[str, str] = {}
    """Where the lab was made with delay or loss by wires in user space: what stands for each host in its leaf's bridge."""


def checked_name(name: str) -> str:
    """The name itself. Raises BadRequest for anything that is no plain word."""
    if not _NAME.fullmatch(name):
        raise BadRequest(
            Text(
                en="a lab's name has up to 32 small letters, digits and hyphens",
                zh="实验室名称最多 32 个字符，只能含小写字母、数字和连字符",
            )
        )
    return name


def root_directory() -> Path:
    """The directory of all labs of this user, made if need be, and private. Raises CouldNot."""
    given = os.environ.get("XDG_RUNTIME_DIR")
    place = Path(given) / "wirespeed" if given else Path(f"/tmp/wirespeed-{os.geteuid()}")
    try:
        with contextlib.suppress(FileExistsError):
            place.mkdir(mode=0o700)
        seen = place.lstat()
    except OSError as error:
        raise CouldNot(
            Text(
                en=f"{place} cannot be made: {error.strerror} (set XDG_RUNTIME_DIR to a directory of yours)",
                zh=f"无法创建 {place}：{error.strerror}（请将 XDG_RUNTIME_DIR 设为你自己的目录）",
            )
        ) from error
    if not stat.S_ISDIR(seen.st_mode) or seen.st_uid != os.geteuid() or seen.st_mode & 0o077:
        raise CouldNot(
            Text(
                en=f"{place} is not a private directory of this user, so the lab is not kept there",
                zh=f"{place} 不是当前用户的私有目录，因此不在其中保存实验室",
            )
        )
    return place


def lab_directory(name: str) -> Path:
    """Where the lab of this name is kept, whether or not it exists."""
    return root_directory() / f"lab-{checked_name(name)}"


def make_directory(name: str) -> Path:
    """An empty directory for a new lab; what a dead one of the same name left is removed. Raises CouldNot."""
    place = lab_directory(name)
    longest = place / "spine99.sock"
    if len(os.fsencode(longest)) > _MOST_SOCKET_PATH_BYTES:
        raise CouldNot(
            Text(
                en=f"{place} is too long a path for sockets; set XDG_RUNTIME_DIR to a shorter one",
                zh=f"{place} 路径过长，无法放置套接字；请将 XDG_RUNTIME_DIR 设为较短的目录",
            )
        )
    try:
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(mode=0o700)
    except OSError as error:
        raise CouldNot(Text(en=f"{place} cannot be made: {error.strerror}", zh=f"无法创建 {place}：{error.strerror}")) from error
    return place


@contextmanager
def locked(directory: Path) -> Iterator[None]:
    """Only one process at a time goes on from here. Raises CouldNot where the directory has gone."""
    try:
        descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        raise CouldNot(Text(en=f"{directory} has gone", zh=f"{directory} 已不存在")) from error
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def write_state(directory: Path, state: LabState) -> None:
    """Replace the state as a whole."""
    draft = directory / f".{STATE_NAME}.{secrets.token_hex(4)}"
    draft.write_bytes(msgspec.json.encode(state))
    draft.replace(directory / STATE_NAME)


def read_state(directory: Path) -> LabState | None:
    """The state of a lab that lives, or None: never of one whose guard has ended."""
    try:
        state = msgspec.json.decode((directory / STATE_NAME).read_bytes(), type=LabState)
    except (OSError, msgspec.DecodeError):
        return None
    return state if started_count(state.guard.pid) == state.guard.started_count else None


def started_count(pid: int) -> int | None:
    """Clock ticks from boot to the start of a living process (field 22 of proc(5) `stat`); None where it has ended."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.ESRCH):
            return None
        raise
    return None if fields[0] in "ZX" else int(fields[19])
