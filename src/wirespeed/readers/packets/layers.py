"""One captured packet as the line that `tcpdump -nn -S -vv` prints for it, in one line and with absolute sequence numbers.

Link types: https://www.tcpdump.org/linktypes.html. What is not read is named with its length, so that each packet has its line.
"""

import struct
from collections.abc import Callable
from functools import lru_cache
from ipaddress import IPv6Address

from wirespeed.readers.packets.payloads import dns, plain

_ETHERNET, _NULL, _LOOP, _RAW, _COOKED, _COOKED2 = 1, 0, 108, (12, 14, 101, 228, 229), 113, 276
_FLAGS = tuple("FSRP.UEW")
_TAGS = (0x8100, 0x88A8, 0x9100)
_PROTOCOLS = {1: "ICMP", 4: "IPIP", 6: "TCP", 17: "UDP", 41: "IPv6", 47: "GRE", 58: "ICMPv6"}
_DIRECTIONS = {0: "In", 1: "B", 2: "M", 3: "P", 4: "Out"}
_MARKS = ("", ",ECT(1)", ",ECT(0)", ",CE")
_DNS_PORTS = (53, 5353)
_VXLAN_PORTS, _GENEVE_PORT = (4789, 8472), 6081
_MOST_DEPTH = 4
"""Packets inside packets that are opened."""
_TCP = struct.Struct(">HHIIBBHHH")
_IP4 = struct.Struct(">BBHHHBBH4s4s")


def printed(link_type: int, content: bytes, length_bytes: int) -> str:
    """The line of a packet without its time. Never raises for any bytes."""
    try:
        return _link(link_type, content, length_bytes)
    except (struct.error, IndexError, ValueError):
        return f"[|damaged or cut], length {length_bytes}"


def _link(link_type: int, content: bytes, length_bytes: int) -> str:
    if link_type == _ETHERNET:
        return _ethernet(content, length_bytes, 0)
    if link_type in _RAW:
        return _internet(content, 0)
    if link_type in (_NULL, _LOOP):
        return _internet(content[4:], 0)
    if link_type == _COOKED:
        kind, _, _, _, protocol = struct.unpack_from(">HHH8sH", content)
        return f"{_DIRECTIONS.get(kind, '?'):<3} {_of_type(protocol, content[16:], length_bytes, 0)}"
    if link_type == _COOKED2:
        protocol, _, index, _, kind = struct.unpack_from(">HHIHB", content)
        return f"if{index} {_DIRECTIONS.get(kind, '?'):<3} {_of_type(protocol, content[20:], length_bytes, 0)}"
    return f"link type {link_type} is not read, length {length_bytes}"


def _ethernet(content: bytes, length_bytes: int, depth: int) -> str:
    place = 12
    (kind,) = struct.unpack_from(">H", content, place)
    while kind in _TAGS:
        place += 4
        (kind,) = struct.unpack_from(">H", content, place)
    return _of_type(kind, content[place + 2 :], length_bytes, depth)


def _of_type(kind: int, content: bytes, length_bytes: int, depth: int) -> str:
    if kind in (0x0800, 0x86DD):
        return _internet(content, depth)
    if kind == 0x0806:
        return _arp(content)
    return f"ethertype 0x{kind:04x}, length {length_bytes}"


def _arp(content: bytes) -> str:
    hardware, protocol, _, _, operation = struct.unpack_from(">HHBBH", content)
    if (hardware, protocol) != (1, 0x0800):
        return "ARP of other networks, length 28"
    sender_mac, sender, target = content[8:14].hex(":"), _address4(content[14:18]), _address4(content[24:28])
    said = f"Request who-has {target} tell {sender}" if operation == 1 else f"Reply {sender} is-at {sender_mac}"
    return f"ARP, Ethernet (len 6), IPv4 (len 4), {said}, length {len(content)}"


def _internet(content: bytes, depth: int) -> str:
    if depth > _MOST_DEPTH:
        return "too many packets inside one another"
    return (
        _ip4(content, depth) if content[0] >> 4 == 4 else _ip6(content, depth) if content[0] >> 4 == 6 else "IP of no known version"
    )


@lru_cache(maxsize=4096)
def _address4(raw: bytes) -> str:
    return ".".join(map(str, raw))


@lru_cache(maxsize=4096)
def _address6(raw: bytes) -> str:
    return str(IPv6Address(raw))


