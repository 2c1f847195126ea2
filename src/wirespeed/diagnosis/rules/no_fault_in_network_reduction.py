"""A bus bandwidth above the link: the switches add, so less crosses each link than the formula counts."""

import re

from wirespeed.diagnosis.joins.pieces import piece, quantities
from wirespeed.model.case import Case
from wirespeed.model.events.nccl import NcclTuning
from wirespeed.model.finding import FAIR, STRONG, Change, Check, Evidence, LookAlike, Verdict, contradicts, supports
from wirespeed.model.kinds import Explain, Rule
from wirespeed.model.measurement import CollectiveRun
from wirespeed.model.record import Record
from wirespeed.model.settings import Quantity, Statement
from wirespeed.model.text import Text

OVER_RATIOS = (1.0, 2.0)
"""An all-reduce in the switch sends each byte once instead of 2(n-1)/n times: at most twice the line can be computed."""
LEAST_ASKED_BYTES_PER_S = 100e9
"""Below this no NVLink of a switched machine is full, whatever is asked."""
_SWITCH_ADDS = re.compile(r"(?i)\bnvls\b|\bcollnet\b|\bsharp\b")
_NO_CHANNELS = re.compile(r"(?i)\b0 nvls channels")


def _judge(case: Case) -> Verdict:
    best = max(
        case.every(CollectiveRun, lambda one: bool(one.busbw_bytes_per_s) and "reduce" in (one.operation or "reduce")),
        key=lambda one: one.busbw_bytes_per_s or 0.0,
        default=None,
    )
    if best is None:
        return Verdict()
    seen_bytes_per_s = best.busbw_bytes_per_s or 0.0
    lines = [one for one in quantities(case, "rate") if "B" in one.printed and one.value > 0]
    over = [one for one in lines if OVER_RATIOS[0] < 8 * seen_bytes_per_s / one.value <= OVER_RATIOS[1]]
    adds = _switch_adds(case)
    asked = case.said("exceeds-link")
    if not adds or not (over or (asked and seen_bytes_per_s >= LEAST_ASKED_BYTES_PER_S)):
        return Verdict()
    if any(8 * seen_bytes_per_s > OVER_RATIOS[1] * one.value for one in lines) and not over:
        return Verdict(evidence=(contradicts(_FAR, FAIR, best),))
    evidence: list[Evidence] = [supports(_COUNTED, STRONG, best, *adds[:1], *over[:1], seen_bytes_per_s=seen_bytes_per_s)]
    evidence += piece(_ASKED, FAIR, asked)
    return Verdict(evidence=tuple(evidence))


def _switch_adds(case: Case) -> list[Record]:
    """Signs that NCCL lets the switches add: NVLS or CollNet channels, a choice of algorithm."""
    chosen = case.every(NcclTuning, lambda one: bool(_SWITCH_ADDS.search(one.algorithm or "")))
    planned = case.every(
        NcclTuning,
        lambda one: any(_SWITCH_ADDS.search(each.text) and not _NO_CHANNELS.search(each.text) for each in one.quotes),
    )
    return [*chosen, *planned]


_COUNTED = Text(
    en="{seen_bytes_per_s} is computed as if each byte crossed the links twice; the switches add, so it crosses about once",
    zh="{seen_bytes_per_s} 是按每字节过链路约两次计算的；交换机做了归约，实际约一次",
)
_ASKED = Text(en="it is asked how more than the link can be", zh="所问的是为何超过链路")
_FAR = Text(en="it is more than twice any link named", zh="超过所述任何链路的两倍")

RULE = Rule(
    cause="no-fault-metric-misread",
    title=Text(en="The bus bandwidth counts traffic that the switches save", zh="总线带宽计入了交换机省下的流量"),
    summary=Text(
        en="With reduction in the switch (NVLS, SHARP) busbw may exceed the link; it is a figure for comparison, not what is on the wire.",
        zh="使用交换机内归约（NVLS、SHARP）时 busbw 可超过链路；它用于比较，不是线上流量。",
    ),
    needs=((CollectiveRun, NcclTuning), (CollectiveRun, Statement), (CollectiveRun, Quantity)),
    silence_needs=((CollectiveRun, NcclTuning, Quantity, Statement),),
    judge=_judge,
    explain=Explain(
        what=Text(
            en="nccl-tests multiplies the rate of an all-reduce by 2(n-1)/n, which is what a ring moves. In-switch reduction moves about half of it.",
            zh="nccl-tests 对 all-reduce 的速率乘以 2(n-1)/n，这是环算法的传输量。交换机内归约只传约一半。",
        ),
        shows=Text(
            en="480 GB/s on 450 GB/s NVLink with nvls channels in the log; the same test with NCCL_ALGO=Ring stays below the link.",
            zh="日志有 nvls 通道、450 GB/s 的 NVLink 上测得 480 GB/s；设 NCCL_ALGO=Ring 后低于链路。",
        ),
        sources=("nccl-tests doc/PERFORMANCE.md", "NVIDIA/nccl-tests#239"),
    ),
    told_apart_from=(
        LookAlike(
            cause="benchmark-not-multinode",
            because=Text(
                en="there the ranks of the nodes never met, and no reduction in switches is planned",
                zh="那里各节点的进程从未汇合，也没有交换机归约",
            ),
        ),
    ),
    changes=(
        Change(
            what=Text(en="Nothing to change; compare with the same algorithm", zh="无需改动；用同一算法比较"),
            commands=("NCCL_ALGO=Ring all_reduce_perf -b 1G -e 8G -f 2 -g 8",),
        ),
    ),
    checks=(Check(what=Text(en="With the ring algorithm it stays below the link", zh="使用环算法时低于链路")),),
    gain=Text(en="None: nothing is wrong", zh="无：没有问题"),
    severity="info",
    explains=("benchmark-not-multinode",),
)
