"""A host's link goes down for a moment, again and again."""

from random import Random

from wirespeed.emulation.fault import Fault
from wirespeed.emulation.hands import Hands
from wirespeed.model.text import Text


def _break(hands: Hands, where: str, chance: Random) -> dict[str, str]:
    leaf = hands.leaf_of(where)
    timing = {"every_s": chance.choice((1.5, 2.5)), "down_s": chance.choice((0.2, 0.4))}
    hands.later(leaf, f"link set {where} up")
    hands.start(leaf, "flapper", {"device": where, "seed": chance.randrange(1000), **timing})
    return {name: f"{value} s" for name, value in timing.items()}


FAULT = Fault(
    title=Text(en="A host's link flaps", zh="主机链路反复断开又恢复"),
    cause="link-flapping",
    rule="link_flapping",
    where="host",
    break_=_break,
    moves=("link_flap",),
)
