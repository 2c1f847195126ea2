"""Round trips of small messages: TCP and UDP, blocking and spinning, on an idle path and beside a bulk flow."""

import contextlib
import os
import socket
import struct
import time
from array import array
from functools import partial
from typing import Literal, NamedTuple

import msgspec

from wirespeed.benches.links.bulk import FlowPlan, choose_congestion_control, receive_flow, send_flow
from wirespeed.benches.links.children import Children
from wirespeed.benches.links.protocol import TAG_BYTES, PathBroken, word_of
from wirespeed.benches.links.served import Served
from wirespeed.benches.links.session import Session
from wirespeed.benches.links.spec import BLOCK_BYTES, TAIL_S, LinkSpec, LinkTest, receiver_of, sender_of, source_of
from wirespeed.model.link_runs import LatencyRun
from wirespeed.model.record import Record
from wirespeed.model.source import Problem, Reason
from wirespeed.model.text import Text
from wirespeed.theory.samples import quantile

MOST_SAMPLES_COUNT = 1_000_000
MOST_LOSSES_COUNT = 20
"""In a row without an answer between them: the path does not carry this."""
SPIN_S = 0.5
"""Spinning takes a whole core at both ends, so it is short."""
LOAD_RAMP_S = 0.3
LONGEST_WAIT_S = 0.5
"""For one reply; a later one counts as lost (UDP)."""
TICK_S = 0.1
GOODBYES_COUNT = 3
"""Datagrams that end a series: one may be lost."""
MOST_PAYLOAD_BYTES = 65_000
_TIMEVAL = struct.Struct("ll")
_SEQUENCE = struct.Struct("!I")
_SHORTEST_BYTES = TAG_BYTES + _SEQUENCE.size

Protocol = Literal["tcp", "udp"]
Load = Literal["idle", "loaded"]
Waiting = Literal["blocking", "spinning"]


class Phase(NamedTuple):
    """One series of round trips."""

    protocol: Protocol
    load: Load
    waiting: Waiting


PHASES = (
    Phase("tcp", "idle", "blocking"),
    Phase("udp", "idle", "blocking"),
    Phase("tcp", "idle", "spinning"),
    Phase("udp", "idle", "spinning"),
    Phase("tcp", "loaded", "blocking"),
    Phase("udp", "loaded", "blocking"),
)


class Ask(msgspec.Struct, frozen=True, kw_only=True):
    """One series: how the responder waits and for how long at most; `load` is the plan of the flow beside it, on its clock."""

    protocol: Protocol
    waiting: Waiting
    payload_bytes: int
    most_s: float
    index: int
    """Of the data connection; for UDP the number of the series, which its closing datagrams carry."""
    load_index: int | None = None
    load: FlowPlan | None = None


class Ready(msgspec.Struct, frozen=True, kw_only=True):
    """The responder echoes from now on."""


class _Seen(msgspec.Struct, frozen=True, kw_only=True):
    """What the child with the loop hands back."""

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


def _duration_s(spec: LinkSpec, phase: Phase) -> float:
    return min(SPIN_S, spec.duration_s / 4) if phase.waiting == "spinning" else spec.duration_s / 2


def _client(spec: LinkSpec, session: Session) -> list[Record | Problem]:
    found: list[Record | Problem] = []
    for number, phase in enumerate(_phases_of(spec)):
        try:
            found.append(_phase(spec, session, phase, number))
        except PathBroken as failure:
            session.is_broken = True
            found.append(_nothing(spec, phase, failure.error))
            break
    return found


def _phases_of(spec: LinkSpec) -> tuple[Phase, ...]:
    return PHASES[:1] if spec.is_brief else PHASES


def _phase(spec: LinkSpec, session: Session, phase: Phase, number: int) -> LatencyRun:
    duration_s, payload_bytes = _duration_s(spec, phase), max(_SHORTEST_BYTES, spec.payload_bytes)
    ahead_s = session.clock_ahead_s()
    index, handle = session.data() if phase.protocol == "tcp" else (number, session.datagrams())
    load_index, load_handle = session.data() if phase.load == "loaded" else (None, None)
    plan = None if load_handle is None else _load_plan(spec, session, duration_s)
    ask = Ask(
        protocol=phase.protocol,
        waiting=phase.waiting,
        payload_bytes=payload_bytes,
        most_s=duration_s + LOAD_RAMP_S + 2 * LONGEST_WAIT_S,
        index=index,
        load_index=load_index,
        load=None if plan is None else msgspec.structs.replace(plan, start_at_s=plan.start_at_s + ahead_s),
    )
    session.begin("latency", ask)
    session.answer(Ready)
    try:
        with Children() as children:
            if plan is not None and load_handle is not None:
                choose_congestion_control(load_handle, spec.congestion_control)
                children.start(partial(send_flow, load_handle, 0, plan))
                time.sleep(LOAD_RAMP_S)
            prefix = b"" if phase.protocol == "tcp" else session.tag
            with Children() as loop:
                loop.start(partial(ping_pong, handle, prefix, payload_bytes, phase.waiting == "spinning", duration_s))
                seen = next(iter(loop.results(_Seen, duration_s + 20 * LONGEST_WAIT_S).values()), None)
    finally:
        if phase.protocol == "tcp":
            session.done_with(handle)
        else:
            _say_goodbye(handle, _goodbye(session.tag, number))
        if load_handle is not None:
            session.done_with(load_handle)
    session.answer(Ready, ask.most_s)
    return _record(spec, phase, payload_bytes, seen or _Seen(sent_count=0, received_count=0, duration_s=0.0, error="timed-out"))


