"""Threads, memory or interrupts sit on another NUMA node than the NIC or GPU they serve."""

from wirespeed.diagnosis.joins.benchmarks import slower_from_gpu
from wirespeed.diagnosis.joins.pieces import against, piece
from wirespeed.model.case import Case
from wirespeed.model.events.nccl import NcclTuning
from wirespeed.model.facts.gpu import DevicePath
from wirespeed.model.facts.host import CpuMask, Interrupt, NumaNode
from wirespeed.model.facts.link import Link
from wirespeed.model.finding import FAIR, SLIGHT, STRONG, Change, Check, LookAlike, Verdict
from wirespeed.model.kinds import Explain, Rule, wants
from wirespeed.model.record import Record
from wirespeed.model.settings import Statement
from wirespeed.model.text import Text


def _judge(case: Case) -> Verdict:
    confined = _masks_of_one_node(case)
    remote = _remote_interrupts(case)
    far = _gpus_without_near_nic(case)
    said = case.said("wrong-socket")
    return Verdict(
        evidence=(
            *piece(_CONFINED, STRONG, confined),
            *piece(_REMOTE, STRONG, remote),
            *piece(_FAR, FAIR if _has_near_elsewhere(case) is False else SLIGHT, far),
            *piece(_PLAN, FAIR, case.every(NcclTuning, path_between="SYS") if not far else ()),
            *piece(_FROM_GPU, FAIR, slower_from_gpu(case, by_verbs=True) if far else ()),
            *piece(_SAID, STRONG, said),
            *piece(_RESTRICTED, SLIGHT, case.said("restricted-cores")),
            *against(_DENIED, FAIR, case.denied("wrong-socket")),
        )
    )


def _has_near_elsewhere(case: Case) -> bool | None:
    """Whether another GPU has a near NIC: then there are too few NICs for all sockets, which no binding changes."""
    nics = {one.far for one in case.every(DevicePath) if one.near.startswith("GPU") and not one.far.startswith("GPU")}
    near = case.first(
        DevicePath, lambda one: one.near.startswith("GPU") and one.far in nics and one.path_class in ("PIX", "PXB", "PHB", "NODE")
    )
    return None if not nics else near is not None and len(nics) < 2


def _masks_of_one_node(case: Case) -> tuple[Record, ...]:
    """A CPU mask that is one NUMA node of several, with the node it equals."""
    found: list[Record] = []
    for mask in case.every(CpuMask, lambda one: bool(one.cpus)):
        nodes = [one for one in case.every(NumaNode, lambda one: bool(one.cpus)) if one.host in (mask.host, None)]
        if len(nodes) < 2:
            continue
        node = next((one for one in nodes if set(mask.cpus) <= set(one.cpus)), None)
        if node is not None and len(mask.cpus) > 1:
            found.extend((mask, node))
    return tuple(found)


def _remote_interrupts(case: Case) -> tuple[Record, ...]:
    """Interrupts of a link that run on CPUs of another node than the link's."""
    nodes = {(one.host, one.index): set(one.cpus) for one in case.every(NumaNode)}
    found: list[Record] = []
    for link in case.every(Link, lambda one: one.numa_node_index is not None and one.numa_node_index >= 0):
        local = nodes.get((link.host, link.numa_node_index or 0), set())
        counted = case.every(Interrupt, lambda one: bool(one.effective_cpus))
        mine = [one for one in counted if link.name in one.name and one.host == link.host]
        away = tuple(one for one in mine if local and not set(one.effective_cpus or ()) & local)
        if mine and len(away) > len(mine) / 2:
            found.extend((link, *away[:2]))
    return tuple(found)


def _gpus_without_near_nic(case: Case) -> tuple[Record, ...]:
    """GPU-to-NIC paths across sockets where no other NIC of that GPU is nearer."""
    paths = case.every(DevicePath, lambda one: one.near.startswith("GPU") and not one.far.startswith("GPU"))
    by_gpu: dict[str, list[DevicePath]] = {}
    for path in paths:
        by_gpu.setdefault(path.near, []).append(path)
    return tuple(ways[0] for ways in by_gpu.values() if all(one.path_class in ("SYS", "NODE") for one in ways))


