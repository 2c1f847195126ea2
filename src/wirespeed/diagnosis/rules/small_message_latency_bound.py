"""Many small dependent messages: latency rules, not bandwidth."""

import re

from wirespeed.diagnosis.joins.pieces import piece
from wirespeed.diagnosis.joins.ranks import small_message_share
from wirespeed.model.case import Case
from wirespeed.model.finding import FAIR, SLIGHT, STRONG, Change, Check, LookAlike, Verdict
from wirespeed.model.kinds import Explain, Rule, wants
from wirespeed.model.measurement import CollectiveRun, CollectiveTotal
from wirespeed.model.record import Record
from wirespeed.model.settings import CodeCall, Quantity, Setting, Statement
from wirespeed.model.text import Text

_SMALL_BUCKET_MEBIBYTES = 5.0
"""torch's default bucket is 25 MiB; far below, start time rules on any network of 100 Gb/s (half-bandwidth size about 1 MB a hop)."""

_SAME_VOLUME_RATIO = 0.3
_FASTER_RATIO = 1.5

_MOSTLY_RATIO = 0.5
_MANY_PIECES = 100
_SMALL_PIECE_BYTES = 64 * 1024
"""At 100 Gb/s this takes 5 us, no more than the round trip and the posting of one message."""


def _judge(case: Case) -> Verdict:
    buckets = (
        *case.every(
            Setting, lambda one: "bucket_cap_mb" in one.name and one.value is not None and one.value < _SMALL_BUCKET_MEBIBYTES
        ),
        *case.every(CodeCall, lambda one: (_bucket(one) or _SMALL_BUCKET_MEBIBYTES) < _SMALL_BUCKET_MEBIBYTES),
    )
    healthy_large = case.every(CollectiveRun, lambda one: one.size_bytes >= 1 << 28 and one.rank is None)
    said = case.said("many-small-messages")
    fewer_is_faster = _same_bytes_in_fewer_pieces(case)
    share = small_message_share(case)
    is_small = share is not None and share[0] >= _MOSTLY_RATIO
    evidence = (
        *piece(_BUCKETS, STRONG, buckets),
        *piece(_SAID, FAIR + 0.5, said),
        *piece(_COUNTED, FAIR, _many_small_pieces(case) if not fewer_is_faster else ()),
        *piece(_FEWER, STRONG, fewer_is_faster),
        *piece(
            _IN_JOB,
            STRONG,
            share[2] if share is not None and is_small else (),
            share_ratio=share[0] if share is not None else None,
            messages_count=share[1] if share is not None else None,
        ),
        *piece(_IDLE, SLIGHT + 0.5, case.said("link-mostly-idle", "rdma-healthy-outside") if said or buckets else ()),
        *piece(_POSTING, FAIR, case.said("posting-dominates")),
        *piece(_LARGE_FINE, SLIGHT, healthy_large if said else ()),
    )
    return Verdict(evidence=evidence)


def _many_small_pieces(case: Case) -> tuple[Statement, ...]:
    """Counted pieces that are each too small to fill a link: their size stands on the same line."""
    return tuple(
        one
        for one in case.said("pieces-of-size")
        if (one.value or 0.0) >= _MANY_PIECES and any(0 < size <= _SMALL_PIECE_BYTES for size in _sizes_beside(case, one))
    )


def _sizes_beside(case: Case, said: Statement) -> list[float]:
    return [one.value for one in case.every(Quantity, lambda one: one.dimension == "size" and one.quotes[0] == said.quotes[-1])]


def _same_bytes_in_fewer_pieces(case: Case) -> tuple[Record, ...]:
    """Two lines that move about the same bytes, one in far fewer pieces and in far less time."""
    told = [(one, *found) for one in case.said("pieces-of-size") if (found := _volume(case, one)) is not None]
    for many, many_count, many_bytes, many_s in told:
        for few, few_count, few_bytes, few_s in told:
            alike = abs(many_bytes - few_bytes) <= _SAME_VOLUME_RATIO * few_bytes
            if alike and many_count >= 4 * few_count and many_s >= _FASTER_RATIO * few_s:
                return (many, few)
    return ()


