"""An alarming line that is information only, while the run is well."""

import re

from wirespeed.diagnosis.joins.gpu_links import joined_directly
from wirespeed.diagnosis.joins.pieces import (
    ALONE,
    against,
    piece,
)
from wirespeed.model.case import Case
from wirespeed.model.events.log import FrameworkEvent, KernelEvent
from wirespeed.model.events.nccl import NcclHca, NcclInit, NcclNetwork, NcclPlugin, NcclWarning
from wirespeed.model.finding import (
    FAIR,
    PROVES,
    STRONG,
    Change,
    Check,
    Evidence,
    LookAlike,
    Verdict,
)
from wirespeed.model.kinds import Explain, Rule, wants
from wirespeed.model.measurement import (
    BenchmarkRank,
    CollectiveRun,
    CollectiveSummary,
)
from wirespeed.model.record import Record
from wirespeed.model.settings import Statement
from wirespeed.model.text import Text

_HARMLESS_WARNINGS = frozenset({"verbs-library-missing", "hint", "nvls-failed"})
_MISSING_PLUGIN = re.compile(r"(?i)(plugin|libnccl-\w+).*(not found|could not|cannot open|no such file)")
_BAD_EVENTS = (
    "watchdog-timeout",
    "collective-mismatch",
    "store-timeout",
    "process-died",
    "out-of-memory",
    "connection-reset",
    "nccl-error",
    "gloo-no-interface",
)
SMALL_ERROR_RATIO = 1e-4
"""Rounding of sums in another order stays below 1e-5 in fp32 and below 1e-3 in 16 bits."""


def _judge(case: Case) -> Verdict:
    unmanaged = case.every(KernelEvent, topic="no-nvswitch")
    lines: list[Record] = [
        *case.every(NcclPlugin, name=None),
        *case.every(NcclWarning, lambda one: one.topic in _HARMLESS_WARNINGS),
        *case.every(NcclWarning, lambda one: one.topic == "other" and _MISSING_PLUGIN.search(one.message) is not None),
        *case.every(NcclHca, device=None),
        *case.every(FrameworkEvent, lambda one: one.topic == "verbs-failed" and bool(case.denied("rdma-expected"))),
        *unmanaged,
        *case.said("alarming-line", "no-switch-to-manage"),
    ]
    probes = case.said("health-probe")
    if probes:
        lines += [*case.said("sporadic-reset"), *case.every(FrameworkEvent, topic="connection-reset")]
    alone = _on_one_machine(case)
    evidence: list[Evidence] = []
    evidence += piece(_LINE, ALONE, lines)
    evidence += piece(_PROBES, STRONG, probes)
    if lines or probes:
        evidence += piece(_WELL, FAIR, _good_results(case))
        evidence += piece(_ALONE, FAIR, alone)
        evidence += piece(_STARTED, FAIR, _started(case))
        evidence += piece(
            _JOINED,
            STRONG,
            joined_directly(case) if unmanaged or case.said("no-switch-to-manage", "fabric-manager-trouble") else (),
        )
        evidence += piece(_ASKED, FAIR, case.said("asks-about-message"))
        evidence += piece(_RUNS, FAIR, case.said("works-anyway"))
    worse = case.every(
        NcclWarning, lambda one: one.topic not in _HARMLESS_WARNINGS and one.topic not in ("other", "version-mismatch")
    )
    failed = case.every(FrameworkEvent, lambda one: one.topic in _BAD_EVENTS and not (probes and one.topic == "connection-reset"))
    evidence += against(_FAILED, PROVES, [*worse, *failed])
    evidence += against(_SOCKET, STRONG, [] if alone else [one for one in case.every(NcclNetwork) if one.name == "Socket"])
    return Verdict(evidence=tuple(evidence))


def _on_one_machine(case: Case) -> list[Record]:
    nodes = {one.node for one in case.every(BenchmarkRank) if one.node}
    if len(nodes) == 1:
        return list(case.every(BenchmarkRank))
    return list(case.said("single-machine")) if not nodes else []


def _started(case: Case) -> list[Record]:
    """Communicators that were made over RDMA after all: nothing that the line could have spoilt is missing."""
    complete = case.every(NcclInit, is_complete=True)
    fast = case.every(NcclNetwork, lambda one: one.name != "Socket")
    return [*complete[:1], *fast[:1]] if complete and fast else []


