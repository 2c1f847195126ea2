"""From what both ends of a flow saw to the record of it."""

from collections.abc import Sequence
from typing import Any, Literal, TypeAlias

from wirespeed.benches.links.bulk import FlowPlan, Received, Sent
from wirespeed.benches.links.spec import LinkSpec, source_of
from wirespeed.model.link_runs import FlowRun
from wirespeed.readers.netlink.tcp_info import TcpInfo, tcp_info
from wirespeed.theory.flow_limit import limited_by
from wirespeed.theory.samples import median, quantile

Purpose: TypeAlias = Literal["single", "parallel", "both-ways", "incast", "mesh"]

_COUNTS = (
    "segments_out_packets", "retransmits_packets", "timeouts_count", "reordering_seen_count", "dsack_duplicates_count",
    "delivered_ce_packets",
)  # fmt: skip


def flow_run(
    spec: LinkSpec,
    plan: FlowPlan,
    *,
    ends: tuple[str, str],
    source_port: int,
    test: str,
    purpose: Purpose,
    sent: Sent | None,
    received: Received | None,
) -> FlowRun:
    """The record of one flow; an end that told nothing leaves its fields unknown. `ends` are sender and receiver."""
    received_bytes = received.received_bytes if received else 0
    goodput = received_bytes / plan.duration_s
    error = (sent.error if sent else "timed-out") or (received.error if received else "timed-out")
    return FlowRun(
        source=source_of(spec),
        sender=ends[0],
        receiver=ends[1],
        address=spec.address,
        port=spec.port,
        source_port=source_port,
        test=test,
        purpose=purpose,
        duration_s=plan.duration_s,
        received_bytes=received_bytes,
        goodput_bytes_per_s=goodput,
        block_bytes=plan.block_bytes,
        is_copied=plan.is_copied,
        congestion_control=sent.congestion_control if sent else None,
        receiver_cpu_ratio=received.cpu_ratio if received else None,
        receiver_starved_ratio=received.starved_ratio if received else None,
        error=error,
        **(_sender_fields(sent, plan, goodput) if sent else {}),
    )


def _sender_fields(sent: Sent, plan: FlowPlan, goodput: float) -> dict[str, Any]:
    looks = [tcp_info(data) for data in sent.infos]
    if len(looks) < 2:
        return {"sender_cpu_ratio": sent.cpu_ratio, "sender_starved_ratio": sent.starved_ratio}
    first, last = looks[0], looks[-1]
    busy_s = _grown(first.busy_s, last.busy_s)
    rtts_s = sorted(look.rtt_s for look in looks if look.rtt_s is not None)
    window_use = median([min(1.0, look.unacked_packets / max(1, look.congestion_window_packets)) for look in looks])
    fields: dict[str, Any] = {name: _counted(looks, name) for name in _COUNTS}
    fields |= {
        "sender_cpu_ratio": sent.cpu_ratio,
        "sender_starved_ratio": sent.starved_ratio,
        "mss_bytes": last.mss_bytes or None,
        "path_mtu_bytes": last.path_mtu_bytes or None,
        "rtt_min_s": last.rtt_min_s,
        "rtt_p50_s": quantile(rtts_s, 0.5),
        "rtt_p99_s": quantile(rtts_s, 0.99),
        "congestion_window_p50_packets": _whole(median([look.congestion_window_packets for look in looks])),
        "send_window_bytes": _whole(median([look.send_window_bytes for look in looks if look.send_window_bytes is not None])),
        "pacing_rate_bytes_per_s": median(
            [look.pacing_rate_bytes_per_s for look in looks if look.pacing_rate_bytes_per_s is not None]
        ),
        "busy_ratio": None if busy_s is None else min(1.0, busy_s / plan.duration_s),
        "rwnd_limited_ratio": _share(_grown(first.rwnd_limited_s, last.rwnd_limited_s), busy_s),
        "sndbuf_limited_ratio": _share(_grown(first.sndbuf_limited_s, last.sndbuf_limited_s), busy_s),
    }
    fields["limited_by"] = limited_by(
        busy_ratio=fields["busy_ratio"],
        rwnd_limited_ratio=fields["rwnd_limited_ratio"],
        sndbuf_limited_ratio=fields["sndbuf_limited_ratio"],
        window_use_ratio=window_use,
        sender_cpu_ratio=sent.cpu_ratio,
        of_bound_ratio=None if plan.most_bytes_per_s is None else goodput / plan.most_bytes_per_s,
    )
    return fields


def _grown(first: float | None, last: float | None) -> float | None:
    return None if first is None or last is None else max(0.0, last - first)


def _counted(looks: Sequence[TcpInfo], name: str) -> int | None:
    first, last = getattr(looks[0], name), getattr(looks[-1], name)
    return None if first is None or last is None else max(0, last - first)


def _share(part_s: float | None, busy_s: float | None) -> float | None:
    return None if part_s is None or not busy_s else min(1.0, part_s / busy_s)


def _whole(value: float | None) -> int | None:
    return None if value is None else round(value)
