"""What client and responder say to each other: frames of JSON over TCP, a handshake that proves the token without sending it.

    client                              responder
    hello(version, nonce)      ──►
                               ◄──      challenge(version, nonce)
    prove(proof of the token)  ──►
                               ◄──      welcome(proof of the token, session, bounds)
    begin(test, ask)           ──►      ... what the test says ...

A data connection opens with one `join` frame, and a datagram with a tag; both are made with the session's key, which both ends
derive from the token and the two nonces. Nobody without the token can use a responder, or read the token off the wire.
"""

import hashlib
import hmac
import socket
import time
from typing import Any, TypeVar

import msgspec

VERSION = 1
DEFAULT_PORT = 5270
FRAME_HEADER_BYTES = 4
MOST_GREETING_BYTES = 1024
"""Until the token is proven no frame may be longer: nobody can make a responder hold more."""
MOST_FRAME_BYTES = 4 * 1024 * 1024
"""A report on a train of a hundred thousand datagrams fits well."""
NONCE_BYTES = 16
TAG_BYTES = 8
"""Opens every datagram of a session."""

CLOCK = "clock"
"""A `begin` that is no test: it asks for the responder's wall clock."""
RELAY = "relay"
"""A `begin` that asks the responder to test the path to another one; `ask` is the spec without its token."""

T = TypeVar("T")


class PathBroken(Exception):
    """The peer cannot be reached, or no longer; `error` is the word that records carry: `timed-out`, `refused`, `reset`, `closed` ..."""

    def __init__(self, error: str) -> None:
        super().__init__(error)
        self.error = error


class Refused(PathBroken):
    """The peer answered, and does not want us: another token, another version, too many sessions."""


class Greeting(msgspec.Struct, frozen=True, kw_only=True, tag_field="say", tag=str.lower):
    """Base of the frames before a test."""


class Hello(Greeting, frozen=True, kw_only=True):
    """A client's first frame."""

    version_number: int
    nonce: bytes


class Challenge(Greeting, frozen=True, kw_only=True):
    """The answer to it."""

    version_number: int
    nonce: bytes


class Prove(Greeting, frozen=True, kw_only=True):
    """The client has the token."""

    proof: bytes


class Welcome(Greeting, frozen=True, kw_only=True):
    """So has the responder."""

    proof: bytes
    session: str
    most_bytes_per_s: float
    most_session_s: float
    udp_port: int
    host: str


class Join(Greeting, frozen=True, kw_only=True):
    """The first frame of a data connection."""

    session: str
    index: int
    proof: bytes


class No(Greeting, frozen=True, kw_only=True):
    """Refused, and why: `token`, `version`, `busy`."""

    why: str


class Begin(msgspec.Struct, frozen=True, kw_only=True):
    """Start of one test; `ask` is the test's own."""

    test: str
    ask: msgspec.Raw


class ClockAsk(msgspec.Struct, frozen=True, kw_only=True):
    """Asks for the responder's wall clock."""


class Clock(msgspec.Struct, frozen=True, kw_only=True):
    """The responder's wall clock."""

    now_s: float


class Relayed(msgspec.Struct, frozen=True, kw_only=True):
    """What a relayed test found, as lines of records; or why it was not done."""

    lines: tuple[msgspec.Raw, ...] = ()
    why: str | None = None


AnyGreeting = Hello | Challenge | Prove | Welcome | Join | No
GREETINGS = msgspec.json.Decoder(AnyGreeting)


def proof_of(secret: bytes, role: str, *parts: bytes) -> bytes:
    """HMAC-SHA256 over a role and what it speaks of."""
    return hmac.new(secret, b"|".join((b"wirespeed/1", role.encode(), *parts)), hashlib.sha256).digest()


def is_same(one: bytes, other: bytes) -> bool:
    """Compare in a time that tells nothing."""
    return hmac.compare_digest(one, other)


def session_key(token: str, client_nonce: bytes, server_nonce: bytes) -> bytes:
    """The key of one session."""
    return proof_of(token.encode(), "session", client_nonce, server_nonce)


def join_proof(key: bytes, index: int) -> bytes:
    """What lets a data connection into a session."""
    return proof_of(key, "join", str(index).encode())


def tag_of(key: bytes) -> bytes:
    """What opens every datagram of a session."""
    return proof_of(key, "datagram")[:TAG_BYTES]


def framed(message: Any) -> bytes:
    """A message with its length before it."""
    body = msgspec.json.encode(message)
    return len(body).to_bytes(FRAME_HEADER_BYTES, "big") + body


def send_frame(handle: socket.socket, message: Any, timeout_s: float) -> None:
    """Write one frame. Raises PathBroken."""
    try:
        handle.settimeout(timeout_s)
        handle.sendall(framed(message))
    except OSError as error:
        raise PathBroken(word_of(error)) from error


def receive_frame(handle: socket.socket, kind: type[T], timeout_s: float, most_bytes: int = MOST_FRAME_BYTES) -> T:
    """Read one frame within `timeout_s`, however slowly it comes. Raises PathBroken."""
    end_s = time.monotonic() + timeout_s
    length = int.from_bytes(_exactly(handle, FRAME_HEADER_BYTES, end_s), "big")
    if length > most_bytes:
        raise PathBroken("garbled")
    try:
        return msgspec.json.decode(_exactly(handle, length, end_s), type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise PathBroken("garbled") from error


def _exactly(handle: socket.socket, wanted: int, end_s: float) -> bytes:
    parts = bytearray()
    try:
        while len(parts) < wanted:
            left_s = end_s - time.monotonic()
            if left_s <= 0:
                raise PathBroken("timed-out")
            handle.settimeout(left_s)
            part = handle.recv(min(wanted - len(parts), 65536))
            if not part:
                raise PathBroken("closed")
            parts += part
    except OSError as error:
        raise PathBroken(word_of(error)) from error
    return bytes(parts)


def word_of(error: OSError) -> str:
    """The word records use for what became of a connection (those of `PortProbe.outcome`, and `failed` for the rest)."""
    import errno

    if isinstance(error, TimeoutError):
        return "timed-out"
    words = {
        errno.ECONNREFUSED: "refused", errno.ETIMEDOUT: "timed-out", errno.EAGAIN: "timed-out", errno.EINPROGRESS: "timed-out",
        errno.EHOSTUNREACH: "no-route", errno.ENETUNREACH: "unreachable", errno.EACCES: "prohibited", errno.EPERM: "prohibited",
        errno.ECONNRESET: "reset", errno.EPIPE: "reset", errno.ECONNABORTED: "aborted", errno.EADDRNOTAVAIL: "unreachable",
    }  # fmt: skip
    return words.get(error.errno or 0, "failed")
