"""RoCE ports cannot reach each other: another subnet, VLAN or rail without routing."""

import re

from wirespeed.diagnosis.joins.cluster import address_of, in_one_network
from wirespeed.diagnosis.joins.pieces import piece
from wirespeed.model.case import Case
from wirespeed.model.events.nccl import NcclHca, NcclWarning
from wirespeed.model.facts.rdma import Gid, RdmaPort
from wirespeed.model.finding import FAIR, SLIGHT, Change, Check, LookAlike, Verdict, contradicts
from wirespeed.model.kinds import Explain, Rule, wants
from wirespeed.model.measurement import PingRun
from wirespeed.model.settings import Statement
from wirespeed.model.text import Text

_UNREACHABLE_CODES = (101, 110, 113)
_REMOTE = re.compile(r"(?i)remote ?gid:? \S*?(?P<remote>\d+\.\d+\.\d+\.\d+)")
_LOCAL = re.compile(r"(?i)local ?gid:? \S*?(?P<local>\d+\.\d+\.\d+\.\d+)")


def _judge(case: Case) -> Verdict:
    modify = case.every(NcclWarning, lambda one: one.topic == "modify-qp-failed" and one.status_code in _UNREACHABLE_CODES)
    retry = case.every(NcclWarning, lambda one: one.topic == "completion-error" and one.status_code == 12)
    apart = tuple(one for one in (*modify, *retry) if _in_other_network(one))
    roce = (
        *case.every(NcclHca, lambda one: "roce" in (one.link_layer or "").lower()),
        *case.every(RdmaPort, link_layer="ethernet"),
        *case.every(Gid),
    )
    no_path = case.every(PingRun, lambda one: one.loss_ratio == 1.0 or "unreachable" in (one.error or ""))
    evidence = (
        *piece(_MODIFY, FAIR + 0.5, modify),
        *piece(_APART, FAIR, apart),
        *piece(_RETRY, SLIGHT if not roce else FAIR - 0.5, retry if not modify else ()),
        *piece(_NO_PING, FAIR, no_path if modify or retry else ()),
        *piece(_SAID, FAIR + SLIGHT, case.said("rdma-ports-unreachable")),
        *(
            (contradicts(_LOCAL_ERROR, FAIR, local[0]),)
            if (local := case.every(NcclWarning, topic="completion-error", status_code=4))
            else ()
        ),
    )
    return Verdict(evidence=evidence)


def _in_other_network(warning: NcclWarning) -> bool:
    """Local and remote address of one failed connection do not share their first 24 bits."""
    local, remote = _LOCAL.search(warning.message), _REMOTE.search(warning.message)
    if not local or not remote:
        return False
    one, other = address_of(local["local"]), address_of(remote["remote"])
    return one is not None and other is not None and not in_one_network(one, other, 24)


_MODIFY = Text(en="connecting a queue pair times out or finds no route", zh="建立队列对时超时或无路由")
_APART = Text(en="local and remote RDMA address lie in different networks", zh="本地与远端 RDMA 地址处于不同网络")
_RETRY = Text(en="transfers are never answered (retry exceeded)", zh="传输得不到应答（重试超限）")
_NO_PING = Text(en="the RDMA address does not answer ping", zh="RDMA 地址 ping 不通")
_SAID = Text(
    en="RDMA ports in different subnets, VLANs or rails cannot reach each other", zh="不同子网、VLAN 或轨道的 RDMA 端口互不可达"
)
_LOCAL_ERROR = Text(en="the failure is a local protection error, not a missing answer", zh="失败是本地保护错误，而非得不到应答")

RULE = Rule(
    cause="roce-unreachable-path",
    title=Text(en="RoCE ports cannot reach each other", zh="RoCE 端口互不可达"),
    summary=Text(
        en="NCCL connects ports that lie in different subnets, VLANs or rails without a route between them.",
        zh="NCCL 连接的端口位于不同子网、VLAN 或轨道，其间没有路由。",
    ),
    needs=((wants(NcclWarning, lambda one: one.topic in ("modify-qp-failed", "completion-error")),), (Statement,)),
    judge=_judge,
    explain=Explain(
        what=Text(
            en="RoCE resolves the next hop from the port's own address; across rails NCCL needs routing, or must keep to one rail.",
            zh="RoCE 按端口自身地址解析下一跳；跨轨道时 NCCL 需要路由，否则须限制在同一轨道。",
        ),
        shows=Text(
            en="modify_qp fails with 110 or 101, or retry exceeded on some pairs of ports only; rings work, all-to-all does not.",
            zh="modify_qp 报 110 或 101，或仅部分端口对重试超限；环可用而 all-to-all 不行。",
        ),
        sources=(
            "NVIDIA/nccl#2013",
            "NVIDIA/nccl-tests#227",
        ),
    ),
    told_apart_from=(
        LookAlike(
            cause="nccl-wrong-hca",
            because=Text(
                en="there a port is listed that does not belong to the compute network", zh="彼处列出了不属于计算网络的端口"
            ),
        ),
        LookAlike(
            cause="roce-gid-index-wrong",
            because=Text(en="there the path exists and the GID is not routable", zh="彼处路径存在，GID 不可路由"),
        ),
    ),
    changes=(
        Change(
            what=Text(
                en="Route between the subnets of the rails, or keep NCCL on one rail",
                zh="在各轨道子网间配置路由，或让 NCCL 不跨轨道",
            ),
            commands=("export NCCL_CROSS_NIC=0",),
        ),
        Change(
            what=Text(en="Check VLAN and gateway of every RDMA interface", zh="检查每个 RDMA 接口的 VLAN 与网关"),
            commands=("ip route get PEER_RDMA_ADDRESS from OWN_RDMA_ADDRESS",),
        ),
    ),
    checks=(
        Check(
            what=Text(en="Every pair of ports that NCCL may use passes", zh="NCCL 可能使用的每一对端口都通过"),
            commands=("rping -c -a PEER_RDMA_ADDRESS -C 5",),
        ),
    ),
    gain=Text(en="RDMA works between all ports", zh="所有端口间 RDMA 可用"),
    severity="high",
    explains=("packet-loss",),
)
