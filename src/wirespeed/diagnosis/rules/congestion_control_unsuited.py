"""The congestion control in use takes each loss for congestion, on a path where that costs most of the rate."""

from collections import Counter

from wirespeed.diagnosis.joins.paths import retransmit_ratio
from wirespeed.diagnosis.joins.pieces import against, piece
from wirespeed.diagnosis.joins.rates import is_slow, pair_rates, sound_flows, usual_bytes_per_s
from wirespeed.model.case import Case
from wirespeed.model.facts.host import Sysctl
from wirespeed.model.facts.sockets import TcpSocket
from wirespeed.model.finding import FAIR, SLIGHT, STRONG, Change, Check, LookAlike, Verdict
from wirespeed.model.kinds import Explain, Rule, wants
from wirespeed.model.link_runs import FlowRun
from wirespeed.model.measurement import PingRun, ThroughputRun
from wirespeed.model.record import Record
from wirespeed.model.text import Text
from wirespeed.theory import storage

LONG_RTT_S = 0.005
"""Below 5 ms even Reno is back at full speed within a second after a loss."""
VERY_LONG_RTT_S = 0.05
"""CUBIC takes tens of round trips to grow back after a loss: seconds, from here on."""
OUTDATED = frozenset({"reno", "hybla", "westwood", "veno", "vegas", "illinois", "yeah", "scalable", "bic"})
"""Not the default of any Linux since 2.6.19 (CUBIC) and not made for paths with some loss."""
LOSS_BASED = OUTDATED | {"cubic"}
NEAR_LOW_RATIO, NEAR_HIGH_RATIO = 0.4, 2.5
"""The rate seen against the formula's: single seconds of a sawtooth scatter by so much (measured: 1.3 to 1.4 for CUBIC)."""
FEWEST_RESENT_COUNT = 3
FEWEST_SECONDS_COUNT = 3
AMPLE_TIMES = 4.0
PACKET_BYTES = 1448
MOST_RESENT_RATIO = 0.005
"""Half a percent: more is loss that no control should be asked to bear."""


def _judge(case: Case) -> Verdict:
    slow = _slow_flows(case)
    outdated = case.every(FlowRun, lambda one: one.congestion_control in OUTDATED and (one.rtt_min_s or 0.0) >= LONG_RTT_S)
    explained = tuple(one for one in slow if one.congestion_control in LOSS_BASED and _loss_explains(one))
    held = case.every(TcpSocket, _is_held_by_losses)
    odd = _odd_choices(case)
    sawtooth = _small_window_beside_ample_buffers(case)
    fine = case.every(FlowRun, lambda one: one.congestion_control is not None and one.error is None)
    shown = (*outdated, *explained)[:1]
    values = {"control": shown[0].congestion_control, "rtt_s": shown[0].rtt_min_s} if shown else {}
    return Verdict(
        evidence=(
            *piece(_OUTDATED, STRONG, outdated, **values),
            *piece(_EXPLAINED, FAIR, explained, **values),
            *piece(_SAWTOOTH, STRONG, sawtooth),
            *piece(_LONG, FAIR, _long_way(case) if sawtooth else ()),
            *piece(
                _HELD,
                FAIR + SLIGHT,
                held,
                control=held[0].congestion_control if held else None,
                rtt_s=held[0].rtt_s if held else None,
            ),
            *piece(_ODD, FAIR, odd if outdated or explained else ()),
            *against(_FINE, FAIR, fine if not slow and not outdated else ()),
        ),
        values={"control": shown[0].congestion_control if shown else "CONTROL"},
    )


