"""Bulk TCP flows, one process each: one, many, and both ways; one start and one measuring window for all of a phase."""

import socket
import time
from functools import partial
from typing import Literal, NamedTuple

import msgspec

from wirespeed.benches.links.bulk import FlowPlan, Received, Sent, choose_congestion_control, cut, receive_flow, send_flow
from wirespeed.benches.links.children import Children
from wirespeed.benches.links.flow_records import Purpose, flow_run
from wirespeed.benches.links.protocol import PathBroken
from wirespeed.benches.links.served import Served
from wirespeed.benches.links.session import Session
from wirespeed.benches.links.spec import (
    BLOCK_BYTES,
    DROP_BLOCK_BYTES,
    RAMP_S,
    TAIL_S,
    LinkSpec,
    LinkTest,
    receiver_of,
    sender_of,
    source_of,
)
from wirespeed.model.link_runs import FlowRun
from wirespeed.model.record import Record
from wirespeed.model.source import Problem
from wirespeed.model.text import Text

LEAD_S = 0.15
"""From the last agreement of both ends to the start: forking the processes takes a tenth of it."""
MOST_BLOCK_BYTES = 16 * 1024 * 1024
GRACE_S = 1.0
"""For reports after the end of a plan."""


class Phase(NamedTuple):
    """Flows that run at the same time: how many from us to the peer, and back."""

    purpose: Purpose
    there_count: int
    back_count: int


class Ask(msgspec.Struct, frozen=True, kw_only=True):
    """The first frame of a phase."""

    flows_count: int
    congestion_control: str | None = None


class Go(msgspec.Struct, frozen=True, kw_only=True):
    """All data connections are open: those that carry from the client, and those that carry to it. The plan is on the responder's clock."""

    there_index: tuple[int, ...]
    back_index: tuple[int, ...]
    plan: FlowPlan


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """What the responder's end of each flow saw."""

    received: tuple[Received, ...]
    sent: tuple[Sent, ...]


class _End(msgspec.Struct, frozen=True, kw_only=True):
    """What one child hands back."""

    received: Received | None = None
    sent: Sent | None = None


class _Flow(NamedTuple):
    number: int
    """Of its data connection."""
    direction: Literal["there", "back"]
    source_port: int


def phases_of(spec: LinkSpec) -> tuple[Phase, ...]:
    """The phases of a spec; a joint test (`start_at_s`) has one."""
    many = Phase(spec.purpose or "parallel", spec.flows_count, 0)
    one = Phase(spec.purpose or "single", 1, 0)
    if spec.start_at_s is not None:
        return (many if spec.flows_count > 1 else one,)
    back = (Phase(spec.purpose or "single", 0, 1),) if spec.is_reverse_too else ()
    both = (Phase("both-ways", spec.flows_count, spec.flows_count),) if spec.is_both_ways else ()
    return (one, *back, *((many,) if spec.flows_count > 1 else ()), *both)


def _client(spec: LinkSpec, session: Session) -> list[Record | Problem]:
    found: list[Record | Problem] = []
    phases = phases_of(spec)
    for number, phase in enumerate(phases):
        try:
            found.extend(_phase(spec, session, phase, number))
        except PathBroken as failure:
            session.is_broken = True
            found.extend(_dead(spec, one, failure.error) for one in phases[number:])
            break
    return found


def _phase(spec: LinkSpec, session: Session, phase: Phase, number: int) -> list[FlowRun]:
    ahead_s = session.clock_ahead_s()
    session.begin("throughput", Ask(flows_count=phase.there_count + phase.back_count, congestion_control=spec.congestion_control))
    session.answer(Ask)
    flows: list[_Flow] = []
    refused: list[str] = []
    handles = {}
    for place in range(phase.there_count + phase.back_count):
        direction: Literal["there", "back"] = "there" if place < phase.there_count else "back"
        try:
            index, handle = session.data()
        except PathBroken as failure:
            refused.append(failure.error)
            continue
        choose_congestion_control(handle, spec.congestion_control)
        handles[index] = handle
        flows.append(_Flow(index, direction, handle.getsockname()[1]))
    if spec.start_at_s is not None and time.time() > spec.start_at_s + RAMP_S / 2:
        raise PathBroken("late")
    plan = _plan(spec, session.welcome.most_bytes_per_s, max(1, len(flows)), session.rtt_s)
    there, back = (tuple(flow.number for flow in flows if flow.direction == way) for way in ("there", "back"))
    session.tell(Go(there_index=there, back_index=back, plan=msgspec.structs.replace(plan, start_at_s=plan.start_at_s + ahead_s)))
    ours = _run_ends(handles, there, back, plan)
    for handle in handles.values():
        session.done_with(handle)
    try:
        theirs = session.answer(Report, GRACE_S)
    except PathBroken:
        theirs = Report(received=(), sent=())
    return _records(spec, plan, phase, number, flows, ours, theirs) + [_dead(spec, phase, error) for error in refused]


