"""What the times of training steps tell: steps that grow slower, ranks that stop logging, and what the parts of a step take."""

from collections import defaultdict
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import Literal

from wirespeed.diagnosis.joins.levels import FEWEST_VALUES, break_of
from wirespeed.model.case import Case
from wirespeed.model.measurement import PhaseTime, TrainingStep

WARM_UP_STEPS = 2
"""Compilation, allocation and the first batches make the first steps longer."""
SLOWER_TIMES = 1.25
"""How much slower the later steps must be; starting points, not calibrated."""
DRIFT_TIMES = 1.15
_QUARTER_RISES = 1.02
STEADY_RATIO = 0.15
"""Median distance from the median, of what is called one level."""
_LAST_STEPS = 2

COMMUNICATION = frozenset(
    {"all-grads-sync", "grads-all-reduce", "grads-reduce-scatter", "params-all-gather", "layernorm-grads-all-reduce"}
    | {
        "embedding-grads-all-reduce",
        "non-tensor-parallel-grads-all-reduce",
        "bwd_allreduce",
        "backward-allreduce",
        "optimizer_allgather",
    }
)
"""Timers of communication that is not hidden (megatron/training/training.py, deepspeed/runtime/engine.py)."""
COMPUTE = frozenset({"forward-compute", "backward-compute", "fwd", "bwd_inner", "forward", "backward-backward"})
_WHOLE = (("forward-backward", "optimizer"), ("fwd", "bwd", "step"), ("forward", "backward", "optimizer"))
"""Timers that together make up a step."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Slowdown:
    """Steps of one run that became slower and stayed so."""

    how: Literal["sudden", "gradual"]
    times: float
    before: TrainingStep
    after: TrainingStep


def slowdown(case: Case) -> Slowdown | None:
    """The clearest one of all runs."""
    found = [one for steps in _series(case).values() if (one := _slowdown_of(steps)) is not None]
    return max(found, key=lambda one: one.times, default=None)


def _series(case: Case) -> dict[tuple[str, int | None], list[tuple[TrainingStep, float]]]:
    """Steps with their times, run by run; where a log gives rates, the time is that of one unit."""
    found: dict[tuple[str, int | None], list[tuple[TrainingStep, float]]] = defaultdict(list)
    for one in case.every(TrainingStep):
        time_s = one.step_s or (1.0 / one.throughput_per_s if one.throughput_per_s else None)
        if time_s:
            found[one.source.path, one.rank].append((one, time_s))
    return found


def _slowdown_of(steps: list[tuple[TrainingStep, float]]) -> Slowdown | None:
    steps = steps[WARM_UP_STEPS:]
    if len(steps) < FEWEST_VALUES:
        return None
    times = [time for _, time in steps]
    quarter = len(times) // 4
    levels = [median(times[place * quarter : (place + 1) * quarter]) for place in range(4)]
    rises = all(later >= _QUARTER_RISES * earlier for earlier, later in pairwise(levels))
    if rises and levels[-1] >= DRIFT_TIMES * levels[0]:
        return Slowdown(how="gradual", times=levels[-1] / levels[0], before=steps[0][0], after=steps[-1][0])
    place = break_of(times, SLOWER_TIMES, STEADY_RATIO)
    if place is None:
        return None
    before, after = times[:place], times[place:]
    return Slowdown(how="sudden", times=median(after) / median(before), before=steps[place - 1][0], after=steps[place][0])


def fallen_silent(case: Case) -> tuple[TrainingStep, ...]:
    """The last step of each rank that logs none any more while the others go on."""
    last: dict[int, TrainingStep] = {}
    for one in case.every(TrainingStep, lambda one: one.rank is not None):
        last[one.rank or 0] = one
    if len(last) < 3:
        return ()
    usual = median(one.step_index for one in last.values())
    silent = tuple(one for one in last.values() if one.step_index < usual - _LAST_STEPS)
    return silent if 0 < 2 * len(silent) < len(last) else ()


def _seconds(phase: PhaseTime) -> float:
    """The time that the step takes for this part: on the slowest rank, where all are told."""
    return phase.time_max_s or phase.time_s or 0.0


def _reports(case: Case) -> dict[tuple[str, int], list[PhaseTime]]:
    found: dict[tuple[str, int], list[PhaseTime]] = defaultdict(list)
    for one in case.every(PhaseTime):
        found[one.source.path, one.report_index].append(one)
    return found


def communication_share(case: Case) -> tuple[float, tuple[PhaseTime, ...]] | None:
    """The greatest share of a step that unhidden communication takes by the program's timers, with those of communication."""
    shares = []
    for phases in _reports(case).values():
        whole = max((sum(_of(phases, name) for name in names) for names in _WHOLE), default=0.0)
        spoken = tuple(one for one in phases if one.name in COMMUNICATION)
        if whole > 0 and spoken:
            shares.append((min(1.0, max(_seconds(one) for one in spoken) / whole), spoken))
    return max(shares, key=lambda one: one[0], default=None)


def data_share(case: Case) -> tuple[float, PhaseTime] | None:
    """The greatest share of a step that fetching the batch takes on the slowest rank."""
    shares = []
    for phases in _reports(case).values():
        whole = max((sum(_of(phases, name) for name in names) for names in _WHOLE), default=0.0)
        shares += [
            (min(1.0, _seconds(one) / whole), one)
            for one in phases
            if one.name in ("batch-generator", "batch generator") and whole > 0
        ]
    return max(shares, key=lambda one: one[0], default=None)


def _of(phases: list[PhaseTime], name: str) -> float:
    return max((_seconds(one) for one in phases if one.name == name), default=0.0)


def uneven_compute(case: Case, apart_ratio: float) -> tuple[PhaseTime, ...]:
    """Computing that takes the slowest rank so much longer than the quickest."""
    return case.every(
        PhaseTime,
        lambda one: (
            one.name in COMPUTE
            and one.time_min_s is not None
            and one.time_max_s is not None
            and one.time_max_s - one.time_min_s >= apart_ratio * one.time_max_s > 0
        ),
    )


def slow_rank_of_compute(case: Case, slower_times: float) -> tuple[PhaseTime, ...]:
    """The one rank whose computing takes far longer than the others', where every rank is told."""
    for phases in _reports(case).values():
        for name in sorted(COMPUTE):
            of_ranks = [one for one in phases if one.name == name and one.rank is not None and one.time_s]
            if len(of_ranks) < 3:
                continue
            usual = median(one.time_s or 0.0 for one in of_ranks)
            slow = tuple(one for one in of_ranks if (one.time_s or 0.0) >= slower_times * usual)
            if len(slow) == 1:
                return slow
    return ()
