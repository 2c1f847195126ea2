"""What a file on the series shelf offers, and one family of counters while it is being sampled.

On the sampling path nothing is parsed: raw bytes are read and kept with their time. They become numbers at the next flush, all at
once, and bytes that did not change are parsed once.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from time import perf_counter
from typing import Literal, TypeAlias

import numpy as np

from wirespeed.machines.kept import Kept
from wirespeed.machines.machine import Machine
from wirespeed.model.samples import Block, Layout
from wirespeed.model.source import Problem
from wirespeed.model.text import Text

Raw: TypeAlias = tuple[bytes, ...]
Row: TypeAlias = tuple[Layout, list[float]]
"""Values and what they are; a parser gives the same layout object for as long as nothing comes or goes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What the recording is asked for, as far as a family may care."""

    flows: tuple[str, ...] = ()
    """Ends of TCP connections to watch, `HOST:PORT`, `:PORT` or `HOST`; none means the busiest."""


@dataclass(slots=True, kw_only=True)
class Probe:
    """One family opened on one machine.

    `read` of every source is the sampling path; `parse` turns what they gave into values, later. Problems tell what this machine lacks.
    """

    sources: tuple[Kept, ...]
    parse: Callable[[Raw], Row]
    parse_many: Callable[[list[Raw]], None] | None = None
    """Told all raw samples of a flush before each is parsed, where a choice among them has to be made (the busiest flows)."""
    problems: list[Problem] = field(default_factory=list)
    labels: dict[str, str] = field(default_factory=dict)
    """A word about a scope that is no number, such as a connection's congestion control."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """Counters that are read together.

    `open` raises `MachineProblem` where the machine has none of them. A fast family goes at the pace asked for. A slow one is read
    every `period_s` at most, and every `named_period_s` at most where it was asked for by name.
    """

    title: Text
    open: Callable[[Machine, Wanted], Probe]
    pace: Literal["fast", "slow"] = "slow"
    period_s: float = 0.1
    named_period_s: float = 0.1


MOST_COST_RATIO: dict[str, float] = {"fast": 0.03, "slow": 0.002, "named": 0.05}
"""Share of a core one family may take before it is read more rarely: a host may have thousands of sockets, interfaces or interrupts."""


SETTLED_FLUSHES_COUNT, FAR_TOO_MUCH_RATIO = 5, 4.0
MOST_BLUR_RATIO = 0.2
"""A reading that was held up for more than this share of the period is left out: when within it the counter was read is not known, and
the rates beside it would show a peak that never was."""


class Sampled:
    """One family while it is being sampled."""

    def __init__(self, name: str, probe: Probe, period_s: float, most_cost_ratio: float) -> None:
        self.name, self.probe, self.period_s, self.asked_period_s = name, probe, period_s, period_s
        self.due_s = 0.0
        self.missed_count = 0
        self.samples_count = 0
        self._most_cost_ratio = most_cost_ratio
        self._sources = probe.sources
        self._taken: list[tuple[float, Raw]] = []
        self._last_taken_s = float("-inf")
        self._cost_s = float("inf")
        self._parse_cost_s = float("inf")
        self._flushes_count = 0
        self._last_raw: Raw | None = None
        self._last_row: Row = ((), [])

    def take(self, now_s: float) -> None:
        """Read once: the sampling path."""
        started_s = perf_counter()
        raw = tuple([source.read() for source in self._sources])
        took_s = perf_counter() - started_s
        if took_s < self._cost_s:
            self._cost_s = took_s
        if took_s > MOST_BLUR_RATIO * self.period_s and took_s > 4 * self._cost_s:
            self.missed_count += 1
        else:
            self._taken.append((now_s, raw))

    def take_last(self, now_s: float) -> None:
        """The closing sample, unless there was one just before: a difference over next to no time is no rate."""
        last_s = self._taken[-1][0] if self._taken else self._last_taken_s
        if now_s - last_s >= self.period_s / 2:
            self.take(now_s)

    def schedule(self, now_s: float) -> None:
        """The next deadline on the fixed grid of this family; those that passed meanwhile are missed."""
        steps = int(now_s / self.period_s + 1e-9) + 1
        next_s = steps * self.period_s
        self.missed_count += max(round((next_s - self.due_s) / self.period_s) - 1, 0)
        self.due_s = next_s

    def flushed(self) -> list[Block]:
        """Everything taken since the last flush as blocks, one for each layout in turn."""
        if not self._taken:
            return []
        taken, self._taken = self._taken, []
        times, raws = [time_s for time_s, _ in taken], [raw for _, raw in taken]
        self._last_taken_s = times[-1]
        self._flushes_count += 1
        self.samples_count += len(times)
        started_s = perf_counter()
        if self.probe.parse_many is not None:
            self.probe.parse_many(raws)
        blocks: list[Block] = []
        start = 0
        rows = [self._parsed(raw) for raw in raws]
        for end in range(1, len(rows) + 1):
            if end == len(rows) or rows[end][0] is not rows[start][0]:
                blocks.append(_block(self.name, rows[start][0], times[start:end], [values for _, values in rows[start:end]]))
                start = end
        self._parse_cost_s = min(self._parse_cost_s, (perf_counter() - started_s) / len(times))
        return blocks

    def slowed_period_s(self) -> float | None:
        """A longer period where reading and parsing cost more than they may; None where they do not.

        The least cost seen counts, since a busy machine holds up any; a little too much is believed after some flushes only.
        """
        least_s = (self._cost_s + self._parse_cost_s) / self._most_cost_ratio
        is_settled = self._flushes_count >= SETTLED_FLUSHES_COUNT or least_s > FAR_TOO_MUCH_RATIO * self.period_s
        if least_s == float("inf") or least_s <= self.period_s or not is_settled:
            return None
        return self.period_s * float(np.ceil(least_s / self.period_s))

    def _parsed(self, raw: Raw) -> Row:
        if raw != self._last_raw or self.probe.parse_many is not None:
            try:
                self._last_raw, self._last_row = raw, self.probe.parse(raw)
            except (ValueError, IndexError):  # damaged bytes, as a captured machine may have them: a gap
                self._last_raw, self._last_row = raw, ((), [])
        return self._last_row

    def close(self) -> None:
        """Give the descriptors back."""
        for source in self._sources:
            source.close()


def _block(name: str, layout: Layout, times: list[float], rows: list[list[float]]) -> Block:
    values = np.array(rows, dtype=np.float64).reshape(len(times), len(layout))
    columns = np.flatnonzero((values != values[0]).any(axis=0))
    return Block(name, layout, np.array(times), values[0].copy(), columns, np.ascontiguousarray(values[:, columns]))
