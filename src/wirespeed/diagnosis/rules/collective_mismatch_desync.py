"""Ranks issue different collectives, sizes or orders, so they wait for each other for ever."""

import re
from itertools import takewhile

from wirespeed.diagnosis.joins.pieces import piece
from wirespeed.diagnosis.joins.ranks import behind, disagreeing, stuck
from wirespeed.model.case import Case
from wirespeed.model.events.log import FrameworkEvent
from wirespeed.model.events.nccl import NcclRankState, NcclWarning
from wirespeed.model.finding import FAIR, PROVES, SLIGHT, STRONG, Change, Check, LookAlike, Verdict, contradicts
from wirespeed.model.kinds import Explain, Rule, wants
from wirespeed.model.settings import Statement
from wirespeed.model.source import Quote
from wirespeed.model.text import Text

_MOST_BODY_LINES = 8
_COLLECTIVE = re.compile(
    r"\b(?:all_?reduce|all_?gather\w*|reduce_scatter\w*|broadcast\w*|barrier|all_to_all\w*|gather|scatter|save_checkpoint|save_model|save_state"
    r"|wait_for_everyone|evaluate|validate|sync_dist|backward)\b",
    re.IGNORECASE,
)
"""Calls that communicate, or hold a collective in common trainers (sharded saving, evaluation)."""

_COLLECTIVE_NAME = re.compile(
    r"_?(?:all_?reduce|all_?gather|reduce_?scatter|all_?to_?all|broadcast|barrier|gather|scatter|reduce|monitored_?barrier)\w*"
)


def _judge(case: Case) -> Verdict:
    watchdog = case.every(FrameworkEvent, topic="watchdog-timeout")
    branch = case.said("branch-on-rank")
    in_branch = _collectives_of_some(case)
    apart, standing = disagreeing(case), stuck(case)
    evidence = (
        *piece(_TOLD, PROVES + SLIGHT, case.every(FrameworkEvent, topic="collective-mismatch")),
        *piece(_NCCL_TOLD, STRONG + SLIGHT, case.every(NcclWarning, topic="collective-mismatch")),
        *piece(_DIFFERENT, STRONG + SLIGHT, _different_work(watchdog)),
        *piece(_STAND_APART, STRONG + SLIGHT, _in_different_collectives(case)),
        *piece(_RAS_DIFFERENT, STRONG + SLIGHT, apart),
        *piece(_RAS_STUCK, FAIR, standing if not apart else ()),
        *piece(_RAS_BEHIND, SLIGHT, behind(case) if not apart and not standing else ()),
        *piece(_ABSENT, FAIR, case.every(FrameworkEvent, topic="collective-missing-rank")),
        *piece(_AHEAD, FAIR, _different_sequence(watchdog)),
        *piece(_SAID, FAIR + SLIGHT, case.said("ranks-disagree")),
        *piece(_BRANCH, STRONG, in_branch),
        *piece(_SOME_CODE, SLIGHT, branch if not in_branch and (watchdog or case.said("hang", "watchdog-limit")) else ()),
        *(contradicts(_ON_PURPOSE, FAIR, one) for one in case.said("done-on-purpose")[:1]),
        *piece(_HANG, SLIGHT, case.said("hang") if case.said("ranks-disagree") else ()),
    )
    return Verdict(evidence=evidence)


def _in_different_collectives(case: Case) -> tuple[FrameworkEvent, ...]:
    """One rank each of those that stand in different collectives at the same look."""
    found: dict[str, FrameworkEvent] = {}
    for one in case.every(FrameworkEvent, topic="rank-stands"):
        if one.operation is not None and _COLLECTIVE_NAME.fullmatch(one.operation):
            found.setdefault(one.operation, one)
    return tuple(found.values()) if len(found) > 1 else ()


def _collectives_of_some(case: Case) -> tuple[Statement, ...]:
    """Branches taken by some ranks whose body, by its indentation, calls what all ranks must call."""
    return tuple(
        one for one in case.said("branch-on-rank") if any(_COLLECTIVE.search(line) for line in _body(case, one.quotes[-1]))
    )


def _body(case: Case, head: Quote) -> list[str]:
    """The few lines that stand deeper than the line quoted, directly below it."""
    below = case.texts.get(head.source, "").split("\n")[head.line_index + 1 : head.line_index + 1 + _MOST_BODY_LINES]
    return list(takewhile(lambda line: _indent(line) > _indent(head.text), below))


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _different_work(events: tuple[FrameworkEvent, ...]) -> tuple[FrameworkEvent, ...]:
    """Two time-outs with the same sequence number and another operation or size."""
    by_number: dict[int, FrameworkEvent] = {}
    for one in events:
        if one.sequence_number is None:
            continue
        first = by_number.setdefault(one.sequence_number, one)
        if (one.operation, one.element_count) != (first.operation, first.element_count) and one.rank != first.rank:
            return (first, one)
    return ()


def _different_sequence(events: tuple[FrameworkEvent, ...]) -> tuple[FrameworkEvent, ...]:
    """Ranks that timed out in different operations at different places of the sequence."""
    known = [one for one in events if one.sequence_number is not None and one.rank is not None]
    operations = {one.operation for one in known}
    numbers = {one.sequence_number for one in known}
    return tuple(known[:2]) if len(operations) > 1 and len(numbers) > 1 else ()


