"""NCCL's bootstrap or sockets took an interface that the peers cannot reach."""

import re

from wirespeed.diagnosis.joins.cluster import address_of, host_of, in_one_network, variables
from wirespeed.diagnosis.joins.pieces import piece
from wirespeed.model.case import Case
from wirespeed.model.events.log import FrameworkEvent
from wirespeed.model.events.nccl import NcclBootstrap, NcclWarning
from wirespeed.model.facts.host import EnvVar
from wirespeed.model.facts.link import Link
from wirespeed.model.facts.path import Address
from wirespeed.model.finding import FAIR, PROVES, SLIGHT, STRONG, Change, Check, LookAlike, Verdict
from wirespeed.model.kinds import Explain, Rule, wants
from wirespeed.model.record import Record
from wirespeed.model.settings import Statement
from wirespeed.model.text import Text

_LOCAL_ONLY = re.compile(
    r"(?i)^(?:docker\d|virbr\d|br-[0-9a-f]|ip6tnl|tunl\d|sit\d|gre\d|erspan|veth|cni\d|flannel|cali|kube-|vmnet|vboxnet|tailscale|zt|wg\d|tun\d|tap\d|usb\d|enx|wl|dummy|nerdctl|podman|cilium|lxc|nodelocaldns|weave)"
)
"""Interfaces of bridges, tunnels, VPNs, wireless and service processors: up on many hosts and no path to a peer's training network."""


def _judge(case: Case) -> Verdict:
    used = tuple(one for one in case.every(NcclBootstrap) if one.order_index == 0)
    odd = tuple(one for one in used if _LOCAL_ONLY.match(one.interface) or one.interface == "lo")
    link_local = tuple(one for one in used if _is_link_local(one.address))
    routable_too = case.first(NcclBootstrap, lambda one: one.order_index > 0 and not _is_link_local(one.address))
    failed_locally = case.every(NcclWarning, lambda one: one.topic == "connect-failed" and _is_link_local(one.peer or ""))
    evidence = (
        *piece(_ODD, STRONG, odd, interface=odd[0].interface if odd else None),
        *piece(_SPREAD, STRONG if _fails(case) else FAIR, _spread_over_local(case) if not odd else ()),
        *piece(_EXCLUDES, FAIR if _fails(case) else SLIGHT, _excludes_without_loopback(case)),
        *piece(
            _LINK_LOCAL, STRONG if routable_too else FAIR, link_local, interface=link_local[0].interface if link_local else None
        ),
        *piece(_TO_LINK_LOCAL, STRONG, failed_locally),
        *piece(_NO_INTERFACE, PROVES, case.every(NcclWarning, topic="no-interface")),
        *piece(_GARBLED, FAIR, case.every(NcclWarning, topic="peer-address-invalid")),
        *piece(_DIFFERENT, STRONG, _in_different_networks(case, used)),
        *piece(_MISSING, STRONG, _names_missing_link(case)),
        *piece(_SECOND, STRONG, _failed_on_chosen_of_several(case)),
        *piece(_SAID, FAIR + SLIGHT, case.said("interface-wrong")),
        *piece(_HELPS, STRONG, case.said("interface-set-helps")),
    )
    interface = (odd or link_local or used or (None,))[0]
    return Verdict(evidence=evidence, values={"interface": interface.interface if interface else "IFACE"})


def _spread_over_local(case: Case) -> tuple[NcclBootstrap, ...]:
    """Interfaces that stay inside the host among those over which NCCL spreads its sockets: it uses all of the list."""
    listed = case.every(NcclBootstrap, role="socket")
    return tuple(one for one in listed if one.order_index > 0 and _LOCAL_ONLY.match(one.interface))


def _excludes_without_loopback(case: Case) -> tuple[EnvVar, ...]:
    """Exclusions in NCCL_SOCKET_IFNAME that do not name lo: they replace NCCL's own (`^lo,docker`), so that loopback is a candidate again."""
    excluding = [one for one in variables(case, "NCCL_SOCKET_IFNAME") if (one.setting or "").startswith("^")]
    return tuple(one for one in excluding if "lo" not in (one.setting or "").lstrip("^=").split(","))


def _fails(case: Case) -> bool:
    """Whether connections fail or never come, rather than being slow."""
    broken = ("connect-failed", "timeout", "result", "connection-closed")
    return bool(
        case.first(NcclWarning, lambda one: one.topic in broken)
        or case.first(FrameworkEvent, topic="nccl-error")
        or case.said("hang", "connection-fails", "comes-to-a-stop")
    )


def _is_link_local(text: str) -> bool:
    address = address_of(text)
    return address is not None and (address.is_link_local or address.is_loopback)


def _in_different_networks(case: Case, used: tuple[NcclBootstrap, ...]) -> tuple[Record, ...]:
    """First interfaces of two hosts whose /16 (or /48) differ, once a connection failed."""
    if not case.first(NcclWarning, lambda one: one.topic in ("connect-failed", "timeout")):
        return ()
    placed = [(one, address) for one in used if (address := address_of(one.address)) and not address.is_link_local]
    for other, address in placed[1:]:
        first, first_address = placed[0]
        prefix_length_number = 16 if address.version == 4 else 48
        if host_of(other) != host_of(first) and not in_one_network(first_address, address, prefix_length_number):
            return (first, other)
    return ()


def _names_missing_link(case: Case) -> tuple[Record, ...]:
    """NCCL_SOCKET_IFNAME names an interface that the list of links of the same input set does not hold."""
    links = {one.name for one in case.every(Link)} | {one.link for one in case.every(Address)}
    if len(links) < 2:
        return ()
    for variable in variables(case, "NCCL_SOCKET_IFNAME"):
        names = [name for name in (variable.setting or "").lstrip("=").split(",") if name]
        if (
            names
            and not (variable.setting or "").startswith("^")
            and not any(link.startswith(name) for link in links for name in names)
        ):
            return (variable,)
    return ()


