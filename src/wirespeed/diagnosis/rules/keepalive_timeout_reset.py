"""The server closes idle connections sooner than the proxy in front of it, which then sends a request into a closing connection."""

import re

from wirespeed.diagnosis.joins.flows import told
from wirespeed.diagnosis.joins.pieces import (
    Configured,
    against,
    configured,
    flags_of,
    is_setting_named,
    piece,
    said_s,
)
from wirespeed.model.case import Case
from wirespeed.model.events.log import FrameworkEvent, ServerEvent
from wirespeed.model.finding import (
    FAIR,
    PROVES,
    SLIGHT,
    STRONG,
    Change,
    Check,
    Evidence,
    LookAlike,
    Value,
    Verdict,
    contradicts,
    supports,
)
from wirespeed.model.flows import TcpFlow
from wirespeed.model.kinds import Explain, Rule, wants
from wirespeed.model.measurement import HttpTiming
from wirespeed.model.record import Record
from wirespeed.model.settings import CodeCall, Command, Directive, Setting, Statement
from wirespeed.model.text import Text

_SERVER = r"(server_|node_|app_)?keep_?alive_?timeout$|timeout_keep_alive|headers_timeout|(uvicorn|gunicorn|node|express|backend|app|upstream|tomcat|hypercorn).*keep_?alive"
_PROXY = r"(balancer|alb|elb|lb|proxy|gateway|ingress|nginx|envoy|haproxy|upstream|pool).*(idle|keep_?alive)|^idle_time_?out|upstream_keepalive_timeout|backend_keep_alive"
_PROXY_LINE = re.compile(r"(?i)nginx|upstream|haproxy|envoy|ingress|balancer")
_UNANSWERED = re.compile(
    r"(?i)closed connection without (?:a )?response|socket hang up|NoHttpResponse|server closed idle connection|prematurely closed connection"
)
"""What clients of Python, Node, Java and Go and nginx say of it."""
GUNICORN_DEFAULT_S = 2.0
"""gunicorn's `--keep-alive` default; sync workers do not keep alive at all (docs.gunicorn.org, settings)."""
UVICORN_DEFAULT_S = 5.0
"""uvicorn's `--timeout-keep-alive` default; also Node's `server.keepAliveTimeout`."""


_SERVER_CALL = re.compile(r"(?:^|\.)uvicorn\.(?:run|Config)$|(?:^|\.)hypercorn\.asyncio\.serve$|^http\.createServer$")
_POOL_CALL = re.compile(r"(?:^|\.)(?:TCPConnector|ClientSession)$")
AIOHTTP_POOL_DEFAULT_S = 15.0
"""aiohttp's `TCPConnector(keepalive_timeout=15)` (docs.aiohttp.org, client reference)."""


def _server_side(case: Case) -> list[tuple[Record, float]]:
    found: list[tuple[Record, float]] = [
        (one.record, one.duration_s) for one in configured(case, _SERVER) if one.duration_s and not _is_proxys(one)
    ]
    found += [(one, seconds) for one in case.said("server-keepalive") if (seconds := said_s(one))]
    for command in case.every(Command, lambda one: _program(one) in ("gunicorn", "uvicorn")):
        found += [
            (command, float(text))
            for name, text in flags_of(command)
            if name == "keep-alive" and text.isdecimal() and len(text) < 6
        ]
        if not any("keep-alive" in name for name, _ in flags_of(command)):
            found.append((command, GUNICORN_DEFAULT_S if _program(command) == "gunicorn" else UVICORN_DEFAULT_S))
    for call in case.every(CodeCall, lambda one: _SERVER_CALL.search(one.name) is not None):
        if not re.search(r"(?i)keep_?alive", call.arguments):
            found.append((call, UVICORN_DEFAULT_S))
    if not found:
        found += [(one, UVICORN_DEFAULT_S) for one in case.said("server-keepalive-default")]
    return found


def _is_proxys(one: Configured) -> bool:
    """Whether a keep-alive time is the proxy's: by its name, or because its line speaks of nginx or an upstream."""
    return re.search(_PROXY, one.name) is not None or any(_PROXY_LINE.search(quote.text) for quote in one.record.quotes)


