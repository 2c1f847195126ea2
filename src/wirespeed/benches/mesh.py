"""Measure every pair of many hosts, none disturbed by another, and say which host, pair or rack is odd.

Who reaches the hosts is the caller's business: `ask` puts tests on several hosts at once and returns what each found.
"""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence

import msgspec

from wirespeed.benches.links.protocol import DEFAULT_PORT
from wirespeed.benches.links.spec import LinkSpec
from wirespeed.model.link_runs import FlowRun, LatencyRun
from wirespeed.model.record import Record
from wirespeed.model.source import Problem
from wirespeed.theory.mesh import MeshFit, Pair, fit, rounds, rounds_sharing

LEAD_S = 0.6
"""From asking the hosts to the common start: sessions are opened and the latency is taken meanwhile."""
BRIEF_S = 0.4
"""Of which the latency of a pair takes this much, on the path that nothing else of this mesh uses."""


class MeshHost(msgspec.Struct, frozen=True, kw_only=True):
    """One host: its name, where its responder listens, and its rack where that is known."""

    name: str
    address: str
    port: int = DEFAULT_PORT
    rack: str | None = None


Ask = Callable[[Sequence[tuple[str, LinkSpec]]], Sequence[Sequence[Record | Problem]]]
"""Name of the host that sends, and what it shall run; all at the same time. One list of records for each, in order."""
Heard = Callable[[int, int, float], None]
"""Rounds done, rounds in all, and an estimate of the seconds that remain."""


def run(
    hosts: Sequence[MeshHost],
    ask: Ask,
    *,
    token: str,
    duration_s: float = 1.0,
    most_crossing_count: int | None = None,
    heard: Heard = lambda done, whole, remaining_s: None,
) -> list[Record | Problem]:
    """Latency and then throughput of every pair in both directions, in rounds of disjoint pairs.

    `most_crossing_count` bounds the pairs that cross a rack's uplinks at once. Records have purpose `mesh`; flows of one step share
    their `test`, start and window.
    """
    places = {host.name: host for host in hosts}
    racks = {host.name: host.rack for host in hosts if host.rack is not None}
    if most_crossing_count is not None and len(racks) == len(hosts):
        plan = rounds_sharing(list(places), racks, most_crossing_count)
    else:
        plan = rounds(list(places))
    steps = [(number, way, pairs) for number, pairs in enumerate(plan) for way in ("there", "back")]
    found: list[Record | Problem] = []
    start_s = time.monotonic()
    for done, (number, way, pairs) in enumerate(steps):
        spent_s = time.monotonic() - start_s
        each_s = spent_s / done if done else duration_s + BRIEF_S + LEAD_S
        heard(done, len(steps), each_s * (len(steps) - done))
        ends = [(one, other) if way == "there" else (other, one) for one, other in pairs]
        for name, tests in (("latency", ("latency",)), ("flow", ("throughput",))):
            start_at_s = time.time() + LEAD_S if name == "flow" else None
            asked = [
                (sender, _spec(places[sender], places[receiver], token, duration_s, tests, start_at_s, f"mesh-{number}-{way}"))
                for sender, receiver in ends
            ]
            for records in ask(asked):
                found.extend(records)
    heard(len(steps), len(steps), 0.0)
    return found


def _spec(
    sender: MeshHost,
    receiver: MeshHost,
    token: str,
    duration_s: float,
    tests: tuple[str, ...],
    start_at_s: float | None,
    label: str,
) -> LinkSpec:
    return LinkSpec(
        address=receiver.address,
        port=receiver.port,
        token=token,
        tests=tests,
        sender=sender.name,
        receiver=receiver.name,
        duration_s=duration_s if start_at_s is not None else 2 * BRIEF_S,
        start_at_s=start_at_s,
        purpose="mesh",
        label=label,
        is_brief=True,
    )


def bandwidths(found: Iterable[Record | Problem]) -> dict[Pair, float | None]:
    """Goodput of each pair of a mesh, its flows together; None where they gave nothing."""
    values: dict[Pair, float] = {}
    for one in found:
        if isinstance(one, FlowRun) and one.purpose == "mesh":
            values[one.sender, one.receiver] = values.get((one.sender, one.receiver), 0.0) + one.goodput_bytes_per_s
    return {pair: value or None for pair, value in values.items()}


def latencies(found: Iterable[Record | Problem]) -> dict[Pair, float | None]:
    """Median round trip of each pair of a mesh on the idle path."""
    return {
        (one.sender, one.receiver): one.rtt_p50_s
        for one in found
        if isinstance(one, LatencyRun) and (one.load, one.waiting, one.protocol) == ("idle", "blocking", "tcp")
    }


def fits(found: Sequence[Record | Problem], hosts: Sequence[MeshHost]) -> tuple[MeshFit, MeshFit]:
    """What bandwidths and latencies say."""
    racks: Mapping[str, str] = {host.name: host.rack for host in hosts if host.rack is not None}
    return fit(bandwidths(found), racks), fit(latencies(found), racks, is_more_better=False)
