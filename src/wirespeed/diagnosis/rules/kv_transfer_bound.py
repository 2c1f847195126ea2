"""Moving the KV cache from prefill to decode takes longer than what it saves."""

import re

from wirespeed.diagnosis.joins.pieces import (
    ALONE,
    configured,
    is_setting_named,
    piece,
    quantities,
)
from wirespeed.model.case import Case
from wirespeed.model.finding import (
    FAIR,
    SLIGHT,
    STRONG,
    Change,
    Check,
    Evidence,
    LookAlike,
    Verdict,
    contradicts,
    supports,
)
from wirespeed.model.kinds import Explain, Rule, wants
from wirespeed.model.measurement import (
    ServingMetric,
)
from wirespeed.model.record import Record
from wirespeed.model.settings import Quantity, Setting, Statement
from wirespeed.model.text import Text

NOTABLE_RATIO = 0.3
LEAST_FIRST_S, SLOWER_TIMES = 0.5, 1.2
_HIT_WORD = re.compile(
    r"\b(?:cache[d]? hits?|hit in|from (?:the )?(?:shared |remote )?(?:cache|store|redis)|with (?:the )?(?:cache|lmcache|mooncake)|cached|re-?used?)\b"
)
_MISS_WORD = re.compile(r"\b(?:first time|cold|miss(?:es)?|without|no cache|uncached|recomput\w*|comput(?:ed|ing)|prefill)\b")
_TRANSFER_METRIC = r"transfer.*_s$|transfer.*seconds"
_TRANSFER_SETTING = r"kv.*(transfer|send|recv)|transfer_time"


def _longest(case: Case, metric: str, setting: str) -> tuple[Record, float] | None:
    """The longest time of this name among metrics and loose lines."""
    named = re.compile(metric)
    times: list[tuple[Record, float]] = [(one, one.value) for one in case.every(ServingMetric) if named.search(one.name)]
    times += [(one.record, one.duration_s) for one in configured(case, setting) if one.duration_s]
    return max(times, key=lambda one: one[1], default=None)


def _hit_slower_than_computing(case: Case) -> tuple[Quantity, Quantity] | None:
    """A first token that takes longer with the prompt in a shared cache than without."""
    times = [one for one in quantities(case, "time") if one.value >= LEAST_FIRST_S]
    hits = [one for one in times if _HIT_WORD.search(one.subject) and not _MISS_WORD.search(one.subject)]
    misses = [one for one in times if _MISS_WORD.search(one.subject) and not _HIT_WORD.search(one.subject)]
    return next(((hit, miss) for hit in hits for miss in misses if hit.value >= SLOWER_TIMES * miss.value), None)


def _judge(case: Case) -> Verdict:
    evidence: list[Evidence] = []
    transfer, whole = (
        _longest(case, _TRANSFER_METRIC, _TRANSFER_SETTING),
        _longest(case, r"^ttft_s$|^prefill_s$", r"ttft|first_token"),
    )
    if transfer and whole and whole[1] > 0:
        share = transfer[1] / whole[1]
        proof = supports if share >= NOTABLE_RATIO else contradicts
        evidence.append(proof(_SHARE, STRONG, transfer[0], whole[0], share_ratio=share))
    slower = _hit_slower_than_computing(case)
    if slower:
        evidence.append(supports(_HIT, STRONG, *slower, hit_s=slower[0].value, computed_s=slower[1].value))
    shared = [one.record for one in configured(case, r"remote_url$|remote_serde$|kv_connector$|lmcache_remote_url$")]
    evidence += piece(_STORE, FAIR if slower else SLIGHT, [*shared, *(case.said("kv-store-shared") if slower or shared else ())])
    evidence += piece(_TRANSFER, ALONE, case.said("kv-transfer"))
    if evidence:
        evidence += piece(_DOMINATES, FAIR, case.said("kv-transfer-dominates"))
        evidence += piece(_SPLIT, SLIGHT, case.said("prefill-decode-split"))
        evidence += piece(_FULL, FAIR, case.said("link-full"))
    return Verdict(evidence=tuple(evidence))


