"""One of several equal ways carries smaller packets and says nothing, and hosts do not probe: some connections hang."""

from random import Random

from wirespeed.emulation.fault import Fault
from wirespeed.emulation.hands import Hands
from wirespeed.model.text import Text

SILENT = "chain c {\ntype filter hook output priority 0\nicmp type destination-unreachable drop\n}"


def _break(hands: Hands, where: str, chance: Random) -> dict[str, str]:
    leaf, spine = where.split("-")
    mtu = chance.choice((1280, 1400))
    for host in hands.drawing.of_role("host"):
        hands.sysctl(host.name, "net/ipv4/tcp_mtu_probing", "0")
    hands.nft(spine, "inet", SILENT)
    hands.ip(spine, f"link set {leaf} mtu {mtu}", undo=(f"link set {leaf} mtu 1500",))
    return {"mtu": str(mtu)}


FAULT = Fault(
    title=Text(en="One of the equal ways swallows big packets, and hosts do not probe", zh="等价路径之一吞掉大包，且主机不做探测"),
    cause="pmtu-blackhole",
    rule="pmtu_blackhole",
    needs=("nft", "two-leaves"),
    where="uplink",
    break_=_break,
    moves=("mtu_black_hole", "mtu_black_hole_probing"),
)
