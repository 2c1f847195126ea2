"""Packets of one host's link are lost at random, both ways."""

from random import Random

from wirespeed.emulation.fault import Fault
from wirespeed.emulation.hands import Hands
from wirespeed.model.text import Text


def _break(hands: Hands, where: str, chance: Random) -> dict[str, str]:
    per_mille = chance.choice((5, 10, 20))
    hands.drop_at(where, f"numgen random mod 1000 < {per_mille} drop")
    return {"loss": f"{per_mille / 10} %"}


FAULT = Fault(
    title=Text(en="Random loss on a host's link", zh="主机链路随机丢包"),
    cause="packet-loss",
    rule="packet_loss",
    needs=("nft-egress",),
    where="host",
    break_=_break,
    moves=("loss_random_0p1", "loss_random_1"),
)
