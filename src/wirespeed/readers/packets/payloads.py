"""What the first bytes of a payload say in plain text: DNS messages, TLS hellos and alerts, the first line of HTTP.

Nothing else of a payload is ever shown, and of an HTTP target nothing behind its question mark: that is where keys stand.
"""

import re
import struct

QUERY_TYPES = {
    1: "A", 2: "NS", 5: "CNAME", 6: "SOA", 12: "PTR", 15: "MX", 16: "TXT", 28: "AAAA", 33: "SRV", 64: "SVCB", 65: "HTTPS", 255: "ANY",
}  # fmt: skip
ANSWERS = {0: "", 1: " FormErr", 2: " ServFail", 3: " NXDomain", 4: " NotImp", 5: " Refused"}
"""Answer codes as tcpdump prints them; success is not printed."""
_ALERTS = {
    0: "close_notify", 10: "unexpected_message", 20: "bad_record_mac", 40: "handshake_failure", 42: "bad_certificate", 45: "certificate_expired",
    46: "certificate_unknown", 47: "illegal_parameter", 48: "unknown_ca", 49: "access_denied", 50: "decode_error", 70: "protocol_version",
    71: "insufficient_security", 80: "internal_error", 86: "inappropriate_fallback", 90: "user_canceled", 112: "unrecognized_name",
    116: "certificate_required", 120: "no_application_protocol",
}  # fmt: skip
"""RFC 8446 section 6."""
_HTTP = re.compile(rb"(?:(?:GET|POST|PUT|HEAD|DELETE|OPTIONS|PATCH|CONNECT) [!-~]{1,512}|HTTP/1\.[01] \d{3}[ -~]{0,64})")
_MOST_LABELS = 64


def dns(message: bytes) -> str | None:
    """A DNS message as tcpdump prints it, with the question in answers too (as `-v` does); None where it is none."""
    if len(message) < 12:
        return None
    number, flags, questions, answers, authorities, more = struct.unpack_from(">HHHHHH", message)
    if flags & 0x7800 or questions > 1:
        return None
    asked = _question(message) if questions else None
    if not flags & 0x8000:
        if asked is None:
            return None
        counted = "".join(f"{count}{word}" for count, word in ((answers, "a"), (authorities, "n"), (more, "au")) if count)
        return f"{number}{'+' if flags & 0x100 else ''}{'%' if flags & 0x10 else ''} {f'[{counted}] ' if counted else ''}{asked}"
    code = ANSWERS.get(flags & 0xF, f" Resp{flags & 0xF}")
    signs = ("*" if flags & 0x400 else "") + ("" if flags & 0x80 else "-") + ("|" if flags & 0x200 else "")
    return f"{number}{code}{signs}{f' q: {asked}' if asked else ''} {answers}/{authorities}/{more}"


def _question(message: bytes) -> str | None:
    labels: list[str] = []
    place = 12
    while place < len(message) and len(labels) < _MOST_LABELS:
        size = message[place]
        if size == 0:
            if place + 5 > len(message):
                return None
            (kind,) = struct.unpack_from(">H", message, place + 1)
            return f"{QUERY_TYPES.get(kind, f'Type{kind}')}? {'.'.join(labels)}."
        if size > 63 or place + 1 + size > len(message):
            return None
        labels.append(printable(message[place + 1 : place + 1 + size]))
        place += 1 + size
    return None


def printable(content: bytes) -> str:
    """Visible ASCII as it is, anything else as a question mark."""
    return "".join(chr(byte) if 33 <= byte < 127 else "?" for byte in content)


def plain(payload: bytes) -> str | None:
    """What a TCP payload begins with, where it is a TLS hello or alert or the first line of HTTP."""
    if not payload:
        return None
    if payload[0] in (0x15, 0x16) and len(payload) >= 6 and payload[1] == 3 and payload[2] <= 4:
        return _tls(payload)
    if payload[0] in b"GPHDOC":
        found = _HTTP.match(payload)
        if found:
            line, _, behind = found[0].decode("ascii").partition("?")
            return f"HTTP: {line}{'?...' if behind else ''}"
    return None


def _tls(payload: bytes) -> str | None:
    size = int.from_bytes(payload[3:5], "big")
    if payload[0] == 0x15:
        if size != 2 or len(payload) < 7 or payload[5] not in (1, 2):
            return None
        return f"TLS Alert, {'warning' if payload[5] == 1 else 'fatal'} {_ALERTS.get(payload[6], f'alert-{payload[6]}')}"
    if payload[5] == 1:
        name = _server_name(payload)
        return f"TLS ClientHello{f', server name {name}' if name else ''}"
    return "TLS ServerHello" if payload[5] == 2 else None


def _server_name(payload: bytes) -> str | None:
    """The name in a ClientHello (RFC 6066 section 3), where it lies within what was captured."""
    try:
        place = 5 + 4 + 2 + 32
        place += 1 + payload[place]
        place += 2 + int.from_bytes(payload[place : place + 2], "big")
        place += 1 + payload[place]
        end = place + 2 + int.from_bytes(payload[place : place + 2], "big")
        place += 2
        while place + 4 <= min(end, len(payload)):
            kind, size = struct.unpack_from(">HH", payload, place)
            if kind == 0 and size > 5:
                return printable(payload[place + 9 : place + 4 + size][:255]) or None
            place += 4 + size
    except (IndexError, struct.error):
        return None
    return None
