"""TCP sockets with TCP_INFO from inet_diag dumps (linux/inet_diag.h, linux/tcp.h).

Written for speed: a host that serves models may have tens of thousands of sockets. Fields that the kernel's TCP_INFO is too
short for stay None.
"""

import struct
from collections.abc import Collection, Iterator, Mapping
from functools import lru_cache
from typing import Any

from wirespeed.model.facts.sockets import Listener, TcpSocket
from wirespeed.model.source import Source
from wirespeed.readers.netlink import wire

NETLINK_SOCK_DIAG = 4
SOCK_DIAG_BY_FAMILY = 20
TCP_LISTEN = 10
INFO, CONG, SKMEMINFO = 2, 4, 7
USED = frozenset({INFO, CONG, SKMEMINFO})

_EVERY_STATE_BUT_LISTEN = 0xFFF & ~(1 << TCP_LISTEN)
_OPEN_STATES = _EVERY_STATE_BUT_LISTEN & ~(1 << 6 | 1 << 7)
"""Without TIME-WAIT and CLOSED, of which there may be tens of thousands and which carry nothing."""
_STATES = (
    "UNKNOWN", "ESTAB", "SYN-SENT", "SYN-RECV", "FIN-WAIT-1", "FIN-WAIT-2", "TIME-WAIT", "CLOSED", "CLOSE-WAIT", "LAST-ACK", "LISTEN",
    "CLOSING", "SYN-RECV", "BOUND-INACTIVE",
)  # fmt: skip
_MESSAGE = struct.Struct("=BBBB2s2s16s16sIQIIIII")
"""Family, state, timer, retransmits; source and destination port (network order), addresses; interface, cookie; expires, recv queue, send queue, uid, inode."""
INFO_LAYOUT = struct.Struct("=4xBBBB24I4Q6I4Q2I2Q6I")
"""`struct tcp_info` from `tcpi_backoff` up to `tcpi_rehash` (6.2); an older kernel gives less, which is padded and then left out."""
TIMEOUTS = struct.Struct("=H")
"""`tcpi_total_rto` (6.7), which follows what `INFO_LAYOUT` ends with."""
_DROPS = struct.Struct("=I")
_COUNT = struct.Struct("=Q")
_ENDS = slice(4, 40)
"""Ports and addresses in `_MESSAGE`."""
_RECEIVED_AT, _SENT_AT = 128, 200
"""`tcpi_bytes_received` and `tcpi_bytes_sent` in `struct tcp_info`."""
_NO_LIMIT = (1 << 64) - 1
_NEVER = 0xFFFFFFFF
_OPTION_WINDOW_SCALING = 4
_UNSET_THRESHOLD = 0x7FFFFFFF
_SHORTEST_INFO = 104


def request(family: int, states: int) -> bytes:
    """Dump request for IPv4 (2) or IPv6 (10): sockets in these states, connections with TCP_INFO, congestion control and memory."""
    extensions = 1 << (SKMEMINFO - 1) if states == 1 << TCP_LISTEN else 1 << (INFO - 1) | 1 << (CONG - 1) | 1 << (SKMEMINFO - 1)
    return wire.request(SOCK_DIAG_BY_FAMILY, struct.pack("=BBBxI", family, 6, extensions, states) + bytes(48))


REQUESTS = tuple(request(family, _EVERY_STATE_BUT_LISTEN) for family in (wire.AF_INET, wire.AF_INET6))
OPEN_REQUESTS = tuple(request(family, _OPEN_STATES) for family in (wire.AF_INET, wire.AF_INET6))
LISTENING_REQUESTS = tuple(request(family, 1 << TCP_LISTEN) for family in (wire.AF_INET, wire.AF_INET6))


