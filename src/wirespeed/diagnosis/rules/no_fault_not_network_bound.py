"""The network is healthy and hardly used; the time goes elsewhere."""

import re

from wirespeed.diagnosis.joins.failures import failures
from wirespeed.diagnosis.joins.flows import LEAST_WAIT_S, answers_late, place, told, with_side
from wirespeed.diagnosis.joins.line_rate import line_rates
from wirespeed.diagnosis.joins.pieces import ALONE, against, piece, quantities
from wirespeed.model.case import Case
from wirespeed.model.events.nccl import NcclWarning
from wirespeed.model.facts.link import Link
from wirespeed.model.finding import (
    FAIR,
    SLIGHT,
    STRONG,
    Change,
    Check,
    Evidence,
    LookAlike,
    Verdict,
    supports,
)
from wirespeed.model.flows import FlowEnd, TcpFlow
from wirespeed.model.kinds import Explain, Rule, wants
from wirespeed.model.measurement import ThroughputRun
from wirespeed.model.record import Record
from wirespeed.model.settings import Quantity, Statement
from wirespeed.model.source import Quote
from wirespeed.model.text import Text

LITTLE_BITS_PER_S = 50e6
"""A twentieth of the slowest link that connects GPU machines, 1 Gb/s."""
_TRAFFIC = r"(?:traffic|link|nic|network|\brx|\btx|wire|carries|thunderbolt|ethernet)\W{0,3}(?:is |at |only |carries |about |shows |of |utili[sz]ation )*$"
LONG_WAIT_S = 1.0
CLOSED_RATIO = 0.1
SMALL_SHARE_RATIO = 0.15
SAME_RATIO = 0.05
SMALL_PART_RATIO = 0.3
_PART = re.compile(
    r"\b(?P<moves>(?:transfer|network|wire|comm(?:unication)?|sync|send(?:ing)?|all-?reduce)(?: time)?|(?<=ms )t)\W{0,4}$"
    r"|\b(?:inference|compute|computing|exec(?:ute|ution)?|forward|kernels?|gpu|decode|(?<=ms )i)(?: time)?\W{0,4}$"
)
"""`G 559 ms I 499 ms T 60 ms` is how distributed-llama prints total, inference and transfer."""
_BEFORE_AND_AFTER = re.compile(
    r"(?i)(?<![\d.])(?P<before>\d[\d,]*(?:\.\d+)?)[^\d.;]{0,24}\b(?:before|earlier|previously|with the old|then|became|to|vs\.?)\b"
    r"[^\d.;]{0,24}(?P<after>\d[\d,]*(?:\.\d+)?)[^\d.;]{0,24}\b(?:after|afterwards|now|today|with the new|since)\b"
)
_SHOWN = r"(?:traffic|graph|nload|iftop|\bsar\b|grafana|dashboard|monitor\w*|\brx|\btx|carries|utili[sz]ation|usage|shows|sees|moves|bridge|link|nic|wire)\W{0,3}(?:is |at |only |carries |about |shows |of |during \w+ )*$"
_BENCHMARK = re.compile(r"(?i)iperf|ib_\w+_(?:bw|lat)|perftest|nccl|busbw|all_?reduce|wget|curl|scp|rsync|download|copy")


def _judge(case: Case) -> Verdict:
    evidence: list[Evidence] = []
    in_turn, unused = case.said("layers-in-turn"), case.said("network-hardly-used")
    evidence += piece(_IN_TURN, STRONG, in_turn)
    evidence += piece(_UNUSED, ALONE, unused)
    little = [one for one in quantities(case, "rate", _TRAFFIC) if 0 < one.value <= LITTLE_BITS_PER_S]
    evidence += piece(_LITTLE, FAIR, little)
    unused_link = _hardly_used(case) or _hardly_used_as_told(case)
    if unused_link:
        evidence.append(supports(_SHARE, STRONG, unused_link[0], unused_link[1], share_ratio=unused_link[2]))
    same = _same_on_a_faster_link(case)
    evidence += piece(_SAME, STRONG, same)
    evidence += _little_seen(case)
    evidence += _spent_elsewhere(case)
    evidence += _captured(case)
    if evidence:
        evidence += piece(_BLAMED, FAIR, case.said("blames-network"))
        evidence += piece(_COMPUTE, SLIGHT, case.said("compute-dominates", "gpu-busy"))
    evidence += against(_FULL, STRONG, case.said("link-full", "demand-exceeds"))
    evidence += against(_FAILED, FAIR, [*case.every(NcclWarning), *failures(case)])
    evidence += against(_STOPS, FAIR, case.said("comes-to-a-stop"))
    return Verdict(evidence=tuple(evidence))


