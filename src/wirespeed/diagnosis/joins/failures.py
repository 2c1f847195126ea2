"""Events of frameworks that say that something failed, apart from those that only tell a state."""

from wirespeed.model.case import Case
from wirespeed.model.events.log import FrameworkEvent

_STATES = frozenset({"watchdog-state", "collective-state", "kv-cache", "kv-preemption", "placement-waiting"})
"""Topics that healthy programs log too: what they have done so far, how full a cache is, whom they wait for."""


def failures(case: Case) -> tuple[FrameworkEvent, ...]:
    """Events after which a program could not go on as before."""
    return case.every(FrameworkEvent, lambda one: one.topic not in _STATES)
