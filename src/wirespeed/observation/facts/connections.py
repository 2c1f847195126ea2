"""TCP connections with what the kernel knows about each (inet_diag, TCP_INFO)."""

from collections.abc import Iterator
from functools import partial

from wirespeed.machines.machine import Machine
from wirespeed.model.facts.sockets import TcpSocket
from wirespeed.model.record import Record
from wirespeed.model.source import Problem, Source
from wirespeed.model.text import Text
from wirespeed.observation.asking import dumped
from wirespeed.observation.collector import Collector
from wirespeed.readers.netlink import inet_diag

PATH = "inet_diag sockets"


def _observe(machine: Machine) -> Iterator[Record | Problem]:
    source = Source(tool="inet_diag", path=PATH, host=machine.host)
    for request in inet_diag.REQUESTS:
        yield from dumped(
            machine, inet_diag.NETLINK_SOCK_DIAG, request, source, partial(inet_diag.sockets, owners={}, source=source)
        )


COLLECTOR = Collector(title=Text(en="TCP connections", zh="TCP 连接"), gives=(TcpSocket,), observe=_observe, cost_s=0.05)