def _program(command: Command) -> str:
    return command.program.rsplit("/", 1)[-1]


def _proxy_side(case: Case) -> list[tuple[Record, float]]:
    proxys = [one for one in configured(case, f"{_PROXY}|{_SERVER}") if _is_proxys(one)]
    found: list[tuple[Record, float]] = [(one.record, one.duration_s) for one in proxys if one.duration_s]
    for call in case.every(CodeCall, lambda one: _POOL_CALL.search(one.name) is not None):
        if not re.search(r"(?i)keep_?alive|force_close", call.arguments):
            found.append((call, AIOHTTP_POOL_DEFAULT_S))
    return found + [(one, seconds) for one in case.said("balancer-idle") if (seconds := said_s(one))]


def _judge(case: Case) -> Verdict:
    server = min(_server_side(case), key=lambda one: one[1], default=None)
    proxy = max(_proxy_side(case), key=lambda one: one[1], default=None)
    evidence: list[Evidence] = []
    values: dict[str, Value] = {"server_s": None, "proxy_s": None}
    if server and proxy:
        values = {"server_s": server[1], "proxy_s": proxy[1]}
        if server[1] < proxy[1]:
            evidence.append(supports(_SHORTER, STRONG, server[0], proxy[0], **values))
        elif server[1] > proxy[1]:
            evidence.append(contradicts(_LONGER, STRONG, server[0], proxy[0], **values))
    elif server:
        evidence.append(supports(_SHORT, SLIGHT, server[0], server_s=server[1]))
    resets: list[Record] = [
        *case.said("sporadic-reset"),
        *case.every(ServerEvent, lambda one: one.status_code == 502 or one.topic == "upstream-closed"),
    ]
    evidence += piece(_RESETS, FAIR, resets)
    crossed = case.every(TcpFlow, lambda one: one.is_request_after_fin)
    if crossed:
        closed_s = crossed[0].closed_idle_s
        values = {**values, "server_s": values["server_s"] or closed_s}
        evidence += told(_CROSSED, PROVES, crossed, "closed", "request", "reset", closed_s=closed_s)
    unanswered = case.every(FrameworkEvent, lambda one: _UNANSWERED.search(one.message) is not None)
    served = case.every(HttpTiming, lambda one: one.status_code is not None and one.status_code < 500)
    evidence += piece(_WITHOUT_ANSWER, FAIR, unanswered)
    if unanswered:
        evidence += piece(_OTHERS_SERVED, FAIR, served)
    if resets:
        evidence += piece(_IDLE, FAIR, case.said("after-silence"))
        evidence += piece(_UNSEEN, FAIR, case.said("app-never-saw-it"))
    evidence += against(_PROBES, STRONG, case.said("health-probe"))
    evidence += against(_LONG_IDLE, FAIR, case.said("long-idle"))
    return Verdict(evidence=tuple(evidence), values=values)


_CROSSED = Text(
    en="the server closed the connection after {closed_s} of silence, the client sent a request into it and got a reset",
    zh="服务器在静默 {closed_s} 后关闭连接，客户端仍向其发送请求并被重置",
)
_SHORTER = Text(
    en="the server closes after {server_s} of silence, the proxy keeps the connection for {proxy_s}",
    zh="服务器静默 {server_s} 即关闭，代理却保留连接 {proxy_s}",
)
_LONGER = Text(
    en="the server keeps idle connections longer ({server_s}) than the proxy ({proxy_s})",
    zh="服务器保留空闲连接的时间（{server_s}）长于代理（{proxy_s}）",
)
_SHORT = Text(en="the server closes idle connections after {server_s}", zh="服务器在空闲 {server_s} 后关闭连接")
_RESETS = Text(en="some requests end in 502 or a reset", zh="部分请求以 502 或连接重置结束")
_PROBES = Text(en="the connections that end are a prober's, which sends no request", zh="结束的是探测连接，本就不发请求")
_WITHOUT_ANSWER = Text(
    en="a request on a kept connection ends without any answer: the far end had closed it",
    zh="保持连接上的请求没有得到任何应答：对端已将其关闭",
)
_OTHERS_SERVED = Text(en="other requests of the same client are served", zh="同一客户端的其他请求得到服务")
_LONG_IDLE = Text(
    en="the pause was minutes or hours, which firewalls and balancers forget", zh="静默长达数分钟或数小时，会被防火墙和均衡器遗忘"
)
_IDLE = Text(en="they follow a pause", zh="它们发生在一段静默之后")
_UNSEEN = Text(en="the application never saw these requests", zh="应用从未见到这些请求")

