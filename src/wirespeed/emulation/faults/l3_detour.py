"""Two hosts of one leaf talk through gateway, spine and back, as with a wrong VLAN."""

from random import Random

from wirespeed.emulation.fault import Fault
from wirespeed.emulation.hands import Hands
from wirespeed.model.text import Text

TABLE = 142


def _break(hands: Hands, where: str, chance: Random) -> dict[str, str]:
    one, other = where.split("-")
    leaf = hands.leaf_of(one)
    number = int(leaf.removeprefix("leaf")) - 1
    spine = chance.choice(hands.spines())
    gateway = hands.address(leaf)
    up = {place.name: place.addresses[number] for place in hands.drawing.of_role("spine")}[spine]
    hands.ip(
        leaf,
        f"route add default via {up} table {TABLE}",
        f"rule add iif br0 to 10.{number + 1}.0.0/24 lookup {TABLE} priority {TABLE}",
        undo=(f"rule del priority {TABLE}", f"route flush table {TABLE}"),
    )
    for host, peer in ((one, other), (other, one)):
        hands.ip(
            host, f"route add {hands.address(peer)}/32 via {gateway} congctl cubic", undo=(f"route del {hands.address(peer)}/32",)
        )
    return {"hosts": where, "way": f"{leaf}, {spine}, {leaf}"}


FAULT = Fault(
    title=Text(en="Neighbours talk through the spine", zh="相邻主机经脊交换机通信"),
    cause="l3-detour",
    rule="l3_detour",
    needs=("two-hosts-a-leaf",),
    where="neighbours",
    break_=_break,
    moves=("l3_detour",),
)