def _captured(case: Case) -> list[Evidence]:
    """Connections that waited for a program at one end, which the host there had long given what it waits for."""
    evidence: list[Evidence] = []
    slow = sorted(case.every(TcpFlow, answers_late), key=lambda one: -(one.first_byte_max_s or 0.0))
    if slow:
        evidence += told(
            _ANSWERS_LATE,
            STRONG if (slow[0].first_byte_max_s or 0.0) >= LONG_WAIT_S else FAIR,
            slow,
            "request",
            "response",
            server=place(slow[0].server),
            ack_s=slow[0].request_ack_s,
            first_s=slow[0].first_byte_max_s,
        )
    alerted = case.every(TcpFlow, lambda one: one.tls_alert is not None and not one.tls_alert.endswith("close_notify"))
    evidence += told(_ALERTED, FAIR, alerted, "hello", alert=alerted[0].tls_alert if alerted else None)
    unread = with_side(case, _does_not_read)
    if unread:
        _, _, reader = max(unread, key=lambda one: one[2].zero_window_s or 0.0)
        evidence += told(
            _NOT_READ, STRONG, [flow for flow, _, _ in unread], "zero-window", reader=place(reader), zero_s=reader.zero_window_s
        )
    return evidence


def _does_not_read(flow: TcpFlow, sender: FlowEnd, reader: FlowEnd) -> bool:
    """The reader's window closed, for a good part of the connection."""
    closed_s = reader.zero_window_s or 0.0
    return reader.zero_windows_count > 0 and closed_s >= max(LEAST_WAIT_S, CLOSED_RATIO * (flow.duration_s or 0.0))


def _spent_elsewhere(case: Case) -> tuple[Evidence, ...]:
    """Times of computing and of transfer that stand together, line by line, of which transfer is the small part."""
    by_line: dict[Quote, dict[str, Quantity]] = {}
    for one in quantities(case, "time"):
        found = _PART.search(one.subject)
        if found and one.quotes:
            by_line.setdefault(one.quotes[0], {}).setdefault("moves" if found["moves"] else "computes", one)
    lines = [parts for parts in by_line.values() if len(parts) == 2]
    moved_s, computed_s = (sum(parts[name].value for parts in lines) for name in ("moves", "computes"))
    if not lines or not 0 < moved_s <= SMALL_PART_RATIO * (moved_s + computed_s):
        return ()
    shown = [lines[0]["computes"], lines[0]["moves"]]
    return (supports(_PARTS, STRONG, *shown, share_ratio=moved_s / (moved_s + computed_s)),)


def _same_on_a_faster_link(case: Case) -> list[Statement]:
    """A change of link around which two figures stand on one line, before and after, that are the same."""
    return [one for one in case.said("link-changed") if any(_is_unchanged(quote.text) for quote in one.quotes)]


def _is_unchanged(line: str) -> bool:
    found = _BEFORE_AND_AFTER.search(line)
    if found is None:
        return False
    before, after = (float(found[name].replace(",", "")) for name in ("before", "after"))
    return before > 0 and abs(after - before) <= SAME_RATIO * before


def _little_seen(case: Case) -> tuple[Evidence, ...]:
    """The busiest moment of any interface that sar saw, far below the slowest link there is."""
    line = min(line_rates(case), key=lambda one: one[1], default=None)
    busiest = max(case.every(ThroughputRun, tool="sar"), key=lambda one: one.rate_bits_per_s, default=None)
    if not (line and busiest) or busiest.rate_bits_per_s > SMALL_SHARE_RATIO * line[1]:
        return ()
    return (supports(_SHARE, FAIR, busiest, line[0], share_ratio=busiest.rate_bits_per_s / line[1]),)


def _hardly_used(case: Case) -> tuple[Quantity, Link, float] | None:
    """A traffic figure of an interface far below its rate."""
    for line in case.every(Link, lambda one: bool(one.link_rate_bits_per_s)):
        for used in quantities(case, "rate", r"traffic|rx|tx|throughput|usage|utili|bandwidth used|network"):
            share = used.value / (line.link_rate_bits_per_s or 1.0)
            if 0 < share <= SMALL_SHARE_RATIO:
                return used, line, share
    return None


def _hardly_used_as_told(case: Case) -> tuple[Quantity, Record, float] | None:
    """The same where both the link and the traffic during the job stand in words; a benchmark's rate is no traffic."""
    line = max(line_rates(case), key=lambda one: one[1], default=None)
    told = [one for one in quantities(case, "rate", _SHOWN) if not _BENCHMARK.search(one.quotes[0].text if one.quotes else "")]
    used = max((one for one in told if line and 0 < one.value < line[1]), key=lambda one: one.value, default=None)
    return (used, line[0], used.value / line[1]) if line and used and used.value <= SMALL_SHARE_RATIO * line[1] else None