_ON_PURPOSE = Text(en="the difference was made on purpose", zh="差异是有意制造的")
_TOLD = Text(en="the analysis names ranks whose collective differs", zh="分析指出了集合操作不一致的 rank")
_NCCL_TOLD = Text(en="NCCL reports collectives that do not fit together", zh="NCCL 报告集合操作不匹配")
_DIFFERENT = Text(
    en="at the same sequence number two ranks wait in different collectives or sizes",
    zh="在同一序号上，两个 rank 等待的集合操作或大小不同",
)
_RAS_DIFFERENT = Text(
    en="of two ranks each has launched more of some collective than the other: they make different calls",
    zh="两个 rank 各自有某种集合操作发起得比对方多：它们的调用不同",
)
_RAS_STUCK = Text(
    en="in two reports of NCCL's RAS the same ranks are behind by the same counts, and nothing moves",
    zh="NCCL RAS 的两次报告中，同样的 rank 落后同样的次数，且无任何进展",
)
_RAS_BEHIND = Text(en="some ranks have launched fewer collectives than the others", zh="有 rank 发起的集合操作少于其他")
_ABSENT = Text(en="some ranks never joined the collective", zh="有 rank 从未加入该集合操作")
_AHEAD = Text(
    en="ranks stopped at different places of the sequence, in different operations", zh="各 rank 停在序列的不同位置和不同操作上"
)
_SAID = Text(en="ranks take different branches, keys, batches or orders", zh="各 rank 的分支、键、批次或顺序不同")
_BRANCH = Text(en="a collective stands in code that only some ranks run", zh="集合操作位于仅部分 rank 执行的代码中")
_SOME_CODE = Text(en="code runs on some ranks only, and a collective waits", zh="有代码只在部分 rank 上执行，而集合操作在等待")
_HANG = Text(en="the job hangs", zh="作业挂起")

_STAND_APART = Text(en="ranks stand in different collectives at the same time", zh="同一时刻各 rank 处于不同的集合操作中")

RULE = Rule(
    cause="collective-mismatch-desync",
    title=Text(en="Ranks issue different collectives", zh="各 rank 发起的集合操作不一致"),
    summary=Text(
        en="The program makes ranks call different collectives, sizes or orders; each waits for a partner that never comes. The network is not at fault.",
        zh="程序使各 rank 调用了不同的集合操作、大小或顺序，互相等待永不到来的对端。问题不在网络。",
    ),
    needs=(
        (wants(FrameworkEvent, lambda one: one.topic in ("collective-mismatch", "collective-missing-rank", "watchdog-timeout")),),
        (wants(NcclWarning, lambda one: one.topic == "collective-mismatch"),),
        (wants(NcclRankState, lambda one: bool(one.launched_counts)),),
        (wants(FrameworkEvent, lambda one: one.topic == "rank-stands"),),
        (Statement,),
    ),
    silence_needs=(
        (wants(FrameworkEvent, lambda one: one.topic in ("collective-mismatch", "collective-missing-rank", "watchdog-timeout")),),
        (wants(NcclWarning, lambda one: one.topic == "collective-mismatch"),),
        (wants(NcclRankState, lambda one: bool(one.launched_counts)),),
    ),
    judge=_judge,
    explain=Explain(
        what=Text(
            en="Collectives match by order alone: one extra call on one rank shifts all that follow.",
            zh="集合操作只按顺序匹配：某 rank 多调一次，后面全部错位。",
        ),
        shows=Text(
            en="A hang at an epoch's end or under a condition, then a watchdog time-out; the flight recorder names culprits.",
            zh="在 epoch 结束或某条件下挂起，随后看门狗超时；飞行记录仪指出肇事 rank。",
        ),
        sources=(
            "pytorch/pytorch#140563",
            "Lightning-AI/pytorch-lightning#19106",
            "PyTorch documentation: TORCH_DISTRIBUTED_DEBUG",
        ),
    ),
    told_apart_from=(
        LookAlike(
            cause="collective-timeout-too-short",
            because=Text(en="there all ranks would have come, only later", zh="彼处所有 rank 终会到达，只是较晚"),
        ),
        LookAlike(cause="peer-process-died", because=Text(en="there one rank is gone", zh="彼处某个 rank 已退出")),
    ),
    changes=(
        Change(
            what=Text(
                en="Find the call that only some ranks make (logging keys, conditions on rank or data, uneven batches) and make it the same on all, or give it its own group",
                zh="找出只有部分 rank 执行的调用（日志键、按 rank 或数据的条件、不齐的批次），使其在所有 rank 一致，或使用单独的组",
            ),
            commands=(
                "TORCH_DISTRIBUTED_DEBUG=DETAIL ...",
                "torchfrtrace --prefix nccl_trace_rank_ DIR",
            ),
        ),
    ),
    checks=(
        Check(
            what=Text(
                en="The run with TORCH_DISTRIBUTED_DEBUG=DETAIL reports no mismatch",
                zh="以 TORCH_DISTRIBUTED_DEBUG=DETAIL 运行不再报告不匹配",
            )
        ),
    ),
    gain=Text(en="The hang goes away", zh="不再挂起"),
    severity="high",
    explains=(
        "collective-timeout-too-short",
        "peer-process-died",
        "straggler-other",
    ),
)
