"""The agent: answers calls over one connection, where it runs, with records as lines of JSON."""

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
    """Answer calls one after another until the other side closes. Whatever a call does wrong becomes its last line."""
    with connection, connection.makefile("rb") as asked:
        while line := asked.readline(LONGEST_REQUEST_BYTES):
            try:
                for answer in _answered(line):
                    connection.sendall(answer + b"\n")
            except (BrokenPipeError, ConnectionResetError):
                return


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
