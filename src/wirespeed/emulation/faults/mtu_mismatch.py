"""One host has another MTU than the hosts of its subnet, so full-sized datagrams of its neighbours vanish."""

from random import Random

from wirespeed.emulation.fault import Fault
from wirespeed.emulation.hands import Hands
from wirespeed.model.text import Text


def _break(hands: Hands, where: str, chance: Random) -> dict[str, str]:
    mtu = chance.choice((1280, 1400, 1450))
    hands.ip(where, f"link set eth0 mtu {mtu}", undo=("link set eth0 mtu 1500",))
    return {"mtu": str(mtu)}


FAULT = Fault(
    title=Text(en="A host's MTU differs from its neighbours'", zh="某主机的 MTU 与邻居不同"),
    cause="mtu-mismatch",
    rule="mtu_mismatch",
    where="host",
    break_=_break,
    moves=("mtu_small_icmp_ok",),
)
