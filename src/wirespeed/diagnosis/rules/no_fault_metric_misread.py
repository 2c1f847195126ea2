"""A normal value is taken for a fault: units, lanes, utilisation that is waiting, links that sleep."""

import re

from wirespeed.diagnosis.joins.failures import failures
from wirespeed.diagnosis.joins.gpu_health import waits_on_few
from wirespeed.diagnosis.joins.line_rate import GENERATION_BITS_PER_S
from wirespeed.diagnosis.joins.pcie_sleep import waking_gpus
from wirespeed.diagnosis.joins.pieces import (
    ALONE,
    MOST_COMPARED,
    against,
    lines_of,
    piece,
    quantities,
)
from wirespeed.model.case import Case
from wirespeed.model.facts.gpu import Gpu
from wirespeed.model.facts.host import (
    PciDevice,
)
from wirespeed.model.facts.rdma import RdmaPort
from wirespeed.model.finding import (
    FAIR,
    SLIGHT,
    STRONG,
    Change,
    Check,
    Evidence,
    LookAlike,
    Verdict,
    supports,
)
from wirespeed.model.kinds import Explain, Rule, wants
from wirespeed.model.measurement import CollectiveRun, ThroughputRun
from wirespeed.model.record import Record
from wirespeed.model.settings import Quantity, Statement
from wirespeed.model.text import Text

_BOTH_WAYS = re.compile(r"(?i)nvlink|bi-?directional|full[- ]duplex|both (?:directions|ways)")
_NVLINK = re.compile(r"(?i)nv-?link|nvswitch|\bsxm|\bhgx|\bdgx")
_NVLINK_TOTAL = re.compile(r"\b(300|400|600|900|1800) ?GB(?:/s|ps)")
NVLINK_REACHED_RATIO = 0.75
"""NCCL reaches 75 to 85 % of one direction of NVLink: 230 of 300, 370 of 450 GB/s."""
_LANES_PRINTED = re.compile(r"(?P<rate>\d{2,3}) ?Gb/sec \(4X (?P<name>\w+)\)")
_ONE_OF_FOUR = re.compile(
    r"(?i)(?:one|1|only one) of (?:the )?(?:four|4)|four (?:cables?|ports?|links?|lanes?)|\b4 (?:cables|ports|links|lanes)|times four|4 ?x ?\d+ ?g"
)
SEGMENT_BYTES = 1448
FEW_RETRANSMITS_RATIO, STEADY_RATIO = 1e-3, 0.7
SAME_RATIO = 0.06
"""Two printed rates within 6 % are one rate, rounded or with and without headers."""


def _same_rate_twice(case: Case) -> tuple[Quantity, Quantity] | None:
    """A rate in bytes and a rate in bits that are the same."""
    rates = quantities(case, "rate")
    in_bytes = [one for one in rates if "B" in one.printed][:MOST_COMPARED]
    in_bits = [one for one in rates if "B" not in one.printed][:MOST_COMPARED]
    return next(((left, right) for left in in_bytes for right in in_bits if _is_near(left.value, right.value)), None)


def _half_of_both_ways(case: Case) -> tuple[Quantity, Quantity] | None:
    """A rate one way and one that adds both ways, where NVLink or directions are spoken of."""
    rates = [one for one in quantities(case, "rate") if "B" in one.printed][:MOST_COMPARED]
    if not any(_BOTH_WAYS.search(line) for line in lines_of(rates)):
        return None
    return next(((low, high) for low in rates for high in rates if 0.42 <= low.value / max(high.value, 1.0) <= 0.52), None)


def _nvlink_one_way(case: Case) -> tuple[Record, float, str] | None:
    """A bus bandwidth inside one machine that is what its NVLinks carry one way, where the sum of both ways was in mind."""
    lines = lines_of([*case.every(Statement), *case.every(Quantity)])
    both = next((found for line in lines if _NVLINK.search(line) and (found := _NVLINK_TOTAL.search(line))), None)
    if both is None:
        return None
    most = float(both[1]) * 1e9 / 2
    rates: list[tuple[Record, float]] = [(one, one.busbw_bytes_per_s) for one in case.every(CollectiveRun) if one.busbw_bytes_per_s]
    rates += [(one, 1e9 * one.value) for one in case.said("busbw-named") if one.value]
    rates += [(one, one.value / 8) for one in quantities(case, "rate") if "B" in one.printed]
    best = max((one for one in rates if one[1] <= most), key=lambda one: one[1], default=None)
    return (best[0], best[1], both[0]) if best and best[1] >= NVLINK_REACHED_RATIO * most else None


