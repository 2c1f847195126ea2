"""The rate is what this hardware's bus, link or GPU kind allows."""

import re

from wirespeed.diagnosis.joins.failures import failures
from wirespeed.diagnosis.joins.line_rate import line_rates
from wirespeed.diagnosis.joins.pieces import (
    ALONE,
    against,
    piece,
    quantities,
)
from wirespeed.model.case import Case
from wirespeed.model.events.nccl import NcclWarning
from wirespeed.model.facts.gpu import DevicePath, Gpu, PeerAccess
from wirespeed.model.facts.host import (
    PciDevice,
)
from wirespeed.model.finding import (
    FAIR,
    SLIGHT,
    STRONG,
    Change,
    Check,
    Evidence,
    LookAlike,
    Value,
    Verdict,
    contradicts,
    supports,
)
from wirespeed.model.kinds import Explain, Rule
from wirespeed.model.measurement import (
    CollectiveRun,
    ThroughputRun,
)
from wirespeed.model.record import Record
from wirespeed.model.settings import Quantity, Statement
from wirespeed.model.text import Text

PCIE_BANDS_BYTES_PER_S = {3: (8.0e9, 13.8e9), 4: (16.0e9, 27.5e9), 5: (32.0e9, 56.0e9)}
"""What 16 lanes of a generation deliver one way: 15.8, 31.5 and 63 GB/s less packet headers (about 85 %), less where the path crosses the CPU."""
_GENERATION = re.compile(
    r"(?i)(?:pci-?e?\w* ?(?:gen ?)?|gen ?)([345])(?:\.0)?(?: ?x ?16|.{0,12}\b(?:slot|host|board|server|cpu|platform|riser|machine))"
)
_GENERATION_NAMED = re.compile(r"(?i)(?:\bpci-?e(?:xpress)? ?(?:gen ?)?|\bgen ?)([345])(?:\.0)?\b(?! ?x ?[1248]\b)")
_GENERATION_OF_SPEED = {8e9: 3, 16e9: 4, 32e9: 5}
NVLINK_BYTES_PER_S = 25e9
"""One NVLink of generation 2 to 4, one way; generation 5 has twice that, so that its share would look too high and nothing is said."""
LEAST_NVLINK_BYTES_PER_S = 100e9
NVLINK_REACHED_RATIOS = (0.72, 1.0)
"""NCCL's ring reaches 75 to 85 % of it: 230 of 300, 370 of 450 GB/s; with in-switch reduction a busbw may exceed it."""
_LINKS_TIMES_RATE = re.compile(r"(?i)\b(?P<count>\d{1,2}) (?:nv)?links? ?[x×*@] ?(?P<rate>25|50)(?:\.0)? ?GB")
_TOOL = re.compile(r"\bib_\w+|perftest|p2pbandwidth|busbw")


def _generations(case: Case) -> list[tuple[Record, int]]:
    found: list[tuple[Record, int]] = [
        (one, one.pcie_generation_max_number)
        for one in case.every(Gpu)
        if one.pcie_generation_max_number and one.pcie_width_max_lanes in (None, 16)
    ]
    found += [
        (one, _GENERATION_OF_SPEED[one.max_speed_transfers_per_s])
        for one in case.every(PciDevice)
        if one.max_speed_transfers_per_s in _GENERATION_OF_SPEED and one.max_width_lanes == 16 and not one.is_downgraded
    ]
    for said in case.said("pcie-generation-limit"):
        for quote in said.quotes:
            found += [(said, int(match)) for match in _GENERATION.findall(quote.text)]
    for said in () if found else case.said("pcie-generation-named"):
        found += [(said, int(match)) for quote in said.quotes for match in _GENERATION_NAMED.findall(quote.text)]
    return found


def _rates(case: Case) -> list[tuple[Record, float]]:
    rates: list[tuple[Record, float]] = [(one, one.busbw_bytes_per_s) for one in case.every(CollectiveRun) if one.busbw_bytes_per_s]
    rates += [
        (one, one.bandwidth_bytes_per_s)
        for one in case.every(PeerAccess)
        if one.bandwidth_bytes_per_s and one.near_index != one.far_index
    ]
    rates += [(one, one.value / 8) for one in quantities(case, "rate") if "B" in one.printed or _TOOL.search(one.subject)]
    rates += [(one, one.rate_bits_per_s / 8) for one in case.every(ThroughputRun) if one.tool in ("perftest", "iperf3")]
    return rates


