"""Counters of every RDMA port (sysfs): traffic, retransmits, ECN, CNP, errors."""

from collections.abc import Iterator

from wirespeed.machines.machine import Machine, MachineProblem, absent
from wirespeed.model.samples import Key
from wirespeed.model.text import Text
from wirespeed.observation.asking import listing_or_nothing
from wirespeed.observation.opened import number_probe
from wirespeed.observation.sampler import Family, Probe, Wanted

ROOT = "/sys/class/infiniband"
_WORDS = ("port_rcv_data", "port_xmit_data")
"""Counted in words of four octets (IBA 16.1.3.5); their rates are words a second."""


def _counters(machine: Machine) -> Iterator[tuple[Key, str]]:
    for device in listing_or_nothing(machine, ROOT):
        for port in listing_or_nothing(machine, f"{ROOT}/{device}/ports"):
            for folder in ("counters", "hw_counters"):
                base = f"{ROOT}/{device}/ports/{port}/{folder}"
                for name in listing_or_nothing(machine, base):
                    if name != "lifespan":
                        unit = "words" if name in _WORDS else "packets" if name.endswith("_packets") else "1"
                        yield Key("rdma", f"{device}/{port}", name, unit), f"{base}/{name}"


def _open(machine: Machine, wanted: Wanted) -> Probe:
    try:
        machine.listing(ROOT)
    except MachineProblem as trouble:
        raise MachineProblem(trouble.reason, Text(en="no RDMA device", zh="没有 RDMA 设备")) from trouble
    probe = number_probe(machine, _counters(machine))
    if probe is None:
        raise absent(ROOT)
    return probe


FAMILY = Family(title=Text(en="RDMA ports", zh="RDMA 端口"), open=_open, period_s=1.0, named_period_s=0.1)
"""mlx5 reads hardware counters by firmware commands: each costs the device, and more often than 10 Hz gains nothing."""
