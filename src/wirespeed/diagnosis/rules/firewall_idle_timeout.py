"""A stateful device forgets idle connections, and neither end is told."""

from wirespeed.diagnosis.joins.flows import IDLE_S, is_forgotten, place, told, with_side
from wirespeed.diagnosis.joins.pieces import ALONE, against, configured, is_setting_named, piece, said_s
from wirespeed.model.case import Case
from wirespeed.model.events.log import ServerEvent
from wirespeed.model.facts.host import Sysctl
from wirespeed.model.finding import FAIR, SLIGHT, STRONG, Change, Check, Evidence, LookAlike, Value, Verdict, contradicts, supports
from wirespeed.model.flows import TcpFlow
from wirespeed.model.kinds import Explain, Rule, wants
from wirespeed.model.record import Record
from wirespeed.model.settings import Setting, Statement
from wirespeed.model.text import Text

_DEVICE_IDLE = r"(firewall|nat|nlb|lb|balancer|conntrack|session|idle).*(timeout|time_out)|idle_time_?out"
_CONNTRACK_ESTABLISHED = "nf_conntrack_tcp_timeout_established"


def _keepalive(case: Case) -> tuple[Sysctl, float] | None:
    one = case.first(Sysctl, lambda it: it.name.replace("/", ".").endswith("tcp_keepalive_time"))
    return (one, float(one.setting)) if one and one.setting.strip().isdigit() else None


def _device_idle(case: Case) -> list[tuple[Record, float]]:
    found: list[tuple[Record, float]] = [(one.record, one.duration_s) for one in configured(case, _DEVICE_IDLE) if one.duration_s]
    found += [
        (one, float(one.setting))
        for one in case.every(Sysctl, lambda it: it.name.endswith(_CONNTRACK_ESTABLISHED))
        if one.setting.isdigit()
    ]
    return found + [(one, seconds) for one in case.said("balancer-idle") if (seconds := said_s(one))]


def _captured(case: Case) -> list[Evidence]:
    """Connections that were quiet, and then dead: what is sent vanishes, or somebody in between answers with a reset."""
    evidence: list[Evidence] = []
    forgotten = with_side(case, is_forgotten)
    if forgotten:
        _, sender, receiver = forgotten[0]
        evidence += told(
            _FORGOTTEN,
            STRONG + SLIGHT,
            [one for one, _, _ in forgotten],
            "silence",
            "sent-again",
            idle_s=sender.stuck_idle_s,
            sender=place(sender),
            receiver=place(receiver),
            sends_count=sender.stuck_sends_count,
        )
    reset = case.every(TcpFlow, _is_reset_after_idle)
    foreign = [one for one in reset if one.reset_ttl_differs]
    evidence += told(
        _RESET_FOREIGN if foreign else _RESET,
        STRONG + FAIR if foreign else FAIR,
        foreign or reset,
        "silence",
        "reset",
        idle_s=max((one.reset_idle_s or 0.0 for one in foreign or reset), default=None),
    )
    lasting = case.every(TcpFlow, lambda one: (one.silence_s or 0.0) >= LONG_IDLE_S and not one.ended.endswith("reset"))
    if not forgotten and not reset:
        evidence += against(_LASTING, SLIGHT, [one for one in lasting if not one.client.stuck_bytes and not one.server.stuck_bytes])
    return evidence


def _is_reset_after_idle(flow: TcpFlow) -> bool:
    is_drawn = flow.ended == "server-reset" and flow.reset_on in ("request", "data", "idle")
    return is_drawn and (flow.reset_idle_s or 0.0) >= IDLE_S and not flow.is_request_after_fin


def _judge(case: Case) -> Verdict:
    evidence: list[Evidence] = []
    device, keepalive = min(_device_idle(case), key=lambda one: one[1], default=None), _keepalive(case)
    silent = case.said("silent-idle-drop")
    stateful, long_idle = case.said("stateful-device"), case.said("long-idle")
    quiet = long_idle or case.said("after-silence")
    evidence += piece(_SILENT, ALONE, silent)
    evidence += _captured(case)
    if silent or stateful:
        evidence += piece(_LONG, FAIR, quiet)
    if keepalive and device:
        numbers: dict[str, Value] = {"keepalive_s": keepalive[1], "device_s": device[1]}
        if keepalive[1] > device[1]:
            evidence.append(supports(_LATE, STRONG if silent else FAIR, keepalive[0], device[0], **numbers))
        else:
            evidence.append(contradicts(_IN_TIME, STRONG, keepalive[0], device[0], **numbers))
    if evidence:
        evidence += piece(_AFTER, SLIGHT, case.said("after-silence") if long_idle else ())
        evidence += piece(_STATEFUL, FAIR, stateful)
    evidence += against(_BAD_GATEWAY, FAIR, case.every(ServerEvent, status_code=502))
    return Verdict(evidence=tuple(evidence), values={"device_s": device[1] if device else None})