_CONFINED = Text(en="the CPU mask covers one NUMA node of several", zh="CPU 掩码只覆盖多个 NUMA 节点中的一个")
_REMOTE = Text(en="the NIC's interrupts run on another node's CPUs", zh="网卡中断运行在其他节点的 CPU 上")
_FAR = Text(en="this GPU reaches every NIC across the socket link", zh="该 GPU 到所有网卡都要跨插槽")
_PLAN = Text(en="NCCL's plan takes a NIC on another socket than the GPU", zh="NCCL 的规划所用网卡与 GPU 不在同一插槽")
_FROM_GPU = Text(en="the NIC reads GPU memory far slower than host memory", zh="网卡读取 GPU 显存远慢于主机内存")
_SAID = Text(en="a remote socket or a cure by pinning is reported", zh="描述提到远端插槽，或绑定后改善")
_RESTRICTED = Text(en="the slow run was restricted to certain cores", zh="慢的那次被限制在某些核上")
_DENIED = Text(en="placement on the right socket is reported", zh="描述称已放在正确的插槽")

RULE = Rule(
    cause="numa-mismatch",
    title=Text(en="Work runs on the wrong NUMA node", zh="工作运行在错误的 NUMA 节点"),
    summary=Text(
        en="The threads, memory or interrupts that serve a NIC or GPU live on another socket; each transfer crosses the socket link and all share it.",
        zh="服务于网卡或 GPU 的线程、内存或中断在另一插槽；每次传输都跨插槽链路，且大家共享它。",
    ),
    needs=(
        (NumaNode, CpuMask),
        (
            wants(Interrupt, lambda one: one.effective_cpus is not None),
            wants(Link, lambda one: one.numa_node_index is not None),
            NumaNode,
        ),
        (wants(DevicePath, lambda one: one.near.startswith("GPU") and not one.far.startswith("GPU")),),
        (wants(NcclTuning, lambda one: one.path_between is not None),),
        (wants(Statement, lambda one: one.topic == "wrong-socket"),),
    ),
    judge=_judge,
    explain=Explain(
        what=Text(
            en="A launcher's mask is inherited by every child: one process per node started with one task's cores confines all of them.",
            zh="启动器的掩码会被所有子进程继承：每节点一个进程却只给一个任务的核，会把全部限制在内。",
        ),
        shows=Text(
            en="A third to a half of the bandwidth under a scheduler, full without it; SYS between GPU and NIC in topo -m.",
            zh="调度器下只有三分之一到一半带宽，去掉则正常；topo -m 中 GPU 与网卡间为 SYS。",
        ),
        sources=(
            "mlnx-tools set_irq_affinity_bynode",
            "NCCL performance and tuning documentation (CPU affinity)",
            "uccl-project/uccl#956",
        ),
    ),
    told_apart_from=(
        LookAlike(
            cause="cpu-binding", because=Text(en="there the mask is too small, wherever it lies", zh="彼处掩码太小，与位置无关")
        ),
        LookAlike(
            cause="irq-affinity",
            because=Text(en="there all interrupts meet on one CPU, local or not", zh="彼处所有中断集中在一个 CPU，不论是否本地"),
        ),
        LookAlike(
            cause="vm-topology-missing",
            because=Text(en="in a guest with numa_node -1 this cannot be told at all", zh="虚拟机 numa_node 为 -1 时无从判断"),
        ),
    ),
    changes=(
        Change(
            what=Text(
                en="One rank per task with its GPU's local cores, or one task per node with all cores",
                zh="每任务一个进程并用其 GPU 的本地核，或每节点一个任务用全部核",
            ),
            commands=(
                "srun --ntasks-per-node=8 --cpus-per-task=CORES --cpu-bind=verbose,cores CMD",
                "numactl --cpunodebind=N --membind=N CMD",
            ),
            side="training",
        ),
        Change(
            what=Text(en="Let the NIC's interrupts run on its own node", zh="让网卡中断运行在其所在节点"),
            commands=("set_irq_affinity_bynode.sh N IFACE",),
        ),
    ),
    checks=(
        Check(
            what=Text(en="Masks, interrupts and devices agree", zh="掩码、中断与设备一致"),
            commands=("grep Cpus_allowed_list /proc/PID/status", "cat /sys/class/net/IFACE/device/numa_node", "nvidia-smi topo -m"),
        ),
    ),
    gain=Text(
        en="10 to 30 % for interrupts, up to threefold for confined proxy threads", zh="中断约 10% 至 30%，被限制的代理线程可达三倍"
    ),
    severity="medium",
    explains=("straggler-slow-node", "cpu-binding"),
)
