"""A firewall silently drops a range of ports towards one host, a service among them."""

from random import Random

from wirespeed.emulation.fault import Fault
from wirespeed.emulation.hands import Hands
from wirespeed.model.text import Text


def _break(hands: Hands, where: str, chance: Random) -> dict[str, str]:
    first = chance.choice((8000, 29500, 6379))
    hands.drop_at(where, f"tcp dport {first}-{first + 99} drop", ("egress",))
    hands.start(where, "service", {"port": first}, "server.log")
    client = chance.choice(hands.others(where))
    call = {"to": where, "port": first, "rate_per_s": 4, "timeout_s": 3.0, "keeps_connection": False}
    hands.start(client, "caller", call, "client.log")
    return {"ports": f"{first}-{first + 99}", "client": client}


FAULT = Fault(
    title=Text(en="A firewall silently drops a port range to a host", zh="防火墙静默丢弃发往某主机的端口段"),
    cause="firewall-blocks-ports",
    rule="firewall_blocks_ports",
    needs=("nft-egress",),
    where="host",
    break_=_break,
    moves=("firewall_drop",),
)
