"""How much of a figure matters: the smallest difference worth telling, by what is counted; and which series hurt when they rise."""

import re
from dataclasses import dataclass

_TROUBLE = re.compile(
    r"(?i)retrans|drop|discard|errs?(?![a-z])|error|fail|timeout|overflow|overrun|(?<![a-z])los[st]|loss|squeez|missed|prune|collaps|backoff|"
    r"stall|no_?buffer|out_of|pause|cnp|(?<![a-z])ecn|(?<![a-z])ce(?![a-z])|reorder|dsack|ofo|undo|throttl|duplicate|abort|full"
)
"""Names of what goes wrong, in the words of kernels and drivers (see `model/counters.py`)."""
_WAITING = re.compile(r"(?i)rtt|latency|(?<![a-z])wait|backlog|queue|inflight|in_flight|unacked|not_sent|pressure|pending")
"""Names of delays and of what stands in a queue."""


@dataclass(frozen=True, slots=True)
class Least:
    """The smallest difference that matters: a share of the smaller of the two figures, but at least so much in their unit."""

    share: float
    amount: float

    def of(self, before: float, after: float, tail: bool = False) -> float:
        """In the figures' unit. Tails vary more from run to run than means, and what matters of them is double."""
        return max(self.amount, self.share * min(abs(before), abs(after))) * (2.0 if tail else 1.0)


TROUBLE_PER_S = Least(0.2, 0.5)
"""Retransmits, drops, errors: half an event a second. 1 % loss is 0.8 a second on a flow of 1 Mb/s in full segments; an idle machine has fewer."""
_RATES: dict[str, Least] = {
    "bytes/s": Least(0.03, 125e3),  # 1 Mb/s: remote shells, name lookups, clock synchronisation and probes stay below
    "packets/s": Least(0.03, 100.0),
    "1/s": Least(0.1, 300.0),  # interrupts, context switches, page faults: a timer tick is 100 to 1,000 a second
    "ratio": Least(0.1, 0.03),  # of a core: a background daemon
}
_GAUGES: dict[str, Least] = {
    "bytes": Least(0.25, 64 * 1024),
    "packets": Least(0.25, 10.0),
    "pages": Least(0.25, 64.0),
    "s": Least(0.1, 100e-6),  # the wake-up of a sleeping receiver varies by as much (peers/fabric.md: blocking against spinning)
    "ratio": Least(0.1, 0.05),
    "celsius": Least(0.0, 8.0),
    "w": Least(0.1, 15.0),
    "hz": Least(0.1, 50e6),
    "bytes/s": Least(0.03, 125e3),
    "1": Least(0.25, 10.0),
}
_MEMORY = Least(0.25, 256 * 1024 * 1024)
"""The page cache of an idle machine wanders by as much."""
_MEASURED: dict[str, Least] = {
    "bytes/s": Least(0.03, 125e3),
    "bits/s": Least(0.03, 1e6),
    "s": Least(0.1, 20e-6),
    "ratio": Least(0.2, 0.002),
    "1/s": Least(0.05, 1.0),
}


def least_of_series(family: str, name: str, unit: str, *, is_rate: bool) -> Least:
    """The smallest difference of a series that matters; `unit` is that of the compared figure (a counter's with `/s`)."""
    if is_rate:
        return TROUBLE_PER_S if unit in ("packets/s", "1/s") and is_trouble(name) else _RATES.get(unit, _RATES["1/s"])
    if family == "memory" and unit == "bytes":
        return _MEMORY
    return _GAUGES.get(unit, _GAUGES["1"])


def least_of_measurement(unit: str) -> Least:
    """The smallest difference of a measured figure that matters."""
    return _MEASURED[unit]


def is_trouble(name: str) -> bool:
    """Whether this counts what goes wrong, so that a few a second matter."""
    return _TROUBLE.search(name) is not None


def is_symptom(name: str) -> bool:
    """Whether people feel it when this rises: what goes wrong, delays and queues. What else moved then is worth telling."""
    return is_trouble(name) or _WAITING.search(name) is not None
