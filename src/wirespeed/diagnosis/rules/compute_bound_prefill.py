"""The time to the first token grows with the tokens of the prompt while the GPUs are busy: prefill computes."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from wirespeed.diagnosis.joins.pieces import ALONE, against, piece
from wirespeed.model.case import Case
from wirespeed.model.finding import FAIR, SLIGHT, STRONG, Change, Check, Evidence, LookAlike, Verdict, contradicts, supports
from wirespeed.model.kinds import Explain, Rule, wants
from wirespeed.model.measurement import ServingMetric
from wirespeed.model.record import Record
from wirespeed.model.settings import Statement, Table
from wirespeed.model.source import Quote
from wirespeed.model.text import Text

FEWEST_ROWS = 3
LEAST_RANGE_TIMES = 3.0
PROPORTIONAL_TIMES = 1.35
"""Time per token may vary this much over the rows: small batches pay some fixed time."""
BUSY_RATIO = 0.85
STARVED_RATIO = 0.2
"""Running requests get at most a fifth of the tokens that fewer of them got before."""
PROMPT_TIMES = 20.0
_ENGINE = ("output_tokens_per_s", "running_count", "prompt_tokens_per_s", "waiting_count")
_TOKENS = re.compile(r"(?i)token|prompt|input|context|\bisl\b|seq(?:uence)?[ _]?len|\blength\b")
_FIRST = re.compile(r"(?i)ttft|first token|prefill|latency|time")
_GPU = re.compile(r"(?i)gpu|\bsm\b|\bmfu\b|util|power")
_NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")


@dataclass(frozen=True, slots=True)
class _Growth:
    """Tokens and time to the first of them, row by row, with how busy the GPU was where a column says so."""

    table: Table
    tokens: tuple[float, ...]
    times: tuple[float, ...]
    busy_ratios: tuple[float, ...]

    @property
    def is_proportional(self) -> bool:
        """Whether time per token stays the same while the tokens grow."""
        costs = [time / token for time, token in zip(self.times, self.tokens, strict=True)]
        return max(costs) <= PROPORTIONAL_TIMES * min(costs)


def _growths(case: Case) -> Iterator[_Growth]:
    for table in case.every(Table):
        titles = [(place, name) for place, name in enumerate(table.columns) if not _GPU.search(name)]
        first = next(
            (place for place, name in titles if _FIRST.search(name) and not re.search(r"(?i)tok\w*/s|^batched", name)), None
        )
        token = next((place for place, name in titles if _TOKENS.search(name) and place != first), None)
        busy = next((place for place, name in enumerate(table.columns) if _GPU.search(name)), None)
        if first is None or token is None:
            continue
        rows = [row for row in table.rows if len(row) > max(first, token) and _number(row[first]) and _number(row[token])]
        tokens, times = [tuple(_number(row[place]) for row in rows) for place in (token, first)]
        shares = tuple(_number(row[busy]) / 100.0 for row in rows if busy is not None and len(row) > busy and "%" in row[busy])
        if len(rows) >= FEWEST_ROWS and max(tokens) >= LEAST_RANGE_TIMES * min(tokens):
            yield _Growth(table, tokens, times, shares)


def _starved_by_prompts(case: Case) -> list[Record]:
    """Two lines of an engine: while others' prompts are read the running requests get hardly a token, and nobody waits in a queue."""
    lines: dict[Quote, dict[str, ServingMetric]] = {}
    for one in case.every(ServingMetric, lambda one: bool(one.quotes) and one.name in _ENGINE):
        lines.setdefault(one.quotes[0], {}).setdefault(one.name, one)
    engine = [parts for parts in lines.values() if _ENGINE[:2] == tuple(name for name in _ENGINE[:2] if name in parts)]
    if not engine or any(parts["waiting_count"].value > 0 for parts in engine if "waiting_count" in parts):
        return []
    best = max(engine, key=lambda parts: parts["output_tokens_per_s"].value)
    most = best["output_tokens_per_s"]
    for parts in engine:
        is_low = parts["output_tokens_per_s"].value <= STARVED_RATIO * most.value
        if is_low and parts["running_count"].value > best["running_count"].value and _reads_prompts(engine, most.value):
            return [most, parts["output_tokens_per_s"]]
    return []


def _reads_prompts(engine: list[dict[str, ServingMetric]], most_output: float) -> bool:
    """Whether some line shows prompts being read at a rate far above that of tokens made."""
    return any(
        parts["prompt_tokens_per_s"].value >= PROMPT_TIMES * most_output for parts in engine if "prompt_tokens_per_s" in parts
    )


def _number(cell: str) -> float:
    found = _NUMBER.search(cell)
    return float(found[0].replace(",", "")) if found else 0.0


