"""This GPU model or driver offers no peer access, so data goes through host memory."""

from wirespeed.diagnosis.joins.pieces import against, piece
from wirespeed.model.case import Case
from wirespeed.model.events.nccl import NcclChannel
from wirespeed.model.facts.gpu import DevicePath, Gpu, PeerAccess
from wirespeed.model.facts.host import EnvVar
from wirespeed.model.finding import FAIR, SLIGHT, STRONG, Change, Check, LookAlike, Verdict
from wirespeed.model.kinds import Explain, Rule, wants
from wirespeed.model.settings import Statement
from wirespeed.model.text import Text

_CONSUMER = ("geforce", "rtx 40", "rtx 30", "rtx 20", "rtx 50", "gtx", "titan v", " l40", " l4", " a10", " t4", "rtx a")


def _judge(case: Case) -> Verdict:
    unsupported = case.every(PeerAccess, is_supported=False)
    consumer = case.every(Gpu, lambda one: any(name in f" {(one.title or '').lower()}" for name in _CONSUMER))
    shm = case.every(NcclChannel, lambda one: one.transport.startswith("SHM"))
    nvlink = case.every(DevicePath, lambda one: one.path_class.startswith("NV"))
    forced = case.every(EnvVar, lambda one: one.name in ("NCCL_P2P_DISABLE", "NCCL_P2P_LEVEL") and one.setting not in (None, "0"))
    return Verdict(
        evidence=(
            *piece(_UNSUPPORTED, STRONG + SLIGHT, unsupported),
            *piece(_CONSUMER_GPU, FAIR, consumer),
            *piece(_SHM, SLIGHT, shm),
            *piece(_SAID, STRONG, case.said("no-peer-access")),
            *against(_NVLINK, STRONG, nvlink),
            *against(_FORCED, STRONG, forced),
        )
    )


_UNSUPPORTED = Text(en="peer access between these GPUs is reported as unsupported", zh="报告显示这些 GPU 之间不支持对等访问")
_CONSUMER_GPU = Text(
    en="this model has no NVLink and its driver offers no peer access", zh="该型号没有 NVLink，驱动也不提供对等访问"
)
_SHM = Text(en="NCCL copies through shared memory", zh="NCCL 经共享内存复制")
_SAID = Text(en="missing peer access is reported", zh="描述提到没有对等访问")
_NVLINK = Text(en="these GPUs are joined by NVLink", zh="这些 GPU 由 NVLink 相连")
_FORCED = Text(
    en="a variable switches peer access off, so the hardware is not what decides", zh="有变量关闭了对等访问，并非硬件所致"
)

RULE = Rule(
    cause="p2p-unsupported-gpu",
    title=Text(en="These GPUs have no peer access", zh="这些 GPU 没有对等访问"),
    summary=Text(
        en="The model or its driver does not let one GPU reach another's memory; every exchange goes through host memory and is bounded by it.",
        zh="该型号或驱动不允许一块 GPU 访问另一块的显存；每次交换都经主机内存并受其限制。",
    ),
    needs=(
        (wants(PeerAccess, lambda one: one.is_supported is not None),),
        (wants(Gpu, lambda one: one.title is not None), NcclChannel),
        (wants(Statement, lambda one: one.topic == "no-peer-access"),),
    ),
    judge=_judge,
    explain=Explain(
        what=Text(
            en="GeForce cards since the 40 series, and several inference cards, have no PCIe peer access in the standard driver.",
            zh="自 40 系起的 GeForce 以及若干推理卡在标准驱动下没有 PCIe 对等访问。",
        ),
        shows=Text(
            en="'via SHM' in NCCL's log, NS or CNS in nvidia-smi topo -p2p, a few GB/s all-reduce.",
            zh="NCCL 日志为 via SHM，nvidia-smi topo -p2p 为 NS 或 CNS，all-reduce 只有几 GB/s。",
        ),
        sources=("NVIDIA/nccl issues on GeForce peer access", "CUDA cudaDeviceCanAccessPeer documentation"),
    ),
    told_apart_from=(
        LookAlike(
            cause="nccl-env-override", because=Text(en="there a variable switches peer access off", zh="彼处是变量关闭了对等访问")
        ),
        LookAlike(
            cause="nvlink-missing", because=Text(en="there the model has NVLink and it is down", zh="彼处该型号有 NVLink 但断开")
        ),
    ),
    changes=(
        Change(
            what=Text(
                en="Nothing to repair: prefer pipeline or data parallelism over tensor parallelism here",
                zh="无可修复：此处宜用流水线或数据并行而非张量并行",
            )
        ),
    ),
    checks=(
        Check(what=Text(en="What the driver says of peer access", zh="驱动对对等访问的说明"), commands=("nvidia-smi topo -p2p r",)),
    ),
    gain=Text(en="A layout that needs less exchange", zh="采用交换更少的布局"),
    severity="low",
    explains=("nvlink-missing",),
)
