"""Big packets vanish in the middle without the ICMP message that would say so."""

from wirespeed.diagnosis.joins.flows import has_lasting_hole, is_swallowed, place, sides, told, with_side
from wirespeed.diagnosis.joins.pieces import against, piece
from wirespeed.model.case import Case
from wirespeed.model.facts.link import Counter
from wirespeed.model.facts.sockets import TcpSocket
from wirespeed.model.finding import FAIR, PROVES, SLIGHT, STRONG, Change, Check, Evidence, LookAlike, Value, Verdict
from wirespeed.model.flows import FlowEnd, IcmpReport, TcpFlow
from wirespeed.model.kinds import Explain, Rule, wants
from wirespeed.model.link_runs import PathMtuRun
from wirespeed.model.measurement import PingRun
from wirespeed.model.settings import Statement
from wirespeed.model.text import Text

STUCK_BACKOFF_COUNT = 2
_TOPICS = ("icmp-blocked", "mtu-probing-helps", "small-passes-large-hangs", "large-frames-unanswered", "handshake-hangs")
FULL_SEGMENT_BYTES = 1300


def _judge(case: Case) -> Verdict:
    probes = case.every(PingRun, lambda one: one.payload_bytes is not None and one.payload_bytes >= FULL_SEGMENT_BYTES)
    lost = tuple(one for one in probes if one.loss_ratio == 1.0 and one.reported_mtu_bytes is None)
    smaller = case.every(
        PingRun, lambda one: _is_answered(one) and (not lost or (one.payload_bytes or 56) < (lost[0].payload_bytes or 0))
    )
    swallowed = case.every(PathMtuRun, _swallows)
    whole = case.every(PathMtuRun, _carries_all)
    reports = case.every(PathMtuRun, lambda one: one.reported_bytes is not None)
    reported = (
        *case.every(PingRun, lambda one: one.reported_mtu_bytes is not None),
        *reports,
        *case.every(IcmpReport, topic="too-big"),
    )
    lost_flows, holes = with_side(case, is_swallowed), with_side(case, has_lasting_hole)
    passing = case.every(TcpFlow, lambda one: any(side.largest_acked_bytes >= FULL_SEGMENT_BYTES for side, _ in sides(one)))
    stuck = case.every(TcpSocket, _is_stuck)
    handshake, unseen = case.said("handshake-hangs"), case.said("large-frames-unanswered")
    tunnel = case.said("tunnel-in-path")
    probing = case.every(Counter, lambda one: one.name.endswith(("TCPMTUPSuccess", "TCPMTUPFail")) and one.value_count > 0)
    return Verdict(
        evidence=(
            *(piece(_LOST, STRONG + SLIGHT, (*lost, *smaller)) if lost and smaller else ()),
            *piece(_SWALLOWED, PROVES, swallowed, **_example(swallowed)),
            *piece(_STUCK, STRONG, stuck),
            *_captured(lost_flows),
            *told(_HOLE, STRONG, [one for one, _, _ in holes] if not lost_flows else [], "silence", "late", "request"),
            *against(_PASSING, FAIR, passing if not lost_flows and not holes else ()),
            *piece(_PROBING, FAIR, probing),
            *piece(_ICMP, STRONG, case.said("icmp-blocked")),
            *piece(_HELPS, STRONG, case.said("mtu-probing-helps")),
            *piece(_BIG, FAIR, case.said("small-passes-large-hangs")),
            *piece(_HANDSHAKE, FAIR if tunnel else SLIGHT, handshake),
            *piece(_TUNNEL, SLIGHT, tunnel if handshake or unseen or case.said("small-passes-large-hangs") else ()),
            *piece(_UNSEEN, FAIR, unseen),
            *against(_TOLD, FAIR, reported),
            *against(_FULL_SIZE, STRONG, whole if not swallowed and not lost else ()),
            *against(
                _ALL_PASS, STRONG, tuple(one for one in probes if one.loss_ratio == 0.0 and one.dont_fragment) if not lost else ()
            ),
        )
    )


