"""The gaps between events are several tokens long because each event carries several tokens."""

from wirespeed.diagnosis.joins.pieces import piece
from wirespeed.model.case import Case
from wirespeed.model.finding import FAIR, SLIGHT, STRONG, Change, Check, Evidence, LookAlike, Verdict, contradicts, supports
from wirespeed.model.kinds import Explain, Rule, wants
from wirespeed.model.measurement import ServingMetric
from wirespeed.model.text import Text

TOKENS_PER_EVENT = (1.5, 6.0)
"""Speculative decoding and front ends put two to some five tokens into one event; more together come from a buffer on the way."""
EVEN_RATIO = 1.6
"""A 99th percentile within this of the mean: the gaps are all alike, as those of a buffer are not."""
_MEANS = ("mean", "median", "avg", "p50", "")


def _judge(case: Case) -> Verdict:
    evidence: list[Evidence] = []
    pair = _gap_and_time(case)
    if pair is None:
        return Verdict()
    gap, each = pair
    ratio = gap.value / each.value
    if not TOKENS_PER_EVENT[0] <= ratio <= TOKENS_PER_EVENT[1]:
        return Verdict(evidence=(contradicts(_AGREE, FAIR, gap, each),)) if ratio < TOKENS_PER_EVENT[0] else Verdict()
    evidence.append(supports(_SEVERAL, STRONG, gap, each, gap_s=gap.value, each_s=each.value, several_text=f"{ratio:.1f}"))
    slow = case.first(ServingMetric, name="itl_s", at="p99", run=gap.run)
    if slow is not None and slow.value <= EVEN_RATIO * gap.value:
        evidence.append(supports(_EVEN, SLIGHT, slow))
    evidence += piece(_ASKED, SLIGHT, case.said("expects-more", "blames-network"))
    return Verdict(evidence=tuple(evidence))


def _gap_and_time(case: Case) -> tuple[ServingMetric, ServingMetric] | None:
    """Mean gap between events and mean time per token of one run, where they are farthest apart."""
    pairs = [
        (gap, each)
        for gap in case.every(ServingMetric, lambda one: one.name == "itl_s" and one.at in _MEANS and one.value > 0)
        for each in case.every(ServingMetric, lambda one: one.name == "tpot_s" and one.value > 0, run=gap.run, at=gap.at)[:1]
    ]
    return max(pairs, key=lambda pair: pair[0].value / pair[1].value, default=None)


_SEVERAL = Text(
    en="gaps of {gap_s} and {each_s} a token of the same run mean {several_text} tokens in each event",
    zh="同一次运行中间隔 {gap_s} 而每词元 {each_s}，即每个事件含 {several_text} 个词元",
)
_EVEN = Text(
    en="the gaps are all alike, which those of a buffer on the way are not", zh="间隔彼此相近，而途中缓冲造成的间隔并非如此"
)
_ASKED = Text(en="another number was expected, or the network is suspected", zh="期望的是另一个数字，或怀疑网络")
_AGREE = Text(en="gap and time per token agree: one token in each event", zh="间隔与每词元时间一致：每个事件一个词元")

RULE = Rule(
    cause="no-fault-metric-misread",
    title=Text(en="One event carries several tokens", zh="一个事件含有多个词元"),
    summary=Text(
        en="The load test counts one gap per event; with several tokens in an event the gap grows and the time per token does not.",
        zh="压测按事件计间隔；一个事件含多个词元时间隔变大，而每词元时间不变。",
    ),
    needs=((wants(ServingMetric, lambda one: one.name == "itl_s"), wants(ServingMetric, lambda one: one.name == "tpot_s")),),
    judge=_judge,
    explain=Explain(
        what=Text(
            en="Time per token is (end - first token) / (tokens - 1), the gap is taken between events as they arrive. Their ratio is the number of tokens in an event.",
            zh="每词元时间 =（结束 - 首词元）/（词元数 - 1），间隔则按到达的事件计。两者之比就是每事件的词元数。",
        ),
        shows=Text(
            en="ITL two to five times TPOT in one report, even gaps, fewer events than tokens; speculative decoding or a front end in between.",
            zh="同一报告中 ITL 为 TPOT 的二至五倍，间隔均匀，事件少于词元；使用推测解码或中间有前端。",
        ),
        sources=("vllm benchmarks: ITL and TPOT", "vllm-project/vllm#42661"),
    ),
    told_apart_from=(
        LookAlike(
            cause="proxy-buffering",
            because=Text(en="a buffer makes a few long gaps, many tokens at once", zh="缓冲造成少数长间隔，一次很多词元"),
        ),
    ),
    changes=(
        Change(what=Text(en="Compare time per token, or count tokens in each chunk", zh="比较每词元时间，或统计每块的词元数")),
    ),
    checks=(Check(what=Text(en="Tokens divided by events give the same factor", zh="词元数除以事件数得到同一倍数")),),
    gain=Text(en="None: nothing is slower", zh="无：没有变慢"),
    severity="info",
    explains=("proxy-buffering",),
)
