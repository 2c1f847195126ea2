"""What a file on the shelf of measurements offers, and the hosts it is made on."""

import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import msgspec

from wirespeed.model.case import Case
from wirespeed.model.lines import MemoryLines
from wirespeed.model.link_runs import LatencyRun
from wirespeed.model.record import Record
from wirespeed.model.source import Problem
from wirespeed.model.text import Text
from wirespeed.theory import mesh
from wirespeed.verbs._hosts import Host, asked

FLOWS_COUNT = 4
"""A pair's flows take several of the equal paths: eight flows of two pairs end on one of two links once in 128 tries."""
WINDOW_S = 0.5
LEAD_S = 0.4
"""From the call to the common start: sessions and connections of all pairs are made in it."""
LEAD_TRIPS = 12
"""Round trips that a session and its connections take before the start."""
BULK_STEP_S = 1.7
"""Of one round of bulk flows."""

MOST_LOG_BYTES = 4 * 1024 * 1024

Answers = list[Record | Problem]


@dataclass(frozen=True, slots=True, kw_only=True)
class Log:
    """A file that grows, and its size when the diagnosis began: what was written before may be mended since."""

    path: str
    start_bytes: int

    def fresh(self) -> MemoryLines:
        """What was written since, the last `MOST_LOG_BYTES` of it. Raises OSError."""
        with Path(self.path).open("rb") as file:
            end_bytes = file.seek(0, 2)
            file.seek(max(self.start_bytes, end_bytes - MOST_LOG_BYTES))
            return MemoryLines(file.read(MOST_LOG_BYTES).decode(errors="replace"), self.path)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fleet:
    """The hosts of a diagnosis, the routers between them where those can be asked, and peers that only answer link tests.

    `port` and `token` are the responders'.
    """

    hosts: tuple[Host, ...]
    routers: tuple[Host, ...]
    port: int
    token: str
    peers: tuple[Host, ...] = ()
    logs: tuple[Log, ...] = ()
    """What programs of the hosts write, where it is at hand."""

    @property
    def everything(self) -> tuple[Host, ...]:
        """Hosts and routers."""
        return (*self.hosts, *self.routers)

    def rounds(self) -> Iterator[tuple[tuple[Host, Host], ...]]:
        """Every pair of hosts once, in rounds in which no host is in two pairs; then the first host with each peer."""
        yield from (tuple(pairs) for pairs in mesh.rounds(self.hosts))
        yield from (((self.hosts[0], peer),) for peer in self.peers)

    @property
    def rounds_count(self) -> int:
        """How many rounds there are."""
        return sum(1 for _ in self.rounds())

    def ask(self, calls: Sequence[tuple[Host, str, Mapping[str, Any]]], within_s: float) -> Answers:
        """All calls at the same time; what they answered, in their order."""
        found = asked(calls, within_s)
        return [item for index in sorted(found) for item in found[index]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """One measurement: what it yields, how long it takes on a fleet, and how it is made.

    `is_worth_it` says whether what is known already gives it a meaning (a repetition of slow pairs needs slow pairs).
    """

    title: Text
    gives: tuple[type[Record], ...]
    cost_s: Callable[[Fleet], float]
    run: Callable[[Fleet, Case], Iterable[Record | Problem]]
    among: Literal["agents", "peers", "any"] = "any"
    """Between whom it is made: hosts that all have agents, this host and peers, or either."""
    is_worth_it: Callable[[Case], bool] = lambda case: True


def lead_s(case: Case) -> float:
    """Time from the call to the common start: longer where a host is far."""
    return LEAD_S + LEAD_TRIPS * max((one.rtt_min_s or 0.0 for one in case.every(LatencyRun)), default=0.0)


def can_be_made(measure: Measure, fleet: Fleet) -> bool:
    """Whether the fleet has the ends that a measurement needs."""
    has_agents, has_peers = len(fleet.hosts) > 1, bool(fleet.peers)
    return {"agents": has_agents, "peers": has_peers, "any": has_agents or has_peers}[measure.among]


def specified(fleet: Fleet, sender: Host, receiver: Host, **asked: Any) -> tuple[Host, str, Mapping[str, Any]]:
    """The call that has `sender` test its path to `receiver`; `asked` are fields of a link test's spec."""
    usual = {
        "address": address_of(receiver),
        "port": receiver.port or fleet.port,
        "token": fleet.token,
        "sender": sender.name,
        "receiver": receiver.name,
        "timeout_s": 1.5,
        "most_s": 6.0,
        "is_brief": True,
    }
    return sender, "test_links", {**usual, **asked}


def address_of(host: Host) -> str:
    """The address its peers use."""
    return host.addresses[0]


def relabelled(items: Iterable[Record | Problem], path: str) -> Answers:
    """The records with a source that says in which phase they were made."""
    return [
        msgspec.structs.replace(item, source=msgspec.structs.replace(item.source, path=path)) if isinstance(item, Record) else item
        for item in items
    ]


def fresh_port() -> int:
    """A port for the responders of one diagnosis: above the well-known ones, below those that kernels give out."""
    return random.SystemRandom().randrange(20_000, 30_000)
