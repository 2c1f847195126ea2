"""The two ends of one bulk TCP flow, each alone in its process: tight loops around send and receive.

Both ends hold to one plan on the wall clock: from `start_at_s` the sender sends, after `ramp_s` the common window of `duration_s` opens,
and a tail later the sender stops. The receiver counts what it is handed inside the window. The sockets stay blocking with the
kernel's own time-outs: Python's would cost a second system call for each block.
"""

import contextlib
import os
import socket
import struct
import time

import msgspec

from wirespeed.benches.links.protocol import word_of
from wirespeed.benches.links.starvation import Use
from wirespeed.readers.netlink.tcp_info import MOST_INFO_BYTES, TCP_INFO_OPTION

TICK_S = 0.01
"""Between two looks at TCP_INFO, and between two looks at the bounds."""
MOST_SAMPLES_COUNT = 2000
_TIMEVAL = struct.Struct("ll")


class FlowPlan(msgspec.Struct, frozen=True, kw_only=True):
    """What both ends of a flow agreed on; `start_at_s` is on the clock of the end that reads it."""

    start_at_s: float
    ramp_s: float
    duration_s: float
    tail_s: float
    block_bytes: int
    is_copied: bool = True
    most_bytes_per_s: float | None = None


class Received(msgspec.Struct, frozen=True, kw_only=True):
    """What a receiver saw of one flow."""

    index: int
    received_bytes: int
    cpu_ratio: float
    starved_ratio: float | None
    error: str | None = None


class Sent(msgspec.Struct, frozen=True, kw_only=True):
    """What a sender saw of one flow: TCP_INFO as the kernel gave it, first and last of them at the window's edges."""

    index: int
    sent_bytes: int
    cpu_ratio: float
    starved_ratio: float | None
    congestion_control: str | None
    infos: tuple[bytes, ...]
    error: str | None = None


class _Window:
    """The plan on this process's own monotonic clock, in nanoseconds."""

    def __init__(self, plan: FlowPlan) -> None:
        self.start_ns = time.perf_counter_ns() + int((plan.start_at_s - time.time()) * 1e9)
        self.open_ns = self.start_ns + int(plan.ramp_s * 1e9)
        self.close_ns = self.open_ns + int(plan.duration_s * 1e9)
        self.end_ns = self.close_ns + int(plan.tail_s * 1e9)


def send_flow(handle: socket.socket, index: int, plan: FlowPlan) -> Sent:
    """Send until the plan ends. Never raises for what the network does."""
    _prepare(handle, socket.SO_SNDTIMEO)
    window = _Window(plan)
    _sleep_until(window.start_ns)
    congestion_control = _congestion_control(handle)
    sender = _Sender(handle, plan, window)
    error = None
    try:
        sender.run()
    except OSError as failure:
        error = word_of(failure) if time.perf_counter_ns() < window.close_ns else None
    return Sent(
        index=index,
        sent_bytes=sender.total_bytes,
        cpu_ratio=sender.cpu_ratio,
        starved_ratio=sender.starved_ratio,
        congestion_control=congestion_control,
        infos=tuple(sender.infos),
        error=error,
    )


class _Sender:
    """The sending loop's state, kept where the tick can see it."""

    def __init__(self, handle: socket.socket, plan: FlowPlan, window: _Window) -> None:
        self.handle, self.plan, self.window = handle, plan, window
        self.total_bytes = 0
        self.infos: list[bytes] = []
        self.cpu_ratio = 0.0
        self.starved_ratio: float | None = None
        self._use = Use()

    def run(self) -> None:
        """Blocks as fast as the kernel takes them; every tick a look at TCP_INFO, the clock and the rate bound."""
        send, clock, block = self.handle.send, time.perf_counter_ns, memoryview(os.urandom(self.plan.block_bytes))
        tick_ns = int(max(TICK_S, self.plan.duration_s / MOST_SAMPLES_COUNT) * 1e9)
        edges = [self.window.open_ns, self.window.close_ns, self.window.end_ns]
        next_ns, allowed_bytes = clock(), self._allowed_bytes(clock())
        while True:
            try:  # noqa: SIM105 - a context manager for each block costs
                self.total_bytes += send(block)
            except BlockingIOError:
                pass  # the kernel's time-out: nothing fitted in
            now_ns = clock()
            if now_ns < next_ns and self.total_bytes < allowed_bytes:
                continue
            if now_ns >= edges[0]:
                self._pass_edge(len(edges))
                edges.pop(0)
                if not edges:
                    return
            elif len(edges) == 2:
                self._look()
            allowed_bytes = self._allowed_bytes(now_ns)
            if self.total_bytes >= allowed_bytes:
                time.sleep(min(TICK_S, (self.total_bytes - allowed_bytes) / (self.plan.most_bytes_per_s or 1.0) + 1e-4))
                allowed_bytes = self._allowed_bytes(clock())
            next_ns = min(now_ns + tick_ns, edges[0])

    def _pass_edge(self, left: int) -> None:
        if left == 3:
            self._look()
            self._use = Use()
        elif left == 2:
            self._look()
            self.cpu_ratio, self.starved_ratio = self._use.ratios(self.plan.duration_s)

    def _look(self) -> None:
        self.infos.append(self.handle.getsockopt(socket.IPPROTO_TCP, TCP_INFO_OPTION, MOST_INFO_BYTES))

    def _allowed_bytes(self, now_ns: int) -> float:
        """What may have been sent by the next tick under the rate bound."""
        bound = self.plan.most_bytes_per_s
        return float("inf") if bound is None else bound * ((now_ns - self.window.start_ns) / 1e9 + TICK_S)


