"""What a case says of the cluster as a whole: hosts, environment, addresses; shared by the rules of this shelf."""

import ipaddress
import re

from wirespeed.model.case import Case
from wirespeed.model.events.nccl import NcclBootstrap, NcclChannel, NcclHca, NcclNetwork, NcclPlugin, NcclWarning
from wirespeed.model.facts.host import EnvVar
from wirespeed.model.facts.rdma import RdmaPort
from wirespeed.model.measurement import BenchmarkRank
from wirespeed.model.record import Record

IpAddress = ipaddress.IPv4Address | ipaddress.IPv6Address

_ADDRESS = re.compile(r"(?<![\w.])(?:\d{1,3}(?:\.\d{1,3}){3}|(?:[0-9a-fA-F]{0,4}:){2,7}[0-9a-fA-F]{0,4})(?![\w.]*\w)")
_TRIED_OUT = re.compile(
    r"(?i)\b(?:avoids?|helps?|makes?|made|fix(?:es|ed)?|works?|worked|pass(?:es|ed)?|finish(?:es)?|slower|faster|workaround|solve[sd]?"
    r"|tried|trying|with it|does not change|no (?:change|effect|difference)|same (?:result|error)|gets? around|goes away|hides?)\b"
)
OWN_BRIDGES = ("lo", "docker", "br-", "virbr", "cni", "lxc", "podman", "kube", "vboxnet")
"""Interfaces that every host has for itself, with the same address on each: no peer is met on them."""
_DOCKER_BRIDGES = ipaddress.ip_network("172.17.0.0/16")


def host_of(record: Record) -> str | None:
    """The machine a record comes from: its source's host, or the host part of its NCCL process."""
    process = getattr(record, "process", None)
    return record.host or (process.split(":")[0] if process else None)


def hosts(case: Case) -> frozenset[str]:
    """Names of the machines that NCCL or a benchmark header mentions."""
    kinds = (NcclBootstrap, NcclNetwork, NcclHca, NcclPlugin, NcclWarning)
    named = {host_of(record) for kind in kinds for record in case.every(kind)}
    return frozenset(name for name in (*named, *(one.node for one in case.every(BenchmarkRank))) if name)


def spans_nodes(case: Case) -> bool | None:
    """Whether the job spans several machines; None when nothing tells."""
    if len(hosts(case)) > 1 or case.first(NcclChannel, lambda one: one.transport.startswith("NET")) or case.said("several-nodes"):
        return True
    local = case.said("one-node") or case.first(NcclChannel) or case.denied("several-nodes")
    return False if local else None


def variables(case: Case, *names: str) -> tuple[EnvVar, ...]:
    """Environment variables that are set to something, by name."""
    return case.every(EnvVar, lambda one: one.name in names and one.setting not in (None, ""))


def is_tried_out(variable: EnvVar) -> bool:
    """Whether the line tells what happens *with* the setting (it avoids, passes, is slower): a try, not the job's environment."""
    return any(_TRIED_OUT.search(quote.text) for quote in variable.quotes)


def is_switched_on(variable: EnvVar) -> bool:
    """Whether NCCL reads the setting as true."""
    return (variable.setting or "").strip().rstrip(".,;").lower() in {"1", "true", "yes", "y"}


def uses_sockets(case: Case) -> tuple[Record, ...]:
    """Everything that says NCCL's data goes over TCP."""
    networks = case.every(NcclNetwork, lambda one: one.name.lower() == "socket")
    channels = case.every(NcclChannel, lambda one: one.transport.lower().startswith("net/socket"))
    devices = case.every(NcclBootstrap, lambda one: one.role == "socket") if not uses_rdma(case) else ()
    return (*networks, *channels, *devices)


def uses_rdma(case: Case) -> tuple[Record, ...]:
    """Everything that says NCCL's data goes over RDMA."""
    networks = case.every(NcclNetwork, lambda one: one.name.lower() != "socket")
    channels = case.every(NcclChannel, lambda one: one.transport.startswith("NET/") and "socket" not in one.transport.lower())
    return (*networks, *channels)


def rdma_ports_active(case: Case) -> tuple[RdmaPort, ...]:
    """RDMA ports that are up."""
    return case.every(RdmaPort, lambda one: one.state == "active" or (one.state is None and one.physical_state == "linkup"))


def address_of(text: str | None) -> IpAddress | None:
    """The address in a text such as `192.0.2.1<4711>` or `[2001:db8::1]:80`, without zone and port; None when there is none."""
    bare = (text or "").split("%")[0].split("<")[0].split("/")[0].strip("[] ")
    try:
        return ipaddress.ip_address(bare)
    except ValueError:
        found = _ADDRESS.search(text or "")
    try:
        return ipaddress.ip_address(found[0]) if found else None
    except ValueError:
        return None


def is_docker_bridge(address: IpAddress | None) -> bool:
    """Whether this is an address of docker0's default network, which exists on every host and is reachable from none other."""
    return isinstance(address, ipaddress.IPv4Address) and address in _DOCKER_BRIDGES


def in_one_network(one: IpAddress, other: IpAddress, prefix_length_number: int) -> bool:
    """Whether two addresses share their first bits."""
    return one.version == other.version and other in ipaddress.ip_network(f"{one}/{prefix_length_number}", strict=False)
