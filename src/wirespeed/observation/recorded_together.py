"""What moved together in a recording: which rates and queues rose when a symptom did (requirement E6)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from wirespeed.model.samples import Series
from wirespeed.model.series import Moved
from wirespeed.model.source import Source
from wirespeed.theory.correlation import LEAST_SAMPLES, moved_together, widest_lag
from wirespeed.theory.grids import on_grid

if TYPE_CHECKING:
    from wirespeed.observation.recording import Recording

SYMPTOMS = {
    "protocols": frozenset(
        {"RetransSegs", "TCPTimeouts", "TCPLossProbes", "ListenOverflows", "TCPOFOQueue", "InErrors", "RcvbufErrors"}
    ),
    "flows": frozenset({"rtt"}),
    "qdiscs": frozenset({"drops"}),
}
"""Series that hurt: what is sent again, dropped or late."""
MOVERS = ("links", "qdiscs", "queues", "softnet", "cpu", "cgroup", "sockets", "listeners")
"""Families whose series may be why."""
MOST_FLOWS = 4
LONGEST_LAG_S = 0.5
"""A queue fills and a retransmission follows within a few round trips; what is further apart is another story."""
MOST_FOUND = 12


def moved(recording: Recording) -> tuple[Moved, ...]:
    """The strongest relations between a symptom and something else on this host; none where the recording is too short to tell."""
    every_s = recording.every_s
    count = int(recording.duration_s / every_s)
    most_lag = min(widest_lag(count), round(LONGEST_LAG_S / every_s))
    if count < LEAST_SAMPLES or most_lag < 0:
        return ()
    symptoms = on_grid(_symptoms(recording), every_s, recording.duration_s)
    others = on_grid((one for family in MOVERS for one in recording.series(family)), every_s, recording.duration_s)
    source = Source(tool="record", path="series", host=recording.host)
    return moved_together(symptoms, others, most_lag, every_s, source)[:MOST_FOUND]


def _symptoms(recording: Recording) -> Iterator[Series]:
    for family, names in SYMPTOMS.items():
        found = [one for one in recording.series(family) if one.key.name in names]
        yield from found[:MOST_FLOWS] if family == "flows" else found