RULE = Rule(
    cause="keepalive-timeout-reset",
    title=Text(en="The server closes idle connections before the proxy does", zh="服务器先于代理关闭空闲连接"),
    summary=Text(
        en="The proxy sends a request on a kept connection at the moment the server closes it; the request is lost with a reset or a 502.",
        zh="代理在保持的连接上发请求时，服务器恰好关闭它；请求以重置或 502 丢失。",
    ),
    needs=(
        (wants(CodeCall, lambda one: _SERVER_CALL.search(one.name) is not None),),
        (wants(FrameworkEvent, lambda one: _UNANSWERED.search(one.message) is not None),),
        (wants(Setting, lambda one: is_setting_named(one, r"keep_?alive")),),
        (wants(Directive, lambda one: is_setting_named(one, r"keepalive")),),
        (wants(ServerEvent, lambda one: one.status_code == 502 or one.topic == "upstream-closed"),),
        (wants(Command, lambda one: _program(one) in ("gunicorn", "uvicorn")),),
        (wants(TcpFlow, lambda one: one.ended == "server-reset" or (one.ended == "server-fin" and one.seen == "both")),),
        (Statement,),
    ),
    judge=_judge,
    explain=Explain(
        what=Text(
            en="Both ends run an idle timer. Where the server's is shorter, its FIN crosses the next request on the wire, and the server answers it with RST.",
            zh="两端各有空闲计时器。服务器的较短时，它的 FIN 与下一个请求在途中相遇，服务器以 RST 应答。",
        ),
        shows=Text(
            en="Rare 502 or ECONNRESET after some seconds of silence, mostly on POST (not retried), nothing in the application's log.",
            zh="静默数秒后偶发 502 或 ECONNRESET，多为 POST（不重试），应用日志中没有记录。",
        ),
        sources=(
            "RFC 9112 section 9.3.1",
            "Node.js server.keepAliveTimeout (5 s)",
            "gunicorn settings: keepalive (2 s)",
            "AWS ALB troubleshooting: HTTP 502",
            "Google Cloud load balancing: backend keep-alive 600 s",
        ),
    ),
    told_apart_from=(
        LookAlike(
            cause="firewall-idle-timeout",
            because=Text(
                en="a stateful device drops silently: the request hangs instead of being reset at once",
                zh="有状态设备静默丢弃：请求挂起，而不是立刻被重置",
            ),
        ),
        LookAlike(
            cause="server-saturated",
            because=Text(en="overload fails under load, this fails after silence", zh="过载在高负载时失败，这里在静默之后失败"),
        ),
        LookAlike(
            cause="gateway-timeout-too-short",
            because=Text(
                en="a read timeout fails after a round number of seconds, this fails at once",
                zh="读超时在整数秒后失败，这里立即失败",
            ),
        ),
    ),
    changes=(
        Change(
            what=Text(
                en="Let the server keep idle connections longer than the proxy does: proxy timeout plus 5 s",
                zh="让服务器的空闲保持长于代理：代理超时加 5 s",
            ),
            commands=(
                "gunicorn --keep-alive 65",
                "uvicorn --timeout-keep-alive 65",
                "server.keepAliveTimeout = 65000; server.headersTimeout = 66000",
            ),
            side="serving",
        ),
        Change(
            what=Text(en="Or let the proxy's idle timeout towards the server be shorter", zh="或让代理对上游的空闲超时更短"),
            side="serving",
        ),
    ),
    checks=(
        Check(
            what=Text(
                en="No 502 in a day of traffic with pauses; the proxy's count of retried requests stays flat",
                zh="含停顿的一天流量中没有 502；代理的重试计数不增长",
            )
        ),
    ),
    gain=Text(en="Removes the sporadic resets and the retries they cost", zh="消除偶发重置及其重试开销"),
    severity="medium",
)
