"""A paced train of numbered UDP datagrams in each direction: loss and its runs, duplicates, reordering, overflow of the receiver."""

import contextlib
import select
import socket
import struct
import time
from array import array
from typing import Any

import msgspec

from wirespeed.benches.links.protocol import TAG_BYTES, PathBroken
from wirespeed.benches.links.served import Served
from wirespeed.benches.links.session import Session
from wirespeed.benches.links.spec import LinkSpec, LinkTest, not_done, receiver_of, sender_of, source_of
from wirespeed.model.link_runs import DatagramTrain
from wirespeed.model.record import Record
from wirespeed.model.source import Problem
from wirespeed.model.text import Text
from wirespeed.theory.datagram_train import TrainVerdict, judged

TITLE = Text(en="a train of datagrams", zh="UDP 数据报序列")
MOST_COUNT = 200_000
MOST_COPIES = 3
"""A receiver looks at no more than so many times the datagrams that were sent."""
LATE_S = 0.3
"""How long after the train's end a datagram still counts."""
RECEIVE_BUFFER_BYTES = 4 * 1024 * 1024
"""Asked for, so that the receiver's own scheduling is not mistaken for the path; the kernel gives what it allows."""
MOST_PAYLOAD_BYTES = 65_000
BEHIND_S = 0.05
"""A sender further behind its pace gives up the time it lost, rather than send a burst."""
_SO_MEMINFO = 55
_DROPS = struct.Struct("9I")
_NUMBER = struct.Struct("!I")
_SHORTEST_BYTES = TAG_BYTES + _NUMBER.size


class Ask(msgspec.Struct, frozen=True, kw_only=True):
    """One train: who sends, how many, how large and how fast."""

    is_back: bool
    sent_count: int
    payload_bytes: int
    rate_per_s: float


class Ready(msgspec.Struct, frozen=True, kw_only=True):
    """The receiver listens."""


class Done(msgspec.Struct, frozen=True, kw_only=True):
    """The sender has sent them, in so long."""

    sent_count: int
    duration_s: float


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """What the receiver makes of the train."""

    received_count: int
    lost_count: int
    duplicates_count: int
    reordered_count: int
    loss_runs_count: int
    longest_loss_run_count: int
    dropped_by_receiver_count: int | None


def _client(spec: LinkSpec, session: Session) -> list[Record | Problem]:
    return [_there(spec, session), _back(spec, session)]


def _ask(spec: LinkSpec, is_back: bool) -> Ask:
    sent_count = min(MOST_COUNT, max(1, round(spec.datagrams_per_s * spec.duration_s)))
    payload_bytes = min(MOST_PAYLOAD_BYTES, max(_SHORTEST_BYTES, spec.datagram_bytes))
    return Ask(is_back=is_back, sent_count=sent_count, payload_bytes=payload_bytes, rate_per_s=spec.datagrams_per_s)


def _there(spec: LinkSpec, session: Session) -> DatagramTrain:
    ask = _ask(spec, is_back=False)
    session.begin("datagrams", ask)
    session.answer(Ready)
    with session.datagrams() as handle:
        done = send_train(handle, None, session.tag, ask)
    session.tell(done)
    report = session.answer(Report, LATE_S)
    return _record(spec, (sender_of(spec), receiver_of(spec)), ask, done, report)


def _back(spec: LinkSpec, session: Session) -> DatagramTrain | Problem:
    ask = _ask(spec, is_back=True)
    session.begin("datagrams", ask)
    session.answer(Ready)
    with session.datagrams() as handle:
        with contextlib.suppress(OSError):
            for _ in range(3):  # shows the responder where to send, and opens the way through address translation
                handle.send(session.tag)
        arrivals, dropped = receive_train(handle, session.control, session.tag, ask, ask.sent_count / ask.rate_per_s + 5.0)
    done = session.answer(Done)
    if done.sent_count == 0:
        return not_done(spec, TITLE, "timed-out")
    return _record(spec, (receiver_of(spec), sender_of(spec)), ask, done, _report(judged(arrivals, done.sent_count), dropped))


def send_train(handle: socket.socket, peer: Any, tag: bytes, ask: Ask) -> Done:
    """Send the train at its pace; a datagram that the own host refuses counts as sent, as one that any queue drops does."""
    message = bytearray(tag.ljust(ask.payload_bytes, b"\0"))
    gap_ns, clock = 1e9 / ask.rate_per_s, time.perf_counter_ns
    start_ns = due_ns = float(clock())
    for number in range(ask.sent_count):
        _NUMBER.pack_into(message, TAG_BYTES, number)
        early_ns = due_ns - clock()
        if early_ns > 0:
            time.sleep(early_ns / 1e9)
        elif early_ns < -BEHIND_S * 1e9:
            due_ns = float(clock())
        with contextlib.suppress(OSError):
            handle.send(message) if peer is None else handle.sendto(message, peer)
        due_ns += gap_ns
    return Done(sent_count=ask.sent_count, duration_s=max(1e-9, (clock() - start_ns) / 1e9))


