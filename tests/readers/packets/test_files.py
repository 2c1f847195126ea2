"""Capture files in every byte order and clock, and damaged ones: what can be read is read, and what cannot is said."""

import random
import struct

import pytest

from readers.packets.captures import Bytes, content, every, lines_of, read
from wirespeed.model.flows import CaptureSummary, TcpFlow
from wirespeed.model.lines import UNKNOWN_ORIGIN
from wirespeed.model.source import Problem
from wirespeed.readers.packets.files import Frame, Totals, frames

HEALTHY = content("healthy")


def _packets(capture: bytes) -> list[tuple[int, int, bytes, int]]:
    """Seconds, microseconds, bytes and whole length of each packet of a plain little-endian capture."""
    found, place = [], 24
    while place < len(capture):
        seconds, fraction, kept, length = struct.unpack_from("<IIII", capture, place)
        found.append((seconds, fraction, capture[place + 16 : place + 16 + kept], length))
        place += 16 + kept
    return found


PACKETS = _packets(HEALTHY)


def _pcap(order: str = "<", magic: int = 0xA1B2C3D4, scale: int = 1, extra: bytes = b"", link: int = 1) -> bytes:
    head = struct.pack(f"{order}IHHiIII", magic, 2, 4, 0, 0, 262144, link)
    return head + b"".join(
        struct.pack(f"{order}IIII", seconds, fraction * scale, len(raw), length) + extra + raw
        for seconds, fraction, raw, length in PACKETS
    )


def _block(order: str, kind: int, body: bytes) -> bytes:
    body += b"\0" * (-len(body) % 4)
    size = struct.pack(f"{order}I", 12 + len(body))
    return struct.pack(f"{order}I", kind) + size + body + size


def _option(order: str, code: int, value: bytes) -> bytes:
    return struct.pack(f"{order}HH", code, len(value)) + value + b"\0" * (-len(value) % 4)


def _pcapng(order: str = "<", resolution: int = 6, dropped: int | None = None, kind: int = 6) -> bytes:
    section = struct.pack(f"{order}IHHq", 0x1A2B3C4D, 1, 0, -1)
    interface = struct.pack(f"{order}HHI", 1, 0, 262144) + _option(order, 2, b"eth0") + _option(order, 9, bytes([resolution]))
    blocks = [_block(order, 0x0A0D0D0A, section), _block(order, 1, interface)]
    for seconds, fraction, raw, length in PACKETS:
        stamp = (seconds * 1_000_000 + fraction) * 10 ** (resolution - 6)
        if kind == 6:
            head = struct.pack(f"{order}IIIII", 0, stamp >> 32, stamp & 0xFFFFFFFF, len(raw), length)
        elif kind == 2:
            head = struct.pack(f"{order}HHIIII", 0, 0, stamp >> 32, stamp & 0xFFFFFFFF, len(raw), length)
        else:
            head = struct.pack(f"{order}I", len(raw))
        blocks.append(_block(order, kind, head + raw))
        blocks.append(_block(order, 0x0BAD, b"of a program we do not know"))
    if dropped is not None:
        blocks.append(_block(order, 5, struct.pack(f"{order}III", 0, 0, 0) + _option(order, 5, struct.pack(f"{order}Q", dropped))))
    return b"".join(blocks)


def _whole(capture: bytes) -> list[tuple[int | None, bytes]]:
    totals = Totals()
    found = [(frame.at_ns, frame.content) for frame in frames(Bytes(capture), totals)]
    assert not totals.damage
    return found


EXPECTED = [(seconds * 1_000_000_000 + fraction * 1000, raw) for seconds, fraction, raw, _ in PACKETS]


@pytest.mark.parametrize(
    "capture",
    [
        _pcap(),
        _pcap(">"),
        _pcap("<", 0xA1B23C4D, 1000),
        _pcap(">", 0xA1B23C4D, 1000),
        _pcap("<", 0xA1B2CD34, extra=b"\0" * 8),
        _pcapng(),
        _pcapng(">"),
        _pcapng("<", 9),
        _pcapng(">", kind=2),
    ],
    ids=[
        "pcap",
        "big-endian",
        "nanoseconds",
        "big-endian-nanoseconds",
        "modified",
        "pcapng",
        "pcapng-big-endian",
        "pcapng-ns",
        "pcapng-old",
    ],
)
def test_every_format_gives_the_same_packets(capture: bytes) -> None:
    assert _whole(capture) == EXPECTED


def test_packets_without_times_have_none() -> None:
    assert _whole(_pcapng(kind=3)) == [(None, raw) for _, raw in EXPECTED]
    assert not next(one for one in every(read(_pcapng(kind=3)), CaptureSummary)).has_times


def test_what_the_kernel_dropped_is_told() -> None:
    (summary,) = every(read(_pcapng(dropped=17)), CaptureSummary)
    assert summary.dropped_packets == 17


def test_the_interface_is_named() -> None:
    assert " eth0 IP " in lines_of(_pcapng())[2]


def test_cut_packets_are_told_and_payload_is_not_needed() -> None:
    (summary,) = every(read(content("window")), CaptureSummary)
    assert summary.snapshot_bytes == 80
    (whole,) = every(read(content("keepalive")), CaptureSummary)
    assert whole.snapshot_bytes is None


