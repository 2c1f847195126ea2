"""The link is full of traffic that the job needs."""

from wirespeed.diagnosis.joins.line_rate import line_rates, reached
from wirespeed.diagnosis.joins.pieces import ALONE, against, piece, quantities
from wirespeed.model.case import Case
from wirespeed.model.facts.link import Link
from wirespeed.model.facts.rdma import RdmaPort
from wirespeed.model.finding import (
    FAIR,
    STRONG,
    Change,
    Check,
    Evidence,
    LookAlike,
    Verdict,
    supports,
)
from wirespeed.model.kinds import Explain, Rule
from wirespeed.model.measurement import ThroughputRun
from wirespeed.model.record import Record
from wirespeed.model.settings import Quantity, Statement
from wirespeed.model.text import Text

LEAST_SIZE_BYTES = 1e6
LEAST_TIME_S = 0.01
MOST_NUMBERS = 12
"""Among more numbers some three agree by chance."""
BUSY_RATIO = 0.88
"""From here on an interface is full: headers and gaps take the rest."""


def _time_of_link(case: Case) -> tuple[Quantity, Quantity, Record, float] | None:
    """A size, a time and a link for which size over rate is that time."""
    sizes = [one for one in quantities(case, "size") if one.value >= LEAST_SIZE_BYTES]
    times = [one for one in quantities(case, "time") if one.value >= LEAST_TIME_S]
    lines = line_rates(case)
    if max(len(sizes), len(times), len(lines)) > MOST_NUMBERS:
        return None
    return next(
        (
            (size, time, line, rate)
            for size in sizes
            for time in times
            for line, rate in lines
            if 0.85 <= 8 * size.value / rate / time.value <= 1.15
        ),
        None,
    )


def _busy_interface(case: Case) -> tuple[ThroughputRun, Record, float] | None:
    """Traffic that sar saw at the rate of the slowest link that could carry it."""
    busiest = max(case.every(ThroughputRun, tool="sar"), key=lambda one: one.rate_bits_per_s, default=None)
    if busiest is None:
        return None
    carriers = [one for one in line_rates(case) if one[1] >= 0.95 * busiest.rate_bits_per_s]
    line = min(carriers, key=lambda one: one[1], default=None)
    share_ratio = busiest.rate_bits_per_s / line[1] if line else 0.0
    return (busiest, line[0], share_ratio) if line and share_ratio >= BUSY_RATIO else None


def _judge(case: Case) -> Verdict:
    evidence: list[Evidence] = []
    demand, slow_kind, said_full = case.said("demand-exceeds"), case.said("link-is-slow-kind"), case.said("link-full")
    full = reached(case)
    if full and (demand or said_full):
        share = full[0][1] / full[1][1]
        evidence.append(supports(_FULL, STRONG, full[0][0], full[1][0], share_ratio=share))
    taken = _time_of_link(case)
    if taken and (demand or said_full or slow_kind):
        evidence.append(
            supports(_TIME, FAIR, *taken[:3], size_bytes=taken[0].value, line_bits_per_s=taken[3], time_s=taken[1].value)
        )
    busy = _busy_interface(case)
    if busy and not (demand or said_full):
        evidence.append(supports(_FULL, STRONG, busy[0], busy[1], share_ratio=busy[2]))
    evidence += piece(_SAID, ALONE, said_full)
    evidence += piece(_DEMAND, ALONE, demand)
    if evidence:
        evidence += piece(_SLOW, FAIR, slow_kind)
    evidence += against(_UNUSED, STRONG, case.said("network-hardly-used"))
    evidence += against(_OTHERS, FAIR, case.said("others-share"))
    return Verdict(evidence=tuple(evidence))


_TIME = Text(
    en="{size_bytes} over {line_bits_per_s} take the {time_s} that are waited",
    zh="{size_bytes} 经 {line_bits_per_s} 传输正需所等待的 {time_s}",
)
_FULL = Text(en="the link carries {share_ratio} of its rate", zh="链路承载了其速率的 {share_ratio}")
_SAID = Text(en="the link is full", zh="链路已满")
_DEMAND = Text(en="the job moves more than the link carries in the time", zh="作业在该时间内的数据量超过链路能力")
_SLOW = Text(en="the link is of a slow kind for this work", zh="该链路对此工作而言偏慢")
_UNUSED = Text(en="the network is hardly used", zh="网络几乎未用")
_OTHERS = Text(en="others share the link", zh="其他任务共享链路")

RULE = Rule(
    cause="bandwidth-insufficient",
    title=Text(en="The link is too slow for what the job moves", zh="链路带宽不足"),
    summary=Text(
        en="The link runs at its rate with the job's own traffic; nothing is broken, there is not enough of it.",
        zh="链路被作业自身流量占满；没有故障，只是不够。",
    ),
    needs=((ThroughputRun, Link), (ThroughputRun, RdmaPort), (Statement,)),
    judge=_judge,
    explain=Explain(
        what=Text(
            en="A ring all-reduce of S bytes on n ranks moves 2 S (n-1)/n through each link: 14 GB of gradients over 10 Gb/s take 22 s a step.",
            zh="n 个 rank 上 S 字节的环形 all-reduce 每条链路需传 2S(n−1)/n：14 GB 梯度在 10 Gb/s 上每步 22 s。",
        ),
        shows=Text(
            en="Interface at 90 % and more for most of the step, no loss, GPUs waiting.",
            zh="步骤的大部分时间接口达 90 % 以上、无丢包、GPU 等待。",
        ),
        sources=("nccl-tests doc/PERFORMANCE.md",),
    ),
    told_apart_from=(
        LookAlike(
            cause="link-speed-lower-than-assumed",
            because=Text(en="there the link should be faster than it is", zh="那里链路本应更快"),
        ),
        LookAlike(cause="noisy-neighbour", because=Text(en="there the traffic is someone else's", zh="那里流量属于他人")),
        LookAlike(
            cause="parallel-strategy-comm-bound",
            because=Text(en="a layout that moves less may fit the same link", zh="减少传输的布局可能适合同一链路"),
        ),
    ),
    changes=(
        Change(
            what=Text(
                en="Move less: accumulate gradients, send 16 bits, shard within the node, overlap with compute",
                zh="减少传输：梯度累积、16 位传输、节点内分片、与计算重叠",
            ),
            side="training",
        ),
        Change(what=Text(en="Use a faster or a second link", zh="使用更快或第二条链路")),
    ),
    checks=(
        Check(
            what=Text(en="Bytes a step over line rate is below compute time", zh="每步字节数除以线速小于计算时间"),
            commands=("sar -n DEV 1",),
        ),
    ),
    gain=Text(en="Step time falls by the exposed transfer time", zh="步骤时间减少暴露的传输时间"),
    severity="medium",
    explains=("parallel-strategy-comm-bound",),
)
