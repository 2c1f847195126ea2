"""Other jobs or tenants take their part of a shared link, port or queue."""

from wirespeed.diagnosis.joins.pieces import ALONE, against, piece
from wirespeed.diagnosis.joins.rates import crowded_links, quiet_links
from wirespeed.diagnosis.joins.together import moved_with
from wirespeed.model.case import Case
from wirespeed.model.finding import FAIR, SLIGHT, STRONG, Change, Check, Evidence, LookAlike, Value, Verdict
from wirespeed.model.kinds import Explain, Rule, wants
from wirespeed.model.measurement import ThroughputRun
from wirespeed.model.series import SeriesSummary
from wirespeed.model.settings import Statement
from wirespeed.model.text import Text

VARIES_RATIO = 0.3


def _variation(case: Case) -> tuple[list[ThroughputRun], float]:
    """Runs of one tool and their coefficient of variation."""
    runs = [one for one in case.every(ThroughputRun) if one.role in ("interval", "mean", "receiver")]
    rates = [one.rate_bits_per_s for one in runs]
    if len(rates) < 5:
        return runs, 0.0
    mean = sum(rates) / len(rates)
    return runs, (sum((rate - mean) ** 2 for rate in rates) / len(rates)) ** 0.5 / mean if mean else 0.0


def _judge(case: Case) -> Verdict:
    evidence: list[Evidence] = []
    crowded = crowded_links(case)
    evidence += piece(_CROWDED, STRONG + SLIGHT, crowded, **_busiest(crowded))
    together = moved_with(case, ("rtt", "RetransSegs"), ("links",))
    evidence += piece(_TOGETHER, FAIR, together if crowded else (), series=together[0].series if together else None)
    evidence += against(_QUIET, STRONG, quiet_links(case) if not crowded else ())
    others = case.said("others-share")
    told = {quote.text for one in others for quote in one.quotes}
    times = [one for one in case.said("time-of-day") if not told & {quote.text for quote in one.quotes}]
    evidence += piece(_OTHERS, STRONG, others)
    runs, variation = _variation(case)
    if evidence:
        evidence += piece(_TIMES, ALONE, times)
        evidence += piece(_VARIES, FAIR, runs if variation >= VARIES_RATIO else [], share_ratio=variation)
    else:
        evidence += piece(_TIMES, FAIR, times)
    steady = len(runs) >= 5 and variation < 0.05
    evidence += against(_STEADY, FAIR, runs if steady else [])
    return Verdict(evidence=tuple(evidence))


def _busiest(crowded: tuple[SeriesSummary, ...]) -> dict[str, Value]:
    if not crowded:
        return {}
    one = crowded[0]
    return {"host": one.host, "link": one.scope, "rate_bits_per_s": 8 * one.values.mean}


_CROWDED = Text(
    en="{link} of {host} carried {rate_bits_per_s} without pause before anything of ours was sent",
    zh="在我们发送任何流量之前，{host} 的 {link} 就持续承载 {rate_bits_per_s}",
)
_TOGETHER = Text(en="delay or retransmissions rise and fall with {series}", zh="时延或重传随 {series} 同升同降")
_QUIET = Text(en="the links were quiet before the tests", zh="测试之前各链路空闲")
_OTHERS = Text(
    en="others use the same link, host or fabric, and it moves with them", zh="他人使用同一链路、主机或网络，且性能随之变化"
)
_TIMES = Text(en="it comes and goes with the time of day or from run to run", zh="随时段或运行而变化")
_VARIES = Text(en="the rate varies by {share_ratio}", zh="速率波动 {share_ratio}")
_STEADY = Text(en="the rate is steady", zh="速率稳定")

RULE = Rule(
    cause="noisy-neighbour",
    title=Text(en="Others take the shared link", zh="他人占用共享链路"),
    summary=Text(
        en="The same job is fast or slow with what other tenants, jobs or backups do on the same link, switch or host.",
        zh="同一作业的快慢取决于其他租户、作业或备份在同一链路、交换机或主机上的活动。",
    ),
    needs=((wants(SeriesSummary, lambda one: one.family == "links"),), (ThroughputRun,), (Statement,)),
    judge=_judge,
    explain=Explain(
        what=Text(
            en="Flows share a port about equally, so one job with many flows takes most of it; a collective runs at its slowest link.",
            zh="各流大致平分端口，流多的作业占去大部分；集合通信以最慢的链路为准。",
        ),
        shows=Text(
            en="Slow at certain hours or while another job runs, normal on an empty cluster; no errors of one's own.",
            zh="特定时段或他人作业运行时慢，空集群上正常；自身没有错误。",
        ),
        sources=("Google: Swift (SIGCOMM 2020)", "Meta: RDMA over Ethernet for distributed AI training (SIGCOMM 2024)"),
    ),
    told_apart_from=(
        LookAlike(
            cause="ecmp-collision",
            because=Text(en="there one's own flows collide, also on an empty fabric", zh="那里是自身的流相撞，空网络上也会发生"),
        ),
        LookAlike(
            cause="cloud-allowance-exceeded",
            because=Text(en="there one's own allowance counter rises", zh="那里是自身配额计数器增长"),
        ),
        LookAlike(
            cause="bandwidth-insufficient", because=Text(en="there one's own traffic fills the link", zh="那里是自身流量占满链路")
        ),
    ),
    changes=(
        Change(
            what=Text(
                en="Give the job its own ports, rails or traffic class; move backups and checkpoints to other links or hours",
                zh="为作业分配专用端口、轨道或流量类别；备份与检查点移到其他链路或时段",
            )
        ),
    ),
    checks=(
        Check(
            what=Text(en="The same test on the empty fabric and under the others' load", zh="空网络与他人负载下的相同测试"),
            commands=("ib_write_bw -D 60 HOST", "iperf3 -c HOST -t 60 -i 1"),
        ),
    ),
    gain=Text(en="Steady step times at the quiet hours' level", zh="步骤时间稳定在空闲时段水平"),
    severity="medium",
    explains=("straggler-slow-node", "straggler-other", "packet-loss"),
)
