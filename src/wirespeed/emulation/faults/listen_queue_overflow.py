"""A server accepts too slowly for its short accept queue."""

from random import Random

from wirespeed.emulation.fault import Fault
from wirespeed.emulation.hands import Hands
from wirespeed.model.text import Text

PORT = 8000


def _break(hands: Hands, where: str, chance: Random) -> dict[str, str]:
    hands.start(where, "service", {"port": PORT, "backlog": 4, "accept_every_s": chance.choice((0.5, 1.0))}, "server.log")
    client = chance.choice(hands.others(where))
    call = {"to": where, "port": PORT, "rate_per_s": 20, "workers_count": 16, "timeout_s": 3.0, "keeps_connection": False}
    hands.start(client, "caller", call, "client.log")
    return {"client": client}


FAULT = Fault(
    title=Text(en="A server's accept queue overflows", zh="服务端的连接接受队列溢出"),
    cause="accept-queue-overflow",
    rule="accept_queue_overflow",
    where="host",
    break_=_break,
    moves=("accept_queue_full",),
)
