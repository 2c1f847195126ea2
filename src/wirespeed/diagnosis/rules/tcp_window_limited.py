"""One TCP connection moves a window each round trip, and the window is too small for the path."""

import re

from wirespeed.diagnosis.joins.benchmarks import round_trip_s
from wirespeed.diagnosis.joins.delays import is_by_delay, rate_falls_as_delay_grows
from wirespeed.diagnosis.joins.flows import is_window_limited, place, told, with_side
from wirespeed.diagnosis.joins.pieces import ALONE, MOST_COMPARED, against, piece, quantities, said_s
from wirespeed.diagnosis.joins.rates import sound_flows
from wirespeed.diagnosis.joins.transfers import transfers
from wirespeed.model.case import Case
from wirespeed.model.facts.host import (
    Sysctl,
)
from wirespeed.model.facts.sockets import TcpSocket
from wirespeed.model.finding import FAIR, SLIGHT, STRONG, Change, Check, Evidence, LookAlike, Value, Verdict, supports
from wirespeed.model.flows import TcpFlow
from wirespeed.model.kinds import Explain, Rule, wants
from wirespeed.model.link_runs import FlowRun
from wirespeed.model.measurement import MessageLatency, PingRun, ThroughputRun
from wirespeed.model.record import Record
from wirespeed.model.settings import Quantity, Statement, Table
from wirespeed.model.text import Text
from wirespeed.theory import storage

LEAST_RTT_S = 0.002
AMPLE_TIMES = 4.0
"""A congestion window this far below what the buffers allow was made small by loss, not by a buffer."""
"""Below 2 ms even 64 KiB windows allow 260 Mb/s; other limits come first."""
NEAR_LOW_RATIO, NEAR_HIGH_RATIO = 0.4, 1.25
"""The rate seen, against window / RTT: windows are used half when buffers are counted twice (tcp_adv_win_scale)."""
LIMITED_RATIO = 0.3
HELD_RATIO = 0.5
"""Of a test flow's time: a receiver that is late for a moment costs less."""
LONG_RTT_S = 0.02
LEAST_WINDOW_BYTES, MOST_WINDOW_BYTES = 32 * 1024, 8 * 1024 * 1024
"""64 KiB without window scaling up to 6 MiB, the largest `tcp_rmem` that Linux ships."""
_BUFFER_SYSCTLS = ("net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem", "net.core.rmem_max", "net.core.wmem_max")
_PRINTED_SHARE = re.compile(r"(?:rwnd|sndbuf)_limited:\d+ms\((\d{1,3}(?:\.\d+)?)%\)")


def _windows(case: Case) -> list[tuple[Record, float]]:
    found: list[tuple[Record, float]] = []
    for one in case.every(Sysctl, lambda it: it.name.replace("/", ".") in _BUFFER_SYSCTLS):
        last = one.setting.split()[-1] if one.setting.split() else ""
        if last.isdigit():
            found.append((one, float(last)))
    found += [(one, one.value) for one in quantities(case, "size", r"window|cwnd|rmem|wmem|buffer|rwnd")]
    found += [(one, one.value) for one in case.said("window-size-named") if one.value and not one.unit]
    largest = max((size for one, size in found if isinstance(one, Sysctl)), default=0.0)
    windows = [(one, one.congestion_window_bytes) for one in case.every(ThroughputRun) if one.congestion_window_bytes]
    return found + [one for one in windows if not (AMPLE_TIMES * one[1] < largest and (one[0].retransmits_packets or 0) > 0)]


def _round_trip(case: Case) -> tuple[Record, float] | None:
    pings = [(one, one.rtt_min_s or one.rtt_mean_s or 0.0) for one in case.every(PingRun)]
    sockets = [(one, one.rtt_s or 0.0) for one in case.every(TcpSocket)]
    messages = [
        (one, round_trip_s(one, one.latency_p50_s or one.latency_mean_s) or 0.0)
        for one in case.every(MessageLatency, protocol="tcp")
    ]
    said = [(one, seconds) for one in case.said("round-trip") if (seconds := said_s(one))]
    return next((one for one in (*pings, *sockets, *messages, *said) if one[1] >= LEAST_RTT_S), None)


