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
    """A `NCCL WARN` line, the `Last error:` a framework prints, or how a test program of verbs fails, with its kind where known.

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
    """Algorithm and protocol NCCL chose for one operation, a plan (graph) found at start, or a summary of channels."""

    operation: str | None = None
    size_bytes: int | None = None
    algorithm: str | None = None
    protocol: str | None = None
    channels_count: int | None = None
    path_within: str | None = None
    """Worst path class that the plan takes between GPUs of one machine: `NVL`, `PIX`, `PHB`, `SYS` ..."""
    path_between: str | None = None
    """The same between a GPU and its NIC; a plan for one machine repeats the class it began with."""
    bandwidth_within_bytes_per_s: float | None = None
    """That each channel of the plan counts on."""
    bandwidth_between_bytes_per_s: float | None = None


class NcclRankState(Record, frozen=True, kw_only=True):
    """What NCCL's RAS tells of one rank, or of several that are alike, at the moment it was asked.

    A healthy job that communicates shows different counts in one report: only what stays in the next one means something.
    """

    communicator: str
    """Its hash, or the group of communicators that a summary row stands for; empty for what concerns a whole process."""
    rank: int | None = None
    """None where ranks are counted and not named."""
    ranks_count: int = 1
    state: str
    """`running`, `init`, `finalize`, `abort`, `unknown`, `nocomm`, `missing` (no answer), `dead` (no answer for a minute), `error`."""
    pid: int | None = None
    gpu_index: int | None = None
    launched_counts: dict[str, int] = {}
    """Operations launched so far by their name; the name is empty where a version before 2.26 does not tell them apart."""
    error: str | None = None
    report_index: int = 0
    """Which report of the text it is from, in order."""
    taken_at: str | None = None
    """Time that the report gives, as printed."""
