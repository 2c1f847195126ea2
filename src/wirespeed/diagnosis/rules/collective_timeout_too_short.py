"""The watchdog's limit is shorter than a legal wait, such as a download or evaluation on one rank."""

import re

from wirespeed.diagnosis.joins.pieces import piece
from wirespeed.model.case import Case
from wirespeed.model.events.log import FrameworkEvent
from wirespeed.model.events.nccl import NcclWarning
from wirespeed.model.finding import FAIR, SLIGHT, Change, Check, LookAlike, Verdict, contradicts
from wirespeed.model.kinds import Explain, Rule, wants
from wirespeed.model.record import Record
from wirespeed.model.settings import Statement
from wirespeed.model.text import Text

_BAR = re.compile(r"\[(?P<spent>\d{1,3}(?::\d\d){1,2})<(?P<left>\d{1,3}(?::\d\d){1,2})\b")
"""Time spent and time left, as tqdm prints them."""
_SHORT_S = 120.0
"""Defaults are 10 or 30 minutes; a limit of two minutes or less was set by hand and is shorter than many checkpoints."""


def _judge(case: Case) -> Verdict:
    limits = case.every(FrameworkEvent, lambda one: one.topic in ("watchdog-timeout", "store-timeout", "barrier-timeout"))
    legal = case.said("legal-long-wait")
    short = tuple(one for one in limits if one.timeout_s is not None and one.timeout_s <= _SHORT_S)
    other_cause = (
        *case.every(
            FrameworkEvent, lambda one: one.topic in ("collective-mismatch", "process-died", "out-of-memory", "name-not-resolved")
        ),
        *case.every(
            NcclWarning, lambda one: one.topic in ("completion-error", "connect-failed", "connection-closed", "collective-mismatch")
        ),
    )
    evidence = (
        *piece(_LIMIT, FAIR if legal else SLIGHT, limits, timeout_s=limits[0].timeout_s if limits else None),
        *piece(_SHORT, FAIR, short, timeout_s=short[0].timeout_s if short else None),
        *piece(_LEGAL, FAIR + 0.5 if limits or case.said("watchdog-limit") else SLIGHT, legal),
        *piece(_REMAINS, FAIR, _ends_after(legal, limits)),
        *piece(_SAID, SLIGHT, case.said("watchdog-limit")),
        *(contradicts(_OTHER, FAIR, one) for one in other_cause[:1]),
    )
    return Verdict(evidence=evidence)


def _ends_after(works: tuple[Statement, ...], limits: tuple[FrameworkEvent, ...]) -> tuple[Record, ...]:
    """A progress bar whose spent and remaining time together are longer than the limit that ran out."""
    limit = next((one for one in limits if one.timeout_s), None)
    for work in works:
        bar = _BAR.search(work.quotes[-1].text)
        if limit and bar and _clock_s(bar["spent"]) + _clock_s(bar["left"]) > (limit.timeout_s or 0.0):
            return (work, limit)
    return ()


def _clock_s(clock: str) -> float:
    """`30:38` and `1:02:03` in seconds."""
    seconds = 0.0
    for part in clock.split(":"):
        seconds = 60 * seconds + float(part)
    return seconds


_REMAINS = Text(en="the work that one rank has begun takes longer than the limit", zh="某 rank 已开始的工作需要的时间超过时限")
_LIMIT = Text(en="a limit of {timeout_s} ran out", zh="{timeout_s} 的时限已到")
_SHORT = Text(en="the limit is only {timeout_s}", zh="时限仅 {timeout_s}")
_LEGAL = Text(en="one rank has long work to do while the others wait", zh="某 rank 有长时间工作，其余在等待")
_SAID = Text(en="the watchdog ends the job", zh="看门狗结束了作业")
_OTHER = Text(en="something else failed that makes ranks wait", zh="另有故障导致 rank 等待")

RULE = Rule(
    cause="collective-timeout-too-short",
    title=Text(en="The time limit is shorter than a legal wait", zh="时限短于合理的等待"),
    summary=Text(
        en="Ranks wait in a collective while one downloads, saves or evaluates, and the watchdog takes that for a hang.",
        zh="某 rank 在下载、保存或评估时其余在集合操作中等待，看门狗将其当作挂起。",
    ),
    needs=(
        (wants(FrameworkEvent, lambda one: one.topic in ("watchdog-timeout", "store-timeout", "barrier-timeout")),),
        (Statement,),
    ),
    judge=_judge,
    explain=Explain(
        what=Text(
            en="A collective's clock starts at the first rank; torch allows 10 minutes for NCCL and 30 for others by default.",
            zh="集合操作从第一个 rank 进入开始计时；torch 默认 NCCL 为 10 分钟，其他为 30 分钟。",
        ),
        shows=Text(
            en="Watchdog time-outs at exactly the limit, always at the same phase, with the missing rank busy and alive.",
            zh="看门狗恰在时限处超时，总在同一阶段，而缺席的 rank 仍在工作。",
        ),
        sources=(
            "PyTorch documentation: init_process_group(timeout)",
            "huggingface/transformers: ddp_timeout",
        ),
    ),
    told_apart_from=(
        LookAlike(
            cause="collective-mismatch-desync", because=Text(en="there no limit would be long enough", zh="彼处再长的时限也不够")
        ),
        LookAlike(cause="peer-process-died", because=Text(en="there the missing rank is gone", zh="彼处缺席的 rank 已退出")),
    ),
    changes=(
        Change(
            what=Text(
                en="Raise the limit above the longest legal wait, and let the long work happen outside collectives",
                zh="把时限提高到最长合理等待之上，并把长工作移出集合操作",
            ),
            commands=("init_process_group(timeout=timedelta(hours=2))",),
        ),
    ),
    checks=(Check(what=Text(en="The phase passes; the step after it has its usual length", zh="该阶段通过，其后的步时恢复正常")),),
    gain=Text(en="The job survives its own long phases", zh="作业可度过自身的长阶段"),
    severity="medium",
    explains=("straggler-other",),
)