def _rates(case: Case) -> list[tuple[Record, float]]:
    runs: list[tuple[Record, float]] = [
        (one, one.rate_bits_per_s) for one in case.every(ThroughputRun) if one.stream_count in (None, 1) and one.tool != "sar"
    ]
    return runs + [(one, one.value) for one in quantities(case, "rate")] + transfers(case)


def _judge(case: Case) -> Verdict:
    evidence: list[Evidence] = []
    rtt = _round_trip(case)
    match = _window_explains(_windows(case), rtt, _rates(case)) if rtt else None
    if rtt and match:
        window, seen = match
        limit = 8 * storage.window_limited_bytes_per_s(window[1], rtt[1])
        evidence.append(
            supports(
                _COMPUTED,
                STRONG,
                window[0],
                rtt[0],
                seen[0],
                window_bytes=window[1],
                rtt_s=rtt[1],
                limit_bits_per_s=limit,
                seen_bits_per_s=seen[1],
            )
        )
    held = sound_flows(case, _is_held)
    falls = rate_falls_as_delay_grows(case) if not match else None
    if falls:
        is_clean = bool(case.said("no-drops-anywhere") or case.denied("packet-loss"))
        weight = STRONG if is_clean or falls.is_named else FAIR
        evidence.append(supports(_PRODUCT, weight, falls.table, window_bytes=falls.window_bytes))
    evidence += piece(_HELD, STRONG + FAIR, held, **_window_of(held))
    evidence += _captured(case)
    limited = [one for one in case.every(TcpSocket) if _is_limited(one)]
    is_near = bool(limited) and all(one.min_rtt_s is not None and one.min_rtt_s < LEAST_RTT_S for one in limited)
    evidence += piece(_SOCKET, SLIGHT if is_near else STRONG, limited)
    evidence += piece(_SAID, ALONE if not match else SLIGHT, case.said("window-limited", "window-size-named"))
    if rtt:
        several = [*case.said("parallel-is-faster"), *_scaling(case)]
        pauses = case.said("sender-pauses-without-loss")
        evidence += piece(_PAUSES, STRONG, pauses)
        evidence += piece(_PARALLEL, FAIR, several)
        implied = _implied(rtt[1], _rates(case)) if (several or pauses) and not match else None
        if implied:
            evidence.append(supports(_IMPLIED, FAIR, implied[0], rtt[0], rtt_s=rtt[1], window_bytes=implied[1]))
        evidence += piece(_FAR, SLIGHT, [rtt[0]], rtt_s=rtt[1]) if evidence else ()
    free = [one for one in case.every(TcpSocket) if one.busy_s and not _is_limited(one)]
    flowing = [one for one in case.every(FlowRun) if one.rwnd_limited_ratio is not None and not _is_held(one)]
    evidence += against(_FREE, FAIR, [] if limited or held else [*free, *flowing])
    return Verdict(evidence=tuple(evidence))


def _captured(case: Case) -> list[Evidence]:
    """Connections whose window was full again and again, over a way long enough for that to matter."""
    bulk = with_side(case, is_window_limited)
    far = [one for one in bulk if (one[0].rtt_s or 0.0) >= LEAST_RTT_S]
    if not far:
        return []
    flow, sender, receiver = max(far, key=lambda one: one[1].payload_bytes)
    return list(
        told(
            _CAPTURED,
            STRONG + FAIR,
            [one for one, _, _ in far],
            "start",
            "answer",
            "response",
            sender=place(sender),
            receiver=place(receiver),
            window_bytes=receiver.window_max_bytes,
            rtt_s=flow.rtt_s,
            rate_bytes_per_s=sender.rate_bytes_per_s,
        )
    )


def _window_explains(
    windows: list[tuple[Record, float]], rtt: tuple[Record, float], rates: list[tuple[Record, float]]
) -> tuple[tuple[Record, float], tuple[Record, float]] | None:
    for window in [one for one in windows if one[1] > 0][:MOST_COMPARED]:
        limit = 8 * storage.window_limited_bytes_per_s(window[1], rtt[1])
        for seen in rates[:MOST_COMPARED]:
            if NEAR_LOW_RATIO <= seen[1] / limit <= NEAR_HIGH_RATIO:
                return window, seen
    return None


