"""Addresses, routes, neighbours and queueing disciplines."""

from wirespeed.model.record import Record


class Address(Record, frozen=True, kw_only=True):
    """One address of one interface; `scope` is `global`, `link` or `host`."""

    link: str
    address: str
    prefix_length_number: int | None = None
    scope: str | None = None


class Route(Record, frozen=True, kw_only=True):
    """One route, or the answer of `ip route get` (then `is_lookup`)."""

    destination: str
    """`default` or a prefix such as `10.0.0.0/24`; an address for a look-up."""
    link: str | None = None
    gateway: str | None = None
    preferred_source: str | None = None
    metric_number: int | None = None
    table: str | None = None
    mtu_bytes: int | None = None
    congestion_control: str | None = None
    next_hops: tuple[str, ...] = ()
    is_lookup: bool = False


class Neighbour(Record, frozen=True, kw_only=True):
    """One entry of the ARP or NDP table."""

    address: str
    link: str | None = None
    mac_address: str | None = None
    state: str | None = None


class Qdisc(Record, frozen=True, kw_only=True):
    """One queueing discipline with its statistics (`tc -s qdisc`)."""

    link: str
    discipline: str
    handle: str | None = None
    parent: str | None = None
    rate_bits_per_s: float | None = None
    delay_s: float | None = None
    loss_ratio: float | None = None
    sent_bytes: int | None = None
    sent_packets: int | None = None
    dropped_packets: int | None = None
    overlimits_count: int | None = None
    requeues_count: int | None = None
    backlog_bytes: int | None = None
    backlog_packets: int | None = None
