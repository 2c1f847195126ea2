"""Resolving a name takes a noticeable part of a request, or seconds."""

from wirespeed.diagnosis.joins.pieces import ALONE, against, piece
from wirespeed.model.case import Case
from wirespeed.model.events.log import FrameworkEvent
from wirespeed.model.facts.cluster import ClusterEvent
from wirespeed.model.facts.host import ResolverSetup
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
from wirespeed.model.measurement import HttpTiming, NameLookup, NameServerRun
from wirespeed.model.settings import Directive, Statement
from wirespeed.model.text import Text
from wirespeed.theory import requests

SLOW_LOOKUP_S = 0.1
VERY_SLOW_LOOKUP_S = 1.0
SLOW_SERVER_S = 0.03
"""A name server of one's own site answers within a few milliseconds; each name costs one to ten such answers."""
NAME_SHARE_RATIO = 0.3
MANY_SEARCHES_COUNT = 3
ALL_NAMES = "*"
"""A server's own log tells the time of all its answers, without the way to the client."""
MANY_SILENT_COUNT = 5
MOSTLY_UNKNOWN_RATIO = 0.5
"""Search lists make most answers NXDOMAIN; where names are looked up as they are, few are."""
SEVERAL_COUNT = 2


def _judge(case: Case) -> Verdict:
    evidence: list[Evidence] = []
    servers = [one for one in case.every(NameServerRun) if one.name != ALL_NAMES and (one.time_p50_s or 0.0) >= SLOW_SERVER_S]
    evidence += piece(_SERVER, STRONG + FAIR, servers, **_slowest(servers))
    median = [one for one in case.every(NameServerRun, name=ALL_NAMES) if (one.time_p50_s or 0.0) >= SLOW_LOOKUP_S]
    evidence += piece(_MEDIAN, STRONG, median, **_slowest(median))
    silent = case.every(FrameworkEvent, topic="name-server-silent")
    evidence += piece(
        _SILENT, STRONG if len(silent) >= MANY_SILENT_COUNT else FAIR, silent, server=silent[0].peer if silent else None
    )
    evidence += piece(
        _OVERLOADED, STRONG, case.every(FrameworkEvent, lambda one: one.topic in ("name-server-busy", "name-server-loop"))
    )
    lossy = [one for one in case.every(NameServerRun) if 0 < one.answered_count < one.sent_count]
    evidence += piece(_UNANSWERED, FAIR, lossy)
    queries = case.every(DnsQuery)
    open_queries = [one for one in queries if one.is_answered is False]
    evidence += piece(_OPEN, STRONG if len(open_queries) >= SEVERAL_COUNT else FAIR, open_queries, **_asked(open_queries))
    failed = [one for one in queries if one.answer in ("ServFail", "Refused")]
    evidence += piece(_FAILED, FAIR, failed, **_asked(failed))
    late = [one for one in queries if one.sent_count > 1 and one.time_s is not None and one.time_s >= VERY_SLOW_LOOKUP_S]
    evidence += piece(_LATE, FAIR, late, time_s=max((one.time_s or 0.0 for one in late), default=None))
    lookups = [one for one in case.every(NameLookup) if one.time_s >= SLOW_LOOKUP_S]
    very = [one for one in lookups if one.time_s >= VERY_SLOW_LOOKUP_S]
    requests_slow = [one for one in case.every(HttpTiming) if _waits_for_name(one)]
    slowest_s = max([one.time_s for one in lookups] + [one.namelookup_s or 0.0 for one in requests_slow], default=0.0)
    evidence += piece(_LOOKUP, STRONG if very else FAIR, lookups, time_s=slowest_s)
    evidence += piece(_REQUEST, STRONG, requests_slow, time_s=slowest_s)
    stalls = case.said("dns-stall", "dns-five-seconds")
    if slowest_s and requests.is_multiple_of(slowest_s, requests.DNS_RETRY_S):
        evidence += piece(_FIVE_MEASURED, SLIGHT, [*very, *requests_slow], time_s=slowest_s)
    evidence += piece(_SAID, ALONE, stalls)
    evidence += piece(_FIVE, FAIR, case.said("dns-five-seconds"))
    evidence += piece(_BUSY, ALONE, case.said("dns-server-busy"))
    evidence += piece(_GIVES_UP, FAIR, case.said("resolver-gives-up"))
    evidence += piece(_UNRESOLVED, SLIGHT, case.every(FrameworkEvent, topic="name-not-resolved"))
    if evidence:
        expanded = [one for one in case.every(NameLookup) if (one.queries_count or 0) >= MANY_SEARCHES_COUNT]
        evidence += piece(
            _SEARCHES,
            FAIR if expanded else SLIGHT,
            [*expanded, *_long_search(case), *_cut_search(case), *case.said("dns-search-expansion")],
        )
        lost = case.every(Counter, lambda one: one.canonical == "conntrack_insert_failed" and one.value_count > 0)
        evidence += piece(_LOST, FAIR, lost)
        evidence += piece(_UNKNOWN_NAMES, FAIR, _mostly_unknown(case))
        evidence += piece(_NO_CACHE, SLIGHT, _without_cache(case))
    fast = [one for one in case.every(NameLookup) if one.time_s < 0.02]
    fast_requests = [one for one in case.every(HttpTiming) if one.namelookup_s is not None and one.namelookup_s < 0.02]
    quick = [one for one in case.every(NameServerRun) if one.time_p50_s is not None and one.time_p50_s < SLOW_SERVER_S]
    if not (lookups or requests_slow or servers or median or silent):
        evidence += against(_FAST, FAIR, [*quick, *fast, *fast_requests])
    return Verdict(evidence=tuple(evidence))


