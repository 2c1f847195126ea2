"""The responder: one process that accepts, bounds and checks; each proven session then runs in a child of its own.

Nothing a stranger sends can hang it or make it grow: connections are read without blocking, hold at most one short frame each, are
closed after `greeting_s`, and there are at most `most_pending_count` of them.
"""

import contextlib
import errno
import gc
import os
import secrets
import selectors
import signal
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass, field

import msgspec

from wirespeed.benches.links import protocol
from wirespeed.benches.links.bulk import cut
from wirespeed.benches.links.children import dies_with
from wirespeed.benches.links.served import Served, datagrams_at, serve_session
from wirespeed.benches.links.spec import Limits

LOOK_S = 0.2
"""How often deadlines are looked at while nothing happens."""


class Tally(msgspec.Struct, kw_only=True):
    """What a responder did, told when it ends and while it runs."""

    sessions_count: int = 0
    refused_count: int = 0
    """Wrong token, wrong version, or too many sessions."""
    strangers_count: int = 0
    """Connections closed because what they said was no greeting, or nothing in time."""
    running_count: int = 0


@dataclass(slots=True)
class _Pending:
    """A connection that has proven nothing."""

    handle: socket.socket
    deadline_s: float
    buffer: bytearray = field(default_factory=bytearray)
    client_nonce: bytes = b""
    server_nonce: bytes = b""


@dataclass(slots=True)
class _Running:
    """A session in its child."""

    pid: int
    hand_over: socket.socket
    key: bytes
    deadline_s: float


