"""The round trip between the places is long, and each exchange pays it."""

from wirespeed.diagnosis.joins.benchmarks import round_trip_s
from wirespeed.diagnosis.joins.flows import told
from wirespeed.diagnosis.joins.paths import idle_latencies, odd_ones
from wirespeed.diagnosis.joins.pieces import ALONE, against, piece, said_s
from wirespeed.model.case import Case
from wirespeed.model.finding import FAIR, SLIGHT, STRONG, Change, Check, Evidence, LookAlike, Verdict
from wirespeed.model.flows import TcpFlow
from wirespeed.model.kinds import Explain, Rule, wants
from wirespeed.model.link_runs import FlowRun, LatencyRun
from wirespeed.model.measurement import HttpTiming, MessageLatency, PingRun
from wirespeed.model.settings import Statement
from wirespeed.model.text import Text

FAR_RTT_S = 0.010
"""10 ms is about 1,000 km of fibre and back; within a region a round trip is below 2 ms."""
NEAR_RTT_S = 0.005
IN_A_CAPTURE = SLIGHT
"""A capture tells every round trip, whether anybody suffers from it or not."""
TRIPS = 2.0
SMALL_BYTES = 1024
FARTHER_TIMES = 5.0
FARTHER_S = 0.002
"""Between hosts of one site: a path that takes 2 ms and five times what the others take is another place, or a detour."""


def _judge(case: Case) -> Verdict:
    evidence: list[Evidence] = []
    measured = _far_paths(case)
    evidence += piece(_PATHS, STRONG + SLIGHT, measured, rtt_s=max((one.rtt_min_s or 0.0 for one in measured), default=None))
    if not measured:
        evidence += against(_PATHS_NEAR, STRONG, [one for one in idle_latencies(case) if (one.rtt_min_s or 1.0) < FARTHER_S])
    pings = [one for one in case.every(PingRun) if (one.rtt_min_s or one.rtt_mean_s or 0.0) >= FAR_RTT_S]
    connects = [one for one in case.every(HttpTiming) if _connect_s(one) >= FAR_RTT_S]
    exchanges = [one for one in case.every(MessageLatency, load="idle") if _exchange_s(one) >= FAR_RTT_S]
    said = [one for one in case.said("round-trip") if (said_s(one) or 0.0) >= FAR_RTT_S]
    rtt_s = max(
        [one.rtt_min_s or one.rtt_mean_s or 0.0 for one in pings]
        + [_connect_s(one) for one in connects]
        + [_exchange_s(one) for one in exchanges]
        + [said_s(one) or 0.0 for one in said]
        + [one.rtt_min_s or 0.0 for one in measured],
        default=0.0,
    )
    evidence += piece(_MEASURED, ALONE, [*pings, *connects, *exchanges, *said], rtt_s=rtt_s)
    flows = [one for one in case.every(TcpFlow) if one.rtt_s is not None]
    far_flows = [one for one in flows if (one.rtt_s or 0.0) >= FAR_RTT_S]
    flow_rtt_s = max((one.rtt_s or 0.0 for one in far_flows), default=0.0)
    if not (pings or connects or exchanges or said):
        evidence += told(_MEASURED, IN_A_CAPTURE, far_flows, "start", "answer", rtt_s=flow_rtt_s)
    mostly = [one for one in connects if one.total_s and TRIPS * _connect_s(one) >= 0.3 * one.total_s]
    if evidence:
        evidence += piece(_MOST, FAIR, mostly)
    far = case.said("far-away")
    evidence += piece(_FAR, ALONE, far)
    near = [one for one in case.every(PingRun) if one.rtt_mean_s is not None and one.rtt_mean_s < NEAR_RTT_S]
    near_connects = [one for one in case.every(HttpTiming) if 0 < _connect_s(one) < NEAR_RTT_S]
    near_exchanges = [one for one in case.every(MessageLatency, protocol="tcp") if 0 < _exchange_s(one) < NEAR_RTT_S]
    near_flows = [] if far_flows else [one for one in flows if (one.rtt_s or 0.0) < NEAR_RTT_S]
    near_all = [*near, *near_connects, *near_exchanges, *near_flows]
    evidence += against(_NEAR, STRONG, [] if pings or connects or exchanges else near_all)
    return Verdict(evidence=tuple(evidence), values={"rtt_s": max(rtt_s, flow_rtt_s) or None})


def _far_paths(case: Case) -> tuple[LatencyRun, ...]:
    """Paths whose shortest round trip is long in itself, or much longer than those of the other pairs."""
    runs = tuple(one for one in idle_latencies(case) if not _is_short_at_times(case, one))
    long = tuple(one for one in runs if (one.rtt_min_s or 0.0) >= FAR_RTT_S)
    return long or odd_ones(runs, lambda one: one.rtt_min_s, lambda it, usual: it >= FARTHER_S and it >= FARTHER_TIMES * usual)


