"""The fabric beyond one host: links between switches and hosts, subnet managers, neighbours, and the health of signals and devices."""

from typing import Literal

from wirespeed.model.record import Record


class FabricLink(Record, frozen=True, kw_only=True):
    """One link that is up, as a fabric tool sees it from one of its ends (`iblinkinfo`, `ibnetdiscover`, `ibdiagnet`)."""

    near: str
    near_port: str
    far: str
    far_port: str | None = None
    state: str = "active"
    """Logical state in lower case: `active`, `initialize`, `armed`."""
    width_lanes: int | None = None
    lane_rate_bits_per_s: float | None = None
    could_be: str | None = None
    """What the tool says the link could be (`Could be 10.0 Gbps`) or should be; None where it has no complaint."""


class SubnetManager(Record, frozen=True, kw_only=True):
    """A subnet manager, or the answer that there is none (`sminfo`)."""

    is_answering: bool
    state: Literal["master", "standby", "discovering", "not-active"] | None = None
    lid_number: int | None = None
    guid: str | None = None
    priority_number: int | None = None


class LinkSignal(Record, frozen=True, kw_only=True):
    """Quality of one port's signal (`mlxlink -c`): bit error ratios before and after error correction, and the tool's own advice."""

    device: str
    raw_error_ratio: float | None = None
    """Bits in error before forward error correction."""
    effective_error_ratio: float | None = None
    """Bits in error that correction did not mend."""
    effective_errors_count: int | None = None
    symbol_errors_count: int | None = None
    fec: str | None = None
    status_code: int | None = None
    """0: no issue was observed."""
    recommendation: str | None = None


class LinkNeighbour(Record, frozen=True, kw_only=True):
    """What LLDP tells of the other end of an interface."""

    link: str
    switch: str | None = None
    switch_port: str | None = None
    max_frame_bytes: int | None = None
    """Largest frame the other end takes, as it advertises (IEEE 802.3 TLV)."""


class DeviceHealth(Record, frozen=True, kw_only=True):
    """One health reporter of a device (`devlink health show`)."""

    device: str
    reporter: str
    state: str
    """`healthy` or `error`."""
    errors_count: int | None = None
    recoveries_count: int | None = None
