"""A hop gives up waiting for the next byte before the server has sent it."""

from wirespeed.diagnosis.joins.flows import place, told
from wirespeed.diagnosis.joins.pieces import ALONE, configured, duration_in_s, is_setting_named, piece, quantities, said_s
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
    Value,
    Verdict,
    contradicts,
    supports,
)
from wirespeed.model.flows import TcpFlow
from wirespeed.model.kinds import Explain, Rule, wants
from wirespeed.model.measurement import HttpTiming
from wirespeed.model.record import Record
from wirespeed.model.settings import Directive, Setting, Statement
from wirespeed.model.text import Text

_READ_TIMEOUT = r"proxy_read_timeout|read_timeout|response_timeout|request_timeout|timeout_(?:server|client|http_keep_alive)$|^timeout$|stream_idle_timeout|route.*timeout|idle_timeout|idle_time_out|backend.*timeout|proxy_send_timeout|grpc_read_timeout|uwsgi_read_timeout|timeout_sec"
_NAMED_TIMEOUT = r"(?<!keep-alive )(?<!keepalive )time-?out\W{0,3}(?:is |of |= ?|after |set to |at )?$"
_NAMED_WAIT = r"(?:takes|took|ttft|ttfb|first (?:token|byte)|needs|lasts|generation|prefill|latency|duration|completed in|answers? in|finish\w* (?:in|after)|is|in)\W{0,3}(?:about |around |then is )?$"
LONGEST_TIMEOUT_S = 3600.0
LEAST_IN_MS = 10_000.0
"""A bare number from here on is in milliseconds (Kong, Node, HAProxy): nobody waits three hours for a byte."""
ROUND_TIMES_S = (5.0, 10.0, 15.0, 20.0, 30.0, 60.0, 90.0, 100.0, 120.0, 180.0, 300.0, 600.0, 900.0)
LEAST_CUT_S, FEWEST_CUTS_COUNT, SAME_CUT_RATIO = 4.0, 2, 0.01
LATE_RATIO = 0.01
"""Timers run out a little late and never early."""
CLOSE_RATIO = 0.05
"""A failure within 5 % of a configured timeout is that timeout."""


def _timeouts(case: Case) -> list[tuple[Record, float]]:
    found: list[tuple[Record, float]] = [(one.record, one.duration_s) for one in configured(case, _READ_TIMEOUT) if one.duration_s]
    haproxy = [(one, duration_in_s(one.arguments[1])) for one in case.every(Directive, _is_haproxy_timeout)]
    found += [(one, seconds) for one, seconds in haproxy if seconds]
    found += [(one, seconds) for one in case.said("proxy-read-timeout") if (seconds := said_s(one))]
    found += [(one, one.value) for one in quantities(case, "time", _NAMED_TIMEOUT)]
    as_seconds = [(one, time_s / 1000.0 if time_s >= LEAST_IN_MS else time_s) for one, time_s in found]
    return [one for one in as_seconds if one[1] <= LONGEST_TIMEOUT_S]


def _is_haproxy_timeout(one: Directive) -> bool:
    """HAProxy's limits on silence: `timeout client 45s`, `timeout server 45s`; the tunnel's is for upgraded connections only."""
    return (
        one.server == "haproxy" and one.name == "timeout" and len(one.arguments) == 2 and one.arguments[0] in ("client", "server")
    )


def _gave_up_after_s(flow: TcpFlow) -> float | None:
    """The round time after which a client closed a connection whose request had no answer; None where it did not."""
    if flow.ended not in ("client-fin", "client-reset") or flow.waiting_s is None or flow.server.filled_count:
        return None
    return next((limit_s for limit_s in ROUND_TIMES_S if 0 <= flow.waiting_s - limit_s <= LATE_RATIO * limit_s), None)


def _round_s(time_s: float | None) -> float | None:
    """The round time that this is, or is a little past."""
    return next((limit_s for limit_s in ROUND_TIMES_S if time_s and 0 <= time_s - limit_s <= LATE_RATIO * limit_s), None)