def _ip4(content: bytes, depth: int) -> str:
    first, tos, total, identity, fragment, ttl, protocol, _, raw_source, raw_target = _IP4.unpack_from(content)
    header = 4 * (first & 15)
    source, target = _address4(raw_source), _address4(raw_target)
    total = total or len(content)  # segmentation offload leaves zero where the length is not known yet
    marks = "DF" if fragment & 0x4000 else "+" if fragment & 0x2000 else "none"
    offset = 8 * (fragment & 0x1FFF)
    named = _PROTOCOLS.get(protocol, "unknown")
    about = f"IP (tos 0x{tos:x}{_MARKS[tos & 3]}, ttl {ttl}, id {identity}, offset {offset}, flags [{marks}], proto {named} ({protocol}), length {total}) "
    inside = content[header:total]
    if offset:
        return f"{about}{source} > {target}: ip-proto-{protocol}"
    return about + _transport(protocol, source, target, inside, max(0, total - header), depth)


def _ip6(content: bytes, depth: int) -> str:
    first, size, protocol, hops = struct.unpack_from(">IHBB", content)
    source, target = _address6(content[8:24]), _address6(content[24:40])
    place, offset = 40, 0
    carried = protocol
    while carried in (0, 43, 44, 60) and len(content) >= place + 8:
        if carried == 44:
            offset = 8 * (int.from_bytes(content[place + 2 : place + 4], "big") >> 3)
        step = 8 if carried == 44 else 8 * (1 + content[place + 1])
        carried, place = content[place], place + step
    size = size or len(content) - 40
    tos, label = first >> 20 & 0xFF, first & 0xFFFFF
    about = (
        f"IP6 ({f'class 0x{tos:02x}, ' if tos else ''}{f'flowlabel 0x{label:05x}, ' if label else ''}hlim {hops}, next-header "
        f"{_PROTOCOLS.get(carried, 'unknown')} ({carried}) payload length: {size}) "
    )
    if offset:
        return f"{about}{source} > {target}: ip-proto-{carried}"
    return about + _transport(carried, source, target, content[place : 40 + size], max(0, 40 + size - place), depth)


def _transport(protocol: int, source: str, target: str, inside: bytes, size: int, depth: int) -> str:
    """What an IP packet carries; `size` is its length on the wire, of which `inside` may be the beginning only."""
    if protocol == 6:
        return _tcp(source, target, inside, size)
    if protocol == 17:
        return _udp(source, target, inside, depth)
    if protocol == 1:
        return f"{source} > {target}: {_icmp(inside)}, length {size}"
    if protocol == 58:
        return f"{source} > {target}: {_icmp6(inside, size)}"
    if protocol in (4, 41):
        return f"{source} > {target}: {_internet(inside, depth + 1)}"
    if protocol == 47 and len(inside) >= 4:
        flags, kind = struct.unpack_from(">HH", inside)
        place = 4 + 4 * (bool(flags & 0x8000) + bool(flags & 0x2000) + bool(flags & 0x1000))
        return f"{source} > {target}: GREv{flags & 7}, length {size}: {_of_type(kind, inside[place:], size, depth + 1)}"
    return f"{source} > {target}: ip-proto-{protocol} {size}"


def _tcp(source: str, target: str, inside: bytes, size: int) -> str:
    if len(inside) < 20:
        return f"{source} > {target}: [|tcp]"
    source_port, target_port, sequence, ack, offset, bits, window, _, _ = _TCP.unpack_from(inside)
    header = 4 * (offset >> 4)
    length = size - header
    flags = _flags(bits)
    ranged = f"{sequence}:{(sequence + length) & 0xFFFFFFFF}" if length > 0 else str(sequence)
    acked = f", ack {ack}" if bits & 0x10 else ""
    options = _options(inside[20:header]) if header > 20 else ""
    shown = f", options [{options}]" if header > 20 else ""
    said = plain(inside[header:]) if length > 0 and len(inside) > header else None
    return (
        f"{source}.{source_port} > {target}.{target_port}: Flags [{flags}], seq {ranged}{acked}, win {window}{shown}, "
        f"length {length}{f': {said}' if said else ''}"
    )


@lru_cache(maxsize=256)
def _flags(bits: int) -> str:
    return "".join(letter for place, letter in enumerate(_FLAGS) if bits >> place & 1) or "none"


def _options(raw: bytes) -> str:
    if len(raw) == 12 and raw[:4] == b"\x01\x01\x08\x0a":
        value, echo = struct.unpack_from(">II", raw, 4)
        return f"nop,nop,TS val {value} ecr {echo}"
    found: list[str] = []
    place = 0
    while place < len(raw):
        kind = raw[place]
        if kind == 0:
            found.append("eol")
            break
        if kind == 1:
            found.append("nop")
            place += 1
            continue
        size = raw[place + 1] if place + 1 < len(raw) else 0
        if size < 2 or place + size > len(raw):
            found.append("[|tcp]")
            break
        found.append(_option(kind, raw[place + 2 : place + size]))
        place += size
    return ",".join(found)


