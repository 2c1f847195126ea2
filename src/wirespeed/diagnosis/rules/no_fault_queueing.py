"""The latency is time in the model server's own queue; network and service time stay the same."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from wirespeed.diagnosis.joins.pieces import (
    ALONE,
    against,
    configured,
    piece,
    quantities,
)
from wirespeed.model.case import Case
from wirespeed.model.facts.host import EnvVar
from wirespeed.model.finding import (
    FAIR,
    SLIGHT,
    STRONG,
    Change,
    Check,
    Evidence,
    LookAlike,
    Verdict,
    supports,
)
from wirespeed.model.kinds import Explain, Rule, wants
from wirespeed.model.measurement import (
    ServingMetric,
)
from wirespeed.model.record import Record
from wirespeed.model.settings import Statement, Table
from wirespeed.model.text import Text
from wirespeed.theory import requests

DOMINANT_RATIO = 0.3
GROWTH_TIMES = 3.0
STEADY_TIMES = 1.5
EQUAL_TIMES = 1.15
"""Batches that are full already take the same time a token, whatever waits behind them."""
LEAST_QUEUE_S = 0.01
MANY_COUNT = 4
FIRST_TOKEN_TIMES = 20.0
"""A first token that takes as long as twenty later ones has waited; prefill of a few thousand tokens takes fewer."""
_UNTIL_FIRST = (
    r"(?:ttft|first[- ]token)\W{0,3}(?:(?:was|is|of|p\d\d|mean|time|takes)\W{0,2})*$"
    r"|ttft.*\b(?:with|at|for) \d+ ?\w*\W{0,3}$"
)
FIRST_TOKEN_GROWTH_TIMES = 10.0
_LOAD_COLUMN = re.compile(r"(?i)concurren|\busers?\b|\bclients?\b|\bload\b|in[- ]flight|\brequests?\b(?!/s)|\brps\b|\bqps\b")
_PER_TOKEN_COLUMN = re.compile(r"(?i)per[- ](?:output )?token|\btpot\b|\bitl\b|inter-?token|token latency")
_SLOTS = r"num_parallel$|^parallel$|max_num_seqs$|max_batch_size$|max_running_requests$|max_concurrent_requests$"
_QUEUE = re.compile(r"(?i)queue|wait")
_SERVICE = re.compile(r"(?i)infer|service|compute|decode|prefill|model|forward|gpu time|process")
_QUEUE_WORD = r"(?:queue\w*|waiting)(?: time| wait\w*| p\d\d| mean| avg)*\W{0,3}$"
_SERVICE_WORD = r"(?:prefill|decode|inference|service|compute|model|forward)(?: time| p\d\d| mean| avg)*\W{0,3}$"
_VALUE = re.compile(r"(\d+(?:\.\d+)?)\s*(ms|us|s|min)?\b")


def _times(table: Table, title: re.Pattern[str]) -> list[float]:
    column = next((place for place, name in enumerate(table.columns) if place and title.search(name)), None)
    cells = [] if column is None else [row[column] for row in table.rows if len(row) > column]
    found = [match for cell in cells if (match := _VALUE.search(cell))]
    return [float(match[1]) * {"ms": 1e-3, "us": 1e-6, "s": 1.0, "min": 60.0, None: 1.0}[match[2]] for match in found]


@dataclass(frozen=True, slots=True)
class _Times:
    """Times in the queue and in service that one source gives, in order of its rows."""

    queue_s: tuple[float, ...]
    service_s: tuple[float, ...]
    records: tuple[Record, ...]

    @property
    def share_ratio(self) -> float:
        """Share of queue time where it is longest."""
        return requests.queue_share_ratio(max(self.queue_s), max(self.service_s))

    @property
    def only_queue_grows(self) -> bool:
        """Whether the queue time grows several times while the service time stays."""
        steady = max(self.service_s) <= STEADY_TIMES * min(self.service_s)
        return len(self.service_s) > 1 and steady and max(self.queue_s) >= GROWTH_TIMES * max(min(self.queue_s), LEAST_QUEUE_S)


def _sources(case: Case) -> Iterator[_Times]:
    for table in case.every(Table):
        yield _Times(tuple(_times(table, _QUEUE)), tuple(_times(table, _SERVICE)), (table,))
    waits, works = quantities(case, "time", _QUEUE_WORD), quantities(case, "time", _SERVICE_WORD)
    yield _Times(tuple(one.value for one in waits), tuple(one.value for one in works), (*waits[-1:], *works[-1:]))
    times = case.every(ServingMetric, lambda one: one.name.endswith("_s"))
    queued = sorted((one for one in times if _QUEUE.search(one.name)), key=lambda one: -one.value)
    served = [one for one in times if _SERVICE.search(one.name)]
    yield _Times(tuple(one.value for one in queued), tuple(one.value for one in served), (*queued[:1], *served[-1:]))


def _waits_for_others(case: Case) -> tuple[ServingMetric, ServingMetric, ServingMetric, float] | None:
    """A first token that takes most of the time in the system which Little's law gives, while tokens then flow."""
    return next(
        (found for run in dict.fromkeys(one.run for one in case.every(ServingMetric)) if (found := _waits_in(case, run))), None
    )


