"""What a recording says, as records: summaries of series, counters that moved, bursts, flows, listeners, and its own cost."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from wirespeed.model.counters import canonical_name
from wirespeed.model.facts.host import SoftirqCpu
from wirespeed.model.facts.link import Counter
from wirespeed.model.facts.sockets import Listener
from wirespeed.model.record import Record
from wirespeed.model.samples import Series
from wirespeed.model.series import Burst, Distribution, SeriesSummary
from wirespeed.model.source import Problem, Source
from wirespeed.observation.recorded_flows import flow_summaries
from wirespeed.theory.bursts import Bursts, bursts_of
from wirespeed.theory.rates import increase, rates

if TYPE_CHECKING:
    from wirespeed.model.samples import Numbers
    from wirespeed.observation.recording import Recording

MOST_SCOPES = 32
"""Summaries of one name: of 256 cores the busiest tell enough, and the series has them all."""
COUNTED_FAMILIES = ("ethtool", "link_errors", "links", "protocols", "softnet", "rdma", "conntrack")
"""Families whose counters the facts have too, under the same scopes and names; earlier ones take precedence."""


def records_of(recording: Recording) -> list[Record | Problem]:
    """Everything a recording says; problems last."""
    found: dict[str, list[Series]] = {family: list(recording.series(family)) for family in recording.blocks}
    everything: list[Record | Problem] = [recording.cost()]
    everything += _summaries(recording, (one for family, many in found.items() if family != "flows" for one in many))
    everything += _counters(recording, found)
    everything += _bursts(recording, found)
    everything += flow_summaries(recording, found.get("flows", []))
    everything += _listeners(recording, found.get("listeners", []))
    everything += _softirqs(recording, found)
    everything += recording.problems
    return everything


def source_of(recording: Recording, family: str) -> Source:
    """Where such a record comes from: a family of this recording."""
    return Source(tool="record", path=f"series/{family}", host=recording.host)


def _summaries(recording: Recording, series: Iterable[Series]) -> Iterator[SeriesSummary]:
    """Counters that moved and gauges that were anything but zero, the busiest scopes of each name."""
    by_name: dict[tuple[str, str], list[SeriesSummary]] = defaultdict(list)
    for one in series:
        summary = None if one.key.unit == "setting" else summary_of(recording, one)
        if summary is not None:
            by_name[one.key.family, one.key.name].append(summary)
    for many in by_name.values():
        yield from sorted(many, key=lambda one: -one.values.mean)[:MOST_SCOPES]


def summary_of(recording: Recording, series: Series) -> SeriesSummary | None:
    """A counter by its rate, a gauge as it was; None for one that never moved from zero or was seen only once."""
    key = series.key
    there = ~np.isnan(series.value)
    t_s, value = series.t_s[there], series.value[there]
    if len(value) < 2:
        return None
    is_counter = key.kind == "counter"
    values, weights = (rates(t_s, value), np.diff(t_s)) if is_counter else (value, np.ones(len(value)))
    known = ~np.isnan(values)
    values, weights = values[known], weights[known]
    if not len(values) or not values.any():
        return None
    return SeriesSummary(
        source=source_of(recording, key.family),
        family=key.family,
        scope=key.scope,
        name=key.name,
        unit=rate_unit(key.unit) if is_counter else key.unit,
        every_s=recording.periods_s.get(key.family, recording.every_s),
        duration_s=float(t_s[-1] - t_s[0]),
        values=distribution_of(values, weights),
        first_count=int(value[0]) if is_counter and key.unit != "s" else None,
        last_count=int(value[-1]) if is_counter and key.unit != "s" else None,
    )


def rate_unit(unit: str) -> str:
    """Unit of the rate of a counter: seconds a second are a share."""
    return "ratio" if unit == "s" else f"{unit}/s"


def distribution_of(values: Numbers, weights: Numbers) -> Distribution:
    """Mean by time, quantiles by sample."""
    p50, p95, p99 = np.quantile(values, (0.5, 0.95, 0.99))
    return Distribution(
        count=len(values),
        mean=float(np.average(values, weights=weights)),
        p50=float(p50),
        p95=float(p95),
        p99=float(p99),
        minimum=float(values.min()),
        maximum=float(values.max()),
    )


def _counters(recording: Recording, found: dict[str, list[Series]]) -> Iterator[Counter]:
    """Differences of counters that moved, and zeros of those that have a common name: looked at and quiet is evidence too."""
    told: set[tuple[str, str]] = set()
    for family in COUNTED_FAMILIES:
        for one in found.get(family, []):
            key = one.key
            scope = f"softnet/{key.scope}" if family == "softnet" else key.scope
            there = ~np.isnan(one.value)
            if key.kind != "counter" or (scope, key.name) in told or there.sum() < 2:
                continue
            told.add((scope, key.name))
            moved, canonical = round(increase(one.value)), canonical_name(key.name)
            if moved or canonical:
                over_s = float(np.ptp(one.t_s[there]))
                yield Counter(
                    source=source_of(recording, family), scope=scope, name=key.name, value_count=moved, canonical=canonical,
                    is_delta=True, over_s=over_s,
                )  # fmt: skip


def _bursts(recording: Recording, found: dict[str, list[Series]]) -> Iterator[Burst]:
    for one in found.get("links", []):
        direction = {"rx_bytes": "rx", "tx_bytes": "tx"}.get(one.key.name)
        if direction is None:
            continue
        rate = recording.link_rates_bits_per_s.get(one.key.scope)
        bursts = bursts_of(one.t_s, one.value, rate / 8 if rate else None)
        if bursts is None:
            continue
        queues = [queue for queue in found.get("qdiscs", []) if queue.key.scope.startswith(f"{one.key.scope}/")]
        is_sent = direction == "tx"
        yield Burst(
            source=source_of(recording, "links"),
            link=one.key.scope,
            direction="tx" if is_sent else "rx",
            window_s=recording.periods_s["links"],
            duration_s=float(one.t_s[-1] - one.t_s[0]),
            mean_bytes_per_s=bursts.mean_bytes_per_s,
            peak_bytes_per_s=bursts.peak_bytes_per_s,
            link_rate_bits_per_s=rate,
            bursts_count=len(bursts.starts_s),
            burst_p50_s=float(np.median(bursts.lengths_s)),
            period_s=bursts.period_s,
            queue_peak_packets=_queue_peak(queues, bursts) if is_sent else None,
            drops_in_bursts_count=_drops(queues, bursts) if is_sent else None,
        )


def _near(t_s: Numbers, bursts: Bursts, margin_s: float) -> NDArray[np.bool_]:
    """Which samples lie in a burst or within `margin_s` of one."""
    after = np.searchsorted(bursts.starts_s - margin_s, t_s, side="right") - 1
    return (after >= 0) & (t_s <= bursts.ends_s[np.maximum(after, 0)] + margin_s)


def _queue_peak(queues: list[Series], bursts: Bursts) -> int | None:
    """Most packets seen waiting in any one queue while bursts ran."""
    peaks = []
    for queue in queues:
        near = queue.value[_near(queue.t_s, bursts, _step(queue))] if queue.key.name == "backlog_packets" else np.empty(0)
        if len(near[~np.isnan(near)]):
            peaks.append(int(np.nanmax(near)))
    return max(peaks, default=None)


def _drops(queues: list[Series], bursts: Bursts) -> int | None:
    """Packets dropped by the queueing discipline that dropped most: a parent's drops have those of its children in them."""
    drops = []
    for queue in queues:
        if queue.key.name == "dropped_packets" and len(queue.value) > 1:
            steps = np.nan_to_num(np.maximum(np.diff(queue.value), 0.0))
            drops.append(int(steps[_near(queue.t_s[1:], bursts, _step(queue))].sum()))
    return max(drops, default=None)


