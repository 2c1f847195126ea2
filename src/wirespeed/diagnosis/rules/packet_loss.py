"""Packets are lost on the way, by damage or by full queues."""

from wirespeed.diagnosis.joins.flows import FEWEST_DATA_COUNT, data_packets, is_forgotten, is_swallowed, loss_ratio, told, with_side
from wirespeed.diagnosis.joins.paths import clean_trains, common_host, lossy_trains, retransmit_ratio
from wirespeed.diagnosis.joins.pieces import against, lines_of, piece
from wirespeed.model.case import Case
from wirespeed.model.events.log import KernelEvent
from wirespeed.model.facts.fabric import LinkSignal
from wirespeed.model.facts.link import Counter
from wirespeed.model.facts.sockets import TcpSocket
from wirespeed.model.finding import FAIR, PROVES, SLIGHT, STRONG, Change, Check, LookAlike, Value, Verdict
from wirespeed.model.flows import CaptureSummary, FlowEnd, IcmpReport, TcpFlow
from wirespeed.model.kinds import Explain, Rule, wants
from wirespeed.model.link_runs import DatagramTrain, FlowRun
from wirespeed.model.measurement import MessageLatency, PathHop, PingRun, ThroughputRun
from wirespeed.model.settings import Statement
from wirespeed.model.text import Text

LOSS_RATIO = 0.001
"""From 0.1 % on, loss costs throughput (RDMA by multiples; TCP by Mathis' formula at RTTs above a millisecond)."""
RETRANSMIT_RATIO = 0.001
WORST_ERROR_RATIO = 1e-12
"""Bit errors that remain after correction: what Ethernet and InfiniBand allow a link (IEEE 802.3, InfiniBand vol. 2)."""
HEAVY_LOSS_RATIO = 0.01
"""More than TCP causes itself by filling a queue now and then."""
FEWEST_LOST_COUNT = 3
FEW_PROBES_COUNT = 5
"""Fewer probes say nothing about a share."""
_DAMAGE = ("fcs_errors", "rx_symbol_damage", "link_integrity")


