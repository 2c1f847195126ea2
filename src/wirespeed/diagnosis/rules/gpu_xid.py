"""The driver reported a GPU fault (Xid); network errors on other ranks follow from it."""

import re

from wirespeed.diagnosis.joins.gpu_health import failed_checks
from wirespeed.diagnosis.joins.pieces import piece
from wirespeed.model.case import Case
from wirespeed.model.events.log import KernelEvent
from wirespeed.model.events.nccl import NcclWarning
from wirespeed.model.facts.cluster import NodeState
from wirespeed.model.facts.gpu import Gpu, GpuCheck
from wirespeed.model.finding import FAIR, PROVES, SLIGHT, STRONG, Change, Check, LookAlike, Value, Verdict
from wirespeed.model.kinds import Explain, Rule, wants
from wirespeed.model.settings import Statement
from wirespeed.model.text import Text

APPLICATION_XIDS = frozenset({13, 31, 43, 45, 68})
"""Xids that a program's own fault raises (NVIDIA Xid catalogue): illegal access, stopped channel and the like."""
INFORMATIONAL_XIDS = frozenset({63, 92, 94})
NVLINK_XIDS = frozenset({74, 144, 145, 146, 147, 148, 149, 150})

_FEWER = re.compile(r"(?i)gres/gpu count reported lower|\bxid\b|check_nv|gpu (?:count|lost|missing|fell)")
"""Reasons for which a scheduler takes a node out that has lost a GPU (slurmctld, node health checks)."""


def _judge(case: Case) -> Verdict:
    xids = case.every(KernelEvent, topic="xid")
    hardware = tuple(one for one in xids if one.code_number not in APPLICATION_XIDS | INFORMATIONAL_XIDS | NVLINK_XIDS)
    program = tuple(one for one in xids if one.code_number in APPLICATION_XIDS)
    ecc = case.every(Gpu, lambda one: (one.ecc_uncorrected_count or 0) > 0)
    seen = case.every(Gpu, lambda one: bool(one.last_xid_number))
    last = tuple(one for one in seen if one.last_xid_number not in APPLICATION_XIDS | INFORMATIONAL_XIDS | NVLINK_XIDS)
    cuda = case.every(NcclWarning, topic="cuda-failure")
    values: dict[str, Value] = {"xid": hardware[0].code_number if hardware else program[0].code_number if program else None}
    return Verdict(
        evidence=(
            *piece(_HARDWARE, PROVES, hardware, **values),
            *piece(_PROGRAM, FAIR, program if not hardware else ()),
            *piece(_LAST, STRONG, last if not hardware else (), xid=last[0].last_xid_number if last else None),
            *piece(_ECC, STRONG, ecc),
            *piece(_UNREPAIRED, STRONG, case.every(Gpu, is_remap_failed=True)),
            *piece(_PENDING, FAIR, case.every(Gpu, is_remap_pending=True)),
            *piece(_ACTION, STRONG, case.every(Gpu, lambda one: (one.recovery_action or "none") != "none")),
            *piece(_CHECK, STRONG, failed_checks(case, "memory")),
            *piece(_CUDA, SLIGHT, cuda),
            *piece(_TAKEN_OUT, FAIR, case.every(NodeState, lambda one: _FEWER.search(one.reason or "") is not None)),
            *piece(_SAID, STRONG, case.said("gpu-broken")),
        ),
        values=values,
    )


def _tells_of_faults(gpu: Gpu) -> bool:
    """Whether anything is known of errors of this GPU."""
    told = (gpu.ecc_uncorrected_count, gpu.last_xid_number, gpu.is_remap_failed, gpu.is_remap_pending, gpu.recovery_action)
    return any(one is not None for one in told)


