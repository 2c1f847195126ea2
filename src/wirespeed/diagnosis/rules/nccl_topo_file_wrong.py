"""A topology or graph file given to NCCL does not fit the machine."""

import re
from collections.abc import Iterable

from wirespeed.diagnosis.joins.cluster import variables
from wirespeed.diagnosis.joins.pieces import piece
from wirespeed.model.case import Case
from wirespeed.model.events.nccl import NcclTopoNode, NcclWarning
from wirespeed.model.facts.gpu import Gpu
from wirespeed.model.facts.host import EnvVar
from wirespeed.model.finding import FAIR, SLIGHT, STRONG, Change, Check, LookAlike, Verdict
from wirespeed.model.kinds import Explain, Rule, wants
from wirespeed.model.record import Record
from wirespeed.model.settings import Statement
from wirespeed.model.text import Text

_SLOW_PCI_BYTES_PER_S = 1e9
"""A PCIe link below 1 GB/s is slower than Gen1 x4: no GPU or NIC of a training machine sits on one, so the file (or guest) is wrong."""

_FILE = re.compile(r"[\w./+-]*\.xml\b")
_NAMED = re.compile(
    rf"{_FILE.pattern}|(?i:\b(?:xml|file|graph|topology|dump)\s(?:is|was|comes|came|made|taken|copied|written|of|for|from)\b.{{0,40}})"
)
_GENERATIONS = {
    "V100": re.compile(r"(?i)v100|\bndv2|ndv2|nd40rs|nc\d+r?s_?v3|\bp3(?:dn)?\.|dgx-?1\b"),
    "A100": re.compile(r"(?i)a100|a800|ndv4|nd96am?sr|nc\d+ads_a100|nc\d+-a100|\bp4de?\b|\ba2-"),
    "H100": re.compile(r"(?i)h100|h200|h800|h20\b|ndv5|nd96isr|\bp5e?n?\b|\ba3-"),
    "B200": re.compile(r"(?i)g?b[23]00|ndv6|nd128isr|\bp6\b|\ba4-"),
}
"""How files and machine types tell a GPU generation (Azure, AWS and Google machine type lists)."""


def _judge(case: Case) -> Verdict:
    files = variables(case, "NCCL_TOPO_FILE", "NCCL_GRAPH_FILE")
    said = case.said("topology-file")
    slow = case.every(NcclTopoNode, lambda one: _is_bogus_link(one))
    warned = case.every(NcclWarning, topic="topology-file")
    not_found = case.every(NcclWarning, topic="net-not-found")
    injected = bool(files or said or warned)
    other_model = _made_for_another(case, (*files, *said))
    evidence = (
        *piece(_WARNED, STRONG + SLIGHT, warned),
        *piece(_SLOW, STRONG if injected else SLIGHT, slow),
        *piece(_OTHER_MODEL, STRONG, other_model),
        *piece(_NOT_FOUND, FAIR, not_found if injected else ()),
        *piece(_INJECTED, FAIR if slow or not_found else SLIGHT, (*files, *said)),
        *piece(_HELPS, STRONG, case.said("topology-file-off-helps")),
        *piece(_BARE_METAL, SLIGHT, case.said("slower-than-bare-metal") if injected else ()),
    )
    return Verdict(evidence=evidence)


def _made_for_another(case: Case, injected: tuple[EnvVar | Statement, ...]) -> tuple[Record, ...]:
    """A file whose name tells one GPU generation, on a machine that is said or seen to have another."""
    named = [(one, found) for one in injected if (found := _generations(_NAMED.findall(one.quotes[0].text)))]
    if not named:
        return ()
    gpus = _generations(one.title or "" for one in case.every(Gpu))
    told = (line for text in case.texts.values() for line in text.split("\n") if not _NAMED.search(line))
    here = gpus or _generations((*told, case.question))
    return tuple(one for one, found in named if here and not found & here)


def _generations(texts: Iterable[str]) -> frozenset[str]:
    """GPU generations that texts name, by the GPU or by a cloud's machine type that has it."""
    return frozenset(name for text in texts for name, pattern in _GENERATIONS.items() if pattern.search(text))