def _good_results(case: Case) -> tuple[Record, ...]:
    correct = case.every(CollectiveSummary, lambda one: one.is_correct is True or one.out_of_bounds_count == 0)
    right = case.every(CollectiveRun, _is_right)
    return (*correct, *right)


def _is_right(run: CollectiveRun) -> bool:
    return run.wrong_count == 0 or (run.error_ratio is not None and run.error_ratio < SMALL_ERROR_RATIO)


_LINE = Text(en="a line that also appears on healthy systems", zh="健康系统上也会出现的行")
_WELL = Text(en="the results are right: no wrong values, rounding only", zh="结果正确：没有错误值，仅有舍入")
_STARTED = Text(en="the communicator was made, over the fast network", zh="通信器已经由高速网络建立")
_ALONE = Text(en="one machine needs no network plugin and no RDMA", zh="单机不需要网络插件和 RDMA")
_PROBES = Text(
    en="a balancer's or monitor's probe connects and leaves without a request", zh="均衡器或监控的探测连接后未发请求即离开"
)
_JOINED = Text(en="the NVLinks are up without the service", zh="没有该服务 NVLink 也已就绪")
_ASKED = Text(en="only the message is asked about", zh="所问的只是该消息")
_RUNS = Text(en="the run itself is well", zh="运行本身正常")
_FAILED = Text(en="something did fail", zh="确有失败")
_SOCKET = Text(
    en="NCCL runs on TCP sockets, and it is not said that one machine is used", zh="NCCL 在用 TCP 套接字，且未说明是单机"
)

RULE = Rule(
    cause="no-fault-harmless-message",
    title=Text(en="The message is informational", zh="该消息仅为提示"),
    summary=Text(
        en="The line tells what was tried and not needed here; the run is right and as fast as this machine allows.",
        zh="该行说明尝试过但此处不需要的东西；运行正确且达到本机应有速度。",
    ),
    needs=(
        (wants(NcclPlugin, lambda one: one.name is None),),
        (NcclWarning,),
        (wants(NcclHca, lambda one: one.device is None),),
        (wants(KernelEvent, lambda one: one.topic == "no-nvswitch"),),
        (Statement,),
    ),
    judge=_judge,
    explain=Explain(
        what=Text(
            en="NCCL probes plugins, verbs and multicast in turn and logs what is absent; inside one machine it uses NVLink, PCIe or shared memory.",
            zh="NCCL 依次探测插件、verbs 与多播并记录缺失项；单机内使用 NVLink、PCIe 或共享内存。",
        ),
        shows=Text(
            en="`No plugin found`, `Failed to open libibverbs`, error column of 1e-7, IPv6 client socket warnings (errno 97), and a run that works.",
            zh="No plugin found、Failed to open libibverbs、误差列 1e-7、IPv6 客户端套接字警告（errno 97），而运行正常。",
        ),
        sources=("NCCL src/plugin/net.cc and src/misc/ibvwrap.cc", "nccl-tests doc/PERFORMANCE.md", "pytorch/pytorch#74824"),
    ),
    told_apart_from=(
        LookAlike(
            cause="ib-disabled-socket-fallback",
            because=Text(
                en="between machines with RDMA NICs the same lines mean that traffic goes over TCP",
                zh="在带 RDMA 网卡的多机之间，同样的行意味着流量走 TCP",
            ),
        ),
        LookAlike(
            cause="nccl-plugin-mismatch",
            because=Text(en="that shows when ranks differ in the plugin they load", zh="那表现为各 rank 加载的插件不同"),
        ),
    ),
    changes=(
        Change(
            what=Text(en="Nothing to change; lower the log level if it disturbs", zh="无需改动；若嫌干扰可降低日志级别"),
            commands=("NCCL_DEBUG=VERSION",),
        ),
    ),
    checks=(
        Check(
            what=Text(en="The benchmark gives right values at the machine's usual rate", zh="基准结果正确且速率正常"),
            commands=("all_reduce_perf -b 1G -e 1G -g 8 -c 1",),
        ),
    ),
    gain=Text(en="None: nothing is wrong", zh="无：没有问题"),
    severity="info",
)
