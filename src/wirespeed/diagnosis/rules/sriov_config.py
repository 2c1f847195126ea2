"""An SR-IOV virtual function exists but is not set up for use."""

import re

from wirespeed.diagnosis.joins.pieces import configured, is_setting_named, piece
from wirespeed.model.case import Case
from wirespeed.model.facts.cluster import ClusterEvent
from wirespeed.model.facts.rdma import RdmaPort
from wirespeed.model.finding import FAIR, SLIGHT, STRONG, Change, Check, Evidence, LookAlike, Verdict
from wirespeed.model.kinds import Explain, Rule, wants
from wirespeed.model.settings import Setting, Statement
from wirespeed.model.text import Text

_VF = r"sriov|sr_iov|num_?vfs|total_?vfs|vf_|^vf"
_STATE = r"sync_status$|sync_state$|last_sync_error$"
_OFFERED = r"^allocatable_.*(?:sriov|rdma|mlnx|hostdev|roce|_vf|_ib)"
_DEVICE = re.compile(r"(?i)Insufficient \S*(?:sriov|rdma|mlnx|hostdev|roce|/ib|_vf)")
"""Resources by which device plug-ins offer virtual functions or shared RDMA devices; the name after the slash is the operator's choice."""
_OF_A_VF = re.compile(r"(?i)sr-?iov|\bvf\b|virtual function|pci addr(?:ess)? is required")
_FAILED = re.compile(r"(?i)fail|error|cannot|unable|invalid")


def _judge(case: Case) -> Verdict:
    evidence: list[Evidence] = []
    evidence += piece(_UNSET, STRONG, case.said("sriov-unset"))
    none = [
        one.record
        for one in configured(case, r"num_?vfs|rdma.*vf|sriov.*(allocatable|capacity)")
        if one.setting.strip().strip('"') == "0"
    ]
    evidence += piece(_NONE, FAIR, none)
    wanted = [one.record for one in configured(case, _VF)]
    evidence += piece(
        _NOT_APPLIED, FAIR, [one.record for one in configured(case, _STATE) if wanted and _FAILED.search(one.setting)]
    )
    offered = configured(case, _OFFERED)
    evidence += piece(_NOT_OFFERED, FAIR, [one.record for one in offered if one.setting.strip() == "0"])
    evidence += piece(_REFUSED, STRONG, case.every(ClusterEvent, _is_about_a_vf))
    evidence += piece(
        _INSUFFICIENT,
        FAIR,
        case.every(ClusterEvent, lambda one: one.reason == "FailedScheduling" and _DEVICE.search(one.message) is not None),
    )
    link_state = configured(case, r"sriov_link_state$")
    evidence += piece(_DISABLED, STRONG, [one.record for one in link_state if one.setting.strip("\"' ") == "disable"])
    evidence += piece(_INACTIVE, FAIR, [one.record for one in configured(case, r"^vf_state$") if one.setting == "inactive"])
    evidence += piece(_NO_ADDRESS, SLIGHT, [one.record for one in configured(case, r"^vf_address$") if not one.setting.strip("0:")])
    virtual = case.said("sriov")
    down = case.every(RdmaPort, lambda one: one.state == "down" or one.physical_state in ("disabled", "polling"))
    if virtual:
        evidence += piece(_DOWN, FAIR, down)
        evidence += piece(_NAMED, SLIGHT, virtual)
    return Verdict(evidence=tuple(evidence))


def _is_about_a_vf(event: ClusterEvent) -> bool:
    """An event by which a pod was refused its virtual function."""
    return event.is_warning is not False and event.reason.startswith("Failed") and _OF_A_VF.search(event.message) is not None


