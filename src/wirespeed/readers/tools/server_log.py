"""What servers, proxies, balancers and registries said: status lines, access logs, error logs, termination flags."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

import msgspec

from wirespeed.model.events.log import ServerEvent
from wirespeed.model.kinds import Reader
from wirespeed.model.lines import Lines, quote, source
from wirespeed.model.record import Record
from wirespeed.model.source import Problem, Quote
from wirespeed.model.text import Text
from wirespeed.readers.parsing.marks import marked
from wirespeed.readers.parsing.regex import regex

MOST_HEADER_LINES = 20
"""How far below a status line its `Server:` header is looked for."""
MOST_MESSAGE_CHARACTERS = 300
WORST_GOOD_STATUS = 399

_STATUS_LINE = regex(r"(?:^|[<\s])HTTP/(?:1\.[01]|2(?:\.0)?|3) (?P<code>[1-5]\d\d)(?:\s+(?P<reason>[A-Z][A-Za-z -]*?))?\s*$")
_SERVER_HEADER = regex(r"(?i)^(?:< )?server: (?P<server>\S.*?)\s*$")
_REQUEST = r"\"(?:GET|POST|PUT|HEAD|DELETE|PATCH|OPTIONS|CONNECT) \S{1,2000} HTTP/[\d.]+\""
_ACCESS = regex(rf"{_REQUEST}\s+(?P<code>[1-5]\d\d)\b(?P<rest>.*)")
_SUCCESS = regex(r" HTTP/[\d.]+\" 2\d\d(?: [A-Z][A-Za-z -]{1,40})?$")
"""An access log's line of a request that went well, without its time: most lines of a long log, and none of them an event."""
_UVICORN = regex(r"^INFO:\s+\S+ - \"")
_REQUEST_TIME = regex(r"\b(?:rt|request_time|req_time|duration_s)\"?[=:]\s?\"?(?P<seconds>\d{1,15}(?:\.\d+)?)\b")
_INGRESS_TIME = regex(r"\" \d{1,15} (?P<seconds>\d{1,15}\.\d{3}) \[")
_ENVOY = regex(rf"{_REQUEST}\s+(?P<code>\d{{1,3}}) (?P<flags>[A-Z]{{2,6}}(?:,[A-Z]{{2,6}})*) (?P<rest>.*)")
_ENVOY_TIMES = regex(r"(?:^|\s)\d{1,15} \d{1,15} (?P<ms>\d{1,15}) (?:\d{1,15}|-)(?:\s|$)")
_ENVOY_JSON = regex(r"\"response_flags\"\s*:\s*\"(?P<flags>[A-Z]{2,6}(?:,[A-Z]{2,6})*)\"")
_JSON_CODE = regex(r"\"(?:response_code|status|status_code|upstream_status)\"\s*:\s*\"?(?P<code>[1-5]\d\d)\b")
_JSON_MS = regex(r"\"duration\"\s*:\s*\"?(?P<ms>\d{1,15})\b")
_HAPROXY_HTTP = regex(
    r"\s\S{1,128} [^\s/]{1,128}/\S{1,128} -?\d{1,15}/-?\d{1,15}/-?\d{1,15}/-?\d{1,15}/\+?(?P<ms>\d{1,15}) (?P<code>-1|\d{3}) \+?\d{1,15} \S+ \S+ (?P<flags>[A-Za-z-]{4}) \d{1,15}/\d{1,15}/\d{1,15}/\d{1,15}/"
)
_HAPROXY_TCP = regex(
    r"\s\S{1,128} [^\s/]{1,128}/\S{1,128} -?\d{1,15}/-?\d{1,15}/\+?(?P<ms>\d{1,15}) \+?\d{1,15} (?P<flags>[A-Za-z-]{2}) \d{1,15}/\d{1,15}/\d{1,15}/\d{1,15}/"
)
_HAPROXY_END = regex(r"[A-Za-z-]{2} \d{1,15}/\d{1,15}/\d{1,15}/\d{1,15}/")
"""The termination state and the counts of connections, which few other lines hold."""
_ALB = regex(
    r" app/\S{1,128} \S{1,64} \S{1,64} (?P<first>-1|\d{1,15}\.\d+) (?P<second>-1|\d{1,15}\.\d+) (?P<third>-1|\d{1,15}\.\d+) (?P<code>\d{3}) (?P<target>\d{3}|-) "
)
_ALB_FIELD = regex(r"\b(?:elb_status_code|lb_status|alb_status)\W{1,3}(?P<code>[1-5]\d\d)\b")
_ALB_TIME = regex(r"\b(?:request|target|response)_processing_time\W{1,3}(?P<seconds>\d{1,15}(?:\.\d+)?)\b")
_REASON = regex(
    r"(?i)(?<![\d.])(?P<code>408|429|499|50[0-4]|52[0-4])[:,]? (?:Server Error: |Client Error: )?(?P<reason>Bad Gateway|Gateway Time-?out|Service (?:Temporarily )?Unavailable"
    r"|Too Many Requests|Internal Server Error|Slow Down|Request Time-?out|Client Closed Request)"
)
_CODE_WORDS = regex(r"(?i)\b(?:error|status|response|http)[ _]?(?:status[ _]?)?code:?[ =:]\s?(?P<code>429|499|50[0-4])\b")
_MARKUP = regex(r"^\s*<")

