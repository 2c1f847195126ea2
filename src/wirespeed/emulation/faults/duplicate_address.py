"""Another host of the subnet claims a host's address."""

from random import Random

from wirespeed.emulation.fault import Fault
from wirespeed.emulation.hands import Hands
from wirespeed.model.text import Text


def _break(hands: Hands, where: str, chance: Random) -> dict[str, str]:
    victim, impostor = chance.sample(where.split("-"), 2)
    address = hands.address(victim)
    flush = f"neigh flush to {address}"
    hands.later(hands.leaf_of(victim), f"{flush} dev br0")
    for host in hands.neighbours(victim):
        hands.later(host, f"{flush} dev eth0")
    hands.ip(impostor, f"address add {address}/32 dev eth0", undo=(f"address del {address}/32 dev eth0",))
    hands.start(impostor, "announcer", {"device": "eth0", "address": address, "every_s": 0.5})
    return {"victim": victim, "impostor": impostor, "address": address}


FAULT = Fault(
    title=Text(en="Two hosts claim one address", zh="两台主机使用同一地址"),
    cause="duplicate-address",
    rule="duplicate_address",
    needs=("wire", "two-hosts-a-leaf"),
    where="neighbours",
    break_=_break,
    moves=("duplicate_ip",),
)
