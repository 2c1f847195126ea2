"""The far side limits requests or bytes."""

from wirespeed.diagnosis.joins.pieces import against, piece
from wirespeed.diagnosis.joins.transfer_moments import collapsed
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
    supports,
)
from wirespeed.model.kinds import Explain, Rule, wants
from wirespeed.model.measurement import TransferProgress
from wirespeed.model.settings import Statement
from wirespeed.model.text import Text

THROTTLING_CODES = (429, 503)


def _judge(case: Case) -> Verdict:
    limited = case.every(ServerEvent, topic="rate-limited")
    answers = case.every(ServerEvent, lambda one: one.status_code in THROTTLING_CODES and one.topic != "rate-limited")
    served = case.every(ServerEvent, lambda one: one.status_code in (200, 206))
    evidence: list[Evidence] = []
    evidence += piece(_LIMITED, STRONG + SLIGHT, limited)
    evidence += piece(_CODES, FAIR, answers)
    fallen = collapsed(case, is_local=False)
    if fallen is not None:
        rates: dict[str, Value] = {"fast_bits_per_s": fallen.fast_bits_per_s, "slow_bits_per_s": fallen.slow_bits_per_s}
        evidence.append(supports(_FALLS, SLIGHT, fallen.before, fallen.after, **rates))
    said = case.said("origin-throttles")
    lines = {quote.text for one in said for quote in one.quotes}
    if lines:
        evidence += piece(_SAID, STRONG if not limited else SLIGHT, said)
    if len(lines) > 1 and not limited:
        evidence += piece(_TWICE, FAIR, said[1:])
    evidence += against(_FRESH, FAIR, case.said("fresh-connection-is-fast"))
    evidence += against(_OWN, STRONG, case.said("server-says-overloaded"))
    evidence += against(_SERVED, SLIGHT, [] if limited or answers else served)
    return Verdict(evidence=tuple(evidence))


_OWN = Text(en="the model server itself says that it is overloaded", zh="是模型服务器自身报告过载")
_LIMITED = Text(en="the origin answers that the rate is too high", zh="源端回应速率过高")
_CODES = Text(en="429 or 503 came back", zh="返回了 429 或 503")
_FALLS = Text(
    en="the transfer goes at {fast_bits_per_s} at first and at {slow_bits_per_s} from some place on",
    zh="传输起初为 {fast_bits_per_s}，之后降至 {slow_bits_per_s}",
)
_SAID = Text(en="a limit of the origin is named or seen", zh="提到或观察到源端限制")
_TWICE = Text(en="a second sign of the origin's limit", zh="源端限制的第二个迹象")
_FRESH = Text(en="a fresh connection is fast", zh="新连接很快")
_SERVED = Text(en="requests are answered without limit", zh="请求正常应答，没有限速")

RULE = Rule(
    cause="origin-rate-limited",
    title=Text(en="The origin limits the rate", zh="源端限速"),
    summary=Text(
        en="A registry, bucket or hub answers only so many requests or bytes; retries without back-off keep it at its limit.",
        zh="仓库、存储桶或模型站只应答有限的请求或字节；无退避的重试使其一直处于上限。",
    ),
    needs=(
        (wants(ServerEvent, lambda one: one.status_code is not None or one.topic == "rate-limited"),),
        (TransferProgress,),
        (Statement,),
    ),
    silence_needs=((wants(ServerEvent, lambda one: one.status_code is not None or one.topic == "rate-limited"),),),
    judge=_judge,
    explain=Explain(
        what=Text(
            en="S3 serves 5,500 GET a second and prefix before it splits the partition; registries count pulls per address; hubs limit per token.",
            zh="S3 每前缀每秒 5,500 次 GET，超过后才分裂分区；镜像仓库按地址计拉取；模型站按令牌限速。",
        ),
        shows=Text(
            en="429, 503 Slow Down, or a rate that stays the same whatever the number of clients.",
            zh="429、503 Slow Down，或无论多少客户端速率都不变。",
        ),
        sources=(
            "Amazon S3: optimizing performance",
            "Docker Hub: pull rate limit",
            "Hugging Face Hub: rate limits",
            "RFC 6585 section 4",
        ),
    ),
    told_apart_from=(
        LookAlike(cause="slow-connection-tail", because=Text(en="there a fresh connection is fast", zh="那里新连接很快")),
        LookAlike(cause="download-single-stream", because=Text(en="there more connections give more", zh="那里更多连接就更快")),
        LookAlike(
            cause="server-saturated",
            because=Text(en="a 503 of the model server itself comes from its own queue", zh="模型服务器自身的 503 来自其队列"),
        ),
    ),
    changes=(
        Change(
            what=Text(
                en="Put a cache or mirror near, so that each object is fetched once", zh="就近设置缓存或镜像，每个对象只取一次"
            )
        ),
        Change(
            what=Text(
                en="Retry with exponential back-off and jitter; spread keys over prefixes; use larger objects",
                zh="指数退避加抖动重试；把键分散到多个前缀；使用更大的对象",
            ),
            commands=("AWS_RETRY_MODE=adaptive", "AWS_MAX_ATTEMPTS=10"),
        ),
    ),
    checks=(Check(what=Text(en="No 429 or 503 in a full load", zh="一次完整加载中没有 429 或 503")),),
    gain=Text(en="Loads finish at the cache's speed", zh="加载以缓存的速度完成"),
    severity="medium",
    explains=("storage-bound", "download-single-stream", "dataloader-bound"),
    settled_by=("curl -sI URL",),
)
