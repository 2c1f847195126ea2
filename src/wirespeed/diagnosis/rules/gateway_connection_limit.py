"""A gateway or client pool allows fewer connections or requests than are wanted, and the rest wait in it."""

import re

from wirespeed.diagnosis.joins.pieces import against, configured, is_setting_named, piece
from wirespeed.model.case import Case
from wirespeed.model.events.log import ServerEvent
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
from wirespeed.model.measurement import ServingMetric
from wirespeed.model.record import Record
from wirespeed.model.settings import Directive, Setting, Statement
from wirespeed.model.text import Text

_LIMIT = r"^max_?conn$|worker_connections|max_connections|max_pending_requests|max_requests|pool_(size|maxsize|limit)|max_parallel_requests|limit_conn|max_keepalive|connection_limit|max_in_?flight|limit_per_host|max_concurren(cy|t_requests)"

_WANTED = r"in_?flight|concurren|parallel|num_workers|max_workers|semaphore"
_CLIENT = r"client_session$|async_client$|tcp_connector$"
_DIRECT = re.compile(r"(?i)\bdirect(?:ly)?\b|\bstraight\b|\bwithout (?:the |a |any )?(?:router|proxy|gateway|balancer)|bypass")
POOL_DEFAULT_COUNT = 100
"""Connections that aiohttp and httpx allow a client by default."""
LIMITS_NOBODY_COUNT = 10_000
"""A limit of so many connections holds no inference service back: file descriptors and memory end sooner."""
HELD_TIMES = 1.3
ROUND_HELD_TIMES = 1.1
ROUND_LIMITS = frozenset({10.0, 20.0, 32.0, 50.0, 64.0, 100.0, 128.0, 200.0, 256.0, 512.0, 1000.0, 1024.0})
"""Numbers that people and libraries set as limits; a count that stands still at one of them is held there."""
MOST_DIGITS = 9


def _judge(case: Case) -> Verdict:
    evidence: list[Evidence] = []
    evidence += piece(_EVENT, STRONG + SLIGHT, case.every(ServerEvent, topic="too-many-connections"))
    evidence += piece(_SAID, STRONG, case.said("connection-limit"))
    held = _held_below(case)
    if held:
        evidence.append(
            supports(_HELD, STRONG, held[0], held[1], running_text=f"{held[0].value:.0f}", wanted_text=f"{held[2]:.0f}")
        )
        evidence += piece(_DEFAULT, FAIR, _is_pool_default(case, held[0].value))
    limits = [one.record for one in configured(case, _LIMIT) if _count(one.setting) < LIMITS_NOBODY_COUNT]
    set_to = [*limits, *case.said("connection-limit-set")]
    evidence += piece(_LIMITS, FAIR if evidence else SLIGHT, set_to)
    if evidence:
        evidence += piece(_IDLE, FAIR, case.said("backend-idle", "server-not-busy"))
    evidence += against(_BUSY, FAIR, case.said("gpu-busy", "server-queue-grows"))
    return Verdict(evidence=tuple(evidence))


def _held_below(case: Case) -> tuple[ServingMetric, Record, float] | None:
    """A server that runs far fewer requests than are wanted at a time, and has none waiting: something before it holds them."""
    through = case.every(ServingMetric, lambda one: one.name == "running_count" and not _is_direct(one))
    running = max(through, key=lambda one: one.value, default=None)
    waiting = case.every(ServingMetric, name="waiting_count")
    if running is None or not waiting or any(one.value > 0 for one in waiting) or running.value < 1:
        return None
    wanted = [(one.record, _count(one.setting)) for one in configured(case, _WANTED)]
    wanted += [(one, one.value) for one in case.every(ServingMetric, name="concurrency_count")]
    wanted += [(one, one.value or 0.0) for one in case.said("parallel-wanted")]
    most = max(wanted, key=lambda one: one[1], default=None)
    stands_still = len(through) > 1 and running.value in ROUND_LIMITS and all(one.value == running.value for one in through)
    times = ROUND_HELD_TIMES if stands_still else HELD_TIMES
    return (running, *most) if most and most[1] >= times * running.value else None


def _is_direct(one: ServingMetric) -> bool:
    """Whether the line tells of the server without what stands before it."""
    return any(_DIRECT.search(quote.text) for quote in one.quotes)


