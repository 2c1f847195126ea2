"""Most of a parallel download is done, and one slow connection holds the rest."""

import re

from wirespeed.diagnosis.joins.pieces import ALONE, against, piece, quantities
from wirespeed.diagnosis.joins.transfer_moments import crawling_end
from wirespeed.model.case import Case
from wirespeed.model.finding import FAIR, STRONG, Change, Check, Evidence, LookAlike, Verdict, supports
from wirespeed.model.kinds import Explain, Rule
from wirespeed.model.measurement import ThroughputRun, TransferProgress
from wirespeed.model.settings import Quantity, Statement
from wirespeed.model.text import Text

SLOWED_TIMES = 20.0
NEAR_END_PERCENT_COUNT = 90
_LIVE = re.compile(r"\((?P<share>\d{1,3})%\) CN:(?P<connections>\d{1,3}) ")


def _judge(case: Case) -> Verdict:
    evidence: list[Evidence] = []
    hanging = case.said("few-left-hanging")
    about_download = case.said("download", "single-stream") or hanging
    rates = [one for one in quantities(case, "rate") if one.value > 0]
    slowest, fastest = (pick(rates, key=lambda one: one.value, default=None) for pick in (min, max))
    evidence += _progress(case)
    evidence += piece(_ONE_LEFT, FAIR, _one_left(case))
    evidence += piece(_LAST, ALONE, hanging)
    if about_download:
        evidence += piece(_FRESH, STRONG if hanging else FAIR, case.said("fresh-connection-is-fast"))
    if hanging and slowest and fastest and fastest.value >= 20 * slowest.value:
        evidence.append(supports(_APART, FAIR, slowest, fastest, slow_bits_per_s=slowest.value, fast_bits_per_s=fastest.value))
    runs = [one for one in case.every(ThroughputRun) if one.tool in ("aria2", "wget", "curl")]
    evidence += against(_STEADY, FAIR, runs if not hanging else [])
    return Verdict(evidence=tuple(evidence))


def _progress(case: Case) -> tuple[Evidence, ...]:
    """Progress lines of one transfer whose late rate is a small part of an early one."""
    end = crawling_end(case)
    if end is not None:
        rates = {"fast_bits_per_s": end.fast_bits_per_s, "slow_bits_per_s": end.slow_bits_per_s}
        return (supports(_SLOWED, STRONG, end.before, end.after, **rates),)
    runs = [one for one in case.every(ThroughputRun, role="interval") if one.duration_s is not None and one.transferred_bytes]
    late = max(runs, key=lambda one: one.duration_s or 0.0, default=None)
    early = max(runs, key=lambda one: one.rate_bits_per_s, default=None)
    if not late or not early or early.rate_bits_per_s < SLOWED_TIMES * max(late.rate_bits_per_s, 1.0):
        return ()
    return (supports(_SLOWED, STRONG, early, late, fast_bits_per_s=early.rate_bits_per_s, slow_bits_per_s=late.rate_bits_per_s),)


def _one_left(case: Case) -> list[ThroughputRun]:
    """aria2 near its end with one or two connections left."""
    shown = [(one, _LIVE.search(quote.text)) for one in case.every(ThroughputRun, tool="aria2") for quote in one.quotes[:1]]
    return [
        one for one, found in shown if found and int(found["share"]) >= NEAR_END_PERCENT_COUNT and int(found["connections"]) <= 2
    ]


_ONE_LEFT = Text(en="near the end one or two connections are left", zh="接近末尾只剩一两条连接")
_SLOWED = Text(
    en="the transfer went at {fast_bits_per_s} and near its end at {slow_bits_per_s}",
    zh="传输曾达 {fast_bits_per_s}，接近末尾只有 {slow_bits_per_s}",
)
_LAST = Text(en="the last part hangs or crawls", zh="最后一部分卡住或极慢")
_FRESH = Text(en="a new connection to the same place is fast", zh="到同一处的新连接很快")
_APART = Text(
    en="one connection moves {slow_bits_per_s}, another {fast_bits_per_s}",
    zh="一条连接 {slow_bits_per_s}，另一条 {fast_bits_per_s}",
)
_STEADY = Text(en="the transfer ran through", zh="传输顺利完成")

RULE = Rule(
    cause="slow-connection-tail",
    title=Text(en="One slow connection holds the end of the download", zh="一条慢连接拖住下载尾部"),
    summary=Text(
        en="All parts but one are done; that one landed on a bad path or server and the client never gives it up.",
        zh="除一部分外都已完成；该部分落在坏路径或坏服务器上，而客户端从不放弃它。",
    ),
    needs=((ThroughputRun,), (TransferProgress,), (Quantity, Statement), (Statement,)),
    silence_needs=((ThroughputRun,), (Quantity, Statement)),
    judge=_judge,
    explain=Explain(
        what=Text(
            en="A parallel transfer ends with its slowest part. Without a least rate a client waits for a connection that moves bytes a second.",
            zh="并行传输以最慢的部分结束。没有最低速率限制的客户端会一直等每秒几字节的连接。",
        ),
        shows=Text(
            en="Progress stops near 95 to 99 %, one range open; a fresh connection to the same URL is fast; a restart finishes at once.",
            zh="进度停在 95 至 99 %，仅一个范围未完；同一 URL 的新连接很快；重启后立即完成。",
        ),
        sources=("aria2 --lowest-speed-limit", "curl --speed-limit, --speed-time", "Dean and Barroso: The Tail at Scale"),
    ),
    told_apart_from=(
        LookAlike(cause="origin-rate-limited", because=Text(en="then a fresh connection is slow as well", zh="那样新连接也慢")),
        LookAlike(
            cause="packet-loss", because=Text(en="loss on a shared link slows all connections", zh="共享链路丢包会拖慢所有连接")
        ),
    ),
    changes=(
        Change(
            what=Text(en="Drop connections below a least rate and fetch the part again", zh="低于最低速率即断开并重取该部分"),
            commands=(
                "aria2c --lowest-speed-limit=100K --max-tries=10 -x 16 URL",
                "curl --speed-limit 100000 --speed-time 10 --retry 10 -C - -O URL",
            ),
        ),
    ),
    checks=(Check(what=Text(en="The last part takes no longer than the others", zh="最后一部分不比其他部分慢")),),
    gain=Text(en="The tail of minutes to hours goes away", zh="消除数分钟至数小时的尾部"),
    severity="medium",
    explains=("download-single-stream", "origin-rate-limited", "storage-bound"),
    settled_by=("aria2c -x8 URL",),
)
