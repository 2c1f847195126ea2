"""The queue of a listening socket is full, so new connections are dropped and retried after 1, 3, 7 s."""

import re

from wirespeed.diagnosis.joins.flows import by_server, place, told
from wirespeed.diagnosis.joins.pieces import ALONE, against, piece
from wirespeed.model.case import Case
from wirespeed.model.events.log import KernelEvent
from wirespeed.model.facts.host import Sysctl
from wirespeed.model.facts.link import Counter
from wirespeed.model.facts.sockets import Listener
from wirespeed.model.finding import FAIR, PROVES, SLIGHT, STRONG, Change, Check, Evidence, LookAlike, Verdict, supports
from wirespeed.model.flows import TcpFlow
from wirespeed.model.kinds import Explain, Rule, wants
from wirespeed.model.series import BEFORE_TESTS
from wirespeed.model.settings import Statement, Table
from wirespeed.model.text import Text

SEVERAL_COUNT = 2
"""One SYN may be lost by chance."""
_LISTEN_COLUMN = re.compile(r"(?i)\blisten[ _]?(?:overflows?|drops?)")


def _judge(case: Case) -> Verdict:
    full = case.every(Listener, lambda one: bool(one.backlog_count) and (one.queue_count or 0) >= (one.backlog_count or 0))
    roomy = case.every(Listener, lambda one: bool(one.backlog_count) and (one.queue_count or 0) < 0.5 * (one.backlog_count or 0))
    overflows = case.every(Counter, lambda one: one.canonical in ("listen_overflows", "listen_drops"))
    watched = {one.host for one in case.every(Counter, lambda one: one.is_delta and one.source.path == BEFORE_TESTS)}
    rising = [one for one in overflows if one.value_count > 0 and (one.is_delta or one.host not in watched)]
    evidence: list[Evidence] = []
    for one in full[:1]:
        evidence.append(supports(_FULL, PROVES, one, port=one.port, queue_count=one.queue_count, backlog_count=one.backlog_count))
    evidence += piece(_OVERFLOWS, STRONG, rising, drops_count=max((one.value_count for one in rising), default=0))
    turned_away = _turned_away(case)
    evidence += told(
        _TURNED_AWAY,
        STRONG if len(turned_away) >= SEVERAL_COUNT else FAIR,
        turned_away,
        "start",
        "sent-again",
        "answer",
        server=place(turned_away[0].server) if turned_away else None,
        flows_count=len(turned_away),
        wait_s=max((one.connect_s or one.syn_wait_s or 0.0 for one in turned_away), default=None),
    )
    evidence += piece(_RISING, STRONG, case.every(Table, _drops_rise))
    evidence += piece(_FLOOD, FAIR, case.every(KernelEvent, topic="syn-flood"))
    evidence += piece(_SAID, ALONE, case.said("accept-queue"))
    if evidence:
        evidence += piece(_SLOW_CONNECT, FAIR, case.said("connect-slow-in-bursts"))
        small = case.every(Sysctl, lambda one: one.name.endswith("somaxconn") and one.setting.isdigit() and int(one.setting) <= 512)
        evidence += piece(_SMALL, SLIGHT, small)
    if not full and not rising:
        evidence += against(_ROOM, FAIR, [*roomy, *overflows])
    return Verdict(evidence=tuple(evidence))


def _turned_away(case: Case) -> list[TcpFlow]:
    """Connections whose SYN was sent again, or whose handshake the server would not finish, at a port where others get through.

    Loss would hit what is sent later as well: it is looked for in the connections that were accepted.
    """
    found: list[TcpFlow] = []
    for group in by_server(case.every(TcpFlow, lambda one: one.has_start)):
        accepted = [one for one in group if one.is_established and one.syn_count == 1 and one.syn_ack_count <= 1]
        held_up = [one for one in group if one.syn_count > 1 or (one.syn_ack_count > 2 and one.is_established)]
        lost = sum(one.client.retransmits_count + one.server.retransmits_count for one in accepted)
        if accepted and held_up and lost <= len(accepted):
            found += held_up
    return found


_TURNED_AWAY = Text(
    en="{flows_count} connections to {server} had to ask again, for up to {wait_s}, while others to the same port were accepted and lost nothing",
    zh="到 {server} 的 {flows_count} 个连接需反复发起，最长 {wait_s}，而同一端口的其他连接已被接受且没有丢包",
)


