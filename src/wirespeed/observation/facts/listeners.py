"""Listening sockets: bind address, accept queue in use and its limit, and whose they are where that may be seen."""

from collections.abc import Iterator
from functools import partial

from wirespeed.machines.machine import Machine, MachineProblem
from wirespeed.model.facts.sockets import Listener
from wirespeed.model.record import Record
from wirespeed.model.source import Problem, Source
from wirespeed.model.text import Text
from wirespeed.observation.asking import answer_of, dumped, problem
from wirespeed.observation.collector import Collector
from wirespeed.readers.netlink import inet_diag

PATH = "inet_diag listeners"


def _observe(machine: Machine) -> Iterator[Record | Problem]:
    source = Source(tool="inet_diag", path=PATH, host=machine.host)
    owners: dict[str, str] = {}
    try:
        owners = answer_of(machine, "socket-owners", "", dict[str, str])
    except MachineProblem as trouble:
        yield problem(machine, "inet_diag", "socket owners", trouble)
    read = partial(inet_diag.listeners, owners=owners, source=source)
    for request in inet_diag.LISTENING_REQUESTS:
        yield from dumped(machine, inet_diag.NETLINK_SOCK_DIAG, request, source, read)


COLLECTOR = Collector(title=Text(en="listening sockets", zh="监听套接字"), gives=(Listener,), observe=_observe, cost_s=0.02)
