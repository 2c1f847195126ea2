"""What an active test of one path found: raw, one record for each flow, ping series, datagram train or probe.

`sender` and `receiver` are host names (or addresses, where a host is known by nothing else); a record is seen by the sender unless its
text says otherwise. Connection attempts are `PortProbe`, hops `PathHop`.
"""

from typing import Literal

from wirespeed.model.record import Record


class FlowRun(Record, frozen=True, kw_only=True):
    """One bulk TCP flow: bytes counted by the receiver inside the window common to all flows of the test, TCP_INFO by the sender."""

    sender: str
    receiver: str
    address: str
    port: int
    source_port: int
    test: str
    """Flows with the same text ran at the same time."""
    purpose: Literal["single", "parallel", "both-ways", "incast", "mesh"] = "single"
    duration_s: float
    """Of the common window, without ramp-up."""
    received_bytes: int
    goodput_bytes_per_s: float
    block_bytes: int | None = None
    is_copied: bool = True
    """False where the receiver dropped the payload in the kernel (MSG_TRUNC)."""
    congestion_control: str | None = None
    mss_bytes: int | None = None
    path_mtu_bytes: int | None = None
    rtt_min_s: float | None = None
    rtt_p50_s: float | None = None
    rtt_p99_s: float | None = None
    congestion_window_p50_packets: int | None = None
    send_window_bytes: int | None = None
    segments_out_packets: int | None = None
    retransmits_packets: int | None = None
    timeouts_count: int | None = None
    reordering_seen_count: int | None = None
    dsack_duplicates_count: int | None = None
    delivered_ce_packets: int | None = None
    busy_ratio: float | None = None
    """Share of the window in which the socket had something to send."""
    rwnd_limited_ratio: float | None = None
    """Share of the busy time (linux/tcp.h, tcpi_rwnd_limited)."""
    sndbuf_limited_ratio: float | None = None
    """Share of the busy time."""
    pacing_rate_bytes_per_s: float | None = None
    sender_cpu_ratio: float | None = None
    """Of one core, the sender's process inside the window."""
    receiver_cpu_ratio: float | None = None
    sender_starved_ratio: float | None = None
    """Share of the window in which the sender's process stood ready and got no processor; None where the kernel does not tell."""
    receiver_starved_ratio: float | None = None
    limited_by: Literal["congestion-window", "receive-window", "send-buffer", "sender", "pacing"] | None = None
    """What held this flow back most; None where nothing stood out."""
    error: str | None = None
    """How the flow ended before its time: `reset`, `closed`; `timed-out` where nothing came through in the window; `late` where it could not
    begin before the window that all flows share."""


class LatencyRun(Record, frozen=True, kw_only=True):
    """Round trips of small messages. A round trip is never halved silently."""

    sender: str
    receiver: str
    address: str
    protocol: Literal["tcp", "udp", "icmp"]
    load: Literal["idle", "loaded"] = "idle"
    waiting: Literal["blocking", "spinning"] = "blocking"
    """How both ends wait: the gap between the two is the host's share (wake-up), not the network's."""
    payload_bytes: int
    sent_count: int
    received_count: int
    duration_s: float | None = None
    rtt_min_s: float | None = None
    rtt_mean_s: float | None = None
    rtt_p50_s: float | None = None
    rtt_p95_s: float | None = None
    rtt_p99_s: float | None = None
    rtt_max_s: float | None = None
    error: str | None = None


class DatagramTrain(Record, frozen=True, kw_only=True):
    """A paced train of numbered UDP datagrams, judged by the receiver."""

    sender: str
    receiver: str
    address: str
    payload_bytes: int
    rate_per_s: float
    """Datagrams a second, as sent."""
    sent_count: int
    received_count: int
    lost_count: int
    duplicates_count: int
    reordered_count: int
    """Arrived after one that was sent later (RFC 4737, type-P-reordered)."""
    loss_ratio: float
    loss_runs_count: int
    """Groups of datagrams lost one after another: many losses in few groups is loss in bursts."""
    longest_loss_run_count: int
    dropped_by_receiver_count: int | None = None
    """Overflow of the receiver's own socket: the host, not the path."""


class PathMtuRun(Record, frozen=True, kw_only=True):
    """Don't-fragment probes along one direction of a path."""

    sender: str
    receiver: str
    address: str
    interface_mtu_bytes: int | None = None
    """Of the interface the sender uses."""
    passed_bytes: int | None = None
    """Largest IP packet that arrived; None when none did."""
    lost_bytes: int | None = None
    """Smallest that did not; None when every size arrived."""
    reported_bytes: int | None = None
    """Next-hop MTU that a router told by ICMP; None when none did."""


class HeaderRun(Record, frozen=True, kw_only=True):
    """What arrived of an IP header's fields."""

    sender: str
    receiver: str
    address: str
    ttl_sent_hops: int | None = None
    ttl_received_hops: int | None = None
    hops_count: int | None = None
    """Routers passed: TTL sent less TTL received."""
    is_same_subnet: bool | None = None
    """Whether the sender's own routes call the receiver a neighbour: then no router belongs in between."""
    dscp_sent_code: int | None = None
    dscp_received_code: int | None = None