def _small_window_beside_ample_buffers(case: Case) -> tuple[Record, ...]:
    """A loss-based control, buffers many times the congestion window of a test, and few packets sent again: rare loss keeps it small."""
    controls = case.every(Sysctl, lambda one: one.name.endswith("tcp_congestion_control") and one.setting.strip() in LOSS_BASED)
    limits = [
        int(one.setting.split()[-1])
        for one in case.every(Sysctl)
        if one.name.endswith("tcp_wmem") and one.setting.split()[-1:][0].isdecimal()
    ]
    runs = case.every(ThroughputRun, lambda one: bool(one.congestion_window_bytes) and one.retransmits_packets is not None)
    resent = [one for one in runs if (one.retransmits_packets or 0) > 0]
    if not controls or not limits or len(runs) < FEWEST_SECONDS_COUNT or not resent:
        return ()
    largest = max(one.congestion_window_bytes or 0.0 for one in runs)
    sent_bytes = sum(one.transferred_bytes or 0.0 for one in runs)
    rare = sum(one.retransmits_packets or 0 for one in runs) * PACKET_BYTES <= MOST_RESENT_RATIO * sent_bytes
    return (runs[-1], controls[0]) if rare and largest * AMPLE_TIMES <= max(limits) else ()


def _long_way(case: Case) -> tuple[Record, ...]:
    pings = case.every(PingRun, lambda one: (one.rtt_min_s or one.rtt_mean_s or 0.0) >= LONG_RTT_S)
    return pings or case.said("round-trip", "far-away")


def _slow_flows(case: Case) -> tuple[FlowRun, ...]:
    """Flows over long paths of pairs that reach less than is usual, held by their congestion window."""
    rates = pair_rates(case)
    usual = usual_bytes_per_s(rates)
    flows = [flow for one in rates if usual and is_slow(one, usual) for flow in one.flows]
    return tuple(one for one in flows if (one.rtt_min_s or 0.0) >= LONG_RTT_S and one.limited_by in (None, "congestion-window"))


def _loss_explains(flow: FlowRun) -> bool:
    """Whether the rate is what Mathis' formula allows for this loss and round trip."""
    resent = retransmit_ratio(flow)
    if flow.mss_bytes is None or not flow.rtt_min_s or resent is None or (flow.retransmits_packets or 0) < FEWEST_RESENT_COUNT:
        return False
    allowed = storage.loss_limited_bytes_per_s(flow.mss_bytes, flow.rtt_min_s, resent)
    return NEAR_LOW_RATIO <= flow.goodput_bytes_per_s / allowed <= NEAR_HIGH_RATIO


def _is_held_by_losses(socket: TcpSocket) -> bool:
    """A loss-based sender over a very long path that has lost, is past slow start, and waits for neither end."""
    waited_s = max(socket.rwnd_limited_s or 0.0, socket.sndbuf_limited_s or 0.0)
    return (
        socket.congestion_control in LOSS_BASED
        and (socket.rtt_s or 0.0) >= VERY_LONG_RTT_S
        and (socket.retransmits_total_packets or 0) >= FEWEST_RESENT_COUNT
        and socket.slow_start_threshold_packets is not None
        and (socket.busy_s or 0.0) > 2.0 * waited_s
    )


def _odd_choices(case: Case) -> tuple[FlowRun, ...]:
    """Flows whose congestion control differs from that of most."""
    flows = sound_flows(case, lambda one: one.congestion_control is not None)
    counts = Counter(one.congestion_control for one in flows)
    usual = counts.most_common(1)[0][0] if counts else None
    return tuple(one for one in flows if one.congestion_control != usual)


_OUTDATED = Text(
    en="flows over a round trip of {rtt_s} use {control}, which grows by one packet a round trip after each loss",
    zh="往返 {rtt_s} 的流使用 {control}，每次丢包后每个往返只增长一个包",
)
_SAWTOOTH = Text(
    en="a loss-based control keeps its window far below the buffers though few packets are lost",
    zh="基于丢包的控制把窗口压在远低于缓冲的水平，而丢包很少",
)
_LONG = Text(en="the way is long, so that each loss costs long", zh="路径很长，每次丢包代价都大")
_EXPLAINED = Text(
    en="the rate is what {control} allows itself for this loss and round trip, not what the path carries",
    zh="速率恰为 {control} 在此丢包率与往返时延下的上限，而非路径的能力",
)
_HELD = Text(
    en="a {control} connection over a round trip of {rtt_s} is held by its congestion window after losses",
    zh="往返 {rtt_s} 的 {control} 连接在丢包后受拥塞窗口限制",
)
_ODD = Text(en="other hosts use another congestion control", zh="其他主机使用另一种拥塞控制")
_FINE = Text(en="no long path is slow", zh="没有变慢的长路径")

