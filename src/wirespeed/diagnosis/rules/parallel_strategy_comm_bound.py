"""The parallel layout moves too much over slow links."""

import re

from wirespeed.diagnosis.joins.pieces import against, piece, quantities
from wirespeed.diagnosis.joins.step_times import COMMUNICATION, communication_share
from wirespeed.model.case import Case
from wirespeed.model.finding import FAIR, STRONG, Change, Check, LookAlike, Verdict, contradicts
from wirespeed.model.kinds import Explain, Rule, wants
from wirespeed.model.measurement import PhaseTime, TrainingStep
from wirespeed.model.settings import Command, Quantity, Setting, Statement
from wirespeed.model.text import Text

_SHARE_RATIO = 0.3
"""Exposed communication from which another layout is worth a look; a starting point, not calibrated."""
_LITTLE_RATIO = 0.05
_LONGER_RATIO = 1.2
_OF_A_RATE = re.compile(
    r"\s?%?\s?(?:of|below|under|from|slower|less|lower)\s(?:what|(?:the |its |our |than )*(?:expected|vendor|peak|line|theoret|rated|nominal|advertised|promised|spec|link|max|published))"
)
_COMMUNICATES = re.compile(r"communic|nccl|all-?_?reduce|all-?_?gather|exposed|network|comm\b|sync")


def _judge(case: Case) -> Verdict:
    shares = case.every(
        Quantity,
        lambda one: (
            one.dimension == "share"
            and one.value >= _SHARE_RATIO
            and _COMMUNICATES.search(one.subject) is not None
            and not _is_of_a_rate(one)
        ),
    )
    sharded = (
        *case.every(Command, _shards_fully),
        *case.every(Setting, lambda one: one.name.strip("\"' ").lower() == "stage" and one.setting.strip("\"', ") == "3"),
        *case.said("shards-fully"),
    )
    said = case.said("communication-share-high", "scales-badly")
    slow = case.said("slow-links")
    timed = communication_share(case)
    is_large = timed is not None and timed[0] >= _SHARE_RATIO
    evidence = (
        *piece(_SHARE, FAIR, shares, share_ratio=shares[0].value if shares else None),
        *piece(_TIMED, STRONG, timed[1] if timed and is_large else (), share_ratio=timed[0] if timed else None),
        *against(_LITTLE, FAIR, timed[1] if timed and timed[0] <= _LITTLE_RATIO else ()),
        *piece(_SAID, FAIR + 0.5, said),
        *piece(_FULL, FAIR, case.said("link-full") if sharded else ()),
        *piece(_LONGER, FAIR, _longer_with_more(case)),
        *piece(_SLOW, FAIR, slow if said or shares or sharded else ()),
        *piece(_SHARDED, FAIR, sharded if said or slow else ()),
        *(contradicts(_UNEVEN, FAIR, one) for one in case.said("work-uneven", "experts-uneven")[:1]),
        *(contradicts(_DATA, STRONG, one) for one in _waits_for_data(case)[:1]),
    )
    return Verdict(evidence=evidence)


def _is_of_a_rate(share: Quantity) -> bool:
    """Whether the share is one of a rate (`60 % of what the vendor showed`), not of time."""
    return any(_OF_A_RATE.match(quote.text.partition(share.printed)[2]) for quote in share.quotes)


def _longer_with_more(case: Case) -> tuple[Quantity, ...]:
    """The time of one step on one machine, and the clearly longer one on several with the same work for each."""
    alone = quantities(
        case,
        "time",
        r"(?i)\b(?:one|1|single)[- ](?:machine|node|server|box|host)(?:\W{1,3}(?:(?:takes|does|needs|gives|is|runs at) )?|, .{0,40})$",
    )
    more = quantities(
        case, "time", r"(?i)\b(?:two|2|both|three|four|[3-9]|1\d)[- ](?:machines|nodes|servers|boxes|hosts)\b.{0,40}$"
    )
    return next(((one, other) for one in alone[:5] for other in more[:5] if other.value >= _LONGER_RATIO * one.value), ())


