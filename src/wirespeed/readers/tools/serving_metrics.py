"""What inference servers and load generators measure: Prometheus text, their periodic log lines, summaries, loose tables and lines.

Known measures get one name, whatever the source calls them; times are in seconds, shares are ratios:

`ttft_s` first token, `tpot_s` per output token, `itl_s` between tokens, `e2e_s` whole request, `queue_s` waiting in the server,
`inference_s`, `prefill_s`, `decode_s`, `load_s` model load, `running_count`, `waiting_count`, `swapped_count`, `preemptions_count`,
`kv_use_ratio`, `prefix_hit_ratio`, `gpu_use_ratio`, `offered_per_s` and `requests_per_s` requests, `output_tokens_per_s`,
`prompt_tokens_per_s`, `total_tokens_per_s`, `concurrency_count`, `successful_count`, `failed_count`, `duration_s`.

Result blocks of load generators have readers of their own (`serving_benchmark`, `guidellm`, `aiperf`).

Other Prometheus metrics of the known servers keep their own name in snake_case. A histogram or summary gives its mean (sum by
count) and its quantiles; buckets are passed over. `at` holds the labels, the statistic (`mean`, `median`, `p99`), or the first
column of a table row with its heading (`offered rps 6`), joined by blanks.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from wirespeed.model.kinds import Reader
from wirespeed.model.lines import Lines, quote, source
from wirespeed.model.measurement import ServingMetric
from wirespeed.model.record import Record
from wirespeed.model.source import Problem, Quote
from wirespeed.model.text import Text
from wirespeed.model.units import time_in_s
from wirespeed.readers.parsing.marks import marked
from wirespeed.readers.parsing.regex import regex
from wirespeed.readers.parsing.serving_points import BENCHMARK_FIGURE, BENCHMARK_TIME

MOST_PENDING_SUMS = 4_096
MOST_LINE_CHARACTERS = 2_000

_SERVERS = r"vllm|sglang|tgi|llamacpp|lmdeploy|trtllm|triton|nv|ray_serve|ray|ollama|litellm|dynamo|aibrix|inference_extension"
_SAMPLE = regex(
    rf"^\s*(?:{_SERVERS})[:_](?P<name>[a-zA-Z_][\w:]*)(?:\{{(?P<labels>[^}}]*)\}})?\s+(?P<value>[-+]?\d[\d.eE+-]*|NaN"
    rf"|[+-]?Inf)(?:\s+\d+)?\s*$"
)
_LABEL = regex(r'(\w+)="([^"]*)"')

_NAME_OF_SAMPLE = {
    "num_requests_running": "running_count", "num_running_reqs": "running_count", "batch_current_size": "running_count",
    "requests_processing": "running_count",
    "num_requests_waiting": "waiting_count", "num_queue_reqs": "waiting_count", "queue_size": "waiting_count",
    "requests_deferred": "waiting_count", "inference_pending_request_count": "waiting_count",
    "num_requests_swapped": "swapped_count", "num_preemptions_total": "preemptions_count", "num_preemptions": "preemptions_count",
    "gpu_cache_usage_perc": "kv_use_ratio", "kv_cache_usage_perc": "kv_use_ratio", "token_usage": "kv_use_ratio",
    "kv_cache_usage_ratio": "kv_use_ratio", "cache_hit_rate": "prefix_hit_ratio", "gpu_prefix_cache_hit_rate": "prefix_hit_ratio",
    "time_to_first_token_seconds": "ttft_s", "time_per_output_token_seconds": "tpot_s",
    "request_time_per_output_token_seconds": "tpot_s",
    "request_mean_time_per_token_duration": "tpot_s", "inter_token_latency_seconds": "itl_s",
    "e2e_request_latency_seconds": "e2e_s", "request_duration": "e2e_s", "request_queue_time_seconds": "queue_s",
    "queue_time_seconds": "queue_s", "request_queue_duration": "queue_s", "request_inference_time_seconds": "inference_s",
    "request_inference_duration": "inference_s", "request_prefill_time_seconds": "prefill_s",
    "request_decode_time_seconds": "decode_s",
    "gen_throughput": "output_tokens_per_s", "predicted_tokens_seconds": "output_tokens_per_s",
    "avg_generation_throughput_toks_per_s": "output_tokens_per_s", "prompt_tokens_seconds": "prompt_tokens_per_s",
    "avg_prompt_throughput_toks_per_s": "prompt_tokens_per_s",
}  # fmt: skip

_PHRASES: tuple[tuple[str, str], ...] = (
    (r"time[ _-]to[ _-]first[ _-]token(?:_seconds)?|ttft|ttfa|first[- ]token latency", "ttft_s"),
    (r"time[ _-]per[ _-]output[ _-]token(?:_seconds)?|tpot", "tpot_s"),
    (r"inter[ _-]token[ _-]latency(?:_seconds)?|\bitl\b", "itl_s"),
    (r"e2el?(?:[ _](?:request[ _])?latency)?|end[- ]to[- ]end latency|request latency", "e2e_s"),
    (r"(?:request[ _])?queue[ _]?time(?:_seconds)?|queue(?:ing)? (?:delay|wait|latency)|wait(?:ing)? time", "queue_s"),
    (r"(?:request_)?inference[ _]time(?:_seconds)?", "inference_s"),
    (r"(?:request_)?prefill[ _](?:time|latency)(?:_seconds)?|prompt eval (?:time|duration)", "prefill_s"),
    (r"(?:request_)?decode[ _]time(?:_seconds)?|eval (?:time|duration)", "decode_s"),
    (r"load (?:duration|time)", "load_s"),
    (r"total duration|benchmark duration", "duration_s"),
    (r"offered(?: load)?(?: rps| qps)?|(?:traffic )?request rate(?: configured)?", "offered_per_s"),
    (r"(?:request throughput|requests? per second|requests?/s(?:ec)?|req/s|rps|qps)", "requests_per_s"),
    (r"(?:avg )?prompt throughput|input (?:token )?throughput|prompt eval rate|prefill toks?/s", "prompt_tokens_per_s"),
    (r"(?:avg )?gen(?:eration)? throughput|output token throughput|eval rate|decode toks?/s", "output_tokens_per_s"),
    (r"total token throughput", "total_tokens_per_s"),
    (r"(?:output )?tok(?:en)?s?/s(?:ec)?|(?:output )?tokens per second", "output_tokens_per_s"),
    (r"(?<!cpu )(?:gpu )?kv[ -]cache(?: usage| use| utili[sz]ation)?|token usage", "kv_use_ratio"),
    (r"prefix cache hit rate|cache hit rate", "prefix_hit_ratio"),
    (r"gpu (?:util(?:i[sz]ation)?|usage|use|busy)|gpu ?%", "gpu_use_ratio"),
    (r"#?(?:num[ _])?running(?:[ -]?req(?:uest)?s?)?", "running_count"),
    (r"#?(?:waiting|pending)(?:[ -]?req(?:uest)?s?)?|#?queue(?:d)?[ -]req(?:uest)?s?|#queue-req", "waiting_count"),
    (r"swapped(?: reqs?)?", "swapped_count"),
    (r"preemptions?", "preemptions_count"),
    (r"concurrency|max(?:imum)? request concurrency|concurrent (?:requests|users)", "concurrency_count"),
    (r"successful requests", "successful_count"),
    (r"failed requests", "failed_count"),
)  # fmt: skip
_PHRASE = regex("|".join(f"(?P<p{position}>{pattern})" for position, (pattern, _) in enumerate(_PHRASES)), re.IGNORECASE)
_COMMON_WORDS = frozenset({"running_count", "waiting_count", "swapped_count"})
"""Measures whose words stand in any sentence (`running 8 nodes`): they count only with a colon or an equals sign."""
_STATISTIC = regex(r"(?i)\b(mean|avg|average|median|p\d{2}(?:\.\d+)?|min|max|peak|std)\b")
_NUMBER = regex(r"^[<>~≈]?\s*(?P<number>\d[\d,]*(?:\.\d+)?)\s*(?P<unit>%|ms|us|µs|ns|s(?:ec(?:onds?)?)?|min|k)?(?![\w.]*\d)")
_GO_DURATION = regex(r"^(?:(?P<h>\d+)h)?(?:(?P<m>\d+)m)?(?P<s>\d+(?:\.\d+)?)s\b")
_UNIT_NOTE = regex(r"\(\s*(ms|us|µs|s|sec|seconds|%)\s*\)")
_ANY_PHRASE = "|".join(pattern for pattern, _ in _PHRASES)
_PAIR = regex(
    r"(?P<before>(?:(?:mean|avg|average|median|max|peak|p\d\d(?:\.\d)?)\s+)?)"
    rf"(?<![\w])(?P<phrase>{_ANY_PHRASE})"
    r"(?P<note>\s*\([^()\n]{1,12}\))?(?P<after>\s+(?:mean|avg|median|p\d\d(?:\.\d)?))?(?P<sign>\s*[:=]\s*\"?|\s{1,40})"
    r"(?P<value>[<>~≈]?\d\S*(?:\s?(?:%|ms\b|us\b|µs|s\b))?)"
)
_CELL = regex(r"\S+(?: \S+)*")
_COMMENT = regex(r"^\s*(?:#|//|\$)")
_HINTS = (
    "ttft", "ttfa", "e2e", "tpot", "itl", "token", "tok/s", "toks/s", "queue", "throughput", "kv", "eval ", "inference",
    "prefill", "decode", "offered", "waiting", "running", "pending", "swapped", "preempt", "gpu", "hit rate", "req", "rps", "qps",
    "duration", "latency", "concurren", "load time",
)  # fmt: skip
"""A line without any of these holds no measure; looking for them is much cheaper than the patterns."""
_SAMPLE_HINT = regex(rf"(?m)^\s*(?:{_SERVERS})[:_]\w+[{{ ]")
_SURE_HINT = regex(
    r"(?i)ttft|ttfa|tpot|\bitl\b|first[ _-]token|queue[ _]?time|throughput|tok(?:en)?s?/s|kv[ -]cache|eval (?:rate|time|duration)"
    r"|#queue-req|inference[ _]time|offered|waiting:|gpu util|hit rate|req/s|\brps\b|total duration"
)


@dataclass(frozen=True, slots=True)
class _Column:
    start: int
    end: int
    text: str
    name: str | None


_NOT_A_SERVERS = regex(r"Reading: \d+ Writing: \d+ Waiting: \d+")
"""nginx' status page: its waiting connections are idle ones."""
_TRITON_TIMES = {
    "inference_queue_duration_us": "queue_s", "inference_request_duration_us": "e2e_s", "inference_compute_infer_duration_us": "inference_s",
}  # fmt: skip
"""Triton sums microseconds of all successful requests (server docs/user_guide/metrics.md)."""
_TRITON_COUNT = "inference_request_success"


