"""What is asked of a link test, what bounds a responder, and what a file on the shelf of tests offers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import msgspec

from wirespeed.benches.links.protocol import DEFAULT_PORT
from wirespeed.model.record import Record
from wirespeed.model.source import Problem, Source
from wirespeed.model.text import Text

if TYPE_CHECKING:
    from wirespeed.benches.links.served import Served
    from wirespeed.benches.links.session import Session

BLOCK_BYTES = 128 * 1024
"""As iperf3 sends; measured equal to it (0.99) where larger blocks were not steadily better."""
DROP_BLOCK_BYTES = 1024 * 1024
"""Where the receiver drops the payload in the kernel, larger blocks pay (2.05 of iperf3 against 1.77 with `iperf3 -Z`)."""
RAMP_S = 0.4
"""Before the common window: slow start and the start of all processes."""
TAIL_S = 0.1
"""Senders go on for so long after the window, so that it is loaded to its end in spite of clock differences."""


class LinkSpec(msgspec.Struct, frozen=True, kw_only=True):
    """One peer and the tests to run against it. Crosses processes and hosts as JSON."""

    address: str
    port: int = DEFAULT_PORT
    token: str
    tests: tuple[str, ...] = ()
    """Ids on the shelf of tests; none means all."""
    sender: str = ""
    receiver: str = ""
    duration_s: float = 2.0
    flows_count: int = 1
    """Of the parallel phase; 1 means no such phase."""
    is_both_ways: bool = False
    """Also a phase with flows in both directions at once."""
    is_reverse_too: bool = True
    """Also one flow from the peer to us."""
    is_copied: bool = True
    block_bytes: int | None = None
    start_at_s: float | None = None
    """Wall-clock instant at which all senders of a joint test start; then throughput is one phase only. The common window is kept:
    a sender that is late shortens its own ramp, and one that is too late gives a record with the error `late`."""
    purpose: Literal["single", "parallel", "both-ways", "incast", "mesh"] | None = None
    label: str = ""
    """Name of the joint test; flows with the same one ran at the same time."""
    congestion_control: str | None = None
    most_bytes_per_s: float | None = None
    ports: tuple[int, ...] = ()
    """Further ports to try to connect to."""
    connects_count: int = 20
    is_brief: bool = False
    """Of latency only the idle path, TCP, blocking: what a mesh compares."""
    payload_bytes: int = 14
    """Of one message of the latency test."""
    datagrams_per_s: float = 2000.0
    datagram_bytes: int = 200
    timeout_s: float = 3.0
    """For one connection attempt or one answer."""
    most_s: float = 120.0
    """For everything together; tests that would begin later are not begun."""


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """What a responder bounds itself by."""

    most_bytes_per_s: float = 12.5e9
    most_sessions_count: int = 32
    most_pending_count: int = 64
    """Connections that have not proven anything yet; further ones are closed at once."""
    greeting_s: float = 3.0
    """A connection that has proven nothing by then is closed."""
    idle_s: float = 30.0
    """A session that says nothing for so long ends."""
    session_s: float = 300.0
    most_flows_count: int = 64
    most_flow_s: float = 120.0
    may_reach_others: bool = False
    """Whether a session may ask this host to test the path to another responder with the same token (for the full mesh)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkTest:
    """One test of a path: what either end does, and what it says where the path is dead.

    `client` raises `PathBroken` where the session breaks; `failed` then makes the records that say so. `server` runs in the
    responder's session for each `begin` of this test. `cost_s` is an estimate of its whole time.
    """

    title: Text
    gives: tuple[type[Record], ...]
    cost_s: Callable[[LinkSpec], float]
    client: Callable[[LinkSpec, Session], list[Record | Problem]]
    failed: Callable[[LinkSpec, str], list[Record | Problem]]
    server: Callable[[Served, msgspec.Raw], None] | None = None
    without_session: Callable[[LinkSpec], list[Record | Problem]] | None = None
    """What can be measured before, or without, a session: the attempt to connect itself."""


def source_of(spec: LinkSpec) -> Source:
    """Where the records of a test come from."""
    return Source(tool="wirespeed links", path=f"{spec.address} port {spec.port}", host=spec.sender or None)


def sender_of(spec: LinkSpec) -> str:
    """The near end's name."""
    return spec.sender or "here"


def receiver_of(spec: LinkSpec) -> str:
    """The far end's name, or its address where it has none."""
    return spec.receiver or spec.address


def not_done(spec: LinkSpec, what: Text, error: str) -> Problem:
    """A test that gave nothing, and why."""
    reason: Literal["timed-out", "absent"] = "timed-out" if error == "timed-out" else "absent"
    return Problem(
        source=source_of(spec),
        reason=reason,
        why=Text(en=f"{what.en}: not measured, the path gave out ({error})", zh=f"{what.zh}：未能测量，路径中断（{error}）"),
    )
