"""A client of a service, well or badly made, which writes a log as such programs do."""

import logging
import math
import os
import queue
import random
import select
import socket
import statistics
import threading
import time
from typing import Any

from wirespeed.emulation.actors import _log

ERRORS_A_SECOND = 4
_REQUEST_BYTES = 512
_LOG = logging.getLogger("client")


def act(arguments: dict[str, Any]) -> None:
    """Call the service at `to` and `port` `rate_per_s` times a second for ever, from `workers_count` threads.

    `keeps_connection` reuses connections and `checks_connection` looks whether the server has closed one before it is reused;
    `splits_request` sends head and body apart; `sets_nodelay` switches Nagle's algorithm off; `timeout_s` is for each step.
    """
    _log.opened(_LOG.name)
    due: queue.SimpleQueue[None] = queue.SimpleQueue()
    tally = _Tally(f"http://{arguments['to']}:{arguments['port']}/v1/completions")
    for _ in range(arguments.get("workers_count", 4)):
        threading.Thread(target=_Caller(arguments, tally).work, args=(due,), daemon=True).start()
    chance, rate_per_s = random.Random(arguments.get("seed", 0)), arguments["rate_per_s"]  # noqa: S311 - spreads the calls
    next_s = told_s = time.monotonic()
    while True:
        now_s = time.monotonic()
        if now_s - told_s >= 1.0:
            tally.tell(now_s - told_s)
            told_s = now_s
        if now_s >= next_s:
            if due.qsize() < 64:
                due.put(None)
            next_s = max(next_s + (chance.uniform(0.5, 1.5) if arguments.get("is_jittered", True) else 1.0) / rate_per_s, now_s)
        time.sleep(max(0.0, min(next_s, told_s + 1.0) - time.monotonic()))


class _Tally:
    """What happened since it was last told."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.lock = threading.Lock()
        self.times_s: list[float] = []
        self.errors_count = 0

    def good(self, time_s: float, resolve_s: float | None, connect_s: float | None) -> None:
        with self.lock:
            self.times_s.append(time_s)
            if resolve_s is not None and connect_s is not None and len(self.times_s) == 1:
                _LOG.info(
                    "POST %s 200 time_namelookup: %.6f time_connect: %.6f time_total: %.6f",
                    self.url,
                    resolve_s,
                    resolve_s + connect_s,
                    time_s,
                )

    def bad(self, error: Exception) -> None:
        with self.lock:
            self.errors_count += 1
            if self.errors_count <= ERRORS_A_SECOND:
                _LOG.error("POST %s failed: %s: %s", self.url, type(error).__name__, error)

    def tell(self, over_s: float) -> None:
        with self.lock:
            times_s, errors = sorted(self.times_s), self.errors_count
            self.times_s, self.errors_count = [], 0
        if os.fstat(1).st_size > _log.MOST_LOG_BYTES:
            _LOG.setLevel(logging.CRITICAL)
        if times_s:
            p50, p99 = statistics.median(times_s), times_s[math.ceil(0.99 * (len(times_s) - 1))]
            _LOG.info(
                "%d requests in %.1f s, %d failed, latency p50 %.1f ms, p99 %.1f ms",
                len(times_s),
                over_s,
                errors,
                p50 * 1e3,
                p99 * 1e3,
            )
        elif errors:
            _LOG.info("0 requests in %.1f s, %d failed", over_s, errors)


class _Caller:
    """One worker with one connection."""

    def __init__(self, arguments: dict[str, Any], tally: _Tally) -> None:
        self.given = arguments
        self.tally = tally
        self.connection: socket.socket | None = None
        self.resolve_s: float | None = None
        self.connect_s: float | None = None

    def work(self, due: "queue.SimpleQueue[None]") -> None:
        while True:
            due.get()
            start_s = time.perf_counter()
            try:
                self._call()
                self.tally.good(time.perf_counter() - start_s, self.resolve_s, self.connect_s)
            except OSError as error:
                self.tally.bad(error)
                self._hang_up()

    def _call(self) -> None:
        handle = self._connected()
        to, port = self.given["to"], self.given["port"]
        head = f"POST /v1/completions HTTP/1.1\r\nhost: {to}:{port}\r\ncontent-length: {_REQUEST_BYTES}\r\n\r\n".encode()
        body = b"x" * _REQUEST_BYTES
        if self.given.get("splits_request"):
            handle.sendall(head)
            handle.sendall(body)
        else:
            handle.sendall(head + body)
        _read_reply(handle)
        if not self.given.get("keeps_connection", True):
            self._hang_up()

    def _connected(self) -> socket.socket:
        self.resolve_s = self.connect_s = None
        if self.connection is not None and self.given.get("checks_connection", True) and _is_closed(self.connection):
            self._hang_up()
        if self.connection is None:
            start_s = time.perf_counter()
            family, kind, number, _, address = socket.getaddrinfo(
                self.given["to"], self.given["port"], socket.AF_INET, socket.SOCK_STREAM
            )[0]
            self.resolve_s = time.perf_counter() - start_s
            handle = socket.socket(family, kind, number)
            try:
                handle.settimeout(self.given.get("timeout_s", 5.0))
                if self.given.get("sets_nodelay", True):
                    handle.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                handle.connect(address)
            except OSError:
                handle.close()
                raise
            self.connect_s = time.perf_counter() - start_s - self.resolve_s
            self.connection = handle
        return self.connection

    def _hang_up(self) -> None:
        if self.connection is not None:
            self.connection.close()
        self.connection = None


def _is_closed(handle: socket.socket) -> bool:
    """Whether the other side has ended the connection while it was quiet."""
    return bool(select.select([handle], [], [], 0)[0]) and handle.recv(1, socket.MSG_PEEK) == b""


def _read_reply(handle: socket.socket) -> None:
    data = b""
    while b"\r\n\r\n" not in data:
        part = handle.recv(65_536)
        if not part:
            raise ConnectionResetError(104, "Remote end closed connection without response")
        data += part
    head, _, body = data.partition(b"\r\n\r\n")
    length = int(head.lower().partition(b"content-length:")[2].split(b"\r\n")[0])
    have = len(body)
    while have < length:
        part = handle.recv(65_536)
        if not part:
            raise ConnectionResetError(104, "Remote end closed connection before the end of the body")
        have += len(part)
