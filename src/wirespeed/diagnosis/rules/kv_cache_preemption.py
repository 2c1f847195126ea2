"""The KV cache is full, so running sequences are evicted and computed again."""

from wirespeed.diagnosis.joins.pieces import ALONE, against, piece
from wirespeed.model.case import Case
from wirespeed.model.events.log import FrameworkEvent
from wirespeed.model.finding import (
    FAIR,
    PROVES,
    STRONG,
    Change,
    Check,
    Evidence,
    LookAlike,
    Verdict,
)
from wirespeed.model.kinds import Explain, Rule, wants
from wirespeed.model.measurement import ServingMetric
from wirespeed.model.settings import Statement
from wirespeed.model.text import Text

FULL_RATIO = 0.95


def _judge(case: Case) -> Verdict:
    events = case.every(FrameworkEvent, topic="kv-preemption")
    preempted = case.every(ServingMetric, lambda one: "preempt" in one.name or "retract" in one.name)
    counted = [one for one in preempted if one.value > 0]
    usage = case.every(ServingMetric, lambda one: _is_cache_use(one.name))
    full = [one for one in usage if _share(one.value) >= FULL_RATIO]
    evidence: list[Evidence] = []
    evidence += piece(_PREEMPTED, PROVES, [*events, *counted])
    if not evidence:
        evidence += piece(_SAID, STRONG, case.said("kv-preempted"))
    evidence += piece(_FULL, ALONE, [*full, *case.said("kv-cache-full")])
    if preempted and not counted and not events:
        evidence += against(_NONE, STRONG, preempted)
    evidence += against(_ROOM, FAIR, [] if full else usage)
    return Verdict(evidence=tuple(evidence))


def _is_cache_use(name: str) -> bool:
    return ("cache" in name or name.startswith("kv")) and ("use" in name or "usage" in name or "util" in name)


def _share(value: float) -> float:
    return value / 100.0 if value > 1.5 else value


_PREEMPTED = Text(en="the server preempted sequences", zh="服务器抢占了序列")
_SAID = Text(en="sequences are preempted or retracted", zh="序列被抢占或回退")
_FULL = Text(en="the KV cache is nearly full", zh="KV 缓存接近用满")
_NONE = Text(en="no sequence was preempted", zh="没有序列被抢占")
_ROOM = Text(en="the KV cache has room", zh="KV 缓存有余量")

RULE = Rule(
    cause="kv-cache-preemption",
    title=Text(en="The KV cache is full and sequences are preempted", zh="KV 缓存已满，序列被抢占"),
    summary=Text(
        en="The engine evicts running sequences to make room and computes their prompts again, which shows as stalls between tokens.",
        zh="引擎为腾出空间逐出运行中的序列并重算其提示，表现为词元之间的停顿。",
    ),
    needs=(
        (wants(FrameworkEvent, lambda one: one.topic == "kv-preemption"),),
        (wants(ServingMetric, lambda one: "preempt" in one.name or _is_cache_use(one.name)),),
        (Statement,),
    ),
    judge=_judge,
    explain=Explain(
        what=Text(
            en="Cache bytes a token = 2 x layers x KV heads x head size x bytes a value; context x running sequences must fit what the weights leave.",
            zh="每词元缓存字节 = 2 × 层数 × KV 头数 × 头维 × 每值字节；上下文 × 并发序列须放得进权重之外的显存。",
        ),
        shows=Text(
            en="num_preemptions_total rises, cache use near 100 %, time between tokens jumps while the network is idle.",
            zh="num_preemptions_total 增长、缓存用量接近 100 %、词元间隔跳升而网络空闲。",
        ),
        sources=("vLLM: optimization and tuning, preemption", "SGLang: retract_decode, hyperparameter tuning"),
    ),
    told_apart_from=(
        LookAlike(
            cause="server-saturated",
            because=Text(
                en="there requests wait before they start; here they are stopped after they have started",
                zh="那里请求在开始前等待；这里在开始后被中断",
            ),
        ),
        LookAlike(
            cause="packet-loss",
            because=Text(en="loss shows as retransmissions, not in the engine's counters", zh="丢包体现为重传，不在引擎计数器里"),
        ),
    ),
    changes=(
        Change(
            what=Text(en="Give the cache more memory or admit fewer sequences", zh="增加缓存显存或减少并发序列"),
            commands=("--gpu-memory-utilization 0.95", "--max-num-seqs 64", "--kv-cache-dtype fp8", "--max-model-len 16384"),
            side="serving",
        ),
    ),
    checks=(
        Check(
            what=Text(en="The preemption counter stays flat under the same load", zh="相同负载下抢占计数不再增长"),
            commands=("curl -s localhost:8000/metrics | grep preemptions",),
        ),
    ),
    gain=Text(en="Removes stalls and repeated prefill", zh="消除停顿与重复预填充"),
    severity="medium",
    explains=("server-saturated", "no-fault-queueing", "peer-process-died"),
)
