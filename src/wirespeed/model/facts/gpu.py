"""GPUs, what runs on them and how well they are, NVLink and the distances between GPUs and NICs."""

from typing import Literal

from wirespeed.model.record import Record

CLOCKS_EVENT_REASONS = {
    0x1: "gpu_idle", 0x2: "applications_clocks_setting", 0x4: "sw_power_cap", 0x8: "hw_slowdown", 0x10: "sync_boost",
    0x20: "sw_thermal_slowdown", 0x40: "hw_thermal_slowdown", 0x80: "hw_power_brake_slowdown", 0x100: "display_clock_setting",
}  # fmt: skip
"""Bits of nvmlDeviceGetCurrentClocksEventReasons (nvml.h), under the names `nvidia-smi --query-gpu` gives them."""


def clocks_event_reasons(bits: int) -> tuple[str, ...]:
    """The reasons whose bits are set."""
    return tuple(name for bit, name in CLOCKS_EVENT_REASONS.items() if bits & bit)


class Gpu(Record, frozen=True, kw_only=True):
    """One GPU as NVML, `nvidia-smi` or a metrics table shows it."""

    index: int
    title: str | None = None
    driver: str | None = None
    cuda: str | None = None
    pci_address: str | None = None
    numa_node_index: int | None = None
    utilisation_ratio: float | None = None
    sm_active_ratio: float | None = None
    """Share of time and multiprocessors on which something runs; a kernel that waits on a few of them counts fully as utilisation."""
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
    pcie_replays_count: int | None = None
    """Since the driver was loaded or the GPU reset."""
    bar1_total_bytes: float | None = None
    """Memory that other devices of the bus can reach at once."""
    ecc_uncorrected_count: int | None = None
    remapped_rows_uncorrected_count: int | None = None
    """Rows of memory replaced for uncorrectable errors over the GPU's life."""
    is_remap_pending: bool | None = None
    is_remap_failed: bool | None = None
    recovery_action: str | None = None
    """What the driver asks for, in lower case: `none`, `reset`, `reboot`, `drain p2p`, `drain and reset`."""
    last_xid_number: int | None = None
    """The last Xid that a monitor saw on this GPU; 0 when it saw none."""
    thermal_slowed_s: float | None = None
    power_capped_s: float | None = None
    power_braked_s: float | None = None
    """How long clocks were held down by heat (at least), by the power cap, by the board's power brake, since the driver was loaded."""
    power_limited_ratio: float | None = None
    """Share of the time of one sample in which power held the clocks down."""
    is_thermally_limited: bool | None = None
    """Whether heat held them down in one sample."""
    fabric_state: str | None = None
    fabric_status: str | None = None


class GpuProcess(Record, frozen=True, kw_only=True):
    """A process on a GPU (`nvidia-smi`, its `-x` and `pmon`)."""

    gpu_index: int
    process_number: int
    command: str | None = None
    is_compute: bool = True
    """Whether it computes, rather than only draws."""
    utilisation_ratio: float | None = None
    memory_used_bytes: float | None = None


class GpuCheck(Record, frozen=True, kw_only=True):
    """What one check of a health monitor or a diagnostic came to (`dcgmi health`, `dcgmi diag`)."""

    check: str
    """As the tool names it, in lower case: `pcie`, `memory system`, `nvlink system`, `targeted power`."""
    outcome: Literal["pass", "warn", "fail"]
    gpu_index: int | None = None
    """None where the outcome holds for all GPUs checked."""
    detail: str | None = None


class NvLink(Record, frozen=True, kw_only=True):
    """One NVLink of one GPU; `bandwidth_bytes_per_s` is None when inactive."""

    gpu_index: int
    link_index: int
    is_active: bool | None
    """None where only counts are told."""
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
