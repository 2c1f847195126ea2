"""A server closes quiet connections a little before its client uses them again."""

from random import Random

from wirespeed.emulation.fault import Fault
from wirespeed.emulation.hands import Hands
from wirespeed.model.text import Text

PORT = 8000


def _break(hands: Hands, where: str, chance: Random) -> dict[str, str]:
    idle_s = chance.choice((0.5, 1.0))
    hands.start(where, "service", {"port": PORT, "idle_s": idle_s}, "server.log")
    client = chance.choice(hands.others(where))
    call = {
        "to": where,
        "port": PORT,
        "rate_per_s": 1 / (idle_s * 1.2),
        "workers_count": 1,
        "checks_connection": False,
        "is_jittered": False,
    }
    hands.start(client, "caller", call, "client.log")
    return {"client": client, "idle": f"{idle_s} s"}


FAULT = Fault(
    title=Text(en="The server closes kept connections before its client does", zh="服务端先于客户端关闭保持的连接"),
    cause="keepalive-timeout-reset",
    rule="keepalive_timeout_reset",
    where="host",
    break_=_break,
    moves=("measured: one reset for each connection reused after its idle time",),
)
