"""A GPU is held below its clock or power, and every collective waits for it."""

import re
from collections import defaultdict
from itertools import pairwise
from statistics import median

from wirespeed.diagnosis.joins.gpu_health import failed_checks, held_back
from wirespeed.diagnosis.joins.pieces import piece
from wirespeed.diagnosis.joins.step_times import slowdown
from wirespeed.model.case import Case
from wirespeed.model.facts.gpu import Gpu, GpuCheck
from wirespeed.model.finding import FAIR, SLIGHT, STRONG, Change, Check, LookAlike, Verdict, contradicts
from wirespeed.model.kinds import Explain, Rule, wants
from wirespeed.model.measurement import TrainingStep
from wirespeed.model.settings import Quantity, Statement, Table
from wirespeed.model.text import Text

_HARMLESS = {"gpu_idle", "applications_clocks_setting", "sync_boost", "display_clock_setting", "none"}
_THERMAL = {"sw_thermal_slowdown", "hw_thermal_slowdown", "hw_slowdown", "hw_power_brake_slowdown", "hw_power_brake"}
_LOW_POWER_SHARE_RATIO = 0.7
_LOW_CLOCK_SHARE_RATIO = 0.8
"""Shares of the median of equal busy GPUs; starting points, not calibrated."""
_BUSY_RATIO = 0.5
_LOW_CAP_SHARE_RATIO = 0.9
"""A power limit is set, not measured: a tenth below its equals is no noise."""
_LIMITED_RATIO = 0.3
"""Share of a sample in which power held the clocks down; a starting point, not calibrated."""
_CAP_HEADING = re.compile(r"(?i)pwr ?cap|power[ _.]?(?:cap|limit)|max[ _]?power|enforced")
_CLOCK_HEADING = re.compile(r"(?i)\bsclk|\bsm[ _]?(?:clock|clk)|graphics[ _]?clock|\bgfx[ _]?cl|\bmhz\b|clocks\.sm")


def _judge(case: Case) -> Verdict:
    gpus = case.every(Gpu)
    slowed = tuple(one for one in gpus if set(one.throttle_reasons or ()) & _THERMAL or one.is_thermally_limited)
    capped = tuple(one for one in gpus if _is_capped(one))
    low = (*_far_below(gpus, "power_w", _LOW_POWER_SHARE_RATIO), *_far_below(gpus, "power_limit_w", _LOW_POWER_SHARE_RATIO))
    slow_clock = (*_far_below(gpus, "sm_clock_hz", _LOW_CLOCK_SHARE_RATIO), *_below_own_maximum(gpus))
    hot = tuple(one for one in gpus if (one.temperature_celsius or 0) >= 85)
    healthy = tuple(one for one in gpus if one.throttle_reasons is not None and not set(one.throttle_reasons) - _HARMLESS)
    slower = slowdown(case)
    decay = _throughput_decay(case)
    held = held_back(case)
    evidence = (
        *piece(_SLOWED, STRONG + SLIGHT, slowed),
        *piece(_CAPPED, STRONG if low else FAIR, capped),
        *piece(_LOW, STRONG, low, gpu_index=low[0].index if low else None),
        *piece(_TABLE_CAP, STRONG, _below_in_table(case, _CAP_HEADING, _LOW_CAP_SHARE_RATIO) if not low else ()),
        *piece(_TABLE_CLOCK, FAIR, _below_in_table(case, _CLOCK_HEADING, _LOW_CLOCK_SHARE_RATIO) if not slow_clock else ()),
        *piece(_CLOCK, FAIR, slow_clock),
        *piece(
            _HELD_BACK,
            STRONG,
            (held[0],) if held else (),
            gpu_index=held[0].index if held else None,
            time_s=held[1] if held else None,
        ),
        *piece(_CHECK, FAIR + SLIGHT, failed_checks(case, "heat")),
        *piece(_HOT, SLIGHT, hot),
        *piece(_TOLD_HOT, SLIGHT, _told_hot(case) if case.said("gpu-throttled") else ()),
        *piece(_SAID, FAIR + SLIGHT, case.said("gpu-throttled")),
        *piece(_DECAYS, FAIR, case.said("slower-as-it-heats")),
        *piece(_DECAYING, FAIR, decay),
        *piece(
            _SLOWER,
            FAIR if slower and slower.how == "gradual" else SLIGHT,
            (slower.before, slower.after) if slower and not decay else (),
            times_text=f"{slower.times:.2f}" if slower else None,
        ),
        *((contradicts(_FREE, FAIR, healthy[0]),) if healthy and len(healthy) == len(gpus) else ()),
    )
    return Verdict(evidence=evidence)