def _spinning(case: Case) -> list[Record]:
    """GPUs said to be fully used that draw little power: their kernels wait."""
    gpus = case.every(
        Gpu,
        lambda one: (
            (one.utilisation_ratio or 0.0) >= 0.9 and bool(one.power_w) and 3 * (one.power_w or 0.0) <= (one.power_limit_w or 0.0)
        ),
    )
    powers = quantities(case, "power")[:MOST_COMPARED]
    low = [one for one in powers if any(one.quotes == other.quotes and 0 < 3 * one.value <= other.value for other in powers)]
    return [*gpus, *(low if case.said("gpu-busy", "metric-confusion") else [])]


def _lanes_named(case: Case) -> list[Record]:
    """A port that runs at its generation's rate, where the `4X` beside it was taken for a number of links."""
    lines = [*case.every(RdmaPort, lambda one: bool(one.link_rate_bits_per_s)), *quantities(case, "rate")]
    asked = any(_ONE_OF_FOUR.search(line) for line in (case.question, *lines_of(case.every(Statement))))
    return [one for one in lines if asked and any(_is_full_rate(quote.text) for quote in one.quotes)]


def _is_full_rate(line: str) -> bool:
    found = _LANES_PRINTED.search(line)
    return found is not None and 1e9 * float(found["rate"]) == GENERATION_BITS_PER_S.get(found["name"].upper())


def _few_retransmits(case: Case) -> tuple[ThroughputRun, float] | None:
    """A TCP test whose rate is steady and which sent again less than a thousandth of its data, while the count worries."""
    runs = case.every(ThroughputRun, lambda one: bool(one.retransmits_packets) and bool(one.transferred_bytes))
    if not runs:
        return None
    again_bytes = SEGMENT_BYTES * sum(one.retransmits_packets or 0 for one in runs)
    ratio = again_bytes / sum(one.transferred_bytes or 0.0 for one in runs)
    rates = sorted(one.rate_bits_per_s for one in runs)
    return (runs[0], ratio) if ratio < FEW_RETRANSMITS_RATIO and rates[0] >= STEADY_RATIO * rates[-1] else None


def _is_near(left: float, right: float) -> bool:
    return abs(left - right) <= SAME_RATIO * max(left, right)


def _judge(case: Case) -> Verdict:
    confused = case.said("metric-confusion")
    evidence: list[Evidence] = []
    same_rate = _same_rate_twice(case)
    if same_rate:
        evidence.append(supports(_SAME, FAIR, *same_rate, bytes_text=same_rate[0].printed, bits_text=same_rate[1].printed))
    halves = _half_of_both_ways(case)
    if halves:
        evidence.append(supports(_HALF, FAIR, *halves, one_way_text=halves[0].printed, both_text=halves[1].printed))
    nvlink = _nvlink_one_way(case)
    if nvlink:
        evidence.append(supports(_NVLINK_HALF, STRONG, nvlink[0], one_way_bytes_per_s=nvlink[1], both_text=nvlink[2]))
    spinning = _spinning(case)
    evidence += piece(_SPINS, STRONG, spinning)
    evidence += piece(_FEW_SMS, STRONG, case.every(Gpu, waits_on_few) if not spinning else ())
    evidence += piece(_CONFUSED, ALONE, confused)
    few = _few_retransmits(case) if case.said("asks-about-retransmits") else None
    if few:
        evidence.append(supports(_FEW_AGAIN, STRONG, few[0], share_ratio=few[1]))
    evidence += piece(_WARM_UP, STRONG, case.said("warm-up-counted"))
    evidence += piece(_LANES, STRONG, _lanes_named(case))
    if len({quote.text for one in confused for quote in one.quotes}) > 1:
        evidence += piece(_AGAIN, FAIR, confused[1:])
    if evidence:
        evidence += piece(_EXPECTS, SLIGHT, case.said("expects-more"))
        evidence += piece(_FINE, FAIR, case.said("works-anyway"))
    idle = case.every(
        Gpu,
        lambda one: (
            (one.utilisation_ratio or 0.0) <= 0.05 and 0 < (one.pcie_generation_number or 0) < (one.pcie_generation_max_number or 0)
        ),
    )
    full_width = [one for one in idle if one.pcie_width_lanes in (None, 16, one.pcie_width_max_lanes)]
    asleep = [*case.said("pcie-sleeps"), *waking_gpus(case)]
    slow = case.every(PciDevice, lambda one: one.is_downgraded is True and one.width_lanes in (None, 16, one.max_width_lanes))
    evidence += piece(
        _SLEEPS, STRONG + SLIGHT if asleep and (slow or full_width) else STRONG, [*full_width, *(slow if asleep else ())]
    )
    evidence += piece(_WAKES, STRONG, waking_gpus(case))
    evidence += against(_FAILS, FAIR, failures(case))
    evidence += against(_STOPS, STRONG, case.said("comes-to-a-stop") if spinning or confused else ())
    return Verdict(evidence=tuple(evidence))


