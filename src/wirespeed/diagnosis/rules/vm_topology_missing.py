"""The guest does not see the real PCIe tree, so NCCL plans with a flat or bogus one."""

from wirespeed.diagnosis.joins.pieces import piece
from wirespeed.model.case import Case
from wirespeed.model.events.nccl import NcclTopoNode
from wirespeed.model.facts.gpu import DevicePath
from wirespeed.model.facts.host import EnvVar, HostIdentity
from wirespeed.model.finding import FAIR, SLIGHT, STRONG, Change, Check, LookAlike, Verdict
from wirespeed.model.kinds import Explain, Rule, wants
from wirespeed.model.settings import Statement
from wirespeed.model.text import Text

_SLOW_PCI_BYTES_PER_S = 1e9
_HYPERVISORS = {"kvm", "qemu", "vmware", "microsoft", "xen", "hyperv", "hyper-v", "oracle", "amazon"}


def _judge(case: Case) -> Verdict:
    guest = (
        *case.every(HostIdentity, lambda one: (one.virtualisation or "").lower() in _HYPERVISORS),
        *case.said("virtual-machine"),
    )
    slow = case.every(
        NcclTopoNode,
        lambda one: 0 < (one.bandwidth_bytes_per_s or 0) < _SLOW_PCI_BYTES_PER_S and (one.link or "").startswith("PCI"),
    )
    flat = _all_alike(case)
    evidence = (
        *piece(_GUEST, SLIGHT, guest if slow or flat or case.said("slower-than-bare-metal") else ()),
        *piece(_SLOW, FAIR, slow),
        *piece(_FLAT, STRONG if guest else SLIGHT, flat),
        *piece(_BARE_METAL, FAIR, case.said("slower-than-bare-metal") if guest else ()),
        *piece(_SAID_FLAT, FAIR + SLIGHT, case.said("topology-flat") if guest and not flat else ()),
        *piece(_FILE_HELPS, FAIR + SLIGHT, case.said("topology-file-helps")),
        *piece(_NO_FILE, SLIGHT, case.every(EnvVar, name="NCCL_TOPO_FILE", setting=None) if guest else ()),
    )
    return Verdict(evidence=evidence)


def _all_alike(case: Case) -> tuple[DevicePath, ...]:
    """GPU-NIC paths that all read PHB, or all SYS: no switch is visible between any of them."""
    paths = case.every(DevicePath, lambda one: one.near.startswith("GPU") and (one.far.startswith(("NIC", "mlx"))))
    classes = {one.path_class for one in paths}
    return paths if len(paths) >= 4 and classes in ({"PHB"}, {"SYS"}) else ()


_GUEST = Text(en="the machine is a virtual guest", zh="该机器是虚拟机")
_SLOW = Text(
    en="NCCL sees a PCIe bridge below 1 GB/s, as virtual bridges report", zh="NCCL 看到低于 1 GB/s 的 PCIe 桥，这是虚拟桥上报的值"
)
_FLAT = Text(
    en="every GPU is equally far from every NIC: no PCIe switch is visible", zh="每个 GPU 到每块网卡距离相同：看不到 PCIe 交换芯片"
)
_BARE_METAL = Text(en="the same hardware is faster on bare metal", zh="同样硬件在裸机上更快")
_SAID_FLAT = Text(en="all GPUs are said to be equally far from all NICs", zh="据称所有 GPU 到所有网卡距离相同")
_FILE_HELPS = Text(
    en="giving NCCL the topology, or raising the GDR level, restores the rate", zh="向 NCCL 提供拓扑或提高 GDR 级别后速率恢复"
)
_NO_FILE = Text(en="no topology file makes up for it", zh="没有拓扑文件来弥补")

RULE = Rule(
    cause="vm-topology-missing",
    title=Text(en="The guest hides the real PCIe topology from NCCL", zh="虚拟机向 NCCL 隐藏了真实 PCIe 拓扑"),
    summary=Text(
        en="Passed-through GPUs and NICs hang off virtual bridges, so NCCL cannot pair them, and GPUDirect stays off or goes the long way.",
        zh="直通的 GPU 与网卡挂在虚拟桥下，NCCL 无法配对，GPUDirect 关闭或绕远路。",
    ),
    needs=((NcclTopoNode,), (wants(DevicePath, lambda one: one.far.startswith(("NIC", "mlx"))),), (Statement,)),
    judge=_judge,
    explain=Explain(
        what=Text(
            en="NCCL takes distances from sysfs; a hypervisor shows one flat bus with link speeds that mean nothing.",
            zh="NCCL 从 sysfs 取距离；虚拟机监控器只给出一条平坦总线，链路速率没有意义。",
        ),
        shows=Text(
            en="nvidia-smi topo -m prints PHB (or SYS) in every GPU-NIC cell; the dump shows PCI[0.2]; no GDRDMA in channel lines.",
            zh="nvidia-smi topo -m 的 GPU-网卡格全是 PHB（或 SYS）；拓扑输出有 PCI[0.2]；通道行没有 GDRDMA。",
        ),
        sources=(
            "NVIDIA/nccl-tests#256",
            "NCCL user guide: NCCL_TOPO_FILE, virtual machines",
        ),
    ),
    told_apart_from=(
        LookAlike(
            cause="nccl-topo-file-wrong",
            because=Text(en="there a file is given and is itself wrong", zh="彼处给了文件而文件本身有误"),
        ),
        LookAlike(
            cause="pcie-acs-enabled",
            because=Text(en="there the tree is visible and peer traffic is redirected", zh="彼处树可见，但对等流量被重定向"),
        ),
    ),
    changes=(
        Change(
            what=Text(en="Give NCCL the host's topology as XML", zh="把主机拓扑以 XML 提供给 NCCL"),
            commands=("export NCCL_TOPO_FILE=/etc/nccl/host-topology.xml",),
        ),
        Change(
            what=Text(
                en="Expose a matching PCIe hierarchy in the guest (one virtual switch per physical one) and enable ATS for GPUDirect",
                zh="在虚拟机中呈现相同的 PCIe 层级（每个物理交换芯片对应一个虚拟交换），并为 GPUDirect 启用 ATS",
            )
        ),
    ),
    checks=(
        Check(
            what=Text(
                en="NIC and GPU of a pair are PIX or PXB apart in NCCL's dump", zh="NCCL 输出中配对的网卡与 GPU 距离为 PIX 或 PXB"
            ),
            commands=("NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=GRAPH ...",),
        ),
    ),
    gain=Text(en="Near bare-metal bandwidth", zh="接近裸机带宽"),
    severity="high",
    explains=("gdr-disabled",),
)
