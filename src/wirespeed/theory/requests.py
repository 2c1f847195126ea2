"""What one request costs: its phases, its share of waiting, the timers its delays betray, and the limits of a client."""

from dataclasses import dataclass

DELAYED_ACK_S = 0.040
"""Least delay of a delayed acknowledgement on Linux (TCP_DELACK_MIN, HZ/25)."""
LONGEST_DELAYED_ACK_S = 0.220
"""Delayed acknowledgements end at 200 ms (TCP_DELACK_MAX), plus scheduling."""
TIME_WAIT_S = 60.0
"""How long Linux keeps a closed connection's port (TCP_TIMEWAIT_LEN)."""
DNS_RETRY_S = 5.0
"""Default time-out of one query in glibc and musl (resolv.conf(5), `timeout:`)."""


@dataclass(frozen=True, slots=True)
class Phases:
    """The parts of one request's time, in order; None where the input did not give it."""

    name_s: float | None
    connect_s: float | None
    tls_s: float | None
    wait_s: float | None
    transfer_s: float | None
    total_s: float


def phases(
    total_s: float,
    namelookup_s: float | None = None,
    connect_s: float | None = None,
    appconnect_s: float | None = None,
    starttransfer_s: float | None = None,
) -> Phases:
    """Split the cumulative times of `curl -w` into durations; curl prints 0 for a TLS handshake that did not happen."""
    has_tls = appconnect_s is not None and appconnect_s > 0
    connected_s = appconnect_s if has_tls else connect_s
    return Phases(
        name_s=namelookup_s,
        connect_s=_gap(namelookup_s or 0.0, connect_s),
        tls_s=_gap(connect_s, appconnect_s) if has_tls else None,
        wait_s=_gap(connected_s or 0.0, starttransfer_s),
        transfer_s=_gap(starttransfer_s, total_s),
        total_s=total_s,
    )


def _gap(start_s: float | None, end_s: float | None) -> float | None:
    return None if start_s is None or end_s is None else max(0.0, end_s - start_s)


def handshake_share_ratio(split: Phases) -> float:
    """Share of a request's time that went into setting up its connection."""
    return ((split.connect_s or 0.0) + (split.tls_s or 0.0)) / split.total_s if split.total_s > 0 else 0.0


def queue_share_ratio(queue_s: float, service_s: float) -> float:
    """Share of the time in a system that was spent waiting for service."""
    whole_s = queue_s + service_s
    return queue_s / whole_s if whole_s > 0 else 0.0


def is_delayed_ack(extra_s: float) -> bool:
    """Whether an unexplained delay is of the size a delayed acknowledgement makes: 35 to 65 ms, or about 200 ms."""
    return 0.035 <= extra_s <= 0.065 or 0.195 <= extra_s <= LONGEST_DELAYED_ACK_S


def is_multiple_of(delay_s: float, timer_s: float, tolerance_ratio: float = 0.06) -> bool:
    """Whether a delay is one or more whole runs of a timer, a little late but never early."""
    runs = round(delay_s / timer_s)
    return runs >= 1 and -0.02 * timer_s <= delay_s - runs * timer_s <= tolerance_ratio * timer_s * runs + 0.05


def most_new_connections_per_s(ports_count: int, time_wait_s: float = TIME_WAIT_S) -> float:
    """New connections a second to one address and port before source ports run out."""
    return ports_count / time_wait_s


def in_flight_count(rate_per_s: float, time_s: float) -> float:
    """Little's law: how many are in a system that finishes `rate_per_s` and keeps each for `time_s`."""
    return rate_per_s * time_s


def time_in_system_s(in_flight: float, rate_per_s: float) -> float:
    """Little's law: how long each stays when `in_flight` are in a system that finishes `rate_per_s`."""
    return in_flight / rate_per_s