def test_a_capture_that_ends_in_a_packet_keeps_what_came_before() -> None:
    items = read(HEALTHY[:-5])
    (problem,) = every(items, Problem)
    assert problem.why.en == f"after packet {len(PACKETS) - 1} it ends in the middle of a packet"
    assert problem.why.zh.startswith(f"第 {len(PACKETS) - 1} 个包之后")
    assert every(items, TcpFlow)


def test_every_cut_gives_the_packets_before_it() -> None:
    for cut in range(24, len(HEALTHY), 61):
        totals = Totals()
        found = [(frame.at_ns, frame.content) for frame in frames(Bytes(HEALTHY[:cut]), totals)]
        assert found == EXPECTED[: len(found)]


@pytest.mark.parametrize("length", [0xFFFFFFFF, 300_000, 0x10000])
def test_after_a_wrong_length_the_next_packets_are_found(length: int) -> None:
    capture = bytearray(HEALTHY)
    place = 24 + sum(16 + len(raw) for _, _, raw, _ in PACKETS[:10])
    struct.pack_into("<II", capture, place + 8, length, length)
    if length > 262_144:
        found = [frame.content for frame in frames(Bytes(bytes(capture)), Totals())]
        assert found == [raw for index, (_, raw) in enumerate(EXPECTED) if index != 10]
        assert any("bytes were passed over" in one.why.en for one in every(read(bytes(capture)), Problem))
    else:  # a length that could be true swallows what follows, which is said
        assert any("ends in the middle" in one.why.en for one in every(read(bytes(capture)), Problem))


def test_junk_between_packets_is_passed_over() -> None:
    place = 24 + sum(16 + len(raw) for _, _, raw, _ in PACKETS[:7])
    capture = HEALTHY[:place] + b"\xff" * 1000 + HEALTHY[place:]
    totals = Totals()
    assert [frame.content for frame in frames(Bytes(capture), totals)] == [raw for _, raw in EXPECTED]
    assert totals.damage == [(7, "is damaged here; 1000 bytes were passed over")]


def test_an_unknown_link_type_names_each_packet() -> None:
    lines = lines_of(_pcap(link=147))
    assert lines[len(PACKETS)] == f"{len(PACKETS)} packets captured"
    assert lines[0].endswith("link type 147 is not read, length 42")
    assert not every(read(_pcap(link=147)), TcpFlow)


def test_a_wrong_link_type_never_makes_connections_up() -> None:
    for link in (0, 101, 113, 276):
        assert not every(read(_pcap(link=link)), TcpFlow)


@pytest.mark.parametrize("seed", range(30))
def test_damage_never_raises(seed: int) -> None:
    chance = random.Random(seed)
    for source in (HEALTHY, content("dns_slow"), content("layers"), content("tunnels"), _pcapng(), _pcapng(">", 9, 3)):
        capture = bytearray(source)
        for _ in range(chance.randrange(1, 60)):
            capture[chance.randrange(24, len(capture))] = chance.randrange(256)
        read(bytes(capture[: chance.randrange(len(capture))]))
        read(bytes(capture))


@pytest.mark.parametrize("link", [0, 1, 12, 101, 108, 113, 228, 229, 276, 147])
def test_random_packets_never_raise(link: int) -> None:
    chance = random.Random(link)
    raw = [chance.randbytes(chance.randrange(120)) for _ in range(300)]
    starts = [b"\x45", b"\x60", bytes(12) + b"\x08\x00\x45", bytes(12) + b"\x86\xdd\x60", bytes(14) + b"\x08\x00\x45"]
    packets = [chance.choice(starts) + one for one in raw] + raw
    head = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, link)
    capture = head + b"".join(struct.pack("<IIII", index, 0, len(one), len(one)) + one for index, one in enumerate(packets))
    assert len(lines_of(capture)) >= len(packets)
    read(capture)


def test_a_huge_stamp_is_no_time() -> None:
    frame = Frame(2**80, 1, b"", 0)
    capture = bytearray(_pcapng("<", 6))
    assert frame.at_ns == 2**80
    read(bytes(capture))


@pytest.mark.exhaustive
def test_a_large_capture_is_read_in_bounded_memory() -> None:
    """100 MB in 100 MB of memory beside what is there already (tracemalloc slows it some five times)."""
    import tracemalloc

    class Large:
        path = "large.pcap"
        origin = UNKNOWN_ORIGIN
        size_bytes = 100_000_000

        def __iter__(self):  # type: ignore[no-untyped-def]
            yield HEALTHY[:24]
            made = index = 0
            while made < self.size_bytes:
                pieces = []
                for seconds, fraction, raw, _ in PACKETS[2:]:
                    frame = bytearray(raw + bytes(1400))
                    is_from_client = frame[26:30] == bytes([10, 7, 0, 1])
                    struct.pack_into(">H", frame, 34 if is_from_client else 36, 1024 + index % 60_000)
                    pieces.append(struct.pack("<IIII", seconds + 2 * index, fraction, len(frame), len(frame)) + frame)
                index += 1
                made += sum(len(piece) for piece in pieces)
                yield b"".join(pieces)

    from wirespeed.readers.packets.lines import PacketLines
    from wirespeed.readers.tools.packet_capture import READER

    tracemalloc.start()
    count = sum(1 for _ in READER.read(PacketLines(Large())))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert count > 1000
    assert peak < 100e6
