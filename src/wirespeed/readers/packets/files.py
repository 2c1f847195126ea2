"""Records of pcap and pcapng files, from chunks of bytes in bounded memory; damage is passed over where the next record can be found.

Formats: draft-ietf-opsawg-pcap and draft-ietf-opsawg-pcapng (IETF OPSAWG), with the nanosecond and the "modified" pcap magic of libpcap.
"""

import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from wirespeed.model.lines import CAPTURE_HEADS

MOST_PACKET_BYTES = 262_144
"""libpcap's MAXIMUM_SNAPLEN; a longer record is damage."""
MOST_BLOCK_BYTES = 16 * 1024 * 1024
"""A longer block of pcapng is damage (Wireshark refuses the same)."""
SEARCHED_BYTES = 1024 * 1024
"""How far a next record is looked for behind damage."""
LONGEST_STEP_S = 86_400
"""Neighbouring packets are not further apart, where one is looked for behind damage."""
MOST_DAMAGES = 8
_NANO = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Frame:
    """One captured packet: when (nanoseconds since 1970, None where not told), of which link type, its bytes and its whole length."""

    at_ns: int | None
    link_type: int
    content: bytes
    length_bytes: int
    interface: str = ""
    has_nanoseconds: bool = False


@dataclass(slots=True)
class Totals:
    """What a file says of itself beside its packets; filled while it is read."""

    dropped_packets: int | None = None
    snapshot_bytes: int | None = None
    damage: list[tuple[int, str]] = field(default_factory=list)
    """Number of packets before each damage, and what it is."""
    frames_count: int = 0

    def note(self, what: str) -> None:
        """Remember damage at this place; a file full of it is told a few times."""
        if len(self.damage) < MOST_DAMAGES:
            self.damage.append((self.frames_count, what))


def frames(chunks: Iterable[bytes], totals: Totals) -> Iterator[Frame]:
    """Every packet of a capture file. Never raises for any bytes."""
    source = _Bytes(chunks)
    head = source.peek(4)
    found = _pcapng(source, totals) if head == b"\x0a\x0d\x0d\x0a" else _pcap(source, totals)
    for frame in found:
        totals.frames_count += 1
        yield frame


class _Bytes:
    """A stream of chunks, taken by length."""

    def __init__(self, chunks: Iterable[bytes]) -> None:
        self._chunks = iter(chunks)
        self._buffer = b""
        self._start = 0

    def peek(self, size: int) -> bytes:
        """The next bytes, fewer at the end, without taking them."""
        while len(self._buffer) - self._start < size:
            chunk = next(self._chunks, None)
            if chunk is None:
                break
            self._buffer = self._buffer[self._start :] + chunk
            self._start = 0
        return self._buffer[self._start : self._start + size]

    def take(self, size: int) -> bytes:
        """The next bytes, fewer at the end."""
        taken = self.peek(size)
        self._start += len(taken)
        return taken


def _pcap(source: _Bytes, totals: Totals) -> Iterator[Frame]:
    head = source.take(24)
    if len(head) < 24 or head[:4] not in CAPTURE_HEADS:
        totals.note("is too short for a capture file")
        return
    order = "<" if head[0] in (0xD4, 0x4D, 0x34) else ">"
    is_nano = head[:4] in (b"\x4d\x3c\xb2\xa1", b"\xa1\xb2\x3c\x4d")
    is_modified = head[:4] in (b"\x34\xcd\xb2\xa1", b"\xa1\xb2\xcd\x34")
    _, _, _, _, snapshot_bytes, network = struct.unpack(f"{order}HHiIII", head[4:])
    totals.snapshot_bytes = snapshot_bytes
    record = struct.Struct(f"{order}IIII8x" if is_modified else f"{order}IIII")
    link_type, scale = network & 0xFFFF, 1 if is_nano else 1000
    last_s: int | None = None
    while True:
        raw = source.peek(record.size)
        if len(raw) < record.size:
            if raw:
                totals.note("ends in the middle of a packet")
            return
        seconds, fraction, kept_bytes, length_bytes = record.unpack(raw)
        if not _is_plausible(seconds, fraction * scale, kept_bytes, length_bytes, None):
            if not _found_next(source, record, scale, last_s, totals):
                return
            continue
        source.take(record.size)
        content = source.take(kept_bytes)
        if len(content) < kept_bytes:
            totals.note("ends in the middle of a packet")
            return
        last_s = seconds
        yield Frame(seconds * _NANO + fraction * scale, link_type, content, max(length_bytes, kept_bytes), "", is_nano)


def _is_plausible(seconds: int, fraction_ns: int, kept_bytes: int, length_bytes: int, last_s: int | None) -> bool:
    """Whether four numbers can be a record's head; beside a known neighbour also whether they are of its time."""
    if kept_bytes > MOST_PACKET_BYTES or fraction_ns >= _NANO:
        return False
    return last_s is None or (abs(seconds - last_s) <= LONGEST_STEP_S and 0 < kept_bytes <= length_bytes <= MOST_PACKET_BYTES)