def _failed_on_chosen_of_several(case: Case) -> tuple[Record, ...]:
    """A connection failed to an address of the network that was first of several in the peer's list."""
    failed = case.first(NcclWarning, topic="connect-failed")
    several = case.first(NcclBootstrap, lambda one: one.order_index > 0)
    if not failed or not several:
        return ()
    target = address_of(failed.peer or failed.message)
    chosen = case.first(
        NcclBootstrap, lambda one: one.order_index == 0 and target is not None and address_of(one.address) == target
    )
    return (chosen, failed) if chosen else ()


_ODD = Text(en="NCCL took {interface}, an interface that stays inside its host", zh="NCCL 选用了只在本机内部有效的接口 {interface}")
_SPREAD = Text(
    en="NCCL spreads its sockets over interfaces that stay inside the host",
    zh="NCCL 把套接字分散到只在本机内部有效的接口上",
)
_GARBLED = Text(en="the address a peer sent is none", zh="对端发来的地址无法识别")
_EXCLUDES = Text(
    en="the list of excluded interfaces replaces NCCL's own and does not hold lo",
    zh="排除接口的列表取代了 NCCL 的默认列表，且未包含 lo",
)
_LINK_LOCAL = Text(
    en="{interface} was announced with a link-local or loopback address, which no other host can reach",
    zh="{interface} 宣告的是链路本地或回环地址，其他主机无法到达",
)
_TO_LINK_LOCAL = Text(
    en="NCCL connects to a link-local or loopback address of the peer, which ends in its own host",
    zh="NCCL 连接的是对端的链路本地或回环地址，只在其本机有效",
)
_NO_INTERFACE = Text(
    en="NCCL found no usable socket interface under the name it was given", zh="NCCL 按给定名称找不到可用的套接字接口"
)
_DIFFERENT = Text(en="two hosts announce addresses of different networks", zh="两台主机宣告的地址属于不同网络")
_MISSING = Text(en="NCCL_SOCKET_IFNAME names an interface this host does not have", zh="NCCL_SOCKET_IFNAME 指定的接口在本机不存在")
_SECOND = Text(
    en="the connection fails to the address that was first in the peer's list of several",
    zh="连接失败的地址正是对端多个接口中排在首位的那个",
)
_SAID = Text(en="several interfaces, and not the intended one is used", zh="存在多个接口，使用的并非期望的那个")
_HELPS = Text(en="naming the interface makes it work", zh="指定接口后即可工作")

RULE = Rule(
    cause="nccl-wrong-interface",
    title=Text(en="NCCL uses the wrong network interface", zh="NCCL 使用了错误的网络接口"),
    summary=Text(
        en="NCCL announces the address of an interface that the other hosts cannot reach, so connections fail or time out at start.",
        zh="NCCL 宣告的接口地址其他主机无法到达，因此启动时连接失败或超时。",
    ),
    needs=(
        (NcclBootstrap,),
        (wants(NcclWarning, lambda one: one.topic == "no-interface"),),
        (wants(EnvVar, lambda one: one.name == "NCCL_SOCKET_IFNAME"),),
        (Statement,),
    ),
    judge=_judge,
    explain=Explain(
        what=Text(
            en="Without NCCL_SOCKET_IFNAME, NCCL takes ib* first, then any interface but lo and docker*, in the order of the kernel.",
            zh="未设置 NCCL_SOCKET_IFNAME 时，NCCL 先取 ib*，再按内核顺序取除 lo 与 docker* 以外的接口。",
        ),
        shows=Text(
            en="Bootstrap : Using names a bridge, tunnel, VPN or management interface; connect fails with no route, refused or a time-out.",
            zh="Bootstrap : Using 列出网桥、隧道、VPN 或管理接口；连接报无路由、被拒绝或超时。",
        ),
        sources=(
            "NVIDIA/nccl#529",
            "ROCm/rccl#328",
            "NCCL user guide: NCCL_SOCKET_IFNAME",
        ),
    ),
    told_apart_from=(
        LookAlike(
            cause="firewall-blocks-ports",
            because=Text(
                en="there the address is reachable by ping and only TCP ports are closed", zh="彼处地址可 ping 通，仅 TCP 端口不通"
            ),
        ),
        LookAlike(
            cause="docker-network",
            because=Text(
                en="there the container has no interface that others can reach at all", zh="彼处容器根本没有外部可达的接口"
            ),
        ),
    ),
    changes=(
        Change(
            what=Text(
                en="Name the interface of the network all hosts share, on every host (a leading = matches exactly)",
                zh="在每台主机上指定共有网络的接口（前缀 = 表示精确匹配）",
            ),
            commands=(
                "ip route get PEER",
                "export NCCL_SOCKET_IFNAME==IFACE",
            ),
        ),
    ),
    checks=(
        Check(
            what=Text(
                en="The bootstrap line names the intended interface on every rank", zh="每个 rank 的 bootstrap 行都显示期望的接口"
            ),
            commands=("NCCL_DEBUG=INFO ... 2>&1 | grep -E 'Bootstrap|NET/'",),
        ),
    ),
    gain=Text(en="The job starts; on sockets it also moves to the fast network", zh="作业可启动；若走套接字，还会改用高速网络"),
    severity="high",
    explains=(
        "link-speed-lower-than-assumed",
        "collective-timeout-too-short",
        "firewall-blocks-ports",
        "ephemeral-port-exhaustion",
    ),
)
