"""GPUDirect RDMA is not active: data between GPU and NIC is staged in host memory."""

import re

from wirespeed.diagnosis.joins.benchmarks import slower_from_gpu
from wirespeed.diagnosis.joins.cluster import host_of, is_tried_out
from wirespeed.diagnosis.joins.pieces import piece
from wirespeed.model.case import Case
from wirespeed.model.events.nccl import NcclChannel, NcclGdr, NcclWarning
from wirespeed.model.facts.gpu import Gpu
from wirespeed.model.facts.host import EnvVar, KernelModule
from wirespeed.model.finding import FAIR, SLIGHT, STRONG, Change, Check, LookAlike, Value, Verdict, contradicts
from wirespeed.model.kinds import Explain, Rule, wants
from wirespeed.model.measurement import ThroughputRun
from wirespeed.model.settings import Statement
from wirespeed.model.text import Text

SMALL_BAR1_BYTES = 256 * 1024 * 1024
"""The window without a resizable BAR; GPUs of data centres map all of their memory."""
_END = re.compile(r"\[(?:send|receive)\]")


def _judge(case: Case) -> Verdict:
    off = case.every(NcclGdr, is_on=False)
    on = (*case.every(NcclGdr, is_on=True), *case.every(NcclChannel, uses_gdr=True))
    staged = case.every(NcclChannel, lambda one: one.transport.startswith("NET/IB") and not one.uses_gdr)
    uneven = _differs_by_host(case) or _differs_by_end(case)
    no_module = case.every(KernelModule, lambda one: one.name in ("nvidia_peermem", "nv_peer_mem") and not one.is_loaded)
    module = case.every(KernelModule, lambda one: one.name in ("nvidia_peermem", "nv_peer_mem") and one.is_loaded)
    forbidden = tuple(one for one in case.every(EnvVar) if _forbids(one) and not is_tried_out(one))
    slower = slower_from_gpu(case, by_verbs=False)
    evidence = (
        *piece(_OFF, STRONG, off if not on else ()),
        *piece(_STAGED, FAIR, staged if not on else ()),
        *piece(_UNEVEN, STRONG, uneven),
        *piece(_ONE_NIC, FAIR + SLIGHT, off if on and not uneven else ()),
        *piece(_NO_MODULE, FAIR + 0.5, no_module if not module else ()),
        *piece(_ONE_LACKS, STRONG, _one_host_lacks(no_module, module)),
        *piece(_FORBIDDEN, STRONG if off or staged else FAIR, forbidden),
        *piece(_UNSUPPORTED, STRONG, case.every(NcclWarning, topic="gdr-unsupported")),
        *piece(_FROM_GPU, STRONG, slower, **_rates(slower)),
        *piece(_SMALL_BAR, FAIR, case.every(Gpu, _has_a_small_window) if off or staged or slower else ()),
        *piece(_SAID, FAIR + SLIGHT, case.said("gdr-not-used")),
        *((contradicts(_ON, STRONG, on[0]),) if on and not off and not uneven else ()),
    )
    return Verdict(evidence=evidence)


def _has_a_small_window(gpu: Gpu) -> bool:
    """Whether the bus reaches no more than the usual window of cards that were not made for it."""
    return bool(gpu.bar1_total_bytes) and (gpu.bar1_total_bytes or 0.0) <= SMALL_BAR1_BYTES


def _rates(slower: tuple[ThroughputRun, ...]) -> dict[str, Value]:
    if not slower:
        return {}
    return {"gpu_bits_per_s": slower[0].rate_bits_per_s, "host_bits_per_s": slower[1].rate_bits_per_s}


def _differs_by_host(case: Case) -> tuple[NcclChannel, ...]:
    """A channel with GPUDirect on one host and one without on another: a host lacks the module."""
    over_ib = case.every(NcclChannel, lambda one: one.transport.startswith("NET/IB") and host_of(one) is not None)
    with_it = {host_of(one): one for one in over_ib if one.uses_gdr}
    without = {host_of(one): one for one in over_ib if not one.uses_gdr and host_of(one) not in with_it}
    return (next(iter(without.values())), next(iter(with_it.values()))) if with_it and without else ()


def _differs_by_end(case: Case) -> tuple[NcclChannel, ...]:
    """One connection that its sender has with GPUDirect and its receiver without, or the reverse: two hosts say so."""
    ends: dict[tuple[int, int, int], NcclChannel] = {}
    for one in case.every(NcclChannel, lambda one: one.transport.startswith("NET/IB")):
        other = ends.setdefault((one.channel_index, one.from_rank, one.to_rank), one)
        ends_named = {found[0] for each in (other, one) if (found := _END.search(each.quotes[0].text))}
        if other.uses_gdr != one.uses_gdr and len(ends_named) != 1:
            return (other, one)
    return ()


def _one_host_lacks(missing: tuple[KernelModule, ...], loaded: tuple[KernelModule, ...]) -> tuple[KernelModule, ...]:
    """The module of one host that another host has loaded."""
    with_it = {one.host for one in loaded if one.host}
    without = tuple(one for one in missing if one.host and one.host not in with_it)
    return (without[0], loaded[0]) if without and with_it else ()


def _forbids(variable: EnvVar) -> bool:
    setting = (variable.setting or "").strip().rstrip(".").upper()
    return (variable.name == "NCCL_NET_GDR_LEVEL" and setting in ("0", "LOC")) or (
        variable.name == "NCCL_DMABUF_ENABLE" and setting == "0"
    )