def _waits_in(case: Case, run: str) -> tuple[ServingMetric, ServingMetric, ServingMetric, float] | None:
    asked_for = case.first(ServingMetric, name="concurrency_count", run=run)
    finished = case.first(ServingMetric, lambda one: one.name == "requests_per_s" and one.value > 0, run=run)
    first = case.first(ServingMetric, lambda one: one.name == "ttft_s" and one.at not in ("p90", "p95", "p99", "max"), run=run)
    between = case.first(ServingMetric, lambda one: one.name in ("itl_s", "tpot_s"), run=run)
    if not (asked_for and finished and first) or asked_for.value < MANY_COUNT:
        return None
    stay_s = requests.time_in_system_s(asked_for.value, finished.value)
    flows = between is None or first.value >= FIRST_TOKEN_TIMES * between.value
    return (asked_for, finished, first, stay_s) if first.value >= 0.4 * stay_s and first.value >= 1.0 and flows else None


def _only_first_token_grows(case: Case) -> list[Record]:
    """First-token times many times apart between loads, where tokens then flow as before."""
    first = [one for one in quantities(case, "time", _UNTIL_FIRST) if one.value > 0]
    if len(first) < 2 or not case.said("service-time-constant"):
        return []
    low, high = min(first, key=lambda one: one.value), max(first, key=lambda one: one.value)
    return [low, high] if high.value >= FIRST_TOKEN_GROWTH_TIMES * low.value and high.value >= 1.0 else []


def _tokens_flow_at_any_load(case: Case) -> list[Table]:
    """Tables of loads several times apart at which each token takes the same: more requests wait, and are not served slower."""
    return [one for one in case.every(Table) if _is_steady_per_token(one)]


def _is_steady_per_token(table: Table) -> bool:
    load = next((place for place, name in enumerate(table.columns) if _LOAD_COLUMN.search(name)), None)
    token = next((place for place, name in enumerate(table.columns) if _PER_TOKEN_COLUMN.search(name)), None)
    if load is None or token is None or load == token:
        return False
    cells = [(_VALUE.search(row[load]), _VALUE.search(row[token])) for row in table.rows if len(row) > max(load, token)]
    pairs = [(float(found[1]), float(each[1])) for found, each in cells if found and each and found[0] and each[0]]
    loads, times = [one for one, _ in pairs], [one for _, one in pairs]
    apart = len(pairs) > 1 and max(loads) >= GROWTH_TIMES * max(min(loads), 1.0) and max(loads) >= MANY_COUNT
    return apart and 0 < max(times) <= EQUAL_TIMES * min(times)


def _one_at_a_time(case: Case) -> list[Record]:
    """Settings that let the server work on one request only."""
    found: list[Record] = [one.record for one in configured(case, _SLOTS) if one.setting.strip().strip("\"'") == "1"]
    return found + list(
        case.every(EnvVar, lambda one: one.name == "OLLAMA_NUM_PARALLEL" and (one.setting or "").strip().startswith("1"))
    )


def _judge(case: Case) -> Verdict:
    evidence: list[Evidence] = []
    waits = _waits_for_others(case)
    if waits:
        evidence.append(
            supports(_LITTLE, STRONG, *waits[:3], in_flight_text=f"{waits[0].value:.0f}", stay_s=waits[3], first_s=waits[2].value)
        )
    times = max((one for one in _sources(case) if one.queue_s and one.service_s), key=lambda one: one.share_ratio, default=None)
    if times and times.share_ratio >= DOMINANT_RATIO:
        evidence += piece(_SHARE, STRONG, times.records, share_ratio=times.share_ratio)
        evidence += piece(_ONLY_QUEUE, FAIR, times.records if times.only_queue_grows else ())
    elif times:
        evidence += against(_SHORT, FAIR, times.records, share_ratio=times.share_ratio)
    blamed = case.said("blames-network")
    grown = _only_first_token_grows(case)
    evidence += piece(_GROWN, STRONG, grown)
    evidence += piece(_FLOWS, STRONG, _tokens_flow_at_any_load(case))
    in_turn: list[Record] = [*case.said("served-in-turn"), *_one_at_a_time(case)]
    evidence += piece(_IN_TURN, STRONG, in_turn)
    evidence += piece(
        _NAMED, SLIGHT if waits else ALONE, case.said("queue-time") or (case.said("server-queue-grows") if blamed else ())
    )
    if evidence:
        evidence += piece(_STEADY, FAIR, case.said("service-time-constant"))
        evidence += piece(_LOAD, FAIR, case.said("more-load-slower"))
        evidence += piece(_BLAMED, FAIR, blamed)
    evidence += against(_BEFORE, STRONG, case.said("connection-limit", "stream-limit"))
    return Verdict(evidence=tuple(evidence))


