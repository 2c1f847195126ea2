"""A host resolves its own name to the container bridge, announces that address, and its peers cannot reach it there."""

from random import Random

from wirespeed.emulation.fault import Fault
from wirespeed.emulation.hands import Hands
from wirespeed.emulation.topology import DOCKER_ADDRESS
from wirespeed.model.text import Text

PORT = 29400


def _break(hands: Hands, where: str, chance: Random) -> dict[str, str]:
    before = hands.look(where, "/etc/hosts")
    lines = [line for line in before.splitlines() if line.split()[1:2] != [where]]
    hands.file(where, "/etc/hosts", "\n".join((*lines, f"{DOCKER_ADDRESS} {where}")) + "\n")
    hands.start(where, "rendezvous", {"port": PORT, "announces": where}, "worker.log")
    for peer in hands.others(where)[:2]:
        hands.start(peer, "rendezvous", {"port": PORT, "asks": hands.address(where), "node": where}, "worker.log")
    return {"announced": DOCKER_ADDRESS}


FAULT = Fault(
    title=Text(en="A host announces the address of its container bridge", zh="主机对外公布了容器网桥的地址"),
    cause="hostname-resolution",
    rule="hostname_resolution",
    where="host",
    break_=_break,
    moves=("measured: peers get connection refused at 172.17.0.1, which is their own bridge",),
)
