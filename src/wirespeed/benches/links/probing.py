"""Single datagrams with chosen header fields, and a responder that says what arrived: the ground of path MTU, hops and DSCP.

Everything is asked of ordinary UDP sockets: no raw socket, no privilege. Routers' answers (ICMP) come through the error queue.
"""

import errno
import select
import socket
import struct
import time
from types import TracebackType
from typing import Any, Literal, NamedTuple

import msgspec

from wirespeed.benches.links.protocol import TAG_BYTES
from wirespeed.benches.links.routes import way_to
from wirespeed.benches.links.served import Served
from wirespeed.benches.links.session import Session

MOST_PROBES_COUNT = 20_000
"""That a responder answers within one test."""
TRIES_COUNT = 3
"""One probe may be lost without being too large."""
SHORTEST_WAIT_S = 0.1
DONT_FRAGMENT_PROBE = 3
"""IP_PMTUDISC_PROBE: don't fragment, and do not believe what the path MTU cache says (ip(7))."""
SO_EE_ORIGIN_ICMP, SO_EE_ORIGIN_ICMP6 = 2, 3
_ASK = struct.Struct("!BIHB")
"""Kind, number, wanted size of the reply's payload, its traffic class."""
_REPLY = struct.Struct("!BIHBBBIIB")
"""Kind, number; payload bytes, TTL and traffic class of the ask as received; TTL of the reply as sent; MTU of the responder's interface;
MTU that a router told the responder; whether the reply asked for was larger than the interface takes."""
_ERROR = struct.Struct("=IBBBBII")
ASKING, REPLYING = 1, 2
HEADROOM_BYTES = TAG_BYTES + _REPLY.size


class _Options(NamedTuple):
    """The numbers of one IP version (linux/in.h, linux/in6.h); `ttl_seen` and `tos_seen` are the types of ancillary data."""

    level: int
    ttl: int
    tos: int
    mtu_discover: int
    receive_error: int
    receive_ttl: int
    receive_tos: int
    ttl_seen: int
    tos_seen: int
    header_bytes: int
    time_exceeded: int
    smallest_mtu_bytes: int


V4 = _Options(socket.IPPROTO_IP, 2, 1, 10, 11, 12, 13, 2, 1, 28, 11, 576)
V6 = _Options(socket.IPPROTO_IPV6, 16, 67, 23, 25, 51, 66, 52, 67, 48, 3, 1280)


class Told(NamedTuple):
    """What one router said by ICMP about a datagram of ours."""

    by: str | None
    is_time_exceeded: bool
    mtu_bytes: int | None


class Answer(NamedTuple):
    """One probe that came back: what the responder saw of it, and what we saw of the reply."""

    payload_bytes: int
    ttl_received_hops: int | None
    tos_received: int | None
    peer_ttl_sent_hops: int
    peer_interface_mtu_bytes: int | None
    peer_told_mtu_bytes: int | None
    is_reply_too_large: bool
    reply_payload_bytes: int
    reply_ttl_hops: int | None
    reply_tos: int | None
    rtt_s: float


def options_of(family: int) -> _Options:
    """The socket options of an address family."""
    return V6 if family == socket.AF_INET6 else V4


def prepare(handle: socket.socket, is_on: bool = True) -> None:
    """Switch on what a probing socket needs: no fragmentation, ICMP through the error queue, header fields of what arrives."""
    numbers = options_of(handle.family)
    handle.setsockopt(numbers.level, numbers.mtu_discover, DONT_FRAGMENT_PROBE if is_on else 1)
    for option in (numbers.receive_error, numbers.receive_ttl, numbers.receive_tos):
        handle.setsockopt(numbers.level, option, int(is_on))


