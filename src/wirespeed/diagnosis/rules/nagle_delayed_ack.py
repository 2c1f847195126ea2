"""Small writes wait for the acknowledgement of the one before, which the receiver delays by 40 ms."""

import re

from wirespeed.diagnosis.joins.flows import told, with_side
from wirespeed.diagnosis.joins.pieces import (
    ALONE,
    MOST_COMPARED,
    against,
    configured,
    is_setting_named,
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
    supports,
)
from wirespeed.model.flows import TcpFlow
from wirespeed.model.kinds import Explain, Rule, wants
from wirespeed.model.measurement import (
    HttpTiming,
)
from wirespeed.model.series import FlowSummary
from wirespeed.model.settings import CodeCall, Quantity, Statement, Table
from wirespeed.model.source import Quote
from wirespeed.model.text import Text
from wirespeed.theory import requests

_NO_DELAY = r"no_?delay|quickack"
SMALL_BYTES = 1448.0
_TIME_CELL = re.compile(r"^[~≈]?\s*(\d+(?:\.\d+)?)\s*(us|µs|ms|s)$")
_MS = {"us": 1e-3, "µs": 1e-3, "ms": 1.0, "s": 1e3}
MOST_SMALL_BYTES = 1e6
DELAYED_S = (0.035, 0.25)
"""A delayed acknowledgement takes 40 ms on Linux and 200 ms on Windows, BSD and small stacks (RFC 1122 allows 500)."""
HELD_MS = (38.0, 45.0)
FEWEST_ROWS_COUNT = 2
FEWEST_HELD_COUNT = 3
FEWEST_SAMPLES_COUNT = 20
WAITING_RATIO = 0.15
"""40 ms of every request's time; requests every quarter of a second already show this share."""
_SIZE = re.compile(r"(?i)(?<![\w.])(\d+(?:\.\d+)?)\s*(k|ki|m)?b\b")


def _answer_bytes(one: HttpTiming) -> float | None:
    found = _SIZE.search(one.label)
    if found:
        return float(found[1]) * {"": 1.0, "k": 1e3, "ki": 1024.0, "m": 1e6}[(found[2] or "").lower()]
    return one.size_bytes


def _inversions(case: Case) -> list[tuple[HttpTiming, HttpTiming, float]]:
    sized = [(size, one) for one in case.every(HttpTiming) if (size := _answer_bytes(one)) and one.total_s][:MOST_COMPARED]
    found = []
    for small_bytes, small in sized:
        for large_bytes, large in sized:
            extra_s = (small.total_s or 0.0) - (large.total_s or 0.0)
            if small_bytes < large_bytes / 10 and 0.03 <= extra_s <= 0.25:
                found.append((small, large, extra_s))
    return found


def _smaller_is_later(case: Case) -> tuple[Quantity, Quantity, str, str] | None:
    """Two lines, each with one size and one time, of which the smaller size takes the time of a delayed acknowledgement more."""
    sizes: dict[Quote, list[Quantity]] = {}
    times: dict[Quote, list[Quantity]] = {}
    for one in case.every(Quantity, lambda one: bool(one.quotes) and one.dimension in ("size", "time")):
        (sizes if one.dimension == "size" else times).setdefault(one.quotes[0], []).append(one)
    rows = [(sizes[line][0], times[line][0]) for line in sizes if len(sizes[line]) == 1 and len(times.get(line, ())) == 1]
    for small, late in rows[:MOST_COMPARED]:
        for large, early in rows[:MOST_COMPARED]:
            extra_s = late.value - early.value
            if (
                small.value < large.value <= MOST_SMALL_BYTES
                and late.value >= 2 * early.value
                and DELAYED_S[0] <= extra_s <= DELAYED_S[1]
            ):
                return late, early, small.printed, large.printed
    return None


