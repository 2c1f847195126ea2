"""A machine that keeps the raw bytes of all that is asked of another."""

from collections.abc import Callable, Mapping
from typing import TypeVar

import msgspec

from wirespeed.machines.machine import (
    Machine,
    MachineProblem,
    Output,
    command_request,
    ioctl_request,
    netlink_request,
    question_request,
)
from wirespeed.model.run import Reply, ReplyKind

T = TypeVar("T")


class Recording:
    """Passes every request on and keeps each reply, or the reason why there was none. The first reply to a request is kept."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._kept: dict[tuple[ReplyKind, str], Reply] = {}

    @property
    def replies(self) -> tuple[Reply, ...]:
        """Everything asked so far, in order."""
        return tuple(self._kept.values())

    @property
    def host(self) -> str | None:
        """The machine's own name."""
        return self._machine.host

    def read(self, path: str) -> bytes:
        """Read and keep."""
        return self._keep("file", path, lambda: self._machine.read(path), bytes)

    def listing(self, path: str) -> tuple[str, ...]:
        """List and keep."""
        return self._keep("listing", path, lambda: self._machine.listing(path), lambda names: _raw("\n".join(names)))

    def link(self, path: str) -> str:
        """Follow once and keep."""
        return self._keep("link", path, lambda: self._machine.link(path), _raw)

    def run(self, argv: tuple[str, ...], timeout_s: float) -> Output:
        """Run and keep."""
        return self._keep("command", command_request(argv), lambda: self._machine.run(argv, timeout_s), _encoded)

    def ioctl(self, name: str, request: bytes) -> bytes:
        """Ask and keep."""
        return self._keep("ioctl", ioctl_request(name, request), lambda: self._machine.ioctl(name, request), bytes)

    def netlink(self, family: int, request: bytes) -> bytes:
        """Ask and keep."""
        return self._keep("netlink", netlink_request(family, request), lambda: self._machine.netlink(family, request), bytes)

    def ask(self, question: str, subject: str = "") -> bytes:
        """Ask and keep."""
        return self._keep("answer", question_request(question, subject), lambda: self._machine.ask(question, subject), bytes)

    def environment(self) -> Mapping[str, str]:
        """Look and keep."""
        return self._keep("environment", "", self._machine.environment, lambda found: msgspec.json.encode(dict(found)))

    def now(self) -> float:
        """The machine's clock."""
        return self._machine.now()

    def _keep(self, kind: ReplyKind, request: str, asked: Callable[[], T], raw: Callable[[T], bytes]) -> T:
        try:
            answer = asked()
        except MachineProblem as problem:
            self._kept.setdefault((kind, request), Reply(kind=kind, request=request, reason=problem.reason, why=problem.why))
            raise
        self._kept.setdefault((kind, request), Reply(kind=kind, request=request, content=raw(answer)))
        return answer


def _raw(text: str) -> bytes:
    return text.encode(errors="surrogateescape")


def _encoded(output: Output) -> bytes:
    return msgspec.json.encode(output)
