"""The IOMMU translates every transfer and slows or breaks peer-to-peer traffic."""

from wirespeed.diagnosis.joins.pieces import against, piece
from wirespeed.model.case import Case
from wirespeed.model.events.log import KernelEvent
from wirespeed.model.facts.host import IommuState
from wirespeed.model.finding import FAIR, SLIGHT, STRONG, Change, Check, LookAlike, Verdict
from wirespeed.model.kinds import Explain, Rule, wants
from wirespeed.model.settings import Statement
from wirespeed.model.text import Text


def _judge(case: Case) -> Verdict:
    translating = case.every(IommuState, lambda one: bool(one.is_on) and one.mode == "translated")
    through = case.every(IommuState, lambda one: one.mode == "passthrough" or one.is_on is False)
    faults = case.every(KernelEvent, topic="iommu-fault")
    said = case.said("iommu-on")
    peer = case.said("p2p-off-passes", "gdr-off-passes", "pair-specific")
    return Verdict(
        evidence=(
            *piece(_FAULTS, STRONG, faults),
            *piece(_SAID, STRONG, said),
            *piece(_TRANSLATES, FAIR if peer or faults or said else SLIGHT, translating),
            *piece(_WRONG, FAIR, case.said("peer-data-wrong")),
            *piece(_PEER, SLIGHT, peer if translating or said or faults else ()),
            *against(_THROUGH, STRONG, through),
        )
    )


_FAULTS = Text(en="the kernel reports faults of the IOMMU", zh="内核报告 IOMMU 故障")
_SAID = Text(en="a translating IOMMU, or a cure by iommu=pt, is reported", zh="描述提到 IOMMU 转换，或 iommu=pt 后恢复")
_TRANSLATES = Text(en="the IOMMU is on and translates", zh="IOMMU 已开启且处于转换模式")
_PEER = Text(en="it works without peer-to-peer access", zh="不使用对等访问则正常")
_WRONG = Text(en="peer copies deliver wrong data", zh="对等复制得到错误数据")
_THROUGH = Text(en="the IOMMU is off or passes through", zh="IOMMU 已关闭或为直通模式")

RULE = Rule(
    cause="iommu",
    title=Text(en="The IOMMU translates device traffic", zh="IOMMU 正在转换设备流量"),
    summary=Text(
        en="With the IOMMU in translating mode each transfer is looked up, and traffic between devices may be refused. Peer copies hang or crawl, and fast NICs spend CPU on mappings.",
        zh="IOMMU 处于转换模式时每次传输都要查表，设备间流量可能被拒绝；对等复制挂起或极慢，高速网卡把 CPU 花在映射上。",
    ),
    needs=(
        (wants(IommuState, lambda one: one.mode is not None or one.is_on is not None),),
        (wants(KernelEvent, lambda one: one.topic == "iommu-fault"),),
        (wants(Statement, lambda one: one.topic in ("iommu-on", "peer-data-wrong")),),
    ),
    judge=_judge,
    explain=Explain(
        what=Text(
            en="iommu=pt maps devices one to one and keeps isolation for guests only.",
            zh="iommu=pt 使设备一对一映射，仅对虚拟机保留隔离。",
        ),
        shows=Text(
            en="/proc/cmdline without iommu=pt while /sys/class/iommu is filled; DMAR faults; data corruption or hangs in peer tests.",
            zh="/proc/cmdline 无 iommu=pt 而 /sys/class/iommu 非空；DMAR 故障；对等测试数据错误或挂起。",
        ),
        sources=("NCCL GPU troubleshooting guide", "coreos/bugs#1275", "NVIDIA/nccl#1737"),
    ),
    told_apart_from=(
        LookAlike(
            cause="pcie-acs-enabled",
            because=Text(
                en="ACS is a bridge setting seen in lspci; the IOMMU is a kernel mode seen in the command line",
                zh="ACS 是 lspci 可见的网桥设置；IOMMU 是内核命令行可见的模式",
            ),
        ),
        LookAlike(
            cause="nvlink-missing",
            because=Text(en="one bad pair is a link, all pairs are the IOMMU", zh="一对坏是链路，全部坏是 IOMMU"),
        ),
    ),
    changes=(
        Change(
            what=Text(
                en="Boot with the IOMMU in pass-through mode, or off where no guests run",
                zh="以直通模式启动 IOMMU，无虚拟机时可关闭",
            ),
            commands=("grubby --update-kernel=ALL --args='iommu=pt'",),
            risk=Text(en="Needs a reboot and ends isolation between devices", zh="需重启，并失去设备间隔离"),
        ),
    ),
    checks=(
        Check(
            what=Text(
                en="The command line shows iommu=pt and the peer test is right and fast", zh="命令行含 iommu=pt，对等测试正确且快"
            ),
            commands=("cat /proc/cmdline", "p2pBandwidthLatencyTest"),
        ),
    ),
    gain=Text(en="Peer transfers work, and reach PCIe speed", zh="对等传输可用并达到 PCIe 速度"),
    severity="high",
)
