"""What a recording says about what moves together: symptoms found by name and size, series on one clock, records of what moved with them."""

from collections.abc import Iterable, Iterator

import numpy as np

from wirespeed.diagnosis.comparison import unit_of
from wirespeed.diagnosis.relevance import is_symptom, is_trouble, least_of_series
from wirespeed.model.samples import Series
from wirespeed.model.series import Moved, Periodic
from wirespeed.model.source import Source
from wirespeed.theory.correlation import moved_together, rhythms, widest_lag
from wirespeed.theory.grids import name_of, on_grid
from wirespeed.theory.statistics import Values

MOST_SAMPLES = 4096
"""Longer recordings are put on a coarser clock."""
LONGEST_LAG_S = 2.0
"""A cause that shows more than this before its effect is not looked for: time-outs and buffers of networks are shorter."""
MOST_SYMPTOMS = 8
MOST_FOR_ONE_SYMPTOM = 6
ALIKE_RATIO = 0.9
"""Symptoms that correlate this much at no lag are told as one."""
SAME_RATIO = 0.995
"""A series that correlates this much at no lag is the symptom itself, counted in another table."""


def correlated(series: Iterable[Series], tool: str = "record") -> tuple[Moved | Periodic, ...]:
    """What moved with the strongest symptoms of a recording, and what spiked evenly; all series are of one host and one start.

    Symptoms are delays, queues and troubles (`relevance.is_symptom`) that at their highest reach what matters; the strongest are taken.
    """
    known = [one for one in series if len(one.t_s) > 2 and not (one.value == one.value[0]).all()]
    if not known:
        return ()
    source = Source(tool=tool, path="series", host=known[0].host)
    duration_s = max(float(one.t_s[-1]) for one in known)
    every_s = max(min(float(np.median(np.diff(one.t_s))) for one in known), duration_s / MOST_SAMPLES)
    grid = on_grid(known, every_s, duration_s)
    strengths = {name_of(one): _strength(one, grid[name_of(one)]) for one in known}
    symptoms = [name_of(one) for one in known if is_symptom(one.key.name) and strengths[name_of(one)] >= 1.0]
    strongest = dict(_distinct((name, grid[name]) for name in sorted(symptoms, key=lambda name: -strengths[name])))
    length = len(next(iter(grid.values())))
    moved = moved_together(strongest, grid, min(widest_lag(length), round(LONGEST_LAG_S / every_s)), every_s, source)
    active = {name: values for name, values in grid.items() if strengths[name] >= 1.0}
    return (*_told(moved), *rhythms(active, every_s, source))


def _distinct(symptoms: Iterable[tuple[str, Values]]) -> Iterator[tuple[str, Values]]:
    """The first symptoms that are not another one under a different name: a retransmit has some ten counters."""
    kept: list[Values] = []
    for name, values in symptoms:
        centred = np.nan_to_num(values - np.nanmean(values))
        unit = centred / (np.linalg.norm(centred) or 1.0)
        if all(abs(float(unit @ other)) < ALIKE_RATIO for other in kept):
            kept.append(unit)
            yield name, values
        if len(kept) == MOST_SYMPTOMS:
            return


def _strength(series: Series, values: Values) -> float:
    """How far a series reaches beyond its usual value, as a multiple of what matters of it."""
    key = series.key
    least = least_of_series(key.family, key.name, unit_of(key), is_rate=key.kind == "counter")
    there = values[np.isfinite(values)]
    if not len(there):
        return 0.0
    usual = float(np.median(there))
    return (float(there.max()) - usual) / least.of(usual, usual)


def _told(moved: Iterable[Moved]) -> Iterator[Moved]:
    """The first few of each symptom; a pair is told once, and one trouble counted under several names not at all."""
    told: dict[str, int] = {}
    pairs: set[frozenset[str]] = set()
    for one in sorted(moved, key=lambda each: -abs(each.coefficient_ratio)):
        pair = frozenset((one.symptom, one.series))
        if _is_one_thing(one) or pair in pairs or told.get(one.symptom, 0) >= MOST_FOR_ONE_SYMPTOM:
            continue
        pairs.add(pair)
        told[one.symptom] = told.get(one.symptom, 0) + 1
        yield one


def _is_one_thing(one: Moved) -> bool:
    """Whether both are the same events: equal at no lag, or two troubles of one family (a retransmit has some five names in TCP)."""
    if one.coefficient_ratio >= SAME_RATIO and one.lag_s == 0.0:
        return True
    (family, name), (other_family, other_name) = (_parts(without_host(full, one.host)) for full in (one.symptom, one.series))
    return family == other_family and is_trouble(name) and is_trouble(other_name)


def without_host(name: str, host: str | None) -> str:
    """`family/scope/name` of a series that is called with its host in front."""
    return name.removeprefix(f"{host or '?'} ")


def _parts(path: str) -> tuple[str, str]:
    """Family and own name of a series."""
    return path.partition("/")[0], path.rpartition("/")[2]
