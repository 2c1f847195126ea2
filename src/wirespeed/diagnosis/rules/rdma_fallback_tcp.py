"""An RDMA stack other than NCCL (UCX, a transfer engine, MPI) silently runs on TCP."""

import re

from wirespeed.diagnosis.joins.benchmarks import small_message_s
from wirespeed.diagnosis.joins.cluster import is_switched_on, rdma_ports_active, variables
from wirespeed.diagnosis.joins.pieces import MOST_COMPARED, piece, quantities
from wirespeed.model.case import Case
from wirespeed.model.events.log import FrameworkEvent
from wirespeed.model.events.ucx import UcxTransport
from wirespeed.model.facts.host import EnvVar
from wirespeed.model.facts.rdma import RdmaPort
from wirespeed.model.finding import FAIR, SLIGHT, STRONG, Change, Check, LookAlike, Verdict, contradicts
from wirespeed.model.kinds import Explain, Rule, wants
from wirespeed.model.measurement import MessageLatency
from wirespeed.model.settings import Quantity, Setting, Statement
from wirespeed.model.text import Text

_STACK = re.compile(r"(?i)ucx|ucp|mooncake|nixl|nvshmem|transfer engine|tcp_transport|libfabric|lmcache|openmpi")
_TCP_BITS_PER_S = 24e9
"""More than one TCP connection over loopback carries when the data is copied from and to GPUs; a starting point, not calibrated."""
_OTHER_WAY_RATIO = 10.0
_TCP_MESSAGE_S = 8e-6
"""A small message takes 1 to 3 us over InfiniBand or RoCE and 10 to 30 us through the kernel's TCP; EFA's SRD takes 15."""
_QUICK_MESSAGE_S = 4e-6
_RDMA_TRANSPORT = re.compile(r"(?:rc|dc|ud|srd|gga)(?:_|$)")
_TO_TCP = re.compile(r"(?i)\btcp\b|fall(?:ing)? ?back|socket")


def _judge(case: Case) -> Verdict:
    forced = (
        *(one for one in variables(case, "UCX_TLS", "UCX_NET_DEVICES", "FI_PROVIDER") if _means_tcp(one)),
        *(one for one in variables(case, "NVSHMEM_REMOTE_TRANSPORT") if one.setting == "none"),
        *(one for one in variables(case, "MC_FORCE_TCP", "MC_USE_TCP") if is_switched_on(one)),
    )
    told = case.every(
        FrameworkEvent, lambda one: _STACK.search(one.message) is not None and _TO_TCP.search(one.message) is not None
    )
    configured = case.every(
        Setting, lambda one: one.name.lower().endswith("protocol") and one.setting.strip("\"' ").lower() == "tcp"
    )
    engine = case.said("transfer-engine")
    lanes = _without_rdma(case)
    on_tcp = bool(told or forced or lanes or case.said("transfer-on-tcp"))
    failed = case.every(FrameworkEvent, lambda one: one.topic == "verbs-failed")
    slower = _slow_beside_the_same_path(case)
    slow, quick = _slow_messages(case)
    evidence = (
        *piece(_FORCED, STRONG, forced),
        *piece(_TOLD, STRONG, told),
        *piece(_LANES, STRONG + SLIGHT, lanes),
        *piece(_MESSAGES, STRONG if quick else FAIR, (*slow[:1], *quick[:1]), message_s=min(map(_time, slow), default=None)),
        *piece(_CONFIGURED, STRONG if engine else FAIR, configured),
        *piece(_SAID, FAIR + SLIGHT, case.said("transfer-on-tcp")),
        *piece(_BESIDE, STRONG, slower),
        *piece(
            _HARDWARE,
            FAIR,
            (*rdma_ports_active(case), *case.said("rdma-healthy-outside")) if on_tcp else (),
        ),
        *piece(_EXPECTED, SLIGHT, case.said("rdma-expected", "efa-cluster") if on_tcp else ()),
        *piece(_FAILED, SLIGHT, failed if on_tcp else ()),
        *(contradicts(_NOT_THERE, STRONG, one) for one in (_denials(case)[:1] if not slower else ())),
    )
    return Verdict(evidence=evidence)