def _cut_alike(case: Case) -> list[HttpTiming]:
    """Requests of several seconds that ended after one and the same time, where a client says that the body was cut."""
    cut = case.every(ServerEvent, topic="stream-cut")
    timed = sorted(case.every(HttpTiming, lambda one: (one.total_s or 0.0) >= LEAST_CUT_S), key=lambda one: one.total_s or 0.0)
    if not cut or len(timed) < FEWEST_CUTS_COUNT:
        return []
    lowest, highest = timed[0].total_s or 0.0, timed[-1].total_s or 0.0
    return timed if highest - lowest <= SAME_CUT_RATIO * lowest else []


def _slower_heartbeat(case: Case, timeouts: list[tuple[Record, float]]) -> tuple[Record, Record, float, float] | None:
    """A sign of life that is sent less often than a hop waits for one."""
    beats = [(one, seconds) for one in case.said("heartbeat-every") if (seconds := said_s(one))]
    most = max(beats, key=lambda one: one[1], default=None)
    shorter = [one for one in timeouts if most and LEAST_CUT_S <= one[1] < most[1]]
    return (shorter[0][0], most[0], most[1], shorter[0][1]) if most and shorter else None


def _judge(case: Case) -> Verdict:
    timeouts = _timeouts(case)
    least = min(timeouts, key=lambda one: one[1], default=None)
    waits: list[tuple[Record, float]] = [(one, seconds) for one in case.said("slow-first-byte") if (seconds := said_s(one))]
    waits += [(one, one.value) for one in quantities(case, "time", _NAMED_WAIT)]
    cuts = case.said("cut-at-round-time")
    errors: list[Record] = [
        *case.said("gateway-timed-out"),
        *case.every(ServerEvent, lambda one: one.status_code in (504, 524) or one.topic == "upstream-timeout"),
    ]
    evidence: list[Evidence] = []
    values: dict[str, Value] = {"timeout_s": least[1] if least else None}
    cut_here = [
        (one, timeout)
        for one in cuts
        for timeout in timeouts
        if (seconds := said_s(one)) and abs(seconds - timeout[1]) <= CLOSE_RATIO * timeout[1]
    ]
    if cut_here:
        values = {"timeout_s": cut_here[0][1][1]}
        evidence.append(supports(_CUT_HERE, STRONG, cut_here[0][1][0], cut_here[0][0], **values))
    else:
        evidence += piece(_CUT, ALONE, cuts)
    evidence += piece(_ERRORS, ALONE, errors)
    round_ends = [one for one in errors if isinstance(one, ServerEvent) and _round_s(one.duration_s) is not None]
    evidence += piece(_ROUND, FAIR, round_ends, ended_s=max((one.duration_s or 0.0 for one in round_ends), default=None))
    alike = _cut_alike(case)
    evidence += piece(_ALIKE, STRONG, alike, total_s=max((one.total_s or 0.0 for one in alike), default=None))
    heartbeat = _slower_heartbeat(case, timeouts)
    if heartbeat:
        evidence.append(supports(_HEARTBEAT, STRONG, *heartbeat[:2], beat_s=heartbeat[2], timeout_s=heartbeat[3]))
        evidence += piece(_SLOW_BEAT_CUT, SLIGHT, case.said("stream-ends-early"))
    given_up = [(one, limit_s) for one in case.every(TcpFlow) if (limit_s := _gave_up_after_s(one)) is not None]
    if given_up:
        flow, limit_s = given_up[0]
        values = {"timeout_s": values["timeout_s"] or limit_s}
        evidence += told(
            _GAVE_UP,
            FAIR,
            [one for one, _ in given_up],
            "request",
            "closed",
            "reset",
            client=place(flow.client),
            server=place(flow.server),
            waiting_s=flow.waiting_s,
        )
    if least and (slower := [one for one in waits if one[1] > least[1]]):
        evidence.append(supports(_SLOWER, FAIR, least[0], slower[0][0], timeout_s=least[1], wait_s=slower[0][1]))
    elif least and waits and not cuts and not errors:
        evidence.append(contradicts(_FASTER, FAIR, least[0], waits[0][0], timeout_s=least[1]))
    if evidence:
        evidence += piece(_FINISHES, SLIGHT, case.said("server-finishes-anyway"))
    return Verdict(evidence=tuple(evidence), values=values)


