"""Two machines use one address."""

from wirespeed.diagnosis.joins.cluster import OWN_BRIDGES, address_of
from wirespeed.diagnosis.joins.pieces import piece
from wirespeed.model.case import Case
from wirespeed.model.events.log import KernelEvent
from wirespeed.model.facts.path import Address, Neighbour
from wirespeed.model.finding import FAIR, PROVES, STRONG, Change, Check, LookAlike, Verdict
from wirespeed.model.kinds import Explain, Rule, wants
from wirespeed.model.measurement import PingRun
from wirespeed.model.record import Record
from wirespeed.model.settings import Statement
from wirespeed.model.text import Text


def _judge(case: Case) -> Verdict:
    return Verdict(
        evidence=(
            *piece(_KERNEL, PROVES, case.every(KernelEvent, topic="duplicate-address")),
            *piece(_OWNERS, PROVES, _two_owners(case)),
            *piece(_MACS, STRONG, _two_macs(case)),
            *piece(_DUPLICATES, FAIR, case.every(PingRun, lambda one: (one.duplicates_count or 0) > 0)),
            *piece(_SAID, STRONG, case.said("address-claimed-twice")),
        )
    )


def _two_owners(case: Case) -> tuple[Record, ...]:
    """Addresses that two hosts have, bridges that every host has for itself apart."""
    owners: dict[str, list[Address]] = {}
    for one in case.every(
        Address, lambda one: one.host is not None and _is_for_peers(one) and not one.link.startswith(OWN_BRIDGES)
    ):
        owners.setdefault(one.address, []).append(one)
    return tuple(one for same in owners.values() if len({each.host for each in same}) > 1 for one in same)


def _is_for_peers(address: Address) -> bool:
    """Of global scope; `ip -br addr` prints no scope, and then the address tells."""
    found = address_of(address.address)
    return address.scope in ("global", None) and found is not None and not found.is_link_local and not found.is_loopback


def _two_macs(case: Case) -> tuple[Record, ...]:
    """Neighbour entries of one address on one link with different MAC addresses (two looks, or two hosts' tables)."""
    groups: dict[tuple[str, str | None], list[Neighbour]] = {}
    for one in case.every(Neighbour, lambda one: one.mac_address is not None):
        groups.setdefault((one.address, one.link), []).append(one)
    return tuple(one for group in groups.values() if len({each.mac_address for each in group}) > 1 for one in group)


_KERNEL = Text(en="the kernel or the address daemon detected a duplicate address", zh="内核或地址守护进程检测到重复地址")
_OWNERS = Text(en="two hosts have configured the same address", zh="两台主机配置了同一地址")
_MACS = Text(en="one address is held by two MAC addresses", zh="一个地址对应两个 MAC")
_DUPLICATES = Text(en="echoes come back twice", zh="回显返回两次")
_SAID = Text(en="an address conflict is reported", zh="描述提到地址冲突")

RULE = Rule(
    cause="duplicate-address",
    title=Text(en="Two machines claim the same address", zh="两台机器使用同一地址"),
    summary=Text(
        en="Switches and neighbours learn whichever announced last, so connections to that address are reset or go to the wrong machine.",
        zh="交换机与邻居只记最后一次通告，因此到该地址的连接会被重置或到了错误的机器。",
    ),
    needs=(
        (wants(Address, lambda one: one.host is not None),),
        (wants(KernelEvent, lambda one: True),),
        (wants(Neighbour, lambda one: one.mac_address is not None),),
        (wants(Statement, lambda one: one.topic == "address-claimed-twice"),),
    ),
    judge=_judge,
    explain=Explain(
        what=Text(
            en="A cloned image, a static address inside a DHCP range, or a failover that kept both.",
            zh="克隆镜像、DHCP 范围内的静态地址，或切换后两边都保留。",
        ),
        shows=Text(
            en="Connections reset mid-stream; the neighbour entry's MAC changes; a host that never had the connection sends resets.",
            zh="连接中途被重置；邻居表 MAC 变化；从未建立该连接的主机发送 RST。",
        ),
        sources=("RFC 5227", "measured in network namespaces (duplicate_ip)"),
    ),
    told_apart_from=(
        LookAlike(
            cause="peer-process-died", because=Text(en="there the peer's own log tells of its end", zh="彼处对端日志说明其退出")
        ),
    ),
    changes=(
        Change(
            what=Text(
                en="Give one of them another address; find it by its MAC on the switch",
                zh="为其中一台更换地址；按 MAC 在交换机上定位",
            )
        ),
    ),
    checks=(Check(what=Text(en="Only one MAC answers", zh="只有一个 MAC 应答"), commands=("arping -D -I IFACE ADDRESS",)),),
    gain=Text(en="Random resets end", zh="随机重置消失"),
    severity="high",
    explains=("peer-process-died",),
)
