"""What a packet capture shows: TCP connections, DNS questions and reports of routers, as seen from where the capture stood.

A capture cannot tell everything: what it did not see is None, with the reason in `missing`.
"""

from typing import Literal, TypeAlias

import msgspec

from wirespeed.model.record import Record
from wirespeed.model.source import Quote

End: TypeAlias = Literal["client", "server"]
Mark: TypeAlias = Literal[
    "start",
    "answer",
    "first",
    "sent-again",
    "late",
    "zero-window",
    "held-back",
    "request",
    "response",
    "silence",
    "closed",
    "reset",
    "hello",
]
"""What a quoted packet of a connection shows."""


class FlowEnd(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One end of a connection and what it sent. Counts are of packets as captured; several sightings of one packet count once."""

    address: str
    port: int | None = None
    packets_count: int = 0
    payload_bytes: int = 0
    """Without what was sent again."""
    rate_bytes_per_s: float | None = None
    """Payload between its first and last data packet; None for less than a few packets."""
    mss_bytes: int | None = None
    """Announced in its SYN."""
    window_scale_number: int | None = None
    """Shift of its advertised windows; None where its SYN was not seen (then windows are not known), 0 where it offered none."""
    largest_payload_bytes: int = 0
    """Of one segment; captures at a sender show several segments as one before the NIC cuts them (TSO)."""
    largest_acked_bytes: int = 0
    """Of one segment that the other end acknowledged."""
    retransmits_count: int = 0
    """Data segments that were sent again, keep-alive probes apart."""
    retransmits_full_count: int = 0
    """Of these, segments as large as any."""
    timeouts_count: int = 0
    """Of these, those sent again after a retransmission time-out (200 ms at least), not on duplicate acknowledgements."""
    late_count: int = 0
    """Segments that were overtaken: captured after ones that left later."""
    filled_count: int = 0
    """Segments that filled a hole and left after what opened it: lost before the capture saw them, and sent again."""
    never_arrived_bytes: int = 0
    """Holes that stayed while later data arrived."""
    never_arrived_s: float | None = None
    """How long the oldest of them was open when the last packet came."""
    duplicates_told_count: int = 0
    """Segments that this end reported (D-SACK) to have received twice."""
    duplicate_acks_count: int = 0
    zero_windows_count: int = 0
    """Times this end's window closed: its program did not read."""
    zero_window_s: float | None = None
    """How long it was closed in all."""
    window_max_bytes: int | None = None
    """Largest window this end advertised."""
    window_full_ratio: float | None = None
    """Share of the acknowledgements this end received at which it had already sent all that the window allowed."""
    flight_max_bytes: int | None = None
    stuck_bytes: int | None = None
    """Size of a segment that it sent three times or more and that was not acknowledged before the capture or the connection ended."""
    stuck_sends_count: int | None = None
    stuck_s: float | None = None
    """From its first sending to the last."""
    stuck_idle_s: float | None = None
    """Silence of the connection before it was first sent."""
    is_heard_while_stuck: bool | None = None
    """The other end went on sending, so the way is not cut altogether."""
    held_back_count: int = 0
    """Times this end kept a small piece of data until a delayed acknowledgement came (Nagle)."""
    held_back_s: float | None = None
    """The longest of them."""


class TcpFlow(Record, frozen=True, kw_only=True):
    """One TCP connection in a capture. The client is who sent the SYN, or else who seems to ask; times are seconds of the capture."""

    client: FlowEnd
    server: FlowEnd
    has_start: bool = False
    """The SYN was captured."""
    seen: Literal["both", "client", "server"] = "both"
    """Whose packets the capture holds."""
    started_s: float | None = None
    """Since the capture began."""
    duration_s: float | None = None
    missed_bytes: int = 0
    """Acknowledged but not captured: the capture lost packets, so absence in it proves nothing."""
    syn_count: int = 0
    """Times the SYN was sent; a second one proves that no answer had reached the client."""
    syn_wait_s: float | None = None
    """From the first SYN to the last."""
    syn_ack_count: int = 0
    is_answered: bool | None = None
    """Whether the SYN got an answer of any kind; None where answers could not have been seen."""
    is_established: bool | None = None
    syn_ack_s: float | None = None
    """From the SYN (its last sending) to SYN-ACK: the way from the capture to the server and back."""
    connect_s: float | None = None
    """From the first SYN to the acknowledgement of the SYN-ACK."""
    rtt_s: float | None = None
    """Shortest round trip between the ends: the two halves, as seen by the capture, together."""
    near: End | None = None
    """Whose side the capture stood on, where the halves tell."""
    tls_hello_s: float | None = None
    """From ClientHello to ServerHello."""
    tls_alert: str | None = None
    """First TLS alert in plain text, as `client handshake_failure`."""
    exchanges_count: int = 0
    """Times the server's data followed the client's."""
    first_byte_p50_s: float | None = None
    """From the last packet of a request to the first of its answer, over the exchanges."""
    first_byte_max_s: float | None = None
    request_ack_s: float | None = None
    """When the server's kernel acknowledged the request of the slowest exchange, where it did so before the answer."""
    answer_s: float | None = None
    """First to last packet of the longest answer."""
    answer_packets: int | None = None
    answer_steps_count: int | None = None
    """Pauses of 10 ms or more inside the longest answer: a stream of pieces has many."""
    waiting_s: float | None = None
    """Age of a request without any answer when the connection or the capture ended."""
    silence_s: float | None = None
    """The longest time without a packet, keep-alive probes apart."""
    silent: End | None = None
    """Whose turn it was then: the server's after a request, the client's otherwise."""
    ended: Literal["open", "client-fin", "server-fin", "client-reset", "server-reset"] = "open"
    closed_idle_s: float | None = None
    """Silence before the first FIN."""
    is_request_after_fin: bool = False
    """The client sent data into a connection that the server was closing, and got a reset."""
    reset_on: Literal["syn", "request", "data", "idle", "closed"] | None = None
    """What the reset answered: a SYN (refused), data that had no answer yet, data amid a transfer, nothing, or what came after FIN."""
    reset_idle_s: float | None = None
    """Silence before the packet that drew the reset, or before the reset itself."""
    reset_ttl_differs: bool | None = None
    """The reset's TTL is not that of the end it claims to come from: a device in between made it. None where TTLs are not shown."""
    marks: tuple[Mark, ...] = ()
    """What each of `quotes` shows."""

    def quoted(self, *marks: Mark) -> tuple[Quote, ...]:
        """The quotes that show any of these, in the order of the capture."""
        return tuple(quote for quote, mark in zip(self.quotes, self.marks, strict=False) if mark in marks)


class DnsQuery(Record, frozen=True, kw_only=True):
    """One question to one name server (repeats of it included), and its answer."""

    client: str
    client_port: int | None = None
    server: str
    name: str
    query_type: str
    """`A`, `AAAA`, `SRV` ..."""
    asked_s: float | None = None
    """Seconds on the capture's clock, so that questions can be set beside one another."""
    sent_count: int = 1
    time_s: float | None = None
    """From the first sending to the answer; None where none was seen."""
    answer: str | None = None
    """`NoError`, `NXDomain`, `ServFail`, `Refused` ...; None where none was seen."""
    is_answered: bool | None = None
    """None where answers could not have been seen, or the capture ended too soon."""


class IcmpReport(Record, frozen=True, kw_only=True):
    """What routers or hosts reported of packets they could not pass on, summed over a capture."""

    topic: Literal["too-big", "prohibited", "host-unreachable", "net-unreachable", "port-unreachable", "expired", "redirect"]
    reporter: str
    target: str | None = None
    """Where the packet was going, where that is printed."""
    mtu_bytes: int | None = None
    reports_count: int = 1


class CaptureSummary(Record, frozen=True, kw_only=True):
    """One capture as a whole, and what it cannot tell."""

    packets_count: int
    tcp_flows_count: int
    duration_s: float | None = None
    dropped_packets: int | None = None
    """Not captured because the kernel had no room, as tcpdump or the file says."""
    snapshot_bytes: int | None = None
    """Longest part of a packet that was kept, where packets were cut."""
    has_times: bool = True
    is_one_way: bool = False
    """No connection shows packets of both ends, although some went on."""
