"""One TCP flow is limited by the cloud or by one core, and NCCL's sockets are too few."""

from wirespeed.diagnosis.joins.cluster import uses_rdma, uses_sockets, variables
from wirespeed.diagnosis.joins.line_rate import line_rates
from wirespeed.diagnosis.joins.pieces import piece
from wirespeed.model.case import Case
from wirespeed.model.events.nccl import NcclNetwork
from wirespeed.model.facts.link import Bond
from wirespeed.model.finding import FAIR, SLIGHT, STRONG, Change, Check, LookAlike, Verdict, contradicts
from wirespeed.model.kinds import Explain, Rule, wants
from wirespeed.model.measurement import PingRun, ThroughputRun
from wirespeed.model.record import Record
from wirespeed.model.settings import Statement
from wirespeed.model.text import Text

_SHARE_OF_LINE_RATIO = 0.5
_FEW_RESENT_RATIO = 1e-4
"""With more than this sent again, loss rather than a limit of the flow sets the rate."""
_FAR_S = 0.005
_GAIN_RATIO = 1.6
"""Several streams this much faster than one say that the flow, not the link, is the limit."""


_CLOUD_FLOW_BITS_PER_S = (4.6e9, 5.05e9)
"""What iperf3 shows of a 5 Gb/s cap, headers deducted (Amazon EC2 user guide: 5 Gb/s for one flow)."""


def _judge(case: Case) -> Verdict:
    sockets = uses_sockets(case)
    few = variables(case, "NCCL_SOCKET_NTHREADS", "NCCL_NSOCKS_PERTHREAD")
    pair = _one_against_many(case)
    evidence = (
        *piece(_PAIR, STRONG if sockets or case.said("sockets-used", "single-flow-limited") else FAIR, pair),
        *piece(_AT_CAP, FAIR if case.said("efa-cluster", "public-cloud") else SLIGHT, _at_the_cap(case) if not pair else ()),
        *piece(_FAR_BELOW, FAIR, _far_below_line(case) if not pair else ()),
        *piece(_SOCKETS, SLIGHT, sockets if pair or case.said("single-flow-limited") else ()),
        *piece(_SAID, FAIR + SLIGHT, case.said("single-flow-limited")),
        *piece(_ONE_SOCKET, FAIR, tuple(one for one in few if (one.setting or "").strip(". ") == "1") if sockets else ()),
        *(contradicts(_BONDED, FAIR, one) for one in (*case.every(Bond), *case.said("bonded"))[:1]),
        *(contradicts(_RDMA, STRONG, one) for one in uses_rdma(case)[:1]),
    )
    return Verdict(evidence=evidence)


def _at_the_cap(case: Case) -> tuple[ThroughputRun, ...]:
    """A single TCP stream at the 5 Gb/s that clouds allow one flow, which no usual Ethernet has as its rate."""
    low, high = _CLOUD_FLOW_BITS_PER_S
    return case.every(
        ThroughputRun,
        lambda one: (
            one.protocol in (None, "tcp")
            and one.stream_count == 1
            and low <= one.rate_bits_per_s <= high
            and not one.retransmits_packets
        ),
    )


def _far_below_line(case: Case) -> tuple[Record, ...]:
    """One TCP stream, hardly any of it sent again, at less than half of the rate of the link as read or named."""
    lines = line_rates(case)
    tcp = case.every(ThroughputRun, lambda one: one.protocol in (None, "tcp") and one.tool.startswith("iperf"))
    if not lines or any((one.stream_count or 0) > 1 for one in tcp) or _is_far(case):
        return ()
    single = [one for one in tcp if one.stream_count == 1 and one.role != "interval" and _resent_ratio(one) < _FEW_RESENT_RATIO]
    best = max(single, key=lambda one: one.rate_bits_per_s, default=None)
    line = max(lines, key=lambda one: one[1])
    return (best, line[0]) if best is not None and best.rate_bits_per_s < _SHARE_OF_LINE_RATIO * line[1] else ()


def _is_far(case: Case) -> bool:
    """Whether the round trip is so long that the window, not the processing of a flow, is the first thing to look at."""
    return case.first(PingRun, lambda one: (one.rtt_min_s or one.rtt_mean_s or 0.0) >= _FAR_S) is not None


def _resent_ratio(run: ThroughputRun, segment_bytes: float = 1448.0) -> float:
    return (run.retransmits_packets or 0) * segment_bytes / run.transferred_bytes if run.transferred_bytes else 0.0


