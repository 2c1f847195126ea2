"""A far host sends with Reno over a way that now and then loses a packet."""

from random import Random

from wirespeed.emulation.fault import Fault
from wirespeed.emulation.hands import Hands
from wirespeed.model.text import Text


def _break(hands: Hands, where: str, chance: Random) -> dict[str, str]:
    delay_s, loss_ratio = chance.choice((0.010, 0.020)), chance.choice((0.0005, 0.001))
    hands.far(where, delay_s, loss_ratio, chance.randrange(1000))
    leaf = hands.leaf_of(where)
    number = int(leaf.removeprefix("leaf"))
    for route in (
        f"10.{number}.0.0/24 dev eth0 proto kernel scope link src {hands.address(where)}",
        f"default via {hands.address(leaf)}",
    ):
        hands.ip(where, f"route replace {route} congctl reno", undo=(f"route replace {route} congctl cubic",))
    return {"congestion control": "reno", "delay": f"{delay_s * 1e3:.0f} ms one way", "loss": f"{loss_ratio * 100} %"}


FAULT = Fault(
    title=Text(en="The congestion control does not suit a long lossy path", zh="拥塞控制算法不适合长距离有损路径"),
    cause="congestion-control-unsuited",
    rule="congestion_control_unsuited",
    needs=("wire",),
    where="host",
    break_=_break,
    moves=("loss_with_rtt_11ms",),
)
