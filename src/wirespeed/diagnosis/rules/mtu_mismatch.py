"""The MTU differs along the path, and full-size frames do not get through."""

from wirespeed.diagnosis.joins.flows import is_swallowed, told, with_side
from wirespeed.diagnosis.joins.pieces import against, piece
from wirespeed.model.case import Case
from wirespeed.model.events.nccl import NcclWarning
from wirespeed.model.facts.fabric import LinkNeighbour
from wirespeed.model.facts.link import Counter, Link
from wirespeed.model.facts.rdma import RdmaPort
from wirespeed.model.finding import FAIR, SLIGHT, STRONG, Change, Check, LookAlike, Value, Verdict
from wirespeed.model.flows import IcmpReport, TcpFlow
from wirespeed.model.kinds import Explain, Rule, wants
from wirespeed.model.link_runs import PathMtuRun
from wirespeed.model.measurement import ThroughputRun
from wirespeed.model.record import Record
from wirespeed.model.settings import Statement
from wirespeed.model.text import Text

SMALLEST_ETHERNET_MTU_BYTES = 1280
LARGEST_USUAL_BYTES = 1460
"""Payload of a full segment where the MTU is 1500."""
_TOPICS = ("mtu-differs", "depends-on-mtu", "small-passes-large-hangs", "large-frames-unanswered", "mtu-named")
JUMBO_SEGMENT_BYTES = (7_900.0, 9_200.0)
"""One segment of an MTU of 8,000 to 9,216 bytes, as iperf3 prints a congestion window of one (`8.74 KBytes`)."""
FRAME_BYTES = 18
"""Ethernet header and check sequence around a packet (IEEE 802.3); switches count them in their largest frame."""
_OVERLAYS = (
    "vxlan",
    "tunl",
    "flannel",
    "cali",
    "cilium",
    "geneve",
    "wg",
    "ipip",
    "gre",
    "tun",
    "docker",
    "veth",
    "lo",
    "br-",
    "cni",
    "virbr",
)


def _judge(case: Case) -> Verdict:
    hosts = _differs_between_hosts(case)
    rdma = _differs_between_ports(case)
    below = case.every(
        RdmaPort, lambda one: bool(one.active_mtu_bytes and one.max_mtu_bytes and one.active_mtu_bytes < one.max_mtu_bytes)
    )
    oversize = case.every(Counter, lambda one: one.canonical == "rx_oversize" and one.value_count > 0)
    failed = case.every(NcclWarning, lambda one: one.topic == "completion-error" and one.status_code == 12)
    ends = _ends_that_differ(case)
    agree = case.every(
        PathMtuRun,
        lambda one: (
            one.lost_bytes is not None and one.interface_mtu_bytes is not None and one.lost_bytes <= one.interface_mtu_bytes
        ),
    )
    neighbour = _neighbour_takes_less(case)
    differs, depends = case.said("mtu-differs"), case.said("depends-on-mtu")
    big = case.said("small-passes-large-hangs", "large-frames-unanswered")
    named = _named_apart(case)
    jumbo = with_side(
        case, lambda flow, one, other: is_swallowed(flow, one, other) and (one.stuck_bytes or 0) > LARGEST_USUAL_BYTES
    )
    too_big = case.every(IcmpReport, topic="too-big")
    is_about_mtu = bool(hosts or rdma or differs or depends or oversize)
    is_overlay = bool(case.every(Link, lambda one: one.name.startswith(_OVERLAYS[:8])) or case.said("overlay-network"))
    return Verdict(
        evidence=(
            *piece(_HOSTS, STRONG, hosts),
            *piece(_NEIGHBOUR, FAIR + SLIGHT, neighbour, **_sizes_of(neighbour)),
            *piece(_ENDS, STRONG + SLIGHT, ends, **_mtus_of(ends)),
            *against(_ENDS_AGREE, STRONG, agree if not ends else ()),
            *told(
                _JUMBO,
                STRONG + SLIGHT,
                [flow for flow, _, _ in jumbo],
                "start",
                "sent-again",
                stuck_bytes=max((one.stuck_bytes or 0 for _, one, _ in jumbo), default=0),
            ),
            *piece(_TOO_BIG, FAIR, too_big, mtu_bytes=min((one.mtu_bytes or 0 for one in too_big), default=None)),
            *piece(_PORTS, STRONG, rdma),
            *piece(_JUMBO_STALL, STRONG, _stalls_on_jumbo_frames(case)),
            *piece(_DIFFERS, STRONG, differs),
            *piece(_NAMED, FAIR + SLIGHT, named),
            *piece(_DEPENDS, FAIR if case.said("tunnel-in-path") else STRONG, depends),
            *piece(_OVERSIZE, STRONG, oversize),
            *piece(_BELOW, SLIGHT if is_about_mtu or big else 0.5, below),
            *piece(_BIG, FAIR, big),
            *(piece(_FAILED, SLIGHT, failed) if is_about_mtu else ()),
            *against(_OVERLAY, FAIR, _overlay_records(case) if is_overlay else ()),
        )
    )