def _read(lines: Lines) -> Iterator[Record | Problem]:
    triton: dict[tuple[str, str], tuple[float, Quote]] = {}
    sums: dict[tuple[str, str], tuple[str, float, Quote]] = {}
    columns: tuple[_Column, ...] = ()
    for index, line in lines:
        if len(line) > MOST_LINE_CHARACTERS:
            continue
        sample = _SAMPLE.match(line)
        if sample:
            if (name := sample["name"]) in _TRITON_TIMES or name == _TRITON_COUNT:
                triton[name, sample["labels"] or ""] = (_float(sample["value"]) or 0.0, quote(lines, index, line))
            else:
                yield from _sample(lines, index, line, sample, sums)
            continue
        if _NOT_A_SERVERS.search(line) or BENCHMARK_TIME.match(line) or BENCHMARK_FIGURE.match(line):
            continue
        rows = tuple(_row(lines, index, line, columns)) if columns else ()
        if rows:
            yield from rows
        elif not (columns and _is_rule(line)):
            columns = _heading(line) if _is_hinted(line) else ()
            if not columns and _is_hinted(line) and not _COMMENT.match(line):
                yield from _loose(lines, index, line)
    yield from _triton_means(lines, triton)


def _triton_means(lines: Lines, sums: dict[tuple[str, str], tuple[float, Quote]]) -> Iterator[ServingMetric]:
    """Mean times of a request since Triton started, a model."""
    for (name, labels), (total_us, said) in sums.items():
        count, counted = sums.get((_TRITON_COUNT, labels), (0.0, said))
        if name in _TRITON_TIMES and count > 0:
            at = _joined("mean", ",".join(f"{key}={value}" for key, value in _LABEL.findall(labels)))
            yield _metric(lines, (counted, said), _TRITON_TIMES[name], (time_in_s(total_us, "us") or 0.0) / count, at)