def _is_bogus_link(node: NcclTopoNode) -> bool:
    rate = node.bandwidth_bytes_per_s
    return rate is not None and 0 < rate < _SLOW_PCI_BYTES_PER_S and (node.link or "").upper().startswith("PCI")


_WARNED = Text(en="NCCL reports an error in the topology file", zh="NCCL 报告拓扑文件有误")
_SLOW = Text(en="the topology NCCL plans with has a PCIe link below 1 GB/s", zh="NCCL 所依据的拓扑中有低于 1 GB/s 的 PCIe 链路")
_OTHER_MODEL = Text(en="by its name the file was made for another machine type", zh="从文件名看，该文件为另一种机型所作")
_NOT_FOUND = Text(en="a network device of the file does not exist here", zh="文件中的网络设备在本机不存在")
_INJECTED = Text(en="a topology or graph file is injected", zh="注入了拓扑或图文件")
_HELPS = Text(en="without the file it works", zh="不用该文件则正常")
_BARE_METAL = Text(en="the same hardware is faster on bare metal", zh="同样硬件在裸机上更快")

RULE = Rule(
    cause="nccl-topo-file-wrong",
    title=Text(en="The topology file given to NCCL does not fit the machine", zh="提供给 NCCL 的拓扑文件与机器不符"),
    summary=Text(
        en="NCCL plans rings and trees around links that the file describes wrongly, so it avoids or overloads the real ones.",
        zh="NCCL 按文件中错误描述的链路规划环与树，从而避开或挤占真实链路。",
    ),
    needs=(
        (NcclTopoNode,),
        (wants(EnvVar, lambda one: one.name in ("NCCL_TOPO_FILE", "NCCL_GRAPH_FILE")),),
        (wants(NcclWarning, lambda one: one.topic == "topology-file"),),
        (Statement,),
    ),
    judge=_judge,
    explain=Explain(
        what=Text(
            en="NCCL_TOPO_FILE replaces or completes what NCCL detects; missing link_speed or link_width, or another machine's bus ids, give bogus rates.",
            zh="NCCL_TOPO_FILE 替换或补充 NCCL 的探测；缺少 link_speed、link_width 或总线号来自别的机器，都会得到错误速率。",
        ),
        shows=Text(
            en="`+ PCI[0.2]` above GPUs and NICs in the dump, few channels, or Could not find NET; the same job is faster without the file.",
            zh="拓扑输出中 GPU 与网卡上方出现 + PCI[0.2]，通道数少，或 Could not find NET；去掉文件后更快。",
        ),
        sources=(
            "NVIDIA/nccl-tests#256",
            "NCCL src/graph/topo.cc (link speed table)",
        ),
    ),
    told_apart_from=(
        LookAlike(
            cause="vm-topology-missing",
            because=Text(
                en="there no file is given and the guest simply hides the PCIe tree", zh="彼处没有文件，只是虚拟机隐藏了 PCIe 树"
            ),
        ),
        LookAlike(
            cause="pcie-link-degraded", because=Text(en="there lspci shows the slow link as well", zh="彼处 lspci 也显示慢链路")
        ),
    ),
    changes=(
        Change(
            what=Text(
                en="Dump what NCCL detects on bare metal of the same model and use it, with cpu and pci levels and real link_speed and link_width",
                zh="在同型号裸机上导出 NCCL 探测结果并使用，包含 cpu、pci 层级与真实 link_speed、link_width",
            ),
            commands=("NCCL_TOPO_DUMP_FILE=topo.xml ./all_reduce_perf -b 8 -e 8 -g 8",),
        ),
        Change(
            what=Text(
                en="Where the machine shows its real PCIe tree, drop the file", zh="若机器能看到真实 PCIe 树，则不要使用该文件"
            ),
            commands=("unset NCCL_TOPO_FILE NCCL_GRAPH_FILE",),
        ),
    ),
    checks=(
        Check(
            what=Text(en="The dump shows real PCIe rates and busbw returns", zh="拓扑输出显示真实 PCIe 速率，busbw 恢复"),
            commands=("NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=GRAPH ... 2>&1 | grep -E 'PCI.[0-9.]+|maxBw'",),
        ),
    ),
    gain=Text(en="Restores the bandwidth of the real topology", zh="恢复真实拓扑的带宽"),
    severity="high",
    explains=("vm-topology-missing",),
)
