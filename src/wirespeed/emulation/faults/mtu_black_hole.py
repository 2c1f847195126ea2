"""The way to one leaf carries smaller packets, and nobody says so: the routers' ICMP is filtered."""

from random import Random

from wirespeed.emulation.fault import Fault
from wirespeed.emulation.hands import Hands
from wirespeed.model.text import Text

SILENT = "chain c {\ntype filter hook output priority 0\nicmp type destination-unreachable drop\n}"


def _break(hands: Hands, where: str, chance: Random) -> dict[str, str]:
    mtu = chance.choice((1280, 1400, 1450))
    for spine in hands.spines():
        hands.nft(spine, "inet", SILENT)
        hands.ip(spine, f"link set {where} mtu {mtu}", undo=(f"link set {where} mtu 1500",))
    return {"mtu": str(mtu)}


FAULT = Fault(
    title=Text(en="Big packets to a leaf vanish without a word", zh="发往某叶交换机的大包无声消失"),
    cause="pmtu-blackhole",
    rule="pmtu_blackhole",
    needs=("nft", "two-leaves"),
    where="leaf",
    break_=_break,
    moves=("mtu_black_hole",),
)
