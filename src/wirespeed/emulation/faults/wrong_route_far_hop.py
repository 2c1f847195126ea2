"""Packets of one pair pass the far leaf, go up again to another spine, and only then to their host."""

from random import Random

from wirespeed.emulation.fault import Fault
from wirespeed.emulation.hands import Hands
from wirespeed.model.text import Text

TABLE = 141


def _break(hands: Hands, where: str, chance: Random) -> dict[str, str]:
    near, far = where.split("-")
    first, second = chance.sample(hands.spines(), 2)
    target, far_leaf = hands.address(far), hands.leaf_of(far)
    gateways = dict(zip(hands.spines(), hands.drawing.of_role("spine"), strict=True))
    number = int(hands.leaf_of(near).removeprefix("leaf")) - 1
    hands.ip(
        hands.leaf_of(near),
        f"route add {target}/32 via {gateways[first].addresses[number]}",
        undo=(f"route del {target}/32",),
    )
    back = gateways[second].addresses[int(far_leaf.removeprefix("leaf")) - 1]
    hands.ip(
        far_leaf,
        f"route add default via {back} table {TABLE}",
        f"rule add iif {first} to {target}/32 lookup {TABLE} priority {TABLE}",
        undo=(f"rule del priority {TABLE}", f"route flush table {TABLE}"),
    )
    return {"from": near, "to": far, "way": f"{first}, {far_leaf}, {second}, {far_leaf}"}


FAULT = Fault(
    title=Text(en="A wrong route sends a pair's packets through far hops", zh="错误路由使一对主机的数据包绕经远端跳"),
    cause="l3-detour",
    rule="l3_detour",
    needs=("two-leaves", "two-spines"),
    where="pair",
    break_=_break,
    moves=("l3_detour",),
)
