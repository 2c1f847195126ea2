"""Healthy load between the hosts of a lab: as a training job makes it, or as a service does."""

import secrets
from typing import Literal, TypeAlias

import msgspec

from wirespeed.emulation.hands import Hands, take_back
from wirespeed.emulation.lab import open_lab
from wirespeed.emulation.state import FaultInForce, LabState, Undo, locked, write_state

Kind: TypeAlias = Literal["training", "serving", "idle"]

RING_PORT, SERVICE_PORT = 29500, 8000
RING_EVERY_S = 0.3
RING_SIZE_BYTES = 600_000
"""At 200 Mbit/s a ring all-reduce of it takes some 40 ms of every 300: bursts at line rate, and room between them."""
REQUESTS_PER_S, NEW_CONNECTIONS_PER_S = 50.0, 3.0


def start(name: str, kind: Kind) -> LabState:
    """Begin this load in place of whatever load there was; `idle` is none. Raises CouldNot."""
    with locked(open_lab(name).directory):
        lab = open_lab(name)
        for undo in reversed(lab.state.traffic.undo if lab.state.traffic else ()):
            take_back(lab, undo)
        state = msgspec.structs.replace(lab.state, traffic=None)
        write_state(lab.directory, state)
        if kind == "idle":
            return state
        load = FaultInForce(fault=kind, where="hosts", seed_number=0, details={})

        def record(undo: Undo) -> None:
            nonlocal load, state
            load = msgspec.structs.replace(load, undo=(*load.undo, undo))
            state = msgspec.structs.replace(state, traffic=load)
            write_state(lab.directory, state)

        hands = Hands(lab, record, secrets.token_hex(2))
        {"training": _training, "serving": _serving}[kind](hands)
        return state


def _training(hands: Hands) -> None:
    """A ring over all hosts in order."""
    hosts = [node.name for node in hands.lab.hosts]
    for number, host in enumerate(hosts):
        following = hosts[(number + 1) % len(hosts)]
        rank = {
            "port": RING_PORT,
            "next": hands.address(following),
            "ranks_count": len(hosts),
            "size_bytes": RING_SIZE_BYTES,
            "every_s": RING_EVERY_S,
        }
        hands.start(host, "ring", rank, "ring.log")


def _serving(hands: Hands) -> None:
    """The last host serves, the others call it: mostly over kept connections, a few over new ones."""
    *callers, server = [node.name for node in hands.lab.hosts]
    hands.start(server, "service", {"port": SERVICE_PORT}, "server.log")
    for number, caller in enumerate(callers):
        call = {"to": server, "port": SERVICE_PORT, "seed": number}
        hands.start(caller, "caller", {**call, "rate_per_s": REQUESTS_PER_S / len(callers)}, "client.log")
        hands.start(
            caller,
            "caller",
            {**call, "rate_per_s": NEW_CONNECTIONS_PER_S / len(callers), "keeps_connection": False, "workers_count": 1},
            "new-connections.log",
        )
