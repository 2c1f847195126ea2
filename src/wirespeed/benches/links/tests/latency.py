"""Round trips of small messages: TCP and UDP, blocking and spinning, on an idle path and beside a bulk flow."""

import contextlib
import time
from functools import partial
from typing import Literal, NamedTuple

import msgspec

from wirespeed.benches.links.bulk import FlowPlan, choose_congestion_control, receive_flow, send_flow
from wirespeed.benches.links.children import Children
from wirespeed.benches.links.ping_pong import (
    LONGEST_WAIT_S,
    MOST_PAYLOAD_BYTES,
    SHORTEST_BYTES,
    TICK_S,
    Seen,
    echo_datagrams,
    echo_stream,
    goodbye,
    ping_pong,
    say_goodbye,
    wait_as,
)
from wirespeed.benches.links.protocol import PathBroken
from wirespeed.benches.links.served import Served
from wirespeed.benches.links.session import Session
from wirespeed.benches.links.spec import BLOCK_BYTES, TAIL_S, LinkSpec, LinkTest, receiver_of, sender_of, source_of
from wirespeed.model.link_runs import LatencyRun
from wirespeed.model.record import Record
from wirespeed.model.source import Problem, Reason
from wirespeed.model.text import Text

SPIN_S = 0.5
"""Spinning takes a whole core at both ends, so it is short."""
LOAD_RAMP_S = 0.3

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
    duration_s, payload_bytes = _duration_s(spec, phase), max(SHORTEST_BYTES, spec.payload_bytes)
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
                seen = next(iter(loop.results(Seen, duration_s + 20 * LONGEST_WAIT_S).values()), None)
    finally:
        if phase.protocol == "tcp":
            session.done_with(handle)
        else:
            say_goodbye(handle, goodbye(session.tag, number))
        if load_handle is not None:
            session.done_with(load_handle)
    session.answer(Ready, ask.most_s)
    return _record(spec, phase, payload_bytes, seen or Seen(sent_count=0, received_count=0, duration_s=0.0, error="timed-out"))


def _load_plan(spec: LinkSpec, session: Session, duration_s: float) -> FlowPlan:
    return FlowPlan(
        start_at_s=time.time(),
        ramp_s=LOAD_RAMP_S,
        duration_s=duration_s + LONGEST_WAIT_S,
        tail_s=TAIL_S,
        block_bytes=BLOCK_BYTES,
        most_bytes_per_s=min(session.welcome.most_bytes_per_s, spec.most_bytes_per_s or session.welcome.most_bytes_per_s),
    )


def _record(spec: LinkSpec, phase: Phase, payload_bytes: int, seen: Seen) -> LatencyRun:
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
    return _record(spec, phase, spec.payload_bytes, Seen(sent_count=0, received_count=0, duration_s=0.0, error=error))


def _server(served: Served, raw: msgspec.Raw) -> None:
    ask = msgspec.json.decode(raw, type=Ask)
    if not (0 < ask.most_s <= served.limits.most_flow_s and SHORTEST_BYTES <= ask.payload_bytes <= MOST_PAYLOAD_BYTES):
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
        wait_as(handle, ask.waiting == "spinning", TICK_S)
        with contextlib.suppress(OSError):
            if ask.protocol == "tcp":
                echo_stream(handle, ask.payload_bytes, ask.most_s)
            else:
                echo_datagrams(handle, served.tag, goodbye(served.tag, ask.index), ask.payload_bytes, ask.most_s)
    if ask.protocol == "tcp":
        handle.close()
    served.tell(Ready())


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
