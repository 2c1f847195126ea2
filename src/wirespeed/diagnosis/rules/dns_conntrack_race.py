"""Two DNS queries sent at once from one socket race in conntrack, and one is dropped."""

import math

from wirespeed.diagnosis.joins.pieces import ALONE, against, piece
from wirespeed.model.case import Case
from wirespeed.model.facts.link import Counter
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
)
from wirespeed.model.flows import DnsQuery
from wirespeed.model.kinds import Explain, Rule, wants
from wirespeed.model.measurement import HttpTiming, NameLookup
from wirespeed.model.record import Record
from wirespeed.model.settings import Statement
from wirespeed.model.text import Text
from wirespeed.theory import requests

TOGETHER_S = 0.01
SOON_S = 1.0


def _judge(case: Case) -> Verdict:
    failed = case.every(Counter, lambda one: one.canonical == "conntrack_insert_failed")
    rising = [one for one in failed if one.value_count > 0]
    evidence: list[Evidence] = []
    evidence += piece(_INSERT_FAILED, ALONE, rising, failed_count=sum(one.value_count for one in rising))
    evidence += piece(_SEEN, ALONE, case.said("insert-failed-seen") if not failed else ())
    evidence += piece(_PARALLEL, ALONE, case.said("dns-parallel-queries"))
    halves = _half_answered(case)
    evidence += piece(
        _HALF, STRONG if len(halves) > 1 else FAIR + SLIGHT, [one for pair in halves for one in pair], **_of_pair(halves)
    )
    if evidence:
        evidence += piece(_STALLS, FAIR, [*_five_seconds(case), *case.said("dns-five-seconds", "dns-stall")])
        evidence += piece(_MUSL, SLIGHT, case.said("libc-musl"))
    pairs = [] if halves else _pairs(case)
    evidence += against(_SOME, STRONG, case.said("dns-server-busy"))
    evidence += against(_BOTH, FAIR, [one for pair in pairs for one in pair])
    if failed and not rising:
        evidence += against(_NONE, STRONG, failed)
    return Verdict(evidence=tuple(evidence))


def _pairs(case: Case) -> list[tuple[DnsQuery, DnsQuery]]:
    """The A and AAAA questions for one name that left one socket together, both settled."""
    first: dict[tuple[str, int | None, str], DnsQuery] = {}
    found = []
    for one in case.every(DnsQuery, lambda one: one.query_type in ("A", "AAAA") and one.asked_s is not None):
        key = (one.client, one.client_port, one.name)
        other = first.setdefault(key, one)
        together = abs((one.asked_s or 0.0) - (other.asked_s or 0.0)) <= TOGETHER_S
        if other.query_type != one.query_type and together and None not in (one.is_answered, other.is_answered):
            found.append((other, one))
    return found


def _half_answered(case: Case) -> list[tuple[DnsQuery, DnsQuery]]:
    """Pairs of which one was answered at once and the other only when it was asked again, or never: the lost one stands last."""
    ordered = [sorted(pair, key=lambda one: one.time_s if one.time_s is not None else math.inf) for pair in _pairs(case)]
    return [
        (quick, lost)
        for quick, lost in ordered
        if quick.time_s is not None
        and quick.time_s < SOON_S
        and (lost.time_s is None or requests.is_multiple_of(lost.time_s, requests.DNS_RETRY_S))
    ]


def _of_pair(halves: list[tuple[DnsQuery, DnsQuery]]) -> dict[str, Value]:
    if not halves:
        return {}
    quick, lost = halves[0]
    return {"name": quick.name, "answered": quick.query_type, "lost": lost.query_type, "pairs_count": len(halves)}


def _five_seconds(case: Case) -> list[Record]:
    """Measured look-ups that waited for whole runs of the resolver's retry timer."""
    names: list[tuple[Record, float]] = [(one, one.time_s) for one in case.every(NameLookup)]
    names += [(one, one.namelookup_s) for one in case.every(HttpTiming) if one.namelookup_s]
    return [one for one, time_s in names if requests.is_multiple_of(time_s, requests.DNS_RETRY_S)]


