"""Time each core spent at what, context switches, and pressure stalls (/proc/stat and /proc/pressure)."""

from functools import lru_cache

from wirespeed.machines.machine import Machine, absent
from wirespeed.model.samples import Key, Layout
from wirespeed.model.text import Text
from wirespeed.observation.opened import opened_files
from wirespeed.observation.sampler import Family, Probe, Raw, Row, Wanted

STAT = "/proc/stat"
PRESSURE = ("/proc/pressure/cpu", "/proc/pressure/io", "/proc/pressure/memory")
TICKS_PER_S = 100.0
"""USER_HZ, the same on every architecture that matters (proc(5))."""
_TIMES = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")
_NUMBERS = {b"ctxt": "counter", b"processes": "counter", b"procs_running": "gauge", b"procs_blocked": "gauge"}


@lru_cache(maxsize=16)
def _layout(cpus: tuple[bytes, ...], numbers: tuple[bytes, ...], stalls: tuple[str, ...]) -> Layout:
    keys = [Key("cpu", "all" if cpu == b"cpu" else cpu.decode(), name, "s") for cpu in cpus for name in _TIMES]
    keys += [Key("cpu", "all", name.decode(), "1", "gauge" if _NUMBERS[name] == "gauge" else "counter") for name in numbers]
    return (*keys, *(Key("cpu", "pressure", name, "s") for name in stalls))


def _parse(raw: Raw) -> Row:
    cpus: list[bytes] = []
    numbers: list[bytes] = []
    times: list[float] = []
    counts: list[float] = []
    stalls: dict[str, float] = {}
    for text in raw:
        if text.startswith((b"some ", b"full ")):
            continue
        for line in text.splitlines():
            name, _, rest = line.partition(b" ")
            if name.startswith(b"cpu"):
                cpus.append(name)
                times += [float(ticks) / TICKS_PER_S for ticks in rest.split()[: len(_TIMES)]]
            elif name in _NUMBERS:
                numbers.append(name)
                counts.append(float(rest))
    for resource, text in zip(PRESSURE, raw[1:], strict=False):
        for line in text.splitlines():
            stalls[f"{resource.rpartition('/')[2]}_{line[:4].decode()}"] = float(line.rpartition(b"total=")[2]) / 1e6
    return _layout(tuple(cpus), tuple(numbers), tuple(stalls)), [*times, *counts, *stalls.values()]


def _open(machine: Machine, wanted: Wanted) -> Probe:
    files, problems = opened_files(machine, (STAT,))
    if not files:
        raise absent(STAT)
    pressures, more = opened_files(machine, PRESSURE)
    if len(pressures) < len(PRESSURE):  # all or nothing: the parser knows them by their place
        for file in pressures:
            file.close()
        return Probe(sources=tuple(files), parse=_parse, problems=[*problems, *more])
    return Probe(sources=(*files, *pressures), parse=_parse, problems=problems)


FAMILY = Family(title=Text(en="cores and pressure", zh="CPU 核与压力"), open=_open, period_s=0.2)
