"""Recording: every family of counters at its own pace on absolute deadlines, flushed at least each second, with its own cost measured."""

from __future__ import annotations

import time
from array import array
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from wirespeed.machines.local import Local
from wirespeed.machines.machine import Machine, MachineProblem
from wirespeed.model import shelf
from wirespeed.model.record import Record
from wirespeed.model.samples import Block, Key, Series, series_of
from wirespeed.model.series import RecordingCost
from wirespeed.model.source import Problem, Source
from wirespeed.model.text import Text
from wirespeed.observation import series as families_shelf
from wirespeed.observation.opened import link_rates
from wirespeed.observation.sampler import MOST_COST_RATIO, Family, Sampled, Wanted

if TYPE_CHECKING:
    from wirespeed.model.samples import Numbers

FLUSH_S = 0.5
"""At most this much is lost when the process is killed; samples become numbers at the same time."""
LEAST_PERIOD_S = 0.001
MOST_KEPT_BYTES = 1 << 30
"""Samples in memory. At this the recording ends: on a quiet host after a day at 100 Hz."""
CLOCK_STEP_S = 0.5
"""From here on the wall clock and the monotonic clock disagree about how long it took; slewing by NTP is far less."""
TOOL = "record"

Ended: TypeAlias = Literal["finished", "stopped", "interrupted", "not-kept"]
Sink: TypeAlias = Callable[[Sequence[Block]], None]


def family_names() -> tuple[str, ...]:
    """Names of all families of counters."""
    return shelf.ids(families_shelf)


def fast_family_names() -> tuple[str, ...]:
    """The named fast set: families that go at the pace asked for."""
    return tuple(name for name, family in shelf.every(families_shelf, Family).items() if family.pace == "fast")


@dataclass(slots=True, kw_only=True)
class Recording:
    """What was recorded so far, or in all. `started_at_s` is wall time (from 1970), everything else counts from there, monotonic."""

    host: str | None
    every_s: float
    started_at_s: float
    duration_s: float = 0.0
    ended: Ended | None = None
    periods_s: dict[str, float] = field(default_factory=dict)
    """By family; a family this machine has not is missing."""
    blocks: dict[str, list[Block]] = field(default_factory=dict)
    labels: dict[str, dict[str, str]] = field(default_factory=dict)
    """By family and scope: words that are no number, such as the congestion control of a flow."""
    link_rates_bits_per_s: dict[str, float] = field(default_factory=dict)
    """What each interface could carry: by its driver, or less where a token bucket shapes it. Unknown ones are missing."""
    problems: list[Problem] = field(default_factory=list)
    lateness_s: array[float] = field(default_factory=lambda: array("d"))
    """How late each tick was, behind its deadline."""
    missed_count: int = 0
    samples_count: int = 0
    cpu_s: float = 0.0
    """CPU time of reading, parsing and keeping, once all is open; without whatever `on_tick` did."""

    def times(self, family: str) -> Numbers:
        """When this family was read."""
        blocks = self.blocks.get(family, [])
        return np.concatenate([block.t_s for block in blocks]) if blocks else np.empty(0)

    def keys(self, family: str) -> tuple[Key, ...]:
        """Every series of a family, in order of appearance."""
        return tuple(dict.fromkeys(key for block in self.blocks.get(family, ()) for key in block.layout))

    def series(self, family: str | None = None) -> Iterator[Series]:
        """Every series of one family or of all."""
        for name in self.blocks if family is None else (family,):
            yield from series_of(self.blocks.get(name, []), self.host)

    def one(self, family: str, scope: str, name: str) -> Series | None:
        """One series, or None where it was not recorded."""
        return next((found for found in self.series(family) if found.key.scope == scope and found.key.name == name), None)

    def cost(self) -> RecordingCost:
        """Own overhead and lateness."""
        late = np.array(self.lateness_s) if len(self.lateness_s) else np.zeros(1)
        return RecordingCost(
            source=Source(tool=TOOL, path="recording", host=self.host),
            every_s=self.every_s,
            duration_s=self.duration_s,
            samples_count=self.samples_count,
            missed_count=self.missed_count,
            cpu_ratio=self.cpu_s / self.duration_s if self.duration_s else 0.0,
            lateness_p50_s=float(np.quantile(late, 0.5)),
            lateness_p99_s=float(np.quantile(late, 0.99)),
            lateness_max_s=float(late.max()),
        )

    def records(self) -> list[Record | Problem]:
        """Everything this recording says: summaries, counters, bursts, flows, listeners, its own cost, and what was not to be had."""
        from wirespeed.observation.recorded import records_of

        return records_of(self)