def _judge(case: Case) -> Verdict:
    damaged = case.every(Counter, lambda one: one.canonical in _DAMAGE and one.value_count > 0)
    clean = case.every(Counter, lambda one: one.canonical in _DAMAGE and one.value_count == 0)
    checksum = case.every(Counter, lambda one: one.name.endswith("InCsumErrors") and one.value_count > 0)
    pings = case.every(PingRun, _loses)
    noisy = case.every(LinkSignal, lambda one: (one.effective_error_ratio or 0.0) > WORST_ERROR_RATIO)
    advised = case.every(LinkSignal, lambda one: "signal integrity" in (one.recommendation or "").lower())
    good = case.every(LinkSignal, lambda one: one.effective_error_ratio is not None and one.effective_errors_count == 0)
    ends = case.every(PathHop, lambda one: one.is_last and 0.01 <= (one.loss_ratio or 0.0) < 1.0)
    clean_ends = case.every(PathHop, lambda one: one.is_last and one.loss_ratio == 0.0)
    datagrams = case.every(ThroughputRun, lambda one: (one.lost_ratio or 0.0) >= LOSS_RATIO)
    dropped = case.every(MessageLatency, _drops)
    flows = case.every(TcpSocket, _retransmits)
    streams = case.every(ThroughputRun, lambda one: _stream_retransmit_ratio(one) >= RETRANSMIT_RATIO)
    trains = lossy_trains(case)
    common = common_host(trains)
    resent = case.every(FlowRun, lambda one: (retransmit_ratio(one) or 0.0) >= RETRANSMIT_RATIO)
    refused = {one.target for one in case.every(IcmpReport, topic="too-big")}
    lossy = [one for one in with_side(case, _loses_segments) if one[2].address not in refused]
    whole = with_side(case, _arrives_whole)
    worst = max(lossy, key=lambda one: loss_ratio(one[1]), default=None)
    blind = case.every(CaptureSummary, lambda one: (one.dropped_packets or 0) > 0)
    none_or_all = case.every(Statement, topic="packet-loss", value=0.0) + case.every(Statement, topic="packet-loss", value=100.0)
    none = lines_of(none_or_all)
    said = tuple(one for one in case.said("packet-loss") if not lines_of((one,)) & none)
    is_loaded = bool(case.said("pfc-not-set", "many-to-one-collapses"))
    return Verdict(
        evidence=(
            *piece(_DAMAGED, STRONG, damaged),
            *piece(_NOISY, STRONG, noisy, error_ratio=f"{noisy[0].effective_error_ratio:.0e}" if noisy else None),
            *piece(_ADVISED, FAIR, advised),
            *piece(_TRAINS, PROVES, trains, **_worst(trains)),
            *piece(_COMMON, SLIGHT, trains if common else (), host=common),
            *piece(_RESENT, SLIGHT, resent if trains else ()),
            *piece(_CHECKSUM, FAIR, checksum),
            *piece(_RECEIVE, FAIR, case.every(KernelEvent, topic="receive-error")),
            *piece(_HANDSHAKE, FAIR, case.said("handshake-repeated")),
            *piece(_PING, STRONG, pings),
            *piece(_END, STRONG, ends),
            *piece(_UDP, FAIR, (*datagrams, *dropped)),
            *piece(_TCP, FAIR, flows + streams),
            *told(
                _CAPTURED,
                STRONG if worst and loss_ratio(worst[1]) >= HEAVY_LOSS_RATIO else FAIR,
                [flow for flow, _, _ in lossy],
                "sent-again",
                "late",
                loss_ratio=loss_ratio(worst[1]) if worst else None,
                lost_count=sum(one.retransmits_count + one.filled_count for _, one, _ in lossy),
            ),
            *against(_CAPTURED_WHOLE, FAIR, [flow for flow, _, _ in whole] if not lossy else ()),
            *against(_BLIND, SLIGHT, blind if lossy else ()),
            *piece(_SAID, SLIGHT if is_loaded else FAIR + SLIGHT, said),
            *against(_END_CLEAN, STRONG, clean_ends),
            *against(_TRAINS_CLEAN, STRONG, clean_trains(case) if not trains else ()),
            *against(_GOOD, SLIGHT, good if not noisy and not damaged else ()),
            *against(_NO_DAMAGE, SLIGHT, clean if not damaged else ()),
            *against(_DENIED, FAIR, case.said("no-drops-anywhere") or case.denied("packet-loss")),
        )
    )


def _loses_segments(flow: TcpFlow, sender: FlowEnd, receiver: FlowEnd) -> bool:
    """Several segments of a flow were lost, of whatever size, and what followed them arrived."""
    if is_swallowed(flow, sender, receiver) or is_forgotten(flow, sender, receiver):
        return False
    lost = sender.retransmits_count + sender.filled_count
    spurious = receiver.duplicates_told_count
    return lost - spurious >= FEWEST_LOST_COUNT and loss_ratio(sender) >= LOSS_RATIO


def _arrives_whole(flow: TcpFlow, sender: FlowEnd, receiver: FlowEnd) -> bool:
    lost = sender.retransmits_count + sender.filled_count + sender.never_arrived_bytes + flow.missed_bytes
    return not lost and data_packets(sender) >= FEWEST_DATA_COUNT


def _worst(trains: tuple[DatagramTrain, ...]) -> dict[str, Value]:
    worst = max(trains, key=lambda one: one.loss_ratio, default=None)
    return {} if worst is None else {"sender": worst.sender, "receiver": worst.receiver, "loss_ratio": worst.loss_ratio}


def _loses(ping: PingRun) -> bool:
    enough = ping.sent_count is None or ping.sent_count >= FEW_PROBES_COUNT
    return enough and ping.loss_ratio is not None and 0.01 <= ping.loss_ratio < 1.0 and not ping.dont_fragment


