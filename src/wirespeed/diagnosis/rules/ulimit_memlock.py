"""The locked-memory limit, or a missing IPC_LOCK, stops RDMA registration."""

import re

from wirespeed.diagnosis.joins.pieces import configured, piece
from wirespeed.model.case import Case
from wirespeed.model.events.log import FrameworkEvent
from wirespeed.model.events.nccl import NcclHca, NcclWarning
from wirespeed.model.facts.host import ContainerState, HostIdentity, ProcessLimit
from wirespeed.model.facts.rdma import RdmaPort
from wirespeed.model.finding import FAIR, SLIGHT, STRONG, Change, Check, LookAlike, Verdict, contradicts
from wirespeed.model.kinds import Explain, Rule, wants
from wirespeed.model.record import Record
from wirespeed.model.settings import Statement
from wirespeed.model.text import Text

_ENOMEM_CODE = 12
_IDLE_NATS = 0.5
"""A small limit on a surveyed machine without RDMA stops nothing."""
_SMALL_BYTES = 1 << 30
"""NCCL and UCX pin hundreds of MB; the kernel's defaults are 64 KiB to 8 MiB."""


def _judge(case: Case) -> Verdict:
    refused = (
        *case.every(NcclWarning, _is_refused),
        *case.every(FrameworkEvent, lambda one: one.topic == "verbs-failed" and "allocate memory" in one.message),
    )
    small = case.every(
        ProcessLimit, lambda one: one.name == "memlock" and one.limit_bytes is not None and one.limit_bytes < _SMALL_BYTES
    )
    unlimited = case.every(ProcessLimit, lambda one: one.name == "memlock" and one.is_unlimited is True)
    bare = case.every(ContainerState, _may_not_lock)
    uses_rdma = bool(refused or case.has(RdmaPort) or case.first(NcclHca, lambda one: one.device is not None))
    unwanted = case.denied("rdma-expected")
    was_surveyed = case.has(HostIdentity)
    evidence = (
        *piece(_REFUSED, STRONG, refused),
        *piece(
            _SMALL,
            STRONG if uses_rdma or not was_surveyed else _IDLE_NATS,
            small,
            limit_bytes=small[0].limit_bytes if small else None,
        ),
        *piece(_BARE, FAIR, bare if refused else ()),
        *piece(_PROPAGATED, SLIGHT, _hands_limits_on(case) if refused or small else ()),
        *piece(_SAID, FAIR, case.said("memory-lock-limited") if not unwanted else ()),
        *(contradicts(_NOT_WANTED, STRONG, one) for one in unwanted[:1]),
        *((contradicts(_UNLIMITED, FAIR, unlimited[0]),) if unlimited and not small and not refused else ()),
    )
    return Verdict(evidence=evidence)


def _hands_limits_on(case: Case) -> list[Record]:
    """Slurm gives jobs the limits of the shell that submits them, unless memlock is excepted (slurm.conf, PropagateResourceLimits)."""
    excepted = configured(case, r"^propagate_resource_limits_except$")
    if any("MEMLOCK" in one.setting.upper() or one.setting.upper() == "ALL" for one in excepted):
        return []
    return [
        one.record for one in configured(case, r"^propagate_resource_limits$") if re.search(r"(?i)\ball\b|memlock", one.setting)
    ]


def _is_refused(warning: NcclWarning) -> bool:
    about_memory = warning.status_code == _ENOMEM_CODE or "allocate memory" in warning.message.lower()
    return warning.topic in ("register-memory-failed", "create-resource-failed") and about_memory


def _may_not_lock(container: ContainerState) -> bool:
    may = (
        container.is_privileged
        or container.memlock_is_unlimited
        or "capabilities" in container.missing
        or any("IPC_LOCK" in name.upper() for name in container.capabilities)
    )
    return not may


_REFUSED = Text(
    en="registering or allocating RDMA memory fails with `Cannot allocate memory`",
    zh="注册或分配 RDMA 内存时报 Cannot allocate memory",
)
_SMALL = Text(en="the locked-memory limit of the process is {limit_bytes}", zh="进程的锁定内存上限为 {limit_bytes}")
_BARE = Text(en="the container may not lock memory", zh="容器无权锁定内存")
_PROPAGATED = Text(en="the scheduler hands the submitting shell's limits to the job", zh="调度器把提交 shell 的上限传给作业")
_SAID = Text(en="the locked-memory limit or IPC_LOCK is in question", zh="锁定内存上限或 IPC_LOCK 存疑")
_NOT_WANTED = Text(
    en="no RDMA is there or wanted, so its registration does not matter", zh="并没有也不需要 RDMA，其内存注册无关紧要"
)
_UNLIMITED = Text(en="locked memory is unlimited here", zh="此处锁定内存无上限")

RULE = Rule(
    cause="ulimit-memlock",
    title=Text(en="The locked-memory limit blocks RDMA", zh="锁定内存上限阻止了 RDMA"),
    summary=Text(
        en="RDMA must pin memory; the process that runs the ranks has a small memlock limit or lacks IPC_LOCK, whatever the shell shows.",
        zh="RDMA 需要锁定内存；运行 rank 的进程 memlock 上限过小或缺少 IPC_LOCK，与登录 shell 的显示无关。",
    ),
    needs=(
        (wants(NcclWarning, lambda one: one.topic in ("register-memory-failed", "create-resource-failed")),),
        (wants(ProcessLimit, lambda one: one.name == "memlock"),),
        (wants(FrameworkEvent, lambda one: one.topic == "verbs-failed"),),
        (Statement,),
    ),
    judge=_judge,
    explain=Explain(
        what=Text(
            en="limits.conf acts at login only; daemons (slurmd, sshd, kubelet, orted) hand their own limit to the ranks.",
            zh="limits.conf 只在登录时生效；守护进程（slurmd、sshd、kubelet、orted）把自身的上限传给 rank。",
        ),
        shows=Text(
            en="ibv_reg_mr or ibv_create_cq fails with ENOMEM while perftest works in a login shell.",
            zh="登录 shell 中 perftest 正常，而 ibv_reg_mr 或 ibv_create_cq 报 ENOMEM。",
        ),
        sources=(
            "NVIDIA/nccl-tests#206",
            "microsoft/mscclpp#335",
            "NCCL user guide: memory issues",
        ),
    ),
    told_apart_from=(
        LookAlike(
            cause="container-missing-rdma-device",
            because=Text(en="there the devices themselves are missing", zh="彼处缺的是设备本身"),
        ),
        LookAlike(cause="gpu-oom", because=Text(en="there GPU memory is exhausted", zh="彼处是显存耗尽")),
    ),
    changes=(
        Change(
            what=Text(
                en="Raise the limit for the service that starts the ranks and restart it", zh="为启动 rank 的服务提高上限并重启"
            ),
            commands=(
                "systemctl edit slurmd  # [Service] LimitMEMLOCK=infinity",
                "systemctl restart slurmd",
            ),
        ),
        Change(what=Text(en="For containers", zh="对于容器"), commands=("docker run --ulimit memlock=-1 --cap-add IPC_LOCK ...",)),
    ),
    checks=(
        Check(
            what=Text(en="Inside the job the limit is unlimited", zh="作业内上限为 unlimited"),
            commands=(
                "mpirun -np 2 bash -c 'ulimit -l'",
                "grep 'Max locked' /proc/self/limits",
            ),
        ),
    ),
    gain=Text(en="RDMA works", zh="RDMA 可用"),
    severity="high",
    explains=(
        "container-missing-rdma-device",
        "ib-disabled-socket-fallback",
        "gpu-oom",
    ),
)
