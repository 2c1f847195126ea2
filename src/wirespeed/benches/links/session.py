"""The client's side of a session with a responder."""

import contextlib
import os
import socket
import time
from types import TracebackType
from typing import Any, TypeVar

import msgspec

from wirespeed.benches.links import protocol
from wirespeed.benches.links.bulk import cut
from wirespeed.benches.links.protocol import PathBroken, Refused
from wirespeed.benches.links.spec import LinkSpec

T = TypeVar("T")
CLOCK_ROUNDS = 5


class Session:
    """One proven session: a control connection, data connections and datagrams that belong to it."""

    def __init__(self, spec: LinkSpec, control: socket.socket, welcome: protocol.Welcome, key: bytes) -> None:
        self.spec, self.control, self.welcome, self.key = spec, control, welcome, key
        self.tag = protocol.tag_of(key)
        self.family = control.family
        self.host = control.getsockname()[0]
        self._next_index = 0
        self._data: list[socket.socket] = []
        self.is_broken = False
        """Set by a test that kept what it had found when the session broke."""
        self._clock_ahead_s: float | None = None
        self.rtt_s = 0.0
        """Quickest exchange seen when the clocks were compared."""

    @classmethod
    def opened(cls, spec: LinkSpec) -> "Session":
        """Connect and prove the token, both ways. Raises PathBroken, or Refused where the peer does not want us."""
        with contextlib.ExitStack() as unproven:
            control = unproven.enter_context(connected(spec.address, spec.port, spec.timeout_s))
            nonce = os.urandom(protocol.NONCE_BYTES)
            protocol.send_frame(control, protocol.Hello(version_number=protocol.VERSION, nonce=nonce), spec.timeout_s)
            challenge = _greeted(control, protocol.Challenge, spec.timeout_s)
            proof = protocol.proof_of(spec.token.encode(), "client", nonce, challenge.nonce)
            protocol.send_frame(control, protocol.Prove(proof=proof), spec.timeout_s)
            welcome = _greeted(control, protocol.Welcome, spec.timeout_s)
            if not protocol.is_same(welcome.proof, protocol.proof_of(spec.token.encode(), "server", nonce, challenge.nonce)):
                raise Refused("token")
            unproven.pop_all()
        return cls(spec, control, welcome, protocol.session_key(spec.token, nonce, challenge.nonce))

    def __enter__(self) -> "Session":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        for handle in self._data:
            cut(handle)
        cut(self.control)

    def begin(self, test: str, ask: msgspec.Struct) -> None:
        """Start a test at the other end."""
        message = protocol.Begin(test=test, ask=msgspec.Raw(msgspec.json.encode(ask)))
        protocol.send_frame(self.control, message, self.spec.timeout_s)

    def tell(self, message: Any) -> None:
        """One more frame of a test that has begun."""
        protocol.send_frame(self.control, message, self.spec.timeout_s)

    def answer(self, kind: type[T], timeout_s: float | None = None) -> T:
        """The responder's next frame; `timeout_s` beyond the usual for an answer that takes its time."""
        return protocol.receive_frame(self.control, kind, self.spec.timeout_s + (timeout_s or 0.0))

    def data(self) -> tuple[int, socket.socket]:
        """A new data connection of this session and its index."""
        index, self._next_index = self._next_index, self._next_index + 1
        handle = connected(self.spec.address, self.spec.port, self.spec.timeout_s)
        self._data.append(handle)
        proof = protocol.join_proof(self.key, index)
        protocol.send_frame(handle, protocol.Join(session=self.welcome.session, index=index, proof=proof), self.spec.timeout_s)
        return index, handle

    def done_with(self, handle: socket.socket) -> None:
        """End a data connection at once."""
        cut(handle)
        self._data.remove(handle)

    def datagrams(self) -> socket.socket:
        """A new UDP socket connected to the responder's."""
        handle = socket.socket(self.family, socket.SOCK_DGRAM)
        try:
            handle.connect((self.spec.address, self.welcome.udp_port))
        except OSError as error:
            handle.close()
            raise PathBroken(protocol.word_of(error)) from error
        return handle

    def clock_ahead_s(self) -> float:
        """How far the responder's wall clock is ahead of ours: from the quickest of a few exchanges (as NTP does)."""
        if self._clock_ahead_s is None:
            rounds = []
            for _ in range(CLOCK_ROUNDS):
                start_s, start = time.time(), time.perf_counter()
                self.begin(protocol.CLOCK, protocol.ClockAsk())
                there_s = self.answer(protocol.Clock).now_s
                took_s = time.perf_counter() - start
                rounds.append((took_s, there_s - (start_s + took_s / 2)))
            self.rtt_s, self._clock_ahead_s = min(rounds)
        return self._clock_ahead_s


def connected(address: str, port: int, timeout_s: float) -> socket.socket:
    """A TCP connection without delayed small writes. Raises PathBroken with the outcome's word."""
    try:
        handle = socket.create_connection((address, port), timeout=timeout_s)
        handle.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    except OSError as error:
        raise PathBroken(protocol.word_of(error)) from error
    return handle


def _greeted(control: socket.socket, kind: type[T], timeout_s: float) -> T:
    said: Any = protocol.receive_frame(control, protocol.AnyGreeting, timeout_s, protocol.MOST_GREETING_BYTES)  # type: ignore[arg-type]
    if isinstance(said, protocol.No):
        raise Refused(said.why)
    if not isinstance(said, kind):
        raise PathBroken("garbled")
    return said
