"""A leaf's uplinks carry a quarter of what its hosts can send, and hosts of other leaves send to one of them at once."""

from random import Random

from wirespeed.emulation.fault import Fault
from wirespeed.emulation.hands import Hands
from wirespeed.model.text import Text

OVERSUBSCRIPTION = 4
PORT = 7001


def _break(hands: Hands, where: str, chance: Random) -> dict[str, str]:
    hosts = [host.name for host in hands.drawing.of_role("host") if host.leaf == where]
    rate = sum(hands.rate_of(host, "eth0") for host in hosts) / OVERSUBSCRIPTION / len(hands.spines())
    for spine in hands.spines():
        hands.shape(where, spine, rate)
        hands.shape(spine, where, rate)
    target = chance.choice(hosts)
    hands.start(target, "bulk", {"role": "sink", "port": PORT})
    for sender in hands.strangers(target):
        burst = {
            "role": "tcp",
            "to": hands.address(target),
            "port": PORT,
            "flows_count": 4,
            "burst_bytes": 250_000,
            "every_s": 0.25,
        }
        hands.start(sender, "bulk", burst)
    return {"uplink": f"{rate / 1e6:.0f} Mb/s", "target": target}


FAULT = Fault(
    title=Text(en="A leaf's uplinks are oversubscribed four to one", zh="叶交换机上行按 4:1 超分"),
    cause="oversubscribed-fabric",
    rule="oversubscribed_fabric",
    needs=("two-leaves",),
    where="leaf",
    break_=_break,
    moves=("oversubscription", "incast_3to1"),
)
