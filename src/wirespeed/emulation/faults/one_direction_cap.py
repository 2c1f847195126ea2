"""One host's link runs below its rate in one direction only."""

from random import Random

from wirespeed.emulation.fault import Fault
from wirespeed.emulation.hands import Hands
from wirespeed.model.text import Text


def _break(hands: Hands, where: str, chance: Random) -> dict[str, str]:
    rate = hands.rate_of(where, "eth0") * chance.choice((0.1, 0.25))
    outward = chance.random() < 0.5
    if outward:
        hands.shape(where, "eth0", rate)
    else:
        hands.shape(hands.leaf_of(where), where, rate)
    return {"rate": f"{rate / 1e6:.0f} Mb/s", "direction": "from the host" if outward else "to the host"}


FAULT = Fault(
    title=Text(en="A host's link is slow in one direction", zh="主机链路单方向变慢"),
    cause="link-speed-lower-than-assumed",
    rule="link_speed_lower",
    where="host",
    break_=_break,
    moves=("rate_cap",),
)