def _drops_rise(table: Table) -> bool:
    """Whether a column of the kernel's listen counters grows from row to row."""
    for column, name in enumerate(table.columns):
        if _LISTEN_COLUMN.search(name):
            counts = [int(found[0]) for row in table.rows if column < len(row) and (found := re.match(r"\d+", row[column]))]
            if len(counts) >= 2 and counts == sorted(counts) and counts[-1] > counts[0]:
                return True
    return False


_RISING = Text(en="drops at listening sockets rise from look to look", zh="监听套接字的丢弃数逐次上升")
_FULL = Text(
    en="port {port}: {queue_count} connections wait, the limit is {backlog_count}",
    zh="端口 {port}：{queue_count} 个连接在等待，上限 {backlog_count}",
)
_OVERFLOWS = Text(en="the kernel counted {drops_count} drops at listening sockets", zh="内核记录监听套接字丢弃 {drops_count} 次")
_FLOOD = Text(en="the kernel reports a SYN flood on a port", zh="内核报告端口遭遇 SYN 洪泛")
_SAID = Text(en="the accept or SYN queue is named", zh="提到了 accept 或 SYN 队列")
_SLOW_CONNECT = Text(en="connecting is slow or fails in bursts", zh="突发时连接缓慢或失败")
_SMALL = Text(en="somaxconn is small", zh="somaxconn 偏小")
_ROOM = Text(en="the accept queue has room and nothing was dropped", zh="accept 队列有余量且无丢弃")

RULE = Rule(
    cause="accept-queue-overflow",
    title=Text(en="The accept queue of a server overflows", zh="服务器的 accept 队列溢出"),
    summary=Text(
        en="Connections arrive faster than the program accepts them; the kernel drops the handshake and clients retry after 1, 3 and 7 s.",
        zh="连接到达快于程序接收；内核丢弃握手，客户端在 1、3、7 s 后重试。",
    ),
    needs=(
        (Listener,),
        (wants(TcpFlow, lambda one: one.has_start and (one.is_answered is not None or one.syn_count > 1)),),
        (wants(Counter, lambda one: one.canonical in ("listen_overflows", "listen_drops")),),
        (wants(KernelEvent, lambda one: one.topic == "syn-flood"),),
        (wants(Table, _drops_rise),),
        (Statement,),
    ),
    judge=_judge,
    explain=Explain(
        what=Text(
            en="The queue holds min(backlog, somaxconn) finished handshakes; a busy event loop empties it late, and a burst of connects fills it.",
            zh="队列容纳 min(backlog, somaxconn) 个已完成握手；繁忙的事件循环取走得晚，一阵突发即填满。",
        ),
        shows=Text(
            en="Recv-Q at Send-Q in `ss -ltn`; TcpExtListenOverflows rises; connect times of 1.0, 3.0 or 7.0 s.",
            zh="ss -ltn 中 Recv-Q 达到 Send-Q；TcpExtListenOverflows 增长；连接时间为 1.0、3.0 或 7.0 s。",
        ),
        sources=("listen(2)", "Linux ip-sysctl.rst: somaxconn, tcp_max_syn_backlog", "ss(8)"),
    ),
    told_apart_from=(
        LookAlike(
            cause="packet-loss",
            because=Text(en="loss hits data too, this hits only handshakes", zh="丢包也影响数据，这里只影响握手"),
        ),
        LookAlike(
            cause="conntrack-full", because=Text(en="a full conntrack table is reported in dmesg", zh="conntrack 表满会记入 dmesg")
        ),
    ),
    changes=(
        Change(
            what=Text(
                en="Raise the program's backlog and somaxconn together, and accept in more workers",
                zh="同时提高程序 backlog 与 somaxconn，并增加接收进程",
            ),
            commands=("sysctl -w net.core.somaxconn=4096", "gunicorn --backlog 4096", "uvicorn --backlog 4096"),
            side="serving",
        ),
    ),
    checks=(
        Check(
            what=Text(en="ListenOverflows stays flat under the same burst", zh="相同突发下 ListenOverflows 不再增长"),
            commands=("nstat -az TcpExtListenOverflows TcpExtListenDrops",),
        ),
    ),
    gain=Text(en="Removes connect delays of 1 s and more in bursts", zh="消除突发时 1 s 以上的连接延迟"),
    severity="medium",
    explains=("packet-loss",),
)