_HARDWARE = Text(en="the driver reported Xid {xid}", zh="驱动报告 Xid {xid}")
_PROGRAM = Text(en="the driver reported an Xid that programs cause themselves", zh="驱动报告了由程序自身引起的 Xid")
_LAST = Text(en="the last Xid that a monitor saw on a GPU is {xid}", zh="监控在某 GPU 上最后见到的 Xid 为 {xid}")
_UNREPAIRED = Text(en="rows of a GPU's memory could not be replaced", zh="某 GPU 的显存行替换失败")
_PENDING = Text(en="rows of a GPU's memory wait for a reset to be replaced", zh="某 GPU 有显存行等待复位后替换")
_ACTION = Text(en="the driver asks for a reset, a reboot or a drain", zh="驱动要求复位、重启或排空")
_CHECK = Text(en="DCGM finds a fault of a GPU's memory", zh="DCGM 发现 GPU 显存故障")
_ECC = Text(en="uncorrectable memory errors are counted", zh="有不可纠正的显存错误计数")
_TAKEN_OUT = Text(en="the scheduler took a node out for a missing or failing GPU", zh="调度器因 GPU 缺失或故障隔离了节点")
_CUDA = Text(en="CUDA failed under NCCL", zh="NCCL 之下 CUDA 调用失败")
_SAID = Text(en="a broken or vanished GPU is reported", zh="描述提到 GPU 损坏或消失")

RULE = Rule(
    cause="gpu-xid",
    title=Text(en="A GPU failed; what others report is its echo", zh="某块 GPU 故障，其他进程的报错只是余波"),
    summary=Text(
        en="One GPU reported a hardware or driver fault. The ranks that wait for it print time-outs and closed connections later; the earliest line is the cause.",
        zh="一块 GPU 报告硬件或驱动故障，等待它的进程随后打印超时与连接关闭；最早的那行才是原因。",
    ),
    needs=(
        (wants(KernelEvent, lambda one: True),),
        (wants(Gpu, _tells_of_faults),),
        (GpuCheck,),
        (wants(NodeState, lambda one: _FEWER.search(one.reason or "") is not None),),
        (wants(Statement, lambda one: one.topic == "gpu-broken"),),
    ),
    silence_needs=(
        (wants(KernelEvent, lambda one: True),),
        (wants(Gpu, _tells_of_faults),),
        (wants(NodeState, lambda one: _FEWER.search(one.reason or "") is not None),),
    ),
    judge=_judge,
    explain=Explain(
        what=Text(
            en="Xid is the driver's error number; 79 means off the bus, 48 and 95 memory, 119 and 120 the GPU's own firmware.",
            zh="Xid 是驱动错误号；79 为掉卡，48、95 为显存，119、120 为 GPU 固件。",
        ),
        shows=Text(
            en="'NVRM: Xid' in the kernel log of one host, before the first NCCL time-out on the others.",
            zh="某主机内核日志出现 NVRM: Xid，早于其他主机首个 NCCL 超时。",
        ),
        sources=("NVIDIA Xid errors catalogue", "leptonai/gpud Xid catalogue"),
    ),
    told_apart_from=(
        LookAlike(
            cause="peer-process-died",
            because=Text(en="there the process ended without a GPU fault", zh="彼处进程退出而无 GPU 故障"),
        ),
        LookAlike(
            cause="collective-timeout-too-short",
            because=Text(en="there nobody failed and waiting was legal", zh="彼处无人失败，只是等待较久"),
        ),
    ),
    changes=(
        Change(
            what=Text(
                en="Drain the node; reset the GPU or reboot as the Xid's entry says; replace it when it returns",
                zh="隔离节点；按该 Xid 说明复位 GPU 或重启；复发则更换",
            ),
            commands=("nvidia-smi --gpu-reset -i GPU",),
        ),
    ),
    checks=(
        Check(
            what=Text(en="No new Xid under a stress test", zh="压力测试下无新 Xid"),
            commands=("dmesg | grep -i xid", "dcgmi diag -r 3"),
        ),
    ),
    gain=Text(en="The job runs again", zh="任务恢复运行"),
    severity="high",
    explains=(
        "peer-process-died",
        "collective-timeout-too-short",
        "collective-mismatch-desync",
        "packet-loss",
        "ib-port-down",
        "straggler-other",
    ),
)