def _retransmits(flow: TcpSocket) -> bool:
    if not flow.bytes_retransmitted_bytes or not flow.bytes_sent_bytes:
        return False
    return flow.bytes_retransmitted_bytes / flow.bytes_sent_bytes >= RETRANSMIT_RATIO


def _drops(latency: MessageLatency) -> bool:
    """Messages of a paced UDP test that got no answer; a full receive buffer looks the same."""
    return latency.protocol == "udp" and (latency.dropped_count or 0) >= LOSS_RATIO * (latency.sent_count or float("inf"))


def _stream_retransmit_ratio(run: ThroughputRun, segment_bytes: float = 1448.0) -> float:
    if not run.retransmits_packets or not run.transferred_bytes:
        return 0.0
    return run.retransmits_packets * segment_bytes / run.transferred_bytes


_CAPTURED = Text(
    en="{lost_count} segments of captured connections were lost and sent again, up to {loss_ratio} of a flow",
    zh="抓包中的连接有 {lost_count} 个报文段丢失并重传，最多占一条流的 {loss_ratio}",
)
_CAPTURED_WHOLE = Text(en="the captured connections lost nothing", zh="抓包中的连接没有丢包")
_BLIND = Text(en="the capture itself lost packets, which looks alike in part", zh="抓包本身也丢了包，表现部分相似")
_TRAINS = Text(
    en="a paced train from {sender} to {receiver} lost {loss_ratio} of its datagrams without load",
    zh="{sender} 到 {receiver} 的限速数据报在无负载时丢失 {loss_ratio}",
)
_COMMON = Text(
    en="all lossy paths begin or end at {host}: its port or cable is the place to look",
    zh="所有丢包路径都始于或终于 {host}：应检查其端口或线缆",
)
_RESENT = Text(en="TCP between these hosts sends segments again", zh="这些主机之间的 TCP 有重传")
_TRAINS_CLEAN = Text(en="paced trains of datagrams arrive whole", zh="限速数据报全部到达")
_NOISY = Text(en="bit errors remain after correction, {error_ratio} of all bits", zh="纠错后仍有误码，误码率 {error_ratio}")
_ADVISED = Text(en="the NIC's tool calls the signal of the link bad", zh="网卡工具判定链路信号质量差")
_GOOD = Text(en="no bit error remains after correction", zh="纠错后没有误码")
_DAMAGED = Text(en="frames arrive damaged: cable, optic or port", zh="帧到达时已损坏：线缆、光模块或端口")
_CHECKSUM = Text(en="packets arrive with a wrong checksum and are dropped", zh="报文到达时校验和错误而被丢弃")
_RECEIVE = Text(en="the driver reports damaged frames", zh="驱动报告收到损坏的帧")
_HANDSHAKE = Text(
    en="the first packet of a connection is sent again and again before one is answered", zh="连接的首个报文反复重发才得到应答"
)
_PING = Text(en="echoes to the far end are lost", zh="到对端的回显有丢失")
_END = Text(en="the last hop, the destination itself, shows loss", zh="最后一跳（目的地本身）有丢包")
_UDP = Text(en="datagrams of a paced test are lost", zh="限速数据报测试有丢包")
_TCP = Text(en="TCP sends more than 0.1 % of its data again", zh="TCP 重传超过 0.1%")
_SAID = Text(en="loss, retransmissions or a bad cable are reported", zh="描述提到丢包、重传或坏线缆")
_END_CLEAN = Text(en="the destination answers every probe", zh="目的地应答了每个探测")
_NO_DAMAGE = Text(en="no damaged frame is counted", zh="没有坏帧计数")
_DENIED = Text(en="no drop or error is counted anywhere, it is said", zh="描述称各处均无丢包或错误计数")

