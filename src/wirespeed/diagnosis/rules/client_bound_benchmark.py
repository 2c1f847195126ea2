"""The load generator or test tool is the limit, not what it measures."""

import re

from wirespeed.diagnosis.joins.one_core import one_core_of_several
from wirespeed.diagnosis.joins.pieces import (
    ALONE,
    MOST_COMPARED,
    against,
    lines_of,
    piece,
    quantities,
)
from wirespeed.model.case import Case
from wirespeed.model.finding import (
    FAIR,
    SLIGHT,
    STRONG,
    Change,
    Check,
    Evidence,
    LookAlike,
    Verdict,
    supports,
)
from wirespeed.model.kinds import Explain, Rule, wants
from wirespeed.model.measurement import ServingMetric, ThroughputRun
from wirespeed.model.settings import Quantity, Statement, Table
from wirespeed.model.text import Text

APART_TIMES = 2.0
SEEN_APART_TIMES = 4.0
_BEHIND_SCHEDULE = r"(?:schedul\w+|dispatch|send(?:ing)?|start|sent|issue|arrival|launch)\W{0,2}(?:accuracy|delay|lag|lateness|drift|skew|minus planned|behind|late)\b.{0,40}$"
LEAST_BEHIND_S = 0.2
_GENERATOR_HOST = r"cpu"
LEAST_DELAY_S, DELAY_SHARE_RATIO = 0.05, 0.2
"""A generator that is this late, and by a fifth of a request's time, no longer offers the load it was asked for."""
_SERVER_SIDE = re.compile(r"(?i)\bserv(?:er?|ing)\b|vllm:|prometheus|histogram|engine|backend")
_CLIENT_SIDE = re.compile(
    r"(?i)\bclient\b|script|load gen|locust|\bk6\b|bench(?:mark)?\b|\btool\b|measured|\b(?:we|i) (?:measure|see|get)\b"
)
_TOOL_COLUMN = re.compile(r"(?i)tool|client|generator|wrk|hey|locust|k6|guidellm|genai|iperf|bench|script|aiohttp|httpx")
_FIRST_NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")


def _disagreement(table: Table) -> float | None:
    """Largest ratio between two tools' columns of one unit in one row."""
    columns = [place for place, title in enumerate(table.columns) if place and _TOOL_COLUMN.search(title)]
    worst = None
    for row in table.rows:
        for left in columns:
            for right in columns:
                if left >= right or max(left, right) >= len(row) or _unit(table.columns[left]) != _unit(table.columns[right]):
                    continue
                pair = [_FIRST_NUMBER.search(row[place]) for place in (left, right)]
                if pair[0] and pair[1]:
                    small, large = sorted(float(found[0].replace(",", "")) for found in pair if found)
                    worst = max(worst or 1.0, large / small) if small > 0 else worst
    return worst


def _unit(title: str) -> str:
    return title.split()[-1].lower()


def _judge(case: Case) -> Verdict:
    evidence: list[Evidence] = []
    tables = [(one, ratio) for one in case.every(Table) if (ratio := _disagreement(one)) is not None]
    apart = [one for one in tables if one[1] >= APART_TIMES]
    if apart:
        evidence.append(supports(_APART, STRONG, apart[0][0], apart_times_number=round(apart[0][1], 1)))
    evidence += piece(_CLIENT, STRONG if not apart else FAIR, case.said("client-is-limit"))
    evidence += piece(_TOOLS, ALONE, case.said("tools-disagree"))
    serial = case.said("client-one-at-a-time")
    evidence += piece(_SERIAL, STRONG if len(lines_of(serial)) > 1 else ALONE, serial)
    if evidence:
        evidence += piece(_SERVER, SLIGHT, case.said("server-not-busy"))
    gap = _seen_from_both_ends(case) or _told_from_both_ends(case)
    if gap:
        evidence.append(supports(_GAP, FAIR, gap[0], gap[1], server_s=gap[0].value, client_s=gap[1].value))
    late = _late_starts(case)
    evidence += piece(_LATE, STRONG, late, delay_s=max((one.value for one in late), default=None))
    behind = [one for one in quantities(case, "time", _BEHIND_SCHEDULE) if one.value >= LEAST_BEHIND_S]
    evidence += piece(_LATE, STRONG, behind if not late else (), delay_s=max((one.value for one in behind), default=None))
    one_core = one_core_of_several(case, _GENERATOR_HOST) if case.said("load-generator", "client-is-limit") or evidence else None
    if one_core:
        evidence.append(supports(_ONE_CORE, STRONG, one_core[0], share_ratio=one_core[1], cpus_text=f"{one_core[2]:.0f}"))
        evidence += piece(_SAME_RATE, FAIR, case.said("throughput-flat", "rate-same-for-any-clients"))
    core = case.every(ThroughputRun, lambda one: max(one.cpu_local_ratio or 0, one.cpu_remote_ratio or 0) >= 0.95)
    evidence += piece(_CORE, FAIR, core)
    if tables and not apart:
        evidence += against(_AGREE, STRONG, [one for one, _ in tables])
    return Verdict(evidence=tuple(evidence))


def _seen_from_both_ends(case: Case) -> tuple[ServingMetric, ServingMetric] | None:
    """One measure of time that the server gives and the client gives, several times longer at the client."""
    times = case.every(ServingMetric, lambda one: one.name in ("ttft_s", "e2e_s", "tpot_s", "itl_s") and one.value > 0)
    servers = [one for one in times if _SERVER_SIDE.search(_line(one)) and not _CLIENT_SIDE.search(_line(one))]
    clients = [one for one in times if _CLIENT_SIDE.search(_line(one)) and not _SERVER_SIDE.search(_line(one))]
    pairs = [(server, client) for server in servers[:9] for client in clients[:9] if server.name == client.name]
    return next((pair for pair in pairs if pair[1].value >= SEEN_APART_TIMES * pair[0].value), None)