def receive_flow(handle: socket.socket, index: int, plan: FlowPlan) -> Received:
    """Receive until the plan ends, counting inside the window. Never raises for what the network does."""
    _prepare(handle, socket.SO_RCVTIMEO)
    window = _Window(plan)
    buffer = bytearray(plan.block_bytes)
    flags = 0 if plan.is_copied else socket.MSG_TRUNC
    error = None
    counted_bytes, cpu_ratio, starved_ratio = 0, 0.0, None
    try:
        early_bytes = _receive_until(handle, buffer, flags, window.open_ns, window.start_ns, plan.most_bytes_per_s)
        use = Use()
        bound = plan.most_bytes_per_s
        counted_bytes = _receive_until(handle, buffer, flags, window.close_ns, window.open_ns, bound)
        cpu_ratio, starved_ratio = use.ratios(plan.duration_s)
        if early_bytes + counted_bytes == 0 or counted_bytes == 0:
            error = "timed-out"
        _receive_until(handle, buffer, flags, window.end_ns, window.close_ns, bound)
    except _Ended as ended:
        if time.perf_counter_ns() < window.close_ns:
            error, counted_bytes = ended.error, counted_bytes or ended.total_bytes
    return Received(index=index, received_bytes=counted_bytes, cpu_ratio=cpu_ratio, starved_ratio=starved_ratio, error=error)


class _Ended(Exception):
    """The connection ended while it was read."""

    def __init__(self, error: str, total_bytes: int) -> None:
        super().__init__(error)
        self.error, self.total_bytes = error, total_bytes


def _receive_until(handle: socket.socket, buffer: bytearray, flags: int, end_ns: int, from_ns: int, bound: float | None) -> int:
    """Bytes received before `end_ns`. A reader above the bound waits, which fills the window and slows the sender."""
    receive, clock, size = handle.recv_into, time.perf_counter_ns, len(buffer)
    total_bytes, allowed_bytes = 0, _allowance(bound, clock() - from_ns)
    while True:
        try:
            taken = receive(buffer, size, flags)
        except BlockingIOError:
            taken = -1
        except OSError as error:
            raise _Ended(word_of(error), total_bytes) from error
        if clock() >= end_ns:
            return total_bytes
        if taken == 0:
            raise _Ended("closed", total_bytes)
        total_bytes += max(0, taken)
        while total_bytes >= allowed_bytes and clock() < end_ns:
            allowed_bytes = _allowance(bound, clock() - from_ns)
            if total_bytes >= allowed_bytes:
                time.sleep(TICK_S / 4)


def _allowance(bound: float | None, since_ns: int) -> float:
    return float("inf") if bound is None else bound * (max(0, since_ns) / 1e9 + TICK_S)


def _prepare(handle: socket.socket, option: int) -> None:
    """Blocking, with the kernel's time-out of one tick."""
    handle.settimeout(None)
    handle.setsockopt(socket.SOL_SOCKET, option, _TIMEVAL.pack(0, int(TICK_S * 2 * 1e6)))


def choose_congestion_control(handle: socket.socket, name: str | None) -> None:
    """Ask for a congestion control; where the kernel refuses, the flow's record shows what it ran with."""
    if name is not None:
        with contextlib.suppress(OSError):
            handle.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, name.encode())


def _congestion_control(handle: socket.socket) -> str | None:
    try:
        return (
            handle.getsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, 16).split(b"\0", 1)[0].decode("ascii", "replace") or None
        )
    except OSError:
        return None


def _sleep_until(at_ns: int) -> None:
    left_s = (at_ns - time.perf_counter_ns()) / 1e9
    if left_s > 0:
        time.sleep(left_s)


def cut(handle: socket.socket) -> None:
    """Close at once and drop what is still queued: a flow that is over must not load the path any longer."""
    with contextlib.suppress(OSError):
        handle.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    handle.close()
