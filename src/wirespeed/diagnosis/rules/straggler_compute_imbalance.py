"""Work is uneven over the ranks, and collectives measure the waiting."""

import re

from wirespeed.diagnosis.joins.pieces import piece
from wirespeed.diagnosis.joins.ranks import last_comers
from wirespeed.diagnosis.joins.step_times import uneven_compute
from wirespeed.model.case import Case
from wirespeed.model.finding import FAIR, SLIGHT, STRONG, Change, Check, LookAlike, Verdict, contradicts
from wirespeed.model.kinds import Explain, Rule, wants
from wirespeed.model.measurement import CollectiveRun, PhaseTime, TrainingStep
from wirespeed.model.record import Record
from wirespeed.model.settings import Quantity, Statement, Table
from wirespeed.model.text import Text

_SMALL_BYTES = 64 * 1024
_COMPUTES = re.compile(r"(?i)comput|forward|backward|kernel|gemm|busy|work|arriv|\bgap\b|\bstart|\benter|\bfwd|\bbwd")
_COMMUNICATES = re.compile(r"(?i)\b(?:ar|ag|rs|a2a)\b|reduce|gather|comm|nccl|sync|wait|barrier|collective|all-?to-?all")
_SAME_SUM_RATIO = 0.2
"""How far the sums may be apart, relative to how far the communication times are; a starting point, not calibrated."""
_MOST_RANKS = 4096
_MOST_LISTS = 16
_APART_RATIO = 0.25
_LONG_S = 1e-3
"""64 KiB in a millisecond is 0.5 Gb/s: no training network is that slow, so a millisecond on so little data is waiting."""


def _judge(case: Case) -> Verdict:
    tiny = _tiny_and_slow(case)
    balanced = _sums_alike(case) or _two_lists(case)
    last = last_comers(case)
    evidence = (
        *piece(_TINY, FAIR + 0.5, tiny),
        *piece(_SUMS, STRONG + SLIGHT, balanced),
        *piece(_UNEXPLAINED, FAIR, case.said("size-cannot-explain")),
        *piece(_UNEVEN, FAIR + SLIGHT, case.said("work-uneven")),
        *piece(_RANKS, FAIR, _uneven_steps(case)),
        *piece(_TIMERS, FAIR, uneven_compute(case, _APART_RATIO)),
        *piece(_IN_TURN, FAIR + SLIGHT, last.runs if last is not None and last.rank is None else ()),
        *(contradicts(_STUCK, FAIR, one) for one in case.said("hang")[:1] if not case.said("size-cannot-explain")),
    )
    return Verdict(evidence=evidence)


def _tiny_and_slow(case: Case) -> tuple[Record, ...]:
    """A small size and a time of milliseconds on one line of what people wrote, against microseconds elsewhere."""
    small = {_line(one): one for one in case.every(Quantity, lambda one: one.dimension == "size" and 0 < one.value <= _SMALL_BYTES)}
    slow = case.every(Quantity, lambda one: one.dimension == "time" and _LONG_S <= one.value < 1.0)
    return tuple(one for one in slow if _line(one) in small and "reduce" in one.quotes[0].text.lower())


def _sums_alike(case: Case) -> tuple[Table, ...]:
    """Tables of ranks where compute and communication add up to the same and each is long where the other is short."""
    return tuple(table for table in case.every(Table) if _waits_for_compute(table))


def _waits_for_compute(table: Table) -> bool:
    waits = next((index for index, name in enumerate(table.columns) if _COMMUNICATES.search(name)), None)
    compute = next((index for index, name in enumerate(table.columns) if _COMPUTES.search(name) and index != waits), None)
    if compute is None or waits is None or len(table.rows) < 3:
        return False
    return _add_up([(_number(row, compute), _number(row, waits)) for row in table.rows])


def _two_lists(case: Case) -> tuple[Table, ...]:
    """The same as two lists, one of what each rank computes and one of its communication."""
    lists = case.every(Table, lambda one: len(one.columns) == 2 and 3 <= len(one.rows) <= _MOST_RANKS)[:_MOST_LISTS]
    for compute in lists:
        for waits in lists:
            is_pair = _COMPUTES.search(compute.columns[1]) and _COMMUNICATES.search(waits.columns[1])
            same_places = [row[0] for row in compute.rows] == [row[0] for row in waits.rows]
            if compute is waits or not is_pair or not same_places:
                continue
            if _add_up([(_number(one, 1), _number(other, 1)) for one, other in zip(compute.rows, waits.rows, strict=True)]):
                return (compute, waits)
    return ()


def _add_up(pairs: list[tuple[float, float]]) -> bool:
    sums = [one + other for one, other in pairs]
    times, gaps = [one for one, _ in pairs], [other for _, other in pairs]
    spread = max(gaps) - min(gaps)
    return sum(time <= 0 for time in times) <= 1 and spread > 0 and max(sums) - min(sums) <= _SAME_SUM_RATIO * spread


