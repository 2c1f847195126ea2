"""RDMA devices: ports and GID tables. Their counters are `Counter` records with scope `DEVICE/PORT`."""

from typing import Literal

from wirespeed.model.record import Record


class RdmaPort(Record, frozen=True, kw_only=True):
    """One port of one RDMA device (sysfs, ibstat, ibstatus, ibv_devinfo, `rdma link`)."""

    device: str
    port: int = 1
    state: str | None = None
    """Logical state in lower case: `active`, `init`, `armed`, `down`."""
    physical_state: str | None = None
    """Lower case: `linkup`, `polling`, `disabled` ..."""
    link_layer: Literal["infiniband", "ethernet"] | None = None
    link_rate_bits_per_s: float | None = None
    lanes: str | None = None
    """Width and generation as printed, such as `2X NDR`."""
    active_mtu_bytes: int | None = None
    max_mtu_bytes: int | None = None
    link: str | None = None
    firmware: str | None = None
    board: str | None = None
    lid_number: int | None = None
    sm_lid_number: int | None = None


class Gid(Record, frozen=True, kw_only=True):
    """One entry of a RoCE GID table (`show_gids`, sysfs)."""

    device: str
    port: int = 1
    index: int
    gid: str | None = None
    ipv4: str | None = None
    roce_version: Literal["v1", "v2"] | None = None
    link: str | None = None


class RdmaDeviceNode(Record, frozen=True, kw_only=True):
    """Whether the character devices of RDMA (`/dev/infiniband/uverbs*`) can be opened here."""

    path: str
    exists: bool
    is_accessible: bool | None = None