_ENVOY_TOPICS = {
    "UF": "upstream-refused", "UC": "upstream-closed", "UR": "upstream-closed", "UPE": "upstream-closed", "LR": "upstream-closed",
    "UT": "upstream-timeout", "SI": "upstream-timeout", "UMSDR": "upstream-timeout", "DT": "upstream-timeout",
    "UO": "too-many-connections", "UH": "no-live-upstream", "NC": "no-live-upstream", "RL": "rate-limited", "DC": "client-closed",
}  # fmt: skip
"""Response flags of Envoy's access log, by its documentation; `URX` only says that retries did not help."""

_HAPROXY_TOPICS = {
    "sH": "upstream-timeout", "sD": "upstream-timeout", "sL": "upstream-timeout", "sC": "upstream-timeout", "sT": "upstream-timeout",
    "sQ": "too-many-connections", "SC": "upstream-refused", "SH": "upstream-closed", "SD": "upstream-closed", "SL": "upstream-closed",
    "cD": "client-closed", "cR": "client-closed", "cH": "client-closed", "CD": "client-closed", "CC": "client-closed",
    "CH": "client-closed", "CQ": "client-closed", "CR": "client-closed", "RC": "address-not-available",
}  # fmt: skip
"""First two letters of the termination state: who ended the session, and in which phase (HAProxy configuration.txt, 8.5)."""

