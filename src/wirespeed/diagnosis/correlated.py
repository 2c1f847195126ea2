"""What a recording says about what moves together: symptoms found by name and size, series on one clock, records of what moved with them."""

from collections.abc import Iterable, Iterator

import numpy as np

from wirespeed.diagnosis.comparison import unit_of
from wirespeed.diagnosis.relevance import is_symptom, is_trouble, least_of_series
from wirespeed.model.samples import Series
from wirespeed.model.series import Moved, Periodic
from wirespeed.model.source import Source
from wirespeed.theory.correlation import moved_together, rhythms, widest_lag
from wirespeed.theory.statistics import Values

MOST_SAMPLES = 4096
"""Longer recordings are put on a coarser clock."""
LONGEST_LAG_S = 2.0
"""A cause that shows more than this before its effect is not looked for: time-outs and buffers of networks are shorter."""
MOST_SYMPTOMS = 8
MOST_FOR_ONE_SYMPTOM = 6
SAME_RATIO = 0.995
"""A series that correlates this much at no lag is the symptom itself, counted in another table."""


def correlated(series: Iterable[Series], tool: str = "record") -> tuple[Moved | Periodic, ...]:
    """What moved with the strongest symptoms of a recording, and what spiked evenly; all series are of one host and one start.

    Symptoms are delays, queues and troubles (`relevance.is_symptom`) that at their highest reach what matters; the strongest are taken.
    """
    known = [one for one in series if len(one.t_s) > 2]
    if not known:
        return ()
    host = known[0].host
    source = Source(tool=tool, path="series", host=host)
    every_s, clock = _clock(known)
    grid = {_name(one): values for one in known if (values := on_clock(one, clock)) is not None}
    most_lag = min(widest_lag(len(clock) - 1), round(LONGEST_LAG_S / every_s))
    symptoms = {name: grid[name] for name in _symptoms(known, grid)}
    moved = list(moved_together(symptoms, grid, most_lag, every_s, source))
    active = {_name(one): grid[_name(one)] for one in known if _name(one) in grid and _strength(one, grid[_name(one)]) >= 1.0}
    return (*_strongest(moved), *rhythms(active, every_s, source))


def _name(series: Series) -> str:
    key = series.key
    return " ".join(part for part in (series.host or "", f"{key.family}/{key.scope}/{key.name}") if part)


def _clock(series: list[Series]) -> tuple[float, Values]:
    """One clock for all: the pace of the quickest, over the time all have in common."""
    paces_s = [float(np.median(np.diff(one.t_s))) for one in series]
    start_s, end_s = (float(np.median([one.t_s[place] for one in series])) for place in (0, -1))
    every_s = max(min(paces_s), (end_s - start_s) / MOST_SAMPLES, 1e-6)
    count = round((end_s - start_s) / every_s) + 1
    return every_s, np.linspace(start_s, start_s + (count - 1) * every_s, count)


def on_clock(series: Series, clock: Values) -> Values | None:
    """The figures of a series between the ticks of a clock: a counter's rate, a gauge's last value; None where it does not move.

    A counter read more rarely has its count spread evenly; one that fell (a device made anew) has a gap there.
    """
    t_s, value = series.t_s, series.value
    known = np.isfinite(value)
    t_s, value = t_s[known], value[known]
    if len(value) < 3 or (value == value[0]).all():
        return None
    if series.key.kind == "gauge":
        places = np.searchsorted(t_s, clock[1:] + 1e-9, side="right") - 1
        return np.where(places < 0, np.nan, value[np.maximum(places, 0)])
    steps = np.diff(value)
    whole = np.concatenate(([0.0], np.cumsum(np.maximum(steps, 0.0))))
    counted = np.diff(np.interp(clock, t_s, whole)) / np.diff(clock)
    fell = t_s[1:][steps < 0]
    if len(fell):
        counted[np.clip(np.searchsorted(clock, fell) - 1, 0, len(counted) - 1)] = np.nan
    return counted


def _strength(series: Series, values: Values) -> float:
    """How far a series reaches beyond its usual value, as a multiple of what matters of it."""
    key = series.key
    least = least_of_series(key.family, key.name, unit_of(key), is_rate=key.kind == "counter")
    usual, highest = float(np.nanmedian(values)), float(np.nanmax(values))
    return (highest - usual) / least.of(usual, usual)


def _symptoms(series: list[Series], grid: dict[str, Values]) -> list[str]:
    found = [(_strength(one, grid[_name(one)]), _name(one)) for one in series if is_symptom(one.key.name) and _name(one) in grid]
    return [name for strength, name in sorted(found, reverse=True) if strength >= 1.0][:MOST_SYMPTOMS]


def _strongest(moved: list[Moved]) -> Iterator[Moved]:
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
    return name.removeprefix(f"{host} ") if host else name


def _parts(path: str) -> tuple[str, str]:
    """Family and own name of a series."""
    return path.partition("/")[0], path.rpartition("/")[2]