RULE = Rule(
    cause="packet-loss",
    title=Text(en="Packets are lost on the path", zh="路径上有丢包"),
    summary=Text(
        en="Part of the packets does not arrive, by damaged frames or full queues; retransmission then sets the speed and the tail latency.",
        zh="部分数据包因帧损坏或队列满而没有到达；速率与尾部时延由重传决定。",
    ),
    needs=(
        (wants(Counter, lambda one: one.canonical in _DAMAGE),),
        (wants(LinkSignal, lambda one: one.effective_error_ratio is not None or one.recommendation is not None),),
        (wants(Counter, lambda one: one.name.endswith("InCsumErrors") and one.value_count > 0),),
        (wants(KernelEvent, lambda one: one.topic == "receive-error"),),
        (DatagramTrain,),
        (wants(TcpFlow, lambda one: one.client.payload_bytes + one.server.payload_bytes > 0),),
        (PingRun,),
        (wants(MessageLatency, lambda one: one.dropped_count is not None),),
        (wants(PathHop, lambda one: one.is_last),),
        (wants(ThroughputRun, lambda one: one.lost_ratio is not None or one.retransmits_packets is not None),),
        (wants(TcpSocket, lambda one: one.bytes_sent_bytes is not None),),
        (wants(Statement, lambda one: one.topic == "packet-loss"),),
    ),
    judge=_judge,
    explain=Explain(
        what=Text(
            en="A flow under loss p at round trip RTT gets about MSS*1.22/(RTT*sqrt(p)) with loss-based congestion control; RDMA resends whole windows.",
            zh="丢包率 p、往返时延 RTT 下，基于丢包的拥塞控制约得 MSS*1.22/(RTT*sqrt(p))；RDMA 会重传整个窗口。",
        ),
        shows=Text(
            en="CRC/FCS or symbol errors on one port, retransmissions, RDMA sequence errors, latency steps of 200 ms and more.",
            zh="某端口 CRC/FCS 或符号错误、重传、RDMA 乱序错误、200 ms 以上的时延台阶。",
        ),
        sources=(
            "Mathis et al. 1997",
            "Linux mlx5 counters.rst",
            "NVIDIA/NVSentinel NIC health monitor defaults",
            "mlxlink (NVIDIA MFT)",
        ),
    ),
    told_apart_from=(
        LookAlike(
            cause="no-fault-metric-misread",
            because=Text(
                en="loss at a middle hop of mtr with a clean last hop is rate-limited ICMP, not lost data",
                zh="mtr 中间跳丢包而末跳无丢包，只是 ICMP 限速，并非数据丢失",
            ),
        ),
        LookAlike(
            cause="nic-ring-too-small",
            because=Text(
                en="rx_out_of_buffer without FCS errors is this host's own ring, not the wire",
                zh="rx_out_of_buffer 增长而无 FCS 错误，是本机接收环问题，不是线路",
            ),
        ),
        LookAlike(
            cause="roce-pfc-missing",
            because=Text(
                en="RDMA sequence errors under load with clean FCS counters point to missing flow control",
                zh="负载下 RDMA 乱序而 FCS 计数干净，指向缺少流控",
            ),
        ),
    ),
    changes=(
        Change(
            what=Text(
                en="Clean or replace the cable or optic of the port where the errors first appear",
                zh="清洁或更换最先出现错误的端口的线缆或光模块",
            ),
            risk=Text(
                en="Cut-through switches forward damaged frames: the receiving port may not be the bad one",
                zh="直通交换机会转发坏帧：出错的接收端口未必是坏端口",
            ),
        ),
        Change(
            what=Text(
                en="Where queues overflow: fewer concurrent senders, ECN, or more uplink",
                zh="若是队列溢出：减少并发发送方、启用 ECN 或增加上行",
            )
        ),
    ),
    checks=(
        Check(
            what=Text(en="Error counters flat for ten minutes at full load", zh="满载十分钟错误计数不变"),
            commands=("ethtool -S IFACE | grep -iE 'crc|fcs|symbol|discard'", "nstat -az TcpRetransSegs TcpOutSegs"),
        ),
    ),
    gain=Text(en="Back to line rate; the 200 ms steps disappear", zh="恢复线速；200 ms 台阶消失"),
    severity="medium",
)
