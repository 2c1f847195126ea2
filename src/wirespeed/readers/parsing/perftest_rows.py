"""What a row of perftest becomes, whether it was printed in a table or written as JSON.

Denominators and halves are those of perftest's own source (linux-rdma/perftest, src/perftest_parameters.c): MB/sec and MiB/sec divide by
2^20 bytes, Gb/sec by 1e9 bits; latencies are half of the round trip, except for reads and atomics, whose completion is a whole one.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from wirespeed.model.lines import Lines, source
from wirespeed.model.measurement import MessageLatency, ThroughputRun
from wirespeed.model.source import Quote

BITS_PER_S = {"gb": 1e9, "mb": 8.0 * 2**20, "mib": 8.0 * 2**20}
US_PER_SECOND = 1e6
_ROUND_TRIP_VERBS = ("ib_read_", "ib_atomic_")


@dataclass(slots=True)
class Test:
    """What is known of the test that rows belong to."""

    tool: str = "perftest"
    qps: int | None = None
    is_both_ways: bool = False
    memory: Literal["host", "gpu"] | None = None


def bandwidth_runs(
    lines: Lines, quotes: tuple[Quote, ...], test: Test, size_bytes: int, unit: str, row: Mapping[str, float]
) -> Iterator[ThroughputRun]:
    """The mean, and the peak where one was taken (runs by duration print 0). `row` is by column; `unit` is a key of `BITS_PER_S`."""
    for column, role in (("average", "mean"), ("peak", "peak")):
        rate = row.get(column, 0.0) * BITS_PER_S[unit]
        if rate > 0 or role == "mean":
            yield ThroughputRun(
                source=source(lines, test.tool),
                quotes=quotes,
                tool=test.tool,
                rate_bits_per_s=rate,
                role="mean" if role == "mean" else "peak",
                protocol="rdma",
                stream_count=test.qps,
                size_bytes=size_bytes,
                is_both_ways=test.is_both_ways,
                memory=test.memory,
            )


def latency(
    lines: Lines, quotes: tuple[Quote, ...], test: Test, size_bytes: int | None, row: Mapping[str, float]
) -> MessageLatency:
    """One row of times in microseconds, by column: `min`, `max`, `typical` (the median), `avg`, `stdev`, `99`, `99.9`."""
    seconds = {name: number / US_PER_SECOND for name, number in row.items()}
    return MessageLatency(
        source=source(lines, test.tool),
        quotes=quotes,
        tool=test.tool,
        is_round_trip=test.tool.startswith(_ROUND_TRIP_VERBS),
        protocol="rdma",
        size_bytes=size_bytes,
        memory=test.memory,
        latency_min_s=seconds.get("min"),
        latency_mean_s=seconds.get("avg"),
        latency_p50_s=seconds.get("typical"),
        latency_p99_s=seconds.get("99"),
        latency_p999_s=seconds.get("99.9"),
        latency_max_s=seconds.get("max"),
        latency_deviation_s=seconds.get("stdev"),
    )
