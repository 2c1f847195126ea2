"""The machine this process runs on."""

import fcntl
import os
import socket
import struct
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path

from wirespeed.machines.machine import MachineProblem, Output, absent, problem_of, timed_out
from wirespeed.machines.questions import QUESTIONS
from wirespeed.machines.variables import that_matter
from wirespeed.model.text import Text

MOST_FILE_BYTES = 16 * 1024 * 1024
"""Files of /proc and /sys are far smaller; the bound guards against a mistaken path."""
SIOCETHTOOL = 0x8946
NETLINK_BUFFER_BYTES = 262_144
NETLINK_TIMEOUT_S = 5.0
MOST_NETLINK_BYTES = 128 * 1024 * 1024
"""A quarter of a million sockets, or a full table of Internet routes; a longer reply is cut, which shows by its missing end mark."""
NLMSG_ERROR, NLMSG_DONE = 2, 3
_MESSAGE_HEADER = struct.Struct("=IHHII")
_ERROR_CODE = struct.Struct("=i")


class Local:
    """The live machine."""

    @property
    def host(self) -> str | None:
        """The machine's own name."""
        return socket.gethostname()

    def read(self, path: str) -> bytes:
        """Content of a file, read in one go so that counters belong together."""
        try:
            with Path(path).open("rb", buffering=0) as file:
                return _all_of(file.fileno())
        except OSError as error:
            raise problem_of(error, path) from error

    def listing(self, path: str) -> tuple[str, ...]:
        """Names in a directory, sorted."""
        try:
            return tuple(sorted(os.listdir(path)))  # noqa: PTH208 - names only, without an object each
        except OSError as error:
            raise problem_of(error, path) from error

    def link(self, path: str) -> str:
        """Where a symbolic link points, as it is written."""
        try:
            return os.readlink(path)  # noqa: PTH115 - as written, not normalised
        except OSError as error:
            raise problem_of(error, path) from error

    def run(self, argv: tuple[str, ...], timeout_s: float) -> Output:
        """Run a command that only looks, without a shell."""
        try:
            done = subprocess.run(argv, capture_output=True, timeout=timeout_s, stdin=subprocess.DEVNULL, check=False)  # noqa: S603
        except subprocess.TimeoutExpired as error:
            raise timed_out(argv[0]) from error
        except OSError as error:
            raise problem_of(error, argv[0]) from error
        return Output(exit_code=done.returncode, stdout=done.stdout[:MOST_FILE_BYTES], stderr=done.stderr[:MOST_FILE_BYTES])

    def ioctl(self, name: str, request: bytes) -> bytes:
        """SIOCETHTOOL: `struct ifreq` carries the name and a pointer to the ethtool structure."""
        import ctypes

        memory = ctypes.create_string_buffer(request, len(request))
        ifreq = struct.pack("16sP", name.encode()[:15], ctypes.addressof(memory))
        try:
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as handle:
                fcntl.ioctl(handle.fileno(), SIOCETHTOOL, ifreq)
        except OSError as error:
            raise problem_of(error, f"ethtool request to {name}") from error
        return memory.raw

    def netlink(self, family: int, request: bytes) -> bytes:
        """Send one dump request and collect its messages up to the end mark."""
        try:
            with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, family) as handle:
                handle.settimeout(NETLINK_TIMEOUT_S)
                handle.bind((0, 0))
                handle.send(request)
                return collected(handle)
        except TimeoutError as error:
            raise timed_out(f"netlink family {family}") from error
        except OSError as error:
            raise problem_of(error, f"netlink family {family}") from error

    def ask(self, question: str, subject: str = "") -> bytes:
        """A question that no single file answers."""
        answer = QUESTIONS.get(question)
        if answer is None:
            raise MachineProblem("unsupported", Text(en=f"unknown question {question}", zh=f"未知的问题 {question}"))
        try:
            return answer(subject)
        except OSError as error:
            raise problem_of(error, f"{question} {subject}".rstrip()) from error

    def environment(self) -> Mapping[str, str]:
        """Variables of this process that bear on networks and frameworks."""
        return that_matter(os.environ)

    def now(self) -> float:
        """Wall clock."""
        return time.time()


def _all_of(descriptor: int) -> bytes:
    parts: list[bytes] = []
    size = 0
    while size < MOST_FILE_BYTES:
        part = os.read(descriptor, 1024 * 1024)
        if not part:
            break
        parts.append(part)
        size += len(part)
    return b"".join(parts)


def collected(handle: socket.socket) -> bytes:
    """All messages of one netlink dump, end mark included. Raises OSError for what the kernel answers instead, `MachineProblem` for nothing."""
    parts: list[bytes] = []
    size = 0
    while size < MOST_NETLINK_BYTES:
        part = handle.recv(NETLINK_BUFFER_BYTES)
        if not part:
            raise absent("netlink reply")
        parts.append(part)
        size += len(part)
        offset = 0
        while offset + _MESSAGE_HEADER.size <= len(part):
            length, kind, _, _, _ = _MESSAGE_HEADER.unpack_from(part, offset)
            if kind in (NLMSG_DONE, NLMSG_ERROR):
                code = _ERROR_CODE.unpack_from(part, offset + 16)[0] if length >= 20 else 0
                if code < 0:
                    raise OSError(-code, os.strerror(-code))
                return b"".join(parts)
            offset += max((length + 3) & ~3, _MESSAGE_HEADER.size)
    return b"".join(parts)
