"""Compute or memory bandwidth of the GPU is the limit; communication is a small part."""

from wirespeed.diagnosis.joins.gpu_health import waits_on_few
from wirespeed.diagnosis.joins.pieces import MOST_COMPARED, against, piece, quantities
from wirespeed.model.case import Case
from wirespeed.model.facts.gpu import Gpu
from wirespeed.model.finding import FAIR, STRONG, Change, Check, Evidence, LookAlike, Verdict, supports
from wirespeed.model.kinds import Explain, Rule, wants
from wirespeed.model.measurement import TrainingStep
from wirespeed.model.settings import Quantity, Statement
from wirespeed.model.text import Text
from wirespeed.theory import storage

SMALL_SHARE_RATIO = 0.1


def _judge(case: Case) -> Verdict:
    evidence: list[Evidence] = []
    dominates = case.said("compute-dominates")
    evidence += piece(_DOMINATES, STRONG, dominates)
    if evidence:
        evidence += piece(_BUSY, FAIR, [*case.said("gpu-busy"), *_busy(case)])
        evidence += piece(_NETWORK_IDLE, FAIR, case.said("network-hardly-used"))
    elif case.said("network-hardly-used"):
        evidence += piece(_BUSY, FAIR, [*case.said("gpu-busy"), *_busy(case)])
    exposed = _small_share(case)
    if exposed:
        evidence.append(supports(_SMALL, STRONG, *exposed, communication_s=exposed[0].value, step_s=exposed[1].value))
        evidence += piece(_BUSY, FAIR, case.said("gpu-busy") if not dominates else ())
    contention = case.said("overlap-slows-kernels")
    evidence += piece(_CONTENTION, STRONG, contention)
    if contention:
        evidence += piece(_NETWORK_IDLE, FAIR, case.said("network-hardly-used", "collective-at-full-rate"))
    shares = [
        storage.data_wait_ratio(one.step_s or 0.0, one.data_s or 0.0)
        for one in case.every(TrainingStep)
        if one.step_s and one.data_s
    ]
    waits = case.every(TrainingStep) if any(share >= 0.3 for share in shares) else case.said("input-pipeline-waits")
    evidence += against(_DATA, FAIR, waits)
    powers = quantities(case, "power")[:MOST_COMPARED]
    low = [one for one in powers if any(one.quotes == other.quotes and 0 < 3 * one.value <= other.value for other in powers)]
    evidence += against(_SPINS, STRONG, low)
    waiting = case.every(Gpu, waits_on_few)
    evidence += against(_FEW_SMS, FAIR, waiting)
    evidence += against(_STOPS, FAIR, case.said("comes-to-a-stop"))
    evidence += against(_DEMAND, FAIR, case.said("demand-exceeds", "link-full"))
    return Verdict(evidence=tuple(evidence))


def _small_share(case: Case) -> tuple[Quantity, Quantity] | None:
    """The time of exposed communication and the time of a step of which it is a small part."""
    exposed = quantities(
        case,
        "time",
        r"(?:exposed|non-?overlapped|remaining)[^.;,]{0,24}$|(?:\bcomm\w*|all-?reduce|nccl\w*)(?: time| takes| is| kernels?|:)*\W{0,3}$",
    )
    whole = quantities(
        case,
        "time",
        r"\b(?:comm\w*|all-?reduce|nccl\w*|collectives?)(?:[^.;]|\.(?=\d)){0,24}\b(?:of|in|out of)(?: an?| the| each| every)?$",
    )
    steps = (*whole, *quantities(case, "time", r"\b(?:step|iteration|whole|total)(?: time| takes| is| of|:)*\W{0,3}$"))
    small = [(one, step) for one in exposed[:9] for step in steps[:9] if 0 < one.value <= SMALL_SHARE_RATIO * step.value]
    return small[0] if small and all(one.value <= SMALL_SHARE_RATIO * small[0][1].value for one in exposed) else None


def _busy(case: Case) -> list[Gpu]:
    near_power = case.every(
        Gpu, lambda one: bool(one.power_w and one.power_limit_w) and (one.power_w or 0) >= 0.9 * (one.power_limit_w or 1)
    )
    return [one for one in near_power if (one.utilisation_ratio or 0) >= 0.9]


_DOMINATES = Text(en="compute takes most of the time, or one machine alone is as slow", zh="计算占大部分时间，或单机同样慢")
_CONTENTION = Text(
    en="kernels slow down while a collective runs beside them: they share the GPU's SMs and memory",
    zh="集合操作同时运行时计算内核变慢：二者共享 GPU 的 SM 与显存带宽",
)
_BUSY = Text(en="the GPUs are at their limit", zh="GPU 达到极限")
_NETWORK_IDLE = Text(en="the network is hardly used or was tested good", zh="网络几乎未用或测试良好")
_STOPS = Text(en="something hangs or dies", zh="有程序挂起或退出")
_FEW_SMS = Text(en="few of a GPU's multiprocessors run", zh="GPU 只有少数多处理器在运行")
_SPINS = Text(en="the GPUs draw little power", zh="GPU 功耗很低")
_SMALL = Text(en="communication takes {communication_s} of a step of {step_s}", zh="每步 {step_s} 中通信仅占 {communication_s}")
_DATA = Text(en="steps wait for data", zh="步骤在等数据")
_DEMAND = Text(en="communication or the link is named as the larger part", zh="通信或链路被指为主要部分")

RULE = Rule(
    cause="compute-bound",
    title=Text(en="Compute is the limit, not the network", zh="瓶颈在计算而非网络"),
    summary=Text(
        en="The GPUs work all the time, and communication is a small or hidden part; a faster network would change little.",
        zh="GPU 一直在工作，通信只占很小部分或被隐藏；更快的网络收效甚微。",
    ),
    needs=((wants(Gpu, lambda one: one.power_w is not None), Statement), (TrainingStep, Statement), (Statement,)),
    judge=_judge,
    explain=Explain(
        what=Text(
            en="If communication is a share c of a step, an infinitely fast network saves at most c. Decoding reads all weights a token: rate is at most memory bandwidth / model bytes.",
            zh="若通信占步骤的 c，无限快的网络最多节省 c。解码每词元读一遍权重：速率至多为 显存带宽/模型字节。",
        ),
        shows=Text(
            en="GPU at its power limit, step time equal with one node, little traffic.",
            zh="GPU 达到功耗上限、单节点步骤时间相同、流量很少。",
        ),
        sources=("Amdahl's law", "Pope et al.: Efficiently Scaling Transformer Inference (arXiv 2211.05102)"),
    ),
    told_apart_from=(
        LookAlike(
            cause="straggler-gpu-throttle", because=Text(en="a throttled GPU is below its clocks", zh="降频的 GPU 低于正常时钟")
        ),
        LookAlike(
            cause="parallel-strategy-comm-bound",
            because=Text(en="there GPUs draw little power while they wait", zh="那里 GPU 等待时功耗低"),
        ),
    ),
    changes=(
        Change(
            what=Text(
                en="Look at kernels, precision, batch and parallel layout, not at the network",
                zh="检查内核、精度、批大小与并行布局，而非网络",
            )
        ),
    ),
    checks=(
        Check(
            what=Text(
                en="Step time without communication (one node, or no_sync) is nearly the same",
                zh="去掉通信（单节点或 no_sync）后步骤时间几乎不变",
            )
        ),
    ),
    gain=Text(en="None to be had from the network", zh="网络侧无收益可得"),
    severity="info",
    explains=("parallel-strategy-comm-bound", "bandwidth-insufficient"),
)