def _slow_messages(case: Case) -> tuple[tuple[MessageLatency, ...], tuple[MessageLatency, ...]]:
    """Small messages of MPI that take as long as over TCP, and those of verbs beside them that are quick; nothing where EFA is in use."""
    timed = [one for one in case.every(MessageLatency) if small_message_s(one) is not None]
    library = [one for one in timed if _is_of_library(one)]
    if not library or min(map(_time, library)) < _TCP_MESSAGE_S or case.said("efa-cluster"):
        return (), ()
    verbs = tuple(one for one in timed if one.protocol == "rdma" and _time(one) <= _QUICK_MESSAGE_S)
    is_expected = bool(verbs or rdma_ports_active(case) or case.said("rdma-expected", "rdma-healthy-outside"))
    return (tuple(sorted(library, key=_time)) if is_expected else ()), verbs


def _is_of_library(latency: MessageLatency) -> bool:
    return latency.protocol == "mpi" and latency.memory != "gpu" and small_message_s(latency) is not None


def _time(latency: MessageLatency) -> float:
    return small_message_s(latency) or 0.0


def _without_rdma(case: Case) -> tuple[UcxTransport, ...]:
    """TCP lanes to other nodes where no lane of the same operation is RDMA; or an offer that holds tcp and no RDMA transport."""
    known = case.every(UcxTransport)
    with_rdma = {(one.is_chosen, one.operation) for one in known if _RDMA_TRANSPORT.match(one.transport)}
    tcp = [one for one in known if one.transport == "tcp" and (one.is_chosen, one.operation) not in with_rdma]
    carriers = [one for one in tcp if one.operation not in ("ka", "wireup")]
    return tuple(one for one in carriers if one.is_chosen) or tuple(carriers)


def _slow_beside_the_same_path(case: Case) -> tuple[Quantity, ...]:
    """A transfer engine at the rate of TCP over loopback or less, next to another way between the same ends at ten times that."""
    rates = [one for one in quantities(case, "rate") if one.value > 0][:MOST_COMPARED]
    slow = [one for one in rates if one.value <= _TCP_BITS_PER_S and _STACK.search(one.quotes[0].text)]
    if not slow or not case.said("one-node", "single-machine"):
        return ()
    return next(((one, other) for one in slow for other in rates if other.value >= _OTHER_WAY_RATIO * one.value), ())


def _denials(case: Case) -> tuple[Statement, ...]:
    """Where people say that there is no RDMA; a library that found none says nothing of what the machine has."""
    return tuple(one for one in case.denied("rdma-expected") if not any("found" in quote.text.lower() for quote in one.quotes))


def _means_tcp(variable: EnvVar) -> bool:
    """No RDMA transport or device is left in the list."""
    parts = {part.strip().lower() for part in re.split(r"[,;]", variable.setting or "")}
    if variable.name == "UCX_NET_DEVICES":
        return bool(parts) and all(re.match(r"(?:eth|en[op]|bond|lo)", part) for part in parts)
    return "tcp" in parts and not any(re.match(r"(?:rc|dc|ud|ib|all|efa|verbs)", part) for part in parts)


_BESIDE = Text(
    en="within one machine the library moves data at TCP's rate, and another way at ten times that",
    zh="同一台机器内，该库只有 TCP 的速率，而另一条路径达到其十倍",
)
_FORCED = Text(en="the environment leaves the library no RDMA transport", zh="环境变量没有给该库留下 RDMA 传输")
_TOLD = Text(en="the library itself says that it uses TCP", zh="该库自己表明使用 TCP")
_LANES = Text(en="UCX has only TCP for this, no RDMA transport", zh="UCX 在此只有 TCP，没有 RDMA 传输")
_MESSAGES = Text(
    en="a small message takes {message_s}, as through the kernel, although RDMA is there",
    zh="小消息耗时 {message_s}，如同经过内核，尽管有 RDMA",
)
_CONFIGURED = Text(en="the protocol is configured as tcp", zh="协议被配置为 tcp")
_SAID = Text(en="the transfer library runs on TCP", zh="传输库走的是 TCP")
_HARDWARE = Text(en="an RDMA port is up", zh="RDMA 端口处于激活状态")
_EXPECTED = Text(en="RDMA hardware is expected to be used", zh="本应使用 RDMA 硬件")
_NOT_THERE = Text(en="it is said that there is no RDMA here", zh="据称此处没有 RDMA")
_FAILED = Text(en="a verbs call of the library failed", zh="该库的 verbs 调用失败")

