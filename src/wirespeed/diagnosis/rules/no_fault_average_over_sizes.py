"""The average over all message sizes is taken for the bandwidth, or small sizes for large ones."""

from wirespeed.diagnosis.joins.pieces import piece
from wirespeed.model.case import Case
from wirespeed.model.finding import FAIR, STRONG, Change, Check, Evidence, LookAlike, Value, Verdict, contradicts, supports
from wirespeed.model.kinds import Explain, Rule
from wirespeed.model.measurement import CollectiveRun, CollectiveSummary
from wirespeed.model.text import Text

APART_TIMES = 1.5


def _judge(case: Case) -> Verdict:
    runs = [one for one in case.every(CollectiveRun) if one.busbw_bytes_per_s]
    means = case.every(CollectiveSummary, lambda one: bool(one.busbw_mean_bytes_per_s))
    evidence: list[Evidence] = []
    if runs and means:
        peak = max(runs, key=lambda one: one.busbw_bytes_per_s or 0.0)
        mean = means[0].busbw_mean_bytes_per_s or 0.0
        sizes = {one.size_bytes for one in runs}
        numbers: dict[str, Value] = {"mean_bytes_per_s": mean, "peak_bytes_per_s": peak.busbw_bytes_per_s}
        asked = case.said("metric-confusion")
        if len(sizes) >= 2 and (peak.busbw_bytes_per_s or 0.0) >= APART_TIMES * mean:
            evidence.append(supports(_MEAN, FAIR, means[0], peak, **numbers))
            evidence += piece(_ASKED, STRONG, [one for one in asked if one.is_question] or asked)
        else:
            evidence.append(contradicts(_CLOSE, FAIR, means[0], peak, **numbers))
    return Verdict(evidence=tuple(evidence))


_MEAN = Text(
    en="the mean over all sizes is {mean_bytes_per_s}, the largest sizes reach {peak_bytes_per_s}",
    zh="所有大小的平均为 {mean_bytes_per_s}，最大消息达到 {peak_bytes_per_s}",
)
_ASKED = Text(en="the average or a bandwidth of another definition is asked about", zh="所问的是平均值或另一种定义的带宽")
_CLOSE = Text(en="mean and peak are close", zh="平均与峰值接近")

RULE = Rule(
    cause="no-fault-metric-misread",
    title=Text(en="The average over all sizes is not the bandwidth", zh="所有大小的平均不是带宽"),
    summary=Text(
        en="The footer averages small messages, which measure latency, with large ones, which measure bandwidth.",
        zh="页脚把反映延迟的小消息与反映带宽的大消息一起平均。",
    ),
    needs=((CollectiveRun, CollectiveSummary),),
    judge=_judge,
    explain=Explain(
        what=Text(
            en="A message of 8 bytes takes 20 us whatever the link; its bandwidth is zero and pulls the mean down.",
            zh="8 字节的消息无论链路如何都要 20 us；其带宽近零，拉低平均值。",
        ),
        shows=Text(en="`Avg bus bandwidth` far below the last rows of a sweep.", zh="Avg bus bandwidth 远低于扫描的最后几行。"),
        sources=("nccl-tests doc/PERFORMANCE.md",),
    ),
    told_apart_from=(
        LookAlike(
            cause="small-message-latency-bound",
            because=Text(en="there the job itself sends small messages", zh="那里作业本身发送小消息"),
        ),
    ),
    changes=(
        Change(
            what=Text(en="Read the largest sizes only", zh="只看最大的消息"), commands=("all_reduce_perf -b 1G -e 8G -f 2 -g 8",)
        ),
    ),
    checks=(Check(what=Text(en="busbw of 1 GiB and more against the link", zh="1 GiB 以上的 busbw 与链路比较")),),
    gain=Text(en="None: nothing is slow", zh="无：没有变慢"),
    severity="info",
    explains=("small-message-latency-bound", "oversubscribed-fabric"),
)
