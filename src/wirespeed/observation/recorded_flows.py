"""Each watched TCP connection over a recording, in one record."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import numpy as np

from wirespeed.model.samples import Series
from wirespeed.model.series import FlowSummary
from wirespeed.model.source import Source
from wirespeed.theory.rates import increase

if TYPE_CHECKING:
    from wirespeed.model.samples import Numbers
    from wirespeed.observation.recording import Recording


def flow_summaries(recording: Recording, series: list[Series]) -> Iterator[FlowSummary]:
    """Every connection that was seen twice or more, the busiest first."""
    by_scope: dict[str, dict[str, Series]] = defaultdict(dict)
    for one in series:
        by_scope[one.key.scope][one.key.name] = one
    labels = recording.labels.get("flows", {})
    found = [
        _summary(
            recording, scope, {name: one.value for name, one in named.items()}, next(iter(named.values())).t_s, labels.get(scope)
        )
        for scope, named in by_scope.items()
    ]
    yield from sorted(
        (one for one in found if one is not None), key=lambda one: -((one.sent_bytes or 0) + (one.received_bytes or 0))
    )


def _summary(
    recording: Recording, scope: str, value: dict[str, Numbers], t_s: Numbers, congestion: str | None
) -> FlowSummary | None:
    near, _, far = scope.partition(">")
    there = ~np.isnan(value["recv_queue"])
    if there.sum() < 2:
        return None
    value = {name: one[there] for name, one in value.items()}
    duration_s = float(np.ptp(t_s[there]))

    def counted(name: str) -> int | None:
        return None if np.isnan(value[name]).all() else round(increase(value[name]))

    def level(name: str, pick: Callable[[Numbers], float]) -> float | None:
        known = value[name][~np.isnan(value[name])]
        return float(pick(known)) if len(known) else None

    def middle(name: str) -> int | None:
        found = level(name, lambda one: float(np.median(one)))
        return None if found is None else round(found)

    busy_s = None if np.isnan(value["busy"]).all() else increase(value["busy"])

    def share(name: str) -> float | None:
        """Of the busy time (linux/tcp.h: limited time is part of it)."""
        return min(increase(value[name]) / busy_s, 1.0) if busy_s and not np.isnan(value[name]).all() else None

    most = {name: level(name, np.max) for name in ("backoff", "recv_queue")}
    return FlowSummary(
        source=Source(tool="record", path="series/flows", host=recording.host),
        local_address=_address(near),
        local_port=int(near.rpartition(":")[2]),
        remote_address=_address(far),
        remote_port=int(far.rpartition(":")[2]),
        samples_count=int(there.sum()),
        duration_s=duration_s,
        sent_bytes=counted("sent"),
        received_bytes=counted("received"),
        data_segments_out_packets=counted("data_segments_out"),
        segments_out_packets=counted("segments_out"),
        retransmits_packets=counted("retransmits"),
        timeouts_count=counted("timeouts"),
        reordering_seen_count=counted("reordering_seen"),
        dsack_duplicates_count=counted("dsack_duplicates"),
        delivered_ce_packets=counted("delivered_ce"),
        rtt_min_s=level("min_rtt", np.min),
        rtt_p50_s=level("rtt", lambda one: float(np.median(one))),
        rtt_p99_s=level("rtt", lambda one: float(np.quantile(one, 0.99))),
        congestion_control=congestion,
        mss_bytes=middle("mss"),
        path_mtu_bytes=middle("path_mtu"),
        congestion_window_p50_packets=middle("congestion_window"),
        send_window_p50_bytes=middle("send_window"),
        busy_ratio=min(busy_s / duration_s, 1.0) if busy_s is not None and duration_s else None,
        rwnd_limited_ratio=share("rwnd_limited"),
        sndbuf_limited_ratio=share("sndbuf_limited"),
        backoff_max_count=None if most["backoff"] is None else int(most["backoff"]),
        recv_queue_p50_bytes=middle("recv_queue"),
        recv_queue_max_bytes=None if most["recv_queue"] is None else int(most["recv_queue"]),
        held_back_ratio=_held_back(value),
    )


def _address(end: str) -> str:
    return end.rpartition(":")[0].strip("[]")


def _held_back(value: dict[str, Numbers]) -> float | None:
    """Share of samples in which less than one segment waited behind one that is under way, while both windows had room.

    That is Nagle's rule (RFC 1122, 4.2.3.4): a small piece waits for the acknowledgement of what is outstanding. A sender that is
    recovering from loss, or whose windows are full, waits for another reason.
    """
    waiting, mss = value["not_sent"], value["mss"]
    if np.isnan(waiting).all() or np.isnan(mss).all():
        return None
    held = (waiting > 0) & (waiting < mss) & (value["unacked"] >= 1) & (value["lost"] == 0) & (value["backoff"] == 0)
    held &= (value["unacked"] < value["congestion_window"]) & ~(value["send_window"] < waiting + mss)
    return float(held.mean())
