"""A rank ended, and the others report a broken connection."""

import re

from wirespeed.diagnosis.joins import ranks
from wirespeed.diagnosis.joins.pieces import against, piece
from wirespeed.diagnosis.joins.step_times import fallen_silent
from wirespeed.model.case import Case
from wirespeed.model.events.log import FrameworkEvent, KernelEvent
from wirespeed.model.events.nccl import NcclRankState, NcclWarning
from wirespeed.model.facts.cluster import ClusterEvent, NodeState
from wirespeed.model.finding import FAIR, SLIGHT, STRONG, Change, Check, LookAlike, Verdict
from wirespeed.model.kinds import Explain, Rule, wants
from wirespeed.model.measurement import TrainingStep
from wirespeed.model.settings import Statement
from wirespeed.model.text import Text

_KILLED = re.compile(
    r"(?i)SIG(?:KILL|SEGV|BUS|ABRT)|signal (?:6|7|9|11)\b|-(?:6|7|9|11)\b|13[4579]\b|OOMKilled|NODE_FAIL|node failure|: killed\b|segmentation fault|core dumped|actor ?died|worker\S* died|process died"
)
_ENDED = frozenset({"OOMKilling", "SystemOOM", "Evicted", "Preempted", "NodeNotReady", "TaintManagerEviction", "NodeShutdown"})
"""Reasons of Kubernetes events by which pods end that did nothing wrong themselves."""
_GONE = ("down", "not-ready", "fail", "node-fail", "not-responding")
_TOOL = re.compile(r"\b(?:ib_\w+|i?perf3?|ucx_perftest|rping|\w+_perf|curl|nginx|envoy|haproxy)\[\d+\]: segfault")
"""A test tool or a proxy that crashes is no rank."""
_PEER_GONE = ("peer-closed", "connection-reset", "broken-pipe", "heartbeat-lost")
_CLOSED_BY_PEER = re.compile(r"(?i)connection (?:closed|reset) by (?:remote )?peer|broken pipe")
_REMOTE_EXIT = re.compile(r"ncclRemoteError|remote process exit")


def _judge(case: Case) -> Verdict:
    died = case.every(FrameworkEvent, topic="process-died")
    killed = tuple(one for one in died if _KILLED.search(one.message))
    by_kernel = case.every(KernelEvent, lambda one: one.topic in ("oom-kill", "segfault") and not _TOOL.search(one.message))
    closed = (
        *case.every(NcclWarning, topic="connection-closed"),
        *case.every(FrameworkEvent, lambda one: one.topic in _PEER_GONE or _CLOSED_BY_PEER.search(one.message) is not None),
    )
    remote = (
        *case.every(NcclWarning, lambda one: _REMOTE_EXIT.search(one.message) is not None),
        *case.every(FrameworkEvent, lambda one: _REMOTE_EXIT.search(one.message) is not None),
    )
    ended = case.every(ClusterEvent, lambda one: one.reason in _ENDED)
    gone = case.every(NodeState, lambda one: one.state in _GONE)
    evidence = (
        *piece(_ENDED_BY_CLUSTER, STRONG if closed or remote or died else FAIR, ended),
        *piece(_NODE_GONE, FAIR if closed or remote or died else SLIGHT, gone),
        *piece(_KILLED_HERE, STRONG, killed),
        *piece(_BY_KERNEL, STRONG, by_kernel),
        *piece(_DIED, SLIGHT, died if not killed else ()),
        *piece(_CLOSED, FAIR, closed),
        *piece(_DEAD, STRONG + SLIGHT, ranks.gone(case, "dead")),
        *piece(_NO_ANSWER, FAIR, ranks.gone(case, "missing") if not ranks.gone(case, "dead") else ()),
        *against(_ALL_WELL, FAIR, ranks.all_well(case)),
        *piece(_SILENT, FAIR, fallen_silent(case)),
        *piece(_REMOTE, SLIGHT, remote),
        *piece(_SAID, FAIR + SLIGHT, case.said("process-gone")),
    )
    return Verdict(evidence=evidence)


