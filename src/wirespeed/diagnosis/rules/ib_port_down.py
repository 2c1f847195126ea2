"""An InfiniBand (or RoCE) port that should carry traffic is not active."""

import re

from wirespeed.diagnosis.joins.pieces import against, piece
from wirespeed.model.case import Case
from wirespeed.model.events.log import KernelEvent
from wirespeed.model.events.nccl import NcclWarning
from wirespeed.model.facts.cluster import NodeState
from wirespeed.model.facts.fabric import LinkSignal
from wirespeed.model.facts.rdma import RdmaPort
from wirespeed.model.finding import FAIR, SLIGHT, STRONG, Change, Check, LookAlike, Verdict
from wirespeed.model.kinds import Explain, Rule, wants
from wirespeed.model.settings import Statement
from wirespeed.model.text import Text

_CHECKED = re.compile(r"(?i)check_hw_ib|check_ib\b|no ib port|\bib(?:_| )(?:port|link)|infiniband")
"""Reasons for which node health checks take a node out: `check_hw_ib` of LBNL's NHC, `check_IB` of Azure's."""
_NO_PARTNER = re.compile(r"(?i)unplugged|signal not detected|no (?:partner|signal)|remote fault|port is closed|disabled by")
_NOT_UP = ("polling", "disabled", "sleep", "linkerrorrecovery")


def _judge(case: Case) -> Verdict:
    ports = case.every(RdmaPort, lambda one: one.state is not None)
    down = tuple(one for one in ports if one.state == "down" or (one.physical_state or "") in _NOT_UP)
    active = tuple(one for one in ports if one.state == "active")
    events = case.every(NcclWarning, lambda one: one.topic == "async-event" and "port" in one.message.lower())
    said = case.said("port-not-active")
    weight = FAIR if active else STRONG
    return Verdict(
        evidence=(
            *piece(_DOWN, weight, down),
            *piece(_ADVISED, FAIR, case.every(LinkSignal, lambda one: _NO_PARTNER.search(one.recommendation or "") is not None)),
            *piece(_TAKEN_OUT, STRONG, case.every(NodeState, _is_out_for_its_port)),
            *piece(_EVENT, FAIR, events),
            *piece(_KERNEL, FAIR if down or events or said else SLIGHT, case.every(KernelEvent, topic="link-down")),
            *piece(_SAID, STRONG, said),
            *against(_ACTIVE, FAIR, active if not down else ()),
        ),
        values={"device": down[0].device if down else "DEVICE"},
    )


def _is_out_for_its_port(node: NodeState) -> bool:
    return node.state not in ("ready", "idle", "allocated", "mixed") and _CHECKED.search(node.reason or "") is not None


_TAKEN_OUT = Text(
    en="the scheduler took a node out because its InfiniBand port failed the health check",
    zh="调度器因 InfiniBand 端口健康检查失败隔离了节点",
)
_ADVISED = Text(
    en="the NIC's tool sees no partner: no cable, no signal or a closed port", zh="网卡工具未见对端：无线缆、无信号或端口关闭"
)
_DOWN = Text(en="the port's state is not Active", zh="端口状态不是 Active")
_EVENT = Text(en="NCCL was told of a port error while it ran", zh="NCCL 运行中收到端口错误事件")
_KERNEL = Text(en="the kernel saw the link go down", zh="内核看到链路断开")
_SAID = Text(en="a port is reported as not active", zh="描述提到端口未激活")
_ACTIVE = Text(en="every port listed is active", zh="所列端口均为激活")

RULE = Rule(
    cause="ib-port-down",
    title=Text(en="An RDMA port is not active", zh="RDMA 端口未激活"),
    summary=Text(
        en="A port that the job would use is down or still polling for a partner, so its traffic has nowhere to go or falls to fewer rails.",
        zh="任务要用的端口断开或仍在寻找对端，流量无处可去，或只能用更少的轨道。",
    ),
    needs=(
        (wants(RdmaPort, lambda one: one.state is not None),),
        (wants(NcclWarning, lambda one: one.topic == "async-event"),),
        (wants(NodeState, _is_out_for_its_port),),
        (wants(Statement, lambda one: one.topic == "port-not-active"),),
    ),
    judge=_judge,
    explain=Explain(
        what=Text(
            en="Polling means no signal from the other end; Disabled means switched off; Down after Active means the link was lost.",
            zh="Polling 表示没有对端信号；Disabled 表示被关闭；由 Active 变 Down 表示链路丢失。",
        ),
        shows=Text(
            en="ibstat shows State Down or Physical state Polling; NCCL prints async events or finds fewer devices.",
            zh="ibstat 显示 State Down 或 Physical state Polling；NCCL 打印异步事件或少找到设备。",
        ),
        sources=("NCCL networking troubleshooting guide", "NVIDIA/NVSentinel#1361 (ports without cable are normal)"),
    ),
    told_apart_from=(
        LookAlike(
            cause="ib-no-subnet-manager",
            because=Text(
                en="there the physical state is LinkUp and the logical one Initializing",
                zh="彼处物理状态为 LinkUp，逻辑状态为 Initializing",
            ),
        ),
        LookAlike(
            cause="no-fault-harmless-message",
            because=Text(
                en="a second port without cable is down by design: compare with the other hosts",
                zh="未接线的第二端口本来就是断开的：与其他主机比较",
            ),
        ),
        LookAlike(cause="link-flapping", because=Text(en="there the port returns by itself", zh="彼处端口会自行恢复")),
    ),
    changes=(
        Change(
            what=Text(
                en="Check cable and optic, enable the switch port, reset the HCA port",
                zh="检查线缆与光模块，启用交换机端口，重置 HCA 端口",
            ),
            commands=("mlxlink -d {device} -m",),
        ),
        Change(
            what=Text(en="Until repaired leave the port out", zh="修复前排除该端口"), commands=("export NCCL_IB_HCA=^{device}",)
        ),
    ),
    checks=(
        Check(
            what=Text(en="State Active, Physical state LinkUp", zh="State 为 Active，Physical state 为 LinkUp"),
            commands=("ibstat {device}",),
        ),
    ),
    gain=Text(en="The rail returns; with one rail the job can start", zh="轨道恢复；若只有一条轨道则任务得以启动"),
    severity="high",
    explains=("ib-disabled-socket-fallback", "collective-timeout-too-short"),
)