def _found_next(source: _Bytes, record: struct.Struct, scale: int, last_s: int | None, totals: Totals) -> bool:
    """Pass over damage up to the next record that is followed by another; False where there is none."""
    window = source.peek(SEARCHED_BYTES)
    anchor = last_s if last_s is not None else record.unpack(window[: record.size])[0]
    last_place = len(window) - record.size
    for place in range(1, last_place + 1):
        seconds, fraction, kept_bytes, length_bytes = record.unpack_from(window, place)
        if not _is_plausible(seconds, fraction * scale, kept_bytes, length_bytes, anchor):
            continue
        following = place + record.size + kept_bytes
        if following == len(window):
            break
        if following <= last_place and _is_plausible(*_head(record, window, following, scale), last_s=anchor):
            break
    else:
        totals.note("is damaged here and the rest cannot be read")
        return False
    source.take(place)
    totals.note(f"is damaged here; {place} bytes were passed over")
    return True


def _head(record: struct.Struct, window: bytes, place: int, scale: int) -> tuple[int, int, int, int]:
    seconds, fraction, kept_bytes, length_bytes = record.unpack_from(window, place)
    return seconds, fraction * scale, kept_bytes, length_bytes


@dataclass(slots=True)
class _Interface:
    link_type: int
    name: str
    units_per_s: int = 1_000_000
    offset_s: int = 0
    dropped_packets: int | None = None


def _pcapng(source: _Bytes, totals: Totals) -> Iterator[Frame]:
    order = "<"
    interfaces: list[_Interface] = []
    while head := source.peek(12):
        if head[:4] == b"\x0a\x0d\x0d\x0a":
            order = "<" if head[8:12] == b"\x4d\x3c\x2b\x1a" else ">"
            interfaces = []
        if len(head) < 12:
            totals.note("ends in the middle of a block")
            return
        kind, size = struct.unpack(f"{order}II", head[:8])
        if size < 12 or size % 4 or size > MOST_BLOCK_BYTES:
            totals.note("is damaged here and the rest cannot be read")
            return
        block = source.take(size)
        if len(block) < size:
            totals.note("ends in the middle of a block")
            return
        frame = _of_block(kind, block[8:-4], order, interfaces, totals)
        if frame is not None:
            yield frame


def _of_block(kind: int, body: bytes, order: str, interfaces: list[_Interface], totals: Totals) -> Frame | None:
    """The packet a block holds, if it holds one; what it tells otherwise is remembered. A block too short for its kind is damage."""
    try:
        match kind:
            case 1:
                interfaces.append(_interface(body, order, len(interfaces)))
                snapshot_bytes = int(struct.unpack_from(f"{order}I", body, 4)[0])
                totals.snapshot_bytes = max(snapshot_bytes, totals.snapshot_bytes or 0) or None
            case 2:
                index, _, high, low, kept_bytes, length_bytes = struct.unpack_from(f"{order}HHIIII", body)
                return _packet(interfaces[index], high << 32 | low, body[20 : 20 + kept_bytes], length_bytes)
            case 3:
                (length_bytes,) = struct.unpack_from(f"{order}I", body)
                kept_bytes = min(length_bytes, totals.snapshot_bytes or length_bytes)
                return Frame(None, interfaces[0].link_type, body[4 : 4 + kept_bytes], length_bytes, interfaces[0].name)
            case 5:
                _statistics(body, order, interfaces, totals)
            case 6:
                index, high, low, kept_bytes, length_bytes = struct.unpack_from(f"{order}IIIII", body)
                return _packet(interfaces[index], high << 32 | low, body[20 : 20 + kept_bytes], length_bytes)
    except (struct.error, IndexError):
        totals.note("has a damaged block, which was passed over")
    return None


def _packet(interface: _Interface, stamp: int, content: bytes, length_bytes: int) -> Frame:
    at_ns = interface.offset_s * _NANO + stamp * _NANO // interface.units_per_s
    return Frame(
        at_ns, interface.link_type, content, max(length_bytes, len(content)), interface.name, interface.units_per_s > 1_000_000
    )


def _interface(body: bytes, order: str, index: int) -> _Interface:
    (link_type,) = struct.unpack_from(f"{order}H", body)
    found = _Interface(link_type, "")
    for code, content in _options(body[8:], order):
        if code == 2:
            found.name = content.rstrip(b"\0").decode("utf-8", "replace")[:32].replace(" ", "-")
        elif code == 9 and content:
            found.units_per_s = 2 ** min(content[0] & 0x7F, 63) if content[0] & 0x80 else 10 ** min(content[0], 18)
        elif code == 14 and len(content) == 8:
            (found.offset_s,) = struct.unpack(f"{order}q", content)
    if not found.name and index:
        found.name = f"if{index}"
    return found


def _statistics(body: bytes, order: str, interfaces: list[_Interface], totals: Totals) -> None:
    """Packets dropped, by the interface or by the operating system; later blocks of an interface count from its start again."""
    (index,) = struct.unpack_from(f"{order}I", body)
    for code, content in _options(body[12:], order):
        if code in (5, 7) and len(content) == 8:
            dropped = int(struct.unpack(f"{order}Q", content)[0])
            interfaces[index].dropped_packets = max(dropped, interfaces[index].dropped_packets or 0)
    told = [one.dropped_packets for one in interfaces if one.dropped_packets is not None]
    totals.dropped_packets = sum(told) if told else totals.dropped_packets


def _options(content: bytes, order: str) -> Iterator[tuple[int, bytes]]:
    place = 0
    while place + 4 <= len(content):
        code, size = struct.unpack_from(f"{order}HH", content, place)
        if code == 0:
            return
        yield code, content[place + 4 : place + 4 + size]
        place += 4 + size + (-size % 4)
