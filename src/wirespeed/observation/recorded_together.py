"""What moved together in a recording: which rates and queues rose when a symptom did (requirement E6)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from wirespeed.model.samples import Series
from wirespeed.model.series import Moved
from wirespeed.model.source import Source
from wirespeed.theory.correlation import LEAST_SAMPLES, moved_together, widest_lag
from wirespeed.theory.rates import rates

if TYPE_CHECKING:
    from wirespeed.model.samples import Numbers
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
    clock_s = np.arange(every_s, recording.duration_s, every_s)
    most_lag = min(widest_lag(len(clock_s)), round(LONGEST_LAG_S / every_s))
    if len(clock_s) < LEAST_SAMPLES or most_lag < 0:
        return ()
    symptoms = dict(_on_clock(recording, _symptoms(recording), clock_s))
    others = dict(_on_clock(recording, (one for family in MOVERS for one in recording.series(family)), clock_s))
    source = Source(tool="record", path="series", host=recording.host)
    return moved_together(symptoms, others, most_lag, every_s, source)[:MOST_FOUND]


def _symptoms(recording: Recording) -> Iterator[Series]:
    for family, names in SYMPTOMS.items():
        found = [one for one in recording.series(family) if one.key.name in names]
        yield from found[:MOST_FLOWS] if family == "flows" else found


def _on_clock(recording: Recording, series: Iterator[Series], clock_s: Numbers) -> Iterator[tuple[str, Numbers]]:
    """Each series under a name that tells all, as a rate where it counts, at the times of one clock (the sample before holds)."""
    for one in series:
        if len(one.t_s) < LEAST_SAMPLES // 4:
            continue
        is_counter = one.key.kind == "counter"
        times_s, values = (one.t_s[1:], rates(one.t_s, one.value)) if is_counter else (one.t_s, one.value)
        place = np.clip(np.searchsorted(times_s, clock_s, side="right") - 1, 0, len(times_s) - 1)
        yield f"{recording.host} {one.key.family}/{one.key.scope}/{one.key.name}", values[place]