def _is_hinted(line: str) -> bool:
    low = line.lower()
    return any(hint in low for hint in _HINTS)


# --- Prometheus --------------------------------------------------------------------------------------------------------------


def _sample(
    lines: Lines, index: int, line: str, found: re.Match[str], sums: dict[tuple[str, str], tuple[str, float, Quote]]
) -> Iterator[ServingMetric]:
    value = _float(found["value"])
    labels = dict(_LABEL.findall(found["labels"] or ""))
    quantile = labels.pop("quantile", None)
    name = found["name"]
    if value is None or name.endswith(("_bucket", "_created")):
        return
    at = ",".join(f"{key}={labels[key]}" for key in labels)
    here = quote(lines, index, line)
    base = name.removesuffix("_sum").removesuffix("_count")
    if base != name and name not in _NAME_OF_SAMPLE:
        part, other = name[len(base) :], sums.pop((base, at), None)
        if other is None or other[0] == part:
            if len(sums) < MOST_PENDING_SUMS:
                sums[base, at] = (part, value, here)
            return
        total, count = (value, other[1]) if part == "_sum" else (other[1], value)
        if count > 0:
            yield _metric(lines, (other[2], here), _sample_name(base), total / count, _joined("mean", at))
        return
    statistic = f"p{100 * float(quantile):g}" if quantile and _float(quantile) is not None else ""
    yield _metric(lines, (here,), _sample_name(name), value, _joined(statistic, at))


