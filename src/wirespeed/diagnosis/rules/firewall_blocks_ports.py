"""A packet filter or security group blocks ports that the ranks need."""

import re

from wirespeed.diagnosis.joins.paths import silent_ports
from wirespeed.diagnosis.joins.pieces import piece
from wirespeed.model.case import Case
from wirespeed.model.events.log import FrameworkEvent
from wirespeed.model.events.nccl import NcclWarning
from wirespeed.model.facts.cluster import NetworkPolicy
from wirespeed.model.facts.link import Counter
from wirespeed.model.finding import FAIR, SLIGHT, STRONG, Change, Check, LookAlike, Value, Verdict, contradicts
from wirespeed.model.flows import IcmpReport
from wirespeed.model.kinds import Explain, Rule, wants
from wirespeed.model.measurement import PingRun, PortProbe
from wirespeed.model.record import Record
from wirespeed.model.settings import Command, Setting, Statement
from wirespeed.model.text import Text

SEVERAL_COUNT = 2
"""One silent port may be a full accept queue; a filter covers a range."""
_REJECTED_CODE = 113
_TIMED_OUT_CODE = 110

_FILTERS = {"iptables", "iptables-save", "ip6tables", "nft", "ufw", "firewall-cmd", "calicoctl"}
_POLICY = re.compile(r"(?i)(?:cilium|calico|global)?networkpolic(?:y|ies)|netpol|security-?groups?|describe-security-groups")


def _judge(case: Case) -> Verdict:
    no_route = (
        *case.every(NcclWarning, lambda one: one.topic == "connect-failed" and one.status_code == _REJECTED_CODE),
        *case.every(FrameworkEvent, topic="no-route"),
        *case.every(PortProbe, lambda one: one.outcome in ("no-route", "prohibited")),
    )
    timed_out = (
        *case.every(NcclWarning, lambda one: one.topic == "connect-failed" and one.status_code == _TIMED_OUT_CODE),
        *case.every(FrameworkEvent, topic="connection-timeout"),
        *case.every(PortProbe, outcome="timed-out"),
    )
    refused = case.every(NcclWarning, lambda one: one.topic == "connect-failed" and one.status_code == 111)
    ping = (*case.every(PingRun, _answers), *case.said("ping-works"))
    some_port = case.every(PortProbe, outcome="connected")
    prohibited = (*case.every(PortProbe, outcome="prohibited"), *case.every(IcmpReport, topic="prohibited"))
    failed = no_route or timed_out or refused
    is_cut_off = bool(failed or case.said("hang", "random-ports", "connection-fails"))
    silent = silent_ports(case)
    closing = [one for one in case.every(NetworkPolicy) if one.closed or (one.limited and not _lets_through(one, timed_out))]
    evidence = (
        *piece(_SILENT_PORTS, STRONG if len({one.port for one in silent}) >= SEVERAL_COUNT else SLIGHT, silent, **_named(silent)),
        *piece(_GONE, STRONG + SLIGHT, _sent_and_not_received(case)),
        *piece(_PROHIBITED, STRONG + SLIGHT, prohibited),
        *piece(_REJECTED, FAIR, no_route if not prohibited else ()),
        *piece(_TIMED_OUT, SLIGHT, timed_out),
        *piece(
            _PING, FAIR if no_route or timed_out else SLIGHT, ping if failed or (is_cut_off and case.said("packet-filter")) else ()
        ),
        *piece(_SOME, FAIR, some_port if failed else ()),
        *piece(_SAID, FAIR if failed else FAIR + 0.5 if is_cut_off else FAIR - 0.5, case.said("packet-filter")),
        *piece(_LISTED, FAIR, _rules_listed(case) if is_cut_off else ()),
        *piece(_CLOSED, STRONG if failed else FAIR if is_cut_off else SLIGHT, closing),
        *piece(_SILENT, SLIGHT, case.said("nothing-arrives") if case.said("packet-filter") and is_cut_off else ()),
        *piece(_RANDOM, FAIR if ping else SLIGHT, case.said("random-ports") if is_cut_off or case.said("packet-filter") else ()),
        *piece(_HELPS, STRONG, case.said("packet-filter-off-helps")),
        *(contradicts(_NO_FILTER, FAIR, one) for one in case.denied("packet-filter")[:1]),
    )
    return Verdict(evidence=evidence)


def _sent_and_not_received(case: Case) -> tuple[Counter, ...]:
    """One filter on two hosts: packets on the one, none at all on the other."""
    looks = case.every(Counter, name="packets_captured")
    return next(
        (
            (one, other)
            for one in looks
            for other in looks
            if one.scope == other.scope and one.host != other.host and one.value_count > 0 and other.value_count == 0
        ),
        (),
    )


def _lets_through(policy: NetworkPolicy, failed: tuple[Record, ...]) -> bool:
    """Whether a policy that limits lets through every port that is known to have failed (or names no port, or none is known)."""
    wanted = {one.port for one in failed if isinstance(one, PortProbe) and one.port is not None}
    if not policy.ports or not wanted:
        return True
    spans = [re.match(r"(\d+)(?:-(\d+))?(?:/TCP)?$", text) for text in policy.ports]
    open_spans = [(int(span[1]), int(span[2] or span[1])) for span in spans if span]
    return all(any(low <= port <= high for low, high in open_spans) for port in wanted)


def _named(silent: tuple[PortProbe, ...]) -> dict[str, Value]:
    return {"target": silent[0].target, "ports": ", ".join(str(one.port) for one in silent[:4])} if silent else {}


