"""One node, or a GPU's path in it, is slow, and the others wait in every collective."""

import re
from statistics import median

from wirespeed.diagnosis.joins.paths import late_hosts, lossy_trains
from wirespeed.diagnosis.joins.pieces import against, piece
from wirespeed.diagnosis.joins.ranks import last_comers
from wirespeed.diagnosis.joins.step_times import slow_rank_of_compute, slowdown
from wirespeed.model.case import Case
from wirespeed.model.finding import FAIR, SLIGHT, STRONG, Change, Check, LookAlike, Verdict
from wirespeed.model.kinds import Explain, Rule, wants
from wirespeed.model.link_runs import DatagramTrain, LatencyRun
from wirespeed.model.measurement import CollectiveRun, PhaseTime, TrainingStep
from wirespeed.model.settings import Statement, Table
from wirespeed.model.text import Text

LEAST_RTO_S = 0.2
"""Linux sends again after 200 ms at the earliest (TCP_RTO_MIN)."""
_SLOW_SHARE_RATIO = 0.75
_SLOW_TIME_RATIO = 1.25
"""How far from the median of its equals a node must be to stand out; a starting point, not calibrated."""
_PLACE = re.compile(r"(?i)^(?:node|host|server|machine|worker|rank|gpu|pair)\b|[a-z]+[-_]?\d+$")
_RATE_HEADING = re.compile(
    r"(?i)all_?-?reduce|send_?recv|pair|busbw|algbw|bandwidth|g[bB]/s|gbps|gb/s|tflops|samples|tokens|throughput|tok/s"
)
_TIME_HEADING = re.compile(r"(?i)\b(?:time|step|latency|duration|ms|sec|seconds)\b")


def _judge(case: Case) -> Verdict:
    table = next((found for table in case.every(Table) if (found := _outlier(table) or _in_all_slow_pairs(table))), None)
    lossy = {name for one in lossy_trains(case) for name in (one.sender, one.receiver)}
    late = {host: runs for host, runs in late_hosts(case).items() if host not in lossy}
    latest = max(late, key=lambda host: max(one.rtt_max_s or 0.0 for one in late[host]), default=None)
    runs = late[latest] if latest else ()
    last = last_comers(case)
    is_one = last is not None and last.rank is not None
    slower = slowdown(case)
    evidence = (
        *piece(
            _LATE,
            FAIR if _may_be_resent(runs) and not case.has(DatagramTrain) else STRONG + FAIR,
            runs,
            place=latest,
            rtt_s=max((one.rtt_max_s or 0.0 for one in runs), default=None),
        ),
        *against(_PROMPT, FAIR, case.every(LatencyRun, load="idle") if not late else ()),
        *piece(_TABLE, STRONG, (table[0],) if table else (), place=table[1] if table else None),
        *piece(_RANKS, STRONG, _slow_ranks(case) or slow_rank_of_compute(case, _SLOW_TIME_RATIO)),
        *piece(_SUDDEN, SLIGHT, (slower.before, slower.after) if slower and slower.how == "sudden" else ()),
        *piece(
            _LAST,
            STRONG,
            last.runs if last is not None and is_one else (),
            rank=last.rank if last is not None else None,
            share_ratio=last.share_ratio if last is not None else None,
        ),
        *piece(_SAID, FAIR + SLIGHT, case.said("one-node-slow")),
    )
    return Verdict(evidence=evidence, values={"place": table[1] if table else latest or "NODE"})


def _may_be_resent(runs: tuple[LatencyRun, ...]) -> bool:
    """Whether the latest answers are as late as segments that are sent again after a time-out: until trains are counted, that may be loss."""
    return any((one.rtt_max_s or 0.0) >= LEAST_RTO_S for one in runs)


def _outlier(table: Table) -> tuple[Table, str] | None:
    """The one row of a table of nodes whose figure is far worse than the median of the others."""
    is_by_place = bool(table.columns) and _PLACE.match(table.columns[0].strip()) is not None
    if len(table.rows) < 3 or not all(row and (is_by_place or _PLACE.search(row[0].strip())) for row in table.rows):
        return None
    for index, heading in enumerate(table.columns[1:], 1):
        values = [_number(row, index) for row in table.rows]
        known = [value for value in values if value]
        if len(known) < 3:
            continue
        usual = median(known)
        if _RATE_HEADING.search(heading):
            worse = [row[0] for row, value in zip(table.rows, values, strict=True) if value and value < _SLOW_SHARE_RATIO * usual]
        elif _TIME_HEADING.search(heading):
            worse = [row[0] for row, value in zip(table.rows, values, strict=True) if value and value > _SLOW_TIME_RATIO * usual]
        else:
            continue
        if len(worse) == 1:
            return table, worse[0].strip()
    return None


def _in_all_slow_pairs(table: Table) -> tuple[Table, str] | None:
    """The one node of a table of pairs that is slow with several others and fast with none, while those are fast elsewhere."""
    if len(table.columns) < 2 or _TIME_HEADING.search(table.columns[1]):
        return None
    pairs = [(_members(row[0]), _number(row, 1) or 0.0) for row in table.rows if row]
    if len(pairs) < 3 or not all(len(members) == 2 for members, _ in pairs):
        return None
    best = max(rate for _, rate in pairs)
    slow = [members for members, rate in pairs if rate < _SLOW_SHARE_RATIO * best]
    fast = [members for members, rate in pairs if rate >= _SLOW_SHARE_RATIO * best]
    if len(slow) < 2 or not fast:
        return None
    good = frozenset[str]().union(*fast)
    bad_with = {name: sum(name in members for members in slow) for members in slow for name in members - good}
    proven = [
        name for name, count in bad_with.items() if count >= 2 and any(name in members and members & good for members in slow)
    ]
    return (table, proven[0]) if len(proven) == 1 else None


