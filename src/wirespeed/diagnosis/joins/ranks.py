"""What NCCL tells of each rank of a running job: who is gone, who is behind, who comes last, and how much goes by small messages."""

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from wirespeed.model.case import Case
from wirespeed.model.events.nccl import NcclRankState
from wirespeed.model.measurement import CollectiveRun, CollectiveTotal

_GONE_STATES = ("dead", "missing")
_UNEQUAL_RATIO, _UNEQUAL_S = 0.3, 1e-4
"""An operation in which somebody waited: its times on the ranks are a third apart, and more than launching costs."""
FEWEST_OPERATIONS = 5
_SAME_RANK_RATIO = 0.7
SMALL_BYTES = 1_000_000
"""Half of the bandwidth of a link of 100 Gb/s and more is reached at about this size."""
FEWEST_MESSAGES = 100
MOST_KINDS = 32
"""Different sets of counts of one report that are compared in pairs."""

Report = tuple[str, int, str]
"""Input, place of the report in it, and communicator."""


def gone(case: Case, state: str) -> tuple[NcclRankState, ...]:
    """Ranks or processes that RAS calls `dead` or `missing`."""
    assert state in _GONE_STATES
    return case.every(NcclRankState, state=state)


def all_well(case: Case) -> tuple[NcclRankState, ...]:
    """The summary rows of reports in which every communicator is running and without errors; nothing where any is not."""
    rows = case.every(NcclRankState, lambda one: one.communicator.startswith("group "))
    return rows if all(one.error is None and one.state == "running" for one in rows) else ()


def behind(case: Case) -> tuple[NcclRankState, ...]:
    """Named ranks that have launched fewer operations of a kind than others of their communicator, in the last report of each."""
    last = {report[2]: report for report in sorted(_reports(case))}
    reports = _reports(case)
    return tuple(one for report in last.values() for one in _behind(reports[report]))


def stuck(case: Case) -> tuple[NcclRankState, ...]:
    """Ranks that are behind by the same counts in two reports, while the others' counts stand still too: nothing moves any more."""
    by_communicator: dict[str, list[list[NcclRankState]]] = defaultdict(list)
    reports = _reports(case)
    for report in sorted(reports):
        by_communicator[report[2]].append(reports[report])
    return tuple(
        rank
        for series in by_communicator.values()
        if len(series) >= 2 and _most(series[-1]) == _most(series[-2]) and _most(series[-1])
        for rank in _behind(series[-1])
        if any(_counts(rank) == _counts(other) for other in _behind(series[-2]) if other.rank == rank.rank)
    )


def disagreeing(case: Case) -> tuple[NcclRankState, ...]:
    """Two ranks of one communicator each of which has launched more of some operation than the other: different sequences of calls.

    However late a rank is, as long as it makes the same calls none of its counts is above those of a rank that is ahead.
    """
    for states in _reports(case).values():
        alike = {_counts(one): one for one in states if one.rank is not None and len(one.launched_counts) > 1}
        kinds = list(alike.values())[:MOST_KINDS]
        for place, first in enumerate(kinds):
            for second in kinds[:place]:
                if _is_more(first, second) and _is_more(second, first):
                    return (second, first)
    return ()


def _is_more(one: NcclRankState, other: NcclRankState) -> bool:
    return any(count > other.launched_counts.get(name, 0) for name, count in one.launched_counts.items())


def _reports(case: Case) -> dict[Report, list[NcclRankState]]:
    found: dict[Report, list[NcclRankState]] = defaultdict(list)
    for one in case.every(NcclRankState, lambda one: bool(one.launched_counts)):
        found[one.source.path, one.report_index, one.communicator].append(one)
    return dict(found)


def _most(states: Iterable[NcclRankState]) -> dict[str, int]:
    most: dict[str, int] = {}
    for one in states:
        for name, count in one.launched_counts.items():
            most[name] = max(most.get(name, 0), count)
    return most


def _behind(states: list[NcclRankState]) -> list[NcclRankState]:
    most = _most(states)
    return [
        one for one in states if one.rank is not None and any(count < most[name] for name, count in one.launched_counts.items())
    ]


def _counts(state: NcclRankState) -> tuple[tuple[str, int], ...]:
    return tuple(sorted(state.launched_counts.items()))


@dataclass(frozen=True, slots=True, kw_only=True)
class LastComers:
    """Who came last to the operations of a job that somebody waited in."""

    rank: int | None
    """The rank that mostly did; None where it is now this one, now that."""
    share_ratio: float
    operations_count: int
    runs: tuple[CollectiveRun, ...]


def last_comers(case: Case) -> LastComers | None:
    """By the inspector's times on the GPU: the kernel of the rank that comes last runs shortest, because nobody is waited for any more."""
    operations: dict[tuple[str | None, int | None, str | None], list[CollectiveRun]] = defaultdict(list)
    for one in case.every(
        CollectiveRun, lambda one: one.rank is not None and one.time_s is not None and one.is_timed_by_gpu is not False
    ):
        operations[one.communicator, one.sequence_number, one.operation].append(one)
    last: list[CollectiveRun] = []
    for runs in operations.values():
        short, long = (pick(runs, key=lambda one: one.time_s or 0.0) for pick in (min, max))
        apart_s = (long.time_s or 0.0) - (short.time_s or 0.0)
        if len({one.rank for one in runs}) >= 2 and apart_s >= max(_UNEQUAL_S, _UNEQUAL_RATIO * (long.time_s or 0.0)):
            last.append(short)
    if len(last) < FEWEST_OPERATIONS:
        return None
    rank, count = Counter(one.rank for one in last).most_common(1)[0]
    share = count / len(last)
    is_one = share >= _SAME_RANK_RATIO
    shown = tuple(one for one in last if one.rank == rank) if is_one else tuple(last)
    return LastComers(rank=rank if is_one else None, share_ratio=share, operations_count=len(last), runs=shown[:3])


def small_message_share(case: Case) -> tuple[float, int, tuple[CollectiveRun | CollectiveTotal, ...]] | None:
    """Share of a job's time in collectives that messages of less than a megabyte take, their number, and some of them."""
    totals = case.every(CollectiveTotal, lambda one: one.operations_count > 0 and one.size_bytes > 0)
    if totals:
        few = tuple(one for one in totals if one.size_bytes < SMALL_BYTES)
        count, whole_s = sum(one.operations_count for one in few), sum(one.total_s for one in totals)
        return (sum(one.total_s for one in few) / whole_s, count, few[:3]) if count >= FEWEST_MESSAGES and whole_s > 0 else None
    runs = case.every(CollectiveRun, lambda one: one.rank is not None and one.time_s is not None)
    small = tuple(one for one in runs if one.size_bytes < SMALL_BYTES)
    total_s = sum(one.time_s or 0.0 for one in runs)
    if len(small) < FEWEST_MESSAGES or total_s <= 0:
        return None
    return sum(one.time_s or 0.0 for one in small) / total_s, len(small), small[:3]
