"""A leaf sprays packets over two spines of unequal speed, so they arrive out of order."""

from random import Random

from wirespeed.emulation.fault import Fault
from wirespeed.emulation.hands import Hands
from wirespeed.model.text import Text

TABLE = 143
SLOW_SHARE = 0.45
"""Of a host's rate: just under the half that the way would have to carry, so its queue stands and the other's does not."""


def _break(hands: Hands, where: str, chance: Random) -> dict[str, str]:
    first, second = chance.sample(hands.spines(), 2)
    number = int(where.removeprefix("leaf")) - 1
    addresses = {place.name: place.addresses[number] for place in hands.drawing.of_role("spine")}
    slow = hands.drawing.spec.host_rate_bits_per_s * SLOW_SHARE
    hands.shape(where, second, slow)
    for mark, spine in ((0, first), (1, second)):
        table = TABLE + mark
        hands.ip(
            where,
            f"route add default via {addresses[spine]} table {table}",
            f"rule add iif br0 fwmark {mark + 1} lookup {table} priority {table}",
            undo=(f"rule del priority {table}", f"route flush table {table}"),
        )
    own = f"10.{number + 1}.0.0/24"
    hands.nft(
        where,
        "inet",
        f"chain c {{\ntype filter hook prerouting priority -150\niifname br0 ip daddr != {own} meta mark set numgen inc mod 2 offset 1\n}}",
    )
    return {"spines": f"{first}, {second}", "slower": f"{slow / 1e6:.0f} Mb/s"}


FAULT = Fault(
    title=Text(en="Packets are sprayed over unequal ways and arrive out of order", zh="数据包被分散到快慢不一的路径，乱序到达"),
    cause="packet-reordering",
    rule="packet_reordering",
    needs=("nft", "two-leaves", "two-spines"),
    where="leaf",
    break_=_break,
    moves=("reorder_spray_unequal",),
)
