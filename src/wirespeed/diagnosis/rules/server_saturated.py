"""More is asked of the model server than it can serve: its own queue grows."""

import re

from wirespeed.diagnosis.joins.flows import answers_late, place, told
from wirespeed.diagnosis.joins.pieces import ALONE, against, piece
from wirespeed.diagnosis.joins.serving_runs import flat_throughput, served_below_offered
from wirespeed.model.case import Case
from wirespeed.model.events.log import ServerEvent
from wirespeed.model.finding import FAIR, SLIGHT, STRONG, Change, Check, Evidence, LookAlike, Verdict, supports
from wirespeed.model.flows import TcpFlow
from wirespeed.model.kinds import Explain, Rule, wants
from wirespeed.model.measurement import ServingMetric
from wirespeed.model.settings import Statement, Table
from wirespeed.model.text import Text

MANY_WAITING_COUNT = 10
LONG_WAIT_S = 1.0
OVER_TIMES = 1.2
FLAT_LOAD_TIMES, FLAT_TIMES = 3.0, 1.08
_LOAD_COLUMN = re.compile(r"(?i)concurren|users|clients|in[- ]flight|parallel|streams|request[-_ ]?rate|offered|load")
_RATE_COLUMN = re.compile(r"(?i)tok\w*/s|tps|req\w*/s|rps|qps|throughput")
_OFFERED = re.compile(r"(?i)request[-_ ]?rate|offered|arriv|target|(?:rps|qps|req/s) (?:in|sent)|\bsent\b|\binput rate")
_SERVED = re.compile(r"(?i)complet|served|achiev|goodput|finish|handled|(?:rps|qps|req/s) (?:out|done)|\brequest throughput")


def _judge(case: Case) -> Verdict:
    waiting = case.every(
        ServingMetric, lambda one: "waiting" in one.name or one.name in ("queue_count", "queue_depth", "num_queue_reqs")
    )
    long_queue = [one for one in waiting if one.value >= MANY_WAITING_COUNT]
    evidence: list[Evidence] = []
    running = max((one.value for one in case.every(ServingMetric, name="running_count")), default=None)
    longer = bool(long_queue and running) and max(one.value for one in long_queue) >= (running or 0.0)
    evidence += piece(
        _QUEUE,
        STRONG if longer else FAIR,
        long_queue or case.said("server-queue-grows"),
        waiting_count=max((one.value for one in long_queue), default=None),
    )
    evidence += piece(_FLAT, ALONE, case.said("throughput-flat"))
    served = _served_below_offered(case)
    if served:
        evidence.append(supports(_BELOW_OFFERED, STRONG, served[0], offered_text=f"{served[1]:g}", served_text=f"{served[2]:g}"))
    behind = None if served else served_below_offered(case)
    if behind:
        offered_text, served_text = (f"{one.value:g}" for one in behind)
        evidence.append(supports(_BELOW_OFFERED, STRONG, *behind, offered_text=offered_text, served_text=served_text))
    level = flat_throughput(case)
    evidence += piece(_FLAT_TABLE, STRONG, level if not (served or behind) else ())
    flat = [] if served or behind or level else [one for one in case.every(Table) if _is_flat(one)]
    evidence += piece(_FLAT_TABLE, STRONG, flat)
    late = [one for one in case.every(TcpFlow, answers_late) if (one.first_byte_max_s or 0.0) >= LONG_WAIT_S]
    evidence += told(
        _LATE,
        FAIR,
        late,
        "request",
        "response",
        server=place(late[0].server) if late else None,
        first_s=max((one.first_byte_max_s or 0.0 for one in late), default=None),
    )
    own = case.said("server-says-overloaded")
    evidence += piece(_OVERLOADED, STRONG, own)
    evidence += piece(_REFUSES, FAIR, case.every(ServerEvent, lambda one: one.status_code in (429, 503)) if own else ())
    evidence += piece(_BUSY, FAIR, case.said("gpu-busy"))
    if evidence:
        evidence += piece(_LOAD, SLIGHT, case.said("more-load-slower"))
    evidence += against(_EMPTY, FAIR, [] if long_queue else waiting)
    evidence += against(_IDLE, FAIR, case.said("backend-idle"))
    return Verdict(evidence=tuple(evidence))


def _served_below_offered(case: Case) -> tuple[Table, float, float] | None:
    """The row with the highest rate offered, where less was served while a lower rate was served in full or no better."""
    for table in case.every(Table):
        offered = next((place for place, name in enumerate(table.columns) if _OFFERED.search(name)), None)
        served = next((place for place, name in enumerate(table.columns) if _SERVED.search(name) and place != offered), None)
        if offered is None or served is None:
            continue
        rows = [row for row in table.rows if len(row) > max(offered, served)]
        pairs = sorted((left, right) for row in rows if (left := _number(row[offered])) and (right := _number(row[served])))
        if len(pairs) >= 2 and pairs[-1][0] >= OVER_TIMES * pairs[-1][1] and pairs[-1][0] >= OVER_TIMES * pairs[0][0]:
            return table, *pairs[-1]
    return None