def _load_plan(spec: LinkSpec, session: Session, duration_s: float) -> FlowPlan:
    return FlowPlan(
        start_at_s=time.time(),
        ramp_s=LOAD_RAMP_S,
        duration_s=duration_s + LONGEST_WAIT_S,
        tail_s=TAIL_S,
        block_bytes=BLOCK_BYTES,
        most_bytes_per_s=min(session.welcome.most_bytes_per_s, spec.most_bytes_per_s or session.welcome.most_bytes_per_s),
    )


def _goodbye(tag: bytes, number: int) -> bytes:
    """The datagram that ends a series of echoes: shorter than any that is echoed."""
    return tag + bytes([number % 256])


def _say_goodbye(handle: socket.socket, goodbye: bytes) -> None:
    with handle, contextlib.suppress(OSError):
        for _ in range(GOODBYES_COUNT):
            handle.send(goodbye)


def ping_pong(handle: socket.socket, tag: bytes, payload_bytes: int, is_spinning: bool, duration_s: float) -> _Seen:
    """Round trips for `duration_s`, one in flight. With a tag the messages are datagrams, numbered, and may be lost."""
    _wait_as(handle, is_spinning, LONGEST_WAIT_S)
    exchange = _Datagrams(handle, tag, payload_bytes) if tag else _Stream(handle, payload_bytes)
    rtts_ns, clock, one_more = array("q", bytes(8 * MOST_SAMPLES_COUNT)), time.perf_counter_ns, exchange.one
    sent_count, received_count, losses_count, error = 0, 0, 0, None
    start_ns = now_ns = clock()
    end_ns = start_ns + int(duration_s * 1e9)
    try:
        while now_ns < end_ns and received_count < MOST_SAMPLES_COUNT:
            sent_count += 1
            before_ns = clock()
            is_back = one_more(before_ns)
            now_ns = clock()
            if is_back:
                rtts_ns[received_count] = now_ns - before_ns
                received_count += 1
                losses_count = 0
            else:
                losses_count += 1
                if losses_count >= MOST_LOSSES_COUNT or not tag:
                    error = "timed-out"
                    break
    except OSError as failure:
        error = word_of(failure)
    return _summary(rtts_ns[:received_count], sent_count, (clock() - start_ns) / 1e9, error)


class _Stream:
    """Messages on a TCP connection."""

    def __init__(self, handle: socket.socket, payload_bytes: int) -> None:
        self._send, self._receive = handle.send, handle.recv_into
        self._message, self._buffer = bytes(payload_bytes), bytearray(payload_bytes)
        self._wanted = payload_bytes

    def one(self, before_ns: int) -> bool:
        """One message there and back; False where nothing came back in time."""
        self._send(self._message)
        got_bytes = 0
        while got_bytes < self._wanted:
            try:
                part = self._receive(self._buffer)
            except BlockingIOError:
                if time.perf_counter_ns() - before_ns > LONGEST_WAIT_S * 4e9:
                    return False
                os.sched_yield()
                continue
            if not part:
                raise ConnectionResetError(104, "closed")
            got_bytes += part
        return True


class _Datagrams:
    """Numbered datagrams."""

    def __init__(self, handle: socket.socket, tag: bytes, payload_bytes: int) -> None:
        self._send, self._receive = handle.send, handle.recv_into
        self._message, self._buffer = bytearray(tag.ljust(payload_bytes, b"\0")), bytearray(payload_bytes)
        self._number = 0

    def one(self, before_ns: int) -> bool:
        """One datagram there and its echo back; False where that was lost, or later than `LONGEST_WAIT_S`."""
        self._number += 1
        _SEQUENCE.pack_into(self._message, TAG_BYTES, self._number)
        self._send(self._message)
        while True:
            try:
                self._receive(self._buffer)
            except BlockingIOError:
                if time.perf_counter_ns() - before_ns > LONGEST_WAIT_S * 1e9:
                    return False
                os.sched_yield()
                continue
            if self._buffer == self._message:
                return True


def _wait_as(handle: socket.socket, is_spinning: bool, longest_s: float) -> None:
    """Blocking with the kernel's time-out, or not blocking at all; who spins yields to whoever else wants the core.

    Without that two spinning ends on one core (a loopback, a busy host) wait for each other's time slices.
    """
    handle.settimeout(0.0 if is_spinning else None)
    if not is_spinning:
        handle.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, _TIMEVAL.pack(int(longest_s), int(longest_s % 1 * 1e6)))