def told_by_routers(handle: socket.socket) -> list[Told]:
    """Drain the error queue; this also clears the error that the next call would fail with."""
    numbers = options_of(handle.family)
    found: list[Told] = []
    while True:
        try:
            _, ancillary, _, _ = handle.recvmsg(256, 512, socket.MSG_ERRQUEUE | socket.MSG_DONTWAIT)
        except OSError:
            return found
        for level, kind, data in ancillary:
            if (level, kind) == (numbers.level, numbers.receive_error) and len(data) >= _ERROR.size:
                number, origin, icmp_type, _, _, info, _ = _ERROR.unpack_from(data)
                is_icmp = origin in (SO_EE_ORIGIN_ICMP, SO_EE_ORIGIN_ICMP6)
                told_mtu = info if is_icmp and number == errno.EMSGSIZE and 0 < info <= 65_535 else None
                found.append(Told(_offender(data), is_icmp and icmp_type == numbers.time_exceeded, told_mtu))


def _offender(data: bytes) -> str | None:
    """The address that follows `struct sock_extended_err`."""
    family = int.from_bytes(data[_ERROR.size : _ERROR.size + 2], "little")
    if family == socket.AF_INET and len(data) >= _ERROR.size + 8:
        return socket.inet_ntop(socket.AF_INET, data[_ERROR.size + 4 : _ERROR.size + 8])
    if family == socket.AF_INET6 and len(data) >= _ERROR.size + 24:
        return socket.inet_ntop(socket.AF_INET6, data[_ERROR.size + 8 : _ERROR.size + 24])
    return None


class Prober:
    """The client's end: one probe at a time, answered or not."""

    def __init__(self, session: Session, test: str) -> None:
        session.clock_ahead_s()  # learns the round trip; a session answers either clocks or probes
        session.begin(test, Start())
        session.answer(Start)
        self._tag = session.tag
        self._handle = session.datagrams()
        prepare(self._handle)
        self.numbers = options_of(session.family)
        self.wait_s = min(1.0, max(SHORTEST_WAIT_S, 4 * session.rtt_s))
        self.told: list[Told] = []
        self._number = 0
        self._poll = select.poll()
        self._poll.register(self._handle, select.POLLIN)
        self.ttl_hops = self._handle.getsockopt(self.numbers.level, self.numbers.ttl)

    def __enter__(self) -> "Prober":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._handle.close()

    def set(self, *, ttl_hops: int | None = None, dscp: int | None = None) -> None:
        """Header fields of the probes that follow."""
        if ttl_hops is not None:
            self._handle.setsockopt(self.numbers.level, self.numbers.ttl, ttl_hops)
        if dscp is not None:
            self._handle.setsockopt(self.numbers.level, self.numbers.tos, dscp << 2)

    def probe(
        self, payload_bytes: int = 0, reply_bytes: int = 0, reply_dscp: int = 0, tries_count: int = TRIES_COUNT
    ) -> Answer | Literal["lost", "too-large"]:
        """Send a probe until it is answered, or lost as often as it may be. `too-large` where our own interface does not take it."""
        for _ in range(tries_count):
            self._number += 1
            message = self._tag + _ASK.pack(ASKING, self._number, reply_bytes, reply_dscp << 2)
            start_s = time.perf_counter()
            if not self._sent(message.ljust(payload_bytes, b"\0")):
                return "too-large"
            answer = self._answer(start_s)
            if answer is not None:
                return answer
        return "lost"

    def _sent(self, message: bytes) -> bool:
        """An error of an earlier datagram is told on this one's way out: it is drained and the send tried again."""
        for _ in range(3):
            try:
                self._handle.send(message)
                return True
            except OSError as error:
                self.told.extend(told_by_routers(self._handle))
                code = error.errno
        return code != errno.EMSGSIZE

    def _answer(self, start_s: float) -> Answer | None:
        end_s = start_s + self.wait_s
        while (left_s := end_s - time.perf_counter()) > 0:
            for _, event in self._poll.poll(left_s * 1e3):
                if event & select.POLLERR:
                    told = told_by_routers(self._handle)
                    self.told.extend(told)
                    if any(one.is_time_exceeded or one.mtu_bytes for one in told):
                        return None
                if event & select.POLLIN and (answer := self._received(start_s)) is not None:
                    return answer
        return None

    def _received(self, start_s: float) -> Answer | None:
        try:
            data, ancillary, _, _ = self._handle.recvmsg(65_536, 512, socket.MSG_DONTWAIT)
        except OSError:
            return None
        rtt_s = time.perf_counter() - start_s
        if len(data) < HEADROOM_BYTES or data[:TAG_BYTES] != self._tag:
            return None
        kind, number, size, ttl, tos, ttl_sent, interface, told, too_large = _REPLY.unpack_from(data, TAG_BYTES)
        if kind != REPLYING or number != self._number:
            return None
        reply_ttl, reply_tos = seen_fields(ancillary, self.numbers)
        return Answer(
            size,
            ttl or None,
            tos,
            ttl_sent,
            interface or None,
            told or None,
            bool(too_large),
            len(data),
            reply_ttl,
            reply_tos,
            rtt_s,
        )