def _plan(spec: LinkSpec, peer_bytes_per_s: float, flows_count: int, rtt_s: float) -> FlowPlan:
    """On our clock. The rate bound is shared by the flows, and left out where it is beyond what one host moves."""
    bound = min(peer_bytes_per_s, spec.most_bytes_per_s or peer_bytes_per_s)
    return FlowPlan(
        start_at_s=spec.start_at_s or time.time() + LEAD_S + 2 * rtt_s,
        ramp_s=RAMP_S,
        duration_s=spec.duration_s,
        tail_s=TAIL_S,
        block_bytes=spec.block_bytes or (BLOCK_BYTES if spec.is_copied else DROP_BLOCK_BYTES),
        is_copied=spec.is_copied,
        most_bytes_per_s=bound / flows_count,
    )


def _sending(handle: socket.socket, index: int, plan: FlowPlan) -> _End:
    return _End(sent=send_flow(handle, index, plan))


def _receiving(handle: socket.socket, index: int, plan: FlowPlan) -> _End:
    return _End(received=receive_flow(handle, index, plan))


def _run_ends(handles: dict[int, socket.socket], sending: tuple[int, ...], receiving: tuple[int, ...], plan: FlowPlan) -> Report:
    """One child for each flow that ends here."""
    until_s = max(0.0, plan.start_at_s - time.time()) + plan.ramp_s + plan.duration_s + plan.tail_s + GRACE_S
    with Children() as children:
        for index in sending:
            children.start(partial(_sending, handles[index], index, plan))
        for index in receiving:
            children.start(partial(_receiving, handles[index], index, plan))
        ends = children.results(_End, until_s).values()
    return Report(received=tuple(end.received for end in ends if end.received), sent=tuple(end.sent for end in ends if end.sent))


def _records(
    spec: LinkSpec, plan: FlowPlan, phase: Phase, number: int, flows: list[_Flow], ours: Report, theirs: Report
) -> list[FlowRun]:
    sent = {one.index: one for one in (*ours.sent, *theirs.sent)}
    received = {one.index: one for one in (*ours.received, *theirs.received)}
    here, there = sender_of(spec), receiver_of(spec)
    return [
        flow_run(
            spec,
            plan,
            ends=(here, there) if flow.direction == "there" else (there, here),
            source_port=flow.source_port,
            test=_name(spec, phase, number),
            purpose=phase.purpose,
            sent=sent.get(flow.number),
            received=received.get(flow.number),
        )
        for flow in flows
    ]


def _name(spec: LinkSpec, phase: Phase, number: int) -> str:
    return spec.label or f"{sender_of(spec)}-{receiver_of(spec)}-{number}-{phase.purpose}"


def _dead(spec: LinkSpec, phase: Phase, error: str) -> FlowRun:
    return FlowRun(
        source=source_of(spec),
        sender=sender_of(spec),
        receiver=receiver_of(spec),
        address=spec.address,
        port=spec.port,
        source_port=0,
        test=_name(spec, phase, 0),
        purpose=phase.purpose,
        duration_s=spec.duration_s,
        received_bytes=0,
        goodput_bytes_per_s=0.0,
        error=error,
    )


def _server(served: Served, raw: msgspec.Raw) -> None:
    ask = msgspec.json.decode(raw, type=Ask)
    if not 1 <= ask.flows_count <= served.limits.most_flows_count:
        return
    served.tell(ask)
    go = served.hear(Go)
    plan, bound = go.plan, served.limits.most_bytes_per_s / ask.flows_count
    plan = msgspec.structs.replace(plan, most_bytes_per_s=min(bound, plan.most_bytes_per_s or bound))
    if not _is_bounded(served, go, plan):
        return
    handles = served.data([*go.there_index, *go.back_index])
    for handle in handles.values():
        choose_congestion_control(handle, ask.congestion_control)
    report = _run_ends(
        handles, tuple(one for one in go.back_index if one in handles), tuple(one for one in go.there_index if one in handles), plan
    )
    for handle in handles.values():
        cut(handle)
    served.tell(report)


def _is_bounded(served: Served, go: Go, plan: FlowPlan) -> bool:
    """Whether a plan keeps to what this responder allows."""
    whole_s = plan.start_at_s - time.time() + plan.ramp_s + plan.duration_s + plan.tail_s
    return (
        len(go.there_index) + len(go.back_index) <= served.limits.most_flows_count
        and 0 < plan.block_bytes <= MOST_BLOCK_BYTES
        and min(plan.ramp_s, plan.duration_s, plan.tail_s) > 0
        and whole_s <= served.limits.most_flow_s
    )


TEST = LinkTest(
    title=Text(en="bulk TCP throughput", zh="TCP 吞吐"),
    gives=(FlowRun,),
    cost_s=lambda spec: len(phases_of(spec)) * (spec.duration_s + RAMP_S + TAIL_S + LEAD_S + 0.1),
    client=_client,
    failed=lambda spec, error: [_dead(spec, phase, error) for phase in phases_of(spec)],
    server=_server,
)