def _shards_fully(command: Command) -> bool:
    return any(re.search(r"(?i)fsdp|zero[-_]?3|full[-_]shard", argument) for argument in command.arguments)


def _waits_for_data(case: Case) -> tuple[TrainingStep, ...]:
    return case.every(TrainingStep, lambda one: bool(one.step_s and one.data_s and one.data_s > 0.5 * one.step_s))


_FULL = Text(en="the link is full while parameters are gathered over it", zh="参数收集占满链路")
_LONGER = Text(en="a step takes longer on several machines than on one", zh="多机每步耗时长于单机")
_SHARE = Text(en="communication takes {share_ratio} of the step", zh="通信占步时的 {share_ratio}")
_TIMED = Text(
    en="by the program's timers unhidden communication takes {share_ratio} of the step",
    zh="按程序计时器，未被掩盖的通信占步时的 {share_ratio}",
)
_LITTLE = Text(en="by the program's timers hardly any communication is left unhidden", zh="按程序计时器，几乎没有未被掩盖的通信")
_SAID = Text(en="communication takes most of the step, or more nodes bring little", zh="通信占去大部分步时，或增加节点收效甚微")
_SLOW = Text(en="the links between the nodes are slow", zh="节点间链路较慢")
_SHARDED = Text(
    en="parameters are sharded over all ranks, which gathers them in every layer", zh="参数在全部 rank 上切分，每层都要收集"
)
_UNEVEN = Text(en="the ranks' work is uneven, so part of that time is waiting", zh="各 rank 工作不均，其中部分时间是等待")
_DATA = Text(en="the step waits for data, not for communication", zh="步时在等数据而非通信")

RULE = Rule(
    cause="parallel-strategy-comm-bound",
    title=Text(en="The parallel layout moves too much over slow links", zh="并行布局在慢链路上传输过多数据"),
    summary=Text(
        en="The bytes the layout must move each step do not fit the link between the nodes, although the link works as it should.",
        zh="布局每步须传输的字节超出节点间链路能力，尽管链路本身正常。",
    ),
    needs=(
        (wants(Command, _shards_fully),),
        (wants(TrainingStep, lambda one: bool(one.step_s and one.data_s)),),
        (wants(PhaseTime, lambda one: one.name in COMMUNICATION),),
        (Statement,),
        (Quantity,),
    ),
    judge=_judge,
    explain=Explain(
        what=Text(
            en="Data parallelism moves the gradients, full sharding three times the parameters, tensor parallelism activations in each layer.",
            zh="数据并行传梯度，全切分传三倍参数量，张量并行每层传激活。",
        ),
        shows=Text(
            en="Two nodes are hardly faster than one; traces show exposed collectives that run at the link's full rate.",
            zh="两个节点几乎不比一个快；轨迹显示未被掩盖的集合操作以链路满速运行。",
        ),
        sources=(
            "DeepSpeed documentation: ZeRO communication volume",
            "PyTorch documentation: HSDP",
            "arithmetic: bytes per step / link rate",
        ),
    ),
    told_apart_from=(
        LookAlike(
            cause="cross-node-tp", because=Text(en="there it is tensor parallelism that crosses nodes", zh="彼处是张量并行跨节点")
        ),
        LookAlike(
            cause="bandwidth-insufficient", because=Text(en="there other traffic fills the link", zh="彼处是其他流量占满链路")
        ),
    ),
    changes=(
        Change(
            what=Text(
                en="Keep the chattiest group inside the node (hybrid sharding, pipeline across nodes), accumulate gradients, overlap, or compress",
                zh="让通信最多的组留在节点内（混合切分、节点间流水线），累积梯度、重叠或压缩",
            ),
            commands=("torchrun ... --data_parallel_replicate_degree NODES --data_parallel_shard_degree GPUS",),
        ),
    ),
    checks=(
        Check(
            what=Text(en="The exposed share of communication falls below a tenth", zh="未掩盖的通信占比降到十分之一以下"),
            commands=("wirespeed trace DIR",),
        ),
    ),
    gain=Text(en="Up to the share that communication takes now", zh="最多可收回当前通信占比"),
    severity="medium",
)