def _asked(queries: list[DnsQuery]) -> dict[str, Value]:
    """Which server was asked for what."""
    if not queries:
        return {}
    one = queries[0]
    return {"server": one.server, "name": f"{one.name} {one.query_type}", "queries_count": len(queries)}


def _slowest(servers: list[NameServerRun]) -> dict[str, Value]:
    if not servers:
        return {}
    one = max(servers, key=lambda it: it.time_p50_s or 0.0)
    return {"server": one.server, "name": one.name, "time_s": one.time_p50_s}


def _waits_for_name(one: HttpTiming) -> bool:
    if one.namelookup_s is None or one.namelookup_s < SLOW_LOOKUP_S:
        return False
    return one.total_s is None or one.namelookup_s >= NAME_SHARE_RATIO * one.total_s or one.namelookup_s >= VERY_SLOW_LOOKUP_S


def _cut_search(case: Case) -> tuple[ClusterEvent, ...]:
    """The kubelet's warning that a pod's search list is longer than resolvers take."""
    return case.every(ClusterEvent, lambda one: one.reason == "DNSConfigForming" and "earch" in one.message)


def _mostly_unknown(case: Case) -> tuple[Counter, ...]:
    """Counts of a server most of whose answers are that the name does not exist."""
    asked, unknown = (case.first(Counter, scope="coredns", name=name) for name in ("queries", "NXDOMAIN"))
    is_most = asked is not None and unknown is not None and unknown.value_count >= MOSTLY_UNKNOWN_RATIO * asked.value_count
    return tuple(one for one in (unknown, asked) if one is not None) if is_most else ()


def _without_cache(case: Case) -> tuple[Directive, ...]:
    """The forwarding of a CoreDNS configuration that caches nothing."""
    forwards = case.every(Directive, lambda one: one.server == "coredns" and one.name in ("forward", "proxy"))
    return () if case.first(Directive, server="coredns", name="cache") else forwards


def _long_search(case: Case) -> tuple[ResolverSetup, ...]:
    return case.every(ResolverSetup, lambda one: (one.ndots_count or 1) >= 5 or len(one.search) >= MANY_SEARCHES_COUNT)


_SERVER = Text(en="name server {server} takes {time_s} to answer for {name}", zh="域名服务器 {server} 应答 {name} 需 {time_s}")
_MEDIAN = Text(en="half of the answers of {server} take {time_s} or longer", zh="{server} 有一半的应答耗时 {time_s} 或更长")
_SILENT = Text(
    en="the cluster's DNS gets no answer from its upstream server {server}", zh="集群 DNS 得不到上游服务器 {server} 的应答"
)
_OVERLOADED = Text(en="the cluster's DNS reports overload or a loop", zh="集群 DNS 报告过载或循环")
_UNKNOWN_NAMES = Text(en="most answers of the cluster's DNS are that the name does not exist", zh="集群 DNS 的多数应答是域名不存在")
_NO_CACHE = Text(en="the cluster's DNS forwards without a cache", zh="集群 DNS 转发而不缓存")
_OPEN = Text(
    en="name server {server} did not answer {queries_count} questions in the capture, such as {name}",
    zh="抓包中域名服务器 {server} 有 {queries_count} 个查询未应答，如 {name}",
)
_FAILED = Text(
    en="name server {server} answered {queries_count} questions with a failure, such as {name}",
    zh="域名服务器 {server} 有 {queries_count} 个查询应答失败，如 {name}",
)
_LATE = Text(en="a question had to be asked again and was answered after {time_s}", zh="某个查询需重发，{time_s} 后才得到应答")
_UNANSWERED = Text(en="a name server leaves some questions unanswered", zh="域名服务器对部分查询没有应答")
_LOOKUP = Text(en="a look-up took {time_s}", zh="一次解析用了 {time_s}")
_REQUEST = Text(en="a request waited {time_s} for its name", zh="一个请求为解析域名等了 {time_s}")
_FIVE_MEASURED = Text(
    en="{time_s} is a multiple of the 5 s after which a resolver asks again", zh="{time_s} 是解析器 5 s 重试间隔的倍数"
)
_SAID = Text(en="names resolve slowly", zh="域名解析缓慢")
_FIVE = Text(en="stalls last multiples of 5 s, the resolver's retry time", zh="停顿为 5 s 的倍数，即解析器重试间隔")
_BUSY = Text(en="a name server is busy or dead", zh="某个域名服务器繁忙或失效")
_GIVES_UP = Text(en="the resolver had no answer in time, which another try may have", zh="解析器未及时得到应答，重试可能成功")
_UNRESOLVED = Text(en="a name could not be resolved", zh="有域名无法解析")
_SEARCHES = Text(en="the search list turns one name into many queries", zh="搜索列表把一个域名变成多次查询")
_LOST = Text(
    en="conntrack lost packets (insert_failed), which drops parallel DNS queries",
    zh="conntrack 丢包（insert_failed），会丢失并行的 DNS 查询",
)
_FAST = Text(en="names resolve within 20 ms", zh="域名在 20 ms 内解析")