def _implied(rtt_s: float, rates: list[tuple[Record, float]]) -> tuple[Record, float] | None:
    """The slowest rate, where a window of a size that systems really have explains it over a long round trip."""
    slowest = min((one for one in rates if one[1] > 0), key=lambda one: one[1], default=None)
    window = storage.window_needed_bytes(slowest[1] / 8.0, rtt_s) if slowest else 0.0
    is_usual = LEAST_WINDOW_BYTES <= window <= MOST_WINDOW_BYTES
    return (slowest[0], window) if slowest and is_usual and rtt_s >= LONG_RTT_S else None


def _is_held(flow: FlowRun) -> bool:
    """A bulk flow whose rate is its window over its round trip, because the receiver or the send buffer offers no more.

    Over a short path a window that is full says that the receiver is late, not that it is small.
    """
    waited = max(flow.rwnd_limited_ratio or 0.0, flow.sndbuf_limited_ratio or 0.0)
    return waited >= HELD_RATIO and (flow.rtt_min_s or 0.0) >= LEAST_RTT_S and flow.error is None


def _window_of(held: tuple[FlowRun, ...]) -> dict[str, Value]:
    if not held:
        return {}
    one = held[0]
    return {
        "sender": one.sender,
        "receiver": one.receiver,
        "share_ratio": max(one.rwnd_limited_ratio or 0.0, one.sndbuf_limited_ratio or 0.0),
        "window_bytes": one.send_window_bytes,
        "rtt_s": one.rtt_p50_s,
        "rate_bits_per_s": 8 * one.goodput_bytes_per_s,
    }


def _is_limited(one: TcpSocket) -> bool:
    waited_s = (one.rwnd_limited_s or 0.0) + (one.sndbuf_limited_s or 0.0)
    if one.busy_s is None and waited_s > 0:
        return any(float(share) >= 100 * LIMITED_RATIO for quote in one.quotes for share in _PRINTED_SHARE.findall(quote.text))
    return bool(one.busy_s) and waited_s >= LIMITED_RATIO * (one.busy_s or 1.0)


def _scaling(case: Case) -> list[ThroughputRun]:
    """A run with many streams that beats one with a single stream several times."""
    single = [one for one in case.every(ThroughputRun) if one.stream_count == 1]
    many = [one for one in case.every(ThroughputRun) if (one.stream_count or 1) >= 4]
    faster = [one for one in many if single and one.rate_bits_per_s >= 2.5 * min(two.rate_bits_per_s for two in single)]
    return [*single[:1], *faster[:1]] if faster else []


_CAPTURED = Text(
    en="{sender} filled the window of {receiver}, {window_bytes}, again and again over a round trip of {rtt_s}: that makes {rate_bytes_per_s}",
    zh="{sender} 在 {rtt_s} 的往返上不断填满 {receiver} 的窗口 {window_bytes}：速率即 {rate_bytes_per_s}",
)
_PRODUCT = Text(
    en="the rate falls as the delay grows and their product stays near {window_bytes}: one window each round trip",
    zh="速率随时延增大而下降，二者乘积稳定在 {window_bytes} 附近：每个往返只传一个窗口",
)
_COMPUTED = Text(
    en="{window_bytes} each {rtt_s} allow {limit_bits_per_s}; {seen_bits_per_s} was seen",
    zh="每 {rtt_s} 发送 {window_bytes} 只允许 {limit_bits_per_s}；实测 {seen_bits_per_s}",
)
_PAUSES = Text(en="the sender stops and waits again and again though nothing is lost", zh="发送方反复停下等待，而没有丢包")
_IMPLIED = Text(
    en="the single rate is {window_bytes} each {rtt_s}, a usual window",
    zh="单连接速率相当于每 {rtt_s} 发送 {window_bytes}，正是常见窗口",
)
_HELD = Text(
    en="a flow from {sender} to {receiver} waited {share_ratio} of its time for window or buffer: {window_bytes} each {rtt_s} gave {rate_bits_per_s}",
    zh="{sender} 到 {receiver} 的流有 {share_ratio} 的时间在等窗口或缓冲：每 {rtt_s} 发送 {window_bytes}，得到 {rate_bits_per_s}",
)
_SOCKET = Text(en="the kernel says the connection waited for window or buffer", zh="内核显示连接在等窗口或缓冲")
_SAID = Text(en="a small window or buffer is named", zh="提到了偏小的窗口或缓冲")
_PARALLEL = Text(en="several connections together are faster", zh="多条连接合起来更快")
_FAR = Text(en="a round trip takes {rtt_s}", zh="一个往返需 {rtt_s}")
_FREE = Text(en="the connection did not wait for window or buffer", zh="连接没有等窗口或缓冲")