_FLOWS = Text(
    en="each token takes the same at loads many times apart: what is more waits its turn",
    zh="负载相差数倍而每词元耗时相同：多出的请求在排队",
)
_GROWN = Text(en="only the time to the first token grows, tokens then flow as before", zh="只有首词元时间变长，之后的词元照常")
_IN_TURN = Text(en="the server takes one request after the other", zh="服务器一次只处理一个请求")
_LITTLE = Text(
    en="{in_flight_text} requests at a time at this rate stay {stay_s} each, and {first_s} of it pass before the first token: they wait for others",
    zh="并发 {in_flight_text} 个请求，按此速率每个停留 {stay_s}，其中 {first_s} 在首词元之前：它们在等其他请求",
)
_ONLY_QUEUE = Text(en="the queue grows while the service time stays", zh="排队时间增长而服务时间不变")
_SHARE = Text(
    en="at the highest load {share_ratio} of the time is in the server's queue", zh="最高负载时 {share_ratio} 的时间在服务器队列中"
)
_SHORT = Text(en="only {share_ratio} of the time is in the queue", zh="仅 {share_ratio} 的时间在队列中")
_NAMED = Text(en="the server's own queue time is reported", zh="报告了服务器自身的排队时间")
_STEADY = Text(en="service or network time does not change", zh="服务或网络时间不变")
_LOAD = Text(en="it grows with the load", zh="随负载增长")
_BLAMED = Text(en="the network or gateway is suspected", zh="怀疑网络或网关")
_BEFORE = Text(en="a limit in front of the server makes requests wait there", zh="服务器之前的上限使请求在那里等待")

RULE = Rule(
    cause="no-fault-queueing",
    title=Text(en="The latency is queueing at the model server, not the network", zh="延迟来自模型服务器排队，而非网络"),
    summary=Text(
        en="Requests wait for their turn; transport and service time are the same at every load.",
        zh="请求在等待轮次；传输与服务时间在各负载下相同。",
    ),
    needs=(
        (wants(Table, lambda one: bool(_times(one, _QUEUE)) or _is_steady_per_token(one)),),
        (wants(ServingMetric, lambda one: bool(_QUEUE.search(one.name))),),
        (wants(ServingMetric, lambda one: one.name == "concurrency_count"), wants(ServingMetric, lambda one: one.name == "ttft_s")),
        (Statement,),
    ),
    judge=_judge,
    explain=Explain(
        what=Text(
            en="Near capacity the wait grows as 1 / (1 - utilisation): at 90 % it is ten times that at an idle server, with nothing broken.",
            zh="接近容量时等待按 1 / (1 − 利用率) 增长：90 % 时为空闲时的十倍，而没有任何故障。",
        ),
        shows=Text(
            en="Queue time grows with the request rate, inference time is constant, connect and first-byte times of a trivial request are short.",
            zh="排队时间随请求率增长，推理时间不变，简单请求的连接与首字节时间很短。",
        ),
        sources=("Kleinrock: Queueing Systems", "vLLM metrics: request_queue_time_seconds"),
    ),
    told_apart_from=(
        LookAlike(
            cause="gateway-connection-limit",
            because=Text(en="there the server's queue is empty and the gateway's is full", zh="那里服务器队列为空而网关已满"),
        ),
        LookAlike(
            cause="server-saturated",
            because=Text(en="beyond capacity the queue never drains and requests fail", zh="超过容量后队列不再排空且请求失败"),
        ),
    ),
    changes=(
        Change(
            what=Text(
                en="Add replicas or batch slots for the wanted latency; nothing to change in the network",
                zh="为目标延迟增加副本或批槽；网络无需改动",
            ),
            side="serving",
        ),
    ),
    checks=(
        Check(
            what=Text(en="Queue time near zero at the same request rate a replica", zh="每副本相同请求率下排队时间近零"),
            commands=("curl -s localhost:8000/metrics | grep queue_time",),
        ),
    ),
    gain=Text(en="None from the network", zh="网络侧无收益"),
    severity="info",
    explains=("server-saturated", "gateway-connection-limit", "load-balancer-blind", "too-many-layers"),
)
