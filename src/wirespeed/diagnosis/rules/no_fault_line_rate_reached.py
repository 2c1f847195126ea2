"""The measured rate is what the link delivers, once bits and bytes, lanes and sums are told apart."""

import re

from wirespeed.diagnosis.joins.line_rate import line_rates, measured_rates, reached
from wirespeed.diagnosis.joins.pieces import (
    against,
    piece,
    quantities,
)
from wirespeed.model.case import Case
from wirespeed.model.events.nccl import NcclHca
from wirespeed.model.facts.link import Link
from wirespeed.model.facts.rdma import RdmaPort
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

_TWO_WAY = re.compile(r"(?i)\bib_\w+_bw\b.*\s-b\b|bi-?dir\w*|both (?:ways|directions)|full[- ]duplex")
STEPS_APART_TIMES = 3.0
_OF_A_STEP = re.compile(
    r"(?i)\b(?:per|a|each|every) (?:training )?(?:step|iteration)\b|/(?:step|it(?:er)?)\b|\b(?:step|iteration) times?\b"
)
SLOWER_RATIO = 0.75
OVER_RATIO, MOST_OVER_RATIO = 1.05, 2.2
"""A bus bandwidth above the line by up to twice: on two nodes the tree algorithm sends half of what the formula assumes."""
_SEVERAL_LINKS = re.compile(
    r"(?i)\b(?:[2-9]|1[0-6]|two|three|four|five|six|seven|eight)(?:\s*[x×*]\s*|\s+|-)(?:\d+ ?(?:G|Gb/s|Gbit/s|Gbps|GbE)\s*)?(?:nics?|hcas?|rails?|ports?|cards?|adapters?|connectx)\b"
)


def _is_sum(line: tuple[Record, float]) -> bool:
    """Whether the rate compared with is already that of all links together."""
    return isinstance(line[0], Statement) and line[1] != 1e9 * (line[0].value or 0.0)


def _judge(case: Case) -> Verdict:
    devices = {one.device for one in case.every(NcclHca) if one.device} | {
        one.device for one in case.every(RdmaPort, state="active")
    }
    lines = line_rates(case)
    slower = case.first(Link, lambda one: (one.advertised_max_bits_per_s or 0.0) > (one.link_rate_bits_per_s or float("inf")))
    if not lines or len(devices) > 1 or slower:
        return Verdict()
    line = max(lines, key=lambda one: one[1])
    below = [one for one in measured_rates(case) if one[1] < 0.7 * line[1]]
    full = reached(case)
    evidence: list[Evidence] = []
    values: dict[str, Value] = {"line_bits_per_s": line[1]}
    if full:
        rate = full[0][1]
        numbers: dict[str, Value] = {
            **values,
            "measured_bits_per_s": rate,
            "measured_bytes_per_s": rate / 8,
            "share_ratio": rate / line[1],
        }
        evidence.append(supports(_REACHED, STRONG, full[0][0], line[0], **numbers))
        evidence += piece(_EXPECTS, FAIR, case.said("expects-more", "blames-network"))
        evidence += piece(_CONFUSED, SLIGHT, case.said("metric-confusion"))
    elif (over := _over_the_line(case, line[1])) is not None:
        evidence.append(supports(_OVER, STRONG, over[0], line[0], **values, measured_bits_per_s=over[1]))
        evidence += piece(_ASKED_WHY, FAIR, case.said("exceeds-link", "metric-confusion", "expects-more"))
    elif (both := _both_ways(case, line[1])) is not None:
        evidence.append(supports(_BOTH, STRONG, both[0], line[0], **values, measured_bits_per_s=both[1]))
        evidence += piece(_ASKED_WHY, FAIR, case.said("exceeds-link", "metric-confusion", "expects-more"))
    elif below:
        evidence.append(contradicts(_BELOW, FAIR, below[0][0], line[0], **values))
    several = [one for one in case.every(Quantity) if any(_SEVERAL_LINKS.search(quote.text) for quote in one.quotes)]
    evidence += against(_SEVERAL, STRONG, [] if full and _is_sum(full[1]) else several)
    evidence += against(_SLOWER, STRONG, _slower_like_it(case, full[0]) if full else ())
    evidence += against(_STEPS, STRONG, _steps_grow(case))
    evidence += against(_DEMAND, FAIR, case.said("demand-exceeds", "link-full"))
    work = case.every(ThroughputRun, lambda one: one.tool == "sar" and one.rate_bits_per_s >= 0.85 * line[1])
    evidence += against(_FULL_OF_WORK, STRONG, work)
    return Verdict(evidence=tuple(evidence), values=values)


