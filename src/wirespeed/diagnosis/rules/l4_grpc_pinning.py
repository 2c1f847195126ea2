"""Connections, not calls, are balanced, so one long-lived HTTP/2 connection keeps every call on one pod."""

import re

from wirespeed.diagnosis.joins.pieces import (
    ALONE,
    against,
    configured,
    piece,
    quantities,
)
from wirespeed.model.case import Case
from wirespeed.model.finding import (
    FAIR,
    SLIGHT,
    STRONG,
    Change,
    Check,
    Evidence,
    LookAlike,
    Verdict,
    supports,
)
from wirespeed.model.kinds import Explain, Rule, wants
from wirespeed.model.settings import Quantity, Statement, Table
from wirespeed.model.text import Text

UNEVEN_RATIO = 0.8
_OF_REPLICAS = r"pod|replica|backend|instance|server|endpoint|worker"
_POD_COLUMN = re.compile(r"(?i)pod|replica|backend|instance|server|endpoint|worker|upstream")
_POD_NAME = re.compile(r"^(?P<workload>[a-z0-9][a-z0-9-]*?)-(?:[0-9a-f]{6,10}-[a-z0-9]{5}|\d{1,4})$")
_LOAD_COLUMN = re.compile(r"(?i)req|rps|qps|rpc|call|hits|load|conn|stream|cpu|gpu|util")


def _uneven(table: Table) -> float | None:
    """Largest share one row has of a load column, where the rows are replicas."""
    if not table.columns or not (_POD_COLUMN.search(table.columns[0]) or _are_replicas(table)):
        return None
    for column, title in enumerate(table.columns[1:], 1):
        if not _LOAD_COLUMN.search(title):
            continue
        numbers = [_number(row[column]) for row in table.rows if len(row) > column]
        if len(numbers) >= 2 and None not in numbers and sum(filter(None, numbers)) > 0:
            return max(filter(None, numbers)) / sum(filter(None, numbers))
    return None


def _are_replicas(table: Table) -> bool:
    """Whether the rows are named like pods of one deployment or stateful set, as `kubectl top pod` lists them."""
    names = [_POD_NAME.match(row[0]) for row in table.rows if row]
    return len(names) >= 2 and None not in names and len({found["workload"] for found in names if found}) == 1


def _uneven_line(case: Case) -> list[Quantity]:
    """Shares of several replicas on one line (`pod CPU: 96 %, 2 %, 1 %`) of which one has nearly all."""
    by_line: dict[str, list[Quantity]] = {}
    for one in quantities(case, "share"):
        by_line.setdefault(one.quotes[0].text if one.quotes else "", []).append(one)
    for shares in by_line.values():
        values = [one.value for one in shares]
        names_replicas = any(re.search(_OF_REPLICAS, one.subject) for one in shares)
        if names_replicas and len(values) >= 3 and max(values) >= UNEVEN_RATIO * sum(values):
            return shares
    return []


def _number(cell: str) -> float | None:
    found = re.match(r"\s*(\d[\d,]*(?:\.\d+)?)", cell)
    return float(found[1].replace(",", "")) if found else None


def _judge(case: Case) -> Verdict:
    tables = [(one, share) for one in case.every(Table) if (share := _uneven(one)) is not None]
    uneven = [one for one in tables if one[1] >= UNEVEN_RATIO]
    uneven_line = _uneven_line(case)
    one_gets_all = case.said("one-pod-gets-all")
    evidence: list[Evidence] = []
    if uneven:
        evidence.append(supports(_UNEVEN, FAIR, uneven[0][0], share_ratio=uneven[0][1]))
    elif uneven_line:
        evidence += piece(_UNEVEN, FAIR, uneven_line, share_ratio=max(one.value for one in uneven_line))
    grpc_ports = [one.record for one in configured(case, r"^service_port$") if re.search(r"(?i)grpc|h2c|http2", one.setting)]
    services = [
        one.record for one in configured(case, r"^service_type$") if one.setting in ("ClusterIP", "NodePort", "LoadBalancer")
    ]
    headless = [one.record for one in configured(case, r"^cluster_?ip$") if one.setting == "None"]
    http2, by_connection = case.said("grpc"), case.said("l4-balancing")
    moves = case.said("moves-with-client-restart")
    evidence += piece(_MOVES, STRONG, moves)
    evidence += piece(_ONE, ALONE if http2 or by_connection else SLIGHT, one_gets_all)
    if evidence:
        evidence += piece(_GRPC, FAIR, [*http2, *grpc_ports])
        evidence += piece(_L4, FAIR, [*by_connection, *(services if grpc_ports or moves else ())])
        evidence += piece(
            _AFFINITY, FAIR, [one.record for one in configured(case, "^session_affinity$") if one.setting == "ClientIP"]
        )
    evidence += against(_CLIENT_SIDE, FAIR, [*headless, *case.said("client-side-balancing")])
    if tables and not uneven:
        evidence += against(_EVEN, STRONG, [one for one, _ in tables])
    return Verdict(evidence=tuple(evidence))


