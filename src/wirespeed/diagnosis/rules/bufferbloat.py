"""Queues are so deep that waiting in them, not loss, makes the latency."""

from wirespeed.diagnosis.joins.paths import idle_latencies, retransmit_ratio
from wirespeed.diagnosis.joins.pieces import against, piece
from wirespeed.diagnosis.joins.rates import sound_flows
from wirespeed.diagnosis.joins.together import moved_with
from wirespeed.model.case import Case
from wirespeed.model.facts.path import Qdisc
from wirespeed.model.facts.sockets import TcpSocket
from wirespeed.model.finding import FAIR, SLIGHT, STRONG, Change, Check, LookAlike, Verdict
from wirespeed.model.kinds import Explain, Rule, wants
from wirespeed.model.link_runs import FlowRun, LatencyRun
from wirespeed.model.measurement import MessageLatency, PingRun
from wirespeed.model.settings import Statement
from wirespeed.model.text import Text

GROWTH_RATIO = 3.0
"""Round-trip time at least three times its own minimum, and more than 20 ms of waiting."""
WAITING_S = 0.02
RARE_LOSS_RATIO = 0.0005
"""A queue of a few milliseconds overflows several times a second; a deep one does not."""
WITHIN_A_RUN_S = 0.1
"""One late echo of a run may be a lost nap of a CPU: within a run more is asked for, of its mean too."""


def _judge(case: Case) -> Verdict:
    flows = case.every(TcpSocket, lambda one: one.rtt_s is not None and one.min_rtt_s is not None)
    waiting = tuple(one for one in flows if _waits(one) and not one.lost_packets)
    backlog = case.every(Qdisc, lambda one: (one.backlog_bytes or 0) > 1_000_000)
    lossy = tuple(one for one in flows if one.lost_packets)
    grown = _grown_under_load(case)
    deep = sound_flows(case, _fills_a_queue)
    queued = moved_with(case, ("rtt",), ("qdiscs", "queues"))
    return Verdict(
        evidence=(
            *piece(_TOGETHER, FAIR, queued if grown or deep else (), series=queued[0].series if queued else None),
            *piece(
                _GROWN,
                STRONG,
                grown[:2],
                idle_s=grown[0].rtt_p50_s if grown else None,
                loaded_s=grown[1].rtt_p50_s if grown else None,
            ),
            *piece(_DEEP, STRONG, deep, rtt_s=max((one.rtt_p99_s or 0.0 for one in deep), default=None)),
            *against(_SHALLOW, FAIR, case.every(LatencyRun, load="loaded") if not grown and not deep else ()),
            *piece(_WAITS, STRONG, waiting),
            *piece(_BACKLOG, FAIR, backlog),
            *piece(_ECHOES, STRONG, _slower_echoes(case)),
            *piece(_MESSAGES, FAIR, _slower_messages(case)),
            *piece(_SAID, STRONG, case.said("latency-grows-under-load")),
            *against(_LOSSY, SLIGHT, lossy),
        )
    )


def _grown_under_load(case: Case) -> tuple[LatencyRun, ...]:
    """The idle and the loaded round trips of one path, where load makes them several times as long."""
    idle = {(one.sender, one.receiver, one.protocol): one for one in idle_latencies(case)}
    for loaded in case.every(LatencyRun, lambda one: one.load == "loaded" and one.rtt_p50_s is not None):
        before = idle.get((loaded.sender, loaded.receiver, loaded.protocol))
        if before is None or before.rtt_p50_s is None or loaded.rtt_p50_s is None:
            continue
        if loaded.rtt_p50_s > GROWTH_RATIO * before.rtt_p50_s and loaded.rtt_p50_s - before.rtt_p50_s > WAITING_S:
            return (before, loaded)
    return ()


def _fills_a_queue(flow: FlowRun) -> bool:
    """A bulk flow that waits long in a queue which hardly ever overflows."""
    if flow.rtt_min_s is None or flow.rtt_p50_s is None:
        return False
    waited_s = flow.rtt_p50_s - flow.rtt_min_s
    resent = retransmit_ratio(flow)
    is_deep = waited_s > WAITING_S and flow.rtt_p50_s > GROWTH_RATIO * flow.rtt_min_s
    return is_deep and resent is not None and resent < RARE_LOSS_RATIO


def _waits(flow: TcpSocket) -> bool:
    rtt_s, least_s = flow.rtt_s or 0.0, flow.min_rtt_s or 0.0
    return rtt_s > GROWTH_RATIO * least_s and rtt_s - least_s > WAITING_S


def _slower_echoes(case: Case) -> tuple[PingRun, ...]:
    """Two pings of one target, one of which took several times the other, without loss."""
    pings = case.every(PingRun, lambda one: one.rtt_mean_s is not None and not one.loss_ratio)
    by_target: dict[str, list[PingRun]] = {}
    for ping in pings:
        by_target.setdefault(ping.target, []).append(ping)
    for same in by_target.values():
        idle, loaded = (pick(same, key=lambda one: one.rtt_mean_s or 0.0) for pick in (min, max))
        least_s, most_s = idle.rtt_mean_s or 0.0, loaded.rtt_mean_s or 0.0
        if most_s > GROWTH_RATIO * least_s and most_s - least_s > WAITING_S:
            return (idle, loaded)
    return tuple(one for one in pings if _grows_within(one))[:1]


