"""Words that Slurm's programs share: states of nodes and how jobs ended."""

from collections.abc import Iterator

from wirespeed.model.events.log import FrameworkEvent
from wirespeed.model.source import Quote, Source
from wirespeed.readers.parsing.regex import regex

CRASH_SIGNALS = frozenset({6, 7, 9, 11})
"""SIGABRT, SIGBUS, SIGKILL, SIGSEGV: what kills ranks; 15 is how jobs are cancelled."""

_FLAGS = regex(r"[*~#!%$@^-]+$")
_EXIT = regex(r"^(?P<code>\d{1,4}):(?P<signal>\d{1,3})$")
_SHORT = {
    "alloc": "allocated",
    "comp": "completing",
    "drng": "draining",
    "drain": "drained",
    "unk": "unknown",
    "maint": "maintenance",
}
_TELLING = ("fail", "down", "not-responding", "drain", "drained", "draining")


def node_state(text: str) -> str:
    """The most telling part of a state in lower case: `DOWN*+DRAIN` and `down~` are `down`; an idle node that is silent is `not-responding`.

    `*` is Slurm's sign for a node that does not respond; the other signs tell of power and maintenance.
    """
    parts = [_FLAGS.sub("", part).lower().replace("_", "-") for part in text.split("+") if part]
    words = [_SHORT.get(part, part) for part in parts]
    telling = next((word for word in _TELLING if word in words), None)
    if telling is not None:
        return telling
    return "not-responding" if "*" in text else words[0] if words else "unknown"


def job_end(source: Source, quotes: tuple[Quote, ...], job: str, state: str, exit_code: str) -> Iterator[FrameworkEvent]:
    """The event of a job (or step) that died: of its node, of memory, or by a signal that kills; nothing for other ends.

    `state` may be cut off as sacct prints it (`OUT_OF_ME+`).
    """
    found = _EXIT.match(exit_code)
    signal = int(found["signal"]) if found else 0
    how = None
    if state.startswith("NODE_FAIL"):
        how = "NODE_FAIL"
    elif state.startswith("OUT_OF_ME"):
        how = "OUT_OF_MEMORY: OOMKilled"
    elif state.startswith("FAILED") and signal in CRASH_SIGNALS:
        how = f"FAILED by signal {signal}"
    if how is not None:
        yield FrameworkEvent(source=source, quotes=quotes, topic="process-died", message=f"job {job} ended: {how}")
