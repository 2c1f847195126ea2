"""ACS sends traffic between GPUs and NICs up to the root complex instead of straight across."""

from wirespeed.diagnosis.joins.benchmarks import slower_from_gpu
from wirespeed.diagnosis.joins.pieces import against, piece
from wirespeed.model.case import Case
from wirespeed.model.events.nccl import NcclWarning
from wirespeed.model.facts.host import EnvVar, HostIdentity, PciDevice
from wirespeed.model.finding import FAIR, SLIGHT, STRONG, Change, Check, LookAlike, Verdict
from wirespeed.model.kinds import Explain, Rule, wants
from wirespeed.model.measurement import ThroughputRun
from wirespeed.model.settings import Statement
from wirespeed.model.text import Text

_REDIRECTING = {"SrcValid", "ReqRedir", "CmpltRedir", "UpstreamFwd"}
_TOPICS = ("acs-on", "gdr-off-passes", "p2p-off-passes", "peer-access-slower", "peer-data-wrong")
LOCAL_PROTECTION_CODE = 4
"""IBV_WC_LOC_PROT_ERR: the NIC could not reach the memory it was given."""


def _judge(case: Case) -> Verdict:
    on = case.every(PciDevice, lambda one: bool(_REDIRECTING & set(one.acs_flags or ())))
    off = case.every(PciDevice, lambda one: one.acs_flags == ())
    protection = case.every(NcclWarning, lambda one: one.topic == "completion-error" and one.status_code == LOCAL_PROTECTION_CODE)
    hinted = case.every(NcclWarning, lambda one: "ACS" in one.message)
    gdr_off = case.said("gdr-off-passes")
    p2p_off = case.said("p2p-off-passes") + case.every(EnvVar, name="NCCL_P2P_DISABLE", setting="1")
    virtual = case.every(HostIdentity, lambda one: one.virtualisation in ("kvm", "vmware", "microsoft"))
    return Verdict(
        evidence=(
            *piece(_ON, STRONG, on),
            *piece(_HINT, STRONG, hinted),
            *piece(_SAID, STRONG, case.said("acs-on")),
            *piece(_PROTECTION, FAIR, protection),
            *piece(_GDR_OFF, FAIR, gdr_off),
            *piece(_P2P_OFF, SLIGHT, p2p_off),
            *piece(_SLOWER, FAIR, case.said("peer-access-slower")),
            *piece(_FROM_GPU, FAIR, slower_from_gpu(case, by_verbs=True)),
            *piece(_WRONG, FAIR, case.said("peer-data-wrong")),
            *against(_OFF, STRONG, off if not on else ()),
            *against(_VIRTUAL, SLIGHT, virtual),
            *against(_ONE_PAIR, SLIGHT, case.said("pair-specific")),
        )
    )


_ON = Text(en="Access Control Services redirect requests on this bridge", zh="该网桥上访问控制服务（ACS）正在重定向请求")
_HINT = Text(en="NCCL itself hints at ACS", zh="NCCL 自身提示 ACS")
_SAID = Text(en="ACS is reported as on, or switching it off helped", zh="描述提到 ACS 开启，或关闭后有效")
_PROTECTION = Text(
    en="a transfer ended with a local protection error: the NIC could not reach GPU memory; no wire was involved",
    zh="传输以本地保护错误结束：网卡够不到 GPU 内存，与线路无关",
)
_GDR_OFF = Text(en="it passes with GPUDirect RDMA off", zh="关闭 GPUDirect RDMA 后通过")
_P2P_OFF = Text(en="it passes with peer access off", zh="关闭 P2P 后通过")
_SLOWER = Text(en="peer copies are slow, or slower than copies through host memory", zh="对等复制很慢，或比经主机内存更慢")
_FROM_GPU = Text(en="the NIC reads GPU memory far slower than host memory", zh="网卡读取 GPU 显存远慢于主机内存")
_WRONG = Text(en="peer copies deliver wrong data", zh="对等复制得到错误数据")
_OFF = Text(en="ACS is off on the bridges listed", zh="所列网桥的 ACS 已关闭")
_VIRTUAL = Text(en="in a virtual machine ACS is needed and ATS is the cure", zh="虚拟机需要 ACS，应改用 ATS")
_ONE_PAIR = Text(en="only one pair is hit, while ACS concerns all below a bridge", zh="只影响一对，而 ACS 影响网桥下的所有设备")