def _rules_listed(case: Case) -> tuple[Command | Setting, ...]:
    """Filters that were listed or are configured: somebody had reason to look."""
    return (
        *case.every(Command, lambda one: one.program in _FILTERS or any(_POLICY.fullmatch(word) for word in one.arguments)),
        *case.every(Setting, lambda one: one.name.lower() == "kind" and _POLICY.fullmatch(one.setting) is not None),
    )


def _answers(ping: PingRun) -> bool:
    """An echo that came back; a TCP probe that did is an open port."""
    if ping.protocol == "tcp":
        return False
    lost = ping.loss_ratio if ping.loss_ratio is not None else 0.0
    return ping.error is None and lost < 1.0 and (ping.rtt_mean_s is not None or bool(ping.received_count))


_GONE = Text(en="packets of this kind leave one host and none arrives at the other", zh="此类包离开一台主机，另一台却一个也没收到")
_SILENT_PORTS = Text(
    en="{target} answers on some ports and is silent on others ({ports}), even without a listener a host would refuse",
    zh="{target} 的部分端口有应答，另一些（{ports}）毫无应答；即使无人监听，主机也会拒绝",
)
_PROHIBITED = Text(en="a host answers that the port is administratively prohibited", zh="主机应答该端口被管理策略禁止")
_REJECTED = Text(
    en="TCP ends in `no route to host`, as a rejecting filter answers", zh="TCP 报 no route to host，这是拒绝型过滤器的应答"
)
_TIMED_OUT = Text(en="TCP connections time out", zh="TCP 连接超时")
_PING = Text(en="the same host answers ping", zh="同一主机可以 ping 通")
_SOME = Text(en="another port of the peer connects", zh="对端的其他端口可以连接")
_SAID = Text(en="a firewall or security group is in the path", zh="路径上有防火墙或安全组")
_LISTED = Text(en="rules of a packet filter or network policy are there", zh="存在数据包过滤规则或网络策略")
_CLOSED = Text(en="a network policy closes pods to what is not listed", zh="网络策略禁止 Pod 未列出的流量")
_SILENT = Text(en="nothing arrives at the far end", zh="对端没有收到任何东西")
_RANDOM = Text(en="the failing ports are random, unlisted ones", zh="失败的是随机的、未列出的端口")
_HELPS = Text(en="without the filter it works", zh="去掉过滤后正常")
_NO_FILTER = Text(en="no firewall is said to be in the path", zh="据称路径上没有防火墙")

RULE = Rule(
    cause="firewall-blocks-ports",
    title=Text(en="A packet filter blocks the ports the ranks need", zh="包过滤器阻断了 rank 所需端口"),
    summary=Text(
        en="Hosts reach each other, but TCP to the random ports of bootstrap and sockets is rejected or dropped.",
        zh="主机互通，但到引导与套接字所用随机端口的 TCP 被拒绝或丢弃。",
    ),
    needs=(
        (wants(NcclWarning, lambda one: one.topic == "connect-failed"),),
        (PortProbe,),
        (wants(IcmpReport, lambda one: one.topic == "prohibited"),),
        (wants(FrameworkEvent, lambda one: one.topic in ("no-route", "connection-timeout")),),
        (wants(Counter, lambda one: one.name == "packets_captured"),),
        (Statement,),
    ),
    silence_needs=(
        (wants(NcclWarning, lambda one: one.topic == "connect-failed"),),
        (PortProbe,),
        (wants(IcmpReport, lambda one: one.topic == "prohibited"),),
        (wants(FrameworkEvent, lambda one: one.topic in ("no-route", "connection-timeout")),),
    ),
    judge=_judge,
    explain=Explain(
        what=Text(
            en="NCCL, Gloo and Ray listen on ephemeral ports (net.ipv4.ip_local_port_range); a filter that opens only the master port stops them.",
            zh="NCCL、Gloo、Ray 监听临时端口（net.ipv4.ip_local_port_range）；只放行主端口的过滤器会阻断它们。",
        ),
        shows=Text(
            en="Ping and the master port work, connections to high ports end in no route to host or a time-out.",
            zh="ping 与主端口正常，到高端口的连接报无路由或超时。",
        ),
        sources=(
            "NVIDIA/nccl#375",
            "firewalld/firewalld#1452",
        ),
    ),
    told_apart_from=(
        LookAlike(
            cause="docker-network", because=Text(en="there the address belongs to a container bridge", zh="彼处地址属于容器网桥")
        ),
        LookAlike(
            cause="nccl-wrong-interface", because=Text(en="there the address itself is the wrong one", zh="彼处地址本身就是错的")
        ),
    ),
    changes=(
        Change(
            what=Text(
                en="Allow all traffic between the nodes of the job on the training network",
                zh="在训练网络上允许作业节点之间的全部流量",
            ),
            commands=(
                "firewall-cmd --permanent --zone=trusted --add-source=SUBNET && firewall-cmd --reload",
                "ufw allow from SUBNET",
            ),
        ),
        Change(
            what=Text(en="Or narrow the ports and open them", zh="或收窄端口范围并放行"),
            commands=("sysctl -w net.ipv4.ip_local_port_range='50000 51000'",),
        ),
    ),
    checks=(
        Check(
            what=Text(en="A random port connects", zh="随机端口可以连接"),
            commands=(
                "nc -l 45678 &  # on the peer",
                "nc -zv PEER 45678",
            ),
        ),
    ),
    gain=Text(en="The job starts", zh="作业可启动"),
    severity="high",
    explains=(
        "collective-timeout-too-short",
        "peer-process-died",
        "gateway-timeout-too-short",
    ),
    settled_by=(
        "nc -zv PEER PORT",
        "iptables-save | grep -E 'REJECT|DROP'",
    ),
)
