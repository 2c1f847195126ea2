"""What PCI configuration space says: payload sizes and Access Control Services (PCI Express Base Specification, chapter 7)."""

import msgspec

EXPRESS_CAPABILITY, ACS_CAPABILITY, SERIAL_CAPABILITY = 0x10, 0x000D, 0x0003
STANDARD_BYTES = 64
"""All that the kernel shows to a process without CAP_SYS_ADMIN."""
EXTENDED_START, EXTENDED_END = 0x100, 0x1000
_ACS_NAMES = ("SrcValid", "TransBlk", "ReqRedir", "CmpltRedir", "UpstreamFwd", "EgressCtrl", "DirectTrans")
"""Names as `lspci -vv` prints them, by bit of the ACS control register."""


class PciConfig(msgspec.Struct, frozen=True, kw_only=True):
    """The fields decoded; `acs_flags` is empty where all controls are off, None where there is no such capability or it cannot be seen."""

    max_payload_bytes: int | None = None
    max_read_request_bytes: int | None = None
    acs_flags: tuple[str, ...] | None = None
    sees_extended: bool = False


def decode(content: bytes) -> PciConfig:
    """Walk both capability lists, each at most once a slot."""
    payload = request = None
    control = _capability(content, EXPRESS_CAPABILITY)
    if control is not None and control + 10 <= len(content):
        word = int.from_bytes(content[control + 8 : control + 10], "little")
        payload, request = 128 << (word >> 5 & 7), 128 << (word >> 12 & 7)
    acs = _extended_capability(content, ACS_CAPABILITY)
    flags = None
    if acs is not None and acs + 8 <= len(content):
        word = int.from_bytes(content[acs + 6 : acs + 8], "little")
        flags = tuple(name for bit, name in enumerate(_ACS_NAMES) if word >> bit & 1)
    return PciConfig(
        max_payload_bytes=payload, max_read_request_bytes=request, acs_flags=flags, sees_extended=len(content) > EXTENDED_START
    )


def without_serial(content: bytes) -> bytes:
    """The same space with the device's serial number (often made of its MAC address) set to zero."""
    offset = _extended_capability(content, SERIAL_CAPABILITY)
    return content if offset is None else content[: offset + 4] + bytes(8) + content[offset + 12 :]


def _capability(content: bytes, wanted: int) -> int | None:
    if len(content) < STANDARD_BYTES or not content[6] & 0x10:
        return None
    offset = content[0x34] & 0xFC
    for _ in range(48):
        if offset < 0x40 or offset + 2 > len(content):
            return None
        if content[offset] == wanted:
            return offset
        offset = content[offset + 1] & 0xFC
    return None


def _extended_capability(content: bytes, wanted: int) -> int | None:
    offset = EXTENDED_START
    for _ in range((EXTENDED_END - EXTENDED_START) // 4):
        if offset < EXTENDED_START or offset + 4 > len(content):
            return None
        header = int.from_bytes(content[offset : offset + 4], "little")
        if header & 0xFFFF == wanted:
            return offset
        offset = header >> 20 & 0xFFC
    return None