_OFF = Text(en="NCCL reports GPUDirect RDMA disabled", zh="NCCL 报告 GPUDirect RDMA 已禁用")
_STAGED = Text(en="inter-node channels run over IB without GDRDMA", zh="节点间通道走 IB 但没有 GDRDMA")
_UNEVEN = Text(en="one host uses GPUDirect RDMA and another does not", zh="一台主机使用 GPUDirect RDMA，另一台没有")
_ONE_NIC = Text(en="GPUDirect RDMA is off for one NIC and on for another", zh="某块网卡的 GPUDirect RDMA 关闭，另一块开启")
_NO_MODULE = Text(en="the peer-memory module is not loaded", zh="peer-memory 内核模块未加载")
_ONE_LACKS = Text(
    en="one host lacks the peer-memory module that another has loaded", zh="一台主机缺少另一台已加载的 peer-memory 模块"
)
_FORBIDDEN = Text(en="the environment forbids GPUDirect RDMA", zh="环境变量禁止 GPUDirect RDMA")
_UNSUPPORTED = Text(en="the library says that GPUDirect RDMA is not supported here", zh="库报告此处不支持 GPUDirect RDMA")
_FROM_GPU = Text(
    en="the same library moves {gpu_bits_per_s} from GPU memory and {host_bits_per_s} from host memory",
    zh="同一通信库从 GPU 显存只有 {gpu_bits_per_s}，从主机内存有 {host_bits_per_s}",
)
_SMALL_BAR = Text(
    en="the bus reaches only a small window of the GPU's memory (BAR1)", zh="总线只能访问 GPU 显存的一个小窗口（BAR1）"
)
_SAID = Text(en="GPUDirect RDMA is not used", zh="未使用 GPUDirect RDMA")
_ON = Text(en="GPUDirect RDMA is on", zh="GPUDirect RDMA 已启用")

RULE = Rule(
    cause="gdr-disabled",
    title=Text(en="GPUDirect RDMA is off", zh="GPUDirect RDMA 未启用"),
    summary=Text(
        en="Every byte between GPU and NIC passes through host memory, which halves the rate and loads the CPU's memory.",
        zh="GPU 与网卡之间的每个字节都经过主机内存，速率减半并占用内存带宽。",
    ),
    needs=(
        (NcclGdr,),
        (wants(NcclChannel, lambda one: one.transport.startswith("NET/IB")),),
        (wants(KernelModule, lambda one: "peer" in one.name),),
        (wants(EnvVar, lambda one: one.name in ("NCCL_NET_GDR_LEVEL", "NCCL_DMABUF_ENABLE")),),
        (wants(NcclWarning, lambda one: one.topic == "gdr-unsupported"),),
        (
            wants(ThroughputRun, lambda one: one.memory == "gpu" and one.protocol == "mpi"),
            wants(ThroughputRun, lambda one: one.memory != "gpu" and one.protocol == "mpi"),
        ),
        (Statement,),
    ),
    judge=_judge,
    explain=Explain(
        what=Text(
            en="GPUDirect needs nvidia-peermem or DMA-BUF (open kernel modules, Linux 5.12), and a GPU and NIC close enough for NCCL's level.",
            zh="GPUDirect 需要 nvidia-peermem 或 DMA-BUF（开源内核模块、Linux 5.12 起），且 GPU 与网卡距离满足 NCCL 的级别。",
        ),
        shows=Text(
            en="No /GDRDMA in channel lines, `GPU Direct RDMA Disabled`, busbw about half of the NIC's rate.",
            zh="通道行没有 /GDRDMA，出现 GPU Direct RDMA Disabled，busbw 约为网卡速率的一半。",
        ),
        sources=(
            "NCCL user guide: NCCL_NET_GDR_LEVEL",
            "NVIDIA GPUDirect RDMA documentation",
        ),
    ),
    told_apart_from=(
        LookAlike(
            cause="pcie-acs-enabled",
            because=Text(en="there GPUDirect is on and fails or goes the long way", zh="彼处 GPUDirect 已开，但失败或绕路"),
        ),
        LookAlike(
            cause="vm-topology-missing",
            because=Text(en="there the guest hides how near GPU and NIC are", zh="彼处虚拟机隐藏了 GPU 与网卡的距离"),
        ),
    ),
    changes=(
        Change(
            what=Text(en="Load the module at boot, or use DMA-BUF", zh="开机加载模块，或使用 DMA-BUF"),
            commands=(
                "modprobe nvidia-peermem",
                "echo nvidia-peermem > /etc/modules-load.d/nvidia-peermem.conf",
            ),
        ),
        Change(
            what=Text(en="Remove variables that forbid it", zh="去掉禁止它的变量"),
            commands=("unset NCCL_NET_GDR_LEVEL NCCL_DMABUF_ENABLE",),
        ),
    ),
    checks=(
        Check(
            what=Text(en="Channel lines end in /GDRDMA", zh="通道行以 /GDRDMA 结尾"),
            commands=(
                "NCCL_DEBUG=INFO ... 2>&1 | grep -c GDRDMA",
                "lsmod | grep peermem",
            ),
        ),
    ),
    gain=Text(en="Up to twice the inter-node bandwidth", zh="节点间带宽最高翻倍"),
    severity="medium",
    settled_by=("lsmod | grep -i peermem",),
)
