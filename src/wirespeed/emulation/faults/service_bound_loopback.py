"""A service listens on loopback only, and others are refused."""

from random import Random

from wirespeed.emulation.fault import Fault
from wirespeed.emulation.hands import Hands
from wirespeed.model.text import Text

PORT = 8000


def _break(hands: Hands, where: str, chance: Random) -> dict[str, str]:
    hands.start(where, "service", {"port": PORT, "bind": "127.0.0.1"}, "server.log")
    client = chance.choice(hands.others(where))
    hands.start(client, "caller", {"to": where, "port": PORT, "rate_per_s": 4, "keeps_connection": False}, "client.log")
    return {"client": client}


FAULT = Fault(
    title=Text(en="A service listens on loopback only", zh="服务只监听回环地址"),
    cause="service-bound-loopback",
    rule="service_bound_loopback",
    where="host",
    break_=_break,
    moves=("firewall_reject",),
)
