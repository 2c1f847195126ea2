"""/dev/shm is too small for NCCL's (or the data loader's) segments."""

import re

from wirespeed.diagnosis.joins.pieces import piece
from wirespeed.model.case import Case
from wirespeed.model.events.log import FrameworkEvent
from wirespeed.model.events.nccl import NcclWarning
from wirespeed.model.facts.host import ContainerState, Mount
from wirespeed.model.finding import FAIR, SLIGHT, STRONG, Change, Check, LookAlike, Verdict, contradicts
from wirespeed.model.kinds import Explain, Rule, wants
from wirespeed.model.settings import Statement
from wirespeed.model.text import Text

_SMALL_BYTES = 1 << 30
"""NCCL takes 5 to 10 MB for each connection and data loaders far more; container runtimes give 64 MiB by default."""


def _judge(case: Case) -> Verdict:
    failed = case.every(NcclWarning, topic="shm-failed")
    full = tuple(one for one in failed if "space" in one.message.lower() or one.size_bytes)
    bus_errors = case.every(
        FrameworkEvent, lambda one: re.search(r"(?i)bus error|SIGBUS|insufficient shared memory", one.message) is not None
    )
    small = case.every(
        Mount, lambda one: one.path.endswith("/shm") and one.size_bytes is not None and one.size_bytes < _SMALL_BYTES
    )
    used_up = case.every(
        Mount,
        lambda one: one.path.endswith("/shm") and bool(one.size_bytes) and (one.used_bytes or 0) >= 0.9 * (one.size_bytes or 1),
    )
    large = case.every(
        Mount, lambda one: one.path.endswith("/shm") and one.size_bytes is not None and one.size_bytes >= 8 * _SMALL_BYTES
    )
    default = case.every(ContainerState, _has_default_shm)
    evidence = (
        *piece(_FAILED, STRONG + SLIGHT if full else FAIR + 0.5, failed),
        *piece(_BUS_ERROR, FAIR, bus_errors),
        *piece(_SMALL, FAIR, small, size_bytes=small[0].size_bytes if small else None),
        *piece(_USED_UP, FAIR, used_up),
        *piece(_DEFAULT, SLIGHT, default if failed or bus_errors or case.said("shm-small") else ()),
        *piece(_SAID, FAIR + SLIGHT, case.said("shm-small")),
        *((contradicts(_LARGE, FAIR, large[0]),) if large and not used_up else ()),
    )
    return Verdict(evidence=evidence)


def _has_default_shm(container: ContainerState) -> bool:
    """Nothing in the description enlarges /dev/shm beyond the runtime's 64 MiB."""
    if container.runtime == "kubernetes" and container.has_memory_shm_volume is None:
        return False
    enlarged = container.has_memory_shm_volume or container.ipc_mode == "host" or (container.shm_bytes or 0) >= _SMALL_BYTES
    return not enlarged


_FAILED = Text(en="a shared-memory segment could not be created", zh="无法创建共享内存段")
_BUS_ERROR = Text(
    en="a process ended with a bus error, as a full /dev/shm gives", zh="进程因 bus error 结束，/dev/shm 写满时会如此"
)
_SMALL = Text(en="/dev/shm holds only {size_bytes}", zh="/dev/shm 只有 {size_bytes}")
_USED_UP = Text(en="/dev/shm is nearly full", zh="/dev/shm 几乎用满")
_DEFAULT = Text(en="the container keeps the runtime's default /dev/shm of 64 MiB", zh="容器使用运行时默认的 64 MiB /dev/shm")
_SAID = Text(en="shared memory is short", zh="共享内存不足")
_LARGE = Text(en="/dev/shm is large and has room", zh="/dev/shm 足够大且有空间")

RULE = Rule(
    cause="shm-too-small",
    title=Text(en="/dev/shm is too small", zh="/dev/shm 太小"),
    summary=Text(
        en="NCCL keeps a segment for each connection in /dev/shm; the container's default of 64 MiB (or a full one) does not hold them.",
        zh="NCCL 在 /dev/shm 中为每个连接保留一个段；容器默认的 64 MiB（或已满）放不下。",
    ),
    needs=(
        (wants(NcclWarning, lambda one: one.topic == "shm-failed"),),
        (wants(Mount, lambda one: one.path.endswith("/shm")),),
        (wants(FrameworkEvent, lambda one: re.search(r"(?i)bus error|SIGBUS|shared memory", one.message) is not None),),
        (Statement,),
    ),
    judge=_judge,
    explain=Explain(
        what=Text(
            en="tmpfs on /dev/shm counts against the pod's memory and defaults to 64 MiB; stale segments of killed jobs stay.",
            zh="/dev/shm 是 tmpfs，计入 Pod 内存，默认 64 MiB；被杀作业的残留段会留在其中。",
        ),
        shows=Text(
            en="posix_fallocate: No space left on device, Error while creating shared memory segment, or Bus error in a worker.",
            zh="posix_fallocate: No space left on device、Error while creating shared memory segment，或工作进程 Bus error。",
        ),
        sources=(
            "NVIDIA/nccl#525",
            "pytorch/torchtitan#853",
            "NCCL user guide: shared memory",
        ),
    ),
    told_apart_from=(
        LookAlike(
            cause="ulimit-memlock",
            because=Text(en="there pinning fails, not creating the segment", zh="彼处是锁定失败而非创建段失败"),
        ),
        LookAlike(
            cause="nccl-env-override",
            because=Text(en="there SHM is used only because peer access was switched off", zh="彼处是因关闭了对等访问才走 SHM"),
        ),
    ),
    changes=(
        Change(
            what=Text(en="Give the container room", zh="给容器足够空间"),
            commands=("docker run --shm-size=8g ...  # or --ipc=host",),
        ),
        Change(
            what=Text(
                en="On Kubernetes, mount a memory-backed volume at /dev/shm (its size counts as pod memory)",
                zh="Kubernetes 中在 /dev/shm 挂载内存卷（计入 Pod 内存）",
            )
        ),
        Change(
            what=Text(en="Remove stale segments when no job runs", zh="无作业运行时删除残留段"), commands=("rm /dev/shm/nccl-*",)
        ),
    ),
    checks=(Check(what=Text(en="There is room inside the container", zh="容器内有空间"), commands=("df -h /dev/shm",)),),
    gain=Text(
        en="The job starts, without giving up the fast path as NCCL_SHM_DISABLE does",
        zh="作业可启动，且无需像 NCCL_SHM_DISABLE 那样放弃快速通路",
    ),
    severity="high",
)