def _is_flat(table: Table) -> bool:
    """Whether throughput stays within some percent while the load in the column before at least doubles, twice."""
    load = next((place for place, name in enumerate(table.columns) if _LOAD_COLUMN.search(name)), None)
    rate = next((place for place, name in enumerate(table.columns) if _RATE_COLUMN.search(name) and place != load), None)
    if load is None or rate is None:
        return False
    rows = [row for row in table.rows if len(row) > max(load, rate)]
    pairs = sorted((left, right) for row in rows if (left := _number(row[load])) and (right := _number(row[rate])))
    if len(pairs) < 3 or pairs[-1][0] < FLAT_LOAD_TIMES * pairs[-3][0]:
        return False
    last = [right for _, right in pairs[-3:]]
    return max(last) <= FLAT_TIMES * min(last)


def _number(cell: str) -> float:
    found = re.search(r"\d[\d,]*(?:\.\d+)?", cell)
    return float(found[0].replace(",", "")) if found else 0.0


_FLAT_TABLE = Text(en="throughput stays the same while the load doubles and doubles again", zh="负载一再翻倍而吞吐不变")
_BELOW_OFFERED = Text(
    en="{offered_text} requests per second are offered and {served_text} are served",
    zh="每秒到达 {offered_text} 个请求，只完成 {served_text} 个",
)
_LATE = Text(
    en="in a capture the host of {server} has the request at once, and its program begins to answer after {first_s}",
    zh="抓包显示 {server} 所在主机立即收到请求，其程序 {first_s} 后才开始应答",
)
_QUEUE = Text(en="requests queue in the server", zh="请求在服务器内排队")
_FLAT = Text(en="throughput no longer rises with the load", zh="吞吐不再随负载上升")
_OVERLOADED = Text(en="the server itself says that it is overloaded", zh="服务器自身报告过载")
_REFUSES = Text(en="it refuses requests", zh="它拒绝请求")
_BUSY = Text(en="the GPUs are busy", zh="GPU 繁忙")
_LOAD = Text(en="it gets slower with load", zh="负载升高时变慢")
_EMPTY = Text(en="hardly any request waits in the server", zh="服务器内几乎没有等待的请求")
_IDLE = Text(en="the server is idle", zh="服务器空闲")

RULE = Rule(
    cause="server-saturated",
    title=Text(en="The model server is saturated", zh="模型服务器已饱和"),
    summary=Text(
        en="The offered load is above the service rate, so requests wait in the server's own queue; the network is not what they wait for.",
        zh="到达负载超过服务速率，请求在服务器自身队列中等待；等的不是网络。",
    ),
    needs=(
        (wants(ServingMetric, lambda one: "waiting" in one.name or "queue" in one.name),),
        (wants(ServingMetric, lambda one: bool(one.run) and one.name in ("offered_per_s", "concurrency_count")),),
        (wants(TcpFlow, lambda one: one.first_byte_max_s is not None),),
        (Table,),
        (Statement,),
    ),
    silence_needs=((wants(ServingMetric, lambda one: "waiting" in one.name or "queue" in one.name),), (Table,)),
    judge=_judge,
    explain=Explain(
        what=Text(
            en="Near capacity the wait grows as 1 / (1 - utilisation), beyond it without bound.",
            zh="接近容量时等待按 1 / (1 − 利用率) 增长，超过后无界。",
        ),
        shows=Text(
            en="num_requests_waiting grows, throughput is flat, GPUs are at their limit.",
            zh="num_requests_waiting 增长、吞吐平坦、GPU 达到极限。",
        ),
        sources=("Little's law", "vLLM metrics: num_requests_waiting, request_queue_time_seconds"),
    ),
    told_apart_from=(
        LookAlike(
            cause="gateway-connection-limit",
            because=Text(
                en="there requests wait before the server, whose queue is empty", zh="那里请求在服务器之前等待，服务器队列为空"
            ),
        ),
        LookAlike(
            cause="kv-cache-preemption", because=Text(en="there the cache, not compute, is full", zh="那里满的是缓存而非算力")
        ),
        LookAlike(cause="load-balancer-blind", because=Text(en="there other replicas are idle", zh="那里其他副本空闲")),
    ),
    changes=(
        Change(
            what=Text(
                en="Add replicas, or refuse early: bound the queue and return 429", zh="增加副本，或尽早拒绝：限制队列并返回 429"
            ),
            side="serving",
        ),
    ),
    checks=(
        Check(
            what=Text(en="The queue drains at the usual load", zh="平常负载下队列能排空"),
            commands=("curl -s localhost:8000/metrics | grep num_requests_waiting",),
        ),
    ),
    gain=Text(en="Latency returns to service time", zh="延迟回到服务时间"),
    severity="medium",
    explains=("gateway-timeout-too-short", "accept-queue-overflow"),
)