def receive_train(
    handle: socket.socket, control: socket.socket, tag: bytes, ask: Ask, most_s: float
) -> tuple["array[int]", int | None]:
    """Numbers in the order they arrive, until the sender says on the control connection that it is done, and what is late has come."""
    arrivals = array("I")
    before = _drops(handle)
    buffer = memoryview(bytearray(MOST_PAYLOAD_BYTES))
    watch = select.poll()
    watch.register(handle, select.POLLIN)
    watch.register(control, select.POLLIN)
    end_s = time.monotonic() + most_s
    with contextlib.suppress(OSError):
        handle.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, RECEIVE_BUFFER_BYTES)
    while (left_s := end_s - time.monotonic()) > 0 and len(arrivals) < ask.sent_count * MOST_COPIES:
        events = dict(watch.poll(left_s * 1e3))
        if control.fileno() in events:
            watch.unregister(control)
            end_s = min(end_s, time.monotonic() + LATE_S)
        _drain(handle, buffer, tag, arrivals, ask.sent_count * MOST_COPIES)
    after = _drops(handle)
    return arrivals, None if before is None or after is None else after - before


def _drain(handle: socket.socket, buffer: memoryview, tag: bytes, arrivals: "array[int]", most_count: int) -> None:
    receive, append, unpack = handle.recv_into, arrivals.append, _NUMBER.unpack_from
    while len(arrivals) < most_count:
        try:
            size = receive(buffer, 0, socket.MSG_DONTWAIT)
        except OSError:
            return
        if size >= _SHORTEST_BYTES and buffer[:TAG_BYTES] == tag:
            append(unpack(buffer, TAG_BYTES)[0])


def _drops(handle: socket.socket) -> int | None:
    """The socket's own drop counter: what SO_RXQ_OVFL tells with the next datagram, at once and also where none follows."""
    try:
        return int(_DROPS.unpack(handle.getsockopt(socket.SOL_SOCKET, _SO_MEMINFO, _DROPS.size))[8])
    except (OSError, struct.error):
        return None


def _report(verdict: TrainVerdict, dropped: int | None) -> Report:
    return Report(**verdict._asdict(), dropped_by_receiver_count=dropped)


def _record(spec: LinkSpec, ends: tuple[str, str], ask: Ask, done: Done, report: Report) -> DatagramTrain:
    return DatagramTrain(
        source=source_of(spec),
        sender=ends[0],
        receiver=ends[1],
        address=spec.address,
        payload_bytes=ask.payload_bytes,
        rate_per_s=done.sent_count / done.duration_s,
        sent_count=done.sent_count,
        received_count=report.received_count,
        lost_count=report.lost_count,
        duplicates_count=report.duplicates_count,
        reordered_count=report.reordered_count,
        loss_ratio=report.lost_count / done.sent_count,
        loss_runs_count=report.loss_runs_count,
        longest_loss_run_count=report.longest_loss_run_count,
        dropped_by_receiver_count=report.dropped_by_receiver_count,
    )


def _server(served: Served, raw: msgspec.Raw) -> None:
    ask = msgspec.json.decode(raw, type=Ask)
    most_per_s = served.limits.most_bytes_per_s / max(1, ask.payload_bytes)
    is_bounded = 0 < ask.sent_count <= MOST_COUNT and _SHORTEST_BYTES <= ask.payload_bytes <= MOST_PAYLOAD_BYTES
    if not is_bounded or not 0 < ask.rate_per_s <= most_per_s or ask.sent_count / ask.rate_per_s > served.limits.most_flow_s:
        return
    served.tell(Ready())
    if ask.is_back:
        peer = _first_from(served)
        served.tell(Done(sent_count=0, duration_s=0.0) if peer is None else send_train(served.datagrams, peer, served.tag, ask))
        return
    arrivals, dropped = receive_train(served.datagrams, served.control, served.tag, ask, served.limits.most_flow_s)
    done = served.hear(Done)
    if not 0 < done.sent_count <= MOST_COUNT:
        raise PathBroken("garbled")
    served.tell(_report(judged(arrivals, done.sent_count), dropped))


def _first_from(served: Served) -> Any:
    """Where the client's datagrams come from; None where none arrives."""
    handle, end_s = served.datagrams, time.monotonic() + 1.0
    while (left_s := end_s - time.monotonic()) > 0:
        handle.settimeout(left_s)
        try:
            data, peer = handle.recvfrom(MOST_PAYLOAD_BYTES)
        except OSError:
            continue
        if data == served.tag:
            return peer
    return None


TEST = LinkTest(
    title=TITLE,
    gives=(DatagramTrain,),
    cost_s=lambda spec: 2 * (spec.duration_s + LATE_S + 0.1),
    client=_client,
    failed=lambda spec, error: [not_done(spec, TITLE, error)],
    server=_server,
)
