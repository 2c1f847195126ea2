"""A host's port has a slower rate and a queue of megabytes."""

from random import Random

from wirespeed.emulation.fault import Fault
from wirespeed.emulation.hands import Hands
from wirespeed.model.text import Text


def _break(hands: Hands, where: str, chance: Random) -> dict[str, str]:
    rate = hands.rate_of(where, "eth0") / 2
    queue_bytes = chance.choice((4e6, 8e6))
    hands.shape(hands.leaf_of(where), where, rate, queue_bytes)
    return {"queue": f"{queue_bytes / 1e6:.0f} MB", "rate": f"{rate / 1e6:.0f} Mb/s"}


FAULT = Fault(
    title=Text(en="A port's queue is far too deep", zh="端口队列过深"),
    cause="bufferbloat",
    rule="bufferbloat",
    where="host",
    break_=_break,
    moves=("bufferbloat",),
)
