"""All interrupts of a NIC are served by one CPU, or a few."""

from wirespeed.diagnosis.joins.pieces import against, piece
from wirespeed.model.case import Case
from wirespeed.model.facts.host import Interrupt, SoftirqCpu, SoftnetCpu
from wirespeed.model.facts.link import LinkChannels
from wirespeed.model.finding import FAIR, SLIGHT, STRONG, Change, Check, LookAlike, Verdict
from wirespeed.model.kinds import Explain, Rule, wants
from wirespeed.model.record import Record
from wirespeed.model.settings import Statement
from wirespeed.model.text import Text

DOMINANT_RATIO = 0.9
"""One CPU with nine tenths of all network interrupts, of at least four CPUs."""
BUSY_INTERRUPTS_COUNT = 100_000
"""Fewer interrupts than this in all say nothing."""
_QUEUE_WORDS = (
    "rx",
    "tx",
    "input",
    "output",
    "comp",
    "mlx5",
    "ens",
    "eth",
    "enp",
    "ena",
    "ice-",
    "i40e",
    "ixgbe",
    "bnxt",
    "virtio",
)


def _judge(case: Case) -> Verdict:
    one_cpu = _on_one_cpu(case)
    softirq = _dominant_softirq(case)
    dropping = case.every(SoftnetCpu, lambda one: one.dropped_count > 0)
    single = case.every(LinkChannels, lambda one: bool(one.combined_count == 1 and (one.combined_max_count or 1) > 1))
    said = case.said("interrupts-on-one-cpu")
    return Verdict(
        evidence=(
            *piece(_ONE, STRONG + SLIGHT, one_cpu),
            *piece(_SOFTIRQ, STRONG, softirq),
            *piece(_SINGLE, FAIR, single),
            *piece(_DROPPING, SLIGHT, dropping),
            *piece(_SAID, STRONG if not one_cpu else FAIR, said),
            *piece(_IDLE, SLIGHT, case.said("others-idle") if one_cpu or said or softirq else ()),
            *against(_SPREAD, FAIR, _spread(case) if not one_cpu else ()),
        )
    )


def _network(case: Case) -> tuple[Interrupt, ...]:
    return case.every(
        Interrupt, lambda one: len(one.per_cpu_counts) >= 4 and any(word in one.name.lower() for word in _QUEUE_WORDS)
    )


def _totals(queues: tuple[Interrupt, ...]) -> list[int]:
    width = max((len(one.per_cpu_counts) for one in queues), default=0)
    return [sum(one.per_cpu_counts[cpu] for one in queues if cpu < len(one.per_cpu_counts)) for cpu in range(width)]


def _on_one_cpu(case: Case) -> tuple[Record, ...]:
    queues = _network(case)
    totals = _totals(queues)
    total = sum(totals)
    return queues if total >= BUSY_INTERRUPTS_COUNT and max(totals) >= DOMINANT_RATIO * total else ()


def _spread(case: Case) -> tuple[Record, ...]:
    queues = _network(case)
    totals = _totals(queues)
    total = sum(totals)
    return queues if total >= BUSY_INTERRUPTS_COUNT and max(totals) < 0.5 * total else ()


def _dominant_softirq(case: Case) -> tuple[Record, ...]:
    counted = case.every(SoftirqCpu, lambda one: one.net_rx_count is not None)
    total = sum(one.net_rx_count or 0 for one in counted)
    if len(counted) < 4 or total < BUSY_INTERRUPTS_COUNT:
        return ()
    return tuple(one for one in counted if (one.net_rx_count or 0) >= DOMINANT_RATIO * total)


_ONE = Text(en="nearly all interrupts of the queues are counted on one CPU", zh="队列中断几乎全部计在一个 CPU 上")
_SOFTIRQ = Text(en="one CPU does nearly all network softirqs", zh="一个 CPU 处理了几乎全部网络软中断")
_SINGLE = Text(en="the NIC uses one queue of several", zh="网卡只用了多个队列中的一个")
_DROPPING = Text(en="a CPU's backlog dropped packets", zh="某 CPU 的积压队列丢弃了包")
_SAID = Text(en="interrupts on one CPU, or missing interrupt spreading, are reported", zh="描述提到中断集中于一个 CPU 或未分散")
_IDLE = Text(en="the other CPUs idle", zh="其他 CPU 空闲")
_SPREAD = Text(en="interrupts are spread over the CPUs", zh="中断分散在各 CPU 上")

RULE = Rule(
    cause="irq-affinity",
    title=Text(en="The NIC's interrupts meet on one CPU", zh="网卡中断集中在一个 CPU"),
    summary=Text(
        en="All receive queues interrupt the same CPU; bursts overflow it while the machine looks idle on average.",
        zh="所有接收队列都中断同一个 CPU；突发时它溢出，而整机平均看似空闲。",
    ),
    needs=(
        (wants(Interrupt, lambda one: len(one.per_cpu_counts) >= 4),),
        (wants(SoftirqCpu, lambda one: one.net_rx_count is not None),),
        (wants(LinkChannels, lambda one: one.combined_count is not None),),
        (wants(Statement, lambda one: one.topic == "interrupts-on-one-cpu"),),
    ),
    judge=_judge,
    explain=Explain(
        what=Text(
            en="Without irqbalance or a set affinity, interrupts stay where the driver put them, often CPU 0.",
            zh="没有 irqbalance 或设置亲和性时，中断停留在驱动放置处，常为 CPU 0。",
        ),
        shows=Text(
            en="/proc/interrupts counts in one column only; time_squeeze and drops of one CPU in softnet_stat.",
            zh="/proc/interrupts 只有一列有计数；softnet_stat 中某 CPU 有 time_squeeze 与丢弃。",
        ),
        sources=("Linux scaling.rst", "ENA Linux best practices", "coreos/bugs#2135"),
    ),
    told_apart_from=(
        LookAlike(
            cause="cpu-bound-host",
            because=Text(
                en="there one flow or one thread fills a core although interrupts are spread",
                zh="彼处中断已分散，但单流或单线程占满一个核",
            ),
        ),
        LookAlike(
            cause="nic-ring-too-small",
            because=Text(en="a bigger ring only hides a late CPU", zh="更大的环只会掩盖来不及处理的 CPU"),
        ),
    ),
    changes=(
        Change(
            what=Text(
                en="Spread the queues over the NIC's local CPUs, or run irqbalance; use more queues",
                zh="把队列分散到网卡本地 CPU，或运行 irqbalance；使用更多队列",
            ),
            commands=("systemctl enable --now irqbalance", "ethtool -L IFACE combined N"),
        ),
        Change(
            what=Text(en="Where the NIC has few queues, receive packet steering", zh="网卡队列少时使用接收包导向"),
            commands=("echo MASK > /sys/class/net/IFACE/queues/rx-0/rps_cpus",),
        ),
    ),
    checks=(
        Check(
            what=Text(en="The busiest CPU takes less than twice its fair share", zh="最忙 CPU 低于平均份额的两倍"),
            commands=("grep IFACE /proc/interrupts", "cat /proc/net/softnet_stat"),
        ),
    ),
    gain=Text(en="Burst loss ends; large for small packets", zh="突发丢包消失；小包场景收益大"),
    severity="medium",
    explains=("nic-ring-too-small", "packet-loss", "cpu-bound-host"),
)
