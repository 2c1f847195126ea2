"""Linux namespaces: the few system calls the standard library lacks before Python 3.12."""

import ctypes
import os
import signal
from pathlib import Path

NEW_MOUNT, NEW_UTS, NEW_IPC, NEW_USER, NEW_PID, NEW_NET = (
    0x0002_0000,
    0x0400_0000,
    0x0800_0000,
    0x1000_0000,
    0x2000_0000,
    0x4000_0000,
)
"""`CLONE_NEW*` of linux/sched.h."""
_NOSUID_NODEV_NOEXEC = 0x2 | 0x4 | 0x8
_BIND, _RECURSIVE, _PRIVATE = 0x1000, 0x4000, 0x4_0000
_PR_SET_PDEATHSIG, _PR_SET_NAME = 1, 15
_CAP_NET_ADMIN, _CAP_SYS_ADMIN = 12, 21


def unshare(flags: int) -> None:
    """Leave the namespaces named by `flags` (`NEW_*`) for fresh ones. Raises OSError."""
    _checked(_libc().unshare(flags), "unshare")


def become_root_of_a_user_namespace() -> None:
    """Enter a fresh user namespace in which this process's own user is root. Raises OSError where the kernel forbids it."""
    user, group = os.geteuid(), os.getegid()
    unshare(NEW_USER)
    Path("/proc/self/setgroups").write_text("deny", encoding="ascii")
    Path("/proc/self/uid_map").write_text(f"0 {user} 1", encoding="ascii")
    Path("/proc/self/gid_map").write_text(f"0 {group} 1", encoding="ascii")


def may_make_namespaces() -> bool:
    """Whether this process may make network and mount namespaces without a user namespace around them."""
    (line,) = [line for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines() if line.startswith("CapEff:")]
    held = int(line.split()[1], 16)
    return bool(held >> _CAP_SYS_ADMIN & 1 and held >> _CAP_NET_ADMIN & 1)


def keep_mounts_private() -> None:
    """What is mounted from here on is seen by nobody else. Raises OSError."""
    _mount("none", "/", None, _PRIVATE | _RECURSIVE)


def mount_fresh(kind: str, place: str) -> None:
    """A new `proc` or `sysfs` over `place`: that of this process's namespaces. Raises OSError."""
    _mount(kind, place, kind, _NOSUID_NODEV_NOEXEC)


def bind(source: str, place: str, *, recursive: bool = False) -> None:
    """Show `source` at `place`, in this mount namespace only. Raises OSError."""
    _mount(source, place, None, _BIND | (_RECURSIVE if recursive else 0))


def die_with_parent() -> None:
    """Be killed when the parent process ends, however it ends."""
    _checked(_libc().prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0), "prctl")


def call_oneself(name: str) -> None:
    """The name of this process in `ps` and `ss` (15 bytes)."""
    _checked(_libc().prctl(_PR_SET_NAME, name.encode()[:15] + b"\0", 0, 0, 0), "prctl")


def _mount(source: str, place: str, kind: str | None, flags: int) -> None:
    done = _libc().mount(source.encode(), place.encode(), kind.encode() if kind else None, ctypes.c_ulong(flags), None)
    _checked(done, f"mount {place}")


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _checked(result: int, what: str) -> None:
    if result != 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{what}: {os.strerror(code)}")
