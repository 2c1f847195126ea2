"""Somebody else's datagrams fill most of a host's link."""

from random import Random

from wirespeed.emulation.fault import Fault
from wirespeed.emulation.hands import Hands
from wirespeed.model.text import Text

PORT = 7002


def _break(hands: Hands, where: str, chance: Random) -> dict[str, str]:
    share = chance.choice((0.85, 0.95))
    rate = hands.rate_of(where, "eth0") / 8 * share
    sender = chance.choice(hands.others(where))
    hands.start(where, "bulk", {"role": "sink", "port": PORT})
    hands.start(sender, "bulk", {"role": "udp", "to": hands.address(where), "port": PORT, "rate_bytes_per_s": rate})
    return {"sender": sender, "share of the link": f"{share * 100:.0f} %"}


FAULT = Fault(
    title=Text(en="A neighbour's traffic fills a host's link", zh="邻居流量占满某主机的链路"),
    cause="noisy-neighbour",
    rule="noisy_neighbour",
    where="host",
    break_=_break,
    moves=("incast_3to1",),
)