RULE = Rule(
    cause="rdma-fallback-tcp",
    title=Text(en="The transfer library runs on TCP instead of RDMA", zh="传输库走 TCP 而非 RDMA"),
    summary=Text(
        en="UCX, NIXL, Mooncake or MPI found no usable RDMA transport and moved to TCP without an error.",
        zh="UCX、NIXL、Mooncake 或 MPI 找不到可用的 RDMA 传输，未报错便改用 TCP。",
    ),
    needs=(
        (
            wants(
                EnvVar,
                lambda one: one.name in ("UCX_TLS", "UCX_NET_DEVICES", "FI_PROVIDER", "MC_FORCE_TCP", "NVSHMEM_REMOTE_TRANSPORT"),
            ),
        ),
        (UcxTransport,),
        (wants(MessageLatency, _is_of_library), wants(MessageLatency, lambda one: one.protocol == "rdma")),
        (wants(MessageLatency, _is_of_library), RdmaPort),
        (wants(FrameworkEvent, lambda one: _STACK.search(one.message) is not None),),
        (wants(Setting, lambda one: one.name.lower().endswith("protocol")),),
        (Statement,),
    ),
    judge=_judge,
    explain=Explain(
        what=Text(
            en="These libraries are built with or without verbs and choose by what they can open; TCP always opens.",
            zh="这些库编译时可带或不带 verbs，并按能打开的传输选择；TCP 总是可用。",
        ),
        shows=Text(
            en="ucx_info -d lists no rc or dc transport, transfer logs name tcp, and KV transfer runs at the Ethernet rate.",
            zh="ucx_info -d 没有 rc 或 dc 传输，传输日志出现 tcp，KV 传输停在以太网速率。",
        ),
        sources=(
            "ai-dynamo/dynamo#1314",
            "UCX documentation: UCX_TLS",
            "kvcache-ai/Mooncake#553",
        ),
    ),
    told_apart_from=(
        LookAlike(
            cause="ib-disabled-socket-fallback", because=Text(en="there it is NCCL that took sockets", zh="彼处是 NCCL 走了套接字")
        ),
        LookAlike(cause="kv-transfer-bound", because=Text(en="there RDMA is used and still too slow", zh="彼处已用 RDMA 仍然过慢")),
    ),
    changes=(
        Change(
            what=Text(
                en="Name the RDMA transports and devices, so that failure is an error",
                zh="显式指定 RDMA 传输与设备，使失败成为错误",
            ),
            commands=("export UCX_TLS=rc,cuda_copy,cuda_ipc UCX_NET_DEVICES=mlx5_0:1",),
        ),
        Change(
            what=Text(
                en="Use a build with verbs and pass the devices into the container", zh="使用带 verbs 的构建并把设备传入容器"
            ),
            commands=("ucx_info -d | grep -E 'Transport|Device'",),
        ),
    ),
    checks=(
        Check(
            what=Text(en="The library lists rc or dc on the adapter", zh="该库在网卡上列出 rc 或 dc"),
            commands=("ucx_info -d | grep -A2 -E 'rc_|dc_'",),
        ),
    ),
    gain=Text(en="The rate of the RDMA adapter for large transfers", zh="大块传输达到 RDMA 网卡速率"),
    severity="high",
    explains=("kv-transfer-bound",),
    settled_by=(
        "ucx_info -d",
        "UCX_LOG_LEVEL=info <your command>",
    ),
)
