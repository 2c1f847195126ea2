"""What this host's own routes say about the way to an address: the interface, its MTU, and whether a gateway stands in between."""

import fcntl
import socket
import struct
from typing import NamedTuple

from wirespeed.machines.local import Local
from wirespeed.machines.machine import MachineProblem
from wirespeed.readers.netlink import rtnetlink, wire

_RTM_GETROUTE = 26
_NLM_F_ACK = 0x4
_SIOCGIFMTU = 0x8921


class Way(NamedTuple):
    """How packets to one address leave this host; None where the host does not say."""

    mtu_bytes: int | None = None
    is_neighbour: bool | None = None


def way_to(address: str) -> Way:
    """Ask the kernel as `ip route get` does."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    try:
        raw = socket.inet_pton(family, address)
        reply = Local().netlink(rtnetlink.NETLINK_ROUTE, _request(family, raw))
    except (OSError, MachineProblem):
        return Way()
    for kind, start, end in wire.messages(reply):
        if kind == rtnetlink.RTM_NEWROUTE:
            found = wire.attributes(reply, start + 12, end)
            link = wire.u32_of(found.get(rtnetlink.RTA_OIF))
            has_gateway = rtnetlink.RTA_GATEWAY in found or rtnetlink.RTA_VIA in found
            return Way(None if link is None else _mtu_of(link), not has_gateway)
    return Way()


def _request(family: int, address: bytes) -> bytes:
    attribute = wire.ATTRIBUTE.pack(4 + len(address), rtnetlink.RTA_DST) + address
    body = struct.pack("=BBBBBBBBI", family, 8 * len(address), 0, 0, 0, 0, 0, 0, 0) + attribute
    return wire.HEADER.pack(wire.HEADER.size + len(body), _RTM_GETROUTE, wire.NLM_F_REQUEST | _NLM_F_ACK, 1, 0) + body


def _mtu_of(link: int) -> int | None:
    try:
        name = socket.if_indextoname(link)
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as handle:
            reply = fcntl.ioctl(handle.fileno(), _SIOCGIFMTU, struct.pack("16s16x", name.encode()))
    except OSError:
        return None
    return int(struct.unpack_from("i", reply, 16)[0])
