"""A bulk transfer shares a host's link with its requests."""

from random import Random

from wirespeed.emulation.fault import Fault
from wirespeed.emulation.hands import Hands
from wirespeed.model.text import Text

PORT = 8000
BULK_PORT = 7003


def _break(hands: Hands, where: str, chance: Random) -> dict[str, str]:
    requester, bulker = (*hands.others(where), *hands.others(where))[:2]
    hands.start(where, "service", {"port": PORT}, "server.log")
    hands.start(where, "bulk", {"role": "sink", "port": BULK_PORT})
    hands.start(requester, "caller", {"to": where, "port": PORT, "rate_per_s": 20}, "client.log")
    flows = chance.choice((2, 4))
    hands.start(bulker, "bulk", {"role": "tcp", "to": hands.address(where), "port": BULK_PORT, "flows_count": flows})
    return {"requests from": requester, "bulk from": bulker, "flows": str(flows)}


FAULT = Fault(
    title=Text(en="A bulk transfer and requests share one link", zh="批量传输与请求共用一条链路"),
    cause="noisy-neighbour",
    rule="noisy_neighbour",
    where="host",
    break_=_break,
    moves=("incast_3to1",),
)