def _nvlinks_one_way(case: Case) -> tuple[Record, float] | None:
    """What all NVLinks of one GPU carry one way: by the topology's `NV12`, or as somebody reckons it."""
    paths = [
        (one, int(one.path_class[2:]))
        for one in case.every(DevicePath)
        if one.path_class.startswith("NV") and one.path_class[2:].isdecimal() and one.near.startswith("GPU")
    ]
    if paths:
        path, count = max(paths, key=lambda one: one[1])
        return path, NVLINK_BYTES_PER_S * count
    for said in case.every(Quantity):
        found = next((match for quote in said.quotes if (match := _LINKS_TIMES_RATE.search(quote.text))), None)
        if found:
            return said, 1e9 * int(found["count"]) * float(found["rate"])
    return None


def _nvlink_reached(case: Case) -> tuple[Evidence, ...]:
    """A bus bandwidth that is the usual share of what the NVLinks carry one way, with no link missing."""
    best = max(
        (one for one in case.every(CollectiveRun) if one.busbw_bytes_per_s),
        key=lambda one: one.busbw_bytes_per_s or 0.0,
        default=None,
    )
    links = _nvlinks_one_way(case)
    if best is None or links is None or links[1] < LEAST_NVLINK_BYTES_PER_S:
        return ()
    share_ratio = (best.busbw_bytes_per_s or 0.0) / links[1]
    if not NVLINK_REACHED_RATIOS[0] <= share_ratio <= NVLINK_REACHED_RATIOS[1]:
        return ()
    return (supports(_NVLINK, STRONG, best, links[0], share_ratio=share_ratio, one_way_bytes_per_s=links[1]),)


def _card_rates(case: Case, generation: int) -> list[tuple[Record, float]]:
    """Rates in bits of a card whose own port is faster than the slot of this generation."""
    most_bytes_per_s = PCIE_BANDS_BYTES_PER_S[generation][1]
    faster = {rate for _, rate in line_rates(case) if rate / 8 > most_bytes_per_s}
    return [(one, one.value / 8) for one in quantities(case, "rate") if faster and one.value not in faster]


def _judge(case: Case) -> Verdict:
    evidence: list[Evidence] = []
    consumer = [
        *case.said("consumer-gpu"),
        *case.every(Gpu, lambda one: bool(re.search(r"(?i)rtx|geforce|titan|\b(L4|L40S?|A10|T4)\b", one.title or ""))),
    ]
    no_nvlink: list[Record] = list(case.said("no-nvlink-hardware"))
    paths = case.every(DevicePath, lambda one: one.near.startswith("GPU") and one.far.startswith("GPU"))
    if paths and not any(one.path_class.startswith("NV") for one in paths):
        no_nvlink += paths
    generation = max(_generations(case), key=lambda one: one[1], default=None)
    best = max(_rates(case), key=lambda one: one[1], default=None)
    if best is None and generation:
        best = max(_card_rates(case, generation[1]), key=lambda one: one[1], default=None)
    if best and generation and generation[1] in PCIE_BANDS_BYTES_PER_S:
        low, high = PCIE_BANDS_BYTES_PER_S[generation[1]]
        numbers: dict[str, Value] = {"seen_bytes_per_s": best[1], "generation_number": generation[1], "most_bytes_per_s": high}
        if low <= best[1] <= high:
            evidence.append(supports(_WITHIN, STRONG, best[0], generation[0], **numbers))
        elif best[1] < 0.6 * low:
            evidence.append(contradicts(_BELOW, STRONG, best[0], generation[0], **numbers))
    else:
        evidence += piece(_LIMIT_SAID, ALONE, case.said("pcie-generation-limit"))
    evidence += _nvlink_reached(case)
    asked = case.said("expects-more")
    evidence += piece(_NO_NVLINK, FAIR if best or asked else SLIGHT, no_nvlink)
    alike = case.said("alike-on-all-of-a-kind")
    evidence += piece(_ALIKE, FAIR if not case.said("bridged-card-named") else STRONG, alike)
    evidence += piece(_BRIDGED, FAIR, case.said("bridged-card-named") if alike else ())
    if evidence:
        evidence += piece(_CONSUMER, FAIR if best or asked else SLIGHT, consumer)
        evidence += piece(_EXPECTS, SLIGHT, asked)
    degraded = case.every(PciDevice, lambda one: one.is_downgraded is True and (one.width_lanes or 0) < (one.max_width_lanes or 0))
    narrow = case.every(Gpu, lambda one: (one.pcie_width_lanes or 16) < (one.pcie_width_max_lanes or 0))
    evidence += against(_DEGRADED, STRONG, [*degraded, *narrow])
    evidence += against(_FAILED, STRONG, [*case.every(NcclWarning), *failures(case)])
    return Verdict(evidence=tuple(evidence))


