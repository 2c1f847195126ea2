"""The name server takes long to answer."""

from random import Random

from wirespeed.emulation.fault import Fault
from wirespeed.emulation.hands import Hands
from wirespeed.model.text import Text

PORT = 8000
NAME = "api.model.example"


def _break(hands: Hands, where: str, chance: Random) -> dict[str, str]:
    server = chance.choice(hands.others(where))
    delay_s = chance.choice((0.3, 0.6, 1.2))
    service = chance.choice([host for host in hands.others(where) if host != server] or [server])
    hands.start(server, "resolver", {"names": {NAME: hands.address(service)}, "delay_s": delay_s}, "resolver.log")
    hands.file(where, "/etc/resolv.conf", f"nameserver {hands.address(server)}\n")
    hands.start(service, "service", {"port": PORT}, "server.log")
    call = {"to": NAME, "port": PORT, "rate_per_s": 3, "keeps_connection": False}
    hands.start(where, "caller", call, "client.log")
    return {"name server": server, "answers after": f"{delay_s * 1e3:.0f} ms"}


FAULT = Fault(
    title=Text(en="The name server is slow", zh="域名服务器应答缓慢"),
    cause="dns-slow",
    rule="dns_slow",
    where="host",
    break_=_break,
    moves=("dns_slow",),
)
