"""The remote back end computes on its CPU."""

from wirespeed.diagnosis.joins.pieces import against, piece
from wirespeed.model.case import Case
from wirespeed.model.facts.gpu import Gpu
from wirespeed.model.finding import FAIR, SLIGHT, STRONG, Change, Check, Evidence, LookAlike, Verdict
from wirespeed.model.kinds import Explain, Rule, wants
from wirespeed.model.settings import Statement
from wirespeed.model.text import Text


def _judge(case: Case) -> Verdict:
    evidence: list[Evidence] = []
    on_cpu = case.said("remote-on-cpu")
    lines = {quote.text for one in on_cpu for quote in one.quotes}
    evidence += piece(_ON_CPU, STRONG, on_cpu)
    buffers = () if case.said("buffers-on-gpu") else case.said("buffers-on-cpu")
    evidence += piece(_BUFFERS, FAIR if on_cpu else STRONG, buffers)
    if len(lines) > 1:
        evidence += piece(_TWICE, FAIR, on_cpu[1:])
    idle = case.every(Gpu, lambda one: one.utilisation_ratio is not None and one.utilisation_ratio < 0.05)
    busy = case.every(Gpu, lambda one: (one.utilisation_ratio or 0) >= 0.5)
    if evidence:
        evidence += piece(_GPU_IDLE, FAIR, [] if busy else idle)
        evidence += piece(_NETWORK_IDLE, SLIGHT, case.said("network-hardly-used"))
    evidence += against(_GPU_BUSY, FAIR, busy)
    return Verdict(evidence=tuple(evidence))


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
    needs=((wants(Gpu, lambda one: one.utilisation_ratio is not None), Statement), (Statement,)),
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