LONG_IDLE_S = 60.0
_FORGOTTEN = Text(
    en="after {idle_s} of silence {sender} sent data to {receiver} {sends_count} times without any answer",
    zh="静默 {idle_s} 后，{sender} 向 {receiver} 发送数据 {sends_count} 次，均无任何应答",
)
_RESET_FOREIGN = Text(
    en="after {idle_s} of silence the connection is reset by something that is not the other end: its packets have another TTL",
    zh="静默 {idle_s} 后连接被重置，而重置并非来自对端：其 TTL 不同",
)
_RESET = Text(en="after {idle_s} of silence the first packet is answered with a reset", zh="静默 {idle_s} 后的首个包得到重置应答")
_LASTING = Text(en="connections survive long silences in the capture", zh="抓包中的连接经受住了长时间静默")
_SILENT = Text(en="idle connections die without notice", zh="空闲连接无声失效")
_LATE = Text(
    en="the first keep-alive comes after {keepalive_s}, the device forgets after {device_s}",
    zh="首个 keepalive 在 {keepalive_s} 后才发，设备 {device_s} 后即遗忘",
)
_IN_TIME = Text(
    en="keep-alives come every {keepalive_s}, before the device's {device_s}",
    zh="keepalive 每 {keepalive_s} 一次，早于设备的 {device_s}",
)
_LONG = Text(en="it happens after a silence", zh="在一段静默之后发生")
_AFTER = Text(en="the silence lasts minutes or hours", zh="静默持续数分钟或数小时")
_STATEFUL = Text(en="a firewall, NAT or balancer is in the path", zh="路径上有防火墙、NAT 或均衡器")
_BAD_GATEWAY = Text(en="a 502 comes from a connection that was closed, not forgotten", zh="502 来自被关闭而非被遗忘的连接")

RULE = Rule(
    cause="firewall-idle-timeout",
    title=Text(en="A stateful device drops idle connections", zh="有状态设备丢弃空闲连接"),
    summary=Text(
        en="A firewall, NAT or balancer removes the entry of a quiet connection; the next packet is swallowed and the program waits for its own time-out.",
        zh="防火墙、NAT 或均衡器删除了静默连接的条目；下一个包被吞掉，程序只能等到自身超时。",
    ),
    needs=(
        (wants(Sysctl, lambda one: one.name.endswith(("tcp_keepalive_time", _CONNTRACK_ESTABLISHED))), Statement),
        (
            wants(Setting, lambda one: is_setting_named(one, _DEVICE_IDLE)),
            wants(Sysctl, lambda one: one.name.endswith("tcp_keepalive_time")),
        ),
        (wants(TcpFlow, lambda one: (one.silence_s or 0.0) >= IDLE_S),),
        (Statement,),
    ),
    judge=_judge,
    explain=Explain(
        what=Text(
            en="Devices keep state for minutes (NLB 350 s, Azure 4 min, Google NAT 20 min, many firewalls 60 min); Linux sends its first keep-alive after 2 h, and only where asked.",
            zh="设备只保留状态数分钟（NLB 350 s、Azure 4 分钟、Google NAT 20 分钟、许多防火墙 60 分钟）；Linux 默认 2 小时后才发首个 keepalive，且需启用。",
        ),
        shows=Text(
            en="The first message after a pause hangs or is reset; both ends show ESTAB or one does; fresh connections work.",
            zh="停顿后的首条消息挂起或被重置；一端或两端仍显示 ESTAB；新连接正常。",
        ),
        sources=(
            "AWS NLB: connection idle timeout 350 s",
            "Azure load balancer: TCP idle timeout 4 min",
            "Linux tcp(7): tcp_keepalive_time 7200 s",
        ),
    ),
    told_apart_from=(
        LookAlike(
            cause="keepalive-timeout-reset",
            because=Text(
                en="there the server closes with FIN and the proxy answers 502 at once",
                zh="那里服务器以 FIN 关闭，代理立即返回 502",
            ),
        ),
        LookAlike(
            cause="firewall-blocks-ports", because=Text(en="there no connection works from the start", zh="那里从一开始就连不上")
        ),
    ),
    changes=(
        Change(
            what=Text(
                en="Send keep-alives more often than the device forgets, and switch them on in the program",
                zh="keepalive 间隔短于设备遗忘时间，并在程序中启用",
            ),
            commands=(
                "sysctl -w net.ipv4.tcp_keepalive_time=120 net.ipv4.tcp_keepalive_intvl=30",
                "sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)",
            ),
        ),
    ),
    checks=(
        Check(
            what=Text(en="A connection left idle for twice the device's time still works", zh="空闲时间为设备超时两倍的连接仍可用"),
            commands=("ss -tno state established | grep keepalive",),
        ),
    ),
    gain=Text(en="Removes hangs after pauses", zh="消除停顿后的挂起"),
    severity="medium",
    explains=("collective-timeout-too-short", "keepalive-timeout-reset"),
)
