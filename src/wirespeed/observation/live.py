"""What is worth a look while a recording runs: rates of the last flush, and peaks and means so far."""

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from wirespeed.model.samples import Block, Key
from wirespeed.observation.recording import Recording
from wirespeed.theory.rates import rates

DROPS = ("rx_dropped", "tx_dropped", "rx_fifo_errors", "tx_fifo_errors", "dropped_packets")
"""Of interfaces and queueing disciplines."""


@dataclass(slots=True)
class LinkNow:
    """One direction of one interface, in bytes a second."""

    now_bytes_per_s: float = 0.0
    peak_bytes_per_s: float = 0.0
    mean_bytes_per_s: float = 0.0


@dataclass(slots=True)
class _Ends:
    """First and last sample of a counter, and its highest rate so far."""

    first_t_s: float
    first: float
    last_t_s: float
    last: float
    now: float = 0.0
    peak: float = 0.0


@dataclass(slots=True)
class Live:
    """Follows a recording flush by flush; looks at new blocks alone."""

    links: dict[str, dict[str, LinkNow]] = field(default_factory=dict)
    """By interface, then `rx` and `tx`; those that carried anything."""
    retransmits_per_s: float = 0.0
    drops_per_s: float = 0.0
    busiest_core: str | None = None
    busiest_softirq_ratio: float = 0.0
    cpu_ratio: float | None = None
    """Share of all cores' time that was not idle."""
    _seen: dict[str, int] = field(default_factory=dict)
    _ends: dict[Key, _Ends] = field(default_factory=dict)

    def follow(self, recording: Recording) -> None:
        """Take in what is new."""
        for family in ("links", "protocols", "qdiscs", "cpu"):
            blocks = recording.blocks.get(family, [])
            for block in blocks[self._seen.get(family, 0) :]:
                self._take(block)
            self._seen[family] = len(blocks)
        self._show()

    def _take(self, block: Block) -> None:
        for index, key in enumerate(block.layout):
            if not _matters(key):
                continue
            value = block.column(index)
            ends = self._ends.get(key)
            if ends is None:
                ends = self._ends[key] = _Ends(block.t_s[0], value[0], block.t_s[0], value[0])
            t_s = np.concatenate([[ends.last_t_s], block.t_s])
            found = rates(t_s, np.concatenate([[ends.last], value]))
            known = ~np.isnan(found)
            if known.any():
                ends.peak = max(ends.peak, float(found[known].max()))
                ends.now = float(np.average(found[known], weights=np.diff(t_s)[known]))
            ends.last_t_s, ends.last = float(t_s[-1]), float(value[-1])

    def _show(self) -> None:
        self.links = {}
        for key, ends in self._of("links"):
            if key.name in ("rx_bytes", "tx_bytes") and ends.peak > 0:
                took_s = ends.last_t_s - ends.first_t_s
                mean = max(ends.last - ends.first, 0.0) / took_s if took_s else 0.0
                self.links.setdefault(key.scope, {})[key.name[:2]] = LinkNow(ends.now, ends.peak, mean)
        self.retransmits_per_s = sum(ends.now for key, ends in self._of("protocols") if key.name == "RetransSegs")
        self.drops_per_s = sum(ends.now for key, ends in self._ends.items() if key.name in DROPS)
        softirq = {key.scope: ends.now for key, ends in self._of("cpu") if key.name == "softirq" and key.scope != "all"}
        if softirq:
            self.busiest_core = max(softirq, key=lambda core: softirq[core])
            self.busiest_softirq_ratio = min(softirq[self.busiest_core], 1.0)
        idle = [ends.now for key, ends in self._of("cpu") if key.name in ("idle", "iowait") and key.scope == "all"]
        if idle and softirq:
            self.cpu_ratio = min(max(1.0 - sum(idle) / len(softirq), 0.0), 1.0)

    def _of(self, family: str) -> Iterator[tuple[Key, _Ends]]:
        return ((key, ends) for key, ends in self._ends.items() if key.family == family)


def _matters(key: Key) -> bool:
    if key.family == "cpu":
        return key.name == "softirq" or (key.scope == "all" and key.name in ("idle", "iowait"))
    return key.name in ("rx_bytes", "tx_bytes", "RetransSegs", *DROPS)