RULE = Rule(
    cause="pcie-acs-enabled",
    title=Text(en="PCIe ACS stands between GPU and NIC", zh="PCIe ACS 挡在 GPU 与网卡之间"),
    summary=Text(
        en="Access Control Services on the PCIe bridges send peer-to-peer traffic up to the root complex. GPUDirect RDMA and peer copies then fail with protection errors, hang, or run at half speed.",
        zh="PCIe 网桥上的 ACS 把点对点流量绕到根复合体，GPUDirect RDMA 与对等复制因此报保护错误、挂起或只有一半速度。",
    ),
    needs=(
        (wants(PciDevice, lambda one: one.acs_flags is not None),),
        (wants(NcclWarning, lambda one: one.topic == "completion-error" or "ACS" in one.message),),
        (
            wants(ThroughputRun, lambda one: one.memory == "gpu" and one.protocol == "rdma"),
            wants(ThroughputRun, lambda one: one.memory != "gpu" and one.protocol == "rdma"),
        ),
        (wants(Statement, lambda one: one.topic in _TOPICS),),
    ),
    judge=_judge,
    explain=Explain(
        what=Text(
            en="ACS enforces that devices talk through the root complex, where an IOMMU may refuse or slow them.",
            zh="ACS 强制设备经根复合体通信，IOMMU 可能拒绝或拖慢。",
        ),
        shows=Text(
            en="lspci -vvv shows ACSCtl with SrcValid+ or ReqRedir+ on bridges; completion error 4; passes with NCCL_NET_GDR_LEVEL=0.",
            zh="lspci -vvv 网桥上 ACSCtl 含 SrcValid+ 或 ReqRedir+；完成错误 4；NCCL_NET_GDR_LEVEL=0 时通过。",
        ),
        sources=("NCCL GPU troubleshooting guide (PCIe ACS)", "NVIDIA/nccl-tests#252", "NVIDIA/nccl#2079"),
    ),
    told_apart_from=(
        LookAlike(
            cause="gdr-disabled",
            because=Text(en="there GPUDirect is simply not used and nothing fails", zh="彼处 GPUDirect 只是未使用，并不报错"),
        ),
        LookAlike(
            cause="iommu",
            because=Text(
                en="with ACS off and the same symptom, the IOMMU's translation is next", zh="ACS 已关闭而症状仍在，则看 IOMMU 转换"
            ),
        ),
        LookAlike(
            cause="roce-gid-index-wrong",
            because=Text(en="error 12 is a time-out on the wire; error 4 is local", zh="错误 12 是线路超时；错误 4 是本地错误"),
        ),
    ),
    changes=(
        Change(
            what=Text(
                en="Switch ACS off in the firmware, or on every PCIe bridge at boot",
                zh="在固件中关闭 ACS，或启动时在每个 PCIe 网桥上关闭",
            ),
            commands=("for b in $(lspci -D | awk '/PCI bridge/ {{print $1}}'); do setpci -s $b ECAP_ACS+0x6.w=0000; done",),
            risk=Text(
                en="Ends the isolation between devices that virtual machines rely on; not in hypervisors",
                zh="会失去虚拟机依赖的设备隔离；虚拟化主机上不可用",
            ),
        ),
    ),
    checks=(
        Check(
            what=Text(
                en="ACSCtl shows only minus signs, and the job runs with GPUDirect", zh="ACSCtl 全为减号，且任务在 GPUDirect 下运行"
            ),
            commands=("sudo lspci -vvv | grep ACSCtl", "NCCL_DEBUG=INFO all_reduce_perf -b 8 -e 1G -f 2 -g 8"),
        ),
    ),
    gain=Text(en="Failing runs pass; halved peer bandwidth doubles", zh="失败的任务通过；减半的对等带宽恢复"),
    severity="high",
    explains=("gdr-disabled", "collective-timeout-too-short", "nccl-env-override", "packet-loss"),
)