def _step(series: Series) -> float:
    return float(np.median(np.diff(series.t_s))) if len(series.t_s) > 1 else 0.0


def _listeners(recording: Recording, series: list[Series]) -> Iterator[Listener]:
    """Each listener at its fullest."""
    most: dict[str, dict[str, int]] = defaultdict(dict)
    for one in series:
        if not np.isnan(one.value).all():
            most[one.key.scope][one.key.name] = int(np.nanmax(one.value))
    for scope, seen in most.items():
        address, _, port = scope.rpartition(":")
        yield Listener(
            source=source_of(recording, "listeners"), address=address, port=int(port), queue_count=seen.get("queue"),
            backlog_count=seen.get("backlog"),
        )  # fmt: skip


def _softirqs(recording: Recording, found: dict[str, list[Series]]) -> Iterator[SoftirqCpu]:
    """Each core's network softirqs, and the share of its time they took."""
    counts = {(one.key.scope, one.key.name): round(increase(one.value)) for one in found.get("softirqs", [])}
    for one in found.get("cpu", []):
        if one.key.name == "softirq" and one.key.scope != "all" and len(one.t_s) > 1:
            yield SoftirqCpu(
                source=source_of(recording, "softirqs"),
                cpu=int(one.key.scope.removeprefix("cpu")),
                net_rx_count=counts.get((one.key.scope, "NET_RX")),
                net_tx_count=counts.get((one.key.scope, "NET_TX")),
                busy_ratio=min(increase(one.value) / float(np.ptp(one.t_s)), 1.0),
            )
