"""Two runs compared figure by figure: series as rates or levels, measurements as measured, each with an interval and a verdict.

A figure has moved when its true difference is larger than the smallest that matters (`relevance`), not when it merely is not zero: an idle
machine is never twice the same. The test is of that interval of indifference (Hodges & Lehmann 1954), corrected for the number of figures.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

import msgspec
import numpy as np

from wirespeed.diagnosis.relevance import least_of_measurement, least_of_series
from wirespeed.model.comparison import FigureChange
from wirespeed.model.link_runs import DatagramTrain, FlowRun, LatencyRun
from wirespeed.model.measurement import CollectiveRun, LoadRun, PingRun, ThroughputRun
from wirespeed.model.record import Record
from wirespeed.model.samples import Key, Series
from wirespeed.model.series import SeriesSummary
from wirespeed.model.source import Problem
from wirespeed.model.text import Text
from wirespeed.theory.rates import rates
from wirespeed.theory.statistics import Estimate, Values, adjusted, difference, mean_of, mean_of_repeats, quantile_of

FALSE_MOVES_RATIO = 0.05
"""Share of false ones among the figures that are said to have moved."""
TAIL_SHARE = 0.99
SAME_PACE_RATIO = 1.25
"""Tails of rates are compared only where both runs sampled at about the same pace: a rate over a shorter time has higher peaks."""
LIVES_ONCE = frozenset({"flows"})
"""Families whose series have a name that is used once: a connection has no counterpart in another run."""

_TOO_FEW = Text(en="too few samples", zh="样本过少")
_TOO_FEW_REPEATS = Text(en="measured fewer than four times in one of the runs", zh="其中一次运行的测量次数少于四次")
_SCATTER = Text(en="the scatter is larger than what could be told", zh="波动过大，无法判断")
_SUMMARY_ONLY = Text(en="only summaries are at hand, not the samples", zh="只有汇总值，没有样本")


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """What of one kind of measurement is compared, and which fields must be alike for two of them to be the same measurement."""

    same: tuple[str, ...]
    figures: tuple[str, ...]


MEASURES: Mapping[type[Record], Measure] = {
    FlowRun: Measure(
        same=("sender", "receiver", "purpose", "congestion_control", "is_copied"),
        figures=("goodput_bytes_per_s", "rtt_p50_s", "rtt_p99_s"),
    ),
    LatencyRun: Measure(
        same=("sender", "receiver", "protocol", "load", "waiting", "payload_bytes"), figures=("rtt_min_s", "rtt_p50_s", "rtt_p99_s")
    ),
    DatagramTrain: Measure(same=("sender", "receiver", "payload_bytes", "rate_per_s"), figures=("loss_ratio",)),
    CollectiveRun: Measure(same=("operation", "size_bytes", "rank_count", "in_place"), figures=("busbw_bytes_per_s", "time_s")),
    ThroughputRun: Measure(
        same=("tool", "role", "protocol", "stream_count", "size_bytes", "is_reverse"), figures=("rate_bits_per_s",)
    ),
    PingRun: Measure(same=("target", "payload_bytes", "dont_fragment"), figures=("rtt_mean_s", "loss_ratio")),
    LoadRun: Measure(same=("tool", "connections_count"), figures=("requests_per_s", "latency_p50_s", "latency_p99_s")),
}


@dataclass(frozen=True, slots=True)
class _Pair:
    """One figure of both runs before it is judged."""

    group: Literal["series", "measurement"]
    figure: str
    statistic: Literal["mean", "p99", "value"]
    unit: str
    before: Estimate
    after: Estimate
    least: float
    if_unknown: Text


def compared(
    before: tuple[Iterable[Series], Iterable[Record | Problem]], after: tuple[Iterable[Series], Iterable[Record | Problem]]
) -> tuple[FigureChange, ...]:
    """Every figure that both runs have, what moved first and most, then what cannot be told, then what stood still.

    Movers are ordered by the least they moved (the near end of the interval) as a multiple of what matters. A figure without any
    difference is left out: series that did not change at all are most of a recording.
    """
    (old_series, old_records), (new_series, new_records) = before, after
    old, new = list(old_records), list(new_records)
    sampled = list(_of_series(old_series, new_series))
    names = {pair.figure for pair in sampled}
    pairs = [*sampled, *_of_summaries(old, new, names), *_of_measurements(old, new)]
    return _judged([pair for pair in pairs if pair.before.value != pair.after.value])


def _judged(pairs: list[_Pair]) -> tuple[FigureChange, ...]:
    differences = [difference(pair.before, pair.after) for pair in pairs]
    chances = adjusted(np.array([one.chance(pair.least) for one, pair in zip(differences, pairs, strict=True)]))
    changes = []
    for pair, one, chance in zip(pairs, differences, chances, strict=True):
        low, high = one.limits()
        is_still = -pair.least <= low and high <= pair.least
        verdict: Literal["moved", "still", "unknown"] = (
            "moved" if chance <= FALSE_MOVES_RATIO else "still" if is_still else "unknown"
        )
        why = None if verdict != "unknown" else _SCATTER if math.isfinite(low) and math.isfinite(high) else pair.if_unknown
        changes.append(
            FigureChange(
                group=pair.group,
                figure=pair.figure,
                statistic=pair.statistic,
                unit=pair.unit,
                before=pair.before.value,
                after=pair.after.value,
                before_count=pair.before.count,
                after_count=pair.after.count,
                difference=one.value,
                lowest=low if math.isfinite(low) else None,
                highest=high if math.isfinite(high) else None,
                least=pair.least,
                chance_ratio=float(chance),
                verdict=verdict,
                why=why,
            )
        )
    order = ("moved", "unknown", "still")
    return tuple(sorted(changes, key=lambda one: (order.index(one.verdict), -_surely_moved(one), one.figure)))


def _surely_moved(change: FigureChange) -> float:
    """The near end of the interval as a multiple of what matters; for what is not known to have moved, the difference itself."""
    if change.verdict != "moved":
        return abs(change.times_least)
    near = change.lowest if change.difference > 0 else change.highest
    return abs(near if near is not None else change.difference) / change.least


def _of_series(before: Iterable[Series], after: Iterable[Series]) -> Iterator[_Pair]:
    old_series, new_series = ([one for one in series if one.key.family not in LIVES_ONCE] for series in (before, after))
    old_looks, new_looks = _looks(old_series), _looks(new_series)
    old = {_name(one.key): one for one in old_series}
    for other in new_series:
        one = old.get(_name(other.key))
        if one is not None and one.key.kind == other.key.kind and one.key.unit == other.key.unit:
            yield from _of_one_series(one, other, old_looks[one.key.family], new_looks[one.key.family])


def _looks(series: list[Series]) -> dict[str, int]:
    """How often each family was looked at. A series that never moved is kept as its two ends: others tell how often it did not."""
    most: dict[str, int] = defaultdict(int)
    for one in series:
        most[one.key.family] = max(most[one.key.family], len(one.t_s))
    of_all = max(most.values(), default=0)
    return {family: count if count > 2 else of_all for family, count in most.items()}


def _of_one_series(one: Series, other: Series, old_looks: int, new_looks: int) -> Iterator[_Pair]:
    key = one.key
    old, new = (values[np.isfinite(values)] for values in (figures_of(one), figures_of(other)))
    if not len(old) or not len(new) or (old[0] == new[0] and _is_constant(old) and _is_constant(new)):
        return
    unit, is_rate = unit_of(key), key.kind == "counter"
    least = least_of_series(key.family, key.name, unit, is_rate=is_rate)
    figures: list[tuple[Literal["mean", "p99"], Callable[[Values], Estimate]]] = [("mean", mean_of)]
    if not is_rate or _is_constant(old) or _is_constant(new) or _paces_agree(one, other):
        figures.append(("p99", lambda values: quantile_of(values, TAIL_SHARE)))
    for statistic, estimate in figures:
        before, after = _of_values(old, old_looks, estimate), _of_values(new, new_looks, estimate)
        matters = least.of(before.value, after.value, tail=statistic == "p99")
        yield _Pair("series", _name(key), statistic, unit, before, after, matters, _TOO_FEW)


def _of_values(values: Values, looks: int, estimate: Callable[[Values], Estimate]) -> Estimate:
    return Estimate(float(values[0]), 0.0, 0.0, looks - 1.0, looks) if _is_constant(values) else estimate(values)


def figures_of(series: Series) -> Values:
    """What is compared of a series: a gauge as it is, a counter as its rate between samples (NaN where it was reset)."""
    if series.key.kind == "gauge":
        return series.value
    return rates(series.t_s, series.value)


def unit_of(key: Key) -> str:
    """The unit of `figures_of`: seconds counted in a second are a share."""
    if key.kind == "gauge":
        return key.unit
    return "ratio" if key.unit == "s" else f"{key.unit}/s"


def _is_constant(values: Values) -> bool:
    return bool((values == values[0]).all())


def _paces_agree(one: Series, other: Series) -> bool:
    paces_s = sorted(float(np.median(np.diff(series.t_s))) for series in (one, other))
    return paces_s[1] <= SAME_PACE_RATIO * paces_s[0]


def _name(key: Key) -> str:
    return f"{key.family}/{key.scope}/{key.name}"


def _of_summaries(before: Iterable[object], after: Iterable[object], known: set[str]) -> Iterator[_Pair]:
    """Series of which one run kept only the summary, as a case file does: shown, and never said to have moved."""
    old = {_of_summary(one): one for one in before if isinstance(one, SeriesSummary) and one.family not in LIVES_ONCE}
    for other in after:
        one = old.get(_of_summary(other)) if isinstance(other, SeriesSummary) else None
        if one is None or not isinstance(other, SeriesSummary) or one.unit != other.unit or _of_summary(one) in known:
            continue
        is_rate = one.first_count is not None
        least = least_of_series(one.family, one.name, one.unit, is_rate=is_rate)
        values = one.values.mean, other.values.mean
        yield _Pair(
            "series",
            _of_summary(one),
            "mean",
            one.unit,
            _without_error(values[0], one.values.count),
            _without_error(values[1], other.values.count),
            least.of(*values),
            _SUMMARY_ONLY,
        )


def _of_summary(one: SeriesSummary) -> str:
    return f"{one.family}/{one.scope}/{one.name}"


def _without_error(value: float, count: int) -> Estimate:
    return Estimate(value, math.inf, math.inf, 0.0, count)


def _of_measurements(before: Iterable[object], after: Iterable[object]) -> Iterator[_Pair]:
    old, new = _by_measure(before), _by_measure(after)
    for figure, records in old.items():
        if figure not in new:
            continue
        for name in MEASURES[type(records[0])].figures:
            one, other = _estimated(records, name), _estimated(new[figure], name)
            if one is not None and other is not None:
                unit = _unit_of_field(name)
                matters = least_of_measurement(unit).of(one.value, other.value)
                yield _Pair("measurement", f"{figure} {name}", "value", unit, one, other, matters, _TOO_FEW_REPEATS)


def _by_measure(records: Iterable[object]) -> dict[str, list[Record]]:
    """Repeats of one measurement, by what is the same in them."""
    found: dict[str, list[Record]] = defaultdict(list)
    for record in records:
        measure = MEASURES.get(type(record)) if isinstance(record, Record) and is_measured(record) else None
        if measure is not None and isinstance(record, Record):
            alike = " ".join(_told(name, getattr(record, name)) for name in measure.same)
            found[f"{type(record).__name__} {' '.join(alike.split())}"].append(record)
    return found


def is_measured(record: Record) -> bool:
    """Whether this is a measurement that came to its end: the rate of a flow that was refused is no rate."""
    return type(record) in MEASURES and not (isinstance(record, FlowRun | LatencyRun) and record.error is not None)


def _told(name: str, value: object) -> str:
    """A value that tells measurements apart, as a word; numbers and switches with their name."""
    if value in (None, False):
        return ""
    return (
        name
        if value is True
        else str(value)
        if isinstance(value, str)
        else f"{name}={value:g}"
        if isinstance(value, float)
        else f"{name}={value}"
    )


def _estimated(records: list[Record], name: str) -> Estimate | None:
    """One figure of repeats of a measurement; None where none of them has it."""
    trains = [record for record in records if isinstance(record, DatagramTrain)]
    if trains:
        return _loss_of(trains)
    values = [float(value) for record in _flows_added(records) if (value := getattr(record, name)) is not None]
    return mean_of_repeats(np.array(values)) if values else None


def _loss_of(trains: list[DatagramTrain]) -> Estimate | None:
    """Loss is counted, so that one train already has an error: that of the number of its loss runs, which are what happens independently."""
    sent, lost, runs = (sum(getattr(train, name) for train in trains) for name in ("sent_count", "lost_count", "loss_runs_count"))
    if not sent:
        return None
    error = lost / sent / math.sqrt(runs) if runs else 1.0 / sent
    return Estimate(lost / sent, error, error, sent - 1.0, sent)


def _flows_added(records: list[Record]) -> list[Record]:
    """Flows that ran at the same time share the path: their goodput is one figure, the sum."""
    together: dict[str, list[FlowRun]] = defaultdict(list)
    for record in records:
        if isinstance(record, FlowRun):
            together[record.test].append(record)
    if not together:
        return records
    return [
        msgspec.structs.replace(flows[0], goodput_bytes_per_s=sum(flow.goodput_bytes_per_s for flow in flows))
        for flows in together.values()
    ]


def _unit_of_field(name: str) -> str:
    endings = {"_bytes_per_s": "bytes/s", "_bits_per_s": "bits/s", "_per_s": "1/s", "_s": "s", "_ratio": "ratio"}
    return next(unit for ending, unit in endings.items() if name.endswith(ending))
