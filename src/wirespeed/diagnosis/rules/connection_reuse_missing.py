"""Every request sets up its own TCP and TLS connection."""

import re

from wirespeed.diagnosis.joins.flows import by_server, place, told
from wirespeed.diagnosis.joins.paths import idle_latencies
from wirespeed.diagnosis.joins.pieces import against, configured, is_setting_named, piece, quantities, said_s
from wirespeed.model.case import Case
from wirespeed.model.facts.sockets import SocketSummary
from wirespeed.model.finding import FAIR, SLIGHT, STRONG, Change, Check, Evidence, LookAlike, Verdict, supports
from wirespeed.model.flows import TcpFlow
from wirespeed.model.kinds import Explain, Rule, wants
from wirespeed.model.measurement import HttpTiming, PortProbe
from wirespeed.model.settings import CodeCall, Directive, Quantity, Statement
from wirespeed.model.text import Text
from wirespeed.theory import requests

_NEW_CLIENT = r"^requests_(get|post|put|request)$|^httpx_(get|post|put|request|async_client|client)$|^openai$|^async_openai$|^aiohttp_client_session$|^client_session$|insecure_channel|secure_channel"
SETUP_SHARE_RATIO = 0.3
LEAST_TIMINGS_COUNT = 2
LIBRARIES = ("httpcore", "urllib3")
FEWEST_MADE_COUNT = 3
"""A pool makes a connection or two at the start; the third to the same server says that they are not kept."""
MANY_TIME_WAIT_COUNT = 5_000
FEWEST_TIME_WAIT_COUNT, TIME_WAIT_TIMES = 50, 10
LEAST_ROUND_TRIP_S = 0.005
LEAST_SETUP_S = 0.002
"""Inside a rack a handshake is half of a request of a millisecond, and nobody waits for it."""
FEWEST_SINGLE_COUNT = 4
MOSTLY_RATIO = 0.8
NEW_TIMES = 2.0
_FRESH_WORD = r"\b(?:new|fresh|cold|no reuse|without reuse|per[- ]request|first)(?: (?:tcp|tls|https?|connection|conn|client|session|socket|one|request)s?)*\W{0,12}$"
_KEPT_WORD = r"\b(?:re-?used?|reuse|kept|pooled|warm|keep-?alive|persistent|shared|second)(?: (?:tcp|tls|https?|connection|conn|client|session|socket|one|request)s?)*\W{0,12}$"
SETUP_ROUND_TRIPS = (1.8, 6.0)
"""TCP takes one round trip and TLS one or two more; name look-ups and slow hosts add to them."""


def _with_setup(case: Case) -> list[HttpTiming]:
    near = idle_latencies(case)
    if near and all((one.rtt_min_s or 0.0) < LEAST_ROUND_TRIP_S for one in near):
        return []  # the paths are short: what takes long at setting up is a host that is late
    timed = case.every(HttpTiming, lambda one: bool(one.total_s) and (one.appconnect_s or one.connect_s or 0.0) >= LEAST_SETUP_S)
    return [one for one in timed if _share(one) >= SETUP_SHARE_RATIO]


def _share(one: HttpTiming) -> float:
    return requests.handshake_share_ratio(
        requests.phases(one.total_s or 0.0, one.namelookup_s, one.connect_s, one.appconnect_s, one.starttransfer_s)
    )


def _upstream_without_keepalive(case: Case) -> list[Directive]:
    passes = case.every(Directive, lambda one: one.server == "nginx" and one.name in ("proxy_pass", "upstream"))
    return [] if case.first(Directive, lambda one: one.name == "keepalive") else list(passes)


def _short_lived(case: Case) -> list[SocketSummary]:
    """Closed connections that outnumber the open ones many times: each is used for little."""
    sockets = case.every(SocketSummary)
    closed = max((one for one in sockets if "TIME" in one.state.upper()), key=lambda one: one.socket_count, default=None)
    opened = max((one for one in sockets if one.state.upper().startswith("ESTAB")), key=lambda one: one.socket_count, default=None)
    if not (closed and opened) or closed.socket_count < FEWEST_TIME_WAIT_COUNT:
        return []
    return [closed, opened] if closed.socket_count >= TIME_WAIT_TIMES * max(opened.socket_count, 1) else []


def _surcharge(case: Case) -> tuple[Quantity, Statement, float] | None:
    """A time that is added to each request and is a few round trips long."""
    trips = [(one, seconds) for one in case.said("round-trip") if (seconds := said_s(one)) and seconds >= LEAST_ROUND_TRIP_S]
    low, high = SETUP_ROUND_TRIPS
    added = quantities(case, "time", r"\b(?:add(?:s|ed|ing)?|extra|surcharge|overhead|more|other|penalty|costs?)\b[^.;]{0,40}$")
    return next(
        ((one, trip, trip_s) for trip, trip_s in trips for one in added[:9] if low * trip_s <= one.value <= high * trip_s), None
    )