def listeners(data: bytes, owners: Mapping[str, str], source: Source) -> Iterator[Listener]:
    """Every listening socket; for these the kernel gives the accept queue in use and its limit as the two queues."""
    for kind, start, end in wire.messages(data):
        if kind != SOCK_DIAG_BY_FAMILY or end - start < _MESSAGE.size:
            continue
        family, state, _, _, port, _, address, _, _, _, _, queued, limit, _, inode = _MESSAGE.unpack_from(data, start)
        shown = wire.address_of(address[:4] if family == wire.AF_INET else address)
        if state == TCP_LISTEN and shown is not None:
            yield Listener(
                source=source,
                address=shown,
                port=int.from_bytes(port, "big"),
                queue_count=queued,
                backlog_count=limit,
                process=owners.get(str(inode)),
            )


def traffic(data: bytes) -> Iterator[tuple[bytes, int]]:
    """Each connection's ends (as the kernel packs them) and the bytes it sent and received so far; cheap, to find the busiest."""
    for kind, start, end in wire.messages(data):
        if kind != SOCK_DIAG_BY_FAMILY or end - start < _MESSAGE.size:
            continue
        info, info_bytes, _, _ = _used_attributes(data, start + _MESSAGE.size, end)
        moved = 0
        if info_bytes >= _SENT_AT + 8:
            moved = _COUNT.unpack_from(data, info + _RECEIVED_AT)[0] + _COUNT.unpack_from(data, info + _SENT_AT)[0]
        yield data[start + _ENDS.start : start + _ENDS.stop], moved


def sockets(data: bytes, owners: Mapping[str, str], source: Source, only: Collection[bytes] | None = None) -> Iterator[TcpSocket]:
    """Every connection of the reply, or those alone whose ends (see `traffic`) are in `only`."""
    size, unpack = _MESSAGE.size, _MESSAGE.unpack_from
    for kind, start, end in wire.messages(data):
        if kind != SOCK_DIAG_BY_FAMILY or end - start < size:
            continue
        if only is not None and data[start + _ENDS.start : start + _ENDS.stop] not in only:
            continue
        message = unpack(data, start)
        process = owners.get(str(message[14])) if owners else None
        info, info_bytes, congestion_control, drops = _used_attributes(data, start + size, end)
        if info_bytes < _SHORTEST_INFO:
            yield _without_info(message, process, source)
        else:
            values = (
                INFO_LAYOUT.unpack_from(data, info)
                if info_bytes >= INFO_LAYOUT.size
                else INFO_LAYOUT.unpack(data[info : info + info_bytes] + bytes(INFO_LAYOUT.size - info_bytes))
            )
            timeouts = TIMEOUTS.unpack_from(data, info + INFO_LAYOUT.size)[0] if info_bytes >= INFO_LAYOUT.size + 8 else None
            yield _with_info(message, values, info_bytes, timeouts, _name(congestion_control), drops, process, source)


def _used_attributes(data: bytes, at: int, end: int) -> tuple[int, int, bytes, int | None]:
    """Where TCP_INFO is and its length, the congestion control's name, and packets dropped; as `wire.attributes`, without copies."""
    info, info_bytes, congestion_control, drops = 0, 0, b"", None
    unpack = wire.ATTRIBUTE.unpack_from
    while at + 4 <= end:
        length, name = unpack(data, at)
        if length < 4 or at + length > end:
            break
        if name == INFO:
            info, info_bytes = at + 4, length - 4
        elif name == CONG:
            congestion_control = data[at + 4 : at + length]
        elif name == SKMEMINFO and length >= 40:
            (drops,) = _DROPS.unpack_from(data, at + 36)
        at += (length + 3) & ~3
    return info, info_bytes, congestion_control, drops


def _without_info(message: tuple[Any, ...], process: str | None, source: Source) -> TcpSocket:
    """A socket the kernel keeps no TCP_INFO of, such as one in TIME-WAIT."""
    family, state, _, _, near_port, far_port, near, far, _, _, _, received, to_send, _, _ = message
    is_v4 = family == wire.AF_INET
    return TcpSocket(
        source=source,
        local_address=wire.address_of(near[:4] if is_v4 else near) or "",
        local_port=int.from_bytes(near_port, "big"),
        remote_address=wire.address_of(far[:4] if is_v4 else far) or "",
        remote_port=int.from_bytes(far_port, "big"),
        state=_STATES[state] if state < len(_STATES) else str(state),
        process=process,
        recv_queue_bytes=received,
        send_queue_bytes=to_send,
    )


