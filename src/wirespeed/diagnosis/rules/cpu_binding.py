"""The CPU mask of a rank is too small for its communication threads."""

from wirespeed.diagnosis.joins.pieces import against, piece
from wirespeed.model.case import Case
from wirespeed.model.facts.host import CpuMask, HostIdentity
from wirespeed.model.finding import FAIR, STRONG, Change, Check, LookAlike, Verdict
from wirespeed.model.kinds import Explain, Rule, wants
from wirespeed.model.settings import Command, Setting, Statement
from wirespeed.model.text import Text

FEW_CPUS = 2
"""A rank runs its main thread, a proxy thread per communicator and data workers: two CPUs are too few."""


def _judge(case: Case) -> Verdict:
    every_cpu = max((one.cpu_count or 0 for one in case.every(HostIdentity)), default=0)
    tiny = case.every(CpuMask, lambda one: 0 < len(one.cpus) <= FEW_CPUS and (not every_cpu or len(one.cpus) < every_cpu))
    wide = case.every(CpuMask, lambda one: len(one.cpus) > 8 * FEW_CPUS)
    single = case.every(
        Setting, lambda one: one.name.strip("-# ").lower().endswith("cpus-per-task") and one.setting.strip() in ("1", "2")
    )
    bound = case.every(Command, lambda one: "--bind-to" in one.arguments and "core" in one.arguments)
    return Verdict(
        evidence=(
            *piece(_TINY, STRONG, tiny),
            *piece(_SINGLE, FAIR, single),
            *piece(_BOUND, FAIR, bound),
            *piece(_SAID, STRONG, case.said("mask-too-small")),
            *against(_WIDE, FAIR, wide if not tiny else ()),
        )
    )


_TINY = Text(en="the process may use one or two CPUs only", zh="进程只能使用一两个 CPU")
_SINGLE = Text(en="the scheduler gives each task one or two CPUs", zh="调度器只给每个任务一两个 CPU")
_BOUND = Text(en="the launcher binds each rank to one core", zh="启动器把每个进程绑到一个核")
_SAID = Text(en="a narrow binding is reported", zh="描述提到绑定过窄")
_WIDE = Text(en="the mask is wide", zh="掩码较宽")

RULE = Rule(
    cause="cpu-binding",
    title=Text(en="Ranks have too few CPUs for their communication threads", zh="进程的 CPU 不足以运行通信线程"),
    summary=Text(
        en="The launcher or scheduler binds each rank to very few cores; the proxy threads that feed the network share them with everything else and fall behind.",
        zh="启动器或调度器把每个进程绑到极少的核；驱动网络的代理线程与其他线程争用而落后。",
    ),
    needs=(
        (CpuMask,),
        (wants(Setting, lambda one: "cpus-per-task" in one.name.lower()),),
        (wants(Command, lambda one: "--bind-to" in one.arguments),),
        (wants(Statement, lambda one: one.topic == "mask-too-small"),),
    ),
    judge=_judge,
    explain=Explain(
        what=Text(
            en="NCCL runs proxy threads per communicator; sockets add helper threads. They inherit the rank's mask.",
            zh="NCCL 每个通信器有代理线程，套接字还有辅助线程，它们继承进程掩码。",
        ),
        shows=Text(
            en="Low busbw with idle cores elsewhere; better at once with a wider mask.",
            zh="busbw 低而其他核空闲；放宽掩码立即改善。",
        ),
        sources=(
            "NCCL performance and tuning documentation (CPU affinity)",
            "NCCL environment documentation (NCCL_IGNORE_CPU_AFFINITY)",
        ),
    ),
    told_apart_from=(
        LookAlike(
            cause="numa-mismatch",
            because=Text(en="there the cores suffice but lie on the wrong socket", zh="彼处核数足够但在错误插槽"),
        ),
        LookAlike(
            cause="cpu-cfs-throttling",
            because=Text(en="there a quota, not a mask, holds the threads back", zh="彼处是配额而非掩码"),
        ),
    ),
    changes=(
        Change(
            what=Text(
                en="Bind ranks to a NUMA node or their GPU's cores, not to one core", zh="绑定到 NUMA 节点或 GPU 本地核，而非单核"
            ),
            commands=("mpirun --bind-to numa CMD", "export NCCL_IGNORE_CPU_AFFINITY=1"),
            side="training",
        ),
    ),
    checks=(
        Check(
            what=Text(en="The mask is as wide as meant", zh="掩码宽度符合预期"),
            commands=("grep Cpus_allowed_list /proc/PID/status",),
        ),
    ),
    gain=Text(en="10 to 30 %, more over sockets", zh="10% 至 30%，套接字传输更多"),
    severity="medium",
)