def _is_capped(gpu: Gpu) -> bool:
    return "sw_power_cap" in (gpu.throttle_reasons or ()) or (gpu.power_limited_ratio or 0.0) >= _LIMITED_RATIO


def _told_hot(case: Case) -> tuple[Quantity, ...]:
    return case.every(Quantity, lambda one: one.dimension == "temperature" and 85 <= one.value < 150)


def _far_below(gpus: tuple[Gpu, ...], field: str, share_ratio: float) -> tuple[Gpu, ...]:
    """GPUs whose figure is far below the median of the others, where the others are alike and at work; of several samples the median."""
    samples: dict[object, list[Gpu]] = defaultdict(list)
    for one in gpus:
        if getattr(one, field) and (one.utilisation_ratio is None or one.utilisation_ratio >= _BUSY_RATIO):
            samples[(one.host or one.source.path, one.index) if "index" not in one.missing else one.quotes].append(one)
    busy = [sorted(several, key=lambda one: getattr(one, field))[len(several) // 2] for several in samples.values()]
    if len(busy) < 3:
        return ()
    usual = median(getattr(one, field) for one in busy)
    low = [one for one in busy if getattr(one, field) < share_ratio * usual]
    return tuple(low) if 0 < len(low) * 3 <= len(busy) + 1 else ()


def _below_own_maximum(gpus: tuple[Gpu, ...]) -> tuple[Gpu, ...]:
    """GPUs with an active reason that run far below their own maximum clock."""
    return tuple(
        one
        for one in gpus
        if one.sm_clock_hz
        and one.sm_clock_max_hz
        and one.sm_clock_hz < _LOW_CLOCK_SHARE_RATIO * one.sm_clock_max_hz
        and (set(one.throttle_reasons or ()) - _HARMLESS or (one.temperature_celsius or 0) >= 80)
    )


def _below_in_table(case: Case, heading: re.Pattern[str], share_ratio: float) -> tuple[Table, ...]:
    """Tables of equal devices, such as that of rocm-smi, where one or few rows are below the median of a column."""
    return tuple(
        table
        for table in case.every(Table, lambda one: len(one.rows) >= 3)
        for index, name in enumerate(table.columns)
        if heading.search(name) and _few_are_below([_number(row, index) for row in table.rows], share_ratio)
    )


def _number(row: tuple[str, ...], index: int) -> float:
    found = re.match(r"\s*(\d+(?:\.\d+)?)", row[index]) if index < len(row) else None
    return float(found[1]) if found else 0.0


def _few_are_below(values: list[float], share_ratio: float) -> bool:
    known = [value for value in values if value > 0]
    low = [value for value in known if value < share_ratio * median(known)]
    return len(known) >= 3 and 0 < 3 * len(low) <= len(known) + 1


def _throughput_decay(case: Case) -> tuple[TrainingStep, ...]:
    """Throughput that falls steadily over three or more logged points, to less than 80 % of the start."""
    steps = case.every(TrainingStep, lambda one: bool(one.throughput_per_s))
    rates = [one.throughput_per_s or 0.0 for one in steps]
    falls = len(rates) >= 3 and all(later < earlier for earlier, later in pairwise(rates))
    return (steps[0], steps[-1]) if falls and rates[-1] < 0.8 * rates[0] else ()


_SLOWED = Text(en="a thermal or power slowdown is active", zh="温度或功率降频处于激活状态")
_CAPPED = Text(en="the software power cap is active", zh="软件功率上限处于激活状态")
_LOW = Text(en="GPU {gpu_index} is far below the others in power", zh="GPU {gpu_index} 的功率远低于其他 GPU")
_CLOCK = Text(en="the clock is far below what it should be", zh="时钟频率远低于应有水平")
_HELD_BACK = Text(
    en="GPU {gpu_index} was held back by heat or power for {time_s}, the other GPUs of the machine hardly at all",
    zh="GPU {gpu_index} 因温度或功率受限共 {time_s}，同机其他 GPU 几乎没有",
)
_CHECK = Text(en="DCGM finds a GPU held back by heat or power", zh="DCGM 发现 GPU 因温度或功率受限")
_TOLD_HOT = Text(en="a GPU is said to be at 85 °C or more", zh="据称某 GPU 达到 85 °C 或更高")
_TABLE_CAP = Text(en="one device of the table has a lower power limit than its equals", zh="表中某设备的功率上限低于同类")
_TABLE_CLOCK = Text(en="one device of the table runs at a lower clock than its equals", zh="表中某设备的时钟低于同类")
_HOT = Text(en="a GPU is at 85 °C or more", zh="有 GPU 温度达到 85 °C 以上")
_SAID = Text(en="a GPU is throttled, hot or capped", zh="GPU 被降频、过热或被限功率")
_DECAYS = Text(en="it slows down over time and recovers after a pause", zh="随时间变慢，停歇后恢复")
_DECAYING = Text(en="logged throughput falls steadily", zh="日志中的吞吐持续下降")
_SLOWER = Text(en="steps become {times_text} times as long and stay so", zh="步时变为原来的 {times_text} 倍并保持")
_FREE = Text(en="no GPU reports a reason to slow down", zh="没有 GPU 报告降频原因")

RULE = Rule(
    cause="straggler-gpu-throttle",
    title=Text(en="A throttled GPU holds all ranks back", zh="被降频的 GPU 拖慢所有 rank"),
    summary=Text(
        en="One or more GPUs run below their clock because of heat or power, and each collective takes as long as the slowest.",
        zh="一个或多个 GPU 因温度或功率低于额定时钟，每次集合操作都等最慢者。",
    ),
    needs=(
        (
            wants(
                Gpu,
                lambda one: bool(
                    one.throttle_reasons is not None
                    or one.power_w
                    or one.sm_clock_hz
                    or one.power_limit_w
                    or one.temperature_celsius
                    or one.thermal_slowed_s is not None
                    or one.power_limited_ratio is not None
                ),
            ),
        ),
        (GpuCheck,),
        (wants(TrainingStep, lambda one: bool(one.throughput_per_s or one.step_s)),),
        (wants(Table, lambda one: any(_CAP_HEADING.search(name) or _CLOCK_HEADING.search(name) for name in one.columns)),),
        (Statement,),
    ),
    silence_needs=(
        (
            wants(
                Gpu,
                lambda one: bool(
                    one.throttle_reasons is not None
                    or one.power_w
                    or one.sm_clock_hz
                    or one.power_limit_w
                    or one.temperature_celsius
                ),
            ),
        ),
        (wants(Table, lambda one: any(_CAP_HEADING.search(name) or _CLOCK_HEADING.search(name) for name in one.columns)),),
    ),
    judge=_judge,
    explain=Explain(
        what=Text(
            en="Synchronous training moves at the pace of the slowest GPU.",
            zh="同步训练以最慢的 GPU 为准。",
        ),
        shows=Text(
            en="Throttle reasons active on one GPU, lower power than its peers, longer collectives on all other ranks.",
            zh="某 GPU 的降频原因激活，功率低于同伴，其余 rank 的集合操作变长。",
        ),
        sources=(
            "NVML: clocks event reasons",
            "tensorflow/tensorflow#40042",
            "l4rz/reverse-engineering-dell-idrac-to-get-rid-of-gpu-throttling#3",
        ),
    ),
    told_apart_from=(
        LookAlike(
            cause="straggler-slow-node", because=Text(en="there clocks are fine and a path is slow", zh="彼处时钟正常，慢的是通路")
        ),
        LookAlike(
            cause="compute-bound",
            because=Text(en="there all GPUs run at full clock and are simply busy", zh="彼处所有 GPU 全频运行，只是繁忙"),
        ),
    ),
    changes=(
        Change(
            what=Text(
                en="Look at power cables, supplies, fans and the BMC's limit of that machine; restore the power limit",
                zh="检查该机的供电线、电源、风扇与 BMC 上限；恢复功率上限",
            ),
            commands=(
                "nvidia-smi -q -d PERFORMANCE,POWER,TEMPERATURE",
                "nvidia-smi -pl WATTS",
            ),
        ),
        Change(what=Text(en="Take the node out until it is repaired", zh="修复前把该节点移出")),
    ),
    checks=(
        Check(
            what=Text(
                en="No reason but idle is active under load, and clocks are alike", zh="负载下除 idle 外无激活原因，且时钟一致"
            ),
            commands=("nvidia-smi --query-gpu=index,clocks.sm,power.draw,clocks_event_reasons.active --format=csv -l 5",),
        ),
    ),
    gain=Text(en="All ranks return to the pace of the healthy ones", zh="所有 rank 恢复到健康 GPU 的速度"),
    severity="medium",
    explains=(
        "straggler-slow-node",
        "straggler-other",
        "straggler-compute-imbalance",
        "compute-bound",
    ),
    settled_by=("nvidia-smi -q -d PERFORMANCE",),
)