class _Responder:
    """The accepting loop and what it holds."""

    def __init__(self, listening: socket.socket, token: str, limits: Limits, end_s: float) -> None:
        self.listening, self.token, self.limits, self.end_s = listening, token, limits, end_s
        self.tally = Tally()
        self.selector = selectors.DefaultSelector()
        self.selector.register(listening, selectors.EVENT_READ)
        self.pending: dict[int, _Pending] = {}
        self.running: dict[str, _Running] = {}

    def run(self, heard: Callable[[Tally], None]) -> None:
        """Until the time is over."""
        while (left_s := self.end_s - time.monotonic()) > 0:
            for key, _ in self.selector.select(min(LOOK_S, left_s)):
                if key.fileobj is self.listening:
                    self._accept()
                else:
                    self._read(self.pending[key.fd])
            self._look_at_deadlines()
            self.tally.running_count = len(self.running)
            heard(self.tally)

    def close(self) -> None:
        """End every session and connection."""
        for session in list(self.running):
            self._end(session, is_killed=True)
        for waiting in list(self.pending.values()):
            self._drop(waiting)
        self.selector.close()
        self.listening.close()

    def _accept(self) -> None:
        try:
            handle, _ = self.listening.accept()
        except OSError as error:
            if error.errno in (errno.EMFILE, errno.ENFILE):
                time.sleep(LOOK_S)  # out of descriptors: those in use come back with their deadlines
            return
        if len(self.pending) >= self.limits.most_pending_count:
            self.tally.strangers_count += 1
            cut(handle)
            return
        handle.setblocking(False)
        self.pending[handle.fileno()] = _Pending(handle, time.monotonic() + self.limits.greeting_s)
        self.selector.register(handle, selectors.EVENT_READ)

    def _read(self, waiting: _Pending) -> None:
        """What has come of a greeting. A frame is taken to its last byte and no further: what follows a join is the test's own."""
        wanted = protocol.FRAME_HEADER_BYTES
        if len(waiting.buffer) >= wanted:
            wanted += int.from_bytes(waiting.buffer[:wanted], "big")
        try:
            part = waiting.handle.recv(wanted - len(waiting.buffer))
        except BlockingIOError:
            return
        except OSError:
            part = b""
        waiting.buffer += part
        length = int.from_bytes(waiting.buffer[:4], "big") if len(waiting.buffer) >= 4 else 0
        if not part or length > protocol.MOST_GREETING_BYTES:
            self.tally.strangers_count += bool(waiting.buffer)
            self._drop(waiting)
        elif len(waiting.buffer) == protocol.FRAME_HEADER_BYTES + length > protocol.FRAME_HEADER_BYTES:
            body, waiting.buffer = bytes(waiting.buffer[4:]), bytearray()
            self._greeted(waiting, body)

    def _greeted(self, waiting: _Pending, body: bytes) -> None:
        try:
            said = protocol.GREETINGS.decode(body)
        except (msgspec.DecodeError, UnicodeDecodeError):
            self.tally.strangers_count += 1
            self._drop(waiting)
            return
        match said:
            case protocol.Hello() if not waiting.server_nonce:
                self._challenge(waiting, said)
            case protocol.Prove() if waiting.server_nonce:
                self._prove(waiting, said)
            case protocol.Join():
                self._join(waiting, said)
            case _:
                self.tally.strangers_count += 1
                self._drop(waiting)

    def _challenge(self, waiting: _Pending, said: protocol.Hello) -> None:
        if said.version_number != protocol.VERSION:
            self._refuse(waiting, "version")
            return
        waiting.client_nonce, waiting.server_nonce = said.nonce, os.urandom(protocol.NONCE_BYTES)
        self._say(waiting, protocol.Challenge(version_number=protocol.VERSION, nonce=waiting.server_nonce))

    def _prove(self, waiting: _Pending, said: protocol.Prove) -> None:
        nonces = (waiting.client_nonce, waiting.server_nonce)
        if not protocol.is_same(said.proof, protocol.proof_of(self.token.encode(), "client", *nonces)):
            self._refuse(waiting, "token")
        elif len(self.running) >= self.limits.most_sessions_count:
            self._refuse(waiting, "busy")
        else:
            self._begin_session(waiting, protocol.session_key(self.token, *nonces))

    def _begin_session(self, waiting: _Pending, key: bytes) -> None:
        session = secrets.token_hex(8)
        near, far = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        address, port = self.listening.getsockname()[:2]
        try:
            datagrams = datagrams_at(address, port, self.listening.family)
        except OSError:
            self._refuse(waiting, "busy")
            return
        welcome = protocol.Welcome(
            proof=protocol.proof_of(self.token.encode(), "server", waiting.client_nonce, waiting.server_nonce),
            session=session,
            most_bytes_per_s=self.limits.most_bytes_per_s,
            most_session_s=self.limits.session_s,
            udp_port=datagrams.getsockname()[1],
            host=socket.gethostname(),
        )
        parent = os.getpid()
        pid = os.fork()
        if pid == 0:
            try:
                dies_with(parent)
                gc.disable()  # it lives for minutes, and a collection in an echo would be a late reply
                os.setpgid(0, 0)
                near.close()
                self._forget_everything_but(waiting)
                waiting.handle.settimeout(self.limits.greeting_s)
                served = Served(waiting.handle, far, datagrams, key, self.token, self.limits)
                served.tell(welcome)
                serve_session(served)
            finally:
                os._exit(0)
        with contextlib.suppress(OSError):
            os.setpgid(pid, pid)  # the child does the same: whoever comes first
        far.close()
        datagrams.close()
        near.setblocking(False)
        self.running[session] = _Running(pid, near, key, time.monotonic() + self.limits.session_s)
        self.tally.sessions_count += 1
        self._drop(waiting, is_ours=False)

    def _forget_everything_but(self, kept: _Pending) -> None:
        """In a session's child: close what belongs to the accepting loop."""
        self.selector.close()
        self.listening.close()
        for other in self.pending.values():
            if other is not kept:
                other.handle.close()
        for running in self.running.values():
            running.hand_over.close()

    def _join(self, waiting: _Pending, said: protocol.Join) -> None:
        running = self.running.get(said.session)
        if running is None or not protocol.is_same(said.proof, protocol.join_proof(running.key, said.index)):
            self._refuse(waiting, "token")
            return
        try:
            socket.send_fds(running.hand_over, [str(said.index).encode()], [waiting.handle.fileno()])
        except OSError:
            self._drop(waiting)
            return
        self._drop(waiting, is_ours=False)

    def _refuse(self, waiting: _Pending, why: str) -> None:
        self.tally.refused_count += 1
        self._say(waiting, protocol.No(why=why))
        self._drop(waiting, is_ours=False)

    def _say(self, waiting: _Pending, message: protocol.Greeting) -> None:
        """A short frame into an empty buffer: where even that does not fit, the deadline ends the connection."""
        try:
            waiting.handle.send(protocol.framed(message))
        except OSError:
            waiting.deadline_s = 0.0

    def _drop(self, waiting: _Pending, is_ours: bool = True) -> None:
        """Forget a connection; `is_ours` resets it, so that nothing of it lingers."""
        descriptor = waiting.handle.fileno()
        self.selector.unregister(waiting.handle)
        del self.pending[descriptor]
        if is_ours:
            cut(waiting.handle)
        else:
            waiting.handle.close()

    def _look_at_deadlines(self) -> None:
        now_s = time.monotonic()
        for waiting in [one for one in self.pending.values() if one.deadline_s <= now_s]:
            self.tally.strangers_count += 1
            self._drop(waiting)
        for session, running in list(self.running.items()):
            if os.waitpid(running.pid, os.WNOHANG) != (0, 0):
                self._end(session, is_killed=False)
            elif running.deadline_s <= now_s:
                self._end(session, is_killed=True)

    def _end(self, session: str, is_killed: bool) -> None:
        """End a session's process group, so that no flow of it goes on."""
        running = self.running.pop(session)
        running.hand_over.close()
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(running.pid, signal.SIGKILL)
        if is_killed:
            os.waitpid(running.pid, 0)


def listen_at(address: str, port: int) -> socket.socket:
    """A listening socket. Raises OSError where the address is not this host's or the port is taken."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    handle = socket.socket(family, socket.SOCK_STREAM)
    try:
        handle.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        handle.bind((address, port))
        handle.listen(128)
        handle.setblocking(False)
    except OSError:
        handle.close()
        raise
    return handle


def serve(
    listening: socket.socket,
    token: str,
    for_s: float,
    limits: Limits | None = None,
    heard: Callable[[Tally], None] = lambda tally: None,
) -> Tally:
    """Answer link tests on a socket of `listen_at` for `for_s` seconds; everything is ended on return and on any exception.

    `heard` is called a few times a second. Raises ValueError for an empty token.
    """
    if not token:
        raise ValueError("a responder needs a token")
    responder = _Responder(listening, token, limits or Limits(), time.monotonic() + for_s)
    try:
        responder.run(heard)
    finally:
        responder.close()
    return responder.tally
