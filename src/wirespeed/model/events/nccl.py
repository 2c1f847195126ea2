"""Lines of NCCL, RCCL and their plugins (`NCCL_DEBUG`)."""

from typing import Literal

from wirespeed.model.record import Record


class NcclBootstrap(Record, frozen=True, kw_only=True):
    """Interface and address that bootstrap, or the socket transport, took on one process."""

    interface: str
    address: str
    port: int | None = None
    role: Literal["bootstrap", "socket"] = "bootstrap"
    order_index: int = 0
    """Position in the printed list; the first is the one used."""
    process: str | None = None


class NcclNetwork(Record, frozen=True, kw_only=True):
    """Which network NCCL chose: `IB`, `Socket`, `IBext_v8`, `AWS Libfabric` ... , or that none was found."""

    name: str
    provider: str | None = None
    """Provider that the libfabric plugin selected, such as `efa` or `tcp;ofi_rxm`."""
    process: str | None = None


class NcclHca(Record, frozen=True, kw_only=True):
    """One RDMA device that NET/IB lists (`[0]mlx5_0:1/RoCE`), or that none was found (`device` None)."""

    device: str | None
    port: int | None = None
    link_layer: str | None = None
    order_index: int = 0
    oob: str | None = None
    process: str | None = None


class NcclPlugin(Record, frozen=True, kw_only=True):
    """Result of loading a network plugin: the name, or None when none was found."""

    name: str | None
    process: str | None = None


class NcclChannel(Record, frozen=True, kw_only=True):
    """One connection of a channel: from rank to rank, over which transport, with GPUDirect RDMA or not."""

    channel_index: int
    from_rank: int
    to_rank: int
    transport: str
    """`P2P/IPC`, `P2P/CUMEM`, `SHM`, `NET/IB/0`, `NET/Socket/0` ..."""
    uses_gdr: bool = False
    process: str | None = None


class NcclGdr(Record, frozen=True, kw_only=True):
    """Whether GPUDirect RDMA is on for an HCA or a GPU-HCA pair, with the reason printed."""

    is_on: bool
    hca: str | None = None
    reason: str | None = None
    process: str | None = None


class NcclInit(Record, frozen=True, kw_only=True):
    """A communicator start or completion: rank, world size, device."""

    rank: int
    rank_count: int
    is_complete: bool
    process: str | None = None


class NcclTopoNode(Record, frozen=True, kw_only=True):
    """One line of the topology dump: a device and the bandwidth of the link above it (GB/s x 1e9)."""

    node: str
    link: str | None = None
    bandwidth_bytes_per_s: float | None = None
    depth_index: int = 0


class NcclWarning(Record, frozen=True, kw_only=True):
    """A `NCCL WARN` line, or the `Last error:` a framework prints, with its kind where known.

    `topic` is one of the kinds in `readers/tools/nccl_log.py`, such as `completion-error`, `connect-failed`, `shm-failed`.
    """

    topic: str
    message: str
    status_code: int | None = None
    """Work-completion status (12 = retry exceeded, 4 = local protection), errno, or vendor code's sibling."""
    vendor_error_number: int | None = None
    peer: str | None = None
    device: str | None = None
    size_bytes: int | None = None
    process: str | None = None


class NcclTuning(Record, frozen=True, kw_only=True):
    """Algorithm and protocol NCCL chose for one operation, or a summary of channels."""

    operation: str | None = None
    size_bytes: int | None = None
    algorithm: str | None = None
    protocol: str | None = None
    channels_count: int | None = None
