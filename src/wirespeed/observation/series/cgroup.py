"""CPU throttling of the cgroup this process runs in, and of those above it (cpu.stat, cgroup v2 and v1)."""

from functools import partial

from wirespeed.machines.kept import Kept, kept_file
from wirespeed.machines.machine import Machine, MachineProblem, absent
from wirespeed.model.samples import Key, Layout
from wirespeed.model.text import Text
from wirespeed.observation.asking import text_of
from wirespeed.observation.sampler import Family, Probe, Raw, Row, Wanted

ROOTS = {"": "/sys/fs/cgroup", "cpu": "/sys/fs/cgroup/cpu"}
_SCALES = {
    "usage_usec": ("usage_time", 1e-6), "throttled_usec": ("throttled_time", 1e-6), "throttled_time": ("throttled_time", 1e-9),
    "nr_periods": ("periods", 1.0), "nr_throttled": ("throttled_periods", 1.0),
}  # fmt: skip
"""Microseconds in v2, nanoseconds in v1 (Documentation/scheduler/sched-bwc.rst)."""


def _paths(machine: Machine) -> list[tuple[str, str]]:
    """Scope and file of every cgroup from ours up to the root."""
    found: list[tuple[str, str]] = []
    for line in text_of(machine, "/proc/self/cgroup").splitlines():
        _, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        root = ROOTS["cpu"] if "cpu" in controllers.split(",") else ROOTS[""] if not controllers else None
        while root is not None:
            path = path.rstrip("/")
            found.append((path or "/", f"{root}{path}/cpu.stat"))
            if not path:
                break
            path = path.rpartition("/")[0]
    return found


def _known(content: bytes) -> list[tuple[str, float]]:
    found = []
    for line in content.decode(errors="replace").splitlines():
        name, _, value = line.partition(" ")
        if name in _SCALES and value.strip().isdigit():
            ours, factor = _SCALES[name]
            found.append((ours, float(value) * factor))
    return found


def _parse(layouts: tuple[Layout, ...], whole: Layout, raw: Raw) -> Row:
    values: list[float] = []
    for layout, content in zip(layouts, raw, strict=True):
        found = [value for _, value in _known(content)]
        values += found if len(found) == len(layout) else [float("nan")] * len(layout)
    return whole, values


def _open(machine: Machine, wanted: Wanted) -> Probe:
    kept: list[Kept] = []
    layouts: list[Layout] = []
    for scope, path in _paths(machine):
        try:
            file = kept_file(machine, path)
        except MachineProblem:
            continue  # the root of v2 has no throttling, and a container may not see what is above it
        kept.append(file)
        layouts.append(tuple(Key("cgroup", scope, name, "s" if name.endswith("_time") else "1") for name, _ in _known(file.read())))
    if not kept:
        raise absent("cpu.stat")
    return Probe(sources=tuple(kept), parse=partial(_parse, tuple(layouts), tuple(key for layout in layouts for key in layout)))


FAMILY = Family(title=Text(en="CPU limit of this container", zh="容器的 CPU 限额"), open=_open, period_s=0.2)