def _volume(case: Case, pieces: Statement) -> tuple[float, float, float] | None:
    """Count, bytes altogether and seconds that one line tells."""
    here = case.every(Quantity, lambda one: one.quotes[0] == pieces.quotes[-1])
    sizes = [one.value for one in here if one.dimension == "size"]
    times = [one.value for one in here if one.dimension == "time"]
    if not (pieces.value and sizes and times):
        return None
    return pieces.value, pieces.value * sizes[0], max(times)


def _bucket(call: CodeCall) -> float | None:
    found = re.search(r"bucket_cap_mb\s*=\s*(\d+(?:\.\d+)?)", f"{call.name}({call.arguments})")
    return float(found[1]) if found else None


_COUNTED = Text(en="the data travels in many pieces of at most 64 KiB", zh="数据被拆成许多不超过 64 KiB 的小块传输")
_BUCKETS = Text(en="gradients travel in very small buckets", zh="梯度以很小的桶传输")
_SAID = Text(en="many small messages, and the link is far from full", zh="大量小消息，链路远未占满")
_FEWER = Text(en="the same bytes in fewer pieces take far less time", zh="同样的字节数分成更少的块时耗时少得多")
_IN_JOB = Text(
    en="{share_ratio} of the job's time in collectives goes by {messages_count} messages of less than a megabyte",
    zh="作业的集合操作时间有 {share_ratio} 花在 {messages_count} 条不足一兆字节的消息上",
)
_IDLE = Text(en="the link is mostly idle meanwhile", zh="期间链路大部分空闲")
_POSTING = Text(en="posting the messages takes longer than moving the bytes", zh="提交消息的时间超过传输字节的时间")
_LARGE_FINE = Text(en="large messages reach the link's rate", zh="大消息能达到链路速率")

RULE = Rule(
    cause="small-message-latency-bound",
    title=Text(en="Many small messages: latency is the limit", zh="大量小消息：受限于延迟"),
    summary=Text(
        en="The job sends many small dependent messages, so each pays the start time and bandwidth stays unused.",
        zh="作业发送大量相互依赖的小消息，每条都付出启动时间，带宽闲置。",
    ),
    needs=(
        (wants(Setting, lambda one: "bucket" in one.name.lower()),),
        (wants(CollectiveRun, lambda one: one.rank is not None),),
        (CollectiveTotal,),
        (wants(CodeCall, lambda one: "bucket_cap_mb" in one.arguments),),
        (Statement,),
    ),
    judge=_judge,
    explain=Explain(
        what=Text(
            en="A collective costs a fixed start (tens of microseconds) plus bytes over rate; below their meeting point more bandwidth helps nothing.",
            zh="一次集合操作 = 固定启动（数十微秒）+ 字节/速率；低于平衡点时增加带宽无用。",
        ),
        shows=Text(
            en="busbw is low for small sizes only; the NIC is nearly idle; time follows the number of calls, not bytes.",
            zh="仅小尺寸 busbw 低；网卡几乎空闲；耗时随调用次数而非字节变化。",
        ),
        sources=(
            "nccl-tests doc/PERFORMANCE.md",
            "PyTorch documentation: bucket_cap_mb",
        ),
    ),
    told_apart_from=(
        LookAlike(
            cause="no-fault-metric-misread",
            because=Text(en="there only a small-size row or the average over sizes is read", zh="彼处只是读了小尺寸行或各尺寸平均"),
        ),
        LookAlike(
            cause="straggler-compute-imbalance",
            because=Text(en="there the benchmark is fast at the same size", zh="彼处同尺寸的基准测试很快"),
        ),
    ),
    changes=(
        Change(
            what=Text(
                en="Send fewer, larger messages: larger buckets, fused or coalesced collectives, CUDA graphs, larger batch a step",
                zh="合并消息：更大的桶、融合或合并集合操作、CUDA graph、每步更大批量",
            ),
            commands=("DistributedDataParallel(model, bucket_cap_mb=100)",),
        ),
        Change(what=Text(en="For decoding, use custom all-reduce or fewer ranks", zh="解码时使用自定义 all-reduce 或减少 rank")),
    ),
    checks=(
        Check(
            what=Text(en="Calls per step fall and the step gets shorter", zh="每步调用次数下降且步时缩短"),
            commands=("wirespeed trace DIR",),
        ),
    ),
    gain=Text(en="Up to the sum of the start times", zh="最多可收回启动时间之和"),
    severity="low",
    explains=("kv-transfer-bound", "straggler-compute-imbalance", "no-fault-not-network-bound"),
)