def _steps_grow(case: Case) -> list[Quantity]:
    """Times of a step that are far apart: what is asked about is the work, and the link's test is only a fact beside it."""
    times = [
        one for one in quantities(case, "time") if one.value > 0 and any(_OF_A_STEP.search(quote.text) for quote in one.quotes)
    ]
    low, high = (pick(times, key=lambda one: one.value, default=None) for pick in (min, max))
    return [low, high] if low and high and high.value >= STEPS_APART_TIMES * low.value else []


def _slower_like_it(case: Case, best: tuple[Record, float]) -> tuple[Record, ...]:
    """Whole runs of the same test, one way and as many streams, that are well below: the question is about those."""
    run = best[0]
    if not isinstance(run, ThroughputRun):
        return ()
    return case.every(ThroughputRun, lambda one: _is_like(one, run) and one.rate_bits_per_s < SLOWER_RATIO * run.rate_bits_per_s)


def _is_like(one: ThroughputRun, run: ThroughputRun) -> bool:
    same = ("tool", "protocol", "role", "stream_count", "size_bytes", "is_reverse")
    return one.role != "interval" and all(getattr(one, name) == getattr(run, name) for name in same)


def _both_ways(case: Case, line_bits_per_s: float) -> tuple[Record, float] | None:
    """A rate of nearly twice the line from a test that sends both ways at once."""
    return next(
        (one for one in measured_rates(case) if 1.6 <= one[1] / line_bits_per_s <= 2.02 and _is_both_ways(one[0])),
        None,
    )


def _is_both_ways(record: Record) -> bool:
    if isinstance(record, ThroughputRun) and record.is_both_ways:
        return True
    return any(_TWO_WAY.search(quote.text) for quote in record.quotes)


def _over_the_line(case: Case, line_bits_per_s: float) -> tuple[Record, float] | None:
    """A bus bandwidth that no link of this rate could carry, so that it is the formula and not the wire that is seen."""
    runs: list[tuple[Record, float]] = [
        (one, 8 * one.busbw_bytes_per_s) for one in case.every(CollectiveRun) if one.busbw_bytes_per_s
    ]
    runs += [(one, one.value) for one in quantities(case, "rate", r"bus ?(?:bandwidth|bw)[^.;]{0,40}$")]
    runs += [(one, 8e9 * one.value) for one in case.said("busbw-named") if one.value]
    over = [one for one in runs if OVER_RATIO <= one[1] / line_bits_per_s <= MOST_OVER_RATIO]
    return over[0] if over and case.said("several-nodes", "exceeds-link") else None