_SHARE = Text(en="the transfer takes {share_ratio} of the time to the first token", zh="传输占首词元时间的 {share_ratio}")
_HIT = Text(
    en="with the prompt in the cache the first token takes {hit_s}, computed anew {computed_s}",
    zh="命中缓存时首词元耗时 {hit_s}，重新计算为 {computed_s}",
)
_STORE = Text(en="the cache is fetched from a store or another instance", zh="缓存取自存储或其他实例")
_TRANSFER = Text(en="the KV cache is moved between machines", zh="KV 缓存在机器间移动")
_DOMINATES = Text(en="the transfer is said to take most of the time", zh="传输被指占去大部分时间")
_FULL = Text(en="the link is full meanwhile", zh="期间链路已满")
_SPLIT = Text(en="prefill and decode are split", zh="预填充与解码分离")

RULE = Rule(
    cause="kv-transfer-bound",
    title=Text(en="Moving the KV cache is the limit", zh="KV 缓存传输是瓶颈"),
    summary=Text(
        en="Prefill has finished, and decode waits for the KV cache to cross the network.",
        zh="预填充已完成，解码在等 KV 缓存穿过网络。",
    ),
    needs=(
        (wants(ServingMetric, lambda one: "transfer" in one.name),),
        (wants(Setting, lambda one: is_setting_named(one, _TRANSFER_SETTING)),),
        (Quantity,),
        (Statement,),
    ),
    judge=_judge,
    explain=Explain(
        what=Text(
            en="A 70B model with grouped heads makes 320 KiB of cache a token in 16 bits: 32k tokens are 10 GiB, 0.9 s at 100 Gb/s and 9 s at 10 Gb/s.",
            zh="分组注意力的 70B 模型 16 位下每词元 320 KiB 缓存：3.2 万词元即 10 GiB，100 Gb/s 需 0.9 s，10 Gb/s 需 9 s。",
        ),
        shows=Text(
            en="Time to first token grows with the prompt's length by size / rate; the link is full only during transfers.",
            zh="首词元时间随提示长度按 大小/速率 增长；链路仅在传输时满。",
        ),
        sources=("NVIDIA Dynamo / NIXL documentation", "Mooncake (arXiv 2407.00079)", "DistServe (arXiv 2401.09670)"),
    ),
    told_apart_from=(
        LookAlike(
            cause="rdma-fallback-tcp",
            because=Text(en="first see that the transfer engine uses RDMA at all", zh="先确认传输引擎是否真的用了 RDMA"),
        ),
        LookAlike(cause="server-saturated", because=Text(en="there decode waits for compute", zh="那里解码等的是算力")),
    ),
    changes=(
        Change(
            what=Text(
                en="Move it over RDMA on all NICs, layer by layer while prefill runs",
                zh="用所有网卡的 RDMA，并在预填充期间逐层传输",
            ),
            commands=("UCX_TLS=rc,cuda_copy,cuda_ipc", "UCX_NET_DEVICES=all"),
            side="serving",
        ),
        Change(
            what=Text(en="Keep short prompts on one instance; store the cache in 8 bits", zh="短提示不分离；缓存用 8 位"),
            commands=("--kv-cache-dtype fp8",),
            side="serving",
        ),
    ),
    checks=(
        Check(
            what=Text(
                en="Transfer time equals cache size over line rate, and is under a third of prefill",
                zh="传输时间等于缓存大小除以线速，且小于预填充的三分之一",
            )
        ),
    ),
    gain=Text(
        en="Time to first token falls by the transfer's part that is hidden or shortened", zh="首词元时间减少被隐藏或缩短的传输部分"
    ),
    severity="medium",
    explains=("bandwidth-insufficient", "compute-bound"),
)
