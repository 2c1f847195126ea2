"""The NIC shows its nominal rates and delivers a fraction: its firmware or power state caps it."""

from wirespeed.diagnosis.joins.pieces import against, piece
from wirespeed.model.case import Case
from wirespeed.model.events.log import KernelEvent
from wirespeed.model.facts.fabric import DeviceHealth
from wirespeed.model.facts.host import PciDevice
from wirespeed.model.facts.link import Link
from wirespeed.model.facts.rdma import RdmaPort
from wirespeed.model.finding import FAIR, SLIGHT, STRONG, Change, Check, LookAlike, Verdict
from wirespeed.model.kinds import Explain, Rule, wants
from wirespeed.model.measurement import ThroughputRun
from wirespeed.model.record import Record
from wirespeed.model.settings import Statement
from wirespeed.model.text import Text

FAR_BELOW_RATIO = 0.35
"""A many-flow test below about a third of the port's rate, without an error counter, is a cap and not congestion."""
_EVENTS = ("firmware-dead", "firmware-timeout", "tx-timeout", "pcie-power")
SAME_RATIO = 0.15
"""Two transports within 15 % of each other meet the same limit."""


def _judge(case: Case) -> Verdict:
    capped = _far_below_port(case)
    same = _same_cap(case)
    downgraded = case.every(PciDevice, lambda one: one.is_downgraded is True)
    dead = case.every(KernelEvent, lambda one: one.topic in _EVENTS)
    ill = case.every(DeviceHealth, state="error")
    recovered = case.every(DeviceHealth, lambda one: one.reporter.startswith("fw") and (one.errors_count or 0) > 0)
    said_same, twin, power = case.said("same-cap-everywhere"), case.said("healthy-twin"), case.said("power-cycle-cures")
    clean = case.said("no-drops-anywhere")
    is_capped = bool(capped or same or said_same)
    return Verdict(
        evidence=(
            *piece(_DEAD, STRONG, dead),
            *piece(_ILL, STRONG, ill),
            *piece(_RECOVERED, SLIGHT, recovered if not ill else ()),
            *piece(_CAPPED, FAIR, capped),
            *piece(_SAME, FAIR, same + said_same),
            *piece(_TWIN, FAIR if is_capped else SLIGHT, twin),
            *piece(_CLEAN, SLIGHT, clean if is_capped else ()),
            *piece(_POWER, FAIR if is_capped or twin else SLIGHT, power),
            *against(_NARROW, FAIR, downgraded),
        )
    )


def _far_below_port(case: Case) -> tuple[Record, ...]:
    """A port and tests that all stay far below its rate."""
    ports: tuple[RdmaPort | Link, ...] = (
        *case.every(RdmaPort, lambda one: one.state in (None, "active") and one.link_rate_bits_per_s is not None),
        *case.every(Link, lambda one: one.link_rate_bits_per_s is not None),
    )
    runs = _runs(case)
    if not ports or not runs:
        return ()
    port = max(ports, key=lambda one: one.link_rate_bits_per_s or 0.0)
    best = max(runs, key=lambda one: one.rate_bits_per_s)
    return (port, best) if best.rate_bits_per_s < FAR_BELOW_RATIO * (port.link_rate_bits_per_s or 0.0) else ()


def _same_cap(case: Case) -> tuple[Record, ...]:
    """TCP and RDMA tests that stop at the same rate."""
    runs = _runs(case)
    tcp = [one for one in runs if one.protocol != "rdma"]
    rdma = [one for one in runs if one.protocol == "rdma"]
    if not tcp or not rdma:
        return ()
    first, second = (max(group, key=lambda one: one.rate_bits_per_s) for group in (tcp, rdma))
    gap = abs(first.rate_bits_per_s - second.rate_bits_per_s) / max(first.rate_bits_per_s, second.rate_bits_per_s)
    return (first, second) if gap <= SAME_RATIO else ()


def _runs(case: Case) -> tuple[ThroughputRun, ...]:
    return case.every(ThroughputRun, lambda one: one.role != "interval" and one.protocol != "udp" and one.rate_bits_per_s > 0)