def _told_from_both_ends(case: Case) -> tuple[Quantity, Quantity] | None:
    """The same in words: `locust says 4 s, the server says 300 ms`, each time belonging to the side named last before it."""
    times = [one for one in quantities(case, "time") if one.value > 0][:MOST_COMPARED]
    servers = [one for one in times if _side(one.subject) == "server"]
    clients = [one for one in times if _side(one.subject) == "client"]
    pairs = [(server, client) for server in servers for client in clients if server.quotes == client.quotes]
    return next((pair for pair in pairs if pair[1].value >= SEEN_APART_TIMES * pair[0].value), None)


def _side(subject: str) -> str | None:
    """Which side a number is told of: the one named last in front of it."""
    named = [
        (found.start(), side)
        for side, shape in (("server", _SERVER_SIDE), ("client", _CLIENT_SIDE))
        for found in shape.finditer(subject)
    ]
    return max(named)[1] if named else None


def _late_starts(case: Case) -> tuple[ServingMetric, ...]:
    """Delays that a load generator had before requests it should have sent at a set time, where they are part of what it measures."""
    times = {
        one.run: one.value for one in case.every(ServingMetric, lambda one: one.name == "e2e_s" and one.at in ("mean", "median"))
    }
    late = case.every(ServingMetric, lambda one: one.name == "client_delay_s" and one.value >= LEAST_DELAY_S)
    return tuple(one for one in late if one.value >= DELAY_SHARE_RATIO * times.get(one.run, float("inf")))


def _line(one: ServingMetric) -> str:
    return one.quotes[0].text if one.quotes else ""


_ONE_CORE = Text(
    en="{share_ratio} of {cpus_text} CPUs is one core: a process that uses one core only is at its end",
    zh="{cpus_text} 个 CPU 的 {share_ratio} 恰为一个核：只用单核的进程已到极限",
)
_SAME_RATE = Text(en="the rate does not grow with clients", zh="速率不随客户端数增长")
_GAP = Text(en="the server measures {server_s}, the client {client_s}", zh="服务器测得 {server_s}，客户端测得 {client_s}")
_APART = Text(en="two tools differ {apart_times_number} times on one server", zh="同一服务器上两个工具相差 {apart_times_number} 倍")
_CLIENT = Text(en="the client is at its limit: one process, one core or its buffers", zh="客户端达到极限：单进程、单核或缓冲")
_TOOLS = Text(en="another tool or more clients get other numbers", zh="换工具或增加客户端得到不同数字")
_SERIAL = Text(en="the client sends one request at a time", zh="客户端每次只发一个请求")
_SERVER = Text(en="the server is the same or has room", zh="服务器相同或有余量")
_LATE = Text(
    en="the load generator itself begins requests {delay_s} after their time",
    zh="负载生成器自身在应发时刻之后 {delay_s} 才开始请求",
)
_CORE = Text(en="the test tool used a whole core", zh="测试工具用满一个核")
_AGREE = Text(en="the tools agree", zh="各工具结果一致")

RULE = Rule(
    cause="client-bound-benchmark",
    title=Text(en="The load generator is the limit", zh="负载生成器是瓶颈"),
    summary=Text(
        en="The measuring client cannot send or read fast enough, so its numbers describe itself.",
        zh="测量客户端收发不够快，其数字描述的是自身。",
    ),
    needs=(
        (wants(Table, lambda one: _disagreement(one) is not None),),
        (wants(ThroughputRun, lambda one: one.cpu_local_ratio is not None),),
        (wants(ServingMetric, lambda one: one.name == "client_delay_s"),),
        (wants(Quantity, lambda one: re.search(_BEHIND_SCHEDULE, one.subject) is not None),),
        (wants(ServingMetric, lambda one: _CLIENT_SIDE.search(_line(one)) is not None),),
        (Statement,),
    ),
    judge=_judge,
    explain=Explain(
        what=Text(
            en="A single Python event loop parses some ten thousand stream events a second; above that they wait in its socket buffers and count as server latency.",
            zh="单个 Python 事件循环每秒约能解析一万余个流事件；超过后它们在套接字缓冲中等待，被算成服务器延迟。",
        ),
        shows=Text(
            en="Another client, or two of them, gets more from the same server; the client's core is at 100 %.",
            zh="换一个或用两个客户端，从同一服务器得到更多；客户端核满载。",
        ),
        sources=("Schroeder et al.: Open Versus Closed", "iperf3 manual: one thread a test before 3.16"),
    ),
    told_apart_from=(
        LookAlike(
            cause="server-saturated",
            because=Text(en="a saturated server gives every client the same", zh="服务器饱和时所有客户端结果相同"),
        ),
        LookAlike(
            cause="cpu-bound-host",
            because=Text(en="there the production path itself is limited by a core", zh="那里生产路径本身受限于单核"),
        ),
    ),
    changes=(
        Change(
            what=Text(
                en="Generate load from several processes or machines; check the client's CPU and event loop delay",
                zh="用多进程或多机生成负载；检查客户端 CPU 与事件循环延迟",
            ),
            commands=("iperf3 -P 8", "guidellm --max-concurrency N", "wrk -t8 -c256"),
        ),
    ),
    checks=(
        Check(what=Text(en="Two clients together measure the same server total as one", zh="两个客户端合计与一个所测总量相同")),
    ),
    gain=Text(en="Numbers that describe the server", zh="数字真实反映服务器"),
    severity="low",
    explains=("server-saturated", "no-fault-queueing", "kv-cache-preemption", "packet-loss"),
)