_PHRASES: tuple[tuple[str, str, str | None], ...] = (
    (
        "upstream-timeout",
        r"upstream timed out \(110|upstream request timeout|\bbackend_timeout\b|response_timeout|UPSTREAM_RESPONSE_TIMEOUT",
        None,
    ),
    ("no-live-upstream", r"no live upstreams|no healthy upstream|has no server available|\bbackend \S+ has no server", None),
    (
        "too-many-connections",
        r"worker_connections are not enough|reset[ _]reason:[ _]overflow|before_response_started\{overflow\}|reached (?:process )?(?:maxconn|FD limit)|limiting connections by zone",
        None,
    ),
    ("too-many-files", r"\(24: Too many open files\)", None),
    (
        "rate-limited",
        r"limiting requests, excess|TOOMANYREQUESTS|toomanyrequests|pull rate limit|\bSlowDown\b|reduce your request rate|RequestLimitExceeded",
        None,
    ),
    ("body-buffered", r"client request body is buffered to a temporary file", "nginx"),
    ("response-buffered", r"upstream response is buffered to a temporary file", "nginx"),
    (
        "upstream-refused",
        r"connect\(\) failed \(11[13]: .*while connecting to upstream|reset reason: (?:remote )?connection failure|\bfailed_to_connect_to_backend\b",
        None,
    ),
    (
        "upstream-closed",
        r"upstream prematurely closed connection|(?:recv|writev|send)\(\) failed \((?:104|32): .*upstream|upstream_reset_before_response_started"
        r"|reset reason: connection termination|\bbackend_connection_closed\w*|Remote end closed connection without response"
        r"|Server disconnected without sending a response|ServerDisconnectedError|http: server closed idle connection|\bsocket hang up\b",
        None,
    ),
    (
        "stream-cut",
        r"ERR_HTTP2_PROTOCOL_ERROR|ERR_INCOMPLETE_CHUNKED_ENCODING|incomplete chunked read|\bIncompleteRead\b|TransferEncodingError"
        r"|curl: \((?:18|92)\)",
        None,
    ),
    ("client-closed", r"client prematurely closed connection|epoll_wait\(\) reported that client", "nginx"),
    ("address-in-use", r"(?i:\b(?:EADDRINUSE|address already in use)\b)", None),
    ("address-not-available", r"(?i:\bEADDRNOTAVAIL\b|cannot assign requested address)", None),
    ("worker-timeout", r"\bWORKER TIMEOUT \(pid:", "gunicorn"),
)
_PHRASE_SHAPES = tuple((topic, regex(shape), server) for topic, shape, server in _PHRASES)
_PHRASE_HINTS = (
    "upstream", "UPSTREAM", "reset_reason", "backend", "worker_connections", "reset reason", "reached", "limiting", "Too many open", "TOOMANY", "toomany",
    "rate limit", "SlowDown", "educe your", "RequestLimit", "response_timeout", "request body", "Remote end", "isconnected", "idle connection",
    "hang up", "ERR_", "ncomplete", "TransferEncoding", "curl: (", "prematurely", "epoll_wait", "EADDR", "ddress", "WORKER TIMEOUT",
)  # fmt: skip
"""Every phrase holds one of these; the other lines of a long log are passed over quickly."""
_NGINX_LINE = regex(r"^\d{4}/\d\d/\d\d \d\d:\d\d:\d\d \[\w+\] \d{1,15}#\d{1,15}: ")
_MARKS: tuple[re.Pattern[str] | str, ...] = (
    r"HTTP/(?:1\.[01]|2(?:\.0)?|3) [1-5]\d\d\b",
    rf"{_REQUEST}\s+\d",
    r"\"response_flags\"",
    r" app/\S{1,128} \S{1,64} \S{1,64} (?:-1|\d{1,15}\.\d+) ",
    *(shape for _, shape, _ in _PHRASES),
    _ALB_FIELD,
    _REASON,
    _CODE_WORDS,
    _HAPROXY_END,
)


@dataclass(slots=True)
class _Reply:
    """A status line whose headers are still being read."""

    event: ServerEvent | None = None
    lines_left: int = 0
    last_code: int | None = field(default=None)
    """Status of the reply whose body may follow: an error page repeats it."""


def _read(lines: Lines) -> Iterator[Record | Problem]:
    reply = _Reply()
    for index, line in lines:
        if reply.event is None and _SUCCESS.search(line):
            continue
        row = quote(lines, index, line)
        header = _SERVER_HEADER.match(line)
        if reply.event is not None:
            if header:
                yield _with_server(reply.event, header["server"], row)
                reply.event = None
                continue
            reply.lines_left -= 1
            if not line.strip() or reply.lines_left <= 0:
                yield reply.event
                reply.event = None
        event = _event(lines, row, reply)
        if event is None:
            continue
        if _STATUS_LINE.search(line):
            if reply.event is not None:
                yield reply.event
            reply = _Reply(event=event, lines_left=MOST_HEADER_LINES, last_code=event.status_code)
        else:
            yield event
    if reply.event is not None:
        yield reply.event


def _with_server(event: ServerEvent, server: str, row: Quote) -> ServerEvent:
    return msgspec.structs.replace(event, server=server, quotes=(*event.quotes, row))


def _event(lines: Lines, row: Quote, reply: _Reply) -> ServerEvent | None:
    """What the line says; the most telling shape decides."""
    found = _from_haproxy(row.text) or _from_envoy(row.text) or _from_phrase(row.text) or _from_status(row.text, reply)
    if found is None:
        return None
    topic, code, server, duration_s = found
    return ServerEvent(
        source=source(lines, server or "server"),
        quotes=(row,),
        topic=topic,
        message=row.text.strip()[:MOST_MESSAGE_CHARACTERS],
        status_code=code,
        server=server,
        duration_s=duration_s,
    )