def _with_info(
    message: tuple[Any, ...],
    values: tuple[int, ...],
    has: int,
    timeouts: int | None,
    congestion_control: str | None,
    drops: int | None,
    process: str | None,
    source: Source,
) -> TcpSocket:
    """A socket with TCP_INFO of which the kernel filled `has` bytes."""
    family, state, _, _, near_port, far_port, near, far, _, _, _, received, to_send, _, _ = message
    is_v4 = family == wire.AF_INET
    (
        backoff, options, _, limited, rto, _, mss, _, unacked, _, lost, _, _, last_sent, _, _, _, path_mtu, _, rtt, rtt_variation,
        threshold, window, _, _, _, _, retransmits, pacing, _, acked, taken, segments_out, segments_in, not_sent, min_rtt, _,
        data_out, delivery, busy, rwnd_limited, sndbuf_limited, delivered, delivered_ce, sent, sent_again, dsacks, reordered, _,
        send_window, receive_window, _,
    ) = values  # fmt: skip
    return TcpSocket(
        source=source,
        local_address=wire.address_of(near[:4] if is_v4 else near) or "",
        local_port=int.from_bytes(near_port, "big"),
        remote_address=wire.address_of(far[:4] if is_v4 else far) or "",
        remote_port=int.from_bytes(far_port, "big"),
        state=_STATES[state] if state < len(_STATES) else str(state),
        process=process,
        recv_queue_bytes=received,
        send_queue_bytes=to_send,
        congestion_control=congestion_control,
        mss_bytes=mss or None,
        path_mtu_bytes=path_mtu or None,
        rtt_s=rtt / 1e6 if rtt else None,
        rtt_variation_s=rtt_variation / 1e6 if rtt else None,
        min_rtt_s=min_rtt / 1e6 if has >= 152 and 0 < min_rtt < _NEVER else None,
        rto_s=rto / 1e6 if rto else None,
        congestion_window_packets=window,
        slow_start_threshold_packets=threshold if threshold < _UNSET_THRESHOLD else None,
        send_window_bytes=send_window if has >= 232 else None,
        receive_window_bytes=receive_window if has >= 236 else None,
        has_window_scaling=bool(options & _OPTION_WINDOW_SCALING),
        bytes_sent_bytes=sent if has >= 208 else None,
        bytes_acked_bytes=acked if has >= 128 else None,
        bytes_received_bytes=taken if has >= 136 else None,
        bytes_retransmitted_bytes=sent_again if has >= 216 else None,
        segments_out_packets=segments_out if has >= 140 else None,
        data_segments_out_packets=data_out if has >= 160 else None,
        segments_in_packets=segments_in if has >= 144 else None,
        retransmits_total_packets=retransmits,
        timeouts_count=timeouts,
        lost_packets=lost,
        unacked_packets=unacked,
        backoff_count=backoff,
        reordering_seen_count=reordered if has >= 224 else None,
        dsack_duplicates_count=dsacks if has >= 220 else None,
        delivered_packets=delivered if has >= 196 else None,
        delivered_ce_packets=delivered_ce if has >= 200 else None,
        delivery_rate_bytes_per_s=delivery if has >= 168 and delivery else None,
        delivery_is_app_limited=bool(limited & 1) if has >= 168 else None,
        pacing_rate_bytes_per_s=pacing if has >= 112 and 0 < pacing < _NO_LIMIT else None,
        busy_s=busy / 1e6 if has >= 176 else None,
        rwnd_limited_s=rwnd_limited / 1e6 if has >= 184 else None,
        sndbuf_limited_s=sndbuf_limited / 1e6 if has >= 192 else None,
        not_sent_bytes=not_sent if has >= 148 else None,
        last_send_s=last_sent / 1e3,
        socket_drops_count=drops,
    )


@lru_cache(maxsize=64)
def _name(value: bytes) -> str | None:
    return wire.text_of(value) or None
