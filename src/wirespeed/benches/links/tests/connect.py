"""TCP connection attempts to the peer's port and to further ones: how each ended and how long it took."""

import socket
import time
from typing import Any

from wirespeed.benches.links.bulk import cut
from wirespeed.benches.links.protocol import word_of
from wirespeed.benches.links.session import Session
from wirespeed.benches.links.spec import LinkSpec, LinkTest, source_of
from wirespeed.model.measurement import PortProbe
from wirespeed.model.record import Record
from wirespeed.model.source import Problem
from wirespeed.model.text import Text

MOST_FAILURES_COUNT = 2
"""A port that did not answer so many times will not answer a further time within this test."""


def _attempts(spec: LinkSpec) -> list[Record | Problem]:
    found: list[Record | Problem] = []
    for port in (spec.port, *spec.ports):
        failures = 0
        wanted = spec.connects_count if port == spec.port else 1
        for _ in range(wanted):
            probe = _attempt(spec, port)
            found.append(probe)
            failures += probe.outcome != "connected"
            if failures == MOST_FAILURES_COUNT:
                break
    return found


def _attempt(spec: LinkSpec, port: int) -> PortProbe:
    family = socket.AF_INET6 if ":" in spec.address else socket.AF_INET
    outcome: Any = "connected"
    with socket.socket(family, socket.SOCK_STREAM) as handle:
        handle.settimeout(spec.timeout_s)
        start_ns = time.perf_counter_ns()
        try:
            handle.connect((spec.address, port))
        except OSError as error:
            word = word_of(error)
            outcome = "unreachable" if word == "failed" else word
        took_s = (time.perf_counter_ns() - start_ns) / 1e9
        cut(handle)
    return PortProbe(source=source_of(spec), target=spec.address, port=port, outcome=outcome, time_s=took_s)


def _nothing(spec: LinkSpec, session: Session) -> list[Record | Problem]:
    return []


TEST = LinkTest(
    title=Text(en="TCP connection attempts", zh="TCP 建连"),
    gives=(PortProbe,),
    cost_s=lambda spec: 0.05 + 0.01 * spec.connects_count,
    client=_nothing,
    failed=lambda spec, error: [],
    without_session=_attempts,
)
