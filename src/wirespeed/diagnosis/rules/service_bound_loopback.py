"""The server listens on the loopback address only, so other hosts and containers are refused."""

import re

from wirespeed.diagnosis.joins.paths import is_own_probe
from wirespeed.diagnosis.joins.pieces import (
    MOST_COMPARED,
    against,
    configured,
    flags_of,
    lines_of,
    piece,
)
from wirespeed.model.case import Case
from wirespeed.model.events.log import FrameworkEvent
from wirespeed.model.facts.host import (
    EnvVar,
)
from wirespeed.model.facts.link import Counter
from wirespeed.model.facts.sockets import Listener
from wirespeed.model.finding import (
    FAIR,
    PROVES,
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
from wirespeed.model.measurement import (
    PortProbe,
)
from wirespeed.model.record import Record
from wirespeed.model.series import BEFORE_TESTS
from wirespeed.model.settings import Command, Statement
from wirespeed.model.text import Text

_LOOPBACK = re.compile(r"^(127\.|\[?::1\]?$|localhost$)")
_EVERYWHERE = re.compile(r"^(0\.0\.0\.0|\*|\[?::\]?)$")
SYSTEM_PORTS = frozenset({53, 25, 111, 323, 631, 953, 5353, 6010, 6011})
"""Resolver, mail, printing and X forwarding listen on loopback by design."""
SERVER_LOG = "inference-server"
_CONTAINER_TOOLS = frozenset({"docker", "podman", "nerdctl"})
_RESET = re.compile(r"(?i)reset by peer|empty reply|curl: \((?:52|56)\)")
_ALL_NAMED = re.compile(r"0\.0\.0\.0|\[?::\]?$")


def _judge(case: Case) -> Verdict:
    listeners = case.every(Listener, lambda one: one.port not in SYSTEM_PORTS)
    open_ports = {one.port for one in listeners if _EVERYWHERE.match(one.address)}
    loopback = [one for one in listeners if _LOOPBACK.match(one.address) and one.port not in open_ports]
    refused: list[Record] = [
        *case.every(PortProbe, lambda one: one.outcome == "refused" and not is_own_probe(one)),
        *case.every(FrameworkEvent, topic="connection-refused"),
        *case.said("connection-refused"),
    ]
    asked = [one for one in loopback if any(_names_port(record, one.port) for record in refused[:MOST_COMPARED])]
    hosts: list[Record] = [
        one.record
        for one in configured(case, r"(^|_)(host|bind|listen|bind_address|server_name|listen_addr(ess)?|ollama_host)$")
        if _LOOPBACK.match(one.setting.strip().split(":")[0].strip("\"'"))
    ]
    set_hosts = case.every(EnvVar, lambda one: one.name.endswith("_HOST") and _LOOPBACK.match(one.setting or "") is not None)
    evidence: list[Evidence] = []
    if asked:
        evidence.append(supports(_ASKED, PROVES, asked[0], address=asked[0].address, port=asked[0].port))
    else:
        wanted = _wanted_elsewhere(case, loopback)
        evidence += piece(_WANTED, STRONG + FAIR, wanted, port=loopback[0].port if loopback else None)
        evidence += piece(_LISTENS, FAIR if refused or not _by_log_only(loopback) else SLIGHT, loopback if not wanted else ())
    evidence += piece(_SET, FAIR, [*hosts, *set_hosts] or case.said("bound-to-loopback"))
    local = case.said("local-works-remote-refused")
    mapped = _mapped_and_reset(case) if hosts or set_hosts else []
    evidence += piece(_MAPPED, STRONG, mapped)
    evidence += piece(_PUBLISHED, FAIR if evidence else STRONG, _published_and_reset(case) if local else [])
    if not evidence and local and refused:
        evidence += piece(_REFUSED_ELSEWHERE, STRONG, [*local, *refused])
    elif evidence:
        evidence += piece(_REFUSED, FAIR, [] if asked else refused)
        evidence += piece(_LOCAL_WORKS, FAIR, local)
    evidence += against(_OPEN, STRONG, [] if loopback else [one for one in listeners if one.port in open_ports])
    return Verdict(evidence=tuple(evidence))


def _by_log_only(loopback: list[Listener]) -> bool:
    """Whether only servers' logs tell of them: many listen on loopback by default, and their users want no more."""
    return all(one.source.tool == SERVER_LOG for one in loopback)


def _mapped_and_reset(case: Case) -> list[Record]:
    """A port that a container publishes (`0.0.0.0:8080->8080/tcp`) and a connection to it that was reset at once."""
    published = case.said("port-published")
    resets = case.every(PortProbe, outcome="reset")
    return [*resets[:1], *published[:1]] if published and resets else []


def _published_and_reset(case: Case) -> list[Record]:
    """A published port that answers with a reset: the proxy of the container network connects, and nobody listens behind it."""
    published = case.every(
        Command,
        lambda one: (
            one.program.rsplit("/", 1)[-1] in _CONTAINER_TOOLS
            and any(re.match(r"-p$|-p\d|--publish", argument) for argument in one.arguments)
            and not any(_ALL_NAMED.search(argument) for argument in one.arguments)
        ),
    )
    resets: list[Record] = [
        *case.every(PortProbe, outcome="reset"),
        *case.every(FrameworkEvent, topic="connection-reset"),
        *(one for one in case.said("sporadic-reset", "connection-fails") if any(_RESET.search(line) for line in lines_of([one]))),
    ]
    return [*published[:1], *resets[:1]] if published and resets else []


def _wanted_elsewhere(case: Case, loopback: list[Listener]) -> list[Record]:
    """A loopback listener whose port refuses other hosts, while connections of somebody keep failing there."""
    failing = case.every(
        Counter,
        lambda one: one.is_delta and one.name.endswith("AttemptFails") and one.value_count > 0 and one.source.path == BEFORE_TESTS,
    )
    for one in loopback:
        refused = case.every(PortProbe, lambda probe: is_own_probe(probe) and probe.outcome == "refused")
        refusing = [probe for probe in refused if probe.port == one.port and probe.host != one.host]
        if failing and refusing:
            return [one, refusing[0], failing[0]]
    return []


def _names_port(record: Record, port: int) -> bool:
    return any(re.search(rf"(?<!\d){port}(?!\d)", quote.text) for quote in record.quotes)


_ASKED = Text(en="the refused port {port} is listened to on {address} only", zh="被拒绝的端口 {port} 只在 {address} 上监听")
_WANTED = Text(
    en="a server listens to port {port} on loopback only; other hosts are refused there, and somebody's connections keep failing",
    zh="某服务只在回环地址监听端口 {port}；其他主机被拒绝，且不断有连接失败",
)
_LISTENS = Text(en="a server listens on loopback only", zh="某服务只在回环地址监听")
_SET = Text(en="the server is told or said to listen on loopback", zh="服务被设置为或被指出在回环地址监听")
_REFUSED = Text(en="a connection is refused", zh="连接被拒绝")
_REFUSED_ELSEWHERE = Text(
    en="it works on the machine itself and is refused from elsewhere at once, as where nothing listens on that address",
    zh="本机可用，而从别处立即被拒绝，正如该地址上无人监听",
)
_LOCAL_WORKS = Text(en="it works on the machine itself and not from elsewhere", zh="本机可用而其他位置不可用")
_MAPPED = Text(
    en="the port is published, yet connections to it are reset: nobody listens where it leads",
    zh="端口已发布，但到它的连接被重置：其后无人监听",
)
_PUBLISHED = Text(
    en="the published port connects and is reset, while inside the container it answers",
    zh="发布的端口能连上却被重置，而容器内可用",
)
_OPEN = Text(en="the server listens on every address", zh="服务在所有地址监听")

RULE = Rule(
    cause="service-bound-loopback",
    title=Text(en="The server listens on loopback only", zh="服务只监听回环地址"),
    summary=Text(
        en="Connections from other machines, containers or pods are refused because nothing listens on the address they use.",
        zh="其他机器、容器或 Pod 的连接被拒绝，因为它们使用的地址上没有监听。",
    ),
    needs=(
        (Listener,),
        (wants(Command, lambda one: any(name in ("host", "bind") for name, _ in flags_of(one))),),
        (wants(EnvVar, lambda one: one.name.endswith("_HOST")),),
        (Statement,),
    ),
    judge=_judge,
    explain=Explain(
        what=Text(
            en="127.0.0.1 belongs to one network namespace; a container has its own, so even the host's loopback is another one.",
            zh="127.0.0.1 只属于一个网络命名空间；容器有自己的，主机的回环也不是它的回环。",
        ),
        shows=Text(
            en="`ss -ltn` shows 127.0.0.1:PORT; curl on the host works, from a container or another host ECONNREFUSED at once.",
            zh="ss -ltn 显示 127.0.0.1:PORT；主机上 curl 正常，从容器或其他主机立即 ECONNREFUSED。",
        ),
        sources=("Ollama FAQ: OLLAMA_HOST", "uvicorn --host (127.0.0.1)", "Docker: host.docker.internal"),
    ),
    told_apart_from=(
        LookAlike(
            cause="firewall-blocks-ports",
            because=Text(
                en="a filter mostly lets connects time out; refusal means that nobody listens there",
                zh="过滤通常使连接超时；拒绝说明那里无人监听",
            ),
        ),
        LookAlike(
            cause="docker-network",
            because=Text(
                en="there the server listens on all addresses and the port is not published", zh="那里服务监听所有地址但端口未发布"
            ),
        ),
    ),
    changes=(
        Change(
            what=Text(
                en="Listen on the address that others use; put a key or a filter in front where the network is not trusted",
                zh="监听他人使用的地址；网络不可信时加密钥或过滤",
            ),
            commands=("OLLAMA_HOST=0.0.0.0", "uvicorn --host 0.0.0.0", "vllm serve --host 0.0.0.0"),
            side="serving",
            risk=Text(en="Opens the service to everyone who reaches the host", zh="会向所有能到达主机者开放服务"),
        ),
    ),
    checks=(
        Check(
            what=Text(en="The listener shows 0.0.0.0, [::] or the host's address", zh="监听地址为 0.0.0.0、[::] 或主机地址"),
            commands=("ss -ltn",),
        ),
    ),
    gain=Text(en="The service becomes reachable", zh="服务变得可达"),
    severity="high",
    explains=("docker-network", "firewall-blocks-ports"),
)
