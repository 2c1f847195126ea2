"""What several rules take from the rows of network benchmarks: round trips, small messages, and GPU buffers beside host buffers."""

from wirespeed.model.case import Case
from wirespeed.model.measurement import MessageLatency, ThroughputRun

NETWORK_BENCHMARKS = ("iperf", "perftest", "ib_", "qperf", "sockperf")
"""How the names of tools begin that measure a path and nothing else."""
_VERBS_TOOLS = ("ib_", "perftest")
_SMALL_BYTES = 1024
_LARGE_BYTES = 64 * 1024
"""From this size on a rate is one of moving bytes, not of posting messages."""
_SLOWER_RATIO = 0.7
"""GPUDirect moves what host memory moves where both hang on one PCIe switch; the rest is room for an older one."""


def round_trip_s(latency: MessageLatency, value_s: float | None) -> float | None:
    """A time of this benchmark as a round trip: what was halved is doubled again."""
    return None if value_s is None else value_s if latency.is_round_trip else 2.0 * value_s


def small_message_s(latency: MessageLatency) -> float | None:
    """Usual one-way time of a message of a kilobyte or less on an idle path; None for any other row."""
    usual = latency.latency_p50_s or latency.latency_mean_s
    is_small = latency.size_bytes is None or latency.size_bytes <= _SMALL_BYTES
    if usual is None or not is_small or latency.load != "idle":
        return None
    return usual / 2.0 if latency.is_round_trip else usual


def slower_from_gpu(case: Case, *, by_verbs: bool) -> tuple[ThroughputRun, ...]:
    """The best large run with GPU buffers and the best with host buffers of one tool, where the first is much slower; else nothing.

    `by_verbs` takes perftest, whose GPU buffers are always read by the NIC itself; otherwise libraries such as MPI, which may stage them.
    """
    runs = case.every(
        ThroughputRun,
        lambda one: (
            (one.size_bytes or 0) >= _LARGE_BYTES
            and one.role == "mean"
            and (one.tool.startswith(_VERBS_TOOLS) if by_verbs else one.protocol == "mpi")
        ),
    )
    for tool in dict.fromkeys((one.tool, one.is_both_ways) for one in runs):
        same = [one for one in runs if (one.tool, one.is_both_ways) == tool]
        on_gpu = [one for one in same if one.memory == "gpu"]
        on_host = [one for one in same if one.memory != "gpu"]
        if not on_gpu or not on_host:
            continue
        slow, fast = (max(found, key=lambda one: one.rate_bits_per_s) for found in (on_gpu, on_host))
        if slow.rate_bits_per_s < _SLOWER_RATIO * fast.rate_bits_per_s:
            return (slow, fast)
    return ()
