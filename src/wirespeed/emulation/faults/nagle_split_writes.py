"""A client sends head and body apart with Nagle's algorithm on; the server's delayed acknowledgement holds every request."""

from random import Random

from wirespeed.emulation.fault import Fault
from wirespeed.emulation.hands import Hands
from wirespeed.model.text import Text

PORT = 8000


def _break(hands: Hands, where: str, chance: Random) -> dict[str, str]:
    hands.start(where, "service", {"port": PORT}, "server.log")
    client = chance.choice(hands.others(where))
    call = {"to": where, "port": PORT, "rate_per_s": 20, "splits_request": True, "sets_nodelay": False, "workers_count": 2}
    hands.start(client, "caller", call, "client.log")
    return {"client": client}


FAULT = Fault(
    title=Text(en="Nagle's algorithm meets delayed acknowledgements", zh="Nagle 算法遇上延迟确认"),
    cause="nagle-delayed-ack",
    rule="nagle_delayed_ack",
    where="host",
    break_=_break,
    moves=("nagle_delayed_ack",),
)
