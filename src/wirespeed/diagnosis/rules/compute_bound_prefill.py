"""The time to the first token grows with the tokens of the prompt while the GPUs are busy: prefill computes."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from wirespeed.diagnosis.joins.pieces import ALONE, against, piece
from wirespeed.model.case import Case
from wirespeed.model.finding import FAIR, SLIGHT, STRONG, Change, Check, Evidence, LookAlike, Verdict, contradicts, supports
from wirespeed.model.kinds import Explain, Rule, wants
from wirespeed.model.settings import Statement, Table
from wirespeed.model.text import Text

FEWEST_ROWS = 3
LEAST_RANGE_TIMES = 3.0
PROPORTIONAL_TIMES = 1.35
"""Time per token may vary this much over the rows: small batches pay some fixed time."""
BUSY_RATIO = 0.85
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
    said = case.said("time-grows-with-tokens")
    evidence += piece(_SAID, SLIGHT if growth else ALONE, said)
    if evidence and not growth:
        evidence += piece(_BUSY, FAIR, case.said("gpu-busy"))
        evidence += piece(_IDLE, FAIR, case.said("network-hardly-used"))
    evidence += against(_QUEUE, FAIR, case.said("queue-time", "server-queue-grows") if not growth else ())
    return Verdict(evidence=tuple(evidence))


_PROPORTIONAL = Text(en="the first token takes a time in proportion to the tokens", zh="首词元时间与词元数成正比")
_NOT_PROPORTIONAL = Text(en="the first token does not take a time in proportion to the tokens", zh="首词元时间与词元数不成正比")
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
    needs=((wants(Table, lambda one: len(one.rows) >= FEWEST_ROWS),), (Statement,)),
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
