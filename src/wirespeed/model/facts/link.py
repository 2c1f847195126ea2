"""Network interfaces: what they are, how they are set, and what they count."""

from typing import Literal

from wirespeed.model.record import Record


class Link(Record, frozen=True, kw_only=True):
    """One network interface as the kernel (or `ip link`, `ethtool IF`, `ethtool -i`) shows it.

    Several records may describe one interface, each with the fields its source knows.
    """

    name: str
    is_up: bool | None = None
    has_carrier: bool | None = None
    link_rate_bits_per_s: float | None = None
    advertised_max_bits_per_s: float | None = None
    duplex: Literal["full", "half"] | None = None
    autonegotiates: bool | None = None
    mtu_bytes: int | None = None
    type_name: str | None = None
    """`ether`, `infiniband`, `vxlan`, `bridge`, `bond`, `veth`, `loopback`, `tunnel` ... as the source says it."""
    master: str | None = None
    mac_address: str | None = None
    driver: str | None = None
    driver_version: str | None = None
    firmware: str | None = None
    pci_address: str | None = None
    numa_node_index: int | None = None
    tx_queue_packets: int | None = None
    carrier_changes_count: int | None = None


class LinkRings(Record, frozen=True, kw_only=True):
    """Descriptor rings of an interface (`ethtool -g`)."""

    link: str
    rx_entries: int | None = None
    rx_max_entries: int | None = None
    tx_entries: int | None = None
    tx_max_entries: int | None = None


class LinkChannels(Record, frozen=True, kw_only=True):
    """Queues of an interface (`ethtool -l`)."""

    link: str
    rx_count: int | None = None
    rx_max_count: int | None = None
    tx_count: int | None = None
    tx_max_count: int | None = None
    combined_count: int | None = None
    combined_max_count: int | None = None


class LinkCoalescing(Record, frozen=True, kw_only=True):
    """Interrupt moderation of an interface (`ethtool -c`)."""

    link: str
    is_adaptive_rx: bool | None = None
    is_adaptive_tx: bool | None = None
    rx_delay_s: float | None = None
    tx_delay_s: float | None = None
    rx_frames_count: int | None = None
    tx_frames_count: int | None = None


class LinkOffload(Record, frozen=True, kw_only=True):
    """One offload of an interface (`ethtool -k`), by the kernel's feature name."""

    link: str
    feature: str
    is_on: bool
    is_fixed: bool = False


class LinkPause(Record, frozen=True, kw_only=True):
    """802.3x flow control of an interface (`ethtool -a`)."""

    link: str
    autonegotiates: bool | None = None
    rx_is_on: bool | None = None
    tx_is_on: bool | None = None


class PriorityFlowControl(Record, frozen=True, kw_only=True):
    """PFC of an interface, per priority 0 to 7 (`mlnx_qos`, `dcb pfc show`), and what it trusts."""

    link: str
    enabled_priorities: tuple[int, ...] | None = None
    trust: str | None = None
    dscp_priorities: dict[int, int] | None = None
    """Priority of each DSCP where listed (`mlnx_qos`, `dcb app show`)."""


class LinkModule(Record, frozen=True, kw_only=True):
    """Transceiver or cable of an interface (`ethtool -m`)."""

    link: str
    identifier: str | None = None
    vendor: str | None = None
    part_number_text: str | None = None
    temperature_celsius: float | None = None
    temperature_warning_celsius: float | None = None
    has_alarm: bool | None = None


class Counter(Record, frozen=True, kw_only=True):
    """One cumulative counter, under the name its device gives it and, where known, under ours.

    `scope` is the device or table it belongs to: an interface (`eth0`), an RDMA port (`mlx5_0/1`), `TcpExt`, `softnet/cpu0`,
    `conntrack/cpu1`. `canonical` is the normalised name (see `model/counters.py`), None where no normal name fits. A value
    counts from boot unless `is_delta`; what did not appear is unknown, never zero.
    """

    scope: str
    name: str
    value_count: int
    canonical: str | None = None
    is_delta: bool = False
    over_s: float | None = None
    """Time a difference was taken over, where known."""


class Bond(Record, frozen=True, kw_only=True):
    """One bond and its members (`/proc/net/bonding/*`)."""

    name: str
    mode: str | None = None
    hash_policy: str | None = None
    members: tuple[str, ...] = ()
    members_down: tuple[str, ...] = ()


class QueueSteering(Record, frozen=True, kw_only=True):
    """CPUs that take over packets of a receive queue (RPS) or send from a transmit queue (XPS)."""

    link: str
    queue: str
    what: Literal["rps", "xps"]
    cpus: tuple[int, ...] | None = None
