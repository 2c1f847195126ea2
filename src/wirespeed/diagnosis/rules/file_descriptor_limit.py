"""The process may open too few files, and every connection is one."""

from wirespeed.diagnosis.joins.pieces import against, piece
from wirespeed.model.case import Case
from wirespeed.model.events.log import FrameworkEvent, ServerEvent
from wirespeed.model.events.nccl import NcclWarning
from wirespeed.model.facts.host import (
    ProcessLimit,
)
from wirespeed.model.finding import FAIR, SLIGHT, STRONG, Change, Check, Evidence, LookAlike, Verdict
from wirespeed.model.kinds import Explain, Rule, wants
from wirespeed.model.settings import Statement
from wirespeed.model.text import Text

SMALL_COUNT = 1024


def _judge(case: Case) -> Verdict:
    evidence: list[Evidence] = []
    refused = (
        *case.every(FrameworkEvent, topic="too-many-files"),
        *case.every(ServerEvent, topic="too-many-files"),
        *case.every(NcclWarning, lambda one: "too many open files" in one.message.lower()),
    )
    evidence += piece(_EXHAUSTED, STRONG + SLIGHT, (*refused, *case.said("fd-exhausted")))
    limits = case.every(ProcessLimit, lambda one: one.name == "nofile")
    small = [one for one in limits if (one.limit_count or 1 << 30) <= SMALL_COUNT]
    evidence += piece(
        _SMALL, FAIR if evidence else SLIGHT, small, limit_count=min((one.limit_count or 0 for one in small), default=0)
    )
    evidence += against(_LARGE, FAIR, [] if small else limits)
    return Verdict(evidence=tuple(evidence))


_EXHAUSTED = Text(en="the system refuses to open more files", zh="系统拒绝再打开文件")
_SMALL = Text(en="the limit of open files is {limit_count}", zh="打开文件上限为 {limit_count}")
_LARGE = Text(en="the limit of open files is large", zh="打开文件上限很大")

RULE = Rule(
    cause="file-descriptor-limit",
    title=Text(en="The limit of open files is reached", zh="打开文件数达到上限"),
    summary=Text(
        en="Sockets, files and event descriptors share one limit; when it is reached, connects and accepts fail with EMFILE.",
        zh="套接字、文件与事件描述符共享一个上限；达到后 connect 与 accept 以 EMFILE 失败。",
    ),
    needs=(
        (wants(ProcessLimit, lambda one: one.name == "nofile"),),
        (wants(FrameworkEvent, lambda one: one.topic == "too-many-files"),),
        (wants(ServerEvent, lambda one: one.topic == "too-many-files"),),
        (wants(NcclWarning, lambda one: "too many open files" in one.message.lower()),),
        (Statement,),
    ),
    judge=_judge,
    explain=Explain(
        what=Text(
            en="A proxy uses two descriptors a request, NCCL sockets and data loaders many each; the soft limit is 1,024 by default.",
            zh="代理每请求用两个描述符，NCCL 套接字和数据加载器各用许多；默认软上限为 1,024。",
        ),
        shows=Text(
            en="`Too many open files` (errno 24) when connections or workers grow.",
            zh="连接或进程增多时出现 Too many open files（errno 24）。",
        ),
        sources=("getrlimit(2)", "systemd LimitNOFILE", "nginx worker_rlimit_nofile"),
    ),
    told_apart_from=(
        LookAlike(
            cause="ephemeral-port-exhaustion",
            because=Text(en="that is errno 99, this is errno 24", zh="那是 errno 99，这是 errno 24"),
        ),
    ),
    changes=(
        Change(
            what=Text(en="Raise the soft limit where the process starts", zh="在进程启动处提高软上限"),
            commands=("ulimit -n 1048576", "LimitNOFILE=1048576", "docker run --ulimit nofile=1048576:1048576"),
        ),
    ),
    checks=(
        Check(
            what=Text(en="The process's limit is the new one", zh="进程的上限已更新"),
            commands=("grep 'open files' /proc/PID/limits", "ls /proc/PID/fd | wc -l"),
        ),
    ),
    gain=Text(en="Connections no longer fail at the limit", zh="连接不再因上限失败"),
    severity="medium",
    settled_by=("ulimit -n",),
)
