"""A host's processes share a small CPU quota."""

from random import Random

from wirespeed.emulation.fault import Fault
from wirespeed.emulation.hands import Hands
from wirespeed.model.text import Text


def _break(hands: Hands, where: str, chance: Random) -> dict[str, str]:
    share = chance.choice((0.05, 0.10))
    hands.limit_cpu(where, share)
    return {"share of a core": f"{share * 100:.0f} %"}


FAULT = Fault(
    title=Text(en="A host's CPU quota is far too small", zh="主机的 CPU 配额过小"),
    cause="cpu-cfs-throttling",
    rule="cpu_cfs_throttling",
    needs=("cgroup-cpu",),
    where="host",
    break_=_break,
    moves=("slow_host_receiver", "slow_host_receiver_5"),
)
