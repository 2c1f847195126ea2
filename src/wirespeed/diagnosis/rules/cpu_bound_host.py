"""One CPU core does all the network work and is full."""

import re

from wirespeed.diagnosis.joins.pieces import against, lines_of, piece
from wirespeed.model.case import Case
from wirespeed.model.facts.host import ProcessUse, SoftirqCpu, SoftnetCpu
from wirespeed.model.facts.link import LinkOffload
from wirespeed.model.finding import FAIR, SLIGHT, STRONG, Change, Check, LookAlike, Verdict
from wirespeed.model.kinds import Explain, Rule, wants
from wirespeed.model.measurement import ThroughputRun
from wirespeed.model.settings import Statement
from wirespeed.model.text import Text

_CLIENT = re.compile(r"(?i)\b(?:clients?|scripts?|bench\w*|locust|wrk|hey|load (?:generator|tester)|tester|guidellm)\b")
"""A full core of the program that measures limits the measurement, not the host's path."""
FULL_RATIO = 0.9
DOMINANT_RATIO = 0.7
"""One CPU with more than 70 % of the network softirqs while there are four or more."""


def _judge(case: Case) -> Verdict:
    full = case.every(ProcessUse, lambda one: (one.cpu_ratio or 0.0) >= FULL_RATIO and ("softirq" in one.subject or one.is_core))
    busy = case.every(SoftirqCpu, lambda one: (one.busy_ratio or 0.0) >= FULL_RATIO)
    squeezed = case.every(
        SoftnetCpu,
        lambda one: one.squeezed_count > 0 and one.processed_count > 0 and one.squeezed_count > one.processed_count / 1000,
    )
    sender = case.every(ThroughputRun, lambda one: max(one.cpu_local_ratio or 0.0, one.cpu_remote_ratio or 0.0) >= FULL_RATIO)
    no_gro = case.every(LinkOffload, lambda one: one.feature == "generic-receive-offload" and not one.is_on)
    said = case.said("one-core-full")
    of_client = bool(said) and all(_CLIENT.search(line) for line in lines_of(said))
    return Verdict(
        evidence=(
            *piece(_FULL, STRONG, full + busy),
            *piece(_SENDER, FAIR, sender),
            *piece(_SQUEEZED, SLIGHT, squeezed),
            *piece(_NO_GRO, FAIR, no_gro),
            *piece(_SAID, FAIR if of_client else STRONG, said),
            *piece(_IDLE, SLIGHT, case.said("others-idle") if said or full or busy else ()),
            *against(_SPREAD, FAIR, _spread(case)),
            *against(_INTERRUPTS, FAIR, case.said("interrupts-on-one-cpu")),
        )
    )


def _spread(case: Case) -> tuple[SoftirqCpu, ...]:
    """The CPUs, when four or more share the softirqs evenly."""
    counted = case.every(SoftirqCpu, lambda one: one.net_rx_count is not None)
    total = sum(one.net_rx_count or 0 for one in counted)
    if len(counted) < 4 or not total:
        return ()
    return counted if max(one.net_rx_count or 0 for one in counted) < DOMINANT_RATIO * total / 2 else ()


_FULL = Text(en="one core is full", zh="有一个核已满")
_SENDER = Text(en="the test program used a whole core at one end", zh="测试程序在一端占满一个核")
_SQUEEZED = Text(en="the kernel ran out of its budget while packets waited", zh="仍有包等待时内核用尽了处理预算")
_NO_GRO = Text(en="receive offload is off, so every frame costs CPU", zh="接收卸载关闭，每帧都消耗 CPU")
_SAID = Text(en="a full core is reported", zh="描述提到某核已满")
_IDLE = Text(en="the other cores idle", zh="其他核空闲")
_SPREAD = Text(en="network work is spread over the CPUs", zh="网络处理分散在各 CPU")
_INTERRUPTS = Text(
    en="interrupts on one CPU are reported: spreading them is the first step", zh="描述提到中断集中于一个 CPU：应先分散中断"
)

RULE = Rule(
    cause="cpu-bound-host",
    title=Text(en="One CPU core limits the network path", zh="一个 CPU 核限制了网络路径"),
    summary=Text(
        en="A single core handles the packets (or the program's only thread) and is full, while the link and the other cores have room.",
        zh="单个核处理所有包（或程序的唯一线程）且已满，而链路与其他核仍有余量。",
    ),
    needs=(
        (ProcessUse,),
        (wants(SoftirqCpu, lambda one: one.busy_ratio is not None or one.net_rx_count is not None),),
        (wants(ThroughputRun, lambda one: one.cpu_local_ratio is not None),),
        (wants(LinkOffload, lambda one: one.feature == "generic-receive-offload"),),
        (wants(Statement, lambda one: one.topic == "one-core-full"),),
    ),
    judge=_judge,
    explain=Explain(
        what=Text(
            en="One flow is handled by one core; without offloads about a million packets per second fill it.",
            zh="一条流由一个核处理；无卸载时约每秒百万包即占满。",
        ),
        shows=Text(
            en="ksoftirqd or one thread at 100 %, P99 rising with load while average CPU is low.",
            zh="ksoftirqd 或某线程 100%，平均 CPU 低而 P99 随负载上升。",
        ),
        sources=("Linux scaling.rst", "ENA Linux best practices", "Aquantia/AQtion#25 (offloads off: a third of the rate)"),
    ),
    told_apart_from=(
        LookAlike(
            cause="irq-affinity",
            because=Text(
                en="there spreading the interrupts cures it; a single flow cannot be spread", zh="彼处分散中断即可；单流无法分散"
            ),
        ),
        LookAlike(
            cause="client-bound-benchmark",
            because=Text(en="there the full core belongs to the test tool", zh="彼处满载的核属于测试工具"),
        ),
        LookAlike(
            cause="cpu-cfs-throttling",
            because=Text(en="there the container is held back while its host is idle", zh="彼处容器受限而主机空闲"),
        ),
    ),
    changes=(
        Change(
            what=Text(
                en="More flows, offloads on (GRO, TSO), receive packet steering on local cores",
                zh="增加流、开启卸载（GRO、TSO）、在本地核上启用接收包导向",
            ),
            commands=("ethtool -K IFACE gro on tso on", "ethtool -L IFACE combined N"),
        ),
        Change(what=Text(en="Several worker processes instead of one thread", zh="用多个工作进程代替单线程"), side="serving"),
    ),
    checks=(
        Check(what=Text(en="No core above 80 % at the same load", zh="相同负载下没有核超过 80%"), commands=("mpstat -P ALL 1 5",)),
    ),
    gain=Text(en="Up to the number of cores that can share the work", zh="最多为可分担的核数倍"),
    severity="medium",
)
