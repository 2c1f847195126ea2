"""Hosts that an agent answers for, and calls to many of them at once."""

import errno
import selectors
import socket
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import msgspec

from wirespeed.model import record_lines
from wirespeed.model.record import Record
from wirespeed.model.source import Problem, Source
from wirespeed.model.text import Text
from wirespeed.verbs._call import End

READ_BYTES = 262_144
_IS_END = b'"kind":"End"'


@dataclass(frozen=True, slots=True, kw_only=True)
class Host:
    """A machine: its name, what it is, the addresses its peers use, and how to reach its agent (a mere peer has none).

    `port` is its responder's, where that is not the fleet's.
    """

    name: str
    role: str
    addresses: tuple[str, ...]
    connect: Callable[[], socket.socket]
    port: int | None = None


def no_agent() -> socket.socket:
    """How a peer without an agent is reached. Raises OSError."""
    raise OSError(errno.EHOSTUNREACH, "it has no agent")


@dataclass(slots=True)
class _Pending:
    """An answer as far as it has come."""

    host: str
    connection: socket.socket
    received: bytearray = field(default_factory=bytearray)
    end: End | None = None
    is_closed: bool = False
    """By the agent, before its end."""


def asked(calls: Iterable[tuple[Host, str, Mapping[str, Any]]], within_s: float) -> dict[int, list[Record | Problem]]:
    """Put all calls at the same time and collect their answers, by the position of the call.

    An agent that cannot be reached, fails, or does not end within `within_s` gives a problem beside what it sent; closing the
    connection ends whatever it still does.
    """
    pending = {index: _put(host, call, options) for index, (host, call, options) in enumerate(calls)}
    with selectors.DefaultSelector() as waiting:
        for one in pending.values():
            if isinstance(one, _Pending):
                waiting.register(one.connection, selectors.EVENT_READ, one)
        deadline_s = time.monotonic() + within_s
        while waiting.get_map() and (left_s := deadline_s - time.monotonic()) > 0:
            for key, _ in waiting.select(min(left_s, 0.2)):
                if _has_ended(key.data):
                    waiting.unregister(key.fileobj)
    return {index: list(_answer(one, within_s)) for index, one in pending.items()}


@contextmanager
def kept(host: Host, call: str, options: Mapping[str, Any]) -> Iterator[None]:
    """Keep one call running on a host; leaving ends it there."""
    pending = _put(host, call, options)
    try:
        yield
    finally:
        if isinstance(pending, _Pending):
            pending.connection.close()


def _put(host: Host, call: str, options: Mapping[str, Any]) -> _Pending | Problem:
    try:
        connection = host.connect()
        connection.sendall(msgspec.json.encode({"call": call, "options": options}) + b"\n")
    except OSError as error:
        said = error.strerror or type(error).__name__
        return _problem(
            host.name, Text(en=f"the agent of {host.name} cannot be reached: {said}", zh=f"无法连接 {host.name} 的代理：{said}")
        )
    return _Pending(host.name, connection)


def _has_ended(one: _Pending) -> bool:
    try:
        part = one.connection.recv(READ_BYTES)
    except OSError:
        part = b""
    one.received += part
    last = one.received[one.received.rfind(b"\n", 0, -1) + 1 :] if one.received.endswith(b"\n") else b""
    if _IS_END in last:
        one.end = msgspec.json.decode(last, type=End)
    one.is_closed = not part and one.end is None
    return not part or one.end is not None


def _answer(one: _Pending | Problem, within_s: float) -> Iterable[Record | Problem]:
    if isinstance(one, Problem):
        yield one
        return
    one.connection.close()
    lines = bytes(one.received).split(b"\n")
    yield from record_lines.decoded((line for line in lines if _IS_END not in line), one.host)
    if one.is_closed:
        yield _problem(
            one.host, Text(en=f"the agent of {one.host} ended before it had finished", zh=f"{one.host} 的代理未完成就已结束")
        )
    elif one.end is None:
        yield _problem(
            one.host,
            Text(
                en=f"the agent of {one.host} did not finish within {within_s:.0f} s",
                zh=f"{one.host} 的代理未在 {within_s:.0f} 秒内完成",
            ),
        )
    elif one.end.why is not None:
        yield _problem(one.host, one.end.why)


def _problem(host: str, why: Text) -> Problem:
    return Problem(source=Source(tool="agent", path=host, host=host), why=why)