_WARM_UP = Text(en="the mean counts the first call, which sets everything up", zh="均值计入了负责初始化的首次调用")
_LANES = Text(en="the port runs at its generation's full rate; 4X is its number of lanes", zh="端口已达其代际的全速；4X 指通道数")
_FEW_AGAIN = Text(
    en="{share_ratio} of the data was sent again at a steady rate, which is how TCP finds the limit of a path",
    zh="以稳定速率重传了 {share_ratio} 的数据，这正是 TCP 探测路径上限的方式",
)
_SAME = Text(en="{bytes_text} and {bits_text} are the same rate", zh="{bytes_text} 与 {bits_text} 是同一速率")
_HALF = Text(
    en="{one_way_text} one way is {both_text} in both directions together", zh="单向 {one_way_text} 即双向合计 {both_text}"
)
_NVLINK_HALF = Text(
    en="{one_way_bytes_per_s} is what NVLink carries one way; {both_text} counts both ways",
    zh="{one_way_bytes_per_s} 是 NVLink 单向所能承载的；{both_text} 为双向合计",
)
_SPINS = Text(en="the GPUs count as busy and draw little power: their kernels wait", zh="GPU 显示繁忙却功耗很低：内核在等待")
_FEW_SMS = Text(
    en="a GPU counts as fully used while few of its multiprocessors run: its kernels wait",
    zh="GPU 显示满载，而只有少数多处理器在运行：内核在等待",
)
_CONFUSED = Text(en="two measures that differ by definition are compared", zh="比较了定义不同的两个量")
_AGAIN = Text(en="a second line shows the same confusion", zh="另一行显示同样的混淆")
_EXPECTS = Text(en="another number was expected", zh="期望的是另一个数字")
_FINE = Text(en="the job itself runs well", zh="作业本身运行正常")
_SLEEPS = Text(
    en="the PCIe link of an idle GPU runs at a lower generation at full width, to save power",
    zh="空闲 GPU 的 PCIe 链路为省电以较低代际、全宽度运行",
)
_WAKES = Text(en="the same GPU's link is at its full generation when it works", zh="同一 GPU 工作时链路为满代数")
_STOPS = Text(en="the job comes to a stop, which is no matter of reading a number", zh="作业停住了，这不是读数问题")
_FAILS = Text(en="a program fails", zh="有程序失败")

RULE = Rule(
    cause="no-fault-metric-misread",
    title=Text(en="The number is normal and was misread", zh="数字正常，只是被误读"),
    summary=Text(
        en="Units, sums, averages or definitions differ; in the same terms the value is what this system gives.",
        zh="单位、求和、平均或定义不同；统一口径后该值正常。",
    ),
    needs=(
        (Quantity,),
        (wants(Gpu, lambda one: one.pcie_generation_number is not None),),
        (wants(Gpu, waits_on_few),),
        (Statement,),
    ),
    judge=_judge,
    explain=Explain(
        what=Text(
            en="algbw is size over time, busbw corrects it for the collective; GPU utilisation counts a waiting NCCL kernel as work; PCIe links sleep at 2.5 GT/s.",
            zh="algbw 为大小除以时间，busbw 按集合操作修正；GPU 利用率把等待的 NCCL 内核算作工作；PCIe 空闲时降到 2.5 GT/s。",
        ),
        shows=Text(en="No symptom but the number.", zh="除数字外没有症状。"),
        sources=("nccl-tests doc/PERFORMANCE.md", "NVIDIA nvidia-smi manual: utilization, PCIe link generation"),
    ),
    told_apart_from=(
        LookAlike(
            cause="pcie-link-degraded",
            because=Text(en="a degraded link stays slow under load, or lacks lanes", zh="降级的链路在负载下仍慢或缺通道"),
        ),
    ),
    changes=(
        Change(
            what=Text(
                en="Nothing to change; measure under load and compare like with like", zh="无需改动；在负载下测量并同口径比较"
            )
        ),
    ),
    checks=(Check(what=Text(en="The same value on a healthy machine of this kind", zh="同类健康机器上的相同数值")),),
    gain=Text(en="None", zh="无"),
    severity="info",
    explains=("pcie-link-degraded", "compute-bound"),
)