RULE = Rule(
    cause="congestion-control-unsuited",
    title=Text(en="The congestion control does not suit the path", zh="拥塞控制算法与路径不合"),
    summary=Text(
        en="{control} halves its window for every loss and grows it by one packet a round trip: over a long path a loss in a thousand packets "
        "leaves a fraction of the rate.",
        zh="{control} 每次丢包窗口减半，每个往返只增一个包：在长路径上，千分之一的丢包就只剩一小部分速率。",
    ),
    needs=(
        (wants(FlowRun, lambda one: one.congestion_control is not None and one.rtt_min_s is not None),),
        (wants(Sysctl, lambda one: one.name.endswith("tcp_congestion_control")), ThroughputRun),
        (wants(TcpSocket, lambda one: one.congestion_control is not None and (one.rtt_s or 0.0) >= VERY_LONG_RTT_S),),
    ),
    silence_needs=((wants(FlowRun, lambda one: one.congestion_control is not None and one.rtt_min_s is not None),),),
    judge=_judge,
    explain=Explain(
        what=Text(
            en="Rate of a loss-based control: MSS*1.22/(RTT*sqrt(p)). BBR follows the measured rate instead: 727 against 18 Mb/s at 1 % and 11 ms.",
            zh="基于丢包的控制速率约为 MSS*1.22/(RTT*sqrt(p))。BBR 跟随实测速率：11 ms、1 % 丢包下 727 对 18 Mb/s。",
        ),
        shows=Text(
            en="Congestion-window limited flows far below the link on long paths, few retransmissions, several flows together faster.",
            zh="长路径上的流受拥塞窗口限制、远低于链路速率，重传很少，多条流合起来更快。",
        ),
        sources=(
            "Mathis et al. 1997",
            "measured in network namespaces, Linux 6.18 (loss_with_rtt_11ms)",
            "Linux tcp_congestion_control",
        ),
    ),
    told_apart_from=(
        LookAlike(
            cause="tcp-window-limited",
            because=Text(
                en="there the receiver's window or the buffers hold the flow, without any loss",
                zh="彼处由接收窗口或缓冲限制，且无丢包",
            ),
        ),
        LookAlike(
            cause="packet-loss",
            because=Text(en="there the loss itself is high enough to mend first", zh="彼处丢包本身已高到应先修复"),
        ),
        LookAlike(
            cause="tcp-single-flow-limit",
            because=Text(
                en="there one flow meets a cap of the provider or of a core, without loss",
                zh="彼处单流遇到云厂商或单核上限，且无丢包",
            ),
        ),
    ),
    changes=(
        Change(
            what=Text(en="Use BBR for this path, or at least CUBIC", zh="对该路径使用 BBR，至少使用 CUBIC"),
            commands=("sysctl -w net.ipv4.tcp_congestion_control=bbr", "ip route change DEST via GATEWAY congctl bbr"),
            risk=Text(
                en="BBR takes more than its share beside CUBIC flows in shallow queues", zh="在浅队列中 BBR 会挤占 CUBIC 流的份额"
            ),
        ),
        Change(what=Text(en="Until then use several connections", zh="在此之前使用多条连接")),
    ),
    checks=(
        Check(
            what=Text(en="One flow reaches the link's rate over the same path", zh="同一路径上单流达到链路速率"),
            commands=("wirespeed bench links PEER --only throughput", "ss -tin dst PEER"),
        ),
    ),
    gain=Text(
        en="Several times the rate of one flow; measured 15 to 40 times at 11 ms", zh="单流速率数倍；11 ms 下实测 15 至 40 倍"
    ),
    severity="medium",
    explains=("distance", "packet-loss", "tcp-single-flow-limit", "link-speed-lower-than-assumed"),
)