def _captured(lost: tuple[tuple[TcpFlow, FlowEnd, FlowEnd], ...]) -> tuple[Evidence, ...]:
    """Connections that stand on a full segment; where the other end is heard meanwhile, the way itself is there."""
    heard = [one for one in lost if one[1].is_heard_while_stuck]
    if not lost:
        return ()
    _, sender, receiver = (heard or lost)[0]
    acked_bytes = max(sender.largest_acked_bytes, receiver.largest_acked_bytes)
    return told(
        _SWALLOWED_FLOW if acked_bytes else _UNANSWERED_FLOW,
        PROVES if heard else STRONG,
        [flow for flow, _, _ in heard or lost],
        "request",
        "sent-again",
        "silence",
        sender=place(sender),
        receiver=place(receiver),
        stuck_bytes=sender.stuck_bytes,
        sends_count=sender.stuck_sends_count,
        acked_bytes=acked_bytes,
    )


def _is_answered(ping: PingRun) -> bool:
    """Nothing was lost, or single answers are all that is quoted."""
    return ping.loss_ratio == 0.0 or (ping.loss_ratio is None and ping.rtt_mean_s is not None)


def _swallows(run: PathMtuRun) -> bool:
    """Packets that the sender's own interface lets out vanish, smaller ones arrive, and no router says why."""
    if run.passed_bytes is None or run.lost_bytes is None or run.interface_mtu_bytes is None or run.reported_bytes is not None:
        return False
    return run.lost_bytes <= run.interface_mtu_bytes


def _carries_all(run: PathMtuRun) -> bool:
    return run.interface_mtu_bytes is not None and (run.passed_bytes or 0) >= run.interface_mtu_bytes


def _example(runs: tuple[PathMtuRun, ...]) -> dict[str, Value]:
    if not runs:
        return {}
    one = runs[0]
    return {"sender": one.sender, "receiver": one.receiver, "passed_bytes": one.passed_bytes, "lost_bytes": one.lost_bytes}


def _shows_size(flow: TcpFlow) -> bool:
    """Whether a captured connection sent anything large."""
    return any(side.largest_payload_bytes >= FULL_SEGMENT_BYTES or side.never_arrived_bytes for side, _ in sides(flow))


def _is_stuck(flow: TcpSocket) -> bool:
    """A full-size segment resent by time-out only, the window down to one: nothing large arrives."""
    is_full = (flow.mss_bytes or 0) >= FULL_SEGMENT_BYTES
    return is_full and (flow.backoff_count or 0) >= STUCK_BACKOFF_COUNT and (flow.unacked_packets or 0) > 0


_LOST = Text(
    en="large don't-fragment probes vanish, small ones return, and no router says why",
    zh="不分片的大探测包消失，小包返回，且没有路由器说明原因",
)
_SWALLOWED = Text(
    en="from {sender} to {receiver} packets of {passed_bytes} arrive, those of {lost_bytes} vanish, and no router reports it",
    zh="{sender} 到 {receiver}：{passed_bytes} 的包能到达，{lost_bytes} 的包消失，且没有路由器报告",
)
_FULL_SIZE = Text(en="packets as large as the interface allows arrive", zh="接口允许的最大包能够到达")
_SWALLOWED_FLOW = Text(
    en="{sender} sent a segment of {stuck_bytes} to {receiver} {sends_count} times without an answer, while segments up to {acked_bytes} arrived",
    zh="{sender} 向 {receiver} 发送 {stuck_bytes} 的报文段 {sends_count} 次均无应答，而不超过 {acked_bytes} 的都已到达",
)
_UNANSWERED_FLOW = Text(
    en="{sender} sent a segment of {stuck_bytes} to {receiver} {sends_count} times without an answer",
    zh="{sender} 向 {receiver} 发送 {stuck_bytes} 的报文段 {sends_count} 次均无应答",
)
_HOLE = Text(
    en="the full segments of an answer never arrive, the smaller one behind them does",
    zh="回答中的满长报文段始终未到，其后较小的一段却到了",
)
_PASSING = Text(en="full-size segments are acknowledged", zh="满长报文段得到确认")
_STUCK = Text(
    en="a connection is stuck on a full-size segment that is resent by time-out only", zh="连接卡在一个仅靠超时重传的满长报文段上"
)
_PROBING = Text(en="TCP's own MTU probing found a smaller path", zh="TCP 的 MTU 探测发现路径更小")
_ICMP = Text(en="the ICMP message that would report it is blocked", zh="本应报告此事的 ICMP 被拦截")
_HELPS = Text(en="MTU probing or MSS clamping cures it", zh="开启 MTU 探测或 MSS 钳制后恢复")
_BIG = Text(en="small messages pass, large ones hang", zh="小消息通过，大消息挂起")
_HANDSHAKE = Text(en="the connection opens and hangs at its first large message", zh="连接建立后在首个大消息处挂起")
_TUNNEL = Text(en="a tunnel is on the path, whose headers take room", zh="路径上有隧道，其封装头占用空间")
_UNSEEN = Text(en="full-size packets leave and are never answered", zh="满长报文发出后无应答")
_TOLD = Text(en="the path reports its MTU, so senders can adapt", zh="路径会报告其 MTU，发送方可以适应")
_ALL_PASS = Text(en="full-size don't-fragment probes arrive", zh="满长不分片探测能到达")

