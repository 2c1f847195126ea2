"""The agent: answers calls over one connection, where it runs, with records as lines of JSON."""

import fcntl
import os
import signal
import socket
import time
from collections.abc import Iterator

import msgspec

from wirespeed.model import record_lines, shelf
from wirespeed.model.errors import BadRequest, CouldNot
from wirespeed.model.text import Text
from wirespeed.verbs import _calls
from wirespeed.verbs._call import Call, End, Request

LONGEST_REQUEST_BYTES = 1024 * 1024


def serve(connection: socket.socket) -> None:
    """Answer calls one after another until the other side closes, which also ends a call that still runs: for a process of its own.

    Whatever a call does wrong becomes its last line.
    """
    _end_with(connection)
    with connection, connection.makefile("rb") as asked:
        while line := asked.readline(LONGEST_REQUEST_BYTES):
            _leave_if_alone(connection)  # it may have left before we listened for that
            try:
                for answer in _answered(line):
                    connection.sendall(answer + b"\n")
            except (BrokenPipeError, ConnectionResetError):
                return


def _end_with(connection: socket.socket) -> None:
    """Have the kernel tell of the other side's end by SIGIO, and leave at once; no thread, so that calls may fork."""
    signal.signal(signal.SIGIO, lambda _, __: _leave_if_alone(connection))
    fcntl.fcntl(connection, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(connection, fcntl.F_SETFL, fcntl.fcntl(connection, fcntl.F_GETFL) | os.O_ASYNC)


def _leave_if_alone(connection: socket.socket) -> None:
    try:
        if connection.fileno() >= 0 and not connection.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT):
            os._exit(0)
    except BlockingIOError:
        pass  # it spoke, or can take more: nobody has left
    except OSError:
        os._exit(0)


def _answered(line: bytes) -> Iterator[bytes]:
    start_s = time.perf_counter()
    why = None
    try:
        request = msgspec.json.decode(line, type=Request)
        call = _call(request.call)
        for item in call.run(msgspec.json.decode(request.options, type=call.options)):
            yield record_lines.encoded(item)
    except (BadRequest, CouldNot) as error:
        why = error.why
    except Exception as error:  # noqa: BLE001 - an agent outlives what one call does wrong, and says what it was
        said = f"{type(error).__name__}: {error}"
        why = Text(en=f"the agent failed: {said}", zh=f"代理出错：{said}")
    yield msgspec.json.encode(End(duration_s=time.perf_counter() - start_s, why=why))


def _call(name: str) -> Call:
    if name not in shelf.ids(_calls):
        raise BadRequest(Text(en=f"an agent has no call {name!r}", zh=f"代理没有名为 {name!r} 的调用"))
    return shelf.take(_calls, name, Call)
