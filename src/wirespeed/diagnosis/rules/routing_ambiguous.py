"""Two interfaces of one host share a subnet, or routes overlap: the path taken is a matter of luck."""

import ipaddress

from wirespeed.diagnosis.joins.cluster import address_of
from wirespeed.diagnosis.joins.pieces import piece
from wirespeed.model.case import Case
from wirespeed.model.events.log import KernelEvent
from wirespeed.model.facts.host import Sysctl
from wirespeed.model.facts.link import Counter
from wirespeed.model.facts.path import Address, Route
from wirespeed.model.finding import FAIR, SLIGHT, STRONG, Change, Check, LookAlike, Verdict
from wirespeed.model.kinds import Explain, Rule, wants
from wirespeed.model.measurement import PingRun
from wirespeed.model.record import Record
from wirespeed.model.settings import Statement
from wirespeed.model.text import Text

_BRIDGES = ("docker", "br-", "podman", "cni", "virbr", "lxc")
_IGNORED_LINKS = ("lo", "docker", "veth", "br-", "cni", "virbr", "cali", "flannel")


def _judge(case: Case) -> Verdict:
    shared = _sharing_a_subnet(case)
    routes = _doubled_routes(case)
    strict = case.every(Sysctl, lambda one: one.name.endswith(".rp_filter") and one.setting == "1")
    filtered = case.every(Counter, lambda one: "ReversePathFilter" in one.name and one.value_count > 0)
    said = case.said("same-subnet-twice")
    bridged = _behind_own_bridge(case)
    return Verdict(
        evidence=(
            *piece(_SHARED, STRONG, shared),
            *piece(_ROUTES, STRONG, routes),
            *piece(_BRIDGED, STRONG if _answers_elsewhere(case, bridged) else FAIR, bridged),
            *piece(_FILTERED, STRONG, filtered),
            *piece(_MARTIAN, STRONG, case.every(KernelEvent, topic="martian-source")),
            *piece(_STRICT, SLIGHT, strict if shared or routes or said else ()),
            *piece(_SAID, STRONG + SLIGHT, said),
        )
    )


def _sharing_a_subnet(case: Case) -> tuple[Record, ...]:
    """Addresses of one host on different interfaces that lie in one IPv4 subnet."""
    groups: dict[tuple[str, str], list[Address]] = {}
    for one in case.every(Address, lambda one: one.prefix_length_number is not None and not one.link.startswith(_IGNORED_LINKS)):
        try:
            network = ipaddress.ip_interface(f"{one.address}/{one.prefix_length_number}").network
        except ValueError:
            continue
        if network.version == 4 and network.prefixlen < 31:
            groups.setdefault((one.host or one.source.path, str(network)), []).append(one)
    return tuple(one for group in groups.values() if len({each.link for each in group}) > 1 for one in group)


def _doubled_routes(case: Case) -> tuple[Record, ...]:
    """Routes to one prefix over different interfaces with the same metric in one table."""
    groups: dict[tuple[str, str, int | None, str | None], list[Route]] = {}
    for one in case.every(Route, lambda one: not one.is_lookup and one.link is not None):
        key = (one.host or one.source.path, one.destination, one.metric_number, one.table)
        groups.setdefault(key, []).append(one)
    doubled = [group for group in groups.values() if len({one.link for one in group}) > 1 and ":" not in group[0].destination]
    return tuple(one for group in doubled if not group[0].destination.startswith(("ff00", "fe80", "169.254")) for one in group)


def _behind_own_bridge(case: Case) -> tuple[Record, ...]:
    """A host that does not answer and whose address lies in the network of a container bridge of this one, with that route."""
    silent = case.every(PingRun, lambda one: one.loss_ratio == 1.0)
    for route in case.every(Route, lambda one: (one.link or "").startswith(_BRIDGES) and one.gateway is None and not one.is_lookup):
        network = _network_of(route)
        if network is None:
            continue
        for ping in silent:
            address = address_of(ping.target)
            if address is not None and address in network and ping.target != route.preferred_source:
                return (ping, route)
    return ()


def _network_of(route: Route) -> ipaddress.IPv4Network | ipaddress.IPv6Network | None:
    try:
        return ipaddress.ip_network(route.destination)
    except ValueError:
        return None


