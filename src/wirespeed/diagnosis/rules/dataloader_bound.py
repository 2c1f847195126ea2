"""Training steps wait for their input, not for communication."""

import re

from wirespeed.diagnosis.joins.pieces import (
    configured,
    piece,
    snake,
)
from wirespeed.diagnosis.joins.step_times import data_share
from wirespeed.model.case import Case
from wirespeed.model.finding import (
    FAIR,
    PROVES,
    SLIGHT,
    STRONG,
    Change,
    Check,
    Evidence,
    LookAlike,
    Verdict,
    contradicts,
    supports,
)
from wirespeed.model.kinds import Explain, Rule, wants
from wirespeed.model.measurement import PhaseTime, TrainingStep
from wirespeed.model.settings import CodeCall, Statement
from wirespeed.model.text import Text
from wirespeed.theory import storage

NOTABLE_RATIO = 0.3
HEALTHY_RATIO = 0.1
LEAST_STEPS_COUNT = 2


def _waits(case: Case) -> list[tuple[TrainingStep, float]]:
    steps = [one for one in case.every(TrainingStep) if one.step_s and one.data_s is not None]
    return [(one, storage.data_wait_ratio(one.step_s or 0.0, one.data_s or 0.0)) for one in steps]


def _judge(case: Case) -> Verdict:
    waits = _waits(case)
    waiting = sorted((one for one in waits if one[1] >= NOTABLE_RATIO), key=lambda one: -one[1])
    evidence: list[Evidence] = []
    if len(waiting) >= LEAST_STEPS_COUNT or (waiting and len(waits) == 1):
        share = waiting[0][1]
        evidence.append(
            supports(_MEASURED, PROVES if share >= 0.5 else STRONG, *(one for one, _ in waiting[:3]), share_ratio=share)
        )
    elif waits and all(share <= HEALTHY_RATIO for _, share in waits):
        evidence.append(contradicts(_FED, STRONG, waits[0][0]))
    timed = data_share(case)
    if timed and timed[0] >= NOTABLE_RATIO:
        evidence.append(supports(_TIMED, STRONG, timed[1], share_ratio=timed[0]))
    evidence += piece(_SAID, STRONG if not evidence else FAIR, case.said("input-pipeline-waits"))
    evidence += piece(_SYNTHETIC, FAIR, case.said("synthetic-data-is-fast"))
    if evidence:
        workers = [
            one.record
            for one in configured(case, r"num_workers$|dataloader")
            if re.search(r"(^|num_workers\s*=\s*)[0-2]\b", one.setting.strip())
        ]
        evidence += piece(_FEW_WORKERS, FAIR, workers)
        evidence += piece(_IDLE_NET, SLIGHT, case.said("network-hardly-used"))
    return Verdict(evidence=tuple(evidence))


_MEASURED = Text(en="a step waits {share_ratio} of its time for data", zh="一个步骤有 {share_ratio} 的时间在等数据")
_TIMED = Text(en="the slowest rank fetches its batch for {share_ratio} of the step", zh="最慢的 rank 取批次占步时的 {share_ratio}")
_FED = Text(en="steps hardly wait for data", zh="步骤几乎不等数据")
_SAID = Text(en="the input pipeline is said or seen to hold the steps", zh="输入流水线拖住了步骤")
_SYNTHETIC = Text(en="with made-up data it is fast", zh="用合成数据就快")
_FEW_WORKERS = Text(en="few or no loader processes are configured", zh="加载进程很少或没有")
_IDLE_NET = Text(en="the network is hardly used", zh="网络几乎未用")

RULE = Rule(
    cause="dataloader-bound",
    title=Text(en="The input pipeline is the limit", zh="输入流水线是瓶颈"),
    summary=Text(
        en="Each step waits for its batch; what looks like a slow all-reduce is other ranks waiting for the one without data.",
        zh="每步都在等批次；看似缓慢的 all-reduce 其实是其他 rank 在等没有数据的那个。",
    ),
    needs=(
        (wants(TrainingStep, lambda one: one.data_s is not None),),
        (wants(PhaseTime, lambda one: "batch" in one.name),),
        (wants(CodeCall, lambda one: "data_loader" in snake(one.name)),),
        (Statement,),
    ),
    judge=_judge,
    explain=Explain(
        what=Text(
            en="A step ends when the slowest rank has its batch; reading, decoding and copying must be faster than compute. A page cache that runs out shows after some steps.",
            zh="步骤在最慢的 rank 取到批次后才结束；读取、解码和拷贝须快于计算。页缓存耗尽在若干步后才显现。",
        ),
        shows=Text(
            en="`Data` close to `Time` in the log, GPU use in waves, CPU or disk busy; synthetic data is fast.",
            zh="日志中 Data 接近 Time、GPU 利用呈波浪、CPU 或磁盘繁忙；合成数据很快。",
        ),
        sources=("PyTorch ImageNet example (Time and Data meters)", "PyTorch: multi-process data loading", "NVIDIA DALI"),
    ),
    told_apart_from=(
        LookAlike(
            cause="straggler-slow-node", because=Text(en="there one node is slow with data at hand", zh="那里有数据但某节点慢")
        ),
        LookAlike(
            cause="parallel-strategy-comm-bound",
            because=Text(en="there the time is in collectives while data is ready", zh="那里数据已就绪而时间花在集合通信"),
        ),
        LookAlike(
            cause="storage-bound",
            because=Text(en="if the loader waits for reads, storage is behind it", zh="若加载器在等读取，根源在存储"),
        ),
    ),
    changes=(
        Change(
            what=Text(
                en="More loader processes, decoded or packed data, prefetch, pinned memory; keep the working set in memory or on NVMe",
                zh="增加加载进程、预解码或打包数据、预取、锁页内存；工作集放内存或 NVMe",
            ),
            commands=("DataLoader(num_workers=16, prefetch_factor=4, persistent_workers=True, pin_memory=True)",),
            side="training",
        ),
    ),
    checks=(
        Check(
            what=Text(
                en="Data time under a tenth of step time; synthetic input gives the same step time",
                zh="数据时间小于步骤的十分之一；合成输入的步骤时间相同",
            )
        ),
    ),
    gain=Text(en="Step time falls to step less data wait", zh="步骤时间降到 步骤减数据等待"),
    severity="medium",
    explains=(
        "straggler-slow-node",
        "straggler-other",
        "collective-timeout-too-short",
        "parallel-strategy-comm-bound",
        "storage-bound",
    ),
)
