"""The framing all netlink families share: messages, attributes, addresses (linux/netlink.h)."""

import struct
from collections.abc import Iterator
from functools import lru_cache
from ipaddress import IPv6Address

HEADER = struct.Struct("=IHHII")
"""Length, type, flags, sequence, port id."""
ATTRIBUTE = struct.Struct("=HH")
NLM_F_REQUEST, NLM_F_DUMP = 0x1, 0x300
NLMSG_NOOP, NLMSG_ERROR, NLMSG_DONE = 1, 2, 3
TYPE_MASK = 0x3FFF
"""The two highest bits of an attribute's type are flags (nested, byte order)."""
AF_INET, AF_INET6 = 2, 10


def request(kind: int, body: bytes) -> bytes:
    """A dump request."""
    return HEADER.pack(HEADER.size + len(body), kind, NLM_F_REQUEST | NLM_F_DUMP, 1, 0) + body


def messages(data: bytes) -> Iterator[tuple[int, int, int]]:
    """Type, start and end of each message's body; stops at a length that cannot be."""
    offset = 0
    while offset + HEADER.size <= len(data):
        length, kind, _, _, _ = HEADER.unpack_from(data, offset)
        if length < HEADER.size or offset + length > len(data):
            return
        if kind not in (NLMSG_NOOP, NLMSG_ERROR, NLMSG_DONE):
            yield kind, offset + HEADER.size, offset + length
        offset += (length + 3) & ~3


def is_cut(data: bytes) -> bool:
    """Whether the reply ends before its end mark."""
    offset = 0
    while offset + HEADER.size <= len(data):
        length, kind, _, _, _ = HEADER.unpack_from(data, offset)
        if kind in (NLMSG_DONE, NLMSG_ERROR):
            return False
        if length < HEADER.size:
            return True
        offset += (length + 3) & ~3
    return True


def attributes(data: bytes, start: int, end: int, wanted: frozenset[int] | None = None) -> dict[int, bytes]:
    """Attributes by type, all or those wanted; of repeated ones the last. Stops at a length that cannot be."""
    found: dict[int, bytes] = {}
    unpack = ATTRIBUTE.unpack_from
    while start + 4 <= end:
        length, kind = unpack(data, start)
        if length < 4 or start + length > end:
            break
        kind &= TYPE_MASK
        if wanted is None or kind in wanted:
            found[kind] = data[start + 4 : start + length]
        start += (length + 3) & ~3
    return found


def text_of(value: bytes | None) -> str | None:
    """A string attribute, without its closing NUL."""
    return None if value is None else value.split(b"\0", 1)[0].decode(errors="replace")


def u32_of(value: bytes | None) -> int | None:
    """A 32-bit attribute."""
    return None if value is None or len(value) < 4 else int.from_bytes(value[:4], "little")


def mac_of(value: bytes | None) -> str | None:
    """A hardware address; None when empty or all zero."""
    return ":".join(f"{byte:02x}" for byte in value) if value and any(value) else None


@lru_cache(maxsize=65_536)
def address_of(value: bytes) -> str | None:
    """An IPv4 or IPv6 address by its length; an IPv4 address mapped into IPv6 stays IPv6, as tools print it."""
    if len(value) == 4:
        return f"{value[0]}.{value[1]}.{value[2]}.{value[3]}"
    if len(value) == 16:
        if value[:12] == b"\0\0\0\0\0\0\0\0\0\0\xff\xff":
            return f"::ffff:{value[12]}.{value[13]}.{value[14]}.{value[15]}"
        return str(IPv6Address(value))
    return None