def record(
    machine: Machine | None = None,
    families: Sequence[str] | None = None,
    *,
    for_s: float,
    every_s: float,
    flows: tuple[str, ...] = (),
    sink: Sink | None = None,
    on_tick: Callable[[Recording], None] | None = None,
    should_stop: Callable[[], bool] | None = None,
) -> Recording:
    """Record for `for_s` seconds (or until `should_stop`, asked at each flush, or Ctrl-C).

    The fast families are read each `every_s`, the others each `every_s` or more rarely, as they say themselves. `sink` is given the
    new blocks at each flush; when it raises OSError (a full disk) the recording ends, with that as a problem. Uses no thread and no
    global state. Raises LookupError for a family there is not.
    """
    machine = Local() if machine is None else machine
    every_s = max(every_s, LEAST_PERIOD_S)
    recording = Recording(host=machine.host, every_s=every_s, started_at_s=time.time())
    sampled = list(_opened(machine, families, Wanted(flows=flows), every_s, recording))
    cpu_started_s = time.thread_time()
    recording.started_at_s = time.time()
    loop = _Loop(recording, sampled, sink, on_tick, should_stop)
    try:
        loop.run(for_s)
    except KeyboardInterrupt:
        recording.ended = "interrupted"
    finally:
        loop.finish(cpu_started_s)
        for one in sampled:
            one.close()
    return recording


def _opened(
    machine: Machine, families: Sequence[str] | None, wanted: Wanted, every_s: float, recording: Recording
) -> Iterator[Sampled]:
    """The families this machine has, the quickest first; what it has not is a problem with its reason."""
    found: list[Sampled] = []
    for name in family_names() if families is None else families:
        if name not in family_names():
            raise LookupError(name)
        family = shelf.take(families_shelf, name, Family)
        try:
            probe = family.open(machine, wanted)
        except MachineProblem as trouble:
            source = Source(tool=TOOL, path=name, host=machine.host)
            recording.problems.append(Problem(source=source, why=trouble.why, reason=trouble.reason))
            continue
        recording.labels[name] = probe.labels
        is_named = families is not None or (name == "flows" and bool(wanted.flows))
        least_s = 0.0 if family.pace == "fast" else family.named_period_s if is_named else family.period_s
        cost = MOST_COST_RATIO["fast" if family.pace == "fast" else "named" if is_named else "slow"]
        found.append(Sampled(name, probe, max(every_s, least_s), cost))
    recording.periods_s = {one.name: one.period_s for one in found}
    if "links" in recording.periods_s:
        recording.link_rates_bits_per_s = link_rates(machine)
    yield from sorted(found, key=lambda one: one.period_s)


