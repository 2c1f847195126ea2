"""What holds one bulk TCP flow back, from the shares of time the kernel books (tcp_chrono: busy, rwnd_limited, sndbuf_limited).

The kernel books each microsecond with data outstanding to one of: limited by the peer's window, by the send buffer, or neither (the
congestion window, pacing, or the device). Measured: a receive buffer of 8 KiB books 88 % to the peer's window, a slow reader 99 %; a
healthy flow books under 5 % to either.
"""

from typing import Literal, TypeAlias

Limit: TypeAlias = Literal["congestion-window", "receive-window", "send-buffer", "sender", "pacing"]

SHARE_RATIO = 0.2
"""A window or buffer that held the flow for a fifth of its busy time is what to look at first."""
IDLE_RATIO = 0.1
"""A socket that had nothing to send for a tenth of the window waited for its sender."""
CORE_RATIO = 0.95
"""A sender that used its core for so long cannot send faster."""
FULL_WINDOW_RATIO = 0.85
"""Median of packets in flight over the congestion window from which on the window counts as full (GSO leaves a few segments free)."""
PACED_RATIO = 0.95
"""A flow this near to the rate it was bounded to is held by that bound."""


def limited_by(
    *,
    busy_ratio: float | None,
    rwnd_limited_ratio: float | None,
    sndbuf_limited_ratio: float | None,
    window_use_ratio: float | None,
    sender_cpu_ratio: float | None,
    of_bound_ratio: float | None,
) -> Limit | None:
    """The strongest limit of a flow, or None where nothing stands out.

    `window_use_ratio` is packets in flight over the congestion window (median), `sender_cpu_ratio` the sender's use of one core,
    `of_bound_ratio` the goodput over a rate bound that was asked for. A receive window or send buffer is named before the congestion
    window, because the kernel books them exactly; a busy core before all windows that merely look full, since a sender that cannot
    keep up also fills none.
    """
    if of_bound_ratio is not None and of_bound_ratio >= PACED_RATIO:
        return "pacing"
    windows: list[tuple[float, Limit]] = [
        (rwnd_limited_ratio or 0.0, "receive-window"),
        (sndbuf_limited_ratio or 0.0, "send-buffer"),
    ]
    share, window = max(windows)
    if share >= SHARE_RATIO:
        return window
    if sender_cpu_ratio is not None and sender_cpu_ratio >= CORE_RATIO:
        return "sender"
    if busy_ratio is not None and busy_ratio <= 1.0 - IDLE_RATIO:
        return "sender"
    if window_use_ratio is not None and window_use_ratio >= FULL_WINDOW_RATIO:
        return "congestion-window"
    return None
