"""GPUs and their NVLinks, through NVML. The cost stated is an estimate for eight GPUs; it was not measured on any."""

from collections.abc import Iterator
from typing import Any

from wirespeed.machines.machine import Machine
from wirespeed.model.facts.gpu import Gpu, NvLink, clocks_event_reasons
from wirespeed.model.record import Record
from wirespeed.model.source import Problem, Reason, Source
from wirespeed.model.text import Text
from wirespeed.observation.asking import answer_of, value_of
from wirespeed.observation.collector import Collector

PATH = "NVML"
_FABRIC_STATES = {0: "not supported", 1: "not started", 2: "in progress", 3: "completed"}
_SCALED = (
    ("utilisation_ratio", "utilisation_percent", 0.01), ("power_w", "power_milliwatts", 1e-3), ("power_limit_w", "power_limit_milliwatts", 1e-3),
    ("power_limit_max_w", "power_limit_max_milliwatts", 1e-3), ("sm_clock_hz", "sm_clock_mhz", 1e6), ("sm_clock_max_hz", "sm_clock_max_mhz", 1e6),
)  # fmt: skip
_AS_IS = (
    ("title", "name"), ("pci_address", "pci_address"), ("memory_used_bytes", "memory_used_bytes"), ("memory_total_bytes", "memory_total_bytes"),
    ("temperature_celsius", "temperature_celsius"), ("pcie_generation_number", "pcie_generation"),
    ("pcie_generation_max_number", "pcie_generation_max"), ("pcie_width_lanes", "pcie_width"), ("pcie_width_max_lanes", "pcie_width_max"),
    ("ecc_uncorrected_count", "ecc_uncorrected"),
)  # fmt: skip


def _observe(machine: Machine) -> Iterator[Record | Problem]:
    answer = answer_of(machine, "gpus", "", dict[str, Any])
    source = Source(tool="nvml", path=PATH, host=machine.host)
    for seen in answer.get("gpus", ()):
        yield _gpu(machine, source, seen, answer)
        for link in seen.get("nvlinks", ()):
            speed = link.get("mbytes_per_s")
            yield NvLink(
                source=source,
                gpu_index=seen["index"],
                link_index=link["link"],
                is_active=link["is_active"],
                bandwidth_bytes_per_s=speed * 1e6 if speed and link["is_active"] else None,
                replay_count=link.get("replays"),
                recovery_count=link.get("recoveries"),
                crc_errors_count=link.get("crc_errors"),
            )


def _gpu(machine: Machine, source: Source, seen: dict[str, Any], answer: dict[str, Any]) -> Gpu:
    fields: dict[str, Any] = {ours: seen.get(theirs) for ours, theirs in _AS_IS}
    fields |= {ours: seen[theirs] * factor if seen.get(theirs) is not None else None for ours, theirs, factor in _SCALED}
    fields |= {
        "driver": answer.get("driver"),
        "cuda": answer.get("cuda"),
        "numa_node_index": _node(machine, seen.get("pci_address")),
    }
    fields["fabric_state"] = _FABRIC_STATES.get(seen.get("fabric_state") or 0) if seen.get("fabric_state") is not None else None
    bits = seen.get("throttle_bits")
    fields["throttle_reasons"] = None if bits is None else clocks_event_reasons(bits)
    missing: dict[str, Reason] = {name: "unsupported" for name, value in fields.items() if value is None}
    return Gpu(source=source, index=seen["index"], missing=missing, **fields)


def _node(machine: Machine, pci_address: str | None) -> int | None:
    """NVML prints the PCI domain with eight digits, sysfs with four."""
    if pci_address is None:
        return None
    domain, _, rest = pci_address.partition(":")
    found = value_of(machine, f"/sys/bus/pci/devices/{domain[-4:]}:{rest}/numa_node")
    return int(found) if found and found.isdigit() else None


COLLECTOR = Collector(title=Text(en="GPUs and NVLink", zh="GPU 与 NVLink"), gives=(Gpu, NvLink), observe=_observe, cost_s=0.3)
