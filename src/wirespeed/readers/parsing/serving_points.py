"""Figures of load tests of model servers: one run at one load, by our names, with what others call differently told apart.

What a tool's word means (tool, its source): TTFT is the same everywhere. Time per token after the first, one figure a request, is TPOT at vLLM
and SGLang, ITL at GuideLLM and AIPerf (and genai-perf); gaps between tokens are ITL at vLLM and SGLang and `inter chunk latency` at AIPerf.
GuideLLM's TPOT counts from the start of the request over all tokens, which nothing else does: it is not read.
"""

import re
from dataclasses import dataclass

from wirespeed.model.lines import Lines, source
from wirespeed.model.measurement import ServingMetric
from wirespeed.model.source import Quote
from wirespeed.model.units import time_in_s
from wirespeed.readers.parsing.regex import regex

_N = r"(?P<value>\d{1,15}(?:\.\d{1,12})?)"
BENCHMARK_TIME = regex(
    rf"^\W{{0,4}}(?P<statistic>Mean|Median|P\d{{2}}(?:\.\d{{1,2}})?|Max) (?P<what>TTFT|TPOT|ITL|E2EL|E2E Latency|Client Queue Time) \(ms\):\s+{_N}\s*$"
)
"""A line of times of the result block that vLLM's and SGLang's load generators print."""
BENCHMARK_FIGURES = {
    "Successful requests": "successful_count", "Failed requests": "failed_count", "Maximum request concurrency": "concurrency_count",
    "Max request concurrency": "concurrency_count", "Request rate configured (RPS)": "offered_per_s", "Traffic request rate": "offered_per_s",
    "Benchmark duration (s)": "duration_s", "Request throughput (req/s)": "requests_per_s", "Request goodput (req/s)": "goodput_per_s",
    "Output token throughput (tok/s)": "output_tokens_per_s", "Input token throughput (tok/s)": "prompt_tokens_per_s",
    "Total token throughput (tok/s)": "total_tokens_per_s", "Peak concurrent requests": "in_flight_peak_count",
    "Concurrency": "in_flight_count",
}  # fmt: skip
BENCHMARK_FIGURE = regex(
    rf"^\W{{0,4}}(?P<label>{'|'.join(re.escape(label) for label in BENCHMARK_FIGURES)}):\s+{_N}\s*$", re.IGNORECASE
)
"""Another line of that block."""
AIPERF_NAMES = {
    "time to first token": "ttft_s", "inter token latency": "tpot_s", "inter chunk latency": "itl_s", "request latency": "e2e_s",
    "request throughput": "requests_per_s", "request goodput": "goodput_per_s", "goodput": "goodput_per_s",
    "output token throughput": "output_tokens_per_s", "request count": "successful_count", "error request count": "failed_count",
    "benchmark duration": "duration_s",
}  # fmt: skip
"""Metrics of AIPerf and genai-perf, by their headings in lower case (keys of their JSON have underscores)."""
_STATISTICS = {"avg": "mean", "average": "mean", "p50": "median", "mdn": "median", "50": "median"}


@dataclass(frozen=True, slots=True)
class Point:
    """One run: its tool and what distinguishes it from the other runs of all texts."""

    tool: str
    run: str

    def metric(self, lines: Lines, quotes: tuple[Quote, ...], name: str, value: float, statistic: str = "") -> ServingMetric:
        """One figure of this run. `statistic` is the tool's word: `avg`, `p50`, `P99`, `Mdn` ..."""
        low = statistic.lower()
        return ServingMetric(
            source=source(lines, self.tool), quotes=quotes, name=name, value=value, at=_STATISTICS.get(low, low), run=self.run
        )


def point(lines: Lines, tool: str, place: int) -> Point:
    """The run that begins on line `place`."""
    return Point(tool, f"{lines.path}:{place}")


def in_seconds(value: float, unit: str) -> float | None:
    """A time in seconds; None where the unit is none of time."""
    low = unit.strip().lower()
    return time_in_s(value, {"sec": "s", "seconds": "s", "second": "s"}.get(low, low))
