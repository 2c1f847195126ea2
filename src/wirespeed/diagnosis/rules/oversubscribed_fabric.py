"""The uplinks carry less than the hosts below them can send."""

from wirespeed.diagnosis.joins.pieces import against, piece
from wirespeed.diagnosis.joins.rates import ONE_SIDED_SHARE, SharedLimit, shared_limit, uplink_use
from wirespeed.model.case import Case
from wirespeed.model.finding import FAIR, SLIGHT, STRONG, Change, Check, Evidence, LookAlike, Verdict
from wirespeed.model.kinds import Explain, Rule, wants
from wirespeed.model.link_runs import FlowRun
from wirespeed.model.settings import Statement
from wirespeed.model.text import Text


def _judge(case: Case) -> Verdict:
    local = case.said("same-switch-fast-across-slow")
    scale = case.said("scales-badly")
    shared = shared_limit(case)
    used = uplink_use(case) if shared else ()
    even = tuple(one for use in used for one in use.series) if used and used[0].share_ratio < ONE_SIDED_SHARE else ()
    one_sided = tuple(one for use in used if use.share_ratio >= ONE_SIDED_SHARE and not use.is_thin for one in use.series)
    thin = tuple(one for use in used if use.is_thin for one in use.series)
    return Verdict(
        evidence=(
            *_measured(shared),
            *piece(_EVEN, FAIR, even),
            *piece(_THIN, FAIR, thin),
            *against(_ONE_SIDED, STRONG, one_sided),
            *piece(_RATIO, STRONG, case.said("oversubscribed")),
            *piece(_LOCAL, STRONG, local),
            *piece(_SCALE, SLIGHT, scale),
            *piece(_TIERS, SLIGHT, case.said("several-switch-tiers")),
            *piece(_HALF, SLIGHT, case.said("plateau-near-half") if local or scale else ()),
            *against(_VARIES, FAIR, case.said("varies-run-to-run", "few-flows-hash")),
            *against(_NONE, STRONG, case.denied("oversubscribed")),
        )
    )


def _measured(shared: SharedLimit | None) -> tuple[Evidence, ...]:
    """What flows over the same uplinks at the same time say."""
    if shared is None:
        return ()
    flows = [flow for one in (*shared.together[:2], *shared.near[:1]) for flow in one.flows[:1]]
    return (
        *piece(_TOGETHER, STRONG, flows, share_ratio=shared.share_ratio),
        *piece(_ALONE, FAIR, flows if shared.alone_is_full else ()),
        *against(_ALONE_TOO, FAIR, flows if shared.alone_is_full is False else ()),
    )


_TOGETHER = Text(
    en="pairs across routers that send at the same time reach {share_ratio} of what pairs inside a subnet reach",
    zh="跨路由器的主机对同时发送时，只达到子网内主机对的 {share_ratio}",
)
_ALONE = Text(en="one such pair alone is as fast as any", zh="单独一对这样的主机则与其他一样快")
_ALONE_TOO = Text(en="one such pair alone is slow as well", zh="单独一对这样的主机也慢")
_THIN = Text(
    en="the busiest of the equal uplinks carried less than one pair of hosts reaches elsewhere",
    zh="最忙的等价上行所承载的还不及别处一对主机的速率",
)
_EVEN = Text(en="the uplinks share the load: all of them are full", zh="各上行分担流量：全部占满")
_ONE_SIDED = Text(en="one uplink carries nearly everything, the others are idle", zh="一条上行承担几乎全部流量，其余空闲")
_RATIO = Text(en="oversubscription or full uplinks are reported", zh="描述提到收敛比或上行占满")
_LOCAL = Text(en="machines on one switch are fast, across switches they are not", zh="同交换机内快，跨交换机慢")
_SCALE = Text(en="the rate falls as machines are added", zh="增加机器后速率下降")
_TIERS = Text(en="the path crosses several switch tiers", zh="路径跨越多级交换机")
_HALF = Text(en="the rate stops near a simple fraction", zh="速率停在简单分数附近")
_VARIES = Text(en="the rate changes from run to run, or hashing is reported", zh="速率每次不同，或提到哈希")
_NONE = Text(en="the fabric is said to be non-blocking", zh="描述称网络无收敛")

RULE = Rule(
    cause="oversubscribed-fabric",
    title=Text(en="The fabric's uplinks are oversubscribed", zh="网络上行存在收敛"),
    summary=Text(
        en="Hosts below a leaf can send more than its uplinks carry. Pairs on one leaf are fine; whole-cluster collectives share what the uplinks have.",
        zh="叶交换机下主机的发送能力超过上行。同叶成对正常；全集群集合通信分享上行的带宽。",
    ),
    needs=(
        (wants(FlowRun, lambda one: one.purpose == "mesh"),),
        (
            wants(
                Statement,
                lambda one: one.topic in ("oversubscribed", "same-switch-fast-across-slow", "scales-badly", "several-switch-tiers"),
            ),
        ),
    ),
    judge=_judge,
    settled_by=("wirespeed bench links --mesh PEER PEER",),
    explain=Explain(
        what=Text(
            en="With ratio r the cross-leaf rate per host is the link rate divided by r when all send.",
            zh="收敛比为 r 时，所有主机同时发送，跨叶每主机速率为链路速率除以 r。",
        ),
        shows=Text(
            en="Drops or pauses on the uplink queues of one leaf, none on host ports; same-leaf pairs stay full.",
            zh="某叶上行队列丢包或暂停，主机端口没有；同叶成对仍满速。",
        ),
        sources=("measured in network namespaces (oversubscription)",),
    ),
    told_apart_from=(
        LookAlike(
            cause="ecmp-collision",
            because=Text(
                en="collisions are random per connection; oversubscription is a stable ratio", zh="碰撞按连接随机；收敛是稳定比例"
            ),
        ),
        LookAlike(
            cause="noisy-neighbour",
            because=Text(en="a neighbour's traffic comes and goes with its own schedule", zh="邻居流量随其自身节奏出现与消失"),
        ),
    ),
    changes=(
        Change(
            what=Text(
                en="Place the job within one leaf, or rank neighbours on one leaf; use hierarchical collectives",
                zh="把任务放在同一叶内，或让相邻进程同叶；使用分层集合通信",
            ),
            side="training",
        ),
        Change(what=Text(en="Add uplinks; keep storage and backup traffic off them", zh="增加上行；把存储与备份流量移走")),
    ),
    checks=(
        Check(
            what=Text(en="Bisection test: the sum across the leaf equals the uplinks' rate", zh="二分测试：跨叶总和等于上行速率")
        ),
    ),
    gain=Text(en="Up to the oversubscription ratio", zh="最多为收敛比"),
    severity="medium",
    explains=("noisy-neighbour", "packet-loss", "ecmp-collision"),
)
