"""The result block of `vllm bench serve`, SGLang's `bench_serving` and the benchmark scripts made after them."""

import re
from collections.abc import Iterator

from wirespeed.model.kinds import Reader
from wirespeed.model.lines import Lines, quote, source
from wirespeed.model.measurement import ServingMetric
from wirespeed.model.record import Record
from wirespeed.model.source import Problem, Quote
from wirespeed.model.text import Text
from wirespeed.readers.parsing.marks import marked
from wirespeed.readers.parsing.regex import regex
from wirespeed.readers.parsing.serving_points import BENCHMARK_FIGURE, BENCHMARK_FIGURES, BENCHMARK_TIME, Point, point

_TITLE = regex(r"=+ ?(?:[\w ]{0,24} )?Serving Benchmark Result ?=+")
_TIMES = {
    "TTFT": "ttft_s", "TPOT": "tpot_s", "ITL": "itl_s", "E2EL": "e2e_s", "E2E Latency": "e2e_s", "Client Queue Time": "client_hold_s",
}  # fmt: skip
_BY_LABEL = {label.lower(): name for label, name in BENCHMARK_FIGURES.items()}
_CUT = regex(r"^\W{0,4}(?:Mean|Median|P\d{2}) (?:TTFT|TPOT|ITL|E2EL) \(ms\):\s*$")
_OPEN = ("Concurrency", "Successful requests", "Failed requests")
"""Labels that other texts use too: they count inside a block only."""


def _read(lines: Lines) -> Iterator[Record | Problem]:
    run: Point | None = None
    title: Quote | None = None
    seen: set[tuple[str, str]] = set()
    for index, line in lines:
        if _TITLE.search(line):
            run, title, seen = point(lines, "serving-benchmark", index), quote(lines, index, line), set()
            continue
        if _CUT.match(line):
            yield Problem(
                source=source(lines, "serving-benchmark"),
                why=Text(en="this line of a benchmark result has no figure", zh="该压测结果行没有数值"),
                line_index=index,
            )
            continue
        time, figure = BENCHMARK_TIME.match(line), BENCHMARK_FIGURE.match(line)
        if figure is not None and title is None and figure["label"] in _OPEN:
            continue
        if time is None and figure is None:
            title = None if title is not None and line.strip().startswith("=====") else title
            continue
        key = (time["what"], time["statistic"]) if time else ((figure or line)["label"], "") if figure else ("", "")
        if run is None or key in seen:
            run, seen = point(lines, "serving-benchmark", index), set()
        seen.add(key)
        quotes = (quote(lines, index, line),) if title is None else (title, quote(lines, index, line))
        yield _metric(lines, run, quotes, time, figure)


def _metric(
    lines: Lines, run: Point, quotes: tuple[Quote, ...], time: re.Match[str] | None, figure: re.Match[str] | None
) -> ServingMetric:
    if time is not None:
        return run.metric(lines, quotes, _TIMES[time["what"]], float(time["value"]) / 1e3, time["statistic"])
    assert figure is not None
    return run.metric(lines, quotes, _BY_LABEL[figure["label"].lower()], float(figure["value"]))


READER = Reader(
    title=Text(en="vLLM and SGLang serving benchmark", zh="vLLM 与 SGLang 服务压测"),
    gives=(ServingMetric,),
    recognises=marked(_TITLE, r"(?:Mean|Median|P\d\d) (?:TTFT|TPOT|ITL|E2EL|E2E Latency) \(ms\):\s+\d"),
    read=_read,
    obtained_by=("vllm bench serve --model MODEL --request-rate 4 --num-prompts 400",),
)
