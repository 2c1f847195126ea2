"""Few large flows are hashed onto the same of several equal paths."""

import re

from wirespeed.diagnosis.joins.pieces import against, piece
from wirespeed.diagnosis.joins.rates import ONE_SIDED_SHARE, UplinkUse, shared_limit, uplink_use
from wirespeed.model.case import Case
from wirespeed.model.facts.host import EnvVar
from wirespeed.model.finding import FAIR, SLIGHT, STRONG, Change, Check, Evidence, LookAlike, Verdict
from wirespeed.model.kinds import Explain, Rule, wants
from wirespeed.model.link_runs import FlowRun
from wirespeed.model.settings import Statement, Table
from wirespeed.model.text import Text

_UPLINK = re.compile(r"(?i)\bup-?links?\b|\b(?:to|towards) (?:the )?(?:leaf|spine|core|agg\w*)\b|\bspine-facing\b")
_LAST_NUMBER = re.compile(r"^[~≈]?\s*(\d[\d,]*(?:\.\d+)?)")
COLD_RATIO = 0.2
_NO_SPLIT = {("NCCL_IB_QPS_PER_CONNECTION", "1"), ("NCCL_IB_SPLIT_DATA_ON_QPS", "0"), ("NCCL_IB_ADAPTIVE_ROUTING", "0")}


def _judge(case: Case) -> Verdict:
    unsplit = case.every(
        EnvVar, lambda one: (one.name, one.setting) in _NO_SPLIT or (one.name == "NCCL_IB_ADAPTIVE_ROUTING" and one.setting is None)
    )
    hashing = case.said("few-flows-hash")
    varies = case.said("varies-run-to-run")
    tiers = case.said("several-switch-tiers")
    half = case.said("plateau-near-half")
    shared = shared_limit(case)
    used = uplink_use(case) if shared else ()
    flows = [flow for one in shared.together[:2] for flow in one.flows[:1]] if shared else []
    even = tuple(one for use in used for one in use.series) if used and used[0].share_ratio < ONE_SIDED_SHARE else ()
    return Verdict(
        evidence=(
            *_one_sided(used[:1]),
            *piece(_TOGETHER, FAIR, flows if not even else ()),
            *against(_EVEN, STRONG, even),
            *piece(_COLD, STRONG, case.every(Table, _one_uplink_is_cold)),
            *piece(_HASH, STRONG, hashing),
            *piece(_VARIES, FAIR + SLIGHT if tiers or half else FAIR, varies),
            *piece(_HALF, FAIR if tiers or varies or hashing else SLIGHT, half),
            *piece(_TIERS, SLIGHT, tiers),
            *piece(_UNSPLIT, FAIR if tiers or half else SLIGHT, unsplit),
            *piece(_FLOWS, SLIGHT, case.said("more-flows-scale")),
            *piece(_CLEAN, 0.5, case.said("no-drops-anywhere") if half or varies else ()),
            *against(_RATIO, FAIR, case.said("oversubscribed")),
            *against(_BOND, SLIGHT, case.said("bonded") if not tiers else ()),
        )
    )


def _one_sided(used: tuple[UplinkUse, ...]) -> tuple[Evidence, ...]:
    """One of several equal links that carries what all should share, while the flows over them are slow."""
    if not used or used[0].share_ratio < ONE_SIDED_SHARE or used[0].is_thin:
        return ()
    use = used[0]
    return piece(_ONE_SIDED, STRONG, use.series, router=use.router, link=use.busiest, share_ratio=use.share_ratio)


def _one_uplink_is_cold(table: Table) -> bool:
    """Rows of equal uplinks of which one carries most and another hardly anything."""
    figures = [
        float(found[1].replace(",", ""))
        for row in table.rows
        if _UPLINK.search(" ".join(row)) and (found := _LAST_NUMBER.search(row[-1])) is not None
    ]
    return len(figures) >= 2 and max(figures) > 0 and min(figures) <= COLD_RATIO * max(figures)