_ANSWERS_LATE = Text(
    en="the host of {server} acknowledged a request after {ack_s}, its program answered after {first_s}: the network had done its part",
    zh="{server} 所在主机 {ack_s} 后就确认了请求，其程序 {first_s} 后才应答：网络已完成其部分",
)
_ALERTED = Text(
    en="a TLS handshake ends with an alert ({alert}): a matter of certificates, names or versions",
    zh="TLS 握手以告警结束（{alert}）：属于证书、名称或版本问题",
)
_NOT_READ = Text(
    en="the program at {reader} did not read for {zero_s}: its window was closed and the sender had to wait",
    zh="{reader} 的程序有 {zero_s} 没有读取：其窗口关闭，发送方只能等待",
)
_SAME = Text(en="another link changed, the throughput did not", zh="换了链路，吞吐没有变化")
_IN_TURN = Text(
    en="the layers are split, so the GPUs work in turn and each is idle part of the time",
    zh="层被切分，GPU 轮流工作，各有部分时间空闲",
)
_UNUSED = Text(en="the network is hardly used, or tested good", zh="网络几乎未用，或测试良好")
_LITTLE = Text(en="there is hardly any traffic", zh="几乎没有流量")
_SHARE = Text(en="traffic is {share_ratio} of the link's rate", zh="流量为链路速率的 {share_ratio}")
_PARTS = Text(en="transfer is {share_ratio} of the time, computing the rest", zh="传输占时间的 {share_ratio}，其余为计算")
_BLAMED = Text(en="the network is suspected", zh="怀疑网络")
_COMPUTE = Text(en="compute is what takes the time", zh="耗时在计算")
_FULL = Text(en="the link is full or communication takes most of the time", zh="链路已满或通信占大部分时间")
_STOPS = Text(
    en="something hangs or dies, which a network that is not the limit does not explain",
    zh="有程序挂起或退出，网络不是瓶颈无法解释",
)
_FAILED = Text(en="something fails", zh="有失败")

RULE = Rule(
    cause="no-fault-not-network-bound",
    title=Text(en="The network is healthy and not the limit", zh="网络健康，并非瓶颈"),
    summary=Text(
        en="Traffic is far below the link's rate; the wait is in the way the work is split or in compute.",
        zh="流量远低于链路速率；等待来自任务切分方式或计算。",
    ),
    needs=(
        (wants(Link, lambda one: one.link_rate_bits_per_s is not None), Quantity),
        (
            wants(
                TcpFlow,
                lambda one: (
                    one.first_byte_max_s is not None
                    or one.tls_alert is not None
                    or one.client.zero_windows_count + one.server.zero_windows_count > 0
                ),
            ),
        ),
        (Statement,),
    ),
    judge=_judge,
    explain=Explain(
        what=Text(
            en="With layers split over n machines and one request at a time, one machine computes while n-1 wait: each GPU shows 1/n, and a token moves only some kilobytes.",
            zh="层分布在 n 台机器且一次一个请求时，一台计算而 n−1 台等待：每个 GPU 显示 1/n，每词元只传几千字节。",
        ),
        shows=Text(
            en="GPU use of 50 % on two nodes, 25 % on four; link use of a few percent; bandwidth tests at line rate.",
            zh="两节点 GPU 50 %，四节点 25 %；链路利用百分之几；带宽测试达线速。",
        ),
        sources=("Huang et al.: GPipe (bubbles)", "llama.cpp tools/rpc/README"),
    ),
    told_apart_from=(
        LookAlike(
            cause="parallel-strategy-comm-bound",
            because=Text(en="there the link is full during the wait", zh="那里等待期间链路是满的"),
        ),
        LookAlike(
            cause="small-message-latency-bound",
            because=Text(en="there round trips, counted per token, explain the time", zh="那里按词元计的往返能解释耗时"),
        ),
    ),
    changes=(
        Change(
            what=Text(
                en="Keep several requests or micro-batches in flight, or use tensor parallel inside a node",
                zh="保持多个请求或微批在途，或在节点内用张量并行",
            ),
            side="both",
        ),
    ),
    checks=(
        Check(
            what=Text(
                en="GPU use rises with requests in flight while link use stays low", zh="GPU 利用随在途请求上升而链路利用仍低"
            ),
            commands=("sar -n DEV 1", "nvidia-smi dmon"),
        ),
    ),
    gain=Text(en="None from the network; up to n times from requests in flight", zh="网络侧无收益；并发在途最多 n 倍"),
    severity="info",
    explains=("parallel-strategy-comm-bound", "small-message-latency-bound", "bandwidth-insufficient", "tcp-single-flow-limit"),
)
