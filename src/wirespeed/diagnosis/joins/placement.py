"""Where the nodes of a job stand in the fabric: joins what runs where with what hangs on which switch, block, rack or zone."""

from collections.abc import Iterator
from dataclasses import dataclass

from wirespeed.model.case import Case
from wirespeed.model.facts.cluster import JobNodes, NodeGroup
from wirespeed.model.record import Record

SCHEDULERS = frozenset({"slurm"})
"""Tools whose jobs are parallel by nature; a set of pods may as well be spread on purpose, for availability."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """One job on one level of the fabric."""

    job: str
    level: str
    nodes_count: int
    places: tuple[str, ...]
    fits_one: bool
    """Whether a single place has as many nodes as the job."""
    is_parallel: bool
    records: tuple[Record, ...]


def spreads(case: Case) -> tuple[Spread, ...]:
    """Every job of two nodes or more, on each level on which all its nodes are known."""
    places: dict[str, dict[str, NodeGroup]] = {}
    sizes: dict[tuple[str, str], set[str]] = {}
    for group in case.every(NodeGroup):
        for node in group.nodes:
            places.setdefault(group.level, {})[node] = group
        sizes.setdefault((group.level, group.name), set()).update(group.nodes)
    return tuple(_of_jobs(case, places, sizes))


def _of_jobs(case: Case, places: dict[str, dict[str, NodeGroup]], sizes: dict[tuple[str, str], set[str]]) -> Iterator[Spread]:
    jobs: dict[str, list[JobNodes]] = {}
    for one in case.every(JobNodes):
        jobs.setdefault(one.job, []).append(one)
    for job, parts in jobs.items():
        nodes = {node for part in parts for node in part.nodes}
        for level, group_of in places.items():
            if len(nodes) < 2 or not nodes <= group_of.keys():
                continue
            named = {group_of[node].name: group_of[node] for node in sorted(nodes)}
            yield Spread(
                job=job,
                level=level,
                nodes_count=len(nodes),
                places=tuple(named),
                fits_one=any(len(held) >= len(nodes) for (of_level, _), held in sizes.items() if of_level == level),
                is_parallel=any(part.source.tool in SCHEDULERS for part in parts),
                records=(parts[0], *list(named.values())[:2]),
            )