_COLD = Text(
    en="one of the equal uplinks carries the load and another hardly anything", zh="等价上行中一条承载负载，另一条几乎空闲"
)
_ONE_SIDED = Text(
    en="{router} sends {share_ratio} of what its equal uplinks carry over {link} alone",
    zh="{router} 把等价上行中 {share_ratio} 的流量都发往 {link}",
)
_TOGETHER = Text(
    en="pairs across routers that send at the same time are slower than pairs inside a subnet",
    zh="跨路由器的主机对同时发送时慢于子网内主机对",
)
_EVEN = Text(en="the equal uplinks share the load", zh="等价上行分担了流量")
_HASH = Text(
    en="hashing over equal-cost paths, or adaptive routing that is off, is reported", zh="描述提到等价路径哈希，或自适应路由未开启"
)
_VARIES = Text(
    en="the rate changes from run to run or from pair to pair on the same machines", zh="同样的机器，不同次或不同对之间速率不同"
)
_HALF = Text(en="the rate stops near a simple fraction of what the links carry", zh="速率停在链路能力的简单分数附近")
_TIERS = Text(en="the path crosses several switch tiers", zh="路径跨越多级交换机")
_UNSPLIT = Text(en="data is not spread over several queue pairs or routes", zh="数据未分散到多个队列对或路由")
_FLOWS = Text(en="more flows go faster", zh="增加流会更快")
_CLEAN = Text(en="links and NICs are clean", zh="链路与网卡无错误")
_RATIO = Text(en="the fabric is oversubscribed: a stable ratio needs no collision", zh="网络有收敛比：稳定的比例无需碰撞来解释")
_BOND = Text(en="a bond is involved: the collision may be on the host", zh="涉及绑定链路：碰撞可能在主机上")

RULE = Rule(
    cause="ecmp-collision",
    title=Text(en="Large flows collide on equal-cost paths", zh="大流在等价路径上碰撞"),
    summary=Text(
        en="The switches pick a path per flow by hashing; with few large flows several land on one uplink while others idle, and the collective "
        "runs at the speed of the worst.",
        zh="交换机按流哈希选路；大流很少时会有几条落在同一上行而其他空闲，集合通信以最差者的速度运行。",
    ),
    needs=(
        (wants(FlowRun, lambda one: one.purpose == "mesh"),),
        (
            wants(
                EnvVar,
                lambda one: one.name in ("NCCL_IB_QPS_PER_CONNECTION", "NCCL_IB_SPLIT_DATA_ON_QPS", "NCCL_IB_ADAPTIVE_ROUTING"),
            ),
        ),
        (wants(Table, lambda one: any(_UPLINK.search(" ".join(row)) for row in one.rows)),),
        (wants(Statement, lambda one: one.topic in ("few-flows-hash", "varies-run-to-run", "several-switch-tiers")),),
    ),
    judge=_judge,
    explain=Explain(
        what=Text(
            en="RoCE flows have little entropy: one queue pair is one flow. Two on one uplink get half each.",
            zh="RoCE 流熵很低：一个队列对即一条流。两条同走一条上行，各得一半。",
        ),
        shows=Text(
            en="Pair bandwidth is 1.0 or 0.5 of the rate, decided per connection; re-dialling from another port changes it.",
            zh="成对带宽为速率的 1.0 或 0.5，按连接决定；换端口重连会改变。",
        ),
        sources=(
            "measured in network namespaces (ecmp_collision)",
            "NCCL performance and tuning documentation",
            "NVIDIA/cluster-readiness-engine#287",
        ),
    ),
    told_apart_from=(
        LookAlike(
            cause="oversubscribed-fabric",
            because=Text(
                en="oversubscription is stable and proportional; collisions change from run to run",
                zh="收敛比稳定且成比例；碰撞每次不同",
            ),
        ),
        LookAlike(
            cause="bond-lag-single-flow",
            because=Text(en="there the hash that collides is the host's own bond", zh="彼处碰撞的是主机自己的绑定哈希"),
        ),
        LookAlike(
            cause="straggler-slow-node",
            because=Text(
                en="a pair that is always slow is a link or a host, not a hash", zh="始终慢的那一对是链路或主机问题，而非哈希"
            ),
        ),
    ),
    changes=(
        Change(
            what=Text(en="Spread each connection over more queue pairs", zh="把每个连接分散到更多队列对"),
            commands=("export NCCL_IB_QPS_PER_CONNECTION=4 NCCL_IB_SPLIT_DATA_ON_QPS=1",),
            side="training",
        ),
        Change(
            what=Text(
                en="Adaptive routing where the fabric supports it; more fields in the switch hash",
                zh="网络支持时开启自适应路由；交换机哈希加入更多字段",
            ),
            commands=("export NCCL_IB_ADAPTIVE_ROUTING=1",),
            risk=Text(en="Out-of-order delivery must be supported end to end", zh="端到端须支持乱序交付"),
        ),
    ),
    checks=(
        Check(
            what=Text(en="The spread of pair bandwidths falls below 5 %", zh="成对带宽的离散度低于 5%"),
            commands=("all_reduce_perf -b 1G -e 8G -f 2 -g 8",),
        ),
    ),
    gain=Text(en="Up to twofold", zh="最多一倍"),
    severity="medium",
)
