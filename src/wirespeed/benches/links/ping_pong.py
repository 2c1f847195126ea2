"""The two ends of small messages there and back: tight loops in which nothing but the exchange stands between two looks at the clock."""

import contextlib
import ctypes
import os
import socket
import struct
import time
from array import array
from typing import Any

import msgspec

from wirespeed.benches.links.protocol import TAG_BYTES, word_of
from wirespeed.theory.samples import quantile

MOST_SAMPLES_COUNT = 1_000_000
MOST_LOSSES_COUNT = 20
"""In a row without an answer between them: the path does not carry this."""
LONGEST_WAIT_S = 0.5
"""For one reply; a later one counts as lost (UDP)."""
LONGEST_STREAM_WAIT_S = 2.0
"""The same on a connection, where the kernel sends again: two of its time-outs fit in."""
TICK_S = 0.1
GOODBYES_COUNT = 3
"""Datagrams that end a series: one may be lost."""
MOST_PAYLOAD_BYTES = 65_000
_TIMEVAL = struct.Struct("ll")
_SEQUENCE = struct.Struct("!I")
SHORTEST_BYTES = TAG_BYTES + _SEQUENCE.size
_LIBC = ctypes.CDLL(None, use_errno=True)
_NOBODY = bytes(16)
"""A `sockaddr` of family AF_UNSPEC: connecting to it unties a datagram socket from its peer (connect(2))."""


class Seen(msgspec.Struct, frozen=True, kw_only=True):
    """One series of round trips."""

    sent_count: int
    received_count: int
    duration_s: float
    minimum_s: float | None = None
    mean_s: float | None = None
    p50_s: float | None = None
    p95_s: float | None = None
    p99_s: float | None = None
    maximum_s: float | None = None
    error: str | None = None


def ping_pong(handle: socket.socket, tag: bytes, payload_bytes: int, is_spinning: bool, duration_s: float) -> Seen:
    """Round trips for `duration_s`, one in flight. With a tag the messages are datagrams, numbered, and may be lost."""
    wait_as(handle, is_spinning, LONGEST_WAIT_S)
    series = _Series(handle, payload_bytes, duration_s)
    try:
        if tag:
            series.datagrams(tag)
        else:
            series.stream()
    except OSError as failure:
        series.error = word_of(failure)
    return series.seen()


def wait_as(handle: socket.socket, is_spinning: bool, longest_s: float) -> None:
    """Blocking with the kernel's time-out, or not blocking at all; who spins yields to whoever else wants the core.

    Without that two spinning ends on one core (a loopback, a busy host) wait for each other's time slices.
    """
    handle.settimeout(0.0 if is_spinning else None)
    if not is_spinning:
        handle.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, _TIMEVAL.pack(int(longest_s), int(longest_s % 1 * 1e6)))


class _Series:
    """The asking end."""

    def __init__(self, handle: socket.socket, payload_bytes: int, duration_s: float) -> None:
        self._send, self._receive = handle.send, handle.recv_into
        self._payload_bytes, self._buffer = payload_bytes, bytearray(payload_bytes)
        self._rtts_ns = array("q", bytes(8 * MOST_SAMPLES_COUNT))
        self._start_ns = time.perf_counter_ns()
        self._end_ns = self._start_ns + int(duration_s * 1e9)
        self._sent_count = self._received_count = 0
        self.error: str | None = None

    def stream(self) -> None:
        """Messages on a connection; raises OSError where it breaks."""
        send, receive, clock, rtts_ns, end_ns = self._send, self._receive, time.perf_counter_ns, self._rtts_ns, self._end_ns
        message, buffer, wanted, count, now_ns = bytes(self._payload_bytes), self._buffer, self._payload_bytes, 0, self._start_ns
        try:
            while now_ns < end_ns and count < MOST_SAMPLES_COUNT:
                self._sent_count = count + 1
                before_ns = clock()
                send(message)
                try:
                    part = receive(buffer)
                except BlockingIOError:
                    part = -1
                now_ns = clock()
                if part != wanted:
                    self._rest_of_message(part, before_ns)
                    now_ns = clock()
                rtts_ns[count] = now_ns - before_ns
                count += 1
        finally:
            self._received_count = count

    def _rest_of_message(self, part: int, before_ns: int) -> None:
        """The slow way: nothing was there yet, or only a part."""
        got_bytes = max(0, part)
        while got_bytes < self._payload_bytes:
            if part == 0:
                raise ConnectionResetError("closed by the peer")
            if time.perf_counter_ns() - before_ns > LONGEST_STREAM_WAIT_S * 1e9:
                raise TimeoutError
            try:
                part = self._receive(self._buffer)
                got_bytes += part
            except BlockingIOError:
                os.sched_yield()

    def datagrams(self, tag: bytes) -> None:
        """Numbered datagrams; one that is not back in time is lost."""
        send, receive, clock, rtts_ns, end_ns = self._send, self._receive, time.perf_counter_ns, self._rtts_ns, self._end_ns
        message, buffer, pack = bytearray(tag.ljust(self._payload_bytes, b"\0")), self._buffer, _SEQUENCE.pack_into
        count, losses_count, now_ns = 0, 0, self._start_ns
        while now_ns < end_ns and count < MOST_SAMPLES_COUNT and losses_count < MOST_LOSSES_COUNT:
            self._sent_count += 1
            pack(message, TAG_BYTES, self._sent_count)
            before_ns = clock()
            send(message)
            try:
                receive(buffer)
            except BlockingIOError:
                buffer[0] ^= 0xFF  # nothing yet: an old echo in the buffer must not pass for this one
            now_ns = clock()
            if buffer != message:
                if not self._later(message, before_ns):
                    losses_count, now_ns = losses_count + 1, clock()
                    continue
                now_ns = clock()
            rtts_ns[count] = now_ns - before_ns
            count += 1
            losses_count = 0
            self._received_count = count
        if losses_count == MOST_LOSSES_COUNT:
            self.error = "timed-out"

    def _later(self, message: bytearray, before_ns: int) -> bool:
        """The slow way: nothing was there yet, or the echo of a message that was given up."""
        while time.perf_counter_ns() - before_ns <= LONGEST_WAIT_S * 1e9:
            try:
                self._receive(self._buffer)
            except BlockingIOError:
                os.sched_yield()
                continue
            if self._buffer == message:
                return True
        return False

    def seen(self) -> Seen:
        """The series in a few numbers; a percentile only where enough samples stand behind it."""
        ordered = sorted(self._rtts_ns[: self._received_count])
        told = {percent: quantile(ordered, percent / 100) for percent in (50, 95, 99)}
        p50_s, p95_s, p99_s = (None if value is None else value / 1e9 for value in told.values())
        return Seen(
            sent_count=self._sent_count,
            received_count=len(ordered),
            duration_s=(time.perf_counter_ns() - self._start_ns) / 1e9,
            minimum_s=ordered[0] / 1e9 if ordered else None,
            mean_s=sum(ordered) / len(ordered) / 1e9 if ordered else None,
            p50_s=p50_s,
            p95_s=p95_s,
            p99_s=p99_s,
            maximum_s=ordered[-1] / 1e9 if ordered else None,
            error=self.error,
        )