def _slower_messages(case: Case) -> tuple[MessageLatency, ...]:
    """Two runs of one latency benchmark, the later-answered one with load, none of it lost: a queue, or a server that is late."""
    runs = case.every(MessageLatency, lambda one: one.latency_p50_s is not None and not one.dropped_count)
    for loaded in runs:
        for idle in runs if loaded.load == "loaded" else ():
            same = (idle.tool, idle.protocol, idle.is_round_trip) == (loaded.tool, loaded.protocol, loaded.is_round_trip)
            least_s, most_s = idle.latency_p50_s or 0.0, loaded.latency_p50_s or 0.0
            if same and idle.load == "idle" and most_s > GROWTH_RATIO * least_s and most_s - least_s > WAITING_S:
                return (idle, loaded)
    return ()


def _grows_within(ping: PingRun) -> bool:
    """Whether the echoes of one run end many times as late as they begin, none lost."""
    least_s, most_s = ping.rtt_min_s or 0.0, ping.rtt_max_s or 0.0
    is_late = (ping.rtt_mean_s or 0.0) > GROWTH_RATIO * least_s
    return is_late and 0.0 < 4 * GROWTH_RATIO * least_s < most_s and most_s - least_s > WITHIN_A_RUN_S


_TOGETHER = Text(en="the round trip rises and falls with the queue {series}", zh="往返时延随队列 {series} 同升同降")
_GROWN = Text(
    en="a round trip of {idle_s} takes {loaded_s} while a bulk flow runs", zh="空闲时 {idle_s} 的往返在大流量下变为 {loaded_s}"
)
_DEEP = Text(
    en="a bulk flow waits up to {rtt_s} in a queue that drops next to nothing", zh="大流量在几乎不丢包的队列中等待长达 {rtt_s}"
)
_SHALLOW = Text(en="a bulk flow hardly lengthens the round trip", zh="大流量几乎不增加往返时延")
_ECHOES = Text(
    en="the same target answers several times later in one of the runs, without loss", zh="同一目标在某次测试中时延为数倍，且无丢包"
)
_MESSAGES = Text(
    en="a latency benchmark measures several times as much under load, without loss", zh="时延测试在负载下为空闲时的数倍，且无丢失"
)
_WAITS = Text(en="round-trip time is several times its minimum, without loss", zh="往返时延是其最小值的数倍，且无丢包")
_BACKLOG = Text(en="more than a megabyte waits in the device queue", zh="设备队列中积压超过一兆字节")
_SAID = Text(en="latency is said to grow with load", zh="描述称时延随负载增长")
_LOSSY = Text(en="segments are lost: the queue is not endless", zh="有报文段丢失：队列并非无限")

RULE = Rule(
    cause="bufferbloat",
    title=Text(en="Deep queues make latency grow under load", zh="深队列使负载下时延增长"),
    summary=Text(
        en="Bulk traffic fills a deep queue that latency-sensitive traffic must wait in; nothing is lost, so senders do not slow down.",
        zh="大流量填满深队列，时延敏感流量只能排队；没有丢包，发送方也不会减速。",
    ),
    needs=(
        (wants(LatencyRun, lambda one: one.load == "loaded"),),
        (wants(FlowRun, lambda one: one.rtt_p50_s is not None),),
        (wants(TcpSocket, lambda one: one.min_rtt_s is not None),),
        (wants(PingRun, lambda one: one.rtt_mean_s is not None),),
        (
            wants(MessageLatency, lambda one: one.load == "loaded" and one.latency_p50_s is not None),
            wants(MessageLatency, lambda one: one.load == "idle" and one.latency_p50_s is not None),
        ),
        (wants(Statement, lambda one: one.topic == "latency-grows-under-load"),),
    ),
    judge=_judge,
    explain=Explain(
        what=Text(
            en="The wait is queue bytes divided by link rate: 8 MB at 100 Mb/s is 640 ms.",
            zh="等待时间为队列字节除以链路速率：100 Mb/s 上 8 MB 为 640 ms。",
        ),
        shows=Text(en="srtt far above min_rtt, full goodput, no retransmission.", zh="srtt 远高于 min_rtt，吞吐正常，无重传。"),
        sources=("measured in network namespaces (bufferbloat)", "RFC 8290"),
    ),
    told_apart_from=(
        LookAlike(cause="packet-loss", because=Text(en="there segments are retransmitted", zh="彼处有重传")),
        LookAlike(cause="noisy-neighbour", because=Text(en="there the bulk traffic is somebody else's", zh="彼处大流量来自他人")),
    ),
    changes=(
        Change(
            what=Text(en="Fair queueing with short queues, and a small unsent limit", zh="公平队列与短队列，并限制未发送数据"),
            commands=("tc qdisc replace dev IFACE root fq_codel", "sysctl -w net.ipv4.tcp_notsent_lowat=131072"),
            side="serving",
        ),
        Change(
            what=Text(
                en="Rate-limit or move bulk traffic (checkpoints, backups, model pulls)",
                zh="限速或迁移大流量（检查点、备份、模型拉取）",
            )
        ),
    ),
    checks=(
        Check(
            what=Text(en="Loaded round-trip time below twice the idle one", zh="负载下往返时延低于空闲的两倍"),
            commands=("ss -tin | grep -o 'rtt:[^ ]*\\|minrtt:[^ ]*'",),
        ),
    ),
    gain=Text(en="Tens to hundreds of milliseconds of tail latency", zh="尾部时延减少数十至数百毫秒"),
    severity="medium",
    explains=("link-speed-lower-than-assumed",),
)
