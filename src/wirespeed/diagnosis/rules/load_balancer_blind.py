"""The balancer spreads requests without looking at the replicas' queues or caches."""

import re

from wirespeed.diagnosis.joins.pieces import (
    ALONE,
    against,
    configured,
    piece,
)
from wirespeed.model.case import Case
from wirespeed.model.finding import (
    FAIR,
    STRONG,
    Change,
    Check,
    Evidence,
    LookAlike,
    Verdict,
)
from wirespeed.model.kinds import Explain, Rule, wants
from wirespeed.model.measurement import (
    ServingMetric,
)
from wirespeed.model.record import Record
from wirespeed.model.settings import Statement, Table
from wirespeed.model.text import Text

UNEVEN_TIMES = 4.0
_POD_COLUMN = re.compile(r"(?i)pod|replica|backend|instance|server|endpoint|worker|engine|node")
_QUEUE_COLUMN = re.compile(r"(?i)wait|queue|running|kv|cache|ttft|latency|util")


def _uneven(table: Table) -> bool | None:
    """Whether queue, cache or latency differs several times between replicas; None where the table does not say."""
    if not table.columns or not _POD_COLUMN.search(table.columns[0]):
        return None
    seen = False
    for column, title in enumerate(table.columns[1:], 1):
        numbers = [
            float(found[0]) for row in table.rows if len(row) > column and (found := re.match(r"\s*\d+(?:\.\d+)?", row[column]))
        ]
        if not _QUEUE_COLUMN.search(title) or len(numbers) < 2:
            continue
        seen = True
        if max(numbers) >= UNEVEN_TIMES * max(min(numbers), 1e-9) and max(numbers) >= 1:
            return True
    return False if seen else None


def _by_replica(case: Case) -> list[ServingMetric]:
    """Waiting counts of several replicas that differ several times."""
    waiting = case.every(ServingMetric, lambda one: "waiting" in one.name and bool(one.at))
    values = [one.value for one in waiting]
    return list(waiting) if len(values) >= 2 and max(values) >= 5 and max(values) >= UNEVEN_TIMES * max(min(values), 1) else []


def _judge(case: Case) -> Verdict:
    tables = [(one, uneven) for one in case.every(Table) if (uneven := _uneven(one)) is not None]
    unequal: list[Record] = [one for one, uneven in tables if uneven]
    unequal += _by_replica(case)
    evidence: list[Evidence] = []
    evidence += piece(_UNEVEN, STRONG, unequal)
    evidence += piece(_BLIND, ALONE, case.said("balancing-blind"))
    if evidence:
        policy = [
            one
            for one in configured(case, r"(lb|load_balanc\w+|balance|routing)_?(policy|algorithm|strategy)?$")
            if re.search(r"(?i)round|random|hash", one.setting)
        ]
        evidence += piece(_POLICY, FAIR, [*(one.record for one in policy), *case.said("blind-policy")])
        evidence += piece(_HOT, FAIR, case.said("one-pod-gets-all"))
    if tables and not unequal:
        evidence += against(_EVEN, FAIR, [one for one, _ in tables])
    evidence += against(_PINNED, FAIR, case.said("grpc") if case.said("l4-balancing") else ())
    return Verdict(evidence=tuple(evidence))


_UNEVEN = Text(en="queue or cache use differs several times between replicas", zh="各副本的队列或缓存用量相差数倍")
_BLIND = Text(
    en="some replicas queue while others have room, or the balancer knows nothing of queues",
    zh="部分副本排队而其他有余量，或均衡器不了解队列",
)
_POLICY = Text(en="the policy looks at turns, chance or a hash only", zh="策略只看轮次、随机或哈希")
_HOT = Text(en="the load is uneven", zh="负载不均")
_EVEN = Text(en="replicas are about equally loaded", zh="各副本负载大致相等")
_PINNED = Text(en="connections are balanced, not requests", zh="均衡的是连接而非请求")

RULE = Rule(
    cause="load-balancer-blind",
    title=Text(en="The balancer does not see the replicas' queues", zh="均衡器看不到副本队列"),
    summary=Text(
        en="Requests differ a hundredfold in cost, and a policy that counts turns or connections sends some to replicas with a queue while others idle.",
        zh="请求开销可差百倍，按轮次或连接数的策略会把部分请求送到排队的副本，而其他副本空闲。",
    ),
    needs=(
        (wants(Table, lambda one: _uneven(one) is not None),),
        (wants(ServingMetric, lambda one: "waiting" in one.name and bool(one.at)),),
        (Statement,),
    ),
    judge=_judge,
    explain=Explain(
        what=Text(
            en="Cost depends on prompt and output length and on whether the prefix is cached; a balancer sees none of them.",
            zh="开销取决于提示与输出长度以及前缀是否已缓存；均衡器看不到这些。",
        ),
        shows=Text(
            en="Waiting requests or cache use far apart between replicas; p99 high with a normal mean; cache hits fall when replicas are added.",
            zh="副本间等待数或缓存用量悬殊；均值正常而 p99 很高；增加副本后缓存命中下降。",
        ),
        sources=(
            "Kubernetes Gateway API Inference Extension",
            "vLLM production stack: router",
            "SGLang router: cache-aware policy",
        ),
    ),
    told_apart_from=(
        LookAlike(cause="l4-grpc-pinning", because=Text(en="there a replica gets no calls at all", zh="那里有副本完全没有调用")),
        LookAlike(cause="server-saturated", because=Text(en="there every replica queues", zh="那里每个副本都排队")),
    ),
    changes=(
        Change(
            what=Text(
                en="Route by queue length and cache: an inference-aware router, or least requests with a bound per replica",
                zh="按队列与缓存路由：面向推理的路由器，或最少请求并限制每副本并发",
            ),
            commands=("lb_policy: LEAST_REQUEST", "least_conn;", "sglang-router --policy cache_aware"),
            side="serving",
        ),
    ),
    checks=(Check(what=Text(en="Waiting requests differ little between replicas", zh="各副本等待数相差很小")),),
    gain=Text(en="Lower p99 at the same load", zh="相同负载下 p99 降低"),
    severity="medium",
    explains=("server-saturated", "no-fault-queueing", "kv-cache-preemption"),
)