def _number(row: tuple[str, ...], index: int) -> float:
    found = re.match(r"\s*(\d+(?:\.\d+)?)", row[index]) if index < len(row) else None
    return float(found[1]) if found else 0.0


def _line(one: Quantity) -> tuple[str, int]:
    return (one.quotes[0].source, one.quotes[0].line_index)


def _uneven_steps(case: Case) -> tuple[TrainingStep, ...]:
    """Steps whose slowest rank changes from step to step."""
    slowest: dict[int, TrainingStep] = {}
    for one in case.every(TrainingStep, lambda one: one.rank is not None and bool(one.step_s)):
        best = slowest.get(one.step_index)
        if best is None or (one.step_s or 0.0) > (best.step_s or 0.0):
            slowest[one.step_index] = one
    return tuple(slowest.values()) if len(slowest) >= 3 and len({one.rank for one in slowest.values()}) >= 3 else ()


_TINY = Text(en="milliseconds for so few bytes is waiting, not transfer", zh="这么少的字节用了毫秒级时间，是等待而非传输")
_SUMS = Text(
    en="compute and communication add up to the same on each rank: the long collectives are waiting for the slowest",
    zh="各 rank 的计算与通信之和相同：较长的集合操作是在等最慢者",
)
_UNEXPLAINED = Text(
    en="the size cannot explain the time, and the benchmark alone is fast", zh="数据量无法解释耗时，而单独基准测试很快"
)
_UNEVEN = Text(en="the work of the ranks differs", zh="各 rank 的工作量不同")
_STUCK = Text(en="the job stands still, it does not merely wait", zh="作业完全停住，而不只是等待")
_TIMERS = Text(
    en="by the program's timers the ranks compute for very different times", zh="按程序自身计时器，各 rank 的计算时间相差很大"
)
_IN_TURN = Text(
    en="ranks wait for each other in collectives, now for this one, now for that",
    zh="各 rank 在集合操作中互相等待，时而等这个，时而等那个",
)
_RANKS = Text(en="another rank is the last one from step to step", zh="每步最慢的 rank 都不同")

RULE = Rule(
    cause="straggler-compute-imbalance",
    title=Text(en="Uneven work: collectives measure waiting", zh="工作不均：集合操作的时间是等待"),
    summary=Text(
        en="Ranks reach the collective at different times because their work differs; the time seen there is mostly waiting for the last.",
        zh="各 rank 工作量不同，到达集合操作的时间不同；看到的耗时主要是等待最后一个。",
    ),
    needs=(
        (wants(TrainingStep, lambda one: one.rank is not None),),
        (wants(CollectiveRun, lambda one: one.rank is not None),),
        (wants(PhaseTime, lambda one: one.time_min_s is not None),),
        (wants(Table, lambda one: len(one.rows) >= 3),),
        (Statement,),
        (Quantity,),
    ),
    judge=_judge,
    explain=Explain(
        what=Text(
            en="The time of a synchronous collective starts at the caller and ends when the last rank has joined and data moved.",
            zh="同步集合操作的计时从调用者开始，到最后一个 rank 加入且数据传完才结束。",
        ),
        shows=Text(
            en="Tiny all-reduces of milliseconds in training and microseconds in nccl-tests; the slow rank changes with the data.",
            zh="训练中很小的 all-reduce 要毫秒，nccl-tests 中只要微秒；慢的 rank 随数据变化。",
        ),
        sources=(
            "NVIDIA/nccl#701",
            "arithmetic: wire time = size / rate + latency",
        ),
    ),
    told_apart_from=(
        LookAlike(
            cause="small-message-latency-bound",
            because=Text(en="there nccl-tests shows the same latency", zh="彼处 nccl-tests 也有同样延迟"),
        ),
        LookAlike(cause="straggler-slow-node", because=Text(en="there it is always the same node", zh="彼处总是同一节点")),
    ),
    changes=(
        Change(
            what=Text(
                en="Balance the work: bucket by length, split stages evenly, drop uneven last batches",
                zh="平衡工作量：按长度分桶、均分流水级、丢弃不齐的末批",
            )
        ),
        Change(
            what=Text(
                en="Measure arrival skew with a barrier before the collective, or with traces of all ranks",
                zh="在集合操作前加 barrier 或采集全部 rank 的轨迹，以测量到达偏差",
            ),
            commands=("wirespeed trace DIR",),
        ),
    ),
    checks=(
        Check(
            what=Text(
                en="With a barrier in front, the collective itself takes its wire time",
                zh="前置 barrier 后，集合操作本身只需传输时间",
            )
        ),
    ),
    gain=Text(en="The waiting share of the step", zh="可收回步时中的等待部分"),
    severity="low",
)