def _is_pool_default(case: Case, running: float) -> list[Record]:
    """A client without a limit of its own, where exactly its library's default number of requests is under way."""
    return [
        one.record
        for one in configured(case, _CLIENT)
        if running == POOL_DEFAULT_COUNT and not re.search(r"(?i)limit", one.setting)
    ]


def _count(text: str) -> float:
    number = text.strip().strip('"')
    return float(number) if number.isdecimal() and len(number) <= MOST_DIGITS else 0.0


_HELD = Text(
    en="the server runs {running_text} requests and none waits there, though {wanted_text} are wanted at a time",
    zh="服务器在运行 {running_text} 个请求且无等待，而期望并发 {wanted_text}",
)
_DEFAULT = Text(en="that is the default of the HTTP client's connection pool", zh="这正是 HTTP 客户端连接池的默认值")
_EVENT = Text(en="the gateway says that its connections are used up", zh="网关报告连接已用尽")
_SAID = Text(en="a limit on connections or requests in flight is reached", zh="达到了连接数或在途请求数的上限")
_LIMITS = Text(en="a limit is configured", zh="配置了上限")
_IDLE = Text(en="the server behind it has room", zh="其后的服务器仍有余量")
_BUSY = Text(en="the model server itself is busy or queues", zh="模型服务器自身繁忙或排队")

RULE = Rule(
    cause="gateway-connection-limit",
    title=Text(
        en="A connection or pool limit queues requests in the gateway or client", zh="连接或连接池上限使请求在网关或客户端排队"
    ),
    summary=Text(
        en="Requests wait for a free connection in front of a server that could take them.",
        zh="请求在等待空闲连接，而后面的服务器本可接收。",
    ),
    needs=(
        (wants(ServerEvent, lambda one: one.topic == "too-many-connections"),),
        (wants(Setting, lambda one: is_setting_named(one, _LIMIT)),),
        (wants(Directive, lambda one: is_setting_named(one, _LIMIT)),),
        (wants(ServingMetric, lambda one: one.name == "running_count"),),
        (Statement,),
    ),
    judge=_judge,
    explain=Explain(
        what=Text(
            en="A stream occupies its connection for its whole life, so a limit made for short requests is reached by few users: in flight = rate x duration (Little).",
            zh="一个流在整个生命周期都占用连接，为短请求设的上限很快用满：在途数 = 速率 × 时长（Little 定律）。",
        ),
        shows=Text(
            en="Latency jumps at a fixed number in flight; pool timeouts, 503 with overflow flags or `worker_connections are not enough`; GPUs idle.",
            zh="在途数达到固定值时延迟跳升；出现连接池超时、带溢出标志的 503 或 worker_connections are not enough；GPU 空闲。",
        ),
        sources=(
            "nginx worker_connections",
            "HAProxy maxconn",
            "Envoy circuit breaking (1,024 by default)",
            "httpx pool limits (100)",
            "aiohttp TCPConnector limit (100)",
        ),
    ),
    told_apart_from=(
        LookAlike(
            cause="server-saturated",
            because=Text(en="there the server's own queue is full and its GPUs are busy", zh="那里是服务器自身队列已满、GPU 繁忙"),
        ),
        LookAlike(
            cause="http2-stream-limit",
            because=Text(en="there the limit is on streams of one connection", zh="那里限制的是一条连接上的流数"),
        ),
    ),
    changes=(
        Change(
            what=Text(
                en="Raise the limit above peak rate x longest duration, and bound the wait for a connection",
                zh="把上限提高到峰值速率 × 最长时长以上，并限制等待连接的时间",
            ),
            commands=("worker_connections 65536;", "httpx.Limits(max_connections=1000)"),
            side="serving",
        ),
    ),
    checks=(
        Check(
            what=Text(
                en="Requests in flight pass the old limit and latency no longer jumps there",
                zh="在途请求数超过原上限且延迟不再跳升",
            )
        ),
    ),
    gain=Text(en="Concurrency rises to what the servers can take", zh="并发提高到服务器可承受的水平"),
    severity="medium",
    explains=("server-saturated", "no-fault-queueing"),
)