def _option(kind: int, content: bytes) -> str:
    if kind == 2 and len(content) == 2:
        return f"mss {int.from_bytes(content, 'big')}"
    if kind == 3 and len(content) == 1:
        return f"wscale {content[0]}"
    if kind == 4:
        return "sackOK"
    if kind == 5 and len(content) % 8 == 0:
        blocks = [struct.unpack_from(">II", content, place) for place in range(0, len(content), 8)]
        return f"sack {len(blocks)} {''.join(f'{{{start}:{end}}}' for start, end in blocks)}"
    if kind == 8 and len(content) == 8:
        value, echo = struct.unpack(">II", content)
        return f"TS val {value} ecr {echo}"
    return f"unknown-{kind}"


def _udp(source: str, target: str, inside: bytes, depth: int) -> str:
    source_port, target_port, size, _ = struct.unpack_from(">HHHH", inside)
    about = f"{source}.{source_port} > {target}.{target_port}: "
    payload, length = inside[8:], max(0, size - 8)
    if source_port in _DNS_PORTS or target_port in _DNS_PORTS:
        message = dns(payload)
        if message is not None:
            return f"{about}{message} ({length})"
    if target_port in _VXLAN_PORTS and len(payload) > 22:
        return f"{about}VXLAN, vni {int.from_bytes(payload[4:7], 'big')}: {_ethernet(payload[8:], length - 8, depth + 1)}"
    if target_port == _GENEVE_PORT and len(payload) > 8:
        header = 8 + 4 * (payload[0] & 0x3F)
        return (
            f"{about}Geneve, vni {int.from_bytes(payload[4:7], 'big')}: {_ethernet(payload[header:], length - header, depth + 1)}"
        )
    return f"{about}UDP, length {length}"


def _about_packet(inside: bytes) -> tuple[str, int, int]:
    """Target address, protocol and target port of the packet that an ICMP message quotes; port 0 where it has none."""
    if inside[0] >> 4 == 4:
        header, protocol, target = 4 * (inside[0] & 15), inside[9], _address4(inside[16:20])
    else:
        header, protocol, target = 40, inside[6], _address6(inside[24:40])
    has_port = protocol in (6, 17) and len(inside) >= header + 4
    return target, protocol, int.from_bytes(inside[header + 2 : header + 4], "big") if has_port else 0


def _icmp(inside: bytes) -> str:
    kind, code, _, rest = struct.unpack_from(">BBHI", inside)
    if kind in (0, 8):
        return f"ICMP echo {'request' if kind == 8 else 'reply'}, id {rest >> 16}, seq {rest & 0xFFFF}"
    if kind not in (3, 5, 11):
        return f"ICMP type-#{kind}"
    target, protocol, port = _about_packet(inside[8:])
    if kind == 11:
        return "ICMP time exceeded in-transit" if code == 0 else "ICMP ip reassembly time exceeded"
    if kind == 5:
        return f"ICMP redirect {target} to host {_address4(inside[4:8])}"
    named = {6: "tcp", 17: "udp"}.get(protocol, f"protocol {protocol}")
    unreachable: dict[int, Callable[[], str]] = {
        0: lambda: f"ICMP net {target} unreachable",
        1: lambda: f"ICMP host {target} unreachable",
        2: lambda: f"ICMP {target} protocol {protocol} unreachable",
        3: lambda: f"ICMP {target} {named} port {port} unreachable",
        4: lambda: f"ICMP {target} unreachable - need to frag (mtu {rest & 0xFFFF})",
        9: lambda: f"ICMP net {target} unreachable - admin prohibited",
        10: lambda: f"ICMP host {target} unreachable - admin prohibited",
        13: lambda: f"ICMP host {target} unreachable - admin prohibited filter",
    }
    return unreachable.get(code, lambda: f"ICMP {target} unreachable - #{code}")()


def _icmp6(inside: bytes, size: int) -> str:
    kind, code, _, rest = struct.unpack_from(">BBHI", inside)
    if kind == 2:
        return f"ICMP6, packet too big, mtu {rest}"
    if kind in (128, 129):
        return f"ICMP6, echo {'request' if kind == 128 else 'reply'}, id {rest >> 16}, seq {rest & 0xFFFF}, length {size}"
    if kind in (1, 3):
        target, protocol, port = _about_packet(inside[8:])
        if kind == 3:
            return f"ICMP6, time exceeded in-transit for {target}, length {size}"
        if code == 4:
            return f"ICMP6, destination unreachable, unreachable port, {target} {'tcp' if protocol == 6 else 'udp'} port {port}, length {size}"
        what = {
            0: "unreachable route",
            1: "unreachable prohibited",
            2: "beyond scope",
            3: "unreachable address",
            5: "unreachable prohibited",
        }
        return f"ICMP6, destination unreachable, {what.get(code, 'unreachable address')} {target}, length {size}"
    return f"ICMP6, type-#{kind}, length {size}"