def _is_short_at_times(case: Case, run: LatencyRun) -> bool:
    """Whether a flow over the same path had a short round trip: then a standing queue, not the way, made the others long."""
    ends = {run.sender, run.receiver}
    flows = case.every(FlowRun, lambda one: one.rtt_min_s is not None and {one.sender, one.receiver} == ends)
    return any((one.rtt_min_s or 0.0) < (run.rtt_min_s or 0.0) / FARTHER_TIMES for one in flows)


def _exchange_s(one: MessageLatency) -> float:
    """The shortest exchange, or the usual one where that is all there is; large messages take time for their bytes."""
    is_small = one.size_bytes is None or one.size_bytes <= SMALL_BYTES
    return (round_trip_s(one, one.latency_min_s or one.latency_p50_s or one.latency_mean_s) or 0.0) if is_small else 0.0


def _connect_s(one: HttpTiming) -> float:
    return max(0.0, (one.connect_s or 0.0) - (one.namelookup_s or 0.0))


_PATHS = Text(en="the shortest of many round trips takes {rtt_s}, without load", zh="无负载时多次往返中最短的也需 {rtt_s}")
_PATHS_NEAR = Text(en="hosts reach each other within a millisecond or two", zh="主机之间往返在一两毫秒内")
_MEASURED = Text(en="a round trip takes {rtt_s}", zh="一个往返需 {rtt_s}")
_MOST = Text(en="round trips make up much of the request", zh="往返占请求时间的很大部分")
_FAR = Text(en="the two ends are in different places", zh="两端位于不同地点")
_NEAR = Text(en="the round trip is short", zh="往返时间很短")

RULE = Rule(
    cause="distance",
    title=Text(en="The distance between the places is the limit", zh="两地距离是瓶颈"),
    summary=Text(
        en="Light needs its time: each exchange pays the round trip, and only fewer exchanges or nearer places help.",
        zh="光速有限：每次交互都付一个往返，只有减少交互或就近部署才有帮助。",
    ),
    needs=(
        (LatencyRun,),
        (wants(TcpFlow, lambda one: one.rtt_s is not None),),
        (wants(PingRun, lambda one: one.rtt_mean_s is not None),),
        (wants(HttpTiming, lambda one: one.connect_s is not None),),
        (wants(MessageLatency, lambda one: _exchange_s(one) > 0.0),),
        (Statement,),
    ),
    judge=_judge,
    explain=Explain(
        what=Text(
            en="Fibre carries 200 km a millisecond, so 10,000 km cost 100 ms and back; TCP, TLS and a request are three such trips.",
            zh="光纤每毫秒 200 km，10,000 km 往返即 100 ms；TCP、TLS 加请求就是三个往返。",
        ),
        shows=Text(
            en="time_connect equals the ping; every request carries a multiple of it; bandwidth tests with several streams are fine.",
            zh="time_connect 等于 ping；每个请求都带有其倍数；多流带宽测试正常。",
        ),
        sources=("ITU-T G.652 (group index about 1.47)", "RFC 8446: one round trip for TLS 1.3"),
    ),
    told_apart_from=(
        LookAlike(
            cause="tcp-window-limited",
            because=Text(en="if only bulk transfers are slow, the window is what to change", zh="若仅大块传输慢，应调整窗口"),
        ),
        LookAlike(
            cause="bufferbloat", because=Text(en="there the round trip grows only under load", zh="那里往返时间只在负载下增长")
        ),
        LookAlike(cause="l3-detour", because=Text(en="there two near machines take a far way", zh="那里相邻机器走了远路")),
    ),
    changes=(
        Change(
            what=Text(
                en="Serve near the users, or end TLS near them and keep warm connections to the back end",
                zh="就近服务用户，或就近终止 TLS 并保持到后端的热连接",
            ),
            side="serving",
        ),
        Change(
            what=Text(
                en="Keep ranks of one job in one place; between places use few large exchanges (DiLoCo, pipeline stages)",
                zh="同一作业的 rank 放在一处；跨地用少量大交换（DiLoCo、流水线级）",
            ),
            side="training",
        ),
    ),
    checks=(
        Check(
            what=Text(en="Exchanges a request x round trip explains the time", zh="每请求交互数 × 往返时间 能解释耗时"),
            commands=("curl -s -o /dev/null -w '%{{time_connect}} %{{time_appconnect}} %{{time_starttransfer}}\\n' URL",),
        ),
    ),
    gain=Text(en="One round trip for each exchange saved", zh="每少一次交互省一个往返"),
    severity="low",
)
