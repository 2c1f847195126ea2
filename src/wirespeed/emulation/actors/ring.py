"""One rank of a training-like job: a ring all-reduce over TCP at even intervals."""

import contextlib
import socket
import threading
import time
from typing import Any

_BLOCK_BYTES = 131_072
RETRY_S = 0.3


def act(arguments: dict[str, Any]) -> None:
    """Listen on `port`, send to `next`, and every `every_s` reduce `size_bytes` with all `ranks_count` ranks, for ever."""
    with socket.create_server(("", arguments["port"]), backlog=4) as listener:
        while True:
            with contextlib.suppress(OSError):
                _job(listener, arguments)
            time.sleep(RETRY_S)


def _job(listener: socket.socket, arguments: dict[str, Any]) -> None:
    """Until a connection breaks."""
    ranks, every_s = arguments["ranks_count"], arguments["every_s"]
    chunk_bytes = max(1, arguments["size_bytes"] // ranks)
    found: list[socket.socket] = []
    accepting = threading.Thread(target=lambda: found.append(listener.accept()[0]), daemon=True)
    accepting.start()
    following = _reached(arguments["next"], arguments["port"])
    accepting.join()
    (leading,) = found
    with following, leading:
        following.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        while True:
            time.sleep(every_s - time.time() % every_s)
            for _ in range(2 * (ranks - 1)):  # reduce-scatter, then all-gather
                sending = threading.Thread(target=_send, args=(following, chunk_bytes), daemon=True)
                sending.start()
                _receive(leading, chunk_bytes)
                sending.join()


def _reached(host: str, port: int) -> socket.socket:
    while True:
        with contextlib.suppress(OSError):
            return socket.create_connection((host, port), timeout=None)
        time.sleep(RETRY_S)


def _send(handle: socket.socket, count: int) -> None:
    with contextlib.suppress(OSError):
        handle.sendall(bytes(count))


def _receive(handle: socket.socket, count: int) -> None:
    memory = bytearray(_BLOCK_BYTES)
    while count > 0:
        got = handle.recv_into(memory, min(count, _BLOCK_BYTES))
        if not got:
            raise ConnectionResetError
        count -= got
