"""Structures of the ethtool ioctl: requests to send, and what the kernel filled in (linux/ethtool.h)."""

import struct

import msgspec

GDRVINFO, GCOALESCE, GRINGPARAM, GPAUSEPARAM, GSTRINGS, GSTATS = 0x03, 0x0E, 0x10, 0x12, 0x1B, 0x1D
GSSET_INFO, GFEATURES, GCHANNELS, GLINKSETTINGS = 0x37, 0x3A, 0x3C, 0x4C
SET_STATS, SET_FEATURES = 1, 4
STRING_BYTES = 32
MOST_STRINGS = 16_384
"""More statistics than any driver has; guards against a damaged count."""

_SPEED_UNKNOWN = 0xFFFFFFFF
_DRVINFO = struct.Struct("=I32s32s32s32s32s12sIIIII")
_LINKSETTINGS = struct.Struct("=IIBBBBBBBb")
_MODE_BITS_PER_S: dict[int, float] = {
    0: 1e7, 1: 1e7, 2: 1e8, 3: 1e8, 4: 1e9, 5: 1e9, 12: 1e10, 15: 2.5e9, 17: 1e9, 18: 1e10, 19: 1e10, 20: 1e10, 21: 2e10, 22: 2e10,
    23: 4e10, 24: 4e10, 25: 4e10, 26: 4e10, 27: 5.6e10, 28: 5.6e10, 29: 5.6e10, 30: 5.6e10, 31: 2.5e10, 32: 2.5e10, 33: 2.5e10,
    34: 5e10, 35: 5e10, 36: 1e11, 37: 1e11, 38: 1e11, 39: 1e11, 40: 5e10, 41: 1e9, 42: 1e10, 43: 1e10, 44: 1e10, 45: 1e10, 46: 1e10,
    47: 2.5e9, 48: 5e9, 52: 5e10, 53: 5e10, 54: 5e10, 55: 5e10, 56: 5e10, 57: 1e11, 58: 1e11, 59: 1e11, 60: 1e11, 61: 1e11,
    62: 2e11, 63: 2e11, 64: 2e11, 65: 2e11, 66: 2e11, 69: 4e11, 70: 4e11, 71: 4e11, 72: 4e11, 73: 4e11, 75: 1e11, 76: 1e11, 77: 1e11,
    78: 1e11, 79: 1e11, 80: 2e11, 81: 2e11, 82: 2e11, 83: 2e11, 84: 2e11, 85: 4e11, 86: 4e11, 87: 4e11, 88: 4e11, 89: 4e11,
    93: 8e11, 94: 8e11, 95: 8e11, 96: 8e11, 97: 8e11, 98: 8e11,
}  # fmt: skip
"""Rate of each link-mode bit (`enum ethtool_link_mode_bit_indices`)."""


class Driver(msgspec.Struct, frozen=True, kw_only=True):
    """`ethtool -i`."""

    driver: str | None
    version: str | None
    firmware: str | None
    bus: str | None


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """The part of `ethtool IFACE` that bears on speed."""

    rate_bits_per_s: float | None
    advertised_max_bits_per_s: float | None
    is_full_duplex: bool | None
    autonegotiates: bool


def command(number: int, size: int) -> bytes:
    """A request whose first word is the command and the rest zero."""
    return struct.pack("=I", number) + bytes(size - 4)


DRIVER_REQUEST = command(GDRVINFO, _DRVINFO.size)
RINGS_REQUEST = command(GRINGPARAM, 36)
CHANNELS_REQUEST = command(GCHANNELS, 36)
COALESCING_REQUEST = command(GCOALESCE, 92)
PAUSE_REQUEST = command(GPAUSEPARAM, 16)
SETTINGS_PROBE = command(GLINKSETTINGS, _LINKSETTINGS.size + 32)


def driver(reply: bytes) -> Driver | None:
    """Names and versions of the driver."""
    if len(reply) < _DRVINFO.size:
        return None
    _, name, version, firmware, bus, *_ = _DRVINFO.unpack_from(reply)
    return Driver(driver=_string(name), version=_string(version), firmware=_string(firmware), bus=_string(bus))


