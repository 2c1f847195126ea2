"""Which ports of each host answer, as seen from every other host."""

from collections.abc import Iterable

from wirespeed.model.case import Case
from wirespeed.model.facts.sockets import Listener
from wirespeed.model.measurement import PortProbe
from wirespeed.model.record import Record
from wirespeed.model.source import Problem
from wirespeed.model.text import Text
from wirespeed.verbs._measure import Fleet, Measure, address_of


def _run(fleet: Fleet, case: Case) -> Iterable[Record | Problem]:
    listening: dict[str | None, set[int]] = {}
    for one in case.every(Listener):
        listening.setdefault(one.host, set()).add(one.port)
    calls = [
        (
            sender,
            "ports",
            {
                "address": address_of(receiver),
                "ports": (*((receiver.port,) if receiver.port else ()), *listening.get(receiver.name, ())),
            },
        )
        for sender in fleet.hosts
        for receiver in (*fleet.hosts, *fleet.peers)
        if sender is not receiver
    ]
    return fleet.ask(calls, 6.0)


MEASURE = Measure(
    title=Text(en="connect to ports of every host", zh="连接各主机的端口"), gives=(PortProbe,), cost_s=lambda fleet: 0.6, run=_run
)
