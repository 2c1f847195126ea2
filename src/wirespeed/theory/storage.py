"""What a transfer can reach: window over round trip, time from size and rate, and the share of a step spent waiting for data."""

import math

MATHIS_CONSTANT = 1.22
"""sqrt(3/2): one loss every 1/p packets, the window halved each time."""
HEALTHY_SHARE_RATIO = 0.85
"""From this share of the line rate on a transfer is as fast as the link allows: headers and inter-frame gaps take 3 to 6 %, protocols some more."""


def window_limited_bytes_per_s(window_bytes: float, rtt_s: float) -> float:
    """The most one connection moves: a window each round trip (RFC 7323, section 1.1)."""
    return window_bytes / rtt_s


def loss_limited_bytes_per_s(mss_bytes: float, rtt_s: float, loss_ratio: float) -> float:
    """What a loss-based congestion control reaches on average (Mathis et al. 1997, with the constant of delayed acknowledgements off)."""
    return mss_bytes * MATHIS_CONSTANT / (rtt_s * math.sqrt(loss_ratio))


def window_needed_bytes(rate_bytes_per_s: float, rtt_s: float) -> float:
    """Bandwidth-delay product: the window that keeps a path of this rate full."""
    return rate_bytes_per_s * rtt_s


def transfer_s(size_bytes: float, rate_bytes_per_s: float) -> float:
    """Time to move a size at a rate."""
    return size_bytes / rate_bytes_per_s


def data_wait_ratio(step_s: float, data_s: float) -> float:
    """Share of a training step spent waiting for its input."""
    return min(1.0, data_s / step_s) if step_s > 0 else 0.0


def is_healthy_share(rate_bits_per_s: float, line_bits_per_s: float) -> bool:
    """Whether a rate is what a line of this rate delivers: not below 85 % and not above it (two percent for rounding)."""
    return HEALTHY_SHARE_RATIO <= rate_bits_per_s / line_bits_per_s <= 1.02
