"""Where identities stand in netlink replies, so that they can be replaced and the reply still decodes to the same facts.

Of each message only the attributes that the decoders use are kept: what we do not understand may identify someone.
"""

from collections.abc import Callable

from wirespeed.readers.netlink import inet_diag, wire
from wirespeed.readers.netlink import rtnetlink as rt

Address = Callable[[bytes, int | None], bytes]
Hardware = Callable[[bytes], bytes]

_KEPT = {
    rt.RTM_NEWLINK: (16, {rt.IFLA_ADDRESS, rt.IFLA_IFNAME, rt.IFLA_MTU, rt.IFLA_MASTER, rt.IFLA_TXQLEN, rt.IFLA_CARRIER, rt.IFLA_CARRIER_CHANGES}),
    rt.RTM_NEWADDR: (8, {rt.IFA_ADDRESS, rt.IFA_LOCAL}),
    rt.RTM_NEWROUTE: (12, {
        rt.RTA_DST, rt.RTA_OIF, rt.RTA_GATEWAY, rt.RTA_PRIORITY, rt.RTA_PREFSRC, rt.RTA_METRICS, rt.RTA_MULTIPATH, rt.RTA_TABLE, rt.RTA_VIA,
    }),
    rt.RTM_NEWNEIGH: (12, {rt.NDA_DST, rt.NDA_LLADDR}),
    rt.RTM_NEWQDISC: (20, {rt.TCA_KIND, rt.TCA_OPTIONS, rt.TCA_STATS2}),
}  # fmt: skip
"""Size of the fixed head and the attributes kept, by message type."""


def rewritten(family: int, content: bytes, address: Address, hardware: Hardware) -> bytes:
    """The reply with every address replaced."""
    parts: list[bytes] = []
    for kind, start, end in wire.messages(content):
        body = None
        if family == inet_diag.NETLINK_SOCK_DIAG and end - start >= 72:
            body = _socket(content, start, end, address)
        elif family == rt.NETLINK_ROUTE and kind in _KEPT and end - start >= _KEPT[kind][0]:
            head, kept = _KEPT[kind]
            body = content[start : start + head] + _attributes(kind, content[start:end], head, kept, address, hardware)
        if body is not None:
            parts.append(_padded(wire.HEADER.pack(wire.HEADER.size + len(body), kind, 0, 1, 0) + body))
    end_mark = wire.HEADER.pack(wire.HEADER.size + 4, wire.NLMSG_DONE, 0, 1, 0) + bytes(4)
    return b"".join(parts) + (b"" if wire.is_cut(content) else end_mark)


def _socket(content: bytes, start: int, end: int, address: Address) -> bytes:
    """inet_diag_msg: source address at 8, destination at 24, each of 16 bytes; IPv4 uses the first four."""
    head = bytearray(content[start : start + 72])
    size = 4 if head[0] == wire.AF_INET else 16
    for offset in (8, 24):
        head[offset : offset + size] = address(bytes(head[offset : offset + size]), None)
    return bytes(head) + _packed(wire.attributes(content, start + 72, end, inet_diag.USED))


def _attributes(kind: int, body: bytes, head: int, kept: set[int], address: Address, hardware: Hardware) -> bytes:
    found = wire.attributes(body, head, len(body))
    fresh = {name: value for name, value in found.items() if name in kept}
    if kind == rt.RTM_NEWLINK:
        _replace(fresh, (rt.IFLA_ADDRESS,), hardware)
        made = _link_kind(found.get(rt.IFLA_LINKINFO))
        if made:
            fresh[rt.IFLA_LINKINFO] = made
    elif kind == rt.RTM_NEWADDR:
        _replace(fresh, (rt.IFA_ADDRESS, rt.IFA_LOCAL), lambda value: address(value, None))
    elif kind == rt.RTM_NEWROUTE:
        _replace(fresh, (rt.RTA_DST,), lambda value: address(value, body[1]))
        _replace(fresh, (rt.RTA_GATEWAY, rt.RTA_PREFSRC), lambda value: address(value, None))
        _replace(fresh, (rt.RTA_VIA,), lambda value: value[:2] + address(value[2:], None))
        _replace(fresh, (rt.RTA_MULTIPATH,), lambda value: _next_hops(value, address))
    elif kind == rt.RTM_NEWNEIGH:
        _replace(fresh, (rt.NDA_DST,), lambda value: address(value, None))
        _replace(fresh, (rt.NDA_LLADDR,), hardware)
    return _packed(fresh)


def _replace(attributes: dict[int, bytes], names: tuple[int, ...], substitute: Hardware) -> None:
    for name in names:
        if name in attributes:
            attributes[name] = substitute(attributes[name])


def _link_kind(info: bytes | None) -> bytes | None:
    made = wire.attributes(info, 0, len(info)).get(1) if info else None
    return _packed({1: made}) if made else None


def _next_hops(value: bytes, address: Address) -> bytes:
    """Each next hop: a head of eight bytes and attributes, of which the gateway is kept."""
    parts: list[bytes] = []
    offset = 0
    while offset + 8 <= len(value):
        length = int.from_bytes(value[offset : offset + 2], "little")
        if length < 8:
            break
        gateway = wire.attributes(value, offset + 8, min(offset + length, len(value))).get(rt.RTA_GATEWAY)
        hop = value[offset + 2 : offset + 8] + (_packed({rt.RTA_GATEWAY: address(gateway, None)}) if gateway else b"")
        parts.append(_padded((len(hop) + 2).to_bytes(2, "little") + hop))
        offset += (length + 3) & ~3
    return b"".join(parts)


def _packed(attributes: dict[int, bytes]) -> bytes:
    return b"".join(_padded(wire.ATTRIBUTE.pack(4 + len(value), kind) + value) for kind, value in attributes.items())


def _padded(content: bytes) -> bytes:
    return content + bytes(-len(content) % 4)