def _one_against_many(case: Case) -> tuple[Record, ...]:
    """A run with one stream and a clearly faster one with several."""
    tcp = case.every(ThroughputRun, lambda one: one.protocol in (None, "tcp") and one.tool.startswith("iperf"))
    single = [one for one in tcp if one.stream_count == 1]
    many = [one for one in tcp if one.role != "interval" and ((one.stream_count or 0) > 1 or one.role.startswith("sum"))]
    if not single or not many:
        return ()
    best_single = max(single, key=lambda one: one.rate_bits_per_s)
    best_many = max(many, key=lambda one: one.rate_bits_per_s)
    return (best_single, best_many) if best_many.rate_bits_per_s >= _GAIN_RATIO * best_single.rate_bits_per_s else ()


_PAIR = Text(en="several TCP streams together are much faster than one", zh="多条 TCP 流合计远快于单条")
_AT_CAP = Text(en="one stream stays flat at the 5 Gb/s that clouds allow a flow", zh="单流稳定停在云对单流限制的 5 Gb/s")
_FAR_BELOW = Text(
    en="one TCP stream reaches less than half of the link, with hardly a retransmission",
    zh="单条 TCP 流不到链路速率的一半，且几乎没有重传",
)
_SOCKETS = Text(en="NCCL moves its data over TCP sockets", zh="NCCL 通过 TCP 套接字传输数据")
_SAID = Text(en="a single flow is limited, several are not", zh="单流受限，多流不受限")
_ONE_SOCKET = Text(en="NCCL is told to use one socket or one thread", zh="NCCL 被设置为只用一个套接字或线程")
_BONDED = Text(en="the link is a bond, of which one flow uses one member", zh="链路为绑定接口，单流只用其中一个成员")
_RDMA = Text(en="NCCL uses RDMA, not TCP", zh="NCCL 使用 RDMA 而非 TCP")

RULE = Rule(
    cause="tcp-single-flow-limit",
    title=Text(en="A per-flow limit of TCP holds NCCL's sockets down", zh="TCP 的单流上限限制了 NCCL 套接字"),
    summary=Text(
        en="Each TCP flow is capped (by the cloud, a bond hash or one core), and NCCL opens too few of them to fill the link.",
        zh="每条 TCP 流都有上限（云、bond 哈希或单核），而 NCCL 打开的流太少，无法填满链路。",
    ),
    needs=((wants(ThroughputRun, lambda one: one.tool.startswith("iperf")),), (NcclNetwork,), (Statement,)),
    judge=_judge,
    explain=Explain(
        what=Text(
            en="Clouds cap one flow at 5 to 10 Gb/s outside a placement group; elsewhere one core's copying bounds a flow.",
            zh="在置放群组之外，云把单流限制在 5 至 10 Gb/s；其他环境中单核的拷贝能力限制单流。",
        ),
        shows=Text(
            en="iperf3 with one stream stops at 5 to 10 Gb/s and with -P 8 fills the link; busbw stays at the single-flow rate.",
            zh="iperf3 单流停在 5 至 10 Gb/s，-P 8 可填满；busbw 停在单流速率。",
        ),
        sources=(
            "Amazon EC2 user guide: network bandwidth (5 Gb/s single flow)",
            "NCCL user guide: NCCL_SOCKET_NTHREADS",
            "NVIDIA/nccl#209",
        ),
    ),
    told_apart_from=(
        LookAlike(
            cause="bandwidth-insufficient",
            because=Text(en="there several streams do not add up to more", zh="彼处多流合计也不会更快"),
        ),
        LookAlike(
            cause="nccl-version-bug",
            because=Text(en="there only one release fails to gain from more sockets", zh="彼处只有某个版本无法从更多套接字获益"),
        ),
    ),
    changes=(
        Change(
            what=Text(
                en="Let NCCL open more sockets (threads times sockets at most 64)",
                zh="让 NCCL 打开更多套接字（线程数乘套接字数不超过 64）",
            ),
            commands=("export NCCL_SOCKET_NTHREADS=4 NCCL_NSOCKS_PERTHREAD=4",),
        ),
    ),
    checks=(
        Check(
            what=Text(en="busbw nears the multi-stream iperf3 rate", zh="busbw 接近 iperf3 多流速率"),
            commands=("iperf3 -c PEER -P 8",),
        ),
    ),
    gain=Text(en="Up to the rate that several streams reach together", zh="最高可达多流合计速率"),
    severity="medium",
    settled_by=("iperf3 -c PEER -t 10 -P 8",),
)