_GAVE_UP = Text(
    en="{client} closed its connection to {server} when its request had waited {waiting_s}, a round time",
    zh="{client} 的请求等待 {waiting_s}（整数时间）后，它关闭了到 {server} 的连接",
)
_ROUND = Text(en="the hop ended it after {ended_s}, a round time", zh="该跳在 {ended_s} 后结束了它，是整数时限")
_ALIKE = Text(en="bodies are cut after one and the same time, {total_s}", zh="响应体都在同一时间 {total_s} 后被截断")
_HEARTBEAT = Text(
    en="a sign of life comes every {beat_s}, the hop waits for {timeout_s}", zh="每 {beat_s} 才有一次心跳，而该跳只等 {timeout_s}"
)
_SLOW_BEAT_CUT = Text(en="streams end early", zh="流提前结束")
_CUT_HERE = Text(
    en="requests are cut at {timeout_s}, which is a configured timeout", zh="请求在 {timeout_s} 被切断，恰为某个已配置的超时"
)
_CUT = Text(en="requests are cut at a round time", zh="请求在整数时间被切断")
_ERRORS = Text(en="a hop reports that it timed out or cut the stream", zh="某一跳报告超时或切断了流")
_SLOWER = Text(en="the server needs {wait_s}, a hop waits {timeout_s}", zh="服务器需要 {wait_s}，某一跳只等 {timeout_s}")
_FASTER = Text(en="the server answers within the shortest timeout of {timeout_s}", zh="服务器在最短超时 {timeout_s} 内应答")
_FINISHES = Text(en="the server finishes the request all the same", zh="服务器仍完成了请求")

RULE = Rule(
    cause="gateway-timeout-too-short",
    title=Text(en="A gateway's timeout is shorter than the answer takes", zh="网关超时短于回答所需时间"),
    summary=Text(
        en="A hop closes the request when no byte came for its timeout, while the server is still working on a long prompt.",
        zh="某一跳在其超时内没收到字节就关闭请求，而服务器仍在处理长提示。",
    ),
    needs=(
        (wants(Setting, lambda one: is_setting_named(one, _READ_TIMEOUT)),),
        (wants(Directive, lambda one: is_setting_named(one, _READ_TIMEOUT) or _is_haproxy_timeout(one)),),
        (wants(ServerEvent, lambda one: one.status_code in (504, 524) or one.topic == "upstream-timeout"),),
        (wants(TcpFlow, lambda one: one.waiting_s is not None or one.first_byte_max_s is not None),),
        (Statement,),
    ),
    judge=_judge,
    explain=Explain(
        what=Text(
            en="Read timeouts count silence between two bytes. Prefill of a long prompt, a queue or a tool call is silence.",
            zh="读超时计的是两个字节之间的静默。长提示的预填充、排队或工具调用都是静默。",
        ),
        shows=Text(
            en="504, 524 or a broken stream at 30, 60, 100 or 300 s exactly; the server logs 200 later.",
            zh="恰在 30、60、100 或 300 s 出现 504、524 或断流；服务器随后记录 200。",
        ),
        sources=(
            "nginx proxy_read_timeout (60 s)",
            "AWS ALB idle timeout (60 s)",
            "Cloudflare error 524 (100 s)",
            "Envoy route timeout (15 s), stream_idle_timeout (5 min)",
        ),
    ),
    told_apart_from=(
        LookAlike(
            cause="keepalive-timeout-reset",
            because=Text(
                en="that fails at once on a reused connection, not after a round time",
                zh="那是在复用连接上立即失败，而不是在整数时间后",
            ),
        ),
        LookAlike(
            cause="server-saturated",
            because=Text(
                en="if the server never finishes, a longer timeout only moves the failure",
                zh="若服务器始终不完成，加长超时只是推迟失败",
            ),
        ),
    ),
    changes=(
        Change(
            what=Text(
                en="Raise the read timeout of every hop above the longest first-token time, the outermost hop the longest",
                zh="把每一跳的读超时提高到最长首词元时间以上，最外层最长",
            ),
            commands=("proxy_read_timeout 600s;", 'nginx.ingress.kubernetes.io/proxy-read-timeout: "600"'),
            side="serving",
        ),
        Change(
            what=Text(
                en="Send a comment line of SSE every 15 s while the model is silent", zh="模型静默时每 15 s 发送一行 SSE 注释"
            ),
            side="serving",
        ),
    ),
    checks=(Check(what=Text(en="The longest prompt completes through every hop", zh="最长的提示能穿过所有跳完成")),),
    gain=Text(en="Long prompts complete instead of failing and being retried", zh="长提示得以完成，而不是失败重试"),
    severity="high",
)
