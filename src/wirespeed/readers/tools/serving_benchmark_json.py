"""Result files of `vllm bench serve --save-result` (JSON) and SGLang's `bench_serving --output-file` (one object a line).

Token texts and lists of single times that such files may hold are passed over.
"""

import json
import math
import re
from collections.abc import Iterator
from typing import Any

from wirespeed.model.kinds import Reader
from wirespeed.model.lines import Lines, source
from wirespeed.model.measurement import ServingMetric
from wirespeed.model.record import Record
from wirespeed.model.source import Problem, Quote
from wirespeed.model.text import Text
from wirespeed.readers.parsing.marks import marked
from wirespeed.readers.parsing.regex import regex
from wirespeed.readers.parsing.serving_points import point

_TOOL = "serving-benchmark"
MOST_RUNS = 1_000
MOST_QUOTE_CHARACTERS = 300
_MARK = regex(r'"(?:mean|median|p99)_(?:ttft|tpot|itl|e2el|e2e_latency)_ms"\s*:')
_TIME = regex(
    r"^(?P<statistic>mean|median|max|p\d{2}(?:\.\d{1,2})?)_(?P<what>ttft|tpot|itl|e2el|e2e_latency|client_queue_time)_ms$"
)
_TIMES = {
    "ttft": "ttft_s", "tpot": "tpot_s", "itl": "itl_s", "e2el": "e2e_s", "e2e_latency": "e2e_s", "client_queue_time": "client_hold_s",
}  # fmt: skip
_FIGURES = {
    "completed": "successful_count", "failed": "failed_count", "max_concurrency": "concurrency_count", "request_rate": "offered_per_s",
    "duration": "duration_s", "request_throughput": "requests_per_s", "request_goodput": "goodput_per_s",
    "output_throughput": "output_tokens_per_s", "input_throughput": "prompt_tokens_per_s", "total_token_throughput": "total_tokens_per_s",
    "total_throughput": "total_tokens_per_s", "concurrency": "in_flight_count", "max_concurrent_requests": "in_flight_peak_count",
}  # fmt: skip
_DECODER = json.JSONDecoder()
_CUT = Text(en="this benchmark result is cut, damaged or too large", zh="该压测结果不完整、已损坏或过大")


def _read(lines: Lines) -> Iterator[Record | Problem]:
    text = lines.whole()
    if text is None:
        yield Problem(source=source(lines, _TOOL), why=_CUT)
        return
    starts = [0, *(found.end() for found in re.finditer("\n", text))]
    position = line = 0
    for _ in range(MOST_RUNS):
        found = _MARK.search(text, position)
        if found is None:
            return
        begin = _opening(text, position, found.start())
        if begin < 0:
            position = found.end()
            continue
        while line + 1 < len(starts) and starts[line + 1] <= begin:
            line += 1
        try:
            document, position = _DECODER.raw_decode(text, begin)
        except (ValueError, RecursionError):
            position = found.end()
            yield Problem(source=source(lines, _TOOL), why=_CUT, line_index=line)
            continue
        if position < found.start():  # a complete object that ended before: its figures are not these
            position = found.end()
        elif isinstance(document, dict):
            yield from _metrics(lines, document, text[begin:position], line, text[starts[line] : begin])


def _opening(text: str, low: int, high: int) -> int:
    """The brace that opens the object which holds `high`: the last one at the margin, or the first there is."""
    at_margin = max(text.rfind("\n{", low, high) + 1, low if text.startswith("{", low) else 0)
    return at_margin if text.startswith("{", at_margin) and at_margin >= low else text.find("{", low, high)


def _metrics(lines: Lines, document: dict[str, Any], text: str, line: int, before: str) -> Iterator[ServingMetric]:
    run = point(lines, _TOOL, line)
    rows = (before + text).split("\n")
    for key, value in document.items():
        number = _number(value)
        if number is None:
            continue
        time = _TIME.match(key)
        if time:
            yield run.metric(lines, (_quote(lines, rows, line, key),), _TIMES[time["what"]], number / 1e3, time["statistic"])
        elif key in _FIGURES:
            yield run.metric(lines, (_quote(lines, rows, line, key),), _FIGURES[key], number)


def _quote(lines: Lines, rows: list[str], first: int, key: str) -> Quote:
    """The line of a key; of a long line what stands from the key on."""
    mark = f'"{key}"'
    place = next((index for index, row in enumerate(rows) if mark in row), 0)
    row = rows[place]
    start = max(row.find(mark), 0) if len(row) > MOST_QUOTE_CHARACTERS else 0
    return Quote(source=lines.path, line_index=first + place, text=row[start : start + MOST_QUOTE_CHARACTERS])


def _number(value: object) -> float | None:
    """A finite number; the request rate is the word `inf` where all requests are sent at once."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return float(value)


READER = Reader(
    title=Text(en="vLLM and SGLang serving benchmark (JSON)", zh="vLLM 与 SGLang 服务压测（JSON）"),
    gives=(ServingMetric,),
    recognises=marked(_MARK),
    read=_read,
    obtained_by=("vllm bench serve --model MODEL --request-rate 4 --num-prompts 400 --save-result",),
)
