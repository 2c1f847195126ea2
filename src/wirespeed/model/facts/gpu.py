"""GPUs, NVLink and the distances between GPUs and NICs."""

from wirespeed.model.record import Record


class Gpu(Record, frozen=True, kw_only=True):
    """One GPU as NVML, `nvidia-smi` or a metrics table shows it."""

    index: int
    title: str | None = None
    driver: str | None = None
    cuda: str | None = None
    pci_address: str | None = None
    numa_node_index: int | None = None
    utilisation_ratio: float | None = None
    memory_used_bytes: float | None = None
    memory_total_bytes: float | None = None
    power_w: float | None = None
    power_limit_w: float | None = None
    power_limit_max_w: float | None = None
    temperature_celsius: float | None = None
    sm_clock_hz: float | None = None
    sm_clock_max_hz: float | None = None
    throttle_reasons: tuple[str, ...] | None = None
    """Active reasons in snake_case, such as `sw_power_cap`, `hw_thermal_slowdown`; empty when none is active."""
    pcie_generation_number: int | None = None
    pcie_generation_max_number: int | None = None
    pcie_width_lanes: int | None = None
    pcie_width_max_lanes: int | None = None
    ecc_uncorrected_count: int | None = None
    fabric_state: str | None = None
    fabric_status: str | None = None


class NvLink(Record, frozen=True, kw_only=True):
    """One NVLink of one GPU; `bandwidth_bytes_per_s` is None when inactive."""

    gpu_index: int
    link_index: int
    is_active: bool
    bandwidth_bytes_per_s: float | None = None
    replay_count: int | None = None
    recovery_count: int | None = None
    crc_errors_count: int | None = None


class DevicePath(Record, frozen=True, kw_only=True):
    """Path class between two devices of one machine, from `nvidia-smi topo -m`: NV#, PIX, PXB, PHB, NODE, SYS."""

    near: str
    far: str
    path_class: str


class PeerAccess(Record, frozen=True, kw_only=True):
    """Direct access from one GPU to another as a peer test measured or reported it."""

    near_index: int
    far_index: int
    is_supported: bool | None = None
    latency_s: float | None = None
    bandwidth_bytes_per_s: float | None = None
