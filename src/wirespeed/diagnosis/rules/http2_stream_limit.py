"""All calls share one HTTP/2 connection, and its limit of concurrent streams makes further calls wait."""

import re

from wirespeed.diagnosis.joins.pieces import ALONE, against, configured, is_setting_named, piece, quantities
from wirespeed.model.case import Case
from wirespeed.model.finding import FAIR, SLIGHT, STRONG, Change, Check, Evidence, LookAlike, Verdict, supports
from wirespeed.model.kinds import Explain, Rule, wants
from wirespeed.model.record import Record
from wirespeed.model.settings import Directive, Quantity, Setting, Statement
from wirespeed.model.text import Text

_STREAMS = r"max_?concurrent_?streams"
_IS_COUNT = re.compile(r"[0-9]{1,9}")
FEW_CONNECTIONS_COUNT = 8
FASTER_TIMES = 2.0
_ONE_CHANNEL = re.compile(
    r"\b(?:one|1|a|single|shared|same) (?:shared |single |common )?(?:grpc |http/?2 |h2 )?(?:channels?|stubs?|http/?2 connections?|h2 connections?)\b"
)
_MORE_CHANNELS = re.compile(
    r"\b(?:channels?|stubs?|h(?:ttp/?)?2 connections?) (?:per|for each|each) (?:call|request|worker|thread)|\b(?:[2-9]|[1-9]\d+|two|four|eight|ten|several|more|many|own|separate) (?:grpc )?(?:channels|stubs)\b"
)
LOW_LIMIT_COUNT = 1000
"""Servers ship 100 (the least RFC 9113 recommends) to 1,000; one connection rarely carries more generations than that."""


def _judge(case: Case) -> Verdict:
    numbers = [(one.record, int(one.setting)) for one in configured(case, _STREAMS) if _IS_COUNT.fullmatch(one.setting.strip())]
    limits = [record for record, number in numbers if number <= LOW_LIMIT_COUNT]
    ample = [record for record, number in numbers if number > LOW_LIMIT_COUNT]
    evidence: list[Evidence] = []
    evidence += piece(_LIMIT, ALONE, [*limits, *(() if limits else case.said("stream-limit"))])
    evidence += piece(_WALL, ALONE, case.said("wall-at-hundred"))
    pending = _count_named(case, r"rq_pending_active$", 1, None)
    shared = _count_named(case, r"(?:upstream_)?cx_active$", 1, FEW_CONNECTIONS_COUNT)
    apart = _more_channels_are_faster(case)
    if apart:
        evidence.append(supports(_CHANNELS, STRONG, *apart, shared_s=apart[0].value, several_s=apart[1].value))
    if pending and shared:
        evidence += piece(_PENDING, STRONG, [*pending, *shared])
    if evidence:
        evidence += piece(_GRPC, SLIGHT, case.said("grpc"))
        evidence += piece(_ONE_CONNECTION, SLIGHT, case.said("l4-balancing"))
        evidence += piece(_IDLE, FAIR, case.said("backend-idle", "server-not-busy"))
    evidence += against(_AMPLE, FAIR, ample)
    return Verdict(evidence=tuple(evidence))


def _more_channels_are_faster(case: Case) -> tuple[Quantity, Quantity] | None:
    """A time over one shared channel and one several times shorter over a channel for each call."""
    times = [one for one in quantities(case, "time") if one.value > 0]
    shared = [one for one in times if _ONE_CHANNEL.search(one.subject) and not _MORE_CHANNELS.search(one.subject)]
    several = [one for one in times if _MORE_CHANNELS.search(one.subject)]
    return next(((one, more) for one in shared for more in several if one.value >= FASTER_TIMES * more.value), None)


def _count_named(case: Case, name: str, least: int, most: int | None) -> list[Record]:
    """Proxy counters of this name whose value lies between the two."""
    counted = [(one.record, int(one.setting)) for one in configured(case, name) if _IS_COUNT.fullmatch(one.setting.strip())]
    return [record for record, count in counted if count >= least and (most is None or count <= most)]


_PENDING = Text(en="requests wait in the proxy while it holds few connections upstream", zh="请求在代理中等待，而其上游连接很少")
_CHANNELS = Text(en="over one channel {shared_s}, over several {several_s}", zh="单通道 {shared_s}，多通道 {several_s}")
_LIMIT = Text(en="a limit on streams of one connection is named", zh="提到了单连接的流数上限")
_AMPLE = Text(en="the limit is set far above the usual", zh="上限远高于常见值")
_WALL = Text(en="calls wait from a fixed number in flight on", zh="在途数达到固定值后调用开始等待")
_GRPC = Text(en="calls go over HTTP/2", zh="调用走 HTTP/2")
_ONE_CONNECTION = Text(en="they share one connection", zh="它们共用一条连接")
_IDLE = Text(en="the server has room", zh="服务器仍有余量")

RULE = Rule(
    cause="http2-stream-limit",
    title=Text(en="The stream limit of one HTTP/2 connection holds calls back", zh="单条 HTTP/2 连接的流数上限使调用排队"),
    summary=Text(
        en="Calls beyond the server's SETTINGS_MAX_CONCURRENT_STREAMS wait in the client until another one ends.",
        zh="超过服务器 SETTINGS_MAX_CONCURRENT_STREAMS 的调用在客户端等待其他调用结束。",
    ),
    needs=(
        (wants(Setting, lambda one: is_setting_named(one, _STREAMS + r"|rq_pending_active$")),),
        (wants(Directive, lambda one: is_setting_named(one, _STREAMS)),),
        (Quantity,),
        (Statement,),
    ),
    judge=_judge,
    explain=Explain(
        what=Text(
            en="A generation of 30 s holds its stream for 30 s; 100 streams then serve 3.3 calls a second whatever the server could do.",
            zh="一次 30 s 的生成占用其流 30 s；100 条流只能承载每秒 3.3 次调用，与服务器能力无关。",
        ),
        shows=Text(
            en="Latency is flat up to 100 (or 128, 250) calls in flight and jumps above; a second channel doubles the throughput.",
            zh="在途 100（或 128、250）以内延迟平稳，超过即跳升；再开一个通道吞吐翻倍。",
        ),
        sources=(
            "RFC 9113 section 6.5.2 (recommends at least 100)",
            "gRPC performance best practices",
            "nginx http2_max_concurrent_streams (128)",
        ),
    ),
    told_apart_from=(
        LookAlike(
            cause="l4-grpc-pinning",
            because=Text(
                en="there the calls reach one pod only; here they do not leave the client",
                zh="那里调用只到一个 Pod；这里调用还没离开客户端",
            ),
        ),
        LookAlike(
            cause="gateway-connection-limit",
            because=Text(en="there connections are counted, not streams", zh="那里计的是连接，不是流"),
        ),
    ),
    changes=(
        Change(
            what=Text(
                en="Open several channels to the server, or raise its stream limit", zh="对服务器开多个通道，或提高其流数上限"
            ),
            commands=("grpc.max_concurrent_streams", "http2_max_concurrent_streams 1024;"),
            side="serving",
        ),
    ),
    checks=(Check(what=Text(en="Latency stays flat past the old limit", zh="越过原上限后延迟仍平稳")),),
    gain=Text(en="Throughput grows with the number of channels until the server is full", zh="吞吐随通道数增长，直到服务器饱和"),
    severity="medium",
    explains=("server-saturated", "no-fault-queueing", "gateway-connection-limit"),
)
