"""Compression holds streamed events until its block is full or the answer ends."""

from wirespeed.diagnosis.joins.pieces import against, configured, is_setting_named, piece
from wirespeed.diagnosis.joins.streams import held_at_one_place
from wirespeed.model.case import Case
from wirespeed.model.finding import FAIR, SLIGHT, STRONG, Change, Check, Evidence, LookAlike, Verdict, supports
from wirespeed.model.kinds import Explain, Rule, wants
from wirespeed.model.settings import CodeCall, Directive, Setting, Statement
from wirespeed.model.text import Text

_COMPRESSING_CALL = r"enable_compression|gzip_?middleware|^compress(ion)?$|flate|brotli"


def _is_on(setting: str) -> bool:
    return not setting or setting.split()[0].lower() not in ("off", "false", "none", "0")


def _judge(case: Case) -> Verdict:
    in_code = [one.record for one in configured(case, _COMPRESSING_CALL) if _is_on(one.setting)]
    in_server = [one.record for one in configured(case, r"^(gzip|brotli)$") if _is_on(one.setting)]
    switched_off = [one.record for one in configured(case, r"^(gzip|brotli)$|" + _COMPRESSING_CALL) if not _is_on(one.setting)]
    said = case.said("compression-on")
    evidence: list[Evidence] = []
    evidence += piece(_IN_CODE, STRONG, [*in_code, *(() if in_code else said)])
    evidence += piece(_IN_SERVER, FAIR, in_server)
    by_place = held_at_one_place(case)
    if evidence and by_place:
        evidence.append(supports(_AT_ONE_PLACE, STRONG, by_place[0], held_ratio=by_place[1], flowing_ratio=by_place[2]))
    if evidence:
        evidence += piece(_ONE_PIECE, FAIR, case.said("stream-in-one-piece"))
        evidence += piece(_NO_PROXY, SLIGHT, case.said("no-proxy-between"))
    evidence += against(_OFF, FAIR, switched_off)
    return Verdict(evidence=tuple(evidence))


_IN_CODE = Text(en="the answer is compressed", zh="回答被压缩")
_IN_SERVER = Text(en="the web server compresses answers", zh="Web 服务器压缩回答")
_ONE_PIECE = Text(en="the stream arrives in one piece or in blocks", zh="流一次性或成块到达")
_NO_PROXY = Text(en="no proxy is in between that could buffer", zh="中间没有可能缓冲的代理")
_OFF = Text(en="compression is off", zh="压缩已关闭")
_AT_ONE_PLACE = Text(
    en="at one place the first token comes after {held_ratio} of the whole time, at another after {flowing_ratio}",
    zh="一处首词元在总时间的 {held_ratio} 处到达，另一处在 {flowing_ratio}",
)

RULE = Rule(
    cause="proxy-compression-buffering",
    title=Text(en="Compression holds back the token stream", zh="压缩扣住了词元流"),
    summary=Text(
        en="The answer is compressed, and the compressor keeps short events until it has enough for a block, so the stream comes in one piece.",
        zh="回答经过压缩，压缩器凑够一块才输出短事件，流因此一次性到达。",
    ),
    needs=(
        (wants(CodeCall, lambda one: is_setting_named(one, _COMPRESSING_CALL)),),
        (wants(Directive, lambda one: one.name in ("gzip", "brotli")),),
        (wants(Setting, lambda one: is_setting_named(one, r"gzip|brotli|compress|content_encoding")),),
        (Statement,),
    ),
    judge=_judge,
    explain=Explain(
        what=Text(
            en="deflate looks back over 32 KiB and emits at block ends unless flushed; events of some hundred bytes wait for many others.",
            zh="deflate 使用 32 KiB 窗口，未主动 flush 时在块末才输出；几百字节的事件要等许多其他事件。",
        ),
        shows=Text(
            en="Content-Encoding: gzip on text/event-stream; with Accept-Encoding: identity the stream flows.",
            zh="text/event-stream 带 Content-Encoding: gzip；用 Accept-Encoding: identity 请求则恢复流式。",
        ),
        sources=(
            "RFC 1951",
            "aiohttp StreamResponse.enable_compression",
            "expressjs/compression, section Server-Sent Events",
            "Starlette GZipMiddleware",
        ),
    ),
    told_apart_from=(
        LookAlike(
            cause="proxy-buffering",
            because=Text(
                en="a buffering proxy holds uncompressed events too, and going round it helps",
                zh="缓冲型代理也会扣住未压缩的事件，绕过即可",
            ),
        ),
    ),
    changes=(
        Change(
            what=Text(
                en="Leave text/event-stream out of compression, or flush the compressor after each event",
                zh="对 text/event-stream 不压缩，或每个事件后 flush 压缩器",
            ),
            commands=("gzip off;  # in the streaming location",),
            side="serving",
        ),
    ),
    checks=(
        Check(
            what=Text(
                en="The first byte comes early with the client's usual Accept-Encoding",
                zh="使用客户端平常的 Accept-Encoding 时首字节很早到达",
            ),
            commands=("curl -N -s --compressed -o /dev/null -w '%{{time_starttransfer}} %{{time_total}}\\n' URL",),
        ),
    ),
    gain=Text(en="Events reach the client as they are made", zh="事件生成后立即到达客户端"),
    severity="high",
    explains=("proxy-buffering",),
)