def _new_against_reused(case: Case) -> tuple[Quantity, Quantity] | None:
    """A time beside `new` and a shorter one beside `reused`: what making the connection costs."""
    fresh = quantities(case, "time", _FRESH_WORD)
    kept = quantities(case, "time", _KEPT_WORD)
    pairs = [(new, old) for new in fresh[:9] for old in kept[:9] if new.value >= LEAST_ROUND_TRIP_S]
    return next((pair for pair in pairs if pair[0].value >= NEW_TIMES * pair[1].value), None)


def _made_again_and_again(case: Case) -> tuple[Evidence, ...]:
    """Connections to one server that a client's library logs, several of them or one told to come with every request."""
    by_target: dict[tuple[str, int | None], list[PortProbe]] = {}
    for one in case.every(PortProbe, lambda one: one.source.tool in LIBRARIES and one.outcome == "connected"):
        by_target.setdefault((one.target, one.port), []).append(one)
    most = max(by_target.values(), key=len, default=[])
    if len(most) >= FEWEST_MADE_COUNT:
        return piece(_MADE, STRONG, most, made_count=len(most), target=most[0].target)
    return piece(_MADE_EACH, STRONG, most if case.said("new-connection-each") else ())


def _captured(case: Case) -> list[Evidence]:
    """Connections to one server of which each carries one request, and whose setting up takes a good part of it."""
    evidence: list[Evidence] = []
    for group in by_server(case.every(TcpFlow, lambda one: one.exchanges_count > 0)):
        single = [one for one in group if one.has_start and _requests_of(one) == 1 and (one.connect_s or 0.0) >= LEAST_SETUP_S]
        shares = [_setup_share(one) for one in single]
        if len(single) >= FEWEST_SINGLE_COUNT and len(single) >= MOSTLY_RATIO * len(group) and max(shares) >= SETUP_SHARE_RATIO:
            evidence += told(
                _ONE_EACH,
                STRONG + SLIGHT,
                single,
                "start",
                "response",
                server=place(single[0].server),
                flows_count=len(single),
                connect_s=max(one.connect_s or 0.0 for one in single),
                share_ratio=max(shares),
            )
    if not evidence:
        evidence += against(_MANY_EACH, FAIR, [one for one in case.every(TcpFlow) if _requests_of(one) >= FEWEST_SINGLE_COUNT])
    return evidence


def _requests_of(flow: TcpFlow) -> int:
    """Requests of a connection: the turns of a TLS handshake are none."""
    return flow.exchanges_count - (2 if flow.tls_hello_s is not None and flow.exchanges_count > 1 else 0)


def _setup_share(flow: TcpFlow) -> float:
    setup_s = (flow.connect_s or 0.0) + (flow.tls_hello_s or 0.0)
    return setup_s / max(setup_s + (flow.first_byte_p50_s or 0.0) + (flow.answer_s or 0.0), 1e-9)


def _judge(case: Case) -> Verdict:
    evidence: list[Evidence] = []
    slow = _with_setup(case)
    if len(slow) >= LEAST_TIMINGS_COUNT:
        evidence.append(supports(_SETUP, STRONG, *slow[:3], share_ratio=max(_share(one) for one in slow)))
    else:
        evidence += piece(_SETUP_ONCE, FAIR, slow, share_ratio=max((_share(one) for one in slow), default=0.0))
    evidence += _captured(case)
    said = case.said("new-connection-each")
    evidence += _made_again_and_again(case)
    evidence += piece(_SAID, STRONG, said)
    apart = _new_against_reused(case)
    if apart:
        evidence.append(supports(_APART, STRONG, *apart, new_s=apart[0].value, reused_s=apart[1].value))
    many = case.every(SocketSummary, lambda one: "TIME" in one.state.upper() and one.socket_count >= MANY_TIME_WAIT_COUNT)
    evidence += piece(_TIME_WAIT, FAIR, [*many, *case.said("time-wait-many")])
    if not many:
        evidence += piece(_SHORT_LIVED, FAIR, _short_lived(case))
    surcharge = _surcharge(case) if evidence or case.said("surcharge-constant") else None
    if surcharge:
        cost, trip, trip_s = surcharge
        evidence.append(supports(_TRIPS, FAIR, cost, trip, extra_s=cost.value, rtt_s=trip_s))
        evidence += piece(_CONSTANT, SLIGHT, case.said("surcharge-constant"))
    if evidence:
        evidence += piece(_CODE, FAIR, [one.record for one in configured(case, _NEW_CLIENT)])
        evidence += piece(_NO_UPSTREAM_KEEPALIVE, FAIR, _upstream_without_keepalive(case))
    reused = case.every(HttpTiming, lambda one: one.connects_count == 0 or (one.connect_s == 0 and (one.total_s or 0) > 0))
    evidence += against(_REUSED, STRONG, reused)
    return Verdict(evidence=tuple(evidence))


