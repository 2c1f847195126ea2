"""Every look-up tries a list of search domains first, and each refusal takes its time."""

from random import Random

from wirespeed.emulation.fault import Fault
from wirespeed.emulation.hands import Hands
from wirespeed.model.text import Text

PORT = 8000
NAME = "api.model.example"
SEARCH = ("default.svc.cluster.local", "svc.cluster.local", "cluster.local", "corp.example")


def _break(hands: Hands, where: str, chance: Random) -> dict[str, str]:
    server = chance.choice(hands.others(where))
    delay_s = chance.choice((0.04, 0.08))
    service = chance.choice([host for host in hands.others(where) if host != server] or [server])
    hands.start(server, "resolver", {"names": {NAME: hands.address(service)}, "delay_s": delay_s}, "resolver.log")
    domains = " ".join(SEARCH)
    hands.file(where, "/etc/resolv.conf", f"nameserver {hands.address(server)}\nsearch {domains}\noptions ndots:5\n")
    hands.start(service, "service", {"port": PORT}, "server.log")
    call = {"to": NAME, "port": PORT, "rate_per_s": 3, "keeps_connection": False}
    hands.start(where, "caller", call, "client.log")
    return {"name server": server, "answers after": f"{delay_s * 1e3:.0f} ms", "search": domains}


FAULT = Fault(
    title=Text(en="A search list multiplies every look-up", zh="搜索域列表使每次解析成倍增加"),
    cause="dns-slow",
    rule="dns_slow",
    where="host",
    break_=_break,
    moves=("dns_slow",),
)