def _neighbour_takes_less(case: Case) -> tuple[Record, ...]:
    """An interface and its LLDP neighbour, where the neighbour advertises frames that do not hold the interface's packets."""
    for near in case.every(LinkNeighbour, lambda one: one.max_frame_bytes is not None):
        for mtu in case.every(Link, lambda one: bool(one.mtu_bytes)):
            is_it = mtu.name == near.link and mtu.host in (near.host, None)
            if is_it and (mtu.mtu_bytes or 0) + FRAME_BYTES > (near.max_frame_bytes or 0):
                return (near, mtu)
    return ()


def _sizes_of(pair: tuple[Record, ...]) -> dict[str, Value]:
    near, mtu = pair if len(pair) == 2 else (None, None)
    if not isinstance(near, LinkNeighbour) or not isinstance(mtu, Link):
        return {}
    return {"link": near.link, "mtu_bytes": mtu.mtu_bytes, "frame_bytes": near.max_frame_bytes}


def _ends_that_differ(case: Case) -> tuple[PathMtuRun, ...]:
    """The two directions of a path whose ends send packets of different size."""
    by_pair: dict[frozenset[str], list[PathMtuRun]] = {}
    for one in case.every(PathMtuRun, lambda one: one.interface_mtu_bytes is not None):
        by_pair.setdefault(frozenset((one.sender, one.receiver)), []).append(one)
    return tuple(one for runs in by_pair.values() if len({run.interface_mtu_bytes for run in runs}) > 1 for one in runs)[:2]


def _mtus_of(ends: tuple[PathMtuRun, ...]) -> dict[str, Value]:
    if not ends:
        return {}
    one = ends[0]
    return {"sender": one.sender, "receiver": one.receiver, "mtus": " / ".join(str(run.interface_mtu_bytes) for run in ends)}


def _differs_between_hosts(case: Case) -> tuple[Record, ...]:
    """Links that carry different MTUs on different hosts under one name."""
    links = case.every(Link, lambda one: one.mtu_bytes is not None and one.host is not None and not one.name.startswith(_OVERLAYS))
    by_name: dict[str, list[Link]] = {}
    for link in links:
        by_name.setdefault(link.name, []).append(link)
    return tuple(link for same in by_name.values() if len({one.mtu_bytes for one in same}) > 1 for link in same)


def _named_apart(case: Case) -> tuple[Statement, ...]:
    """Two lines that name MTUs further apart than any encapsulation explains."""
    named = [one for one in case.said("mtu-named") if one.value and one.value >= SMALLEST_ETHERNET_MTU_BYTES]
    if not named:
        return ()
    low, high = (pick(named, key=lambda one: one.value or 0.0) for pick in (min, max))
    return (low, high) if (high.value or 0.0) >= 2 * (low.value or 0.0) else ()