_REACHED = Text(
    en="{measured_bytes_per_s} are {measured_bits_per_s}, {share_ratio} of the link's {line_bits_per_s}",
    zh="{measured_bytes_per_s} 即 {measured_bits_per_s}，为链路 {line_bits_per_s} 的 {share_ratio}",
)
_OVER = Text(
    en="a bus bandwidth of {measured_bits_per_s} is more than the link's {line_bits_per_s}: it is computed for rings, and trees send less",
    zh="总线带宽 {measured_bits_per_s} 高于链路的 {line_bits_per_s}：它按环算法计算，而树算法发送得更少",
)
_BOTH = Text(
    en="{measured_bits_per_s} is the sum of both directions of a link of {line_bits_per_s}",
    zh="{measured_bits_per_s} 是 {line_bits_per_s} 链路双向之和",
)
_ASKED_WHY = Text(en="it is asked how that can be", zh="所问的是为何如此")
_EXPECTS = Text(en="more was expected", zh="期望更高")
_CONFUSED = Text(en="bits and bytes, lanes or sums are mixed", zh="混淆了比特与字节、通道数或求和")
_BELOW = Text(en="the rate is clearly below the link's {line_bits_per_s}", zh="速率明显低于链路的 {line_bits_per_s}")
_SEVERAL = Text(en="the machine has several links", zh="机器有多条链路")
_STEPS = Text(en="the time of a step is what differs", zh="差别在于每步用时")
_SLOWER = Text(en="the same test is well below at another time or place", zh="同样的测试在另一时间或地点明显更慢")
_FULL_OF_WORK = Text(
    en="the interface is full of the job's own traffic, not of a test's", zh="接口被作业自身流量占满，而非测试流量"
)
_DEMAND = Text(en="the job needs more than the link carries", zh="作业所需超过链路能力")

RULE = Rule(
    cause="no-fault-metric-misread",
    title=Text(en="The link is full: the number is read in the wrong unit", zh="链路已达线速：数字的单位被误读"),
    summary=Text(
        en="The measured rate, brought to the same unit, is what this link delivers.",
        zh="换算到同一单位后，实测速率就是该链路所能提供的。",
    ),
    needs=(
        (CollectiveRun, Statement),
        (CollectiveRun, RdmaPort),
        (ThroughputRun, Link),
        (ThroughputRun, RdmaPort),
        (ThroughputRun, Statement),
        (Quantity, Statement),
    ),
    judge=_judge,
    explain=Explain(
        what=Text(
            en="Tools print GB/s (bytes), links are named in Gb/s (bits); 4X counts lanes of one link, not links; bus bandwidth compares with one direction of the slowest link.",
            zh="工具打印 GB/s（字节），链路以 Gb/s（比特）命名；4X 指一条链路的通道数而非链路数；总线带宽对应最慢链路的单向速率。",
        ),
        shows=Text(
            en="12.2 GB/s on 100 Gb/s (97 %), 117 MB/s on 1 GbE (94 %), 45 GB/s on 400 Gb/s (90 %).",
            zh="100 Gb/s 上 12.2 GB/s（97 %），1 GbE 上 117 MB/s（94 %），400 Gb/s 上 45 GB/s（90 %）。",
        ),
        sources=("nccl-tests doc/PERFORMANCE.md", "IEEE 1541 (b and B)", "IBTA volume 1: link widths"),
    ),
    told_apart_from=(
        LookAlike(
            cause="link-speed-lower-than-assumed",
            because=Text(
                en="there the link itself runs below what was bought; read its rate", zh="那里链路本身低于所购规格；应读取其速率"
            ),
        ),
        LookAlike(
            cause="bandwidth-insufficient",
            because=Text(en="there the full link is too slow for the job", zh="那里满速链路对作业仍不够"),
        ),
    ),
    changes=(
        Change(
            what=Text(
                en="Nothing to change; compare in one unit, per direction and per link", zh="无需改动；以同一单位、单向、单链路比较"
            )
        ),
    ),
    checks=(
        Check(
            what=Text(en="Eight times the GB/s is 0.85 to 1.0 of the Gb/s", zh="GB/s 的八倍为 Gb/s 的 0.85 至 1.0"),
            commands=("ib_write_bw --report_gbits HOST",),
        ),
    ),
    gain=Text(en="None: the link is full", zh="无：链路已满"),
    severity="info",
    explains=(
        "link-speed-lower-than-assumed",
        "nic-firmware-state",
        "oversubscribed-fabric",
        "no-fault-hardware-limit",
        "pcie-link-degraded",
    ),
)