def _answers_elsewhere(case: Case, bridged: tuple[Record, ...]) -> bool:
    """Whether the same address answers somebody else."""
    wanted = bridged[0].target if bridged and isinstance(bridged[0], PingRun) else None
    return (
        case.first(PingRun, lambda one: one.target == wanted and (one.loss_ratio or 0.0) < 1.0 and one.rtt_mean_s is not None)
        is not None
    )


_BRIDGED = Text(
    en="the address that does not answer lies in the network of a container bridge: packets to it never leave the host",
    zh="不应答的地址落在容器网桥的网段内：发往它的包根本没有离开主机",
)
_MARTIAN = Text(
    en="the kernel dropped packets that came in where their answer would not go out", zh="内核丢弃了从非应答接口进入的包"
)
_SHARED = Text(en="two interfaces of one host lie in the same subnet", zh="同一主机的两个接口在同一子网")
_ROUTES = Text(en="two routes lead to the same prefix over different interfaces", zh="两条路由经不同接口通往同一前缀")
_FILTERED = Text(en="the kernel dropped packets by reverse-path filtering", zh="内核因反向路径过滤丢弃了包")
_STRICT = Text(
    en="reverse-path filtering is strict, so answers over the other interface are dropped",
    zh="反向路径过滤为严格模式，经另一接口的应答会被丢弃",
)
_SAID = Text(
    en="overlapping subnets or routes, or answers over another interface, are reported",
    zh="描述提到子网或路由重叠，或应答走了另一接口",
)

RULE = Rule(
    cause="host-routing-ambiguous",
    title=Text(en="The host has two ways to the same network", zh="主机通往同一网络有两条路"),
    summary=Text(
        en="With two interfaces in one subnet, Linux answers ARP for either address on both and routes over the first: traffic enters and leaves by interfaces nobody chose.",
        zh="两个接口在同一子网时，Linux 会在两口上都应答任一地址的 ARP，并总走第一条路由：流量从没人选择的接口进出。",
    ),
    needs=(
        (wants(Address, lambda one: one.prefix_length_number is not None),),
        (wants(Route, lambda one: not one.is_lookup),),
        (wants(KernelEvent, lambda one: one.topic == "martian-source"),),
        (wants(Statement, lambda one: one.topic == "same-subnet-twice"),),
    ),
    judge=_judge,
    explain=Explain(
        what=Text(
            en="Linux follows the weak host model: an address belongs to the host, not to an interface.",
            zh="Linux 采用弱主机模型：地址属于主机而非接口。",
        ),
        shows=Text(
            en="One NIC idle, one overloaded; RoCE queue pairs that cannot connect; connections that work one way.",
            zh="一张网卡空闲、一张过载；RoCE 队列对无法建立；单向可通。",
        ),
        sources=("Linux ip-sysctl arp_ignore, arp_announce, rp_filter", "RFC 1122 section 3.3.4.2"),
    ),
    told_apart_from=(
        LookAlike(
            cause="roce-unreachable-path",
            because=Text(en="there the ports are in different networks that do not meet", zh="彼处端口在互不相通的网络"),
        ),
        LookAlike(
            cause="nccl-wrong-interface",
            because=Text(en="there the library chose an interface; here the kernel does", zh="彼处是库选错接口；此处是内核"),
        ),
    ),
    changes=(
        Change(
            what=Text(en="One subnet a rail; or per-interface tables with rules", zh="每条轨道一个子网；或按接口建路由表与规则")
        ),
        Change(
            what=Text(en="Bind ARP to the interface and loosen reverse-path filtering", zh="ARP 绑定接口并放宽反向路径过滤"),
            commands=("sysctl -w net.ipv4.conf.all.arp_ignore=1 net.ipv4.conf.all.arp_announce=2 net.ipv4.conf.all.rp_filter=2",),
        ),
    ),
    checks=(
        Check(
            what=Text(
                en="The peer's neighbour table shows each address with its own NIC's MAC", zh="对端邻居表中每个地址对应其网卡 MAC"
            ),
            commands=("ip neigh show", "ip route get PEER"),
        ),
    ),
    gain=Text(en="All interfaces carry their share", zh="各接口承担各自流量"),
    severity="medium",
    explains=("roce-unreachable-path",),
)