def _judge(case: Case) -> Verdict:
    evidence: list[Evidence] = []
    growth = next(_growths(case), None)
    if growth and growth.is_proportional:
        is_busy = bool(growth.busy_ratios) and min(growth.busy_ratios) >= BUSY_RATIO
        evidence.append(supports(_PROPORTIONAL, STRONG if is_busy else FAIR, growth.table))
        evidence += piece(_BUSY, FAIR, [growth.table] if is_busy else [])
    elif growth:
        evidence.append(contradicts(_NOT_PROPORTIONAL, FAIR, growth.table))
    starved = _starved_by_prompts(case)
    evidence += piece(_STARVED, STRONG, starved)
    huge = case.said("prompt-is-huge")
    slow = case.said("no-gpu-machine") if huge else ()
    evidence += piece(_HUGE, FAIR if slow or starved else SLIGHT, huge)
    evidence += piece(_NO_GPU, FAIR, slow)
    said = case.said("time-grows-with-tokens")
    evidence += piece(_SAID, SLIGHT if growth else ALONE, said)
    if evidence and not growth:
        evidence += piece(_BUSY, FAIR, case.said("gpu-busy"))
        evidence += piece(_IDLE, FAIR, case.said("network-hardly-used"))
    evidence += against(_QUEUE, FAIR, case.said("queue-time", "server-queue-grows") if not growth else ())
    return Verdict(evidence=tuple(evidence))


_PROPORTIONAL = Text(en="the first token takes a time in proportion to the tokens", zh="首词元时间与词元数成正比")
_NOT_PROPORTIONAL = Text(en="the first token does not take a time in proportion to the tokens", zh="首词元时间与词元数不成正比")
_STARVED = Text(
    en="while prompts of others are read, running requests hardly get a token; nothing waits in a queue",
    zh="读取他人提示期间，运行中的请求几乎得不到词元；没有排队",
)
_HUGE = Text(en="the prompt is very long", zh="提示非常长")
_NO_GPU = Text(en="the machine has no GPU to read it with", zh="该机器没有 GPU 来读取它")
_BUSY = Text(en="the GPUs are busy all the time", zh="GPU 一直繁忙")
_IDLE = Text(en="the network is hardly used", zh="网络几乎未用")
_SAID = Text(en="it is said to take longer the longer the prompt is", zh="据称提示越长耗时越长")
_QUEUE = Text(en="requests wait in a queue", zh="请求在排队")

RULE = Rule(
    cause="compute-bound",
    title=Text(en="Prefill computes: longer prompts take longer", zh="预填充受算力限制：提示越长越慢"),
    summary=Text(
        en="The wait for the first token is the computation of the prompt, proportional to its tokens; no hop adds to it.",
        zh="首词元的等待是对提示的计算，与词元数成正比；没有哪一跳增加它。",
    ),
    needs=(
        (wants(ServingMetric, lambda one: one.name == "prompt_tokens_per_s"),),
        (wants(Table, lambda one: len(one.rows) >= FEWEST_ROWS),),
        (Statement,),
    ),
    judge=_judge,
    explain=Explain(
        what=Text(
            en="Prefill does about 2 x parameters operations a prompt token; a busy GPU does them at its rate, so time is proportional to tokens. A network time would stay or grow with bytes, which are few.",
            zh="预填充每个提示词元约需 2 × 参数量次运算；GPU 满载时耗时与词元数成正比。网络时间则不变，或随很少的字节增长。",
        ),
        shows=Text(
            en="TTFT doubles when the prompt does; GPU above 90 %, network below 1 MB/s.",
            zh="提示翻倍则 TTFT 翻倍；GPU 超过 90 %，网络低于 1 MB/s。",
        ),
        sources=(
            "Kaplan et al. 2020, Scaling Laws, section 2.1 (2N operations a token)",
            "vllm docs: optimization and tuning, chunked prefill",
        ),
    ),
    told_apart_from=(
        LookAlike(
            cause="no-fault-queueing",
            because=Text(en="there one request alone is fast at any length", zh="那里单独一个请求无论多长都快"),
        ),
        LookAlike(
            cause="kv-transfer-bound",
            because=Text(en="there the KV cache crosses a link that is busy", zh="那里 KV 缓存经过繁忙的链路"),
        ),
    ),
    changes=(
        Change(
            what=Text(
                en="Chunked prefill, prefix caching, fewer prompt tokens a batch, or more GPUs",
                zh="分块预填充、前缀缓存、减少每批提示词元，或增加 GPU",
            ),
            side="serving",
        ),
    ),
    checks=(Check(what=Text(en="Half the prompt gives half the time to the first token", zh="提示减半，首词元时间减半")),),
    gain=Text(en="In proportion to the prompt tokens saved", zh="与节省的提示词元成正比"),
    severity="medium",
    explains=("gateway-timeout-too-short", "too-many-layers", "no-fault-queueing"),
)
