"""Memory in use (/proc/meminfo) and what the kernel's memory management counts: page cache, reclaim, faults (/proc/vmstat)."""

from functools import lru_cache

from wirespeed.machines.machine import Machine, absent
from wirespeed.model.samples import Key, Layout
from wirespeed.model.text import Text
from wirespeed.observation.opened import opened_files
from wirespeed.observation.sampler import Family, Probe, Raw, Row, Wanted

PATHS = ("/proc/meminfo", "/proc/vmstat")
_LEVELS = frozenset(
    {
        b"MemTotal",
        b"MemFree",
        b"MemAvailable",
        b"Buffers",
        b"Cached",
        b"Dirty",
        b"Writeback",
        b"SwapFree",
        b"Shmem",
        b"HugePages_Free",
    }
)
_COUNTERS = frozenset(
    {
        b"pgpgin", b"pgpgout", b"pswpin", b"pswpout", b"pgfault", b"pgmajfault", b"pgscan_direct", b"pgscan_kswapd", b"pgsteal_direct",
        b"pgsteal_kswapd", b"allocstall_normal", b"allocstall_movable", b"compact_stall", b"workingset_refault_file",
        b"workingset_refault_anon", b"oom_kill", b"numa_miss", b"numa_foreign", b"nr_dirtied", b"nr_written", b"thp_fault_alloc",
    }
)  # fmt: skip
"""Those that tell reading, writing, lack of memory and memory on the wrong node; vmstat has some 180 more."""


@lru_cache(maxsize=16)
def _layout(levels: tuple[bytes, ...], counters: tuple[bytes, ...]) -> Layout:
    gauges = [Key("memory", "meminfo", name.decode(), "1" if name.startswith(b"Huge") else "bytes", "gauge") for name in levels]
    return (*gauges, *(Key("memory", "vmstat", name.decode(), "1") for name in counters))


def _parse(raw: Raw) -> Row:
    levels: dict[bytes, float] = {}
    counters: dict[bytes, float] = {}
    for line in b"".join(raw).splitlines():
        name, _, rest = line.partition(b" ")
        if name in _COUNTERS:
            counters[name] = float(rest)
        elif name[:-1] in _LEVELS:
            number, _, unit = rest.strip().partition(b" ")
            levels[name[:-1]] = float(number) * (1024 if unit == b"kB" else 1)
    return _layout(tuple(levels), tuple(counters)), [*levels.values(), *counters.values()]


def _open(machine: Machine, wanted: Wanted) -> Probe:
    files, problems = opened_files(machine, PATHS)
    if not files:
        raise absent(PATHS[0])
    return Probe(sources=tuple(files), parse=_parse, problems=problems)


FAMILY = Family(title=Text(en="memory and page cache", zh="内存与页缓存"), open=_open, period_s=1.0, named_period_s=0.1)
