"""Every proxy or gateway in the path adds latency, and there are many."""

import re

from wirespeed.diagnosis.joins.pieces import (
    ALONE,
    against,
    piece,
    quantities,
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
from wirespeed.model.kinds import Explain, Rule, wants
from wirespeed.model.measurement import (
    HttpTiming,
)
from wirespeed.model.settings import Quantity, Statement, Table
from wirespeed.model.text import Text

NOTABLE_GROWTH_TIMES = 1.5
_DIRECT = re.compile(r"(?i)direct|pod|upstream|localhost|127\.0\.0\.1|server|no proxy|1 hop")


def _grows(case: Case) -> tuple[HttpTiming, HttpTiming] | None:
    """Direct and outermost timing where at least three labelled ways differ and grow."""
    labelled = [one for one in case.every(HttpTiming) if one.label and one.starttransfer_s]
    if len({one.label for one in labelled}) < 3:
        return None
    ordered = sorted(labelled, key=lambda one: one.starttransfer_s or 0.0)
    near, far = ordered[0], ordered[-1]
    grows = (far.starttransfer_s or 0.0) >= NOTABLE_GROWTH_TIMES * (near.starttransfer_s or 0.0)
    return (near, far) if grows and _DIRECT.search(near.label) else None


_LAYER_COLUMN = re.compile(r"(?i)hop|layer|proxy|component|stage|tier|segment|path|step")
_TIME_COLUMN = re.compile(r"(?i)\bms\b|latency|added|overhead|time|ttf[bt]|seconds")
_ADDED = r"(?:adds?|added|overhead(?: of)?|costs?)\W{0,3}(?:only |about |another |~)?$"
NEGLIGIBLE_RATIO = 0.05
LEAST_LAYERS_COUNT = 3


def _per_layer(case: Case) -> list[Table]:
    """Tables that list a time for each of several layers."""
    return [
        one
        for one in case.every(Table, lambda it: len(it.rows) >= LEAST_LAYERS_COUNT and bool(it.columns))
        if _LAYER_COLUMN.search(one.columns[0]) and any(_TIME_COLUMN.search(title) for title in one.columns[1:])
    ]


def _judge(case: Case) -> Verdict:
    evidence: list[Evidence] = []
    pair = _grows(case)
    if pair:
        evidence.append(supports(_GROWS, STRONG, *pair, near_s=pair[0].starttransfer_s, far_s=pair[1].starttransfer_s))
    if case.said("through-proxy", "many-hops"):
        evidence += piece(_LISTED, STRONG, _per_layer(case))
    evidence += piece(_ADDS, ALONE, case.said("layer-adds-latency"))
    if evidence:
        evidence += piece(_MANY, FAIR, case.said("many-hops"))
    elif not case.said("gateway-timed-out", "cut-at-round-time", "stream-in-one-piece", "sporadic-reset"):
        evidence += piece(_MANY, FAIR + 0.5, case.said("many-hops"))
    added, whole_s = (
        quantities(case, "time", _ADDED),
        max((one.value for one in case.every(Quantity, dimension="time")), default=0.0),
    )
    small = [one for one in added if one.value < NEGLIGIBLE_RATIO * whole_s]
    evidence += against(_SMALL, STRONG, small if len(small) == len(added) else [], whole_s=whole_s)
    return Verdict(evidence=tuple(evidence))


_GROWS = Text(
    en="first byte after {near_s} next to the server and {far_s} from outside, growing with each layer",
    zh="首字节在服务器旁为 {near_s}，在外部为 {far_s}，逐层增长",
)
_SMALL = Text(en="what the layers add is a small part of {whole_s}", zh="各层增加的时间只占 {whole_s} 的很小部分")
_LISTED = Text(en="each layer takes its own time", zh="每一层各占用时间")
_ADDS = Text(en="each layer is said to add latency", zh="每一层都增加延迟")
_MANY = Text(en="a request passes many layers", zh="请求经过许多层")

RULE = Rule(
    cause="too-many-layers",
    title=Text(en="The request passes too many layers", zh="请求经过的层过多"),
    summary=Text(
        en="Proxies, sidecars and gateways each add their share of latency, buffering and time-outs.",
        zh="代理、边车与网关各自增加延迟、缓冲与超时。",
    ),
    needs=((Table, Statement), (wants(HttpTiming, lambda one: bool(one.label)),), (Statement,)),
    judge=_judge,
    explain=Explain(
        what=Text(
            en="Each layer parses, queues and forwards, often with a connection of its own to set up: 0.3 ms for a tuned proxy, tens of ms for a Python one.",
            zh="每层都要解析、排队和转发，往往还要自建连接：调优的代理约 0.3 ms，Python 代理可达数十毫秒。",
        ),
        shows=Text(
            en="Time to first byte grows step by step when measured behind each layer.", zh="逐层测量时首字节时间一步步增长。"
        ),
        sources=(
            "measured: nginx 0.1 to 0.3 ms, HAProxy without http-no-delay 207 ms a layer",
            "Istio: performance and scalability",
        ),
    ),
    told_apart_from=(
        LookAlike(
            cause="proxy-buffering",
            because=Text(
                en="one buffering layer delays by the stream's length, not by a fixed share",
                zh="单个缓冲层的延迟随流长增长，不是固定份额",
            ),
        ),
        LookAlike(cause="distance", because=Text(en="distance is in the connect time too", zh="距离也体现在连接时间里")),
    ),
    changes=(
        Change(
            what=Text(
                en="Remove layers from the token path; join authentication, routing and limits in one gateway",
                zh="从词元路径中移除层；把认证、路由、限流合并到一个网关",
            ),
            side="serving",
        ),
    ),
    checks=(
        Check(
            what=Text(
                en="First byte from outside within a few milliseconds of the one next to the server",
                zh="外部首字节与服务器旁相差数毫秒以内",
            )
        ),
    ),
    gain=Text(en="Saves each removed layer's share of the time to first token", zh="节省每个被移除层在首词元时间中的份额"),
    severity="low",
)
