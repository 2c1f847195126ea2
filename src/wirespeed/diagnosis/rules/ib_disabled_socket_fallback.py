"""RDMA is there but switched off or not usable, and NCCL moves its data over TCP sockets."""

from wirespeed.diagnosis.joins.cluster import (
    is_switched_on,
    is_tried_out,
    rdma_ports_active,
    spans_nodes,
    uses_rdma,
    uses_sockets,
    variables,
)
from wirespeed.diagnosis.joins.pieces import piece
from wirespeed.model.case import Case
from wirespeed.model.events.nccl import NcclBootstrap, NcclChannel, NcclHca, NcclNetwork, NcclPlugin, NcclWarning
from wirespeed.model.facts.host import EnvVar
from wirespeed.model.finding import FAIR, SLIGHT, STRONG, Change, Check, Evidence, LookAlike, Verdict, contradicts
from wirespeed.model.kinds import Explain, Rule, wants
from wirespeed.model.record import Record
from wirespeed.model.settings import Statement
from wirespeed.model.text import Text


def _judge(case: Case) -> Verdict:
    sockets = uses_sockets(case)
    disabled = (
        *(one for one in variables(case, "NCCL_IB_DISABLE") if is_switched_on(one) and not is_tried_out(one)),
        *_forced_sockets(case),
    )
    no_device = case.every(NcclHca, device=None)
    no_library = case.every(NcclWarning, topic="verbs-library-missing")
    hardware = (*rdma_ports_active(case), *case.said("rdma-healthy-outside"))
    expected = (
        *hardware,
        *case.said("rdma-expected", "efa-cluster"),
        *variables(case, "NCCL_IB_HCA", "NCCL_IB_GID_INDEX", "FI_PROVIDER"),
    )
    many = spans_nodes(case)
    evidence = (
        *piece(_SOCKETS, FAIR if expected else SLIGHT, sockets if many is not False else ()),
        *piece(_DISABLED, STRONG if expected else FAIR, disabled),
        *piece(_NO_DEVICE, FAIR if expected else SLIGHT, (*no_device, *no_library, *_no_plugin(case, sockets))),
        *piece(_HARDWARE, FAIR, hardware if sockets or disabled or no_device or case.said("sockets-used") else ()),
        *piece(_SAID, FAIR, case.said("sockets-used") if many is not False else ()),
        *_against(case, many),
    )
    return Verdict(evidence=evidence)


def _forced_sockets(case: Case) -> tuple[EnvVar, ...]:
    return tuple(one for one in variables(case, "NCCL_NET") if (one.setting or "").lower() == "socket")


def _no_plugin(case: Case, sockets: tuple[Record, ...]) -> tuple[Record, ...]:
    """A missing plugin matters only where the plugin is the road to the network and sockets were taken instead."""
    return case.every(NcclPlugin, name=None) if sockets and case.said("efa-cluster") else ()


def _denials(case: Case) -> tuple[Statement, ...]:
    """Where people say that there is no RDMA; a library that found none says nothing of what the machine has."""
    return tuple(one for one in case.denied("rdma-expected") if not any("found" in quote.text.lower() for quote in one.quotes))


def _against(case: Case, many: bool | None) -> tuple[Evidence, ...]:
    rdma = uses_rdma(case)
    local = (*case.said("one-node"), *case.every(NcclChannel)) if many is False else ()
    return (
        *(contradicts(_RDMA, STRONG, one) for one in rdma[:1]),
        *(contradicts(_NONE_HERE, FAIR, one) for one in _denials(case)[:1]),
        *(contradicts(_LOCAL, STRONG + FAIR, one) for one in local[:1]),
    )


_NONE_HERE = Text(en="it is said that there is no RDMA here", zh="据称此处没有 RDMA")
_SOCKETS = Text(en="NCCL moves its data over TCP sockets", zh="NCCL 通过 TCP 套接字传输数据")
_DISABLED = Text(en="the environment switches RDMA off", zh="环境变量关闭了 RDMA")
_NO_DEVICE = Text(en="NCCL could not use any RDMA device or library", zh="NCCL 未能使用任何 RDMA 设备或库")
_HARDWARE = Text(en="an RDMA device is up and works outside NCCL", zh="RDMA 设备在 NCCL 之外工作正常")
_SAID = Text(en="sockets are used where RDMA was expected", zh="本应使用 RDMA，却走了套接字")
_RDMA = Text(en="NCCL chose an RDMA network", zh="NCCL 选择了 RDMA 网络")
_LOCAL = Text(en="everything runs in one machine, where no network is used", zh="全部运行在一台机器内，不使用网络")

RULE = Rule(
    cause="ib-disabled-socket-fallback",
    title=Text(en="NCCL runs on TCP sockets instead of RDMA", zh="NCCL 走 TCP 套接字而非 RDMA"),
    summary=Text(
        en="RDMA is disabled or not visible to the processes, so NCCL silently uses sockets at a fraction of the speed.",
        zh="RDMA 被关闭或进程看不到，NCCL 静默改用套接字，速度仅为几分之一。",
    ),
    needs=(
        (NcclNetwork,),
        (NcclHca,),
        (wants(NcclBootstrap, lambda one: one.role == "socket"),),
        (wants(EnvVar, lambda one: one.name in ("NCCL_IB_DISABLE", "NCCL_NET")),),
        (Statement,),
    ),
    judge=_judge,
    explain=Explain(
        what=Text(
            en="NCCL tries plugins, then verbs, then sockets; each failure is only an INFO line and the job goes on.",
            zh="NCCL 依次尝试插件、verbs、套接字；每次失败只有一行 INFO，作业继续运行。",
        ),
        shows=Text(
            en="Using network Socket, NET/IB : No device found, or NCCL_IB_DISABLE set by environment to 1; busbw near the Ethernet rate.",
            zh="出现 Using network Socket、NET/IB : No device found 或 NCCL_IB_DISABLE=1；busbw 接近以太网速率。",
        ),
        sources=(
            "NVIDIA/nccl#959",
            "NCCL user guide: NCCL_IB_DISABLE",
            "NCCL src/net.cc",
        ),
    ),
    told_apart_from=(
        LookAlike(
            cause="container-missing-rdma-device",
            because=Text(en="there the host's device is simply not passed into the container", zh="彼处主机设备没有传入容器"),
        ),
        LookAlike(
            cause="no-fault-harmless-message",
            because=Text(en="on one node the same lines mean nothing", zh="单机上同样的行没有意义"),
        ),
    ),
    changes=(
        Change(
            what=Text(en="Remove the variables that force sockets", zh="去掉强制走套接字的变量"),
            commands=("unset NCCL_IB_DISABLE NCCL_NET",),
        ),
        Change(
            what=Text(
                en="Install rdma-core (libibverbs) and the network plugin where the processes run, and check the devices there",
                zh="在进程运行处安装 rdma-core（libibverbs）与网络插件，并检查设备",
            ),
            commands=(
                "ibv_devinfo",
                "ls -l /dev/infiniband",
            ),
        ),
    ),
    checks=(
        Check(
            what=Text(en="The log says which network was chosen", zh="日志显示所选网络"),
            commands=("NCCL_DEBUG=INFO ... 2>&1 | grep -E 'Using network|NET/IB'",),
        ),
    ),
    gain=Text(en="Inter-node bandwidth of the RDMA adapters instead of TCP's", zh="节点间带宽由 TCP 水平恢复到 RDMA 网卡水平"),
    severity="high",
    explains=("tcp-single-flow-limit",),
    settled_by=("ibv_devinfo",),
)