_WITHIN = Text(
    en="{seen_bytes_per_s} is what PCIe generation {generation_number} x16 delivers (at most about {most_bytes_per_s})",
    zh="{seen_bytes_per_s} 正是 PCIe 第 {generation_number} 代 x16 的水平（至多约 {most_bytes_per_s}）",
)
_BELOW = Text(
    en="{seen_bytes_per_s} is below what PCIe generation {generation_number} x16 delivers",
    zh="{seen_bytes_per_s} 低于 PCIe 第 {generation_number} 代 x16 应有的水平",
)
_NVLINK = Text(
    en="{share_ratio} of the {one_way_bytes_per_s} that the NVLinks carry one way, which is what NCCL reaches",
    zh="达到 NVLink 单向 {one_way_bytes_per_s} 的 {share_ratio}，正是 NCCL 所能达到的",
)
_LIMIT_SAID = Text(en="the bus or the path through the CPU limits it", zh="总线或经过 CPU 的路径是上限")
_NO_NVLINK = Text(en="the GPUs have no NVLink or no peer access", zh="GPU 没有 NVLink 或对等访问")
_CONSUMER = Text(en="the GPU is of a kind without peer access over the bus", zh="该类 GPU 不支持总线对等访问")
_ALIKE = Text(en="all machines of this kind show the same", zh="同型号所有机器都一样")
_BRIDGED = Text(en="cards with bridges use part of their NVLinks", zh="桥接卡只使用部分 NVLink")
_EXPECTS = Text(en="more was expected", zh="期望更高")
_FAILED = Text(en="a program fails, which a slow bus does not cause", zh="有程序失败，而总线慢不会导致失败")
_DEGRADED = Text(en="a link runs with fewer lanes than it has", zh="有链路以少于应有的通道运行")

RULE = Rule(
    cause="no-fault-hardware-limit",
    title=Text(en="This is the limit of the hardware", zh="这是硬件的上限"),
    summary=Text(
        en="The rate is what the bus between these GPUs delivers; no setting makes it faster.",
        zh="该速率就是这些 GPU 之间总线所能提供的；没有设置能使其更快。",
    ),
    needs=((CollectiveRun, Gpu), (PeerAccess,), (CollectiveRun, DevicePath), (CollectiveRun, Statement), (Statement,)),
    judge=_judge,
    explain=Explain(
        what=Text(
            en="PCIe x16 carries 15.8, 31.5 or 63 GB/s each way in generation 3, 4 or 5, less about 15 %; GPUs without peer access copy through host memory and share the CPU's links.",
            zh="PCIe x16 第 3、4、5 代单向 15.8、31.5、63 GB/s，再减约 15 %；无对等访问的 GPU 经主机内存拷贝并共享 CPU 链路。",
        ),
        shows=Text(
            en="busbw of 10 to 13 GB/s (generation 3) or 20 to 26 GB/s (generation 4) on GPUs without NVLink, right results.",
            zh="无 NVLink 的 GPU 上 busbw 为 10 至 13 GB/s（第 3 代）或 20 至 26 GB/s（第 4 代），结果正确。",
        ),
        sources=("PCI Express Base Specification 5.0", "nccl-tests doc/PERFORMANCE.md", "NVIDIA GeForce RTX 40: no peer-to-peer"),
    ),
    told_apart_from=(
        LookAlike(
            cause="pcie-link-degraded",
            because=Text(
                en="there the link has fewer lanes or a lower generation than the device", zh="那里链路的通道数或代际低于设备"
            ),
        ),
        LookAlike(
            cause="p2p-unsupported-gpu",
            because=Text(
                en="if peer access is expected to work on this model, check its driver", zh="若该型号应支持对等访问，检查驱动"
            ),
        ),
        LookAlike(
            cause="pcie-acs-enabled",
            because=Text(
                en="there peer traffic is redirected though the hardware could do it directly", zh="那里硬件可直达却被重定向"
            ),
        ),
    ),
    changes=(
        Change(
            what=Text(
                en="Plan with this rate: less tensor parallel, more data or pipeline parallel between these GPUs",
                zh="按此速率规划：这些 GPU 间少用张量并行，多用数据或流水线并行",
            )
        ),
    ),
    checks=(
        Check(
            what=Text(
                en="nvidia-smi topo and p2pBandwidthLatencyTest agree with it",
                zh="nvidia-smi topo 与 p2pBandwidthLatencyTest 与之一致",
            ),
            commands=("nvidia-smi topo -m", "p2pBandwidthLatencyTest"),
        ),
    ),
    gain=Text(en="None: the hardware gives no more", zh="无：硬件已到上限"),
    severity="info",
    explains=("p2p-unsupported-gpu",),
)
