"""The remote back end computes on its CPU."""

from wirespeed.diagnosis.joins.pieces import against, piece
from wirespeed.model.case import Case
from wirespeed.model.facts.gpu import Gpu
from wirespeed.model.facts.serving import ModelPlacement
from wirespeed.model.finding import FAIR, SLIGHT, STRONG, Change, Check, Evidence, LookAlike, Verdict
from wirespeed.model.kinds import Explain, Rule, wants
from wirespeed.model.settings import Statement
from wirespeed.model.text import Text

MOSTLY_RATIO = 0.5


def _judge(case: Case) -> Verdict:
    evidence: list[Evidence] = []
    logged = case.every(ModelPlacement, _is_on_cpu)
    on_cpu = case.said("remote-on-cpu") if not logged else ()
    lines = {quote.text for one in (*logged, *on_cpu) for quote in one.quotes}
    evidence += piece(_LOGGED, STRONG + SLIGHT, logged)
    evidence += piece(_ON_CPU, STRONG, on_cpu)
    partly = case.every(ModelPlacement, _is_mostly_on_cpu)
    evidence += piece(_PARTLY, FAIR, partly if not logged else ())
    on_gpu = case.every(ModelPlacement, _is_on_gpu)
    evidence += against(_ALL_ON_GPU, STRONG, on_gpu if not logged and not partly else ())
    buffers = () if case.said("buffers-on-gpu") else case.said("buffers-on-cpu")
    evidence += piece(_BUFFERS, FAIR if on_cpu else STRONG, buffers if not logged else ())
    if len(lines) > 1:
        evidence += piece(_TWICE, FAIR, (logged or on_cpu)[1:])
    idle = case.every(Gpu, lambda one: one.utilisation_ratio is not None and one.utilisation_ratio < 0.05)
    busy = case.every(Gpu, lambda one: (one.utilisation_ratio or 0) >= 0.5)
    if evidence:
        evidence += piece(_GPU_IDLE, FAIR, [] if busy else idle)
        evidence += piece(_NETWORK_IDLE, SLIGHT, case.said("network-hardly-used"))
    evidence += against(_GPU_BUSY, FAIR, busy)
    return Verdict(evidence=tuple(evidence))


def _is_on_cpu(one: ModelPlacement) -> bool:
    """Whether the server says that it computes on its CPU alone."""
    holds_all = bool(one.cpu_bytes) and not one.gpu_bytes and not one.remote_bytes
    return one.device == "cpu" or one.gpu_layers_count == 0 or one.cpu_ratio == 1.0 or holds_all


def _is_mostly_on_cpu(one: ModelPlacement) -> bool:
    """Whether at least half of the layers or of the model stay on the CPU."""
    layers = one.layers_count is not None and one.gpu_layers_count is not None and 2 * one.gpu_layers_count <= one.layers_count
    return not _is_on_cpu(one) and (layers or MOSTLY_RATIO <= (one.cpu_ratio or 0.0) < 1.0)


def _is_on_gpu(one: ModelPlacement) -> bool:
    """Whether all layers are on GPUs."""
    return one.cpu_ratio == 0.0 or (one.layers_count is not None and one.layers_count == one.gpu_layers_count)


_LOGGED = Text(en="the server says that it computes on its CPU", zh="服务器日志表明在用 CPU 计算")
_PARTLY = Text(en="at least half of the model stays on the CPU", zh="模型至少一半留在 CPU 上")
_ALL_ON_GPU = Text(en="all layers of the model are on GPUs", zh="模型的所有层都在 GPU 上")
_ON_CPU = Text(en="the remote side has no usable GPU or uses its CPU", zh="远端没有可用 GPU 或在用 CPU")
_BUFFERS = Text(en="weights or cache lie in the CPU's memory and none on a GPU", zh="权重或缓存都在 CPU 内存中，GPU 上没有")
_TWICE = Text(en="a second line says the same", zh="另有一行说明同样的情况")
_GPU_IDLE = Text(en="the GPU is idle", zh="GPU 空闲")
_NETWORK_IDLE = Text(en="the network is hardly used", zh="网络几乎未用")
_GPU_BUSY = Text(en="the GPU is busy", zh="GPU 繁忙")

RULE = Rule(
    cause="remote-compute-fallback",
    title=Text(en="The remote side computes on its CPU", zh="远端在用 CPU 计算"),
    summary=Text(
        en="A back end without a usable GPU fell back to its CPU; what looks like a slow link is slow compute.",
        zh="后端没有可用 GPU 而退回 CPU；看似链路慢，实为计算慢。",
    ),
    needs=((ModelPlacement,), (wants(Gpu, lambda one: one.utilisation_ratio is not None), Statement), (Statement,)),
    judge=_judge,
    explain=Explain(
        what=Text(
            en="A CPU has a tenth to a hundredth of a GPU's memory bandwidth, and a layer split runs at the slowest part's rate.",
            zh="CPU 的内存带宽是 GPU 的十分之一到百分之一，分层执行取决于最慢部分。",
        ),
        shows=Text(
            en="`offloaded 0/33 layers to GPU`, `100% CPU` in `ollama ps`, rpc-server built without a GPU back end; GPU at 0 %, network hardly used.",
            zh="offloaded 0/33 layers to GPU、ollama ps 显示 100% CPU、rpc-server 未编入 GPU 后端；GPU 0 %，网络几乎未用。",
        ),
        sources=("llama.cpp tools/rpc/README", "Ollama FAQ: how can I tell if my model was loaded onto the GPU"),
    ),
    told_apart_from=(LookAlike(cause="bandwidth-insufficient", because=Text(en="there the link is full", zh="那里链路已满")),),
    changes=(
        Change(
            what=Text(en="Build or start the back end with its GPU, and check its log", zh="以 GPU 构建或启动后端，并检查日志"),
            commands=("cmake -B build -DGGML_CUDA=ON -DGGML_RPC=ON", "rpc-server --device CUDA0", "docker run --gpus all"),
            side="serving",
        ),
    ),
    checks=(
        Check(
            what=Text(en="The log names the GPU and all layers are on it", zh="日志显示 GPU 且所有层都在其上"),
            commands=("ollama ps", "nvidia-smi"),
        ),
    ),
    gain=Text(en="Ten times and more", zh="十倍以上"),
    severity="high",
    explains=("bandwidth-insufficient", "compute-bound", "no-fault-not-network-bound"),
)