_ENDED_BY_CLUSTER = Text(en="the cluster ended a pod, or its node went away", zh="集群终止了 Pod，或其节点失联")
_NODE_GONE = Text(en="a node is down or does not answer", zh="有节点已宕机或无响应")
_KILLED_HERE = Text(en="a process was ended by a signal", zh="有进程被信号终止")
_BY_KERNEL = Text(en="the kernel killed a process", zh="内核终止了进程")
_DIED = Text(en="the framework reports a failed process", zh="框架报告有进程失败")
_CLOSED = Text(en="the peer closed the connection: it ended first", zh="对端关闭了连接：它先结束")
_DEAD = Text(
    en="NCCL's RAS has had no answer from a process for a minute and calls it dead",
    zh="NCCL 的 RAS 一分钟未得到某进程应答，判定其已死",
)
_NO_ANSWER = Text(
    en="NCCL's RAS gets no answer from a process: it ended, or it is stopped", zh="NCCL 的 RAS 得不到某进程应答：它已退出或被停住"
)
_ALL_WELL = Text(en="NCCL's RAS finds every rank running", zh="NCCL 的 RAS 显示所有 rank 都在运行")
_SILENT = Text(en="a rank logs no more steps while the others go on", zh="某 rank 不再记录步数，而其他仍在继续")
_REMOTE = Text(en="NCCL reports that a remote process may have exited", zh="NCCL 报告远端进程可能已退出")
_SAID = Text(en="a process or node died before the others complained", zh="某进程或节点先于其他报错而退出")

RULE = Rule(
    cause="peer-process-died",
    title=Text(en="A rank died, the network errors are its echo", zh="某个 rank 已退出，网络报错只是余波"),
    summary=Text(
        en="One process ended (killed, crashed or preempted); the others only see closed connections. Look at the first error in time.",
        zh="某进程终止（被杀、崩溃或被抢占），其余只看到连接关闭。应看时间上最早的错误。",
    ),
    needs=(
        (FrameworkEvent,),
        (wants(NcclWarning, lambda one: one.topic == "connection-closed"),),
        (wants(KernelEvent, lambda one: one.topic in ("oom-kill", "segfault")),),
        (wants(ClusterEvent, lambda one: one.reason in _ENDED),),
        (wants(NodeState, lambda one: one.state in _GONE),),
        (NcclRankState,),
        (wants(TrainingStep, lambda one: one.rank is not None),),
        (Statement,),
    ),
    judge=_judge,
    explain=Explain(
        what=Text(
            en="When a process ends, the kernel closes its sockets; NCCL on the other ranks reports that as a remote error.",
            zh="进程结束时内核关闭其套接字；其他 rank 上的 NCCL 把它报告为远端错误。",
        ),
        shows=Text(
            en="Connection closed by remote peer, received 0 bytes or ncclRemoteError on many ranks, and another error earlier on one.",
            zh="多个 rank 出现 Connection closed by remote peer、received 0 bytes 或 ncclRemoteError，而某一 rank 更早有别的错误。",
        ),
        sources=("NCCL user guide: ncclRemoteError",),
    ),
    told_apart_from=(
        LookAlike(
            cause="packet-loss", because=Text(en="there the process lives and transfers time out", zh="彼处进程存活而传输超时")
        ),
        LookAlike(
            cause="collective-mismatch-desync", because=Text(en="there all processes live and wait", zh="彼处所有进程存活并在等待")
        ),
    ),
    changes=(
        Change(
            what=Text(
                en="Find the first failing rank by time and fix that error: memory, data, a signal, preemption",
                zh="按时间找出最先失败的 rank 并修复其错误：内存、数据、信号、抢占",
            ),
            commands=(
                "grep -hE 'Error|Killed|signal' rank*.log | sort | head",
                "dmesg -T | grep -iE 'oom|killed process|segfault'",
            ),
        ),
    ),
    checks=(Check(what=Text(en="No rank ends before the others", zh="没有 rank 先于其他结束")),),
    gain=Text(en="The job survives", zh="作业可继续运行"),
    severity="medium",
    explains=(
        "packet-loss",
        "collective-timeout-too-short",
        "firewall-blocks-ports",
    ),
)
