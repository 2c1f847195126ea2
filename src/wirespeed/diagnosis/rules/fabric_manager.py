"""The NVSwitch fabric is not set up: fabric manager absent, stopped or of another version."""

from wirespeed.diagnosis.joins.gpu_links import joined_directly
from wirespeed.diagnosis.joins.pieces import against, piece
from wirespeed.model.case import Case
from wirespeed.model.events.log import KernelEvent
from wirespeed.model.events.nccl import NcclWarning
from wirespeed.model.facts.gpu import Gpu
from wirespeed.model.finding import FAIR, STRONG, Change, Check, LookAlike, Verdict
from wirespeed.model.kinds import Explain, Rule, wants
from wirespeed.model.settings import Statement
from wirespeed.model.text import Text

_WORDS = ("system not yet initialized", "multicast", "nvls", "cumulticast", "fabric", "system_not_ready")


def _judge(case: Case) -> Verdict:
    states = case.every(Gpu, lambda one: one.fabric_state is not None)
    bad = tuple(one for one in states if (one.fabric_state or "").lower() not in ("completed", "n/a"))
    done = tuple(one for one in states if (one.fabric_state or "").lower() == "completed")
    warned = case.every(NcclWarning, lambda one: one.topic == "nvls-failed" or any(word in one.message.lower() for word in _WORDS))
    return Verdict(
        evidence=(
            *piece(_STATE, STRONG, bad),
            *piece(_WARNED, STRONG, warned),
            *piece(_KERNEL, STRONG, case.every(KernelEvent, topic="fabric-manager")),
            *piece(_SXID, FAIR, case.every(KernelEvent, topic="sxid")),
            *piece(_SAID, STRONG, case.said("fabric-manager-trouble")),
            *against(_DONE, STRONG, done if not bad else ()),
            *against(_BRIDGED, STRONG, joined_directly(case) if not bad else ()),
            *against(_NO_SWITCH, STRONG, case.every(KernelEvent, topic="no-nvswitch") or case.said("no-switch-to-manage")),
        )
    )


_STATE = Text(en="the GPU's fabric state is not completed", zh="GPU 的互连状态未完成")
_WARNED = Text(en="NCCL could not set up multicast or the fabric", zh="NCCL 无法建立组播或互连")
_KERNEL = Text(en="the fabric manager logged a failure", zh="Fabric Manager 记录了失败")
_SXID = Text(en="an NVSwitch reported an error", zh="NVSwitch 报告错误")
_SAID = Text(en="fabric manager trouble is reported", zh="描述提到 Fabric Manager 问题")
_BRIDGED = Text(
    en="the few GPUs are joined by NVLink directly: there is no NVSwitch to set up",
    zh="少量 GPU 由 NVLink 直接相连：没有需要设置的 NVSwitch",
)
_NO_SWITCH = Text(en="the service found no switch to manage", zh="该服务未发现需要管理的交换芯片")
_DONE = Text(en="the GPUs' fabric state is completed", zh="GPU 互连状态已完成")

RULE = Rule(
    cause="nvlink-fabric-manager",
    title=Text(en="The NVSwitch fabric is not set up", zh="NVSwitch 互连未建立"),
    summary=Text(
        en="On machines with NVSwitch the fabric manager (and IMEX across machines) must run in the driver's version; without it CUDA fails to start or multicast and peer set-up fail.",
        zh="带 NVSwitch 的机器必须运行与驱动同版本的 Fabric Manager（跨机还需 IMEX）；否则 CUDA 无法启动，或组播与对等建立失败。",
    ),
    needs=(
        (wants(Gpu, lambda one: one.fabric_state is not None),),
        (wants(NcclWarning, lambda one: True),),
        (wants(KernelEvent, lambda one: one.topic in ("fabric-manager", "sxid", "no-nvswitch")),),
        (wants(Statement, lambda one: one.topic == "fabric-manager-trouble"),),
    ),
    judge=_judge,
    explain=Explain(
        what=Text(
            en="It programs the switches' routes and the multicast groups that NVLS uses.",
            zh="它配置交换路由以及 NVLS 使用的组播组。",
        ),
        shows=Text(
            en="CUDA error 802, 'system not yet initialized', NVLS bind failures, fabric state in progress.",
            zh="CUDA 错误 802、system not yet initialized、NVLS 绑定失败、互连状态 in progress。",
        ),
        sources=("NVIDIA Fabric Manager user guide", "NCCL performance and tuning documentation (NVLS)"),
    ),
    told_apart_from=(
        LookAlike(
            cause="nvlink-missing", because=Text(en="there single links are bad and the others work", zh="彼处个别链路坏，其余正常")
        ),
    ),
    changes=(
        Change(
            what=Text(
                en="Install and start the fabric manager in the driver's version", zh="安装并启动与驱动同版本的 Fabric Manager"
            ),
            commands=("systemctl restart nvidia-fabricmanager",),
            risk=Text(en="Resets running GPU work", zh="会重置正在运行的 GPU 任务"),
        ),
        Change(
            what=Text(en="To go on without multicast meanwhile", zh="暂时不用组播继续运行"),
            commands=("export NCCL_NVLS_ENABLE=0",),
            side="training",
        ),
    ),
    checks=(
        Check(
            what=Text(en="Fabric state Completed, status Success", zh="Fabric 状态 Completed，结果 Success"),
            commands=("nvidia-smi -q | grep -A2 Fabric",),
        ),
    ),
    gain=Text(en="Jobs start; NVLS becomes usable", zh="任务可启动；NVLS 可用"),
    severity="high",
    explains=("nvlink-missing",),
)
