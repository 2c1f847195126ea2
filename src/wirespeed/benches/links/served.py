"""The responder's side of a session, in a process of its own: answers one test after the other until the client leaves."""

import os
import socket
import time
from collections.abc import Sequence
from typing import Any, TypeVar

import msgspec

from wirespeed.benches.links import protocol, tests
from wirespeed.benches.links.bulk import cut
from wirespeed.benches.links.protocol import Begin, PathBroken
from wirespeed.benches.links.spec import Limits, LinkSpec, LinkTest
from wirespeed.model import record_lines, shelf

T = TypeVar("T")
ANSWER_S = 10.0
"""For one frame to or from a client within a test."""
JOIN_S = 3.0
"""For the data connections of a test to arrive once the client says they are open."""


class Served:
    """What a test's server side works with."""

    def __init__(
        self, control: socket.socket, handed_over: socket.socket, datagrams: socket.socket, key: bytes, token: str, limits: Limits
    ) -> None:
        self.control, self.datagrams, self.key, self.limits = control, datagrams, key, limits
        self.token = token
        self.tag = protocol.tag_of(key)
        self._handed_over = handed_over
        self._waiting: dict[int, socket.socket] = {}

    def tell(self, message: Any) -> None:
        """One frame to the client."""
        protocol.send_frame(self.control, message, ANSWER_S)

    def hear(self, kind: type[T]) -> T:
        """The client's next frame within a test."""
        return protocol.receive_frame(self.control, kind, ANSWER_S)

    def data(self, wanted: Sequence[int]) -> dict[int, socket.socket]:
        """The data connections with these indices, those that arrive in time."""
        end_s = time.monotonic() + JOIN_S
        while not set(wanted) <= set(self._waiting) and (left_s := end_s - time.monotonic()) > 0:
            self._handed_over.settimeout(left_s)
            try:
                name, descriptors, _, _ = socket.recv_fds(self._handed_over, 16, 1)
            except OSError:
                break
            if not name:
                break
            if descriptors:
                arrived = socket.socket(fileno=descriptors[0])
                arrived.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                self._waiting[int(name)] = arrived
        return {index: self._waiting.pop(index) for index in wanted if index in self._waiting}

    def forget(self) -> None:
        """Close data connections that no test asked for."""
        for handle in self._waiting.values():
            cut(handle)
        self._waiting.clear()


def serve_session(served: Served) -> None:
    """Answer until the client leaves, says nothing for too long, or says what cannot be understood."""
    known = shelf.ids(tests)
    while True:
        try:
            begin = protocol.receive_frame(served.control, Begin, served.limits.idle_s)
            if begin.test == protocol.CLOCK:
                served.tell(protocol.Clock(now_s=time.time()))
                continue
            if begin.test == protocol.RELAY:
                served.tell(_relayed(served, begin.ask))
                continue
            server = shelf.take(tests, begin.test, LinkTest).server if begin.test in known else None
            if server is None:
                return
            server(served, begin.ask)
        except (PathBroken, msgspec.DecodeError, OSError):
            return
        finally:
            served.forget()


def _relayed(served: Served, raw: msgspec.Raw) -> protocol.Relayed:
    """Test the path to another responder with the same token, where this one was started to do so."""
    from wirespeed.benches.links.client import run

    if not served.limits.may_reach_others:
        return protocol.Relayed(why="not-allowed")
    spec = _bounded(msgspec.json.decode(raw, type=LinkSpec), served)
    try:
        found = run(spec)
    except PathBroken as failure:
        return protocol.Relayed(why=failure.error)
    except LookupError:
        return protocol.Relayed(why="unknown-test")
    return protocol.Relayed(lines=tuple(msgspec.Raw(record_lines.encoded(one)) for one in found))


def _bounded(spec: LinkSpec, served: Served) -> LinkSpec:
    """What another host asks this one to send, within this one's own limits."""
    limits = served.limits
    return msgspec.structs.replace(
        spec,
        token=served.token,
        ports=(),
        connects_count=1,
        flows_count=min(spec.flows_count, limits.most_flows_count),
        duration_s=min(spec.duration_s, limits.idle_s / 4),
        timeout_s=min(spec.timeout_s, limits.greeting_s),
        most_bytes_per_s=min(spec.most_bytes_per_s or limits.most_bytes_per_s, limits.most_bytes_per_s),
        most_s=limits.idle_s,
    )


def datagrams_at(address: str, port: int, family: int) -> socket.socket:
    """A UDP socket on the responder's own port number, so that one hole in a firewall is enough; on any port where that is taken."""
    for wanted in (port, 0):
        handle = socket.socket(family, socket.SOCK_DGRAM)
        try:
            handle.bind((address, wanted))
        except OSError:
            handle.close()
            continue
        return handle
    raise OSError(os.strerror(98))
