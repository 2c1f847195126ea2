"""A leaf hashes so that all its flows take one uplink, and uplinks are no faster than a host's link."""

from random import Random

from wirespeed.emulation.fault import Fault
from wirespeed.emulation.hands import Hands
from wirespeed.model.text import Text

PROTOCOL_ONLY = "0x4"
"""Bit of `fib_multipath_hash_fields` (Documentation/networking/ip-sysctl.rst)."""


def _break(hands: Hands, where: str, chance: Random) -> dict[str, str]:
    hosts = [host.name for host in hands.drawing.of_role("host") if host.leaf == where]
    rate = max(hands.rate_of(host, "eth0") for host in hosts)
    for spine in hands.spines():
        hands.shape(where, spine, rate)
        hands.shape(spine, where, rate)
    hands.sysctl(where, "net/ipv4/fib_multipath_hash_fields", PROTOCOL_ONLY)
    return {"hash": "IP protocol only", "uplink": f"{rate / 1e6:.0f} Mb/s"}


FAULT = Fault(
    title=Text(en="All flows of a leaf collide on one uplink", zh="某叶交换机的所有流碰撞到同一上行"),
    cause="ecmp-collision",
    rule="ecmp_collision",
    needs=("ecmp-fields", "two-leaves", "two-spines", "two-hosts-a-leaf"),
    where="leaf",
    break_=_break,
    moves=("ecmp_collision",),
)
