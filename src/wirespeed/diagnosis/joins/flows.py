"""What connections in a packet capture say together: who waited for whom, what was sent again, which windows were full."""

from collections.abc import Callable, Iterator, Sequence

from wirespeed.diagnosis.joins.pieces import MOST_RECORDS
from wirespeed.model.case import Case
from wirespeed.model.finding import Evidence, Value
from wirespeed.model.flows import FlowEnd, Mark, TcpFlow
from wirespeed.model.text import Text

FEWEST_DATA_COUNT = 100
"""Data packets of a flow from which on a share of them is one."""
IDLE_S = 10.0
"""Devices forget no sooner; programs that stop for less are at work."""
FULL_PAYLOAD_BYTES = 500
"""Less is never what a path has no room for: every link carries 576 bytes (RFC 791)."""
WINDOW_NEAR_LOW_RATIO, WINDOW_NEAR_HIGH_RATIO = 0.7, 1.3
"""A rate against window over round trip: the window is what limits it (measured: 1.02 to 1.04 through a relay of 20 ms)."""
LEAST_BULK_BYTES = 50_000
LEAST_WAIT_S = 0.2
TRIPS_LATE = 10.0
DELAYED_ACK_S = 0.060
"""A kernel acknowledges at once or, where it hopes to send it with data, after 40 ms (TCP_DELACK_MIN)."""


def told(says: Text, weight_nats: float, flows: Sequence[TcpFlow], *marks: Mark, **values: Value) -> tuple[Evidence, ...]:
    """One piece of evidence when there is any such connection, quoting the packets that show it."""
    if not flows:
        return ()
    shown = tuple(flows[:MOST_RECORDS])
    quotes = tuple(quote for flow in shown[:2] for quote in flow.quoted(*marks))
    return (Evidence(says=says, weight_nats=weight_nats, values=values, records=shown, quotes=quotes),)


def sides(flow: TcpFlow) -> tuple[tuple[FlowEnd, FlowEnd], tuple[FlowEnd, FlowEnd]]:
    """Each end as sender, with the other one."""
    return (flow.client, flow.server), (flow.server, flow.client)


def with_side(case: Case, holds: Callable[[TcpFlow, FlowEnd, FlowEnd], bool]) -> tuple[tuple[TcpFlow, FlowEnd, FlowEnd], ...]:
    """Connections, sender and receiver, for which something holds."""
    return tuple(
        (flow, sender, receiver)
        for flow in case.every(TcpFlow)
        for sender, receiver in sides(flow)
        if holds(flow, sender, receiver)
    )


def place(end: FlowEnd) -> str:
    """An end as people write it."""
    address = f"[{end.address}]" if ":" in end.address else end.address
    return address if end.port is None else f"{address}:{end.port}"


def data_packets(sender: FlowEnd) -> int:
    """About how many data packets this end sent, what was sent again included."""
    return sender.payload_bytes // max(sender.largest_payload_bytes, 1) + sender.retransmits_count


def is_swallowed(flow: TcpFlow, sender: FlowEnd, receiver: FlowEnd) -> bool:
    """Only what is large does not arrive: a full segment is sent again and again by time-out, smaller ones were acknowledged."""
    if not flow.is_established or (sender.stuck_bytes or 0) < FULL_PAYLOAD_BYTES:
        return False
    is_all_full = sender.retransmits_full_count == sender.retransmits_count
    is_fresh = sender.stuck_idle_s is None or sender.stuck_idle_s < IDLE_S
    return is_all_full and is_fresh and sender.largest_acked_bytes < (sender.stuck_bytes or 0) and not sender.zero_windows_count


def has_lasting_hole(flow: TcpFlow, sender: FlowEnd, receiver: FlowEnd) -> bool:
    """What came first is missing for good while smaller data behind it arrived, in a capture that lost nothing itself."""
    is_large = sender.never_arrived_bytes >= FULL_PAYLOAD_BYTES and sender.never_arrived_bytes > sender.largest_payload_bytes
    return is_large and (sender.never_arrived_s or 0.0) >= 1.0 and not flow.missed_bytes and not sender.filled_count


def is_forgotten(flow: TcpFlow, sender: FlowEnd, receiver: FlowEnd) -> bool:
    """After a long silence nothing gets through any more, whatever its size."""
    return (sender.stuck_idle_s or 0.0) >= IDLE_S and not sender.is_heard_while_stuck and not receiver.zero_windows_count


def is_window_limited(flow: TcpFlow, sender: FlowEnd, receiver: FlowEnd) -> bool:
    """The rate is the receiver's window over the round trip, and the receiver reads all it gets."""
    if (
        sender.payload_bytes < LEAST_BULK_BYTES
        or flow.rtt_s is None
        or not receiver.window_max_bytes
        or receiver.zero_windows_count
    ):
        return False
    is_sender_near = flow.near == ("client" if sender is flow.client else "server")
    if is_sender_near:
        return (sender.window_full_ratio or 0.0) >= 0.5
    if sender.rate_bytes_per_s is None:
        return False
    return WINDOW_NEAR_LOW_RATIO <= sender.rate_bytes_per_s * flow.rtt_s / receiver.window_max_bytes <= WINDOW_NEAR_HIGH_RATIO


def answers_late(flow: TcpFlow) -> bool:
    """The server's kernel acknowledged a request within a round trip or so, its program answered long after, and nothing was lost."""
    if flow.first_byte_max_s is None or flow.request_ack_s is None or flow.missed_bytes:
        return False
    trip_s = flow.rtt_s or 0.0
    is_prompt = flow.request_ack_s <= max(DELAYED_ACK_S, 2 * trip_s)
    is_late = flow.first_byte_max_s >= max(LEAST_WAIT_S, TRIPS_LATE * trip_s)
    return is_prompt and is_late and not flow.server.filled_count and not flow.client.retransmits_count


def loss_ratio(sender: FlowEnd) -> float:
    """Share of an end's data packets that were lost on either side of the capture; what the receiver had twice was not lost."""
    return (sender.retransmits_count + sender.filled_count) / max(data_packets(sender), 1)


def by_server(flows: Sequence[TcpFlow]) -> Iterator[tuple[TcpFlow, ...]]:
    """Connections of one client host to one port of one server, together."""
    groups: dict[tuple[str, str, int | None], list[TcpFlow]] = {}
    for one in flows:
        groups.setdefault((one.client.address, one.server.address, one.server.port), []).append(one)
    yield from (tuple(group) for group in groups.values())
