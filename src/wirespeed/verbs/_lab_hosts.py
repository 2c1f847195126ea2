"""The lab as a fleet: its hosts and routers with their agents, and the responders that answer between them."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from secrets import token_hex

from wirespeed.emulation.lab import Lab, open_lab
from wirespeed.verbs._hosts import Host, kept
from wirespeed.verbs._measure import Fleet, Log, address_of, fresh_port


@contextmanager
def lab_fleet(name: str, for_s: float) -> Iterator[Fleet]:
    """The lab of this name, with a responder in every host until the end (and for `for_s` at most). Raises CouldNot where there is none."""
    lab = open_lab(name)
    hosts, routers = (_hosts_of(lab, is_host) for is_host in (True, False))
    fleet = Fleet(hosts=hosts, routers=routers, port=fresh_port(), token=token_hex(16), logs=_logs_of(lab))
    with ExitStack() as stack:
        for host in hosts:
            answering = {"address": address_of(host), "port": fleet.port, "token": fleet.token, "for_s": for_s}
            stack.enter_context(kept(host, "respond", answering))
        yield fleet


def _logs_of(lab: Lab) -> tuple[Log, ...]:
    """What the programs of the hosts write."""
    return tuple(
        Log(path=str(path), start_bytes=path.stat().st_size)
        for node in lab.hosts
        for path in sorted((lab.directory / node.name).glob("*.log"))
    )


def _hosts_of(lab: Lab, is_host: bool) -> tuple[Host, ...]:
    return tuple(
        Host(name=node.name, role=node.role, addresses=node.addresses, connect=partial(lab.connect, node))
        for node in lab.nodes
        if (node.role == "host") is is_host
    )
