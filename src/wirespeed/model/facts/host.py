"""CPU, memory, kernel settings, limits and containers of a machine."""

from wirespeed.model.record import Record


class HostIdentity(Record, frozen=True, kw_only=True):
    """Who the machine is: name, kernel, distribution, whether it is virtual."""

    hostname: str | None = None
    kernel: str | None = None
    distribution: str | None = None
    virtualisation: str | None = None
    """`kvm`, `vmware`, `docker`, `none` ...; None when it could not be told."""
    cpu_count: int | None = None
    memory_bytes: int | None = None
    boot_command_line: str | None = None


class Sysctl(Record, frozen=True, kw_only=True):
    """One kernel setting, dotted name, text as the kernel prints it."""

    name: str
    setting: str


class SoftnetCpu(Record, frozen=True, kw_only=True):
    """One CPU's line of /proc/net/softnet_stat."""

    cpu: int
    processed_count: int
    dropped_count: int
    squeezed_count: int
    received_rps_count: int | None = None
    backlog_packets: int | None = None


class SoftirqCpu(Record, frozen=True, kw_only=True):
    """Network softirqs handled by one CPU (/proc/softirqs), and its share of time in softirq where known."""

    cpu: int
    net_rx_count: int | None = None
    net_tx_count: int | None = None
    busy_ratio: float | None = None


class Interrupt(Record, frozen=True, kw_only=True):
    """One interrupt line with its count on each CPU (/proc/interrupts) and where it may run."""

    irq: str
    name: str
    per_cpu_counts: tuple[int, ...] = ()
    effective_cpus: tuple[int, ...] | None = None


class NumaNode(Record, frozen=True, kw_only=True):
    """One NUMA node and its CPUs."""

    index: int
    cpus: tuple[int, ...] = ()
    memory_bytes: int | None = None
    distances: tuple[int, ...] = ()


class CpuMask(Record, frozen=True, kw_only=True):
    """CPUs that a process, job or test was allowed to use."""

    subject: str
    cpus: tuple[int, ...] = ()


class PciDevice(Record, frozen=True, kw_only=True):
    """One PCIe device with its current and capable link, and Access Control Services where readable.

    Speeds are in transfers per second (GT/s x 1e9), widths in lanes.
    """

    address: str | None = None
    title: str | None = None
    device_class: str | None = None
    """`bridge`, `gpu`, `nic`, `nvme` or what the source says."""
    speed_transfers_per_s: float | None = None
    max_speed_transfers_per_s: float | None = None
    width_lanes: int | None = None
    max_width_lanes: int | None = None
    is_downgraded: bool | None = None
    """True where lspci itself prints `(downgraded)`."""
    numa_node_index: int | None = None
    driver: str | None = None
    acs_flags: tuple[str, ...] | None = None
    """Enabled ACS controls, such as `SrcValid`; empty when all are off, None when not readable."""
    max_payload_bytes: int | None = None
    max_read_request_bytes: int | None = None
    parent: str | None = None


class IommuState(Record, frozen=True, kw_only=True):
    """Whether the IOMMU is on and in which mode."""

    is_on: bool | None = None
    mode: str | None = None
    """`passthrough`, `translated` or what the kernel says."""


class KernelModule(Record, frozen=True, kw_only=True):
    """One kernel module asked for, and whether it is loaded."""

    name: str
    is_loaded: bool


class ProcessLimit(Record, frozen=True, kw_only=True):
    """One resource limit (`memlock`, `nofile`); `None` bytes with `is_unlimited` means no limit."""

    name: str
    subject: str | None = None
    """The process, service or shell it holds for."""
    is_unlimited: bool | None = None
    limit_bytes: int | None = None
    limit_count: int | None = None


class Mount(Record, frozen=True, kw_only=True):
    """Size and use of a file system that matters here (`/dev/shm`, network storage)."""

    path: str
    filesystem: str | None = None
    size_bytes: int | None = None
    used_bytes: int | None = None
    options: tuple[str, ...] = ()


class CpuQuota(Record, frozen=True, kw_only=True):
    """CPU limit of a cgroup or container and how often it was held back by it."""

    subject: str
    quota_cpus_ratio: float | None = None
    periods_count: int | None = None
    throttled_count: int | None = None
    throttled_ratio: float | None = None


class ContainerState(Record, frozen=True, kw_only=True):
    """How a container is or was started: network mode, devices, capabilities, shared memory."""

    subject: str
    runtime: str | None = None
    """`docker`, `podman`, `kubernetes`, `enroot` ..."""
    network_mode: str | None = None
    """`host`, `bridge` (also when the command line names none), or what is named."""
    devices: tuple[str, ...] = ()
    capabilities: tuple[str, ...] = ()
    published_ports: tuple[str, ...] = ()
    shm_bytes: int | None = None
    ipc_mode: str | None = None
    memlock_is_unlimited: bool | None = None
    is_privileged: bool | None = None
    has_memory_shm_volume: bool | None = None


class ResolverSetup(Record, frozen=True, kw_only=True):
    """DNS set-up of a host or pod (resolv.conf)."""

    nameservers: tuple[str, ...] = ()
    search: tuple[str, ...] = ()
    ndots_count: int | None = None
    options: tuple[str, ...] = ()


class HostsEntry(Record, frozen=True, kw_only=True):
    """One line of /etc/hosts, or what a name resolved to."""

    name: str
    address: str


class EnvVar(Record, frozen=True, kw_only=True):
    """One environment variable of a job, shell or container. Secrets are redacted before storing."""

    name: str
    setting: str | None
    """None: the source says that it is not set."""
    rank: int | None = None


class SoftwareVersion(Record, frozen=True, kw_only=True):
    """A version in use: `nccl`, `cuda`, `driver`, `torch`, `ofed`, `nginx`, `firmware`, a plugin."""

    name: str
    version: str
    rank: int | None = None


class ProcessUse(Record, frozen=True, kw_only=True):
    """CPU use of one process, thread or core as top or a metrics table shows it (1.0 = one whole core)."""

    subject: str
    cpu_ratio: float | None = None
    is_core: bool = False


class DiskUse(Record, frozen=True, kw_only=True):
    """The busiest moment of one block device as iostat shows it (`iostat -x`)."""

    device: str
    busy_ratio: float
    """Share of time with a request under way; a device that serves many at once can be at 1 and still have room."""
    queue_count: float | None = None
    wait_s: float | None = None
    """Mean time of a request, queue included: the longer of reads and writes where they are apart."""
    rate_bytes_per_s: float | None = None
