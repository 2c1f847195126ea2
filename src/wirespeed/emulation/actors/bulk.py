"""Bulk data: a sink that drops what it gets, and senders over TCP or UDP, steady or in bursts."""

import contextlib
import socket
import threading
import time
from typing import Any

_BLOCK_BYTES = 131_072
_DATAGRAM_BYTES, _DATAGRAMS_A_PIECE = 1400, 8
_UDP_SEGMENT = 103
"""Option of linux/udp.h (Linux 4.18)."""
_SO_MAX_PACING_RATE = 47
RETRY_S = 0.5


def act(arguments: dict[str, Any]) -> None:
    """By `role`: `sink` listens on `port` for both protocols; `tcp` and `udp` send to `to` and `port` for ever."""
    {"sink": _sink, "tcp": _send_tcp, "udp": _send_udp}[arguments["role"]](arguments)


def _sink(arguments: dict[str, Any]) -> None:
    datagrams = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    datagrams.bind(("", arguments["port"]))
    threading.Thread(target=_drain, args=(datagrams,), daemon=True).start()
    with socket.create_server(("", arguments["port"]), backlog=64) as listener:
        while True:
            connection, _ = listener.accept()
            threading.Thread(target=_drain, args=(connection,), daemon=True).start()


def _drain(handle: socket.socket) -> None:
    memory = bytearray(_BLOCK_BYTES)
    with handle, contextlib.suppress(OSError):
        while handle.recv_into(memory) or handle.type == socket.SOCK_DGRAM:
            pass


def _send_tcp(arguments: dict[str, Any]) -> None:
    """`flows_count` connections; each sends `burst_bytes` every `every_s`, or without a pause, at `pacing_bytes_per_s` at most."""
    flows = [threading.Thread(target=_flow, args=(arguments,), daemon=True) for _ in range(arguments.get("flows_count", 1))]
    for flow in flows:
        flow.start()
    for flow in flows:
        flow.join()


def _flow(arguments: dict[str, Any]) -> None:
    block, burst, every_s = bytes(_BLOCK_BYTES), arguments.get("burst_bytes", 0), arguments.get("every_s", 0.0)
    while True:
        with contextlib.suppress(OSError), socket.create_connection((arguments["to"], arguments["port"]), timeout=30.0) as handle:
            pacing = int(arguments.get("pacing_bytes_per_s", 0))
            if pacing:
                handle.setsockopt(socket.SOL_SOCKET, _SO_MAX_PACING_RATE, pacing)
            while True:
                left = burst or _BLOCK_BYTES
                while left > 0:
                    left -= handle.send(block[:left])
                if every_s:
                    time.sleep(every_s - time.time() % every_s)  # all senders of a burst start together
        time.sleep(RETRY_S)


def _send_udp(arguments: dict[str, Any]) -> None:
    """Datagrams at `rate_bytes_per_s`; the kernel cuts them from larger pieces, so that Python keeps up."""
    piece = bytes(_DATAGRAM_BYTES * _DATAGRAMS_A_PIECE)
    each_s = len(piece) / arguments["rate_bytes_per_s"]
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as handle:
        handle.setsockopt(socket.IPPROTO_UDP, _UDP_SEGMENT, _DATAGRAM_BYTES)
        handle.connect((arguments["to"], arguments["port"]))
        due_s = time.monotonic()
        while True:
            now_s = time.monotonic()
            due_s = max(due_s, now_s - 0.05)
            while due_s <= now_s:
                with contextlib.suppress(OSError):  # nobody listens yet, or the queue is full
                    handle.send(piece)
                due_s += each_s
            time.sleep(0.001)
