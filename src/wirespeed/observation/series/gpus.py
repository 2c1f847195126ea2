"""Load, power, clocks and memory of every GPU, and traffic and errors of its NVLinks (NVML)."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import msgspec

from wirespeed.machines.kept import kept_gpus
from wirespeed.machines.machine import Machine
from wirespeed.model.samples import Key, Layout
from wirespeed.model.text import Text
from wirespeed.observation.sampler import Family, Probe, Raw, Row, Wanted

_GPU = (
    ("utilisation_percent", "busy", "ratio", 0.01), ("memory_used_bytes", "memory_used", "bytes", 1.0),
    ("power_milliwatts", "power", "w", 1e-3), ("temperature_celsius", "temperature", "celsius", 1.0),
    ("sm_clock_mhz", "sm_clock", "hz", 1e6), ("throttle_bits", "throttle_bits", "1", 1.0),
)  # fmt: skip
"""Gauges: field of the answer, our name, unit and factor."""
_NVLINK = (
    ("tx_kib", "tx_bytes", "bytes", 1024.0), ("rx_kib", "rx_bytes", "bytes", 1024.0), ("replays", "replays", "1", 1.0),
    ("recoveries", "recoveries", "1", 1.0), ("crc_errors", "crc_errors", "1", 1.0),
)  # fmt: skip
"""Counters of a link."""


@lru_cache(maxsize=16)
def _layout(names: tuple[tuple[str, str, str, bool], ...]) -> Layout:
    return tuple(Key("gpus", scope, name, unit, "gauge" if is_gauge else "counter") for scope, name, unit, is_gauge in names)


def _parse(raw: Raw) -> Row:
    names: list[tuple[str, str, str, bool]] = []
    values: list[float] = []

    def add(scope: str, seen: Mapping[str, Any], fields: tuple[tuple[str, str, str, float], ...], is_gauge: bool) -> None:
        for theirs, ours, unit, factor in fields:
            if seen.get(theirs) is not None:
                names.append((scope, ours, unit, is_gauge))
                values.append(float(seen[theirs]) * factor)

    if raw[0]:
        for gpu in msgspec.json.decode(raw[0], type=dict[str, Any])["gpus"]:
            add(f"gpu{gpu['index']}", gpu, _GPU, True)
            for link in gpu.get("nvlinks", ()):
                add(f"gpu{gpu['index']}/nvlink{link['link']}", link, _NVLINK, False)
    return _layout(tuple(names)), values


def _open(machine: Machine, wanted: Wanted) -> Probe:
    return Probe(sources=(kept_gpus(machine),), parse=_parse)


FAMILY = Family(title=Text(en="GPUs and NVLink", zh="GPU 与 NVLink"), open=_open, period_s=1.0, named_period_s=0.1)