_MADE = Text(en="the client made {made_count} connections to {target}", zh="客户端向 {target} 建立了 {made_count} 个连接")
_MADE_EACH = Text(en="the client logs a new connection with every request", zh="客户端每次请求都记录新建连接")
_ONE_EACH = Text(
    en="{flows_count} connections to {server} carry one request each; connecting takes up to {connect_s}, {share_ratio} of the request",
    zh="到 {server} 的 {flows_count} 个连接各只承载一个请求；建连最多 {connect_s}，占请求的 {share_ratio}",
)
_MANY_EACH = Text(en="captured connections carry request after request", zh="抓包中的连接承载了一个又一个请求")
_SETUP = Text(
    en="request after request, connecting and TLS take up to {share_ratio} of the time",
    zh="一个接一个请求，连接与 TLS 最多占 {share_ratio} 的时间",
)
_SETUP_ONCE = Text(en="connecting and TLS take {share_ratio} of the time", zh="连接与 TLS 占 {share_ratio} 的时间")
_SHORT_LIVED = Text(
    en="closed connections outnumber the open ones many times: each carries little",
    zh="已关闭的连接远多于打开的连接：每条只用了很少",
)
_TRIPS = Text(
    en="each request pays {extra_s} more, a few round trips of {rtt_s}, as TCP and TLS need to connect",
    zh="每个请求多付出 {extra_s}，即数个 {rtt_s} 的往返，正是 TCP 与 TLS 建连所需",
)
_APART = Text(en="{new_s} on a new connection, {reused_s} on a reused one", zh="新连接 {new_s}，复用的连接 {reused_s}")
_CONSTANT = Text(en="the surcharge is the same for every request", zh="每个请求的额外耗时相同")
_SAID = Text(en="each request opens its own connection", zh="每个请求都新建连接")
_TIME_WAIT = Text(en="thousands of closed connections remain in TIME_WAIT", zh="数千个已关闭连接停留在 TIME_WAIT")
_CODE = Text(en="the code makes its client or connection anew", zh="代码每次新建客户端或连接")
_NO_UPSTREAM_KEEPALIVE = Text(en="nginx has no keepalive towards its upstream", zh="nginx 对上游没有启用 keepalive")
_REUSED = Text(en="the connection was reused", zh="连接被复用")

RULE = Rule(
    cause="connection-reuse-missing",
    title=Text(en="Each request pays for a new connection", zh="每个请求都要新建连接"),
    summary=Text(
        en="Connections are not kept and reused, so every request waits one round trip for TCP and one or two for TLS.",
        zh="连接没有保持复用，每个请求都要为 TCP 等一个往返、为 TLS 等一到两个往返。",
    ),
    needs=(
        (wants(Quantity, lambda one: re.search(_FRESH_WORD, one.subject) is not None),),
        (HttpTiming,),
        (wants(TcpFlow, lambda one: one.exchanges_count > 0 and one.duration_s is not None),),
        (SocketSummary,),
        (wants(PortProbe, lambda one: one.source.tool in LIBRARIES),),
        (wants(CodeCall, lambda one: is_setting_named(one, _NEW_CLIENT)),),
        (Statement,),
    ),
    judge=_judge,
    explain=Explain(
        what=Text(
            en="A new connection costs RTT for TCP, RTT (TLS 1.3) or 2 RTT (TLS 1.2) more, CPU for the key exchange, and starts with a small window.",
            zh="新连接的代价：TCP 一个 RTT，TLS 1.3 再一个（1.2 两个），密钥交换的 CPU，且从小窗口开始。",
        ),
        shows=Text(
            en="time_appconnect is a large part of time_total on every request; TIME_WAIT grows with the request rate.",
            zh="每个请求的 time_appconnect 都占 time_total 很大一部分；TIME_WAIT 随请求速率增长。",
        ),
        sources=(
            "RFC 8446 section 2",
            "nginx upstream keepalive",
            "measured: TTFT 2.1 RTT reused, 3.7 RTT new TCP, 6.9 RTT new TLS",
        ),
    ),
    told_apart_from=(
        LookAlike(
            cause="distance",
            because=Text(
                en="with reuse the far path costs one round trip, without it three or four",
                zh="有复用时远路只付一个往返，没有则三四个",
            ),
        ),
        LookAlike(cause="dns-slow", because=Text(en="there the time is before the connection", zh="那里时间花在连接之前")),
    ),
    changes=(
        Change(
            what=Text(en="Use one client or session for the life of the process", zh="整个进程共用一个客户端或会话"),
            commands=("session = requests.Session()",),
            side="serving",
        ),
        Change(
            what=Text(en="Keep connections from nginx to its upstream", zh="让 nginx 对上游保持连接"),
            commands=("keepalive 64;", "proxy_http_version 1.1;", 'proxy_set_header Connection "";'),
            side="serving",
        ),
    ),
    checks=(
        Check(
            what=Text(en="A second request on the same client shows no connect time", zh="同一客户端的第二个请求没有连接时间"),
            commands=(
                "curl -s -o /dev/null -w '%{{num_connects}} %{{time_appconnect}}\\n' URL --next -s -o /dev/null -w '%{{num_connects}} %{{time_appconnect}}\\n' URL",
            ),
        ),
    ),
    gain=Text(en="Saves two to four round trips a request", zh="每个请求节省二至四个往返"),
    severity="medium",
    explains=("dns-slow", "distance"),
)