def _constant_extra(table: Table) -> bool:
    """Whether two times of every row lie a delayed acknowledgement apart, whatever the row's own time is."""
    rows = [_times_ms(row) for row in table.rows]
    timed = [times for times in rows if len(times) >= 2]
    held = [times for times in timed if HELD_MS[0] <= times[-1] - times[0] <= HELD_MS[1]]
    return (
        len(held) >= FEWEST_ROWS_COUNT and len(held) == len(timed) and max(one[0] for one in held) > 2 * min(one[0] for one in held)
    )


def _times_ms(row: tuple[str, ...]) -> list[float]:
    found = [match for cell in row if (match := _TIME_CELL.match(cell))]
    return sorted(float(match[1]) * _MS[match[2]] for match in found)


def _judge(case: Case) -> Verdict:
    evidence: list[Evidence] = []
    for small, large, extra_s in _inversions(case)[:1]:
        evidence.append(supports(_INVERTED, STRONG, small, large, extra_s=extra_s))
    held = [one for one in case.every(HttpTiming) if _held_s(one) is not None]
    waiting = [one for one in case.every(FlowSummary) if _waits_with_a_piece(one)]
    evidence += piece(
        _WAITING, STRONG + FAIR, waiting, share_ratio=max((one.held_back_ratio or 0.0 for one in waiting), default=None)
    )
    kept = with_side(case, lambda flow, sender, receiver: sender.held_back_count >= FEWEST_HELD_COUNT)
    evidence += told(
        _KEPT,
        STRONG + FAIR,
        [flow for flow, _, _ in kept],
        "held-back",
        held_count=max((one.held_back_count for _, one, _ in kept), default=0),
        held_s=max((one.held_back_s or 0.0 for _, one, _ in kept), default=None),
    )
    if not evidence:
        evidence += piece(_HELD, FAIR, held)
    evidence += piece(_EXTRA, STRONG, [one for one in case.every(Table) if _constant_extra(one)])
    smaller = _smaller_is_later(case)
    if smaller:
        evidence.append(
            supports(
                _SMALLER,
                STRONG,
                *smaller[:2],
                small_text=smaller[2],
                large_text=smaller[3],
                extra_s=smaller[0].value - smaller[1].value,
            )
        )
    evidence += piece(_FORTY, ALONE, case.said("forty-milliseconds"))
    evidence += piece(_INVERTED_SAID, ALONE, case.said("small-slower-than-big"))
    if evidence:
        evidence += piece(_NAGLE, FAIR, case.said("nagle"))
    set_on = [one.record for one in configured(case, _NO_DELAY) if re.search(r"1|true|on\b", one.setting.lower())]
    evidence += against(_SET, FAIR, set_on)
    evidence += against(_PIECE, FAIR, case.said("stream-in-one-piece"))
    return Verdict(evidence=tuple(evidence))


def _waits_with_a_piece(flow: FlowSummary) -> bool:
    return flow.samples_count >= FEWEST_SAMPLES_COUNT and (flow.held_back_ratio or 0.0) >= WAITING_RATIO


def _held_s(one: HttpTiming) -> float | None:
    """The wait between first byte and end where it is of a delayed ACK's size and the answer is small."""
    if one.starttransfer_s is None or one.total_s is None or (one.size_bytes or 0) > 100 * SMALL_BYTES:
        return None
    gap_s = one.total_s - one.starttransfer_s
    return gap_s if requests.is_delayed_ack(gap_s) and one.total_s < 0.3 else None


