"""TCP sockets with TCP_INFO from inet_diag dumps (linux/inet_diag.h, linux/tcp.h).

Written for speed: a host that serves models may have tens of thousands of sockets. Fields that the kernel's TCP_INFO is too
short for stay None.
"""

import struct
from collections.abc import Iterator, Mapping

from wirespeed.model.facts.sockets import Listener, TcpSocket
from wirespeed.model.source import Source
from wirespeed.readers.netlink import wire

NETLINK_SOCK_DIAG = 4
SOCK_DIAG_BY_FAMILY = 20
TCP_LISTEN = 10
INFO, CONG, SKMEMINFO = 2, 4, 7

_EVERY_STATE_BUT_LISTEN = 0xFFF & ~(1 << TCP_LISTEN)
_STATES = (
    "UNKNOWN", "ESTAB", "SYN-SENT", "SYN-RECV", "FIN-WAIT-1", "FIN-WAIT-2", "TIME-WAIT", "CLOSED", "CLOSE-WAIT", "LAST-ACK", "LISTEN",
    "CLOSING", "SYN-RECV", "BOUND-INACTIVE",
)  # fmt: skip
_MESSAGE = struct.Struct("=BBBB2s2s16s16sIQIIIII")
"""Family, state, timer, retransmits; source and destination port (network order), addresses; interface, cookie; expires, recv queue, send queue, uid, inode."""
_INFO = struct.Struct("=BBBBBBBB24I4Q2I4I4Q6IQ5I")
"""`struct tcp_info` up to `tcpi_rehash` and `tcpi_total_rto...`; older kernels give less and are padded."""
_NO_LIMIT = (1 << 64) - 1
_UNSET_THRESHOLD = 0x7FFFFFFF
_SHORTEST_INFO = 104


def request(family: int, is_listening: bool) -> bytes:
    """Dump request for IPv4 (2) or IPv6 (10): listening sockets, or all others with TCP_INFO, congestion control and memory."""
    extensions = 1 << (SKMEMINFO - 1) if is_listening else 1 << (INFO - 1) | 1 << (CONG - 1) | 1 << (SKMEMINFO - 1)
    states = 1 << TCP_LISTEN if is_listening else _EVERY_STATE_BUT_LISTEN
    return wire.request(SOCK_DIAG_BY_FAMILY, struct.pack("=BBBxI", family, 6, extensions, states) + bytes(48))


REQUESTS = tuple(request(family, False) for family in (wire.AF_INET, wire.AF_INET6))
LISTENING_REQUESTS = tuple(request(family, True) for family in (wire.AF_INET, wire.AF_INET6))


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


def sockets(data: bytes, owners: Mapping[str, str], source: Source) -> Iterator[TcpSocket]:
    """Every connection of the reply."""
    size, unpack, address_of, from_bytes = _MESSAGE.size, _MESSAGE.unpack_from, wire.address_of, int.from_bytes
    for kind, start, end in wire.messages(data):
        if kind != SOCK_DIAG_BY_FAMILY or end - start < size:
            continue
        family, state, _, _, near_port, far_port, near, far, _, _, _, received, to_send, _, inode = unpack(data, start)
        if family == wire.AF_INET:
            near, far = near[:4], far[:4]
        found = wire.attributes(data, start + size, end)
        memory = found.get(SKMEMINFO)
        yield TcpSocket(
            source=source,
            local_address=address_of(near) or "",
            local_port=from_bytes(near_port, "big"),
            remote_address=address_of(far) or "",
            remote_port=from_bytes(far_port, "big"),
            state=_STATES[state] if state < len(_STATES) else str(state),
            process=owners.get(str(inode)) if owners else None,
            recv_queue_bytes=received,
            send_queue_bytes=to_send,
            congestion_control=wire.text_of(found.get(CONG)),
            socket_drops_count=wire.u32_of(memory[32:36]) if memory and len(memory) >= 36 else None,
            **_info(found.get(INFO)),
        )


def _info(value: bytes | None) -> dict[str, object]:
    ...
