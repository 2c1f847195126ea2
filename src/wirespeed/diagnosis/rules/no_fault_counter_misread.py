"""A counter, a sampler or a capture shows what is not on the wire: refreshed in steps, counted twice, or not keeping up."""

from collections.abc import Iterable
from itertools import pairwise

from wirespeed.diagnosis.joins.line_rate import line_rates
from wirespeed.diagnosis.joins.pieces import ALONE, against, piece
from wirespeed.model.case import Case
from wirespeed.model.facts.host import SoftnetCpu
from wirespeed.model.facts.link import Counter
from wirespeed.model.finding import FAIR, PROVES, STRONG, Change, Check, Evidence, LookAlike, Verdict, supports
from wirespeed.model.kinds import Explain, Rule, wants
from wirespeed.model.measurement import ThroughputRun
from wirespeed.model.settings import Statement
from wirespeed.model.text import Text

BYTES_PER_DATA_COUNT = 4
"""InfiniBand counts port data in units of four bytes (IBTA volume 1, PortXmitData)."""
SAME_RATIO = 0.06
OVER_RATIO, MOST_OVER_RATIO = 1.05, 8.0
"""No interface sends more than its line: a sampler that says so saw a counter that moves in steps, up to as many times as it is faster."""
SLOW_GROWTH_COUNT = 5
"""Frames between two readings: the hellos of neighbours and bridges come every second or slower."""
FEWEST_READINGS_COUNT = 3
_NIC_DROPS = frozenset({"rx_no_buffer", "rx_phy_discard", "rx_dropped", "fcs_errors"})


def _judge(case: Case) -> Verdict:
    evidence: list[Evidence] = []
    impossible = _above_the_line(case)
    if impossible:
        run, share_ratio = impossible
        evidence.append(supports(_STEPS, STRONG, run, share_ratio=share_ratio))
        evidence += piece(_RESAMPLED, FAIR, case.said("longer-sampling-is-smooth"))
    agreed = _port_agrees(case)
    if agreed:
        evidence.append(supports(_AGREES, STRONG, *agreed))
    kernel, nic = _dropped_by_the_kernel_alone(case)
    if kernel:
        evidence += piece(_UNCLAIMED, STRONG if _grows_slowly(kernel) else FAIR, (kernel[-1], *nic[:2]))
        evidence += piece(_HELLOS, FAIR, case.said("link-layer-hellos"))
    evidence += piece(_CAPTURE, FAIR if agreed else ALONE, case.said("capture-misses"))
    if evidence:
        evidence += piece(_FINE, FAIR, case.said("works-anyway"))
    overflowed = case.every(SoftnetCpu, lambda one: one.dropped_count > 0)
    if kernel and not impossible and not agreed:
        evidence += against(_BACKLOG, PROVES, overflowed)
    return Verdict(evidence=tuple(evidence))


def _above_the_line(case: Case) -> tuple[ThroughputRun, float] | None:
    """An interval of sar in which one interface carried more than its line."""
    line = max((rate for _, rate in line_rates(case)), default=None)
    if line is None:
        return None
    runs = case.every(ThroughputRun, lambda one: one.tool == "sar" and OVER_RATIO <= one.rate_bits_per_s / line <= MOST_OVER_RATIO)
    return (runs[0], runs[0].rate_bits_per_s / line) if runs else None


def _port_agrees(case: Case) -> tuple[ThroughputRun, Counter] | None:
    """A throughput test and the port's own data counter that give one rate."""
    for one in case.every(Counter, lambda one: one.name.endswith("_data") and one.is_delta and bool(one.over_s)):
        counted_bits_per_s = 8 * BYTES_PER_DATA_COUNT * one.value_count / (one.over_s or 1.0)
        for run in case.every(ThroughputRun):
            if abs(run.rate_bits_per_s - counted_bits_per_s) <= SAME_RATIO * counted_bits_per_s:
                return run, one
    return None


def _dropped_by_the_kernel_alone(case: Case) -> tuple[list[Counter], list[Counter]]:
    """Drops that the kernel counts at an interface, with the counters of the device that show none."""
    kernel = [one for one in case.every(Counter, name="rx_dropped") if one.source.tool != "ethtool -S" and one.value_count > 0]
    nic = case.every(Counter, lambda one: one.source.tool == "ethtool -S" and one.canonical in _NIC_DROPS)
    overruns = case.every(Counter, lambda one: one.canonical == "rx_no_buffer" and one.value_count > 0)
    clean = [one for one in nic if one.value_count == 0]
    return (kernel, clean) if clean and len(clean) == len(nic) and not overruns else ([], [])