_ILL = Text(en="a health reporter of the device is in error", zh="设备的健康上报器处于错误状态")
_RECOVERED = Text(en="the firmware failed before and recovered", zh="固件曾出错并恢复")
_DEAD = Text(en="the driver reports a firmware or power fault of the NIC", zh="驱动报告网卡固件或供电故障")
_CAPPED = Text(en="every test stays below a third of the port's rate", zh="所有测试都低于端口速率的三分之一")
_SAME = Text(en="TCP and RDMA stop at the same rate", zh="TCP 与 RDMA 停在同一速率")
_TWIN = Text(en="an equal machine does far better", zh="同样的机器快得多")
_CLEAN = Text(en="no error or drop is counted", zh="没有错误或丢包计数")
_POWER = Text(en="a power or firmware state of the NIC is spoken of", zh="描述提到网卡的供电或固件状态")
_NARROW = Text(en="the PCIe link itself is downgraded", zh="PCIe 链路本身已降级")

RULE = Rule(
    cause="nic-firmware-state",
    title=Text(en="The NIC is capped by its firmware or power state", zh="网卡被固件或供电状态限速"),
    summary=Text(
        en="Port and PCIe read right and counters are clean, yet every transport stops at the same fraction of the rate: the NIC itself came up in a limited state.",
        zh="端口与 PCIe 读数正确、计数干净，但每种传输都停在同一比例：网卡自身处于受限状态。",
    ),
    needs=(
        (ThroughputRun, wants(RdmaPort, lambda one: one.link_rate_bits_per_s is not None)),
        (ThroughputRun, wants(Link, lambda one: one.link_rate_bits_per_s is not None)),
        (wants(KernelEvent, lambda one: one.topic in _EVENTS),),
        (DeviceHealth,),
        (wants(Statement, lambda one: one.topic in ("same-cap-everywhere", "power-cycle-cures", "healthy-twin")),),
    ),
    judge=_judge,
    explain=Explain(
        what=Text(
            en="After a hot plug, a brown-out or a failed update a NIC may run a power- or clock-limited mode that no standard counter shows.",
            zh="热插拔、掉电或更新失败后，网卡可能进入功率或时钟受限模式，标准计数器不显示。",
        ),
        shows=Text(
            en="Full negotiated rate, clean counters, one flat cap for all tests; a twin is fine; a full power cycle cures it.",
            zh="协商速率正常、计数干净、所有测试同一上限；同型机正常；彻底断电后恢复。",
        ),
        sources=("NVIDIA/dgx-spark-playbooks#108", "NVIDIA/NVSentinel syslog patterns (health compromised)"),
    ),
    told_apart_from=(
        LookAlike(
            cause="pcie-link-degraded",
            because=Text(en="there lspci shows fewer lanes or a lower generation", zh="彼处 lspci 显示通道少或代数低"),
        ),
        LookAlike(
            cause="link-speed-lower-than-assumed",
            because=Text(en="there the port itself negotiated less", zh="彼处端口协商速率就低"),
        ),
        LookAlike(cause="tcp-single-flow-limit", because=Text(en="there RDMA or more flows go faster", zh="彼处 RDMA 或多流更快")),
    ),
    changes=(
        Change(
            what=Text(
                en="Full power cycle (not a warm reboot); then update or reset the firmware",
                zh="彻底断电重启（非热重启）；再更新或重置固件",
            ),
            commands=("mlxfwreset -d DEVICE reset",),
            risk=Text(en="Takes the machine out of service", zh="机器需下线"),
        ),
    ),
    checks=(
        Check(
            what=Text(en="A bandwidth preflight reaches 0.9 of the port", zh="带宽预检达到端口的 0.9"),
            commands=("ib_write_bw -d DEVICE --report_gbits PEER",),
        ),
    ),
    gain=Text(en="Back to the port's rate", zh="恢复端口速率"),
    severity="high",
    explains=("link-speed-lower-than-assumed", "cpu-bound-host"),
)
