"""A proxy collects the streamed answer and passes it on in blocks or at the end."""

from wirespeed.diagnosis.joins.flows import told
from wirespeed.diagnosis.joins.pieces import ALONE, MOST_COMPARED, against, configured, piece
from wirespeed.diagnosis.joins.streams import held_at_one_place
from wirespeed.model.case import Case
from wirespeed.model.finding import FAIR, PROVES, SLIGHT, STRONG, Change, Check, Evidence, LookAlike, Verdict, supports
from wirespeed.model.flows import TcpFlow
from wirespeed.model.kinds import Explain, Rule, wants
from wirespeed.model.measurement import HttpTiming, ServingMetric
from wirespeed.model.settings import Directive, Statement, Table
from wirespeed.model.text import Text

STREAM_HELD_RATIO = 0.95
"""First byte this late in the whole time means that nothing was streamed."""
STREAM_FLOWS_RATIO = 0.3
"""First byte this early means that the answer was streamed."""
LATER_TIMES = 3.0
FEWEST_PIECES = 5
LUMP_RATIO = 0.2
LEAST_TOTAL_S = 1.0
"""A shorter answer cannot show whether it was streamed."""


def _first_byte_ratio(one: HttpTiming) -> float | None:
    if one.starttransfer_s is None or one.total_s is None or one.total_s < LEAST_TOTAL_S:
        return None
    return one.starttransfer_s / one.total_s


def _clumped(case: Case) -> list[tuple[ServingMetric, ServingMetric]]:
    """First-token times of two ways where the slower one has the shorter time between tokens: they arrive together."""
    first = {one.at: one for one in case.every(ServingMetric, name="ttft_s")}
    gaps = {one.at: one.value for one in case.every(ServingMetric, lambda it: it.name in ("itl_s", "tpot_s"))}
    ways = [one for at, one in first.items() if at in gaps][:MOST_COMPARED]
    return [
        (fast, slow)
        for fast in ways
        for slow in ways
        if slow.value >= LATER_TIMES * fast.value and gaps[slow.at] < 0.7 * gaps[fast.at] and "concurren" not in slow.at
    ]


def _captured(case: Case) -> list[Evidence]:
    """Both legs of a proxy in one capture: pieces come in behind it, and one lump goes out in front when the last has come."""
    streamed = case.every(
        TcpFlow, lambda one: (one.answer_s or 0.0) >= LEAST_TOTAL_S and (one.answer_steps_count or 0) >= FEWEST_PIECES
    )
    for behind in streamed[:MOST_COMPARED]:
        for front in case.every(TcpFlow, lambda one, host=behind.client.address: one.server.address == host):  # type: ignore[misc]
            if _is_held_until(front, behind):
                return list(
                    told(
                        _LEGS,
                        PROVES,
                        [behind, front],
                        "request",
                        "response",
                        pieces=str(behind.answer_steps_count),
                        answer_s=behind.answer_s,
                    )
                )
    return list(against(_PIECES, FAIR, streamed))


def _is_held_until(front: TcpFlow, behind: TcpFlow) -> bool:
    """Whether the front leg waited for as long as the back leg streamed, and then passed it on in a fraction of that time."""
    streamed_s = behind.answer_s or 0.0
    is_one_lump = front.answer_s is not None and front.answer_s <= LUMP_RATIO * streamed_s
    return is_one_lump and (front.first_byte_max_s or 0.0) >= (1 - LUMP_RATIO) * streamed_s


def _judge(case: Case) -> Verdict:
    timings = [(one, ratio) for one in case.every(HttpTiming) if (ratio := _first_byte_ratio(one)) is not None]
    held = [one for one, ratio in timings if ratio >= STREAM_HELD_RATIO]
    flowing = [one for one, ratio in timings if ratio <= STREAM_FLOWS_RATIO]
    in_one_piece = case.said("stream-in-one-piece")
    evidence: list[Evidence] = []
    if held and flowing:
        evidence.append(supports(_HELD_HERE, PROVES, held[0], flowing[0], first_s=held[0].starttransfer_s, total_s=held[0].total_s))
    else:
        evidence += piece(_HELD, FAIR, held)
        evidence += against(_FLOWS, FAIR, flowing)
    evidence += _captured(case)
    for direct, proxied in _clumped(case)[:1]:
        evidence.append(supports(_CLUMPED, STRONG, direct, proxied, direct_s=direct.value, proxied_s=proxied.value))
    by_place = held_at_one_place(case)
    if by_place:
        evidence.append(supports(_AT_ONE_PLACE, STRONG, by_place[0], held_ratio=by_place[1], flowing_ratio=by_place[2]))
    evidence += piece(_ONE_PIECE, ALONE, in_one_piece)
    if in_one_piece or held or by_place:
        evidence += piece(_DIRECT, FAIR, case.said("direct-is-fine"))
        evidence += piece(_SAYS_BUFFERS, FAIR, case.said("proxy-buffers"))
        switched_on = [one.record for one in configured(case, r"^proxy_buffering$") if one.setting == "on"]
        evidence += piece(_ON, FAIR, switched_on)
        evidence += piece(_BEHIND, SLIGHT, [*case.every(Directive, name="proxy_pass"), *case.said("through-proxy")])
    evidence += against(_OFF, FAIR, [one.record for one in configured(case, r"^proxy_buffering$") if one.setting == "off"])
    evidence += against(_NO_PROXY, STRONG, case.said("no-proxy-between"))
    evidence += against(_COMPRESSED, FAIR, case.said("compression-on"))
    return Verdict(evidence=tuple(evidence))


