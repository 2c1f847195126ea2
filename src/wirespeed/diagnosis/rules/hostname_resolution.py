"""A host name resolves to loopback, to nothing, or to an address the peers cannot use."""

from wirespeed.diagnosis.joins.cluster import OWN_BRIDGES, address_of
from wirespeed.diagnosis.joins.pieces import piece
from wirespeed.model.case import Case
from wirespeed.model.events.log import FrameworkEvent
from wirespeed.model.events.nccl import NcclWarning
from wirespeed.model.facts.host import HostsEntry
from wirespeed.model.facts.path import Address
from wirespeed.model.finding import FAIR, SLIGHT, STRONG, Change, Check, LookAlike, Value, Verdict
from wirespeed.model.kinds import Explain, Rule, wants
from wirespeed.model.measurement import NameLookup
from wirespeed.model.settings import Statement
from wirespeed.model.text import Text

_USUAL_NATS = 0.5
"""Debian's installer writes such a line; without a job that looks the name up it means nothing."""


def _judge(case: Case) -> Verdict:
    unresolved = case.every(FrameworkEvent, lambda one: one.topic == "name-not-resolved")
    warned = case.every(NcclWarning, lambda one: "name resolution" in one.message.lower() or "getaddrinfo" in one.message.lower())
    own_loopback = tuple(one for one in case.every(HostsEntry) if _is_loopback_name(one))
    to_loopback = case.every(FrameworkEvent, lambda one: "127.0.1.1" in f"{one.message} {one.peer or ''}")
    has_job = bool(unresolved or warned or to_loopback or case.question or case.has(Statement) or case.has(FrameworkEvent))
    unanswered = case.every(NameLookup, is_answered=False)
    own_bridge = _names_of_own_bridge(case)
    unreached = [one for one in case.every(FrameworkEvent) if any(entry.address in one.message for entry in own_bridge)]
    evidence = (
        *piece(_UNRESOLVED, STRONG, (*unresolved, *warned)),
        *piece(_OWN_LOOPBACK, STRONG if has_job else _USUAL_NATS, own_loopback),
        *piece(_OWN_BRIDGE, STRONG, own_bridge, **_first_of(own_bridge)),
        *piece(_UNREACHED, FAIR, unreached),
        *piece(_TO_LOOPBACK, STRONG, to_loopback),
        *piece(_UNANSWERED, FAIR, unanswered),
        *piece(_SAID, FAIR + SLIGHT, case.said("hostname-not-resolved")),
    )
    return Verdict(evidence=evidence)


def _names_of_own_bridge(case: Case) -> tuple[HostsEntry, ...]:
    """Entries in which a host knows itself by the address of a bridge of its own, where no peer can reach it."""
    bridges = {(one.host, one.address) for one in case.every(Address) if one.link.startswith(OWN_BRIDGES) and one.link != "lo"}
    return case.every(HostsEntry, lambda one: one.name == one.host and (one.host, one.address) in bridges)


def _first_of(entries: tuple[HostsEntry, ...]) -> dict[str, Value]:
    return {"name": entries[0].name, "address": entries[0].address} if entries else {}


def _is_loopback_name(entry: HostsEntry) -> bool:
    """A real host name, not localhost itself, that stands for loopback."""
    address = address_of(entry.address)
    usual = entry.name.startswith(("localhost", "ip6-", "loopback"))
    return address is not None and address.is_loopback and not usual


_UNRESOLVED = Text(en="a host name cannot be resolved", zh="主机名无法解析")
_OWN_LOOPBACK = Text(en="the host's own name stands for loopback", zh="主机自身名称指向回环地址")
_OWN_BRIDGE = Text(
    en="{name} knows itself as {address}, the address of a bridge of its own that every host has",
    zh="{name} 把自己解析为 {address}，那是每台主机都有的本机网桥地址",
)
_UNREACHED = Text(en="programs of other hosts fail to connect to that address", zh="其他主机的程序无法连接该地址")
_TO_LOOPBACK = Text(
    en="a peer is contacted at 127.0.1.1, the Debian placeholder for the own host",
    zh="以 127.0.1.1（Debian 的本机占位地址）联系对端",
)
_UNANSWERED = Text(en="the name server gave no answer", zh="域名服务器没有应答")
_SAID = Text(en="the host name resolves to loopback or to nothing", zh="主机名解析到回环或解析不到")

RULE = Rule(
    cause="hostname-resolution",
    title=Text(en="A host name resolves to loopback or not at all", zh="主机名解析为回环地址或无法解析"),
    summary=Text(
        en="Ranks look for the leader under a name that gives loopback or nothing, so they never meet.",
        zh="各 rank 按名称寻找主节点，而该名称指向回环或解析不到，因此无法汇合。",
    ),
    needs=(
        (HostsEntry,),
        (wants(FrameworkEvent, lambda one: one.topic == "name-not-resolved" or "127.0.1.1" in one.message),),
        (wants(NameLookup, lambda one: one.is_answered is False),),
        (Statement,),
    ),
    judge=_judge,
    explain=Explain(
        what=Text(
            en="Debian maps the own name to 127.0.1.1 in /etc/hosts; pods need a headless service for names of their peers.",
            zh="Debian 在 /etc/hosts 中把本机名映射到 127.0.1.1；Pod 需要 headless service 才能解析对端名称。",
        ),
        shows=Text(
            en="Name or service not known, Temporary failure in name resolution, or workers that connect to 127.0.1.1.",
            zh="Name or service not known、Temporary failure in name resolution，或工作进程连接 127.0.1.1。",
        ),
        sources=(
            "debian-reference: the hostname resolution",
            "PaddlePaddle/Paddle#37951",
            "PyTorch documentation: MASTER_ADDR",
        ),
    ),
    told_apart_from=(
        LookAlike(cause="dns-slow", because=Text(en="there names resolve, only late", zh="彼处能解析，只是慢")),
        LookAlike(
            cause="gloo-wrong-interface",
            because=Text(en="there naming an interface for Gloo suffices", zh="彼处为 Gloo 指定接口即可"),
        ),
    ),
    changes=(
        Change(
            what=Text(
                en="Map each host's name to its network address on all hosts, or use addresses",
                zh="在所有主机上把名称映射到网络地址，或直接使用地址",
            ),
            commands=(
                "getent hosts $(hostname)",
                "export MASTER_ADDR=ADDRESS",
            ),
        ),
    ),
    checks=(
        Check(
            what=Text(
                en="Every host gives the same non-loopback address for the leader", zh="每台主机对主节点给出相同的非回环地址"
            ),
            commands=("getent hosts LEADER",),
        ),
    ),
    gain=Text(en="The job starts", zh="作业可启动"),
    severity="high",
    explains=(
        "gloo-wrong-interface",
        "collective-timeout-too-short",
    ),
)
