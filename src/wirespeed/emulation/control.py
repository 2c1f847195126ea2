"""Orders for one node: run a program, start and stop an actor, read and write files, all inside the node's namespaces."""

import os
import socket
from typing import Any, TypeAlias

import msgspec

from wirespeed.model.errors import CouldNot
from wirespeed.model.text import Text

_BUFFER_BYTES = 65_536
ORDER_TIMEOUT_S = 30.0


class Run(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Run a program that configures or looks, and wait for it."""

    argv: tuple[str, ...]
    stdin: str = ""


class Start(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Start an actor, which runs until it is stopped or the lab ends."""

    tag_name: str
    """By which it is stopped."""
    actor: str
    """A module of `emulation/actors`."""
    arguments: dict[str, Any]
    log: str
    """File for what it prints, relative to the node's directory."""


class Stop(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Stop an actor; one that is not there counts as stopped."""

    tag_name: str


class Read(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """A file as the node sees it."""

    path: str


class Write(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Overwrite an existing file, in place: a bound file must keep its inode."""

    path: str
    text: str


Order: TypeAlias = Run | Start | Stop | Read | Write


class Reply(msgspec.Struct, frozen=True, kw_only=True):
    """What came of an order. `exit_code` is the program's, or 0; `error` says why nothing was done."""

    exit_code: int = 0
    output: str = ""
    errors: str = ""
    error: str | None = None
    error_code: int = 0
    """`errno`, where the kernel refused."""
    pid: int = 0


def send(socket_path: str, order: Order, node: str) -> Reply:
    """Give one order and wait for the reply. Raises CouldNot when the node does not answer or the order could not be carried out."""
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as handle:
            handle.settimeout(ORDER_TIMEOUT_S)
            handle.connect(socket_path)
            handle.sendall(msgspec.json.encode(order))
            handle.shutdown(socket.SHUT_WR)
            reply = msgspec.json.decode(received(handle), type=Reply)
    except (OSError, msgspec.DecodeError) as error:
        raise CouldNot(Text(en=f"{node} does not answer: {error}", zh=f"{node} 没有应答：{error}")) from error
    if reply.error is not None:
        said = reply.error
        raise CouldNot(Text(en=f"{node}: {said}", zh=f"{node}：{said}"))
    return reply


def received(handle: socket.socket) -> bytes:
    """Everything up to the other side's end of writing."""
    parts = []
    while part := handle.recv(_BUFFER_BYTES):
        parts.append(part)
    return b"".join(parts)


def failed(error: OSError) -> Reply:
    """The reply that an operating-system error stands for."""
    code = error.errno or 0
    return Reply(error=str(error) if not code else f"{error.filename or ''} {os.strerror(code)}".strip(), error_code=code)