_KEPT = Text(
    en="{held_count} times the second part of a message left only when the first was acknowledged, up to {held_s} later",
    zh="消息的后半部分有 {held_count} 次等到前半部分被确认才发出，最长晚 {held_s}",
)
_WAITING = Text(
    en="in {share_ratio} of the looks a small piece waited unsent although the windows had room",
    zh="{share_ratio} 的采样中，窗口有余量而一小段数据仍在等待发送",
)
_INVERTED = Text(en="the smaller answer takes {extra_s} longer than the larger one", zh="较小的回答反而比较大的多用 {extra_s}")
_SMALLER = Text(en="{small_text} take {extra_s} longer than {large_text}", zh="{small_text} 比 {large_text} 多耗时 {extra_s}")
_EXTRA = Text(
    en="every answer, quick or slow, comes some 40 ms later than it was ready", zh="无论快慢，每个回答都比就绪时间晚约 40 ms"
)
_HELD = Text(
    en="between first byte and end lies the time of a delayed acknowledgement", zh="首字节到结束之间恰为一次延迟确认的时间"
)
_FORTY = Text(en="a delay of about 40 ms is reported", zh="报告了约 40 ms 的延迟")
_INVERTED_SAID = Text(en="small answers are slower than big ones", zh="小回答比大回答慢")
_NAGLE = Text(en="small separate writes or a missing TCP_NODELAY are named", zh="提到了分开的小写入或缺少 TCP_NODELAY")
_PIECE = Text(en="the stream comes in one piece or in lumps", zh="流式响应整块到达")
_SET = Text(en="TCP_NODELAY is set", zh="已设置 TCP_NODELAY")

RULE = Rule(
    cause="nagle-delayed-ack",
    title=Text(en="Nagle's algorithm meets delayed acknowledgements", zh="Nagle 算法遇上延迟确认"),
    summary=Text(
        en="A program writes a message in two small parts without TCP_NODELAY; the second waits for an acknowledgement that the receiver delays by 40 ms or more.",
        zh="程序未设 TCP_NODELAY 且把消息分两次小写入；第二次要等接收方延迟 40 ms 以上的确认。",
    ),
    needs=(
        (wants(FlowSummary, lambda one: one.held_back_ratio is not None),),
        (wants(TcpFlow, lambda one: one.exchanges_count >= FEWEST_HELD_COUNT and one.duration_s is not None),),
        (HttpTiming,),
        (wants(Table, lambda one: _constant_extra(one)),),
        (Quantity,),
        (wants(CodeCall, lambda one: is_setting_named(one, _NO_DELAY)),),
        (Statement,),
    ),
    judge=_judge,
    explain=Explain(
        what=Text(
            en="Nagle holds a segment below MSS while data is unacknowledged; the receiver delays its ACK 40 to 200 ms hoping to send data with it.",
            zh="有未确认数据时 Nagle 扣住小于 MSS 的段；接收方把 ACK 推迟 40 至 200 ms，希望捎带数据。",
        ),
        shows=Text(
            en="About 40 ms extra on small answers on reused connections, none on big ones; TcpExtDelayedACKs rises by one a request.",
            zh="复用连接上小回答多约 40 ms，大回答没有；TcpExtDelayedACKs 每请求加一。",
        ),
        sources=(
            "RFC 9293 section 3.7.4",
            "RFC 1122 section 4.2.3.2",
            "Linux TCP_DELACK_MIN 40 ms",
            "measured: 42.4 ms at RTT 0, 47.2 ms at RTT 5.4 ms",
        ),
    ),
    told_apart_from=(
        LookAlike(
            cause="proxy-buffering",
            because=Text(
                en="buffering grows with the stream; this is a fixed 40 ms a message", zh="缓冲随流增长；这里是每条消息固定 40 ms"
            ),
        ),
        LookAlike(cause="packet-loss", because=Text(en="loss adds 200 ms and more, at random", zh="丢包随机增加 200 ms 以上")),
        LookAlike(cause="distance", because=Text(en="distance adds to every size alike", zh="距离对各种大小影响相同")),
    ),
    changes=(
        Change(
            what=Text(
                en="Set TCP_NODELAY on both sockets of the relay, or write each message in one call",
                zh="在中继的两侧套接字上设置 TCP_NODELAY，或一次写出整条消息",
            ),
            commands=("sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)", "tcp_nodelay on;"),
            side="serving",
        ),
    ),
    checks=(
        Check(
            what=Text(en="Small answers take no longer than big ones", zh="小回答不再比大回答慢"),
            commands=("nstat -az TcpExtDelayedACKs",),
        ),
    ),
    gain=Text(en="Saves about 40 ms a message", zh="每条消息节省约 40 ms"),
    severity="medium",
)
