"""Neighbours reach each other through a far router."""

import ipaddress

from wirespeed.diagnosis.joins.paths import farther_than_others, through_routers_to_a_neighbour
from wirespeed.diagnosis.joins.pieces import against, piece
from wirespeed.model.case import Case
from wirespeed.model.facts.path import Route
from wirespeed.model.finding import FAIR, PROVES, SLIGHT, STRONG, Change, Check, LookAlike, Value, Verdict
from wirespeed.model.kinds import Explain, Rule, wants
from wirespeed.model.link_runs import HeaderRun
from wirespeed.model.measurement import PathHop, PingRun
from wirespeed.model.record import Record
from wirespeed.model.settings import Statement
from wirespeed.model.text import Text

USUAL_TTLS = (64, 128, 255)
"""TTLs that hosts start with; one less means one router was passed."""
FAR_S = 0.005
"""Machines of one site answer each other within a millisecond or two, through any router there."""


def _judge(case: Case) -> Verdict:
    hops = case.every(PathHop)
    private = [one for one in hops if one.address and _is_private(one.address)]
    is_local = bool(hops) and len(private) == len([one for one in hops if one.address])
    is_far = any((one.rtt_min_s or one.rtt_mean_s or 0.0) >= FAR_S for one in hops)
    detour = tuple(hops) if is_local and len(hops) >= 2 and not is_far else ()
    routed = case.every(
        PingRun,
        lambda one: (
            one.ttl_hops is not None
            and one.ttl_hops not in USUAL_TTLS
            and _is_private(one.target)
            and (one.rtt_min_s or one.rtt_mean_s or 0.0) < FAR_S
        ),
    )
    via = case.every(Route, lambda one: one.is_lookup and one.gateway is not None and _is_private(one.destination))
    said = case.said("goes-through-router")
    is_slow = bool(case.said("same-switch-fast-across-slow", "scales-badly", "plateau-near-half"))
    hairpins = through_routers_to_a_neighbour(case)
    farther = farther_than_others(case)
    straight = case.every(HeaderRun, lambda one: one.hops_count is not None)
    return Verdict(
        evidence=(
            *piece(_HAIRPIN, PROVES, hairpins, **_example(hairpins)),
            *piece(_FARTHER, PROVES, farther, **_example(farther)),
            *against(_STRAIGHT, STRONG, straight if not hairpins and not farther else ()),
            *piece(_HOPS, FAIR, detour),
            *piece(_TTL, FAIR if said or is_slow else SLIGHT, _first(routed)),
            *piece(_VIA, FAIR, via),
            *piece(_NEEDLESS, STRONG, case.said("takes-a-detour")),
            *piece(_SAID, STRONG if detour or routed or via or is_slow else FAIR, said),
        )
    )


def _example(runs: tuple[HeaderRun, ...]) -> dict[str, Value]:
    return {"sender": runs[0].sender, "receiver": runs[0].receiver, "hops": str(runs[0].hops_count)} if runs else {}


def _first(records: tuple[PingRun, ...]) -> tuple[Record, ...]:
    return records[:1]


def _is_private(address: str) -> bool:
    try:
        return ipaddress.ip_address(address.split("/")[0]).is_private
    except ValueError:
        return False


_HAIRPIN = Text(
    en="{sender} reaches {receiver}, a host of its own subnet, through {hops} routers",
    zh="{sender} 经 {hops} 个路由器才到达同一子网的 {receiver}",
)
_FARTHER = Text(
    en="{sender} reaches {receiver} through {hops} routers, more than other pairs need",
    zh="{sender} 经 {hops} 个路由器到达 {receiver}，多于其他主机对",
)
_STRAIGHT = Text(en="every pair takes as many hops as its like", zh="各主机对的跳数与同类一致")
_HOPS = Text(en="two machines of one site are several hops apart", zh="同一站点的两台机器相隔多跳")
_TTL = Text(en="the answer's TTL shows that routers were passed", zh="应答 TTL 表明经过了路由器")
_VIA = Text(en="the route to the peer goes through a gateway", zh="到对端的路由经过网关")
_NEEDLESS = Text(
    en="neighbours are said to meet over a relay, a hairpin or the public side", zh="描述称相邻机器经中继、回绕或公网侧通信"
)
_SAID = Text(en="a way through a router, firewall or another VLAN is reported", zh="描述提到经过路由器、防火墙或其他 VLAN")

RULE = Rule(
    cause="l3-detour",
    title=Text(en="Traffic between neighbours takes a detour", zh="相邻机器之间的流量绕路"),
    summary=Text(
        en="The machines are close, but in different subnets or VLANs, so their traffic goes up to a router or firewall and back, over links made for something else.",
        zh="机器相邻，却在不同子网或 VLAN，流量上行到路由器或防火墙再返回，走的是为其他用途准备的链路。",
    ),
    needs=(
        (HeaderRun,),
        (PathHop,),
        (wants(PingRun, lambda one: one.ttl_hops is not None),),
        (wants(Route, lambda one: one.is_lookup),),
        (wants(Statement, lambda one: one.topic in ("goes-through-router", "takes-a-detour")),),
    ),
    judge=_judge,
    explain=Explain(
        what=Text(
            en="A routed fabric passes leaf and spine by design: compare with the majority of pairs, not with zero hops.",
            zh="路由型网络本就经过叶脊：应与多数成对比较，而不是与零跳比较。",
        ),
        shows=Text(
            en="TTL 61 from a host of the same rack, RTT twice that of its neighbours, uplink bytes in and out equal.",
            zh="同机架主机 TTL 为 61，RTT 为邻居两倍，上行进出字节相等。",
        ),
        sources=("measured in network namespaces (l3_detour)",),
    ),
    told_apart_from=(
        LookAlike(cause="oversubscribed-fabric", because=Text(en="there the way is right and too narrow", zh="彼处路径正确但太窄")),
        LookAlike(cause="distance", because=Text(en="there the places really are far apart", zh="彼处两地确实遥远")),
    ),
    changes=(
        Change(
            what=Text(
                en="Put the machines into one subnet or VLAN, or route between them at the leaf",
                zh="把机器放进同一子网或 VLAN，或在叶上路由",
            )
        ),
    ),
    checks=(
        Check(
            what=Text(en="Hop count and RTT equal those of other pairs", zh="跳数与 RTT 与其他成对相同"),
            commands=("traceroute -n PEER", "ip route get PEER"),
        ),
    ),
    gain=Text(en="Restores scaling", zh="恢复扩展性"),
    severity="medium",
)