RULE = Rule(
    cause="tcp-window-limited",
    title=Text(en="The TCP window is too small for this round trip", zh="TCP 窗口相对该往返时间过小"),
    summary=Text(
        en="One connection cannot move more than its window each round trip, however fast the link is.",
        zh="无论链路多快，一条连接每个往返最多移动一个窗口。",
    ),
    needs=(
        (FlowRun,),
        (wants(TcpFlow, lambda one: one.rtt_s is not None and max(one.client.payload_bytes, one.server.payload_bytes) > 0),),
        (TcpSocket,),
        (PingRun, ThroughputRun),
        (wants(Sysctl, lambda one: one.name in _BUFFER_SYSCTLS), Quantity),
        (ThroughputRun, Quantity),
        (wants(Table, is_by_delay),),
        (Statement,),
    ),
    silence_needs=((FlowRun,), (TcpSocket,)),
    judge=_judge,
    explain=Explain(
        what=Text(
            en="Rate = window / RTT: 6 MiB at 80 ms is 630 Mb/s. Receive buffers are limited by tcp_rmem, send buffers by tcp_wmem.",
            zh="速率 = 窗口 / RTT：80 ms 下 6 MiB 为 630 Mb/s。接收缓冲受 tcp_rmem、发送缓冲受 tcp_wmem 限制。",
        ),
        shows=Text(
            en="Steady rate without loss, independent of the link; N connections give N times as much; rwnd_limited or sndbuf_limited in `ss -ti`.",
            zh="速率稳定、无丢包且与链路无关；N 条连接即 N 倍；ss -ti 显示 rwnd_limited 或 sndbuf_limited。",
        ),
        sources=("RFC 7323", "Linux ip-sysctl.rst: tcp_rmem, tcp_wmem", "ESnet fasterdata host tuning"),
    ),
    told_apart_from=(
        LookAlike(
            cause="packet-loss", because=Text(en="loss shows retransmissions and a rate that varies", zh="丢包有重传且速率波动")
        ),
        LookAlike(
            cause="download-single-stream",
            because=Text(en="there the program is serial even on a near path", zh="那里即使路径很近，程序也是串行的"),
        ),
        LookAlike(
            cause="distance",
            because=Text(
                en="a bigger window helps throughput, nothing shortens the round trip", zh="增大窗口可提高吞吐，但往返时间不会变短"
            ),
        ),
    ),
    changes=(
        Change(
            what=Text(en="Let buffers grow to twice rate x RTT on both ends", zh="两端缓冲上限设为 2 × 速率 × RTT"),
            commands=(
                "sysctl -w net.ipv4.tcp_rmem='4096 131072 268435456'",
                "sysctl -w net.ipv4.tcp_wmem='4096 65536 268435456'",
                "sysctl -w net.core.rmem_max=268435456 net.core.wmem_max=268435456",
            ),
            risk=Text(en="More memory per busy connection", zh="每条繁忙连接占用更多内存"),
        ),
    ),
    checks=(
        Check(
            what=Text(en="One connection reaches the link's rate", zh="单条连接达到链路速率"),
            commands=("iperf3 -c HOST -t 30", "ss -ti dst HOST"),
        ),
    ),
    gain=Text(en="One connection gets up to rate = new window / RTT", zh="单条连接可达 新窗口 / RTT"),
    severity="medium",
    explains=("distance", "download-single-stream", "storage-bound", "tcp-single-flow-limit"),
)