def _sample_name(name: str) -> str:
    return _NAME_OF_SAMPLE.get(name) or re.sub(r"[:\W]+", "_", name).lower()


def _float(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if abs(value) < float("inf") else None


# --- tables ------------------------------------------------------------------------------------------------------------------


def _heading(line: str) -> tuple[_Column, ...]:
    """Columns of a heading that names at least one known measure and holds no measured value."""
    if ":" in line or not ("  " in line.strip() or "|" in line or "\t" in line):
        return ()
    columns = [_Column(start, end, text, _known(text)) for start, end, text in _cells(line)]
    has_values = any(_NUMBER.match(column.text) for column in columns)
    return tuple(columns) if len(columns) >= 2 and any(column.name for column in columns) and not has_values else ()


def _cells(line: str) -> list[tuple[int, int, str]]:
    """Start, end and text of what stands between two blanks or bars."""
    flat = line.expandtabs().replace("|", "  ").replace("│", "  ")
    return [(found.start(), found.end(), found[0]) for found in _CELL.finditer(flat)]


def _known(text: str) -> str | None:
    found = _PHRASE.search(text)
    return _PHRASES[int(str(found.lastgroup)[1:])][1] if found else None


def _row(lines: Lines, index: int, line: str, columns: tuple[_Column, ...]) -> Iterator[ServingMetric]:
    """Measures of one row: each cell belongs to the column it stands under, or the nearest."""
    cells = _cells(line)
    if len(cells) < 2 or len(cells) > len(columns) or not any(_NUMBER.match(text) for _, _, text in cells[1:]):
        return
    first = columns[0]
    names_the_load = first.name in (None, "offered_per_s", "concurrency_count")
    at = f"{first.text} {cells[0][2]}" if names_the_load else ""
    for position, (start, end, text) in enumerate(cells):
        column = columns[position] if len(cells) == len(columns) else _nearest(start, end, columns)
        if column.name is None or column.name == "concurrency_count":
            continue
        value = _value(column.name, text, column.text)
        if value is not None:
            yield _metric(
                lines, (quote(lines, index, line),), column.name, value, _joined(_statistic(column.text), at, _subject(column))
            )


def _nearest(start: int, end: int, columns: tuple[_Column, ...]) -> _Column:
    """The column whose heading is nearest; of two that overlap, the one that begins nearest."""
    return min(columns, key=lambda column: (max(column.start - end, start - column.end, 0), abs(column.start - start)))


def _subject(column: _Column) -> str:
    """What a heading says besides the measure: `tool A TTFT` is of `tool A`."""
    rest = _STATISTIC.sub("", _PHRASE.sub("", column.text, count=1))
    return " ".join(_UNIT_NOTE.sub("", rest).split())


def _is_rule(line: str) -> bool:
    return bool(line.strip()) and not line.strip(" |-+=:│─━┼├┤")


# --- loose lines -------------------------------------------------------------------------------------------------------------


def _loose(lines: Lines, index: int, line: str) -> Iterator[ServingMetric]:
    for found in _PAIR.finditer(line.lower()):
        name = _known(found["phrase"])
        if name is None or (name in _COMMON_WORDS and not found["sign"].strip()):
            continue
        value = _value(name, found["value"], found["note"] or "")
        if value is not None:
            statistic = _statistic(f"{found['before']} {found['after'] or ''}")
            yield _metric(lines, (quote(lines, index, line),), name, value, statistic)


def _statistic(text: str) -> str:
    found = _STATISTIC.search(text)
    return {"avg": "mean", "average": "mean", "p50": "median"}.get(found[1].lower(), found[1].lower()) if found else ""


def _value(name: str, text: str, note: str) -> float | None:
    """The number in the unit its name asks for; a time without a unit must have one in its heading."""
    text = text.strip().rstrip(',;}"')
    if name.endswith("_s") and not name.endswith("_per_s"):
        return _seconds(name, text, note)
    found = _NUMBER.match(text)
    if not found:
        return None
    number = float(found["number"].replace(",", ""))
    if name.endswith("_ratio"):
        is_percent = found["unit"] == "%" or "%" in note
        return number / 100.0 if is_percent else (number if number <= 1.0 else None)
    return None if found["unit"] in ("%", "ms", "us", "µs", "ns", "min") else number


def _seconds(name: str, text: str, note: str) -> float | None:
    go = _GO_DURATION.match(text)
    if go and (go["h"] or go["m"]):
        return 3600.0 * float(go["h"] or 0) + 60.0 * float(go["m"] or 0) + float(go["s"])
    found = _NUMBER.match(text)
    if not found:
        return None
    number = float(found["number"].replace(",", ""))
    noted = _UNIT_NOTE.search(note)
    unit = found["unit"] or (noted[1] if noted else ("s" if "_seconds" in note else None))
    if unit is None:
        return 0.0 if number == 0.0 else None
    return time_in_s(number, "s" if unit.startswith("sec") else unit)


def _joined(*parts: str) -> str:
    return " ".join(part for part in parts if part)


def _metric(lines: Lines, quotes: tuple[Quote, ...], name: str, value: float, at: str) -> ServingMetric:
    return ServingMetric(source=source(lines, "serving-metrics"), quotes=quotes, name=name, value=value, at=at)


READER = Reader(
    title=Text(en="metrics of inference servers and load tests", zh="推理服务与压测指标"),
    gives=(ServingMetric,),
    recognises=marked(_SAMPLE_HINT, _SURE_HINT),
    read=_read,
    obtained_by=("curl -s http://SERVER:PORT/metrics",),
    voice="loose",
)