def _members(pair: str) -> frozenset[str]:
    """`n1-n2`, `node-1 <-> node-2` as the two names."""
    return frozenset(name for name in re.split(r"\s*(?:<?-+>|<->|[,+&/])\s*|(?<=\d)-(?=[A-Za-z])|\s+", pair.strip()) if name)


def _number(row: tuple[str, ...], index: int) -> float | None:
    found = re.match(r"\s*(\d+(?:\.\d+)?)", row[index].replace(",", "")) if index < len(row) else None
    return float(found[1]) if found else None


def _slow_ranks(case: Case) -> tuple[TrainingStep, ...]:
    """Logged steps of one rank that take far longer than those of the others."""
    steps = case.every(TrainingStep, lambda one: one.rank is not None and bool(one.step_s))
    by_rank: dict[int, list[TrainingStep]] = {}
    for one in steps:
        by_rank.setdefault(one.rank or 0, []).append(one)
    means = {rank: median(one.step_s or 0.0 for one in group) for rank, group in by_rank.items()}
    if len(means) < 3:
        return ()
    usual = median(means.values())
    slow = [rank for rank, mean in means.items() if mean > _SLOW_TIME_RATIO * usual]
    return tuple(by_rank[rank][0] for rank in slow) if len(slow) == 1 else ()


_LATE = Text(
    en="{place} answers up to {rtt_s} late on every path although its shortest round trips are as short as any: the host, not a path",
    zh="{place} 在每条路径上都有迟到的应答（最长 {rtt_s}），而最短往返与其他一样短：问题在主机而非路径",
)
_PROMPT = Text(en="every host answers promptly", zh="每台主机都应答及时")
_TABLE = Text(en="{place} is far worse than its equals", zh="{place} 明显差于同类")
_RANKS = Text(en="one rank's steps take far longer than the others'", zh="某个 rank 的步时远长于其他")
_LAST = Text(
    en="rank {rank} comes last to {share_ratio} of the collectives in which ranks wait for each other",
    zh="在 rank 互相等待的集合操作中，有 {share_ratio} 是 rank {rank} 最后到达",
)
_SUDDEN = Text(en="from one step on all steps take longer", zh="从某一步起所有步都变慢")
_SAID = Text(en="one node is slow, or the job is fast without it", zh="某节点慢，或去掉它后作业变快")

RULE = Rule(
    cause="straggler-slow-node",
    title=Text(en="One slow node holds the whole job back", zh="一个慢节点拖慢整个作业"),
    summary=Text(
        en="A single node is slower than its equals, and every synchronous step takes as long as it does.",
        zh="单个节点比同类慢，而每个同步步都要等它。",
    ),
    needs=(
        (LatencyRun,),
        (wants(Table, lambda one: len(one.rows) >= 3),),
        (wants(TrainingStep, lambda one: one.rank is not None or bool(one.step_s or one.throughput_per_s)),),
        (wants(CollectiveRun, lambda one: one.rank is not None),),
        (wants(PhaseTime, lambda one: one.rank is not None),),
        (Statement,),
    ),
    silence_needs=(
        (LatencyRun,),
        (wants(Table, lambda one: len(one.rows) >= 3),),
        (wants(TrainingStep, lambda one: one.rank is not None),),
        (wants(CollectiveRun, lambda one: one.rank is not None),),
        (wants(PhaseTime, lambda one: one.rank is not None),),
    ),
    judge=_judge,
    explain=Explain(
        what=Text(
            en="In a ring or tree the slowest member sets the pace; the cause inside that node is found by comparing it with a healthy twin.",
            zh="环或树中最慢的成员决定速度；与健康的同型节点比较即可找到该节点内部原因。",
        ),
        shows=Text(
            en="Bandwidth drops whenever one node takes part and returns when it is excluded.",
            zh="只要某节点参与带宽就下降，排除后恢复。",
        ),
        sources=("NVIDIA/nccl#349",),
    ),
    told_apart_from=(
        LookAlike(
            cause="packet-loss",
            because=Text(
                en="there datagrams of a paced train are missing, and the late answers are segments sent again after 200 ms",
                zh="彼处限速数据报有缺失，迟到的应答是 200 ms 后重传的报文段",
            ),
        ),
        LookAlike(
            cause="straggler-gpu-throttle",
            because=Text(en="there the clocks of a GPU tell the reason", zh="彼处 GPU 时钟即可说明原因"),
        ),
        LookAlike(
            cause="straggler-compute-imbalance",
            because=Text(en="there the slow rank changes with the data", zh="彼处慢的 rank 随数据变化"),
        ),
    ),
    changes=(
        Change(
            what=Text(
                en="Bisect with pairs of nodes, then take the slow one out and compare it with a twin (PCIe, NIC, NVLink, clocks, firmware)",
                zh="用两两节点测试二分定位，移出慢节点并与同型节点比较（PCIe、网卡、NVLink、时钟、固件）",
            ),
            commands=("for pair in ...; do mpirun -H $pair ... all_reduce_perf -b 1G -e 1G -g 1; done",),
        ),
    ),
    checks=(Check(what=Text(en="All pairs agree within 5 %", zh="所有两两组合相差在 5 % 以内")),),
    gain=Text(en="The job runs at the pace of the healthy nodes", zh="作业以健康节点的速度运行"),
    severity="medium",
    explains=("straggler-other", "placement-crosses-domain"),
)