def _from_haproxy(line: str) -> tuple[str, int | None, str | None, float | None] | None:
    found = (_HAPROXY_HTTP.search(line) or _HAPROXY_TCP.search(line)) if _HAPROXY_END.search(line) else None
    if found is None:
        return None
    groups = found.groupdict()
    code = int(groups["code"]) if groups.get("code") and groups["code"] != "-1" else None
    topic = _HAPROXY_TOPICS.get(found["flags"][:2], _status_topic(code))
    return topic, code, "haproxy", int(found["ms"]) / 1e3


def _from_envoy(line: str) -> tuple[str, int | None, str | None, float | None] | None:
    found = _ENVOY.search(line)
    if found:
        times = _ENVOY_TIMES.search(found["rest"])
        code = int(found["code"])
        return _envoy_topic(found["flags"], code), code or None, "envoy", int(times["ms"]) / 1e3 if times else None
    logged = _ENVOY_JSON.search(line)
    if logged is None:
        return None
    status, duration = _JSON_CODE.search(line), _JSON_MS.search(line)
    logged_code = int(status["code"]) if status else None
    return _envoy_topic(logged["flags"], logged_code), logged_code, "envoy", int(duration["ms"]) / 1e3 if duration else None


def _envoy_topic(flags: str, code: int | None) -> str:
    known = [_ENVOY_TOPICS[flag] for flag in flags.split(",") if flag in _ENVOY_TOPICS]
    return known[0] if known else _status_topic(code)


def _from_phrase(line: str) -> tuple[str, int | None, str | None, float | None] | None:
    if not any(hint in line for hint in _PHRASE_HINTS):
        return None
    for topic, shape, server in _PHRASE_SHAPES:
        if shape.search(line):
            reason = _REASON.search(line)
            return topic, int(reason["code"]) if reason else None, "nginx" if _NGINX_LINE.match(line) else server, None
    return None


def _from_status(line: str, reply: _Reply) -> tuple[str, int | None, str | None, float | None] | None:
    if status := _STATUS_LINE.search(line):
        code = int(status["code"])
        return _status_topic(code), code, None, None
    if access := _ACCESS.search(line):
        code = int(access["code"])
        time = _REQUEST_TIME.search(access["rest"]) or _INGRESS_TIME.search(access["rest"])
        if code <= WORST_GOOD_STATUS and time is None:
            return None
        return _status_topic(code), code, "uvicorn" if _UVICORN.match(line) else None, float(time["seconds"]) if time else None
    if balancer := _ALB.search(line):
        code = int(balancer["code"])
        times = [float(balancer[name]) for name in ("first", "second", "third")]
        return _status_topic(code), code, "awselb", round(sum(time for time in times if time > 0), 6)
    if named := _ALB_FIELD.search(line):
        code = int(named["code"])
        return _status_topic(code), code, "awselb", sum(float(time) for time in _ALB_TIME.findall(line)) or None
    reason = _REASON.search(line) or _CODE_WORDS.search(line)
    if reason is None:
        return None
    code = int(reason["code"])
    if "slow down" in reason[0].lower():
        return "rate-limited", code, None, None
    if _MARKUP.match(line) and (code == reply.last_code or "<title>" not in line):
        return None
    return _status_topic(code), code, None, None


def _status_topic(code: int | None) -> str:
    return {429: "rate-limited", 499: "client-closed"}.get(code or 0, "status")


READER = Reader(
    title=Text(en="lines of servers, proxies and registries", zh="服务器、代理与镜像仓库日志"),
    gives=(ServerEvent,),
    recognises=marked(*_MARKS),
    read=_read,
    obtained_by=("tail -n 1000 /var/log/nginx/error.log", "curl -sI URL"),
    voice="loose",
    needs_every_line=True,  # one failure among a thousand requests differs in its status alone
)