def settings_request(probe: bytes) -> bytes | None:
    """The second request: the kernel answers the probe with the negative number of words it needs for each mask."""
    if len(probe) < _LINKSETTINGS.size:
        return None
    words = _LINKSETTINGS.unpack_from(probe)[9]
    if not -127 <= words < 0:
        return None
    head = _LINKSETTINGS.pack(GLINKSETTINGS, 0, 0, 0, 0, 0, 0, 0, 0, -words)
    return head + bytes(32 + 3 * 4 * -words)


def settings(reply: bytes) -> Settings | None:
    """Speed, duplex and the fastest advertised mode."""
    if len(reply) < _LINKSETTINGS.size + 32:
        return None
    _, speed, duplex, _, _, autonegotiation, _, _, _, words = _LINKSETTINGS.unpack_from(reply)
    start = _LINKSETTINGS.size + 32 + 4 * max(words, 0)
    advertised = int.from_bytes(reply[start : start + 4 * max(words, 0)], "little")
    rates = [rate for bit, rate in _MODE_BITS_PER_S.items() if advertised >> bit & 1]
    return Settings(
        rate_bits_per_s=speed * 1e6 if 0 < speed < _SPEED_UNKNOWN else None,
        advertised_max_bits_per_s=max(rates, default=None),
        is_full_duplex={0: False, 1: True}.get(duplex),
        autonegotiates=autonegotiation == 1,
    )


def words(reply: bytes, count: int) -> tuple[int, ...] | None:
    """The 32-bit words after the command of a structure made of such words, or None when the reply is too short."""
    if len(reply) < 4 * (count + 1):
        return None
    return struct.unpack_from(f"={count}I", reply, 4)


def string_count_request(string_set: int) -> bytes:
    """Ask how many strings a set has."""
    return struct.pack("=IIQI", GSSET_INFO, 0, 1 << string_set, 0)


def string_count(reply: bytes) -> int:
    """How many strings the set has; 0 where the driver has no such set."""
    if len(reply) < 20:
        return 0
    mask, count = struct.unpack_from("=QI", reply, 8)
    return min(count, MOST_STRINGS) if mask else 0


def strings_request(string_set: int, count: int) -> bytes:
    """Ask for the names of a set."""
    return struct.pack("=III", GSTRINGS, string_set, count) + bytes(count * STRING_BYTES)


def strings(reply: bytes) -> tuple[str, ...]:
    """The names of a set."""
    names = (reply[offset : offset + STRING_BYTES] for offset in range(12, len(reply) - STRING_BYTES + 1, STRING_BYTES))
    return tuple(_string(name) or "" for name in names)


def statistics_request(count: int) -> bytes:
    """Ask for the driver's statistics."""
    return struct.pack("=II", GSTATS, count) + bytes(count * 8)


def statistics(reply: bytes) -> tuple[int, ...]:
    """The statistics, in the order of their names."""
    count = max(len(reply) - 8, 0) // 8
    return struct.unpack_from(f"={count}Q", reply, 8) if count else ()


def features_request(count: int) -> bytes:
    """Ask for the state of offloads: four words for each 32 features."""
    blocks = (count + 31) // 32
    return struct.pack("=II", GFEATURES, blocks) + bytes(blocks * 16)


def features(reply: bytes, names: tuple[str, ...]) -> list[tuple[str, bool, bool]]:
    """Name, whether on, and whether fixed, of each named feature."""
    found: list[tuple[str, bool, bool]] = []
    for index, name in enumerate(names):
        offset = 8 + 16 * (index // 32)
        if not name or offset + 16 > len(reply):
            continue
        available, _, active, never_changed = struct.unpack_from("=4I", reply, offset)
        bit = 1 << (index % 32)
        found.append((name, bool(active & bit), bool(never_changed & bit) or not available & bit))
    return found


def _string(value: bytes) -> str | None:
    return value.split(b"\0", 1)[0].decode(errors="replace").strip() or None
