"""One host's link runs far below its rate, both ways, as after a wrong negotiation."""

from random import Random

from wirespeed.emulation.fault import Fault
from wirespeed.emulation.hands import Hands
from wirespeed.model.text import Text


def _break(hands: Hands, where: str, chance: Random) -> dict[str, str]:
    rate = hands.rate_of(where, "eth0") * chance.choice((0.1, 0.25, 0.5))
    hands.shape(hands.leaf_of(where), where, rate)
    hands.shape(where, "eth0", rate)
    return {"rate": f"{rate / 1e6:.0f} Mb/s"}


FAULT = Fault(
    title=Text(en="A host's link is slower than the others", zh="某主机链路速率低于其他主机"),
    cause="link-speed-lower-than-assumed",
    rule="link_speed_lower",
    where="host",
    break_=_break,
    moves=("rate_cap",),
)
