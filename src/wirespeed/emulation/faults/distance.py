"""One host is far away."""

from random import Random

from wirespeed.emulation.fault import Fault
from wirespeed.emulation.hands import Hands
from wirespeed.model.text import Text


def _break(hands: Hands, where: str, chance: Random) -> dict[str, str]:
    delay_s = chance.choice((0.005, 0.010, 0.020))
    hands.far(where, delay_s)
    return {"delay": f"{delay_s * 1e3:.0f} ms one way"}


FAULT = Fault(
    title=Text(en="A host is far away", zh="某主机距离很远"),
    cause="distance",
    rule="distance",
    needs=("wire",),
    where="host",
    break_=_break,
    moves=("loss_with_rtt_11ms",),
)
