"""The source ports towards one destination are used up by closed connections in TIME_WAIT."""

from wirespeed.diagnosis.joins.pieces import against, piece
from wirespeed.model.case import Case
from wirespeed.model.events.log import FrameworkEvent, ServerEvent
from wirespeed.model.facts.host import Sysctl
from wirespeed.model.facts.sockets import SocketSummary
from wirespeed.model.finding import FAIR, SLIGHT, STRONG, Change, Check, Evidence, LookAlike, Verdict
from wirespeed.model.kinds import Explain, Rule, wants
from wirespeed.model.record import Record
from wirespeed.model.series import SeriesSummary
from wirespeed.model.settings import Statement
from wirespeed.model.text import Text
from wirespeed.theory import requests

MANY_TIME_WAIT_COUNT = 20_000
"""Most of the 28,232 ports of the default range 32768 to 60999."""


def _limit_on(case: Case, host: str | None) -> int:
    """From how many sockets in TIME_WAIT on the ports of a host are nearly gone: 70 % of its range, where that is known."""
    ports = _ports_count(case, host)
    return int(0.7 * ports) if ports else MANY_TIME_WAIT_COUNT


def _ports_count(case: Case, host: str | None) -> int | None:
    settings = case.every(Sysctl, name="net.ipv4.ip_local_port_range")
    setting = next((one for one in settings if one.host == host), None) or (settings[0] if host is None and settings else None)
    bounds = setting.setting.split() if setting else []
    return int(bounds[1]) - int(bounds[0]) + 1 if len(bounds) == 2 and all(bound.isdigit() for bound in bounds) else None


def _judge(case: Case) -> Verdict:
    limit = _limit_on(case, None)
    sockets = case.every(SocketSummary, lambda one: "TIME" in one.state.upper())
    many = [one for one in sockets if one.socket_count >= _limit_on(case, one.host)]
    watched = case.every(SeriesSummary, lambda one: one.family == "sockets" and (one.scope, one.name) == ("TCP", "tw"))
    many_watched = [one for one in watched if one.values.maximum >= _limit_on(case, one.host)]
    said_many = case.every(Statement, lambda one: one.topic == "time-wait-many" and (one.value or 0) >= limit)
    evidence: list[Evidence] = []
    events: list[Record] = [
        *case.every(FrameworkEvent, topic="address-not-available"),
        *case.every(ServerEvent, topic="address-not-available"),
    ]
    evidence += piece(_NO_ADDRESS, STRONG, events or case.said("source-ports-gone"))
    evidence += piece(_MANY, STRONG, [*many, *many_watched, *said_many])
    if not evidence:
        evidence += piece(_OUTBOUND, FAIR, case.said("outbound-fails"))
        if evidence:
            evidence += piece(_SHARED, FAIR, case.said("more-instances-worse"))
            evidence += piece(_FEW_ENDS, SLIGHT, case.said("few-destinations"))
    else:
        evidence += piece(_NEW_EACH, SLIGHT, case.said("new-connection-each"))
    evidence += against(_FEW, FAIR, [] if many else [one for one in sockets if one.socket_count < 0.2 * _limit_on(case, one.host)])
    return Verdict(
        evidence=tuple(evidence),
        values={"rate_per_s": requests.most_new_connections_per_s(_ports_count(case, many[0].host if many else None) or 28_232)},
    )


_NO_ADDRESS = Text(en="connect fails because no source port is left", zh="因没有可用源端口而连接失败")
_MANY = Text(en="TIME_WAIT holds most of the port range", zh="TIME_WAIT 占用了大部分端口范围")
_OUTBOUND = Text(en="new connections to the outside fail", zh="向外新建连接失败")
_SHARED = Text(en="more machines behind the same address make it worse", zh="同一出口地址后的机器越多越糟")
_FEW_ENDS = Text(en="they go to the same few addresses", zh="它们都去往少数几个相同地址")
_NEW_EACH = Text(en="each request opens its own connection", zh="每个请求都新建连接")
_FEW = Text(en="only a small part of the ports is in TIME_WAIT", zh="只有少部分端口处于 TIME_WAIT")

RULE = Rule(
    cause="ephemeral-port-exhaustion",
    title=Text(en="Source ports are used up", zh="源端口已耗尽"),
    summary=Text(
        en="Short connections to one address leave their ports in TIME_WAIT for 60 s; above about {rate_per_s} new connections none is left.",
        zh="到同一地址的短连接会让端口在 TIME_WAIT 中停留 60 s；超过约 {rate_per_s} 的新建速率端口即耗尽。",
    ),
    needs=(
        (wants(SeriesSummary, lambda one: one.family == "sockets"),),
        (SocketSummary,),
        (wants(FrameworkEvent, lambda one: one.topic == "address-not-available"),),
        (wants(ServerEvent, lambda one: one.topic == "address-not-available"),),
        (Statement,),
    ),
    judge=_judge,
    explain=Explain(
        what=Text(
            en="Linux keeps a closed port 60 s; 28,232 ports over 60 s are 470 new connections a second to one address and port. NAT gateways have their own pool.",
            zh="Linux 保留已关闭端口 60 s；28,232 个端口除以 60 s 即每秒 470 个新连接。NAT 网关另有端口池。",
        ),
        shows=Text(
            en="EADDRNOTAVAIL (errno 99) under load, tens of thousands of sockets in TIME-WAIT, recovery after a minute.",
            zh="高负载下 EADDRNOTAVAIL（errno 99），数万套接字处于 TIME-WAIT，一分钟后恢复。",
        ),
        sources=("Linux ip-sysctl.rst: ip_local_port_range, tcp_tw_reuse", "TCP_TIMEWAIT_LEN 60 s", "Azure SNAT documentation"),
    ),
    told_apart_from=(
        LookAlike(
            cause="conntrack-full",
            because=Text(en="a full conntrack table drops packets and says so in dmesg", zh="conntrack 表满会丢包并记入 dmesg"),
        ),
        LookAlike(
            cause="file-descriptor-limit",
            because=Text(en="that is EMFILE, this is EADDRNOTAVAIL", zh="那是 EMFILE，这是 EADDRNOTAVAIL"),
        ),
    ),
    changes=(
        Change(what=Text(en="Reuse connections: keep-alive and pools", zh="复用连接：长连接与连接池"), side="serving"),
        Change(
            what=Text(en="Widen the range and allow reuse", zh="扩大端口范围并允许复用"),
            commands=("sysctl -w net.ipv4.ip_local_port_range='1024 65535'", "sysctl -w net.ipv4.tcp_tw_reuse=1"),
        ),
    ),
    checks=(
        Check(
            what=Text(
                en="TIME-WAIT towards the server stays far below the range under peak load",
                zh="峰值负载下到服务器的 TIME-WAIT 远低于端口范围",
            ),
            commands=("ss -tan state time-wait | wc -l",),
        ),
    ),
    gain=Text(en="Removes connect failures at high request rates", zh="消除高请求速率下的连接失败"),
    severity="high",
    explains=("packet-loss", "firewall-blocks-ports"),
)
