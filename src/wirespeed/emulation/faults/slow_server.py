"""A server that thinks for 45 ms: looks like Nagle, and is no fault of the network."""

from random import Random

from wirespeed.emulation.fault import Fault
from wirespeed.emulation.hands import Hands
from wirespeed.model.text import Text

PORT = 8000
THINK_S = 0.045


def _break(hands: Hands, where: str, chance: Random) -> dict[str, str]:
    hands.start(where, "service", {"port": PORT, "think_s": THINK_S}, "server.log")
    client = chance.choice(hands.others(where))
    hands.start(client, "caller", {"to": where, "port": PORT, "rate_per_s": 20, "workers_count": 2}, "client.log")
    return {"client": client, "thinks": f"{THINK_S * 1e3:.0f} ms"}


FAULT = Fault(
    title=Text(en="A server takes its time", zh="服务端处理缓慢"),
    cause="server-saturated",
    rule="server_saturated",
    where="host",
    break_=_break,
    moves=("nagle_delayed_ack: its look-alike, without delayed acknowledgements",),
    is_counted=False,
)
