"""A rank is late for reasons outside the step: garbage collection, checkpoints, logging, other processes."""

from statistics import median

from wirespeed.diagnosis.joins.gpu_health import shared_gpus
from wirespeed.diagnosis.joins.pieces import piece
from wirespeed.diagnosis.joins.ranks import stuck
from wirespeed.model.case import Case
from wirespeed.model.events.nccl import NcclRankState
from wirespeed.model.facts.gpu import GpuProcess
from wirespeed.model.facts.host import ProcessUse
from wirespeed.model.finding import FAIR, SLIGHT, Change, Check, LookAlike, Verdict
from wirespeed.model.kinds import Explain, Rule, wants
from wirespeed.model.measurement import TrainingStep
from wirespeed.model.settings import Statement
from wirespeed.model.text import Text


def _judge(case: Case) -> Verdict:
    intruders = case.every(ProcessUse, lambda one: _is_intruder(one))
    evidence = (
        *piece(_LATE, FAIR + SLIGHT, case.said("late-for-other-reasons")),
        *piece(_UNEXPLAINED, SLIGHT, case.said("size-cannot-explain")),
        *piece(_SPIKES, FAIR, _regular_spikes(case)),
        *piece(_BEHIND, FAIR, stuck(case)),
        *piece(_SHARED, FAIR, shared_gpus(case)),
        *piece(_INTRUDER, SLIGHT, intruders if case.said("late-for-other-reasons") else ()),
    )
    return Verdict(evidence=evidence)


def _is_intruder(use: ProcessUse) -> bool:
    """A busy process that is not the training itself."""
    return not use.is_core and (use.cpu_ratio or 0.0) >= 0.9 and not use.subject.lower().startswith(("python", "torchrun", "pt_"))


def _regular_spikes(case: Case) -> tuple[TrainingStep, ...]:
    """Isolated steps of three times the median or more, while data time stays small."""
    steps = case.every(TrainingStep, lambda one: bool(one.step_s))
    if len(steps) < 6:
        return ()
    usual = median(one.step_s or 0.0 for one in steps)
    spikes = [one for one in steps if (one.step_s or 0.0) >= 3 * usual and (one.data_s or 0.0) < 0.5 * (one.step_s or 0.0)]
    return tuple(spikes) if 0 < len(spikes) * 3 <= len(steps) else ()


_LATE = Text(en="a rank does other work or is interrupted while the others wait", zh="某个 rank 在做其他工作或被打断，其余在等待")
_UNEXPLAINED = Text(en="the size cannot explain the time of the collective", zh="数据量无法解释集合操作的耗时")
_SPIKES = Text(
    en="single steps take three times the usual, without waiting for data", zh="个别步耗时为平常的三倍以上，且不是在等数据"
)
_BEHIND = Text(
    en="in two reports of NCCL's RAS the same ranks have not come to the collective that the others wait in",
    zh="NCCL RAS 的两次报告中，同样的 rank 都未到达其他 rank 等待的集合操作",
)
_SHARED = Text(en="several processes compute on one GPU, on the others one", zh="某 GPU 上有多个计算进程，其他 GPU 各只有一个")
_INTRUDER = Text(en="a foreign process takes a whole core", zh="有外部进程占满一个核")

RULE = Rule(
    cause="straggler-other",
    title=Text(en="A rank arrives late for reasons outside the collective", zh="某个 rank 因集合操作之外的原因迟到"),
    summary=Text(
        en="Garbage collection, checkpointing, logging, compilation or another process delays one rank; the others wait in the collective.",
        zh="垃圾回收、检查点、日志、编译或其他进程拖延了某个 rank，其余在集合操作中等待。",
    ),
    needs=(
        (wants(TrainingStep, lambda one: bool(one.step_s)),),
        (wants(NcclRankState, lambda one: bool(one.launched_counts)),),
        (GpuProcess,),
        (Statement,),
    ),
    silence_needs=(
        (wants(TrainingStep, lambda one: bool(one.step_s)),),
        (wants(NcclRankState, lambda one: bool(one.launched_counts)),),
    ),
    judge=_judge,
    explain=Explain(
        what=Text(
            en="Any pause of one process shows as communication time on all the others.",
            zh="任一进程的停顿都会在其他进程上表现为通信时间。",
        ),
        shows=Text(
            en="Spikes at regular intervals, or the same rank late at saves and evaluations; the network is idle meanwhile.",
            zh="按固定间隔出现尖峰，或同一 rank 在保存与评估时迟到；期间网络空闲。",
        ),
        sources=("NVIDIA/nccl#701",),
    ),
    told_apart_from=(
        LookAlike(
            cause="straggler-compute-imbalance",
            because=Text(en="there the model's own work differs", zh="彼处是模型本身的工作量不同"),
        ),
        LookAlike(
            cause="collective-timeout-too-short",
            because=Text(en="there the lateness exceeds the watchdog", zh="彼处迟到超过了看门狗时限"),
        ),
    ),
    changes=(
        Change(
            what=Text(
                en="Take the extra work off the critical path: collect garbage on all ranks at the same step, save asynchronously, log rarely",
                zh="把额外工作移出关键路径：所有 rank 在同一步回收、异步保存、减少日志",
            ),
        ),
    ),
    checks=(Check(what=Text(en="The spikes vanish from the step times", zh="步时中的尖峰消失")),),
    gain=Text(en="Removes the spikes from the mean step", zh="消除平均步时中的尖峰"),
    severity="low",
)