_HALF = Text(
    en="of two questions that left together for {name}, {answered} was answered at once and {lost} not until it was asked again ({pairs_count} pairs)",
    zh="为 {name} 同时发出的两个查询中，{answered} 立即得到应答，{lost} 直到重发才有（共 {pairs_count} 对）",
)
_SOME = Text(
    en="the server itself is late, down or leaves queries without an answer", zh="是服务器自身缓慢、不可用或不应答部分查询"
)
_BOTH = Text(en="A and AAAA questions that left together were both answered", zh="同时发出的 A 与 AAAA 查询都得到应答")
_SEEN = Text(en="conntrack could not insert entries", zh="conntrack 插入失败")
_INSERT_FAILED = Text(en="conntrack could not insert {failed_count} entries", zh="conntrack 有 {failed_count} 次插入失败")
_PARALLEL = Text(en="A and AAAA queries leave together and one is lost", zh="A 与 AAAA 查询同时发出，其中一个丢失")
_STALLS = Text(en="look-ups stall, by 5 s where named", zh="解析停顿，提到时为 5 s")
_MUSL = Text(
    en="musl sends all queries in parallel and knows no single-request option",
    zh="musl 并行发送所有查询，且没有 single-request 选项",
)
_NONE = Text(en="insert_failed is 0", zh="insert_failed 为 0")

RULE = Rule(
    cause="dns-conntrack-race",
    title=Text(en="Parallel DNS queries race in connection tracking", zh="并行 DNS 查询在连接跟踪中竞争"),
    summary=Text(
        en="A and AAAA queries from one socket reach conntrack at once; one entry cannot be inserted, its packet is dropped, and the resolver waits 5 s.",
        zh="同一套接字的 A 与 AAAA 查询同时到达 conntrack；其中一个无法插入，包被丢弃，解析器等 5 s。",
    ),
    needs=(
        (wants(Counter, lambda one: one.canonical == "conntrack_insert_failed"),),
        (wants(DnsQuery, lambda one: one.query_type == "AAAA" and one.is_answered is not None),),
        (Statement,),
    ),
    judge=_judge,
    explain=Explain(
        what=Text(
            en="Destination NAT to the DNS service creates the conntrack entry when the packet leaves; two packets of one tuple on two CPUs conflict.",
            zh="到 DNS 服务的目的 NAT 在包离开时才创建 conntrack 条目；同一元组的两个包在两个 CPU 上冲突。",
        ),
        shows=Text(
            en="insert_failed rises with each stall of exactly 5 s; worse with musl (Alpine).",
            zh="每次恰好 5 s 的停顿都伴随 insert_failed 增长；musl（Alpine）更严重。",
        ),
        sources=(
            "kubernetes/kubernetes#56903",
            "weaveworks: Racy conntrack and DNS lookup timeouts",
            "Linux netfilter commit ed07d9a021df (5.0)",
        ),
    ),
    told_apart_from=(
        LookAlike(
            cause="dns-slow",
            because=Text(en="a busy or far resolver is slow without insert_failed", zh="解析器繁忙或遥远时，insert_failed 不增长"),
        ),
        LookAlike(
            cause="conntrack-full",
            because=Text(en="a full table says `table full, dropping packet`", zh="表满会报告 table full, dropping packet"),
        ),
    ),
    changes=(
        Change(
            what=Text(en="Run NodeLocal DNSCache, which bypasses conntrack", zh="使用 NodeLocal DNSCache，绕过 conntrack"),
            commands=("kubectl apply -f nodelocaldns.yaml",),
        ),
        Change(
            what=Text(
                en="Send the two queries one after the other (glibc only), or over TCP",
                zh="让两个查询先后发送（仅 glibc），或走 TCP",
            ),
            commands=("options single-request-reopen", "options use-vc"),
        ),
    ),
    checks=(
        Check(
            what=Text(en="insert_failed stays flat", zh="insert_failed 不再增长"),
            commands=("conntrack -S | grep -o 'insert_failed=[0-9]*'",),
        ),
    ),
    gain=Text(en="Removes the sporadic 5 s stalls", zh="消除偶发的 5 s 停顿"),
    severity="medium",
    explains=("dns-slow",),
)