_UNEVEN = Text(en="one replica has {share_ratio} of the load", zh="一个副本承担了 {share_ratio} 的负载")
_MOVES = Text(en="the load moves as a whole when a client connects anew", zh="客户端重新连接时负载整体转移")
_ONE = Text(en="one replica gets the calls, others idle", zh="一个副本得到全部调用，其余空闲")
_GRPC = Text(en="calls are gRPC or HTTP/2", zh="调用是 gRPC 或 HTTP/2")
_L4 = Text(en="balancing is by connection", zh="按连接做负载均衡")
_AFFINITY = Text(en="the service keeps each client on one pod", zh="该服务让每个客户端固定在一个 Pod 上")
_CLIENT_SIDE = Text(en="calls are balanced one by one", zh="按调用做负载均衡")
_EVEN = Text(en="the replicas share the load", zh="各副本均担负载")

RULE = Rule(
    cause="l4-grpc-pinning",
    title=Text(en="One HTTP/2 connection pins all calls to one replica", zh="一条 HTTP/2 连接把所有调用钉在一个副本上"),
    summary=Text(
        en="The balancer distributes connections; a gRPC client keeps one, so its replica is overloaded while the others idle.",
        zh="均衡器按连接分配；gRPC 客户端只保持一条，于是一个副本过载，其余空闲。",
    ),
    needs=((wants(Table, lambda one: _uneven(one) is not None),), (Statement,)),
    judge=_judge,
    explain=Explain(
        what=Text(
            en="kube-proxy, NLB and TCP mode choose a back end per connection. HTTP/2 multiplexes all calls on one connection that lives for hours.",
            zh="kube-proxy、NLB 和 TCP 模式按连接选后端。HTTP/2 把所有调用复用在一条存活数小时的连接上。",
        ),
        shows=Text(
            en="One pod at 100 %, the rest at none; new replicas get no traffic until clients restart.",
            zh="一个 Pod 100 %，其余为零；新副本在客户端重启前没有流量。",
        ),
        sources=("Kubernetes blog: gRPC load balancing on Kubernetes without tears", "gRPC load balancing documentation"),
    ),
    told_apart_from=(
        LookAlike(
            cause="load-balancer-blind",
            because=Text(
                en="there every replica gets calls, but the costly ones land together",
                zh="那里每个副本都有调用，只是重请求落在一起",
            ),
        ),
    ),
    changes=(
        Change(
            what=Text(
                en="Balance calls: a headless service with round_robin in the client, or an HTTP/2 proxy",
                zh="按调用均衡：headless 服务加客户端 round_robin，或 HTTP/2 代理",
            ),
            commands=("clusterIP: None", 'grpc.service_config: {{"loadBalancingConfig":[{{"round_robin":{{}}}}]}}'),
            side="serving",
        ),
        Change(
            what=Text(en="Limit connection age on the server so that clients reconnect", zh="在服务器限制连接寿命，促使客户端重连"),
            commands=("grpc.max_connection_age_ms=300000",),
            side="serving",
        ),
    ),
    checks=(Check(what=Text(en="Requests per replica differ by less than 20 %", zh="各副本请求数相差小于 20 %")),),
    gain=Text(en="All replicas serve; throughput rises with their number", zh="所有副本参与服务；吞吐随副本数上升"),
    severity="high",
    explains=("server-saturated", "no-fault-queueing"),
)
