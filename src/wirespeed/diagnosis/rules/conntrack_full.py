"""The connection tracking table is full, and packets of new connections are dropped."""

import re

from wirespeed.diagnosis.joins.pieces import (
    piece,
)
from wirespeed.model.case import Case
from wirespeed.model.events.log import KernelEvent
from wirespeed.model.facts.host import (
    Sysctl,
)
from wirespeed.model.facts.link import Counter
from wirespeed.model.finding import (
    FAIR,
    PROVES,
    STRONG,
    Change,
    Check,
    Evidence,
    LookAlike,
    Verdict,
    contradicts,
    supports,
)
from wirespeed.model.kinds import Explain, Rule, wants
from wirespeed.model.record import Record
from wirespeed.model.settings import Setting, Statement
from wirespeed.model.text import Text

FULL_RATIO = 0.95
_COUNT = re.compile(r"nf_conntrack_count$")
_MAX = re.compile(r"nf_conntrack_max$")


def _setting(case: Case, pattern: re.Pattern[str]) -> tuple[Record, int] | None:
    for one in case.every(Sysctl):
        if pattern.search(one.name.replace("/", ".")) and one.setting.strip().isdigit():
            return one, int(one.setting)
    for other in case.every(Setting):
        if pattern.search(other.name) and other.value is not None:
            return other, int(other.value)
    for counter in case.every(Counter):
        if pattern.search(counter.name):
            return counter, counter.value_count
    return None


def _judge(case: Case) -> Verdict:
    events = case.every(KernelEvent, topic="conntrack-full")
    evidence: list[Evidence] = []
    evidence += piece(_FULL, PROVES, events)
    count, most = _setting(case, _COUNT), _setting(case, _MAX)
    if count and most and most[1] > 0:
        share = count[1] / most[1]
        proof = supports if share >= FULL_RATIO else contradicts
        evidence.append(
            proof(_SHARE, PROVES if share >= FULL_RATIO else FAIR, count[0], most[0], share_ratio=share, max_count=most[1])
        )
    early = case.every(Counter, lambda one: one.canonical == "conntrack_early_drop" and one.value_count > 0)
    evidence += piece(_EARLY, STRONG, early)
    if not events:
        evidence += piece(_SAID, STRONG, case.said("conntrack-table-full"))
    return Verdict(evidence=tuple(evidence), values={"new_max_count": 2 * most[1] if most else 1_048_576})


_FULL = Text(en="the kernel drops packets because the table is full", zh="内核因表满而丢包")
_SHARE = Text(en="{share_ratio} of {max_count} entries are in use", zh="{max_count} 个条目中已用 {share_ratio}")
_EARLY = Text(en="entries are evicted early to make room", zh="为腾出空间提前逐出条目")
_SAID = Text(en="the table is said to be full", zh="有人指出该表已满")

RULE = Rule(
    cause="conntrack-full",
    title=Text(en="The connection tracking table is full", zh="连接跟踪表已满"),
    summary=Text(
        en="No entry is free for new connections, so their first packets are dropped while established ones go on.",
        zh="新连接没有空闲条目，首包被丢弃，已建立的连接照常。",
    ),
    needs=(
        (wants(KernelEvent, lambda one: one.topic == "conntrack-full"),),
        (wants(Sysctl, lambda one: "conntrack_" in one.name),),
        (wants(Counter, lambda one: "conntrack" in one.scope or (one.canonical or "").startswith("conntrack_")),),
        (wants(Setting, lambda one: "conntrack" in one.name),),
        (Statement,),
    ),
    judge=_judge,
    explain=Explain(
        what=Text(
            en="Each flow through NAT or a stateful filter takes an entry for its time-out: an established TCP flow 5 days by default, TIME_WAIT 2 min.",
            zh="经过 NAT 或有状态过滤的每条流都占一个条目直到超时：已建立的 TCP 默认 5 天，TIME_WAIT 2 分钟。",
        ),
        shows=Text(
            en="`nf_conntrack: table full, dropping packet` in dmesg; connects time out at 1, 3, 7 s; running transfers are fine.",
            zh="dmesg 出现 nf_conntrack: table full, dropping packet；新连接在 1、3、7 s 超时；进行中的传输正常。",
        ),
        sources=("Linux nf_conntrack-sysctl.rst", "kube-proxy --conntrack-max-per-core"),
    ),
    told_apart_from=(
        LookAlike(
            cause="ephemeral-port-exhaustion",
            because=Text(en="that fails at once with EADDRNOTAVAIL in the client", zh="那会在客户端立即报 EADDRNOTAVAIL"),
        ),
        LookAlike(
            cause="accept-queue-overflow",
            because=Text(
                en="that drops at the server's listening socket (ListenOverflows)",
                zh="那是在服务器监听套接字处丢弃（ListenOverflows）",
            ),
        ),
        LookAlike(
            cause="cloud-allowance-exceeded",
            because=Text(en="a cloud's own tracking has its own counter", zh="云平台自身的跟踪有独立计数器"),
        ),
    ),
    changes=(
        Change(
            what=Text(
                en="Raise the table's size (about 320 bytes an entry) and shorten the established time-out",
                zh="增大表（每条约 320 字节）并缩短 established 超时",
            ),
            commands=(
                "sysctl -w net.netfilter.nf_conntrack_max={new_max_count}",
                "sysctl -w net.netfilter.nf_conntrack_tcp_timeout_established=86400",
            ),
        ),
        Change(
            what=Text(en="Do not track storage and RDMA control traffic", zh="不跟踪存储与 RDMA 控制流量"),
            commands=("iptables -t raw -A PREROUTING -p tcp --dport PORT -j NOTRACK",),
        ),
    ),
    checks=(
        Check(
            what=Text(en="Use stays below 80 % at peak", zh="峰值占用低于 80 %"),
            commands=("sysctl net.netfilter.nf_conntrack_count net.netfilter.nf_conntrack_max",),
        ),
    ),
    gain=Text(en="New connections succeed again", zh="新连接恢复正常"),
    severity="high",
    explains=("dns-slow", "dns-conntrack-race", "packet-loss", "firewall-blocks-ports"),
)
