"""AIPerf's and genai-perf's summary file (`profile_export_aiperf.json`, `profile_export_genai_perf.json`).

Their inter token latency is the time per token after the first, one figure a request: TPOT here. Gaps between chunks are ITL.
"""

import math
from collections.abc import Iterator

from wirespeed.model.kinds import Reader
from wirespeed.model.lines import Lines
from wirespeed.model.measurement import ServingMetric
from wirespeed.model.record import Record
from wirespeed.model.source import Problem, Quote
from wirespeed.model.text import Text
from wirespeed.readers.parsing.json_excerpt import marked_documents
from wirespeed.readers.parsing.marks import marked
from wirespeed.readers.parsing.regex import regex
from wirespeed.readers.parsing.serving_points import AIPERF_NAMES, Point, in_seconds, point

_TOOL = "aiperf"
_OPENING = regex(
    r'\{\s*"(?:request_throughput|request_latency|time_to_first_token|input_config|schema_version|aiperf_version|records|telemetry_stats)"\s*:\s*[{"]'
)
_MARK = regex(r'"(?:time_to_first_token|inter_token_latency|request_latency|output_token_throughput)"\s*:\s*\{\s*"(?:unit|avg)"')
_STATISTICS = ("avg", "p50", "p90", "p95", "p99", "max")
_LOADS = (
    ("loadgen", "concurrency", "concurrency_count"), ("loadgen", "request_rate", "offered_per_s"),
    ("stimulus", "concurrency", "concurrency_count"), ("stimulus", "request_rate", "offered_per_s"),
)  # fmt: skip
_MOST_DEPTH = 6


def _read(lines: Lines) -> Iterator[Record | Problem]:
    for item in marked_documents(lines, _OPENING, _TOOL):
        if isinstance(item, Problem):
            yield item
            continue
        document, rows = item
        run = point(lines, _TOOL, rows[0].line_index)
        for section, key, name in _LOADS:
            value = _number(_find(document.get("input_config"), section).get(key))
            if value is not None:
                yield run.metric(lines, (_quote(rows, key, section),), name, value)
        for key, summary in document.items():
            known = AIPERF_NAMES.get(key.replace("_", " "))
            if known is not None and isinstance(summary, dict):
                yield from _metrics(lines, run, _quote(rows, key), known, summary)


def _metrics(lines: Lines, run: Point, said: Quote, name: str, summary: dict[str, object]) -> Iterator[ServingMetric]:
    unit = summary.get("unit")
    for statistic in _STATISTICS:
        value = _number(summary.get(statistic))
        if value is None:
            continue
        if name.endswith("_s") and not name.endswith("_per_s"):
            seconds = in_seconds(value, unit) if isinstance(unit, str) else None
            if seconds is not None:
                yield run.metric(lines, (said,), name, seconds, statistic)
        else:
            yield run.metric(lines, (said,), name, value, statistic)


def _find(value: object, key: str, depth: int = 0) -> dict[str, object]:
    """The first object under this key, however deep."""
    if not isinstance(value, dict) or depth > _MOST_DEPTH:
        return {}
    here = value.get(key)
    if isinstance(here, dict):
        return here
    return next((found for one in value.values() if (found := _find(one, key, depth + 1))), {})


def _quote(rows: list[Quote], key: str, after: str = "") -> Quote:
    """The line of a key, behind that of the section it stands in."""
    start = next((place for place, row in enumerate(rows) if f'"{after}"' in row.text), 0) if after else 0
    return next((row for row in rows[start:] if f'"{key}"' in row.text), rows[0])


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return float(value)


READER = Reader(
    title=Text(en="AIPerf and genai-perf results (JSON)", zh="AIPerf 与 genai-perf 结果（JSON）"),
    gives=(ServingMetric,),
    recognises=marked(_MARK),
    read=_read,
    obtained_by=("aiperf profile --model MODEL --url http://SERVER:8000 --endpoint-type chat --streaming --concurrency 16",),
)