RULE = Rule(
    cause="dns-slow",
    title=Text(en="Name resolution stalls requests", zh="域名解析拖住请求"),
    summary=Text(
        en="Requests wait for DNS: a lost or slow query costs the resolver's 5 s retry, and a long search list multiplies queries.",
        zh="请求在等 DNS：丢失或缓慢的查询要付出解析器 5 s 的重试，长搜索列表使查询倍增。",
    ),
    needs=(
        (NameServerRun,),
        (NameLookup,),
        (wants(DnsQuery, lambda one: one.is_answered is not None),),
        (wants(HttpTiming, lambda one: one.namelookup_s is not None),),
        (wants(FrameworkEvent, lambda one: one.topic.startswith("name-server-")),),
        (ResolverSetup, Statement),
        (Statement,),
    ),
    judge=_judge,
    explain=Explain(
        what=Text(
            en="With ndots:5 a name of fewer dots is tried with each search domain first, A and AAAA each; a lost UDP answer is asked for again after 5 s.",
            zh="ndots:5 时点数较少的域名先逐个尝试搜索域，A 与 AAAA 各一次；丢失的 UDP 应答 5 s 后才重问。",
        ),
        shows=Text(
            en="time_namelookup of 5.0 or 2.5 s, sporadic; NXDOMAIN answers are most of CoreDNS traffic.",
            zh="time_namelookup 偶发 5.0 或 2.5 s；CoreDNS 流量多为 NXDOMAIN。",
        ),
        sources=(
            "resolv.conf(5)",
            "Kubernetes: DNS for services and pods, NodeLocal DNSCache",
            "kubernetes/kubernetes#56903",
            "coredns/coredns#5179 (upstream i/o timeout)",
        ),
    ),
    told_apart_from=(
        LookAlike(
            cause="dns-conntrack-race",
            because=Text(
                en="that is one way queries get lost; insert_failed rises with each stall",
                zh="那是查询丢失的一种机制；每次停顿 insert_failed 都增长",
            ),
        ),
        LookAlike(
            cause="packet-loss",
            because=Text(en="loss of TCP segments costs 200 ms or 1 s, not 5 s", zh="TCP 段丢失代价为 200 ms 或 1 s，而非 5 s"),
        ),
    ),
    changes=(
        Change(
            what=Text(en="Run a caching resolver on each node", zh="在每个节点运行缓存解析器"),
            commands=("kubectl apply -f nodelocaldns.yaml",),
        ),
        Change(
            what=Text(en="Write external names with a trailing dot or lower ndots", zh="外部域名以点结尾或降低 ndots"),
            commands=('dnsConfig: {{options: [{{name: ndots, value: "1"}}]}}',),
        ),
        Change(what=Text(en="Keep connections so that names are resolved once", zh="保持连接，域名只解析一次")),
    ),
    checks=(
        Check(
            what=Text(en="No look-up above 100 ms in 1,000", zh="1,000 次解析中没有超过 100 ms 的"),
            commands=("for i in $(seq 1000); do curl -s -o /dev/null -w '%{{time_namelookup}}\\n' URL; done | sort -n | tail -3",),
        ),
    ),
    gain=Text(en="Removes stalls of 5 s and their multiples", zh="消除 5 s 及其倍数的停顿"),
    severity="medium",
)
