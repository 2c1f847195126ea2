"""A host's programs get the processor only in slices, as beside a greedy neighbour or in a paused virtual machine."""

from random import Random

from wirespeed.emulation.fault import Fault
from wirespeed.emulation.hands import Hands
from wirespeed.model.text import Text

PERIOD_S = 0.1


def _break(hands: Hands, where: str, chance: Random) -> dict[str, str]:
    run_s = chance.choice((0.010, 0.020))
    hands.start(where, "staller", {"period_s": PERIOD_S, "run_s": run_s})
    return {"runs": f"{run_s * 1e3:.0f} ms of every {PERIOD_S * 1e3:.0f} ms"}


FAULT = Fault(
    title=Text(en="A host stalls again and again", zh="主机反复停顿"),
    cause="straggler-slow-node",
    rule="straggler_slow_node",
    where="host",
    break_=_break,
    moves=("slow_host_receiver",),
)