_REFUSED = Text(en="the pod's network could not be made: its virtual function is refused", zh="Pod 网络创建失败：其虚拟功能被拒绝")
_INSUFFICIENT = Text(en="no node has the network device that the pod asks for", zh="没有节点能提供 Pod 所请求的网络设备")
_NOT_OFFERED = Text(en="a node offers none of its RDMA or virtual network devices", zh="节点未提供任何 RDMA 或虚拟网络设备")
_DISABLED = Text(en="the link of the virtual function is set to disabled", zh="虚拟功能的链路被设为禁用")
_INACTIVE = Text(en="a function of the adapter is not activated", zh="网卡的某个功能未激活")
_NO_ADDRESS = Text(en="a virtual function has no hardware address", zh="虚拟功能没有硬件地址")
_UNSET = Text(en="a setting of the virtual function is missing or off", zh="虚拟功能的某项设置缺失或关闭")
_NONE = Text(en="no virtual functions are made or offered", zh="没有创建或提供虚拟功能")
_NOT_APPLIED = Text(en="the operator could not apply the virtual functions that are asked for", zh="算子未能应用所请求的虚拟功能")
_DOWN = Text(en="the port of the virtual function is not up", zh="虚拟功能的端口未激活")
_NAMED = Text(en="the interface is an SR-IOV virtual function", zh="接口是 SR-IOV 虚拟功能")

RULE = Rule(
    cause="sriov-config",
    title=Text(en="The SR-IOV virtual function is not fully configured", zh="SR-IOV 虚拟功能未配置完整"),
    summary=Text(
        en="The pod or guest got a virtual function whose GUID, link state, trust, VLAN or number was not set on the host.",
        zh="Pod 或虚机拿到的虚拟功能未在主机上设置 GUID、链路状态、信任、VLAN 或数量。",
    ),
    needs=(
        (wants(Setting, lambda one: is_setting_named(one, f"{_VF}|{_OFFERED}")),),
        (wants(ClusterEvent, lambda one: _is_about_a_vf(one) or _DEVICE.search(one.message) is not None),),
        (RdmaPort, Statement),
        (Statement,),
    ),
    judge=_judge,
    explain=Explain(
        what=Text(
            en="A virtual function takes GUID, VLAN, trust, rate and link state from its physical function; unset, an InfiniBand one stays down and an Ethernet one cannot change its MAC or MTU.",
            zh="虚拟功能的 GUID、VLAN、信任、速率和链路状态来自物理功能；未设时 InfiniBand VF 一直为 down，以太网 VF 不能改 MAC 或 MTU。",
        ),
        shows=Text(
            en="Port down or GUID zero inside the pod while the host's port is active; `ip link show` lists link-state disable or trust off.",
            zh="Pod 内端口 down 或 GUID 为零而主机端口正常；ip link show 显示 link-state disable 或 trust off。",
        ),
        sources=(
            "Linux kernel sriov_numvfs ABI",
            "NVIDIA MLNX_OFED: SR-IOV",
            "sriov-network-operator documentation",
            "rook/rook#9653 (VF pci addr is required)",
        ),
    ),
    told_apart_from=(
        LookAlike(cause="ib-port-down", because=Text(en="there the physical port is down too", zh="那里物理端口也 down")),
        LookAlike(
            cause="container-missing-rdma-device",
            because=Text(en="there no device is visible in the container", zh="那里容器内看不到设备"),
        ),
    ),
    changes=(
        Change(
            what=Text(
                en="Set the virtual function on the host: count, GUID or MAC, link state and trust",
                zh="在主机上设置虚拟功能：数量、GUID 或 MAC、链路状态与信任",
            ),
            commands=(
                "echo 8 > /sys/class/net/PF/device/sriov_numvfs",
                "ip link set PF vf 0 state auto trust on",
                "ip link set PF vf 0 node_guid GUID port_guid GUID",
            ),
        ),
    ),
    checks=(
        Check(
            what=Text(en="The port is ACTIVE inside the pod", zh="Pod 内端口为 ACTIVE"),
            commands=("ibv_devinfo | grep -E 'state|guid'", "ip link show PF"),
        ),
    ),
    gain=Text(en="RDMA becomes usable in the pod or guest", zh="Pod 或虚机内 RDMA 可用"),
    severity="high",
    explains=(
        "ib-port-down",
        "ib-disabled-socket-fallback",
        "container-missing-rdma-device",
        "nccl-wrong-hca",
        "peer-process-died",
    ),
)
