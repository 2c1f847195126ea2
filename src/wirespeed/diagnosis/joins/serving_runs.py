"""Runs of a load generator, put together from their figures: what was asked, what was served, and how the one follows the other."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from wirespeed.model.case import Case
from wirespeed.model.measurement import ServingMetric

OVER_TIMES = 1.2
FLAT_TIMES = 1.08
FLAT_LOAD_TIMES = 3.0
_TAIL_TIMES = 2.0
"""A run ends when its last request does; only a longer end than two requests take means that they were waiting."""
_CENTRES = ("mean", "median", "")


@dataclass(frozen=True, slots=True)
class Run:
    """The figures of one run."""

    tool: str
    metrics: tuple[ServingMetric, ...]

    def figure(self, name: str) -> ServingMetric | None:
        """The mean of a figure, its median where no mean is told, or its only value."""
        found = [one for one in self.metrics if one.name == name and one.at in _CENTRES]
        return min(found, key=lambda one: _CENTRES.index(one.at), default=None)


def runs(case: Case) -> tuple[Run, ...]:
    """Every run that a load generator's own report tells apart, in input order."""
    found: dict[tuple[str, str], list[ServingMetric]] = defaultdict(list)
    for one in case.every(ServingMetric, lambda one: bool(one.run)):
        found[one.source.tool, one.run].append(one)
    return tuple(Run(tool, tuple(metrics)) for (tool, _), metrics in found.items())


def served_below_offered(case: Case) -> tuple[ServingMetric, ServingMetric] | None:
    """Rates offered and served of a run that fell behind what it was to send.

    A short run serves less than is offered because its last requests take their time: that alone does not count.
    """
    for run in runs(case):
        offered, served, duration_s = run.figure("offered_per_s"), run.figure("requests_per_s"), run.figure("duration_s")
        stay_s, count = run.figure("e2e_s"), run.figure("successful_count")
        if not (offered and served and offered.value >= OVER_TIMES * served.value > 0):
            continue
        if duration_s and stay_s and count:
            arrivals_s = count.value / offered.value
            if duration_s.value - arrivals_s >= _TAIL_TIMES * stay_s.value:
                return offered, served
        elif _kept_up_with_less(case, run, offered.value):
            return offered, served
    return None


def _kept_up_with_less(case: Case, run: Run, offered_per_s: float) -> bool:
    """Whether another run of this tool served all of a lower rate."""
    for other in runs(case):
        offered, served = other.figure("offered_per_s"), other.figure("requests_per_s")
        if (
            other.tool == run.tool
            and offered
            and served
            and offered.value < offered_per_s
            and OVER_TIMES * served.value >= offered.value
        ):
            return True
    return False


def flat_throughput(case: Case) -> tuple[ServingMetric, ...]:
    """Rates of three or more runs of one tool that stay the same while the requests in flight multiply; the last of them."""
    by_tool: dict[str, list[tuple[float, ServingMetric]]] = defaultdict(list)
    for run in runs(case):
        load, rate = run.figure("concurrency_count"), run.figure("output_tokens_per_s") or run.figure("requests_per_s")
        if load and rate:
            by_tool[run.tool].append((load.value, rate))
    return next((found for points in by_tool.values() for found in _flat(points)), ())


def _flat(points: list[tuple[float, ServingMetric]]) -> Iterator[tuple[ServingMetric, ...]]:
    last = sorted(points, key=lambda one: one[0])[-3:]
    if len(last) < 3 or last[-1][0] < FLAT_LOAD_TIMES * last[0][0]:
        return
    rates = [rate.value for _, rate in last]
    if max(rates) <= FLAT_TIMES * min(rates):
        yield tuple(rate for _, rate in last)