def _differs_between_ports(case: Case) -> tuple[Record, ...]:
    """RDMA ports with different active MTUs on different hosts under one device name."""
    by_device: dict[str, list[RdmaPort]] = {}
    for port in case.every(RdmaPort, lambda one: one.active_mtu_bytes is not None):
        by_device.setdefault(port.device, []).append(port)
    return tuple(port for same in by_device.values() if len({one.active_mtu_bytes for one in same}) > 1 for port in same)


def _stalls_on_jumbo_frames(case: Case) -> tuple[ThroughputRun, ...]:
    """Seconds without a byte in which the congestion window is a single jumbo segment: no full-size frame arrives."""
    seconds = case.every(ThroughputRun, role="interval", protocol="tcp")
    stalled = tuple(one for one in seconds if _is_stalled_on_jumbo(one))
    return stalled if len(stalled) >= 2 and 2 * len(stalled) > len(seconds) else ()


def _is_stalled_on_jumbo(second: ThroughputRun) -> bool:
    low, high = JUMBO_SEGMENT_BYTES
    return second.rate_bits_per_s == 0.0 and low <= (second.congestion_window_bytes or 0.0) <= high


def _overlay_records(case: Case) -> tuple[Record, ...]:
    return case.every(Link, lambda one: one.name.startswith(_OVERLAYS[:8])) or case.said("overlay-network")


_NEIGHBOUR = Text(
    en="{link} sends packets of {mtu_bytes} bytes, its switch port takes frames of {frame_bytes}",
    zh="{link} 发送 {mtu_bytes} 字节的包，而其交换机端口只容 {frame_bytes} 字节的帧",
)
_HOSTS = Text(en="the same interface has different MTUs on different hosts", zh="同名接口在不同主机上 MTU 不同")
_ENDS = Text(
    en="{sender} and {receiver} send packets of different size over one path: {mtus} bytes",
    zh="{sender} 与 {receiver} 在同一路径上发送的最大包不同：{mtus} 字节",
)
_ENDS_AGREE = Text(en="both ends agree on the size; what is smaller lies between them", zh="两端大小一致；较小的一段在两者之间")
_JUMBO = Text(
    en="both ends agreed on jumbo segments, and those of {stuck_bytes} do not arrive: something between carries 1500 only",
    zh="两端协商了巨型报文段，但 {stuck_bytes} 的报文段到不了：中间某处只支持 1500",
)
_TOO_BIG = Text(
    en="a router reports that the next link carries {mtu_bytes} bytes at most, less than the sender's own",
    zh="路由器报告下一跳链路最多承载 {mtu_bytes} 字节，小于发送方自身",
)
_PORTS = Text(en="the same RDMA device has different active MTUs on different hosts", zh="同名 RDMA 设备在不同主机上有效 MTU 不同")
_DIFFERS = Text(en="two MTUs on one path are reported", zh="描述提到一条路径上有两种 MTU")
_NAMED = Text(en="MTUs far apart are named for machines of one path", zh="同一路径的机器上写明的 MTU 相差很大")
_DEPENDS = Text(en="whether it works depends on the MTU", zh="是否正常取决于 MTU")
_JUMBO_STALL = Text(
    en="nothing moves while the congestion window is one jumbo segment: full-size frames do not arrive",
    zh="拥塞窗口只剩一个巨帧报文段且没有任何数据通过：满长帧到不了对端",
)
_OVERSIZE = Text(en="the NIC counts frames larger than it may receive", zh="网卡计到超出接收上限的帧")
_BELOW = Text(en="the RDMA port's active MTU is below its maximum", zh="RDMA 端口的有效 MTU 低于其最大值")
_BIG = Text(en="small messages pass, full-size ones do not", zh="小消息通过，满长消息不通过")
_FAILED = Text(en="transfers ended with retries exceeded", zh="传输因重试次数用尽而失败")
_OVERLAY = Text(
    en="an overlay network is involved: its headers, not two switches, may be what does not fit",
    zh="涉及叠加网络：可能是封装头放不下，而非两台设备不一致",
)