class Start(msgspec.Struct, frozen=True, kw_only=True):
    """Asks for probes to be answered, and says that they are."""


def seen_fields(ancillary: list[tuple[int, int, bytes]], numbers: _Options) -> tuple[int | None, int | None]:
    """TTL and traffic class of a datagram as it arrived."""
    ttl = tos = None
    for level, kind, data in ancillary:
        if level == numbers.level and kind == numbers.ttl_seen:
            ttl = int.from_bytes(data[:4], "little")
        elif level == numbers.level and kind == numbers.tos_seen:
            tos = data[0]
    return ttl, tos


def answer_probes(served: Served, raw: msgspec.Raw) -> None:
    """The responder's end: answer probes until the client begins something else or leaves."""
    handle, control = served.datagrams, served.control
    end_s = time.monotonic() + served.limits.most_flow_s
    watch = select.poll()
    watch.register(handle, select.POLLIN)
    watch.register(control, select.POLLIN)
    prepare(handle)
    served.tell(Start())
    answering = _Answering(served)
    try:
        while time.monotonic() < end_s and answering.answered_count < MOST_PROBES_COUNT:
            events = dict(watch.poll(1000.0))
            if control.fileno() in events:
                return
            if handle.fileno() in events:
                answering.one()
    finally:
        prepare(handle, is_on=False)


class _Answering:
    """What a responder knows while it answers."""

    def __init__(self, served: Served) -> None:
        self._handle, self._tag = served.datagrams, served.tag
        self._numbers = options_of(self._handle.family)
        self._ttl_hops = self._handle.getsockopt(self._numbers.level, self._numbers.ttl)
        self._interface_bytes = way_to(served.control.getpeername()[0]).mtu_bytes or 0
        self._told_bytes = 0
        self.answered_count = 0

    def one(self) -> None:
        """Read what has come, and reply where it is a probe of this session."""
        self._hear_routers()
        try:
            data, ancillary, _, peer = self._handle.recvmsg(65_536, 512, socket.MSG_DONTWAIT)
        except OSError:
            return
        if len(data) < TAG_BYTES + _ASK.size or data[:TAG_BYTES] != self._tag:
            return
        kind, number, wanted, reply_tos = _ASK.unpack_from(data, TAG_BYTES)
        if kind != ASKING:
            return
        self.answered_count += 1
        ttl, tos = seen_fields(ancillary, self._numbers)
        self._handle.setsockopt(self._numbers.level, self._numbers.tos, reply_tos)
        for size, is_too_large in ((wanted, 0), (0, 1)):
            reply = _REPLY.pack(
                REPLYING, number, min(len(data), 65_535), ttl or 0, tos or 0, self._ttl_hops, self._interface_bytes,
                self._told_bytes, is_too_large,
            )  # fmt: skip
            if self._replied((self._tag + reply).ljust(size, b"\0"), peer):
                return

    def _replied(self, reply: bytes, peer: Any) -> bool:
        for _ in range(3):
            try:
                self._handle.sendto(reply, peer)
                return True
            except OSError:
                self._hear_routers()
        return False

    def _hear_routers(self) -> None:
        for told in told_by_routers(self._handle):
            self._told_bytes = told.mtu_bytes or self._told_bytes
