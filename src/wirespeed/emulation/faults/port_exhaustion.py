"""A client opens a new connection for every request from a small range of local ports."""

from random import Random

from wirespeed.emulation.fault import Fault
from wirespeed.emulation.hands import Hands
from wirespeed.model.text import Text

PORT = 8000
PORTS = 50


def _break(hands: Hands, where: str, chance: Random) -> dict[str, str]:
    first = chance.randrange(40_000, 50_000)
    hands.sysctl(where, "net/ipv4/ip_local_port_range", f"{first} {first + PORTS - 1}")
    server = chance.choice(hands.others(where))
    hands.start(server, "service", {"port": PORT}, "server.log")
    hands.start(where, "caller", {"to": server, "port": PORT, "rate_per_s": 40, "keeps_connection": False}, "client.log")
    return {"server": server, "ports": f"{first}-{first + PORTS - 1}"}


FAULT = Fault(
    title=Text(en="A client runs out of local ports", zh="客户端本地端口耗尽"),
    cause="ephemeral-port-exhaustion",
    rule="ephemeral_port_exhaustion",
    where="host",
    break_=_break,
    moves=("port_exhaustion",),
)