class _Loop:
    """The sampling loop: reads, flushes, and knows when to stop."""

    def __init__(
        self,
        recording: Recording,
        sampled: Sequence[Sampled],
        sink: Sink | None,
        on_tick: Callable[[Recording], None] | None,
        should_stop: Callable[[], bool] | None,
    ) -> None:
        self._recording, self._sampled, self._sink, self._on_tick = recording, sampled, sink, on_tick
        self._should_stop = should_stop
        self._watching_s = 0.0
        self._kept_bytes = 0
        self._start_s = time.monotonic()

    def run(self, for_s: float) -> None:
        """Until the time is over; every family is read at its start and at its end."""
        start_s, sampled, lateness_s = self._start_s, self._sampled, self._recording.lateness_s
        flush_s = FLUSH_S
        while self._recording.ended is None:
            due_s = min([one.due_s for one in sampled], default=for_s)
            if due_s >= for_s:
                self._pause_until(for_s)
                self._recording.ended = "finished"
                break
            self._pause_until(due_s)
            now_s = time.monotonic() - start_s
            lateness_s.append(now_s - due_s)
            for one in sampled:
                if one.due_s <= max(now_s, due_s):
                    one.take(time.monotonic() - start_s)
                    one.schedule(time.monotonic() - start_s)
            if now_s >= flush_s:
                self._flush()
                flush_s = time.monotonic() - start_s + FLUSH_S

    def _pause_until(self, due_s: float) -> None:
        pause_s = self._start_s + due_s - time.monotonic()
        if pause_s > 0:
            time.sleep(pause_s)

    def _flush(self) -> None:
        recording = self._recording
        fresh = [block for one in self._sampled for block in one.flushed()]
        for block in fresh:
            recording.blocks.setdefault(block.family, []).append(block)
            self._kept_bytes += block.values.nbytes + block.first.nbytes + block.t_s.nbytes
        recording.duration_s = time.monotonic() - self._start_s
        if self._sink is not None and fresh:
            try:
                self._sink(fresh)
            except OSError as error:
                recording.ended = "not-kept"
                why = Text(
                    en=f"what was recorded could not be kept any more: {error.strerror}", zh=f"记录无法继续保存：{error.strerror}"
                )
                recording.problems.append(_problem(recording, "series", why))
                self._sink = None
        self._slow_down()
        if self._on_tick is not None:
            before_s = time.thread_time()
            self._on_tick(recording)
            self._watching_s += time.thread_time() - before_s
        if recording.ended is None and self._kept_bytes > MOST_KEPT_BYTES:
            recording.ended = "stopped"
            why = Text(en="ended early: its samples fill the memory it may take", zh="提前结束：采样已占满允许的内存")
            recording.problems.append(_problem(recording, "series", why))
        if recording.ended is None and self._should_stop is not None and self._should_stop():
            recording.ended = "stopped"

    def _slow_down(self) -> None:
        """Read a costly family more rarely, and say so."""
        for one in self._sampled:
            period_s = one.slowed_period_s()
            if period_s is not None:
                ratio = period_s / one.asked_period_s
                one.period_s = self._recording.periods_s[one.name] = period_s
                why = Text(
                    en=f"costs much to read on this machine, and is read {ratio:.0f} times more rarely than asked",
                    zh=f"在本机上读取代价较高，读取间隔为要求的 {ratio:.0f} 倍",
                )
                earlier = [kept for kept in self._recording.problems if kept.source.path != one.name]
                self._recording.problems[:] = [*earlier, _problem(self._recording, one.name, why)]

    def finish(self, cpu_started_s: float) -> None:
        """The last sample of every family, the last flush, and the sums."""
        recording = self._recording
        recording.ended = recording.ended or "interrupted"
        for one in self._sampled:
            one.take_last(time.monotonic() - self._start_s)
        self._on_tick = None
        self._flush()
        recording.missed_count = sum(one.missed_count for one in self._sampled)
        recording.samples_count = sum(one.samples_count for one in self._sampled)
        recording.cpu_s = time.thread_time() - cpu_started_s - self._watching_s
        for one in self._sampled:
            known = [problem.why.en for problem in recording.problems]
            recording.problems.extend(problem for problem in one.probe.problems if problem.why.en not in known)
        stepped_s = time.time() - recording.started_at_s - recording.duration_s
        if abs(stepped_s) > CLOCK_STEP_S:
            why = Text(
                en="the wall clock was set while recording; times count from the start and do not follow it",
                zh="记录期间系统时间被调整；时间从起点起单调计数，不受其影响",
            )
            recording.problems.append(_problem(recording, "clock", why))


def _problem(recording: Recording, path: str, why: Text) -> Problem:
    return Problem(source=Source(tool=TOOL, path=path, host=recording.host), why=why)
