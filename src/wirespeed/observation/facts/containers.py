"""Whether this is a container, what it may do, and how much CPU it may use."""

import re
from collections.abc import Iterator

from wirespeed.machines.machine import Machine, MachineProblem
from wirespeed.model.facts.host import ContainerState, CpuMask, CpuQuota
from wirespeed.model.record import Record
from wirespeed.model.source import Problem, Quote
from wirespeed.model.text import Text
from wirespeed.observation.asking import Gathered, answer_of, cpus_of, text_of
from wirespeed.observation.collector import Collector

SUBJECT = "this process"
_CAPABILITIES = {
    0: "CHOWN", 1: "DAC_OVERRIDE", 6: "SETGID", 7: "SETUID", 10: "NET_BIND_SERVICE", 12: "NET_ADMIN", 13: "NET_RAW", 14: "IPC_LOCK",
    19: "SYS_PTRACE", 21: "SYS_ADMIN", 23: "SYS_NICE", 24: "SYS_RESOURCE", 38: "PERFMON", 39: "BPF",
}  # fmt: skip
"""Capabilities that bear on networks, locked memory and observing (linux/capability.h)."""
_CONTAINER_PATH = re.compile(r"/(?P<runtime>docker|kubepods|libpod|lxc|containerd|crio)")
_RUNTIMES = {"kubepods": "kubernetes", "libpod": "podman", "crio": "kubernetes"}


def _observe(machine: Machine) -> Iterator[Record | Problem]:
    runtime = _runtime(machine)
    if runtime is not None:
        yield _container(machine, *runtime)
    allowed = Gathered(machine, "proc", "/proc/self/status")
    for index, line in enumerate(_lines(machine, "/proc/self/status")):
        if line.startswith("Cpus_allowed_list:"):
            allowed.put("cpus", cpus_of(line.partition(":")[2]))
            allowed.quotes.append(Quote(source="/proc/self/status", line_index=index, text=line))
    yield allowed.into(CpuMask, subject=SUBJECT)
    quota = _quota(machine)
    if quota is not None:
        yield quota


def _runtime(machine: Machine) -> tuple[str, str] | None:
    """The container runtime and the file that tells."""
    for path, runtime in (("/.dockerenv", "docker"), ("/run/.containerenv", "podman")):
        try:
            machine.read(path)
        except MachineProblem:
            continue
        return runtime, path
    try:
        if "KUBERNETES_SERVICE_HOST" in machine.environment():
            return "kubernetes", "environment"
    except MachineProblem:
        pass
    found = _CONTAINER_PATH.search("\n".join(_lines(machine, "/proc/self/cgroup")))
    return (_RUNTIMES.get(found["runtime"], found["runtime"]), "/proc/self/cgroup") if found else None


def _container(machine: Machine, runtime: str, path: str) -> ContainerState:
    found = Gathered(machine, "proc", path)
    found.put("runtime", runtime)
    for index, line in enumerate(_lines(machine, "/proc/self/status")):
        if line.startswith("CapEff:"):
            mask = int(line.split()[1], 16)
            found.put("capabilities", tuple(name for bit, name in _CAPABILITIES.items() if mask >> bit & 1))
            found.put("is_privileged", bool(mask >> 21 & 1))
            found.quotes.append(Quote(source="/proc/self/status", line_index=index, text=line))
    try:
        found.put("shm_bytes", answer_of(machine, "filesystem", "/dev/shm", dict[str, int]).get("size_bytes"))
    except MachineProblem as trouble:
        found.lacks("shm_bytes", trouble.reason)
    return found.into(ContainerState, subject=SUBJECT)


def _quota(machine: Machine) -> CpuQuota | None:
    """The nearest CPU limit: cgroup v2 (`cpu.max`), else v1. Inside a container the own group is the mounted root."""
    for folder in _folders(machine, ""):
        found = Gathered(machine, "cgroup", folder)
        found.take("quota_cpus_ratio", f"{folder}/cpu.max", _of_max)
        if "quota_cpus_ratio" in found.values:
            return _with_throttling(machine, found, folder)
    for folder in _folders(machine, "cpu"):
        quota, period = Gathered(machine, "cgroup", folder), Gathered(machine, "cgroup", folder)
        quota.take("microseconds", f"{folder}/cpu.cfs_quota_us", int)
        period.take("microseconds", f"{folder}/cpu.cfs_period_us", int)
        allowed, every = quota.values.get("microseconds"), period.values.get("microseconds")
        if allowed and every and allowed > 0:
            found = Gathered(machine, "cgroup", folder)
            found.put("quota_cpus_ratio", allowed / every)
            found.quotes += quota.quotes + period.quotes
            return _with_throttling(machine, found, folder)
    return None


def _folders(machine: Machine, controller: str) -> Iterator[str]:
    for line in _lines(machine, "/proc/self/cgroup"):
        _, controllers, path = (*line.split(":", 2), "", "")[:3]
        if path and controller in controllers.split(","):
            root = "/sys/fs/cgroup" + (f"/{controller}" if controller else "")
            while path not in ("", "/"):
                yield root + path
                path = path.rpartition("/")[0]
            yield root


def _of_max(text: str) -> float | None:
    """`50000 100000`, or `max 100000` where there is no limit."""
    quota, _, period = text.partition(" ")
    return int(quota) / int(period) if quota != "max" and int(period) else None


def _with_throttling(machine: Machine, found: Gathered, folder: str) -> CpuQuota:
    counts: dict[str, int] = {}
    for index, line in enumerate(_lines(machine, f"{folder}/cpu.stat")):
        name, _, value = line.partition(" ")
        if name in ("nr_periods", "nr_throttled") and value.isdigit():
            counts[name] = int(value)
            found.quotes.append(Quote(source=f"{folder}/cpu.stat", line_index=index, text=line))
    found.put("periods_count", counts.get("nr_periods"))
    found.put("throttled_count", counts.get("nr_throttled"))
    if counts.get("nr_periods"):
        found.put("throttled_ratio", counts.get("nr_throttled", 0) / counts["nr_periods"])
    return found.into(CpuQuota, subject=SUBJECT)


def _lines(machine: Machine, path: str) -> list[str]:
    try:
        return text_of(machine, path).split("\n")
    except MachineProblem:
        return []


COLLECTOR = Collector(
    title=Text(en="container and CPU limits", zh="容器与 CPU 限制"),
    gives=(ContainerState, CpuMask, CpuQuota),
    observe=_observe,
    cost_s=0.002,
)
