"""What can be asked of a machine, and how it says that it cannot answer."""

import errno
from collections.abc import Mapping
from typing import Protocol

import msgspec

from wirespeed.model.source import Reason
from wirespeed.model.text import Text

ABSENT = frozenset({errno.ENOENT, errno.ENODEV, errno.ENXIO, errno.ESRCH, errno.ENOTDIR, errno.EADDRNOTAVAIL})
DENIED = frozenset({errno.EACCES, errno.EPERM})
TIMED_OUT = frozenset({errno.ETIMEDOUT, errno.EAGAIN})


class MachineProblem(Exception):
    """A machine gave no answer, and why."""

    def __init__(self, reason: Reason, why: Text) -> None:
        super().__init__(why.en)
        self.reason: Reason = reason
        self.why = why


class Output(msgspec.Struct, frozen=True, kw_only=True):
    """What a command wrote and how it ended."""

    exit_code: int
    stdout: bytes
    stderr: bytes = b""


class Machine(Protocol):
    """One machine, live or captured; those who ask never know which.

    Every method may raise `MachineProblem`.
    """

    @property
    def host(self) -> str | None:
        """The machine's own name, where it is known."""

    def read(self, path: str) -> bytes:
        """Content of a file of /proc, /sys, /etc and the like; bounded by `MOST_FILE_BYTES` of the implementation."""

    def listing(self, path: str) -> tuple[str, ...]:
        """Names in a directory, sorted."""

    def link(self, path: str) -> str:
        """Where a symbolic link points, as it is written."""

    def run(self, argv: tuple[str, ...], timeout_s: float) -> Output:
        """Run a command that only looks, without a shell."""

    def ioctl(self, name: str, request: bytes) -> bytes:
        """SIOCETHTOOL on the interface `name`: the structure sent, and the same structure as the kernel filled it."""

    def netlink(self, family: int, request: bytes) -> bytes:
        """One netlink dump: all messages of the reply, end mark included."""

    def ask(self, question: str, subject: str = "") -> bytes:
        """A question that no single file answers (`machines/questions.py`); the reply is JSON."""

    def environment(self) -> Mapping[str, str]:
        """Variables of this process that bear on networks and frameworks, secrets replaced."""

    def now(self) -> float:
        """Seconds since 1970 on the machine's clock."""


def problem_of(error: OSError, what: str) -> MachineProblem:
    """The problem an operating-system error stands for."""
    said = error.strerror or type(error).__name__
    if error.errno in ABSENT:
        return absent(what)
    if error.errno in DENIED:
        return MachineProblem("denied", Text(en=f"{what}: permission denied", zh=f"{what}：没有权限"))
    if error.errno in TIMED_OUT or isinstance(error, TimeoutError):
        return timed_out(what)
    return MachineProblem("unsupported", Text(en=f"{what}: {said}", zh=f"{what}：{said}"))


def absent(what: str) -> MachineProblem:
    """The machine has no such thing."""
    return MachineProblem("absent", Text(en=f"{what} is not there", zh=f"{what} 不存在"))


def timed_out(what: str) -> MachineProblem:
    """The machine did not answer in time."""
    return MachineProblem("timed-out", Text(en=f"{what} did not answer in time", zh=f"{what} 未在限定时间内应答"))


def command_request(argv: tuple[str, ...]) -> str:
    """Key of a command in a recording."""
    return " ".join(argv)


def ioctl_request(name: str, request: bytes) -> str:
    """Key of an ethtool request in a recording: the interface and the structure sent, without the zeros at its end."""
    return f"{name} {request.rstrip(bytes(1)).hex()}"


def netlink_request(family: int, request: bytes) -> str:
    """Key of a netlink request in a recording."""
    return f"{family} {request.hex()}"


def question_request(question: str, subject: str) -> str:
    """Key of a question in a recording."""
    return f"{question} {subject}".rstrip()
