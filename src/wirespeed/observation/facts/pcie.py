"""PCIe devices that carry traffic, and the bridges above them: current against possible link, ACS, payload sizes."""

import re
from collections.abc import Iterator

from wirespeed.machines.machine import Machine, MachineProblem
from wirespeed.model.facts.host import PciDevice
from wirespeed.model.record import Record
from wirespeed.model.source import Problem
from wirespeed.model.text import Text
from wirespeed.observation.asking import Gathered, value_of
from wirespeed.observation.collector import Collector
from wirespeed.observation.pci_config import STANDARD_BYTES, decode

ROOT = "/sys/bus/pci/devices"
_ADDRESS = re.compile(r"^[0-9a-f]{4,5}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]$")
_SPEED = re.compile(r"^(\d+(?:\.\d+)?) GT/s")
_CLASSES = (
    ("0x0604", "bridge"),
    ("0x02", "nic"),
    ("0x03", "gpu"),
    ("0x12", "accelerator"),
    ("0x0108", "nvme"),
    ("0x0680", "nvswitch"),
)
"""Device classes that matter, by prefix of the class code (PCI Code and ID Assignment Specification)."""


def _observe(machine: Machine) -> Iterator[Record | Problem]:
    for address in machine.listing(ROOT):
        code = value_of(machine, f"{ROOT}/{address}/class") or ""
        kind = next((name for prefix, name in _CLASSES if code.startswith(prefix)), None)
        if kind is not None:
            yield _device(machine, address, kind)


def _device(machine: Machine, address: str, kind: str) -> PciDevice:
    base = f"{ROOT}/{address}"
    found = Gathered(machine, "sysfs", base)
    found.take("speed_transfers_per_s", f"{base}/current_link_speed", _transfers)
    found.take("max_speed_transfers_per_s", f"{base}/max_link_speed", _transfers)
    found.take("width_lanes", f"{base}/current_link_width", _lanes)
    found.take("max_width_lanes", f"{base}/max_link_width", _lanes)
    found.take("numa_node_index", f"{base}/numa_node", lambda text: int(text) if int(text) >= 0 else None)
    for field, path in (("driver", f"{base}/driver"), ("parent", base)):
        try:
            target = machine.link(path)
        except MachineProblem as trouble:
            found.lacks(field, trouble.reason)
            continue
        found.put(field, target.rpartition("/")[2] if field == "driver" else _parent(target))
    _add_config(machine, f"{base}/config", found)
    names = [value_of(machine, f"{base}/{part}") for part in ("vendor", "device")]
    title = ":".join(name.removeprefix("0x") for name in names if name) or None
    return found.into(PciDevice, address=address, device_class=kind, title=title)


def _parent(target: str) -> str | None:
    """The bridge above, from the device's place in the tree; None below a root bus."""
    parts = [part for part in target.split("/") if _ADDRESS.match(part)]
    return parts[-2] if len(parts) > 1 else None


def _transfers(text: str) -> float | None:
    """The kernel prints `16.0 GT/s PCIe`, and `Unknown` (or 255 lanes) where the link is not trained."""
    found = _SPEED.match(text)
    return float(found[1]) * 1e9 if found else None


def _lanes(text: str) -> int | None:
    return int(text) if 0 < int(text) <= 32 else None


def _add_config(machine: Machine, path: str, found: Gathered) -> None:
    fields = ("max_payload_bytes", "max_read_request_bytes", "acs_flags")
    try:
        content = machine.read(path)
    except MachineProblem as trouble:
        for field in fields:
            found.lacks(field, trouble.reason)
        return
    config = decode(content)
    is_restricted = len(content) <= STANDARD_BYTES
    for field in fields:
        is_hidden = is_restricted or (field == "acs_flags" and not config.sees_extended)
        found.put(field, getattr(config, field), "denied" if is_restricted else "unsupported" if is_hidden else "absent")


COLLECTOR = Collector(title=Text(en="PCIe devices", zh="PCIe 设备"), gives=(PciDevice,), observe=_observe, cost_s=0.02)
