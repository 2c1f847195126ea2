"""TCP sockets with what the kernel knows about each, and listening sockets."""

from wirespeed.model.record import Record


class Listener(Record, frozen=True, kw_only=True):
    """One listening socket. For a listener Recv-Q is the accept queue in use and Send-Q its limit (ss(8))."""

    address: str
    port: int
    queue_count: int | None = None
    backlog_count: int | None = None
    process: str | None = None


class TcpSocket(Record, frozen=True, kw_only=True):
    """One TCP connection with TCP_INFO (linux/tcp.h); a field the kernel did not give is None."""

    local_address: str
    local_port: int
    remote_address: str
    remote_port: int
    state: str
    process: str | None = None
    recv_queue_bytes: int | None = None
    send_queue_bytes: int | None = None
    congestion_control: str | None = None
    mss_bytes: int | None = None
    path_mtu_bytes: int | None = None
    rtt_s: float | None = None
    rtt_variation_s: float | None = None
    min_rtt_s: float | None = None
    rto_s: float | None = None
    congestion_window_packets: int | None = None
    slow_start_threshold_packets: int | None = None
    send_window_bytes: int | None = None
    receive_window_bytes: int | None = None
    has_window_scaling: bool | None = None
    bytes_sent_bytes: int | None = None
    bytes_acked_bytes: int | None = None
    bytes_received_bytes: int | None = None
    bytes_retransmitted_bytes: int | None = None
    segments_out_packets: int | None = None
    data_segments_out_packets: int | None = None
    segments_in_packets: int | None = None
    retransmits_total_packets: int | None = None
    timeouts_count: int | None = None
    """Retransmission timeouts over the connection's life (since Linux 6.7)."""
    lost_packets: int | None = None
    unacked_packets: int | None = None
    backoff_count: int | None = None
    reordering_seen_count: int | None = None
    dsack_duplicates_count: int | None = None
    delivered_packets: int | None = None
    delivered_ce_packets: int | None = None
    delivery_rate_bytes_per_s: float | None = None
    delivery_is_app_limited: bool | None = None
    pacing_rate_bytes_per_s: float | None = None
    busy_s: float | None = None
    rwnd_limited_s: float | None = None
    sndbuf_limited_s: float | None = None
    not_sent_bytes: int | None = None
    last_send_s: float | None = None
    socket_drops_count: int | None = None


class SocketSummary(Record, frozen=True, kw_only=True):
    """How many sockets are in a state towards one destination (`TIME-WAIT`), or in all."""

    state: str
    socket_count: int
    remote: str | None = None