def _grows_slowly(readings: Iterable[Counter]) -> bool:
    """Whether successive readings of one interface grow by a few frames each."""
    by_scope: dict[str, list[int]] = {}
    for one in readings:
        by_scope.setdefault(one.scope, []).append(one.value_count)
    series = max(by_scope.values(), key=len)
    steps = [after - before for before, after in pairwise(series)]
    return len(series) >= FEWEST_READINGS_COUNT and all(0 <= step <= SLOW_GROWTH_COUNT for step in steps)


_STEPS = Text(
    en="an interval shows {share_ratio} of what the line can carry: the counter moves in steps, not the traffic",
    zh="某个间隔显示为线路能力的 {share_ratio}：跳变的是计数器，不是流量",
)
_RESAMPLED = Text(en="over longer intervals it is smooth", zh="较长间隔下是平滑的")
_AGREES = Text(en="the port's own data counter gives the rate of the test", zh="端口自身的数据计数与测试速率一致")
_UNCLAIMED = Text(
    en="the kernel counts dropped frames and the device none: frames that no protocol takes",
    zh="内核有丢弃计数而网卡没有：是无协议接收的帧",
)
_HELLOS = Text(en="neighbours and bridges send such frames at a steady pace", zh="邻居与网桥会以固定节奏发送这类帧")
_CAPTURE = Text(en="a capture in software sees only part of the packets", zh="软件抓包只看到部分数据包")
_FINE = Text(en="traffic itself runs well", zh="流量本身正常")
_BACKLOG = Text(en="the kernel's backlog overflowed, which is real loss", zh="内核积压队列溢出，属于真实丢失")

RULE = Rule(
    cause="no-fault-metric-misread",
    title=Text(en="The counter or the capture is misread, the traffic is well", zh="误读了计数器或抓包，流量正常"),
    summary=Text(
        en="What counts or captures does not keep up, moves in steps, or counts frames nobody wants; the traffic itself is not affected.",
        zh="计数或抓包跟不上、按步跳变，或把无人接收的帧也计入；流量本身不受影响。",
    ),
    needs=(
        (wants(ThroughputRun, lambda one: one.tool == "sar"),),
        (wants(Counter, lambda one: one.source.tool == "ethtool -S" and one.canonical in _NIC_DROPS),),
        (wants(Counter, lambda one: one.name.endswith("_data") and one.is_delta),),
        (wants(Statement, lambda one: one.topic == "capture-misses"),),
    ),
    judge=_judge,
    explain=Explain(
        what=Text(
            en="rx_dropped of the kernel also counts frames of protocols that nothing listens to (LLDP, spanning tree, unknown VLANs); what the NIC itself loses is in rx_missed_errors and ethtool -S. Some drivers fetch byte counters every second or two only, so that a faster sampler sees double and zero. Captures in software lose packets beyond some hundred thousand a second.",
            zh="内核的 rx_dropped 也计入无人监听的协议帧（LLDP、生成树、未知 VLAN）；网卡自身丢失的在 rx_missed_errors 与 ethtool -S 中。某些驱动每一两秒才取一次字节计数，更快的采样会看到双倍与零。软件抓包超过每秒数十万包就会丢包。",
        ),
        shows=Text(
            en="195 % of the line and 0 % in turn; one more drop every two seconds at any load; a capture with a fifth of what the port counted.",
            zh="交替出现线速的 195% 与 0%；任何负载下每两秒多一个丢弃；抓包只有端口计数的五分之一。",
        ),
        sources=(
            "Linux Documentation/networking/statistics.rst: rx_dropped, rx_missed_errors",
            "intel/ethernet-linux-ice#24",
            "linux-rdma/perftest#225",
        ),
    ),
    told_apart_from=(
        LookAlike(
            cause="nic-ring-too-small",
            because=Text(en="there the device's own counters rise with load", zh="那里网卡自身的计数随负载上升"),
        ),
        LookAlike(cause="packet-loss", because=Text(en="real loss shows as retransmissions", zh="真实丢包会表现为重传")),
    ),
    changes=(
        Change(
            what=Text(
                en="Nothing to change; watch the device's own counters, over intervals of two seconds or more",
                zh="无需改动；以两秒或更长间隔观察网卡自身的计数",
            )
        ),
    ),
    checks=(
        Check(
            what=Text(en="The device's drop counters and TCP retransmissions stay flat", zh="网卡丢弃计数与 TCP 重传保持不变"),
            commands=("ethtool -S IFACE | grep -E 'drop|miss|discard'", "nstat -az TcpRetransSegs"),
        ),
    ),
    gain=Text(en="None: nothing is lost", zh="无：没有丢失"),
    severity="info",
    explains=("packet-loss", "pause-frames-throttling", "nic-ring-too-small"),
)