RULE = Rule(
    cause="mtu-mismatch",
    title=Text(en="The MTU is not the same along the path", zh="路径上的 MTU 不一致"),
    summary=Text(
        en="One side sends frames that another host, switch port or queue pair on the path does not accept; they are dropped without a word. "
        "Small messages pass, so set-up looks healthy.",
        zh="一侧发出的帧超过路径上另一主机、交换机端口或队列对的上限而被默默丢弃；小消息能通过，所以建立连接看似正常。",
    ),
    needs=(
        (LinkNeighbour, wants(Link, lambda one: one.mtu_bytes is not None)),
        (wants(IcmpReport, lambda one: one.topic == "too-big"),),
        (wants(TcpFlow, lambda one: bool(one.client.stuck_bytes or one.server.stuck_bytes)),),
        (PathMtuRun,),
        (wants(Link, lambda one: one.mtu_bytes is not None),),
        (wants(RdmaPort, lambda one: one.active_mtu_bytes is not None),),
        (wants(Counter, lambda one: one.canonical == "rx_oversize"),),
        (wants(ThroughputRun, _is_stalled_on_jumbo),),
        (
            wants(
                Statement,
                lambda one: one.topic in _TOPICS,
            ),
        ),
    ),
    judge=_judge,
    explain=Explain(
        what=Text(
            en="TCP adapts through its MSS when the hosts differ; RDMA queue pairs and anything behind a smaller switch port do not.",
            zh="主机 MTU 不同时 TCP 会通过 MSS 适应；RDMA 队列对以及较小交换机端口之后的流量不会。",
        ),
        shows=Text(
            en="Set-up and small tests pass; the first large transfer times out (error 12) or hangs; only some nodes or image versions are hit.",
            zh="建立与小测试通过；首个大传输超时（错误 12）或挂起；只影响部分节点或镜像版本。",
        ),
        sources=("NVIDIA/nccl#1524", "NVIDIA/nccl#1957", "Linux mlx5 counters.rst (rx_oversize_pkts_phy)"),
    ),
    told_apart_from=(
        LookAlike(
            cause="pmtu-blackhole",
            because=Text(
                en="there the hosts agree and a router in the middle drops big packets without telling",
                zh="彼处两端一致，中间路由器丢弃大包且不通知",
            ),
        ),
        LookAlike(
            cause="mtu-overlay",
            because=Text(
                en="there encapsulation adds 50 bytes or more to a frame that was already full",
                zh="彼处是封装给已满的帧又加了 50 字节以上",
            ),
        ),
        LookAlike(
            cause="roce-gid-index-wrong",
            because=Text(en="there even the smallest transfer fails", zh="彼处最小的传输也失败"),
        ),
    ),
    changes=(
        Change(
            what=Text(
                en="Make the MTU equal on hosts, bonds, VLANs and switch ports (switch at or above the hosts); for RoCE 4200 suffices for active_mtu 4096",
                zh="使主机、绑定、VLAN、交换机端口 MTU 一致（交换机不低于主机）；RoCE 用 4200 即可得到 active_mtu 4096",
            ),
            commands=("ip link set dev IFACE mtu MTU",),
            risk=Text(en="The link may bounce; persist it in the network configuration", zh="链路可能闪断；需写入网络配置"),
        ),
    ),
    checks=(
        Check(
            what=Text(
                en="A don't-fragment ping of MTU minus 28 passes both ways between every pair",
                zh="每对主机双向通过 MTU 减 28 的不分片 ping",
            ),
            commands=("ping -M do -c 3 -s $((MTU - 28)) PEER", "ibv_devinfo | grep -E 'hca_id|active_mtu'"),
        ),
    ),
    gain=Text(en="From hanging to line rate", zh="从挂起恢复到线速"),
    severity="high",
    explains=("collective-timeout-too-short", "pmtu-blackhole", "packet-loss"),
)
