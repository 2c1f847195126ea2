"""Who the machine is: name, kernel, distribution, virtualisation, and the versions of driver stacks."""

import re
from collections.abc import Callable, Iterator
from functools import partial

from wirespeed.machines.machine import Machine, MachineProblem
from wirespeed.model.facts.host import HostIdentity, SoftwareVersion
from wirespeed.model.record import Record
from wirespeed.model.source import Problem, Quote
from wirespeed.model.text import Text
from wirespeed.observation.asking import Gathered, cpus_of, text_of, value_of
from wirespeed.observation.collector import Collector

_VENDORS = (
    ("QEMU", "kvm"), ("KVM", "kvm"), ("VMware", "vmware"), ("Microsoft Corporation", "hyper-v"), ("Xen", "xen"), ("Amazon EC2", "kvm"),
    ("Google", "kvm"), ("innotek", "virtualbox"), ("OpenStack", "kvm"), ("Alibaba", "kvm"),
)  # fmt: skip
"""DMI vendor or product of virtual machines. Metal instances of clouds carry the same vendor, hence the CPU flag decides first."""
_VERSIONS = (
    ("driver", "/proc/driver/nvidia/version", re.compile(r"Kernel Module(?: for \S+)?\s+(\d[\d.]+)")),
    ("ofed", "/sys/module/mlx5_core/version", re.compile(r"^(\S+)")),
    ("efa", "/sys/module/efa/version", re.compile(r"^(\S+)")),
    ("gdrcopy", "/sys/module/gdrdrv/version", re.compile(r"^(\S+)")),
)


def _observe(machine: Machine) -> Iterator[Record | Problem]:
    yield _identity(machine)
    for name, path, pattern in _VERSIONS:
        found = Gathered(machine, "sysfs", path)
        found.take("version", path, partial(_first_group, pattern))
        if "version" in found.values:
            yield found.into(SoftwareVersion, name=name)


def _first_group(pattern: re.Pattern[str], text: str) -> str | None:
    found = pattern.search(text)
    return found[1] if found else None


def _identity(machine: Machine) -> HostIdentity:
    found = Gathered(machine, "proc", "/proc/sys/kernel")
    found.take("hostname", "/proc/sys/kernel/hostname", lambda text: text or None)
    found.take("kernel", "/proc/sys/kernel/osrelease", lambda text: text or None)
    found.take("boot_command_line", "/proc/cmdline", lambda text: text or None)
    found.take("cpu_count", "/sys/devices/system/cpu/online", lambda text: len(cpus_of(text) or ()) or None)
    _add_line(machine, found, "memory_bytes", "/proc/meminfo", re.compile(r"^MemTotal:\s+(\d+) kB"), lambda text: int(text) * 1024)
    _add_line(machine, found, "distribution", "/etc/os-release", re.compile(r"^PRETTY_NAME=\"?([^\"]+)"), str)
    found.put("virtualisation", _virtualisation(machine))
    return found.into(HostIdentity)


def _add_line(
    machine: Machine, found: Gathered, field: str, path: str, pattern: re.Pattern[str], convert: Callable[[str], object]
) -> None:
    try:
        text = text_of(machine, path)
    except MachineProblem as trouble:
        found.lacks(field, trouble.reason)
        return
    for index, line in enumerate(text.split("\n")):
        match = pattern.match(line)
        if match:
            found.put(field, convert(match[1]))
            found.quotes.append(Quote(source=path, line_index=index, text=line))
            return
    found.lacks(field, "absent")


def _virtualisation(machine: Machine) -> str | None:
    """The hypervisor flag of the CPU says whether; DMI says which. Without the flag's file nothing is claimed."""
    try:
        flags = re.search(r"(?m)^flags\s*:(.*)$", text_of(machine, "/proc/cpuinfo"))
    except MachineProblem:
        return None
    if flags is None:
        return None
    if "hypervisor" not in flags[1].split():
        return "none"
    named = " ".join(value_of(machine, f"/sys/class/dmi/id/{part}") or "" for part in ("sys_vendor", "product_name"))
    return next((kind for vendor, kind in _VENDORS if vendor in named), "unknown hypervisor")


COLLECTOR = Collector(
    title=Text(en="identity and versions", zh="主机标识与版本"),
    gives=(HostIdentity, SoftwareVersion),
    observe=_observe,
    cost_s=0.003,
)
