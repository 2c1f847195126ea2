"""`struct tcp_info` as getsockopt(TCP_INFO) fills it for a connection of one's own (linux/tcp.h); the layout is that of inet_diag."""

from typing import NamedTuple

from wirespeed.readers.netlink.inet_diag import INFO_LAYOUT, TIMEOUTS

TCP_INFO_OPTION = 11
MOST_INFO_BYTES = 512
"""More than any kernel gives (280 in 6.18)."""
_NO_LIMIT = (1 << 64) - 1
_NEVER = 0xFFFFFFFF


class TcpInfo(NamedTuple):
    """One look at a connection; a field this kernel is too old for is None."""

    mss_bytes: int
    path_mtu_bytes: int
    rtt_s: float | None
    rtt_min_s: float | None
    congestion_window_packets: int
    unacked_packets: int
    backoff_count: int
    retransmits_packets: int
    pacing_rate_bytes_per_s: int | None
    acked_bytes: int | None
    segments_out_packets: int | None
    not_sent_bytes: int | None
    busy_s: float | None
    rwnd_limited_s: float | None
    sndbuf_limited_s: float | None
    delivered_ce_packets: int | None
    dsack_duplicates_count: int | None
    reordering_seen_count: int | None
    send_window_bytes: int | None
    timeouts_count: int | None


def tcp_info(data: bytes) -> TcpInfo:
    """The fields a link test uses. Raises ValueError for fewer bytes than any kernel since 3.x gives."""
    has = len(data)
    if has < 104:
        raise ValueError(f"TCP_INFO of {has} bytes")
    values = INFO_LAYOUT.unpack(data[: INFO_LAYOUT.size].ljust(INFO_LAYOUT.size, b"\0"))
    (
        backoff, _, _, _, _, _, mss, _, unacked, _, _, _, _, _, _, _, _, path_mtu, _, rtt, _,
        _, window, _, _, _, _, retransmits, pacing, _, acked, _, segments_out, _, not_sent, min_rtt, _,
        _, _, busy, rwnd_limited, sndbuf_limited, _, delivered_ce, _, _, dsacks, reordered, _,
        send_window, _, _,
    ) = values  # fmt: skip
    return TcpInfo(
        mss_bytes=mss,
        path_mtu_bytes=path_mtu,
        rtt_s=rtt / 1e6 if rtt else None,
        rtt_min_s=min_rtt / 1e6 if has >= 152 and 0 < min_rtt < _NEVER else None,
        congestion_window_packets=window,
        unacked_packets=unacked,
        backoff_count=backoff,
        retransmits_packets=retransmits,
        pacing_rate_bytes_per_s=pacing if has >= 112 and 0 < pacing < _NO_LIMIT else None,
        acked_bytes=acked if has >= 128 else None,
        segments_out_packets=segments_out if has >= 140 else None,
        not_sent_bytes=not_sent if has >= 148 else None,
        busy_s=busy / 1e6 if has >= 176 else None,
        rwnd_limited_s=rwnd_limited / 1e6 if has >= 184 else None,
        sndbuf_limited_s=sndbuf_limited / 1e6 if has >= 192 else None,
        delivered_ce_packets=delivered_ce if has >= 200 else None,
        dsack_duplicates_count=dsacks if has >= 220 else None,
        reordering_seen_count=reordered if has >= 224 else None,
        send_window_bytes=send_window if has >= 232 else None,
        timeouts_count=TIMEOUTS.unpack_from(data, INFO_LAYOUT.size)[0] if has >= INFO_LAYOUT.size + 8 else None,
    )