def goodbye(tag: bytes, number: int) -> bytes:
    """The datagram that ends a series of echoes: shorter than any that is echoed."""
    return tag + bytes([number % 256])


def say_goodbye(handle: socket.socket, last: bytes) -> None:
    """End a series of datagrams, and close the socket."""
    with handle, contextlib.suppress(OSError):
        for _ in range(GOODBYES_COUNT):
            handle.send(last)


def echo_stream(handle: socket.socket, payload_bytes: int, most_s: float) -> None:
    """Send back what comes, until the client closes or the time is over."""
    receive, send, clock, buffer = handle.recv_into, handle.send, time.perf_counter_ns, memoryview(bytearray(payload_bytes))
    end_ns = clock() + int(most_s * 1e9)
    while clock() < end_ns:
        try:
            part = receive(buffer)
        except BlockingIOError:
            os.sched_yield()
            continue
        if not part:
            return
        send(buffer if part == payload_bytes else buffer[:part])


def echo_datagrams(handle: socket.socket, tag: bytes, last: bytes, payload_bytes: int, most_s: float) -> None:
    """Send back datagrams of this session to where the first of them came from, until the one that ends this series."""
    end_ns = time.perf_counter_ns() + int(most_s * 1e9)
    peer = _first_peer(handle, tag, last, end_ns)
    if peer is None:
        return
    handle.connect(peer)
    try:
        _echo_connected(handle, tag, last, payload_bytes, end_ns)
    finally:
        _LIBC.connect(handle.fileno(), _NOBODY, len(_NOBODY))


def _first_peer(handle: socket.socket, tag: bytes, last: bytes, end_ns: int) -> Any:
    """Where this session's datagrams come from, or None where only the last one comes. The first is left in the queue, to be echoed."""
    while time.perf_counter_ns() < end_ns:
        try:
            data, peer = handle.recvfrom(MOST_PAYLOAD_BYTES, socket.MSG_PEEK)
        except BlockingIOError:
            os.sched_yield()
            continue
        if data[:TAG_BYTES] == tag and len(data) >= SHORTEST_BYTES:
            return peer
        handle.recv(MOST_PAYLOAD_BYTES)
        if data == last:
            break
    return None


def _echo_connected(handle: socket.socket, tag: bytes, last: bytes, payload_bytes: int, end_ns: int) -> None:
    receive, send, clock, buffer = handle.recv_into, handle.send, time.perf_counter_ns, bytearray(MOST_PAYLOAD_BYTES)
    head, usual = memoryview(buffer)[:TAG_BYTES], memoryview(buffer)[:payload_bytes]
    while clock() < end_ns:
        try:
            part = receive(buffer)
        except BlockingIOError:
            os.sched_yield()
            continue
        if part == payload_bytes and head == tag:
            send(usual)
        elif buffer[:part] == last:
            return