_LEGS = Text(
    en="behind the proxy the answer comes in {pieces} pieces over {answer_s}, in front of it all at once at the end",
    zh="代理后侧的回答在 {answer_s} 内分 {pieces} 次到达，前侧则在最后一次性到达",
)
_PIECES = Text(en="in the capture an answer arrives piece by piece", zh="抓包中的回答逐片到达")
_HELD_HERE = Text(
    en="one way the first byte comes after {first_s} of {total_s}, the other way at once",
    zh="一条路径首字节在 {total_s} 中的 {first_s} 才到，另一条立刻就到",
)
_CLUMPED = Text(
    en="the first token comes after {proxied_s} instead of {direct_s}, yet tokens follow each other faster: they arrive in clumps",
    zh="首个词元在 {proxied_s} 而非 {direct_s} 后到达，但词元间隔更短：它们成批到达",
)
_HELD = Text(en="the first byte comes only at the end of the answer", zh="首字节在回答结束时才到")
_FLOWS = Text(en="the first byte comes long before the end: the answer is streamed", zh="首字节远早于结束：回答是流式的")
_ONE_PIECE = Text(en="the stream arrives in one piece or in blocks", zh="流一次性或成块到达")
_DIRECT = Text(en="without the proxy it streams", zh="绕过代理即可流式输出")
_SAYS_BUFFERS = Text(en="the proxy is said to buffer", zh="有人指出代理在缓冲")
_ON = Text(en="proxy buffering is switched on", zh="代理缓冲已开启")
_BEHIND = Text(en="a proxy is in between", zh="中间有代理")
_OFF = Text(en="proxy buffering is off", zh="代理缓冲已关闭")
_NO_PROXY = Text(en="no proxy is in between", zh="中间没有代理")
_COMPRESSED = Text(en="compression is on, which holds events too", zh="启用了压缩，压缩也会扣住事件")
_AT_ONE_PLACE = Text(
    en="at one place the first token comes after {held_ratio} of the whole time, at another after {flowing_ratio}",
    zh="一处首词元在总时间的 {held_ratio} 处到达，另一处在 {flowing_ratio}",
)

RULE = Rule(
    cause="proxy-buffering",
    title=Text(en="A proxy buffers the token stream", zh="代理缓冲了词元流"),
    summary=Text(
        en="The server streams, but the proxy collects its answer before passing it on, so the user waits for blocks or for the whole answer.",
        zh="服务器在流式输出，但代理先收集再转发，用户只能等到一块或整个回答。",
    ),
    needs=(
        (HttpTiming,),
        (wants(TcpFlow, lambda one: (one.answer_s or 0.0) >= LEAST_TOTAL_S),),
        (wants(ServingMetric, lambda one: one.name == "itl_s"),),
        (wants(Directive, lambda one: one.name in ("proxy_pass", "proxy_buffering")),),
        (wants(Table, lambda one: len(one.columns) > 3),),
        (Statement,),
    ),
    judge=_judge,
    explain=Explain(
        what=Text(
            en="nginx reads an HTTP/1.0 or close-delimited upstream into buffers of 4 or 8 KiB and sends when one is full; short events wait for their buffer.",
            zh="nginx 以 4 或 8 KiB 的缓冲读取上游，装满才发送；短事件要等缓冲装满。",
        ),
        shows=Text(
            en="Time to first byte near the total time through the proxy and near zero directly; events in bursts of 4 KiB.",
            zh="经代理时首字节时间接近总时间，直连时接近零；事件按 4 KiB 成批到达。",
        ),
        sources=(
            "nginx ngx_http_proxy_module, proxy_buffering (on by default)",
            "measured: nginx loopback, 30 events a read against 1",
            "nginx X-Accel-Buffering",
        ),
    ),
    told_apart_from=(
        LookAlike(
            cause="proxy-compression-buffering",
            because=Text(
                en="compression holds events without any proxy, and asking for identity encoding frees them",
                zh="压缩在没有代理时也会扣住事件，请求 identity 编码即可放行",
            ),
        ),
        LookAlike(
            cause="server-saturated", because=Text(en="a slow server is slow when asked directly too", zh="服务器慢时直连也慢")
        ),
    ),
    changes=(
        Change(
            what=Text(
                en="Switch buffering off for streamed routes, or let the server send X-Accel-Buffering: no",
                zh="对流式路由关闭缓冲，或由服务器发送 X-Accel-Buffering: no",
            ),
            commands=("proxy_buffering off;", "proxy_http_version 1.1;", 'proxy_set_header Connection "";'),
            side="serving",
        ),
    ),
    checks=(
        Check(
            what=Text(en="Time to first byte through the proxy equals the direct one", zh="经代理的首字节时间与直连相同"),
            commands=("curl -N -s -o /dev/null -w 'ttfb %{{time_starttransfer}} total %{{time_total}}\\n' URL",),
        ),
    ),
    gain=Text(en="The first token arrives when the server makes it", zh="首个词元在服务器生成时即到达"),
    severity="high",
    explains=("gateway-timeout-too-short",),
)
