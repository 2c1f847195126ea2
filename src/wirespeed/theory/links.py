"""What one link or flow can carry: rates, windows, frames and the time of a transfer."""

from wirespeed.model.units import BitsPerS, Bytes, Seconds

ETHERNET_FRAMING_BYTES = 38
"""Preamble 8, header 14, check sequence 4 and gap 12 around each packet (IEEE 802.3)."""
TCP_HEADERS_BYTES = 52
"""IPv4 20, TCP 20 and the timestamp option 12 inside each packet (RFC 791, 9293, 7323)."""

_NONE = Seconds(0.0)


def bandwidth_delay_product_bytes(rate: BitsPerS, round_trip: Seconds) -> Bytes:
    """Bytes that must be in flight to keep a link of this rate busy over this round trip."""
    return Bytes(rate / 8.0 * round_trip)


def window_limited_bits_per_s(window: Bytes, round_trip: Seconds) -> BitsPerS:
    """The most one flow carries when at most `window` is unacknowledged (RFC 7323, section 1.1)."""
    return BitsPerS(window * 8.0 / round_trip)


def transfer_s(size: Bytes, rate: BitsPerS, round_trip: Seconds = _NONE) -> Seconds:
    """Time until the last byte arrives: half a round trip of travel and the bytes at the link's rate."""
    return Seconds(round_trip / 2.0 + size * 8.0 / rate)


def tcp_payload_ratio(mtu: Bytes) -> float:
    """Share of an Ethernet link's rate that is TCP payload: 0.949 at MTU 1500, 0.991 at 9000."""
    return (mtu - TCP_HEADERS_BYTES) / (mtu + ETHERNET_FRAMING_BYTES)


def share_of_line_ratio(reached: BitsPerS, line: BitsPerS) -> float:
    """Share of the line rate that was reached."""
    return reached / line
