"""Packets of one host's link are lost in bursts: now and then nothing passes for some milliseconds."""

from random import Random

from wirespeed.emulation.fault import Fault
from wirespeed.emulation.hands import Hands
from wirespeed.model.text import Text


def _break(hands: Hands, where: str, chance: Random) -> dict[str, str]:
    burst_ms, one_in = chance.choice((12, 20)), chance.choice((300, 600))
    # a packet drawn by chance puts its protocol into the set for a while, and what is in the set does not pass
    sets = f"set lost {{\ntype ether_type\nsize 16\ntimeout {burst_ms}ms\nflags dynamic\n}}"
    hands.drop_at(where, f"ether type @lost drop\nnumgen random mod {one_in} < 1 add @lost {{ ether type }}", sets=sets)
    return {"burst": f"{burst_ms} ms", "begins": f"once in {one_in} packets"}


FAULT = Fault(
    title=Text(en="Loss in bursts on a host's link", zh="主机链路突发丢包"),
    cause="packet-loss",
    rule="packet_loss",
    needs=("nft-egress",),
    where="host",
    break_=_break,
    moves=("loss_random_1: with losses one after another",),
)
