"""One rank ran out of GPU memory and left the others waiting."""

import re

from wirespeed.diagnosis.joins.pieces import against, piece
from wirespeed.model.case import Case
from wirespeed.model.events.log import FrameworkEvent
from wirespeed.model.events.nccl import NcclWarning
from wirespeed.model.finding import PROVES, SLIGHT, STRONG, Change, Check, LookAlike, Verdict
from wirespeed.model.kinds import Explain, Rule, wants
from wirespeed.model.settings import Statement
from wirespeed.model.text import Text

_IS_HOST = re.compile(r"(?i)\bmmap|/dev/shm|shared memory|cpualloc|ibv_|\bfork\b|\bpin(?:ned)?\b|memlock")
"""What ran out, or was refused, is memory of the host."""


def _judge(case: Case) -> Verdict:
    refused = case.every(FrameworkEvent, _is_of_gpu)
    return Verdict(
        evidence=(
            *piece(_SAYS, PROVES, refused),
            *piece(_NCCL, STRONG + SLIGHT, case.every(NcclWarning, topic="out-of-memory")),
            *piece(_SAID, STRONG, case.said("gpu-memory-full")),
            *against(_DENIED, STRONG, case.denied("gpu-memory-full")),
        )
    )


def _is_of_gpu(event: FrameworkEvent) -> bool:
    return event.topic == "out-of-memory" and not _IS_HOST.search(event.message)


_SAYS = Text(en="a rank says that its GPU is out of memory", zh="有进程报告 GPU 显存不足")
_NCCL = Text(en="NCCL could not allocate device memory", zh="NCCL 无法分配显存")
_SAID = Text(en="GPU memory exhaustion is reported", zh="描述提到显存耗尽")
_DENIED = Text(en="memory is said not to be the problem", zh="描述称并非显存问题")

RULE = Rule(
    cause="gpu-oom",
    title=Text(en="A GPU ran out of memory", zh="GPU 显存不足"),
    summary=Text(
        en="One rank failed to allocate GPU memory and stopped; the others then wait for it and time out.",
        zh="一个进程分配显存失败而停止；其他进程等待它直至超时。",
    ),
    needs=(
        (wants(FrameworkEvent, lambda one: True),),
        (wants(NcclWarning, lambda one: one.topic == "out-of-memory"),),
        (wants(Statement, lambda one: one.topic == "gpu-memory-full"),),
    ),
    judge=_judge,
    explain=Explain(
        what=Text(
            en="Weights, gradients, activations and NCCL's buffers share the device; the last to allocate fails.",
            zh="权重、梯度、激活与 NCCL 缓冲共享显存；最后分配者失败。",
        ),
        shows=Text(
            en="'CUDA out of memory' on one rank, time-outs on the others afterwards.",
            zh="一个进程 CUDA out of memory，其他随后超时。",
        ),
        sources=("PyTorch CUDA memory documentation", "NCCL environment documentation (NCCL_BUFFSIZE)"),
    ),
    told_apart_from=(
        LookAlike(cause="peer-process-died", because=Text(en="there the process was ended from outside", zh="彼处进程被外部终止")),
        LookAlike(
            cause="kv-cache-preemption",
            because=Text(en="there the server evicts requests and goes on", zh="彼处服务器逐出请求后继续运行"),
        ),
    ),
    changes=(
        Change(
            what=Text(en="Smaller micro-batch, recomputation, or more sharding", zh="更小的微批、重计算或更多切分"), side="training"
        ),
        Change(what=Text(en="Lower memory share or shorter context", zh="降低显存占比或缩短上下文"), side="serving"),
    ),
    checks=(
        Check(
            what=Text(en="Peak memory stays below the device's", zh="峰值显存低于设备容量"),
            commands=("nvidia-smi --query-gpu=memory.used,memory.total --format=csv -l 1",),
        ),
    ),
    gain=Text(en="The job runs", zh="任务可运行"),
    severity="high",
    explains=("peer-process-died", "collective-timeout-too-short", "straggler-other"),
)