RULE = Rule(
    cause="pmtu-blackhole",
    title=Text(en="Large packets vanish on the path without notice", zh="大包在路径上无声消失"),
    summary=Text(
        en="A hop in the middle has a smaller MTU and its ICMP message does not come back, so senders keep sending packets that cannot pass. "
        "Handshakes and small requests work; anything larger hangs.",
        zh="中间某跳 MTU 更小，且其 ICMP 通知回不来，发送方一直发送过不去的大包。握手和小请求正常，稍大就挂起。",
    ),
    needs=(
        (PathMtuRun,),
        (wants(TcpFlow, _shows_size),),
        (wants(PingRun, lambda one: one.payload_bytes is not None),),
        (wants(TcpSocket, lambda one: one.backoff_count is not None or one.unacked_packets is not None),),
        (
            wants(
                Statement,
                lambda one: one.topic in _TOPICS,
            ),
        ),
    ),
    judge=_judge,
    explain=Explain(
        what=Text(
            en="Path MTU discovery needs the ICMP 'fragmentation needed' answer; filters that drop all ICMP break it.",
            zh="路径 MTU 发现依赖 ICMP“需要分片”应答；丢弃全部 ICMP 的过滤会破坏它。",
        ),
        shows=Text(
            en="Connect and first bytes at once, then silence; retransmission time-outs without fast retransmits; no drop counter moves.",
            zh="连接和首字节很快，随后沉默；只有超时重传而无快速重传；没有丢包计数变化。",
        ),
        sources=("RFC 2923", "measured in network namespaces, Linux 6.18 (mtu_black_hole)", "Linux ip-sysctl tcp_mtu_probing"),
    ),
    told_apart_from=(
        LookAlike(
            cause="firewall-blocks-ports",
            because=Text(en="there the connection itself is never set up", zh="彼处连接本身就建立不了"),
        ),
        LookAlike(
            cause="mtu-mismatch",
            because=Text(en="there the two ends, or the switch port, are known to differ", zh="彼处已知两端或交换机端口不同"),
        ),
        LookAlike(
            cause="mtu-overlay",
            because=Text(
                en="there the overlay's own MTU leaves no room for its header", zh="彼处叠加网络的 MTU 没有给封装头留空间"
            ),
        ),
    ),
    changes=(
        Change(
            what=Text(
                en="Make the MTU equal end to end, or let ICMP type 3 code 4 (and ICMPv6 type 2) through",
                zh="端到端统一 MTU，或放行 ICMP 类型 3 代码 4（及 ICMPv6 类型 2）",
            )
        ),
        Change(
            what=Text(en="Until then let TCP probe the path", zh="在此之前让 TCP 自行探测"),
            commands=("sysctl -w net.ipv4.tcp_mtu_probing=1",),
            risk=Text(en="Hides the fault and stalls about 6 s before it recovers", zh="会掩盖故障，且恢复前停顿约 6 秒"),
        ),
    ),
    checks=(
        Check(
            what=Text(en="Don't-fragment probes of full size pass both ways", zh="满长不分片探测双向通过"),
            commands=("ping -M do -c 3 -s 1472 PEER", "tracepath -n PEER"),
        ),
    ),
    gain=Text(en="From hanging to line rate", zh="从挂起恢复到线速"),
    severity="high",
    explains=("ecmp-collision", "oversubscribed-fabric", "link-speed-lower-than-assumed", "packet-reordering"),
    settled_by=("ping -M do -s 8972 -c 3 PEER",),
)