def _summary(rtts_ns: "array[int]", sent_count: int, duration_s: float, error: str | None) -> _Seen:
    ordered = sorted(rtts_ns)
    tell = {f"p{percent}_s": quantile(ordered, percent / 100) for percent in (50, 95, 99)}
    return _Seen(
        sent_count=sent_count,
        received_count=len(ordered),
        duration_s=duration_s,
        minimum_s=ordered[0] / 1e9 if ordered else None,
        mean_s=sum(ordered) / len(ordered) / 1e9 if ordered else None,
        maximum_s=ordered[-1] / 1e9 if ordered else None,
        error=error,
        **{name: None if value is None else value / 1e9 for name, value in tell.items()},
    )


def _record(spec: LinkSpec, phase: Phase, payload_bytes: int, seen: _Seen) -> LatencyRun:
    percentiles = {"rtt_p50_s": seen.p50_s, "rtt_p95_s": seen.p95_s, "rtt_p99_s": seen.p99_s}
    too_few: dict[str, Reason] = {name: "absent" for name, value in percentiles.items() if value is None}
    return LatencyRun(
        source=source_of(spec),
        missing=too_few,
        sender=sender_of(spec),
        receiver=receiver_of(spec),
        address=spec.address,
        protocol=phase.protocol,
        load=phase.load,
        waiting=phase.waiting,
        payload_bytes=payload_bytes,
        sent_count=seen.sent_count,
        received_count=seen.received_count,
        duration_s=seen.duration_s,
        rtt_min_s=seen.minimum_s,
        rtt_mean_s=seen.mean_s,
        rtt_p50_s=seen.p50_s,
        rtt_p95_s=seen.p95_s,
        rtt_p99_s=seen.p99_s,
        rtt_max_s=seen.maximum_s,
        error=seen.error,
    )


def _nothing(spec: LinkSpec, phase: Phase, error: str) -> LatencyRun:
    return _record(spec, phase, spec.payload_bytes, _Seen(sent_count=0, received_count=0, duration_s=0.0, error=error))


def _server(served: Served, raw: msgspec.Raw) -> None:
    ask = msgspec.json.decode(raw, type=Ask)
    if not (0 < ask.most_s <= served.limits.most_flow_s and _SHORTEST_BYTES <= ask.payload_bytes <= MOST_PAYLOAD_BYTES):
        return
    served.tell(Ready())
    wanted = [ask.index] if ask.protocol == "tcp" else []
    arrived = served.data([*wanted, *([] if ask.load_index is None else [ask.load_index])])
    handle = arrived.get(ask.index) if ask.protocol == "tcp" else served.datagrams
    beside = None if ask.load_index is None else arrived.get(ask.load_index)
    if handle is None:
        raise PathBroken("timed-out")
    with Children() as children:
        if beside is not None and ask.load is not None:
            bound = min(served.limits.most_bytes_per_s, ask.load.most_bytes_per_s or served.limits.most_bytes_per_s)
            children.start(partial(receive_flow, beside, 0, msgspec.structs.replace(ask.load, most_bytes_per_s=bound)))
        _wait_as(handle, ask.waiting == "spinning", TICK_S)
        with contextlib.suppress(OSError):
            if ask.protocol == "tcp":
                _echo_stream(handle, ask.payload_bytes, ask.most_s)
            else:
                _echo_datagrams(handle, served.tag, _goodbye(served.tag, ask.index), ask.most_s)
    if ask.protocol == "tcp":
        handle.close()
    served.tell(Ready())


def _echo_stream(handle: socket.socket, payload_bytes: int, most_s: float) -> None:
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
        send(buffer[:part])


def _echo_datagrams(handle: socket.socket, tag: bytes, goodbye: bytes, most_s: float) -> None:
    """Send back datagrams of this session to where they come from, until the one that ends this series."""
    receive, send, clock = handle.recvfrom_into, handle.sendto, time.perf_counter_ns
    buffer = memoryview(bytearray(MOST_PAYLOAD_BYTES))
    end_ns = clock() + int(most_s * 1e9)
    while clock() < end_ns:
        try:
            part, peer = receive(buffer)
        except BlockingIOError:
            os.sched_yield()
            continue
        if buffer[:TAG_BYTES] != tag:
            continue
        if part >= _SHORTEST_BYTES:
            send(buffer[:part], peer)
        elif buffer[:part] == goodbye:
            return


TEST = LinkTest(
    title=Text(en="round-trip times of small messages", zh="小消息往返时延"),
    gives=(LatencyRun,),
    cost_s=lambda spec: sum(
        _duration_s(spec, phase) + (LOAD_RAMP_S if phase.load == "loaded" else 0.0) + 0.1 for phase in _phases_of(spec)
    ),
    client=_client,
    failed=lambda spec, error: [_nothing(spec, PHASES[0], error)],
    server=_server,
)
