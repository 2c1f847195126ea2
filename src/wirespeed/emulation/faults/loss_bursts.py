"""Packets of one host's link are lost in bursts, many in a row."""

from random import Random

from wirespeed.emulation.fault import Fault
from wirespeed.emulation.hands import Hands
from wirespeed.model.text import Text


def _break(hands: Hands, where: str, chance: Random) -> dict[str, str]:
    run, period = chance.choice((10, 20, 40)), chance.choice((1000, 2000))
    hands.drop_at(where, f"numgen inc mod {period} < {run} drop")
    return {"burst": f"{run} packets", "of": f"{period} packets"}


FAULT = Fault(
    title=Text(en="Loss in bursts on a host's link", zh="主机链路突发丢包"),
    cause="packet-loss",
    rule="packet_loss",
    needs=("nft-egress",),
    where="host",
    break_=_break,
    moves=("loss_random_1",),
)
