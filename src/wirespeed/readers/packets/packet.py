"""The packets that are read, whoever printed them: TCP segments, DNS messages, reports of routers, ARP answers."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

Topic: TypeAlias = Literal[
    "too-big", "prohibited", "host-unreachable", "net-unreachable", "port-unreachable", "expired", "redirect"
]


@dataclass(slots=True)
class Seen:
    """Where a packet stands and when it was captured (nanoseconds of an unknown epoch; 0 where times are not printed)."""

    index: int
    line: str
    at_ns: int


@dataclass(slots=True)
class Segment(Seen):
    """One TCP segment. Numbers are as printed: absolute, or relative to the connection's start; None where not printed."""

    label: str
    """What stands between the time and the packet: interface, direction, MAC addresses."""
    source: str
    source_port: int | None
    target: str
    target_port: int | None
    flags: str
    sequence: int | None
    length: int
    ack: int | None
    window: int | None
    options: str
    ttl: int | None
    identity: int | None
    says: str
    """Plain text of the payload: HTTP line, TLS hello or alert."""


@dataclass(slots=True)
class DnsMessage(Seen):
    """A question (`answer` is None) or an answer; the client is who asks."""

    client: str
    client_port: int | None
    server: str
    number: int | None
    query_type: str | None
    name: str | None
    answer: str | None


@dataclass(slots=True)
class Report(Seen):
    """An ICMP message about a packet that could not be passed on."""

    topic: Topic
    reporter: str
    target: str | None
    mtu_bytes: int | None


@dataclass(slots=True)
class ArpAnswer(Seen):
    """A claim that an address is at a MAC address."""

    address: str
    mac: str


Packet: TypeAlias = Segment | DnsMessage | Report | ArpAnswer
