"""A link runs slower than its owner believes: negotiated down, fewer lanes, or the wrong cable."""

import re

from wirespeed.diagnosis.joins.paths import late_hosts, lossy_trains
from wirespeed.diagnosis.joins.pieces import against, piece
from wirespeed.diagnosis.joins.rates import SlowHost, crowded_links, slow_hosts
from wirespeed.model.case import Case
from wirespeed.model.events.log import KernelEvent
from wirespeed.model.facts.fabric import FabricLink
from wirespeed.model.facts.link import Counter, Link
from wirespeed.model.facts.rdma import RdmaPort
from wirespeed.model.finding import FAIR, PROVES, SLIGHT, STRONG, Change, Check, Evidence, LookAlike, Value, Verdict
from wirespeed.model.kinds import Explain, Rule, wants
from wirespeed.model.link_runs import FlowRun
from wirespeed.model.measurement import ThroughputRun
from wirespeed.model.record import Record
from wirespeed.model.settings import Quantity, Statement
from wirespeed.model.text import Text

STANDARD_BITS_PER_S = (100e6, 1e9, 2.5e9, 5e9, 10e9, 25e9, 40e9, 50e9, 100e9, 200e9)
BOARD_BITS_PER_S = {
    "MT4115": 100e9, "MT4117": 25e9, "MT4119": 100e9, "MT4121": 100e9, "MT4123": 200e9, "MT4129": 400e9, "MT41692": 400e9, "MT4131": 800e9,
}  # fmt: skip
"""Rates that ConnectX-4 to 8 and BlueField-3 were made for, by the device number that ibstat prints as CA type."""
PLATEAU_RATIO = (0.85, 0.99)
"""A TCP flow reaches about 0.94 of Ethernet's rate (framing), so a plateau in this band names the rate of the link."""


def _judge(case: Case) -> Verdict:
    below = case.every(Link, _is_below_advertised)
    half = case.every(Link, lambda one: one.duplex == "half" and one.driver not in ("virtio_net", "veth"))
    narrow = _slower_than_siblings(case)
    events = case.every(KernelEvent, lambda one: one.topic == "link-up" and _is_slow_text(one.message))
    plateau = _plateau(case)
    at_best = case.every(Link, _is_at_advertised)
    downshift = case.every(KernelEvent, topic="link-downshift")
    board, believed = _below_board(case), _below_belief(case)
    said = case.said("link-slower-than-thought")
    fabric = case.every(FabricLink, _could_be_faster)
    stage = case.every(Counter, scope="ibdiagnet", name="Speed / Width checks")
    slow = _slow_by_its_link(case)
    values: dict[str, Value] = {"link": below[0].name if below else "IFACE"}
    return Verdict(
        evidence=(
            *piece(_BELOW, STRONG + SLIGHT, below),
            *_measured(slow),
            *piece(_HALF, STRONG, half),
            *piece(_FABRIC, STRONG, fabric, **_worst_of(fabric)),
            *piece(_STAGE, STRONG, [one for one in stage if one.value_count > 0] if not fabric else ()),
            *piece(_NARROW, STRONG, narrow),
            *piece(_DOWNSHIFT, PROVES, downshift),
            *piece(_BOARD, FAIR, board),
            *piece(_BELIEVED, FAIR, believed),
            *piece(_EVENT, FAIR, events),
            *piece(_PLATEAU, FAIR, plateau),
            *piece(_SAID, STRONG, said),
            *against(_FULL, SLIGHT, at_best if not below else ()),
        ),
        values=values,
    )


def _could_be_faster(link: FabricLink) -> bool:
    """Whether a fabric tool says that the link could be faster or wider; 12X ports are none that anybody cables."""
    return link.could_be is not None and re.sub(r"(?i)could be 12x", "", link.could_be).strip() != ""


def _worst_of(links: tuple[FabricLink, ...]) -> dict[str, Value]:
    if not links:
        return {}
    return {"near": f"{links[0].near} {links[0].near_port}", "far": links[0].far, "links_count": len(links)}


def _slow_by_its_link(case: Case) -> tuple[SlowHost, ...]:
    """Hosts that are slow with every peer, where neither loss, nor other traffic, nor the host's own lateness explains it."""
    excused = {one.host for one in crowded_links(case)} | set(late_hosts(case))
    excused |= {name for one in lossy_trains(case) for name in (one.sender, one.receiver)}
    return tuple(one for one in slow_hosts(case) if one.host not in excused and not _is_held_by_ends(one))


def _is_held_by_ends(slow: SlowHost) -> bool:
    """Whether most of the host's flows waited for an end rather than for the path."""
    held = [one for one in slow.flows if one.limited_by in ("sender", "receive-window", "send-buffer")]
    return len(held) > len(slow.flows) / 2


def _measured(slow: tuple[SlowHost, ...]) -> tuple[Evidence, ...]:
    if not slow:
        return ()
    one = slow[0]
    ways: dict[tuple[str, ...], Text] = {("out",): _SLOW_OUT, ("in",): _SLOW_IN}
    return piece(ways.get(one.directions, _SLOW_BOTH), STRONG + SLIGHT, one.flows, host=one.host, share_ratio=one.share_ratio)


def _is_below_advertised(link: Link) -> bool:
    return bool(
        link.link_rate_bits_per_s and link.advertised_max_bits_per_s and link.link_rate_bits_per_s < link.advertised_max_bits_per_s
    )


def _is_at_advertised(link: Link) -> bool:
    return bool(link.link_rate_bits_per_s and link.link_rate_bits_per_s == link.advertised_max_bits_per_s)


def _is_slow_text(message: str) -> bool:
    return any(rate in message.replace(" ", "").lower() for rate in ("1gbps", "100mbps", "10mbps", "1000mbps", "halfduplex"))


def _below_board(case: Case) -> tuple[RdmaPort, ...]:
    """Active ports below what their adapter's generation was made for; slower variants exist, so this is a hint."""
    return case.every(
        RdmaPort,
        lambda one: (
            one.state in (None, "active") and 0 < (one.link_rate_bits_per_s or 0) < BOARD_BITS_PER_S.get(one.board or "", 0)
        ),
    )


def _below_belief(case: Case) -> tuple[Record, ...]:
    """The fastest port read, and a line rate that people name, where they name at least twice as much."""
    rates: list[tuple[Record | None, float]] = [(one, one.link_rate_bits_per_s or 0.0) for one in case.every(RdmaPort)]
    rates += [(one, one.link_rate_bits_per_s or 0.0) for one in case.every(Link)]
    port, rate = max(rates, key=lambda one: one[1], default=(None, 0.0))
    named = [one for one in case.said("line-rate-named") if port and rate and 1e9 * (one.value or 0.0) >= 1.9 * rate]
    return (port, named[0]) if port is not None and named else ()


def _slower_than_siblings(case: Case) -> tuple[RdmaPort, ...]:
    """Active ports whose rate is below that of most ports of the same link layer, or that lost lanes (1X, 2X)."""
    active = case.every(RdmaPort, lambda one: one.state == "active" and one.link_rate_bits_per_s is not None)
    if len(active) < 3:
        return ()
    rates = sorted(one.link_rate_bits_per_s or 0.0 for one in active)
    usual = rates[len(rates) // 2]
    return tuple(one for one in active if (one.link_rate_bits_per_s or 0.0) < usual)


def _plateau(case: Case) -> tuple[ThroughputRun | Quantity, ...]:
    """A measured rate at a standard link rate below the rate that is spoken of."""
    spoken = case.every(Quantity, lambda one: one.dimension == "rate" and one.value in STANDARD_BITS_PER_S)
    runs = case.every(ThroughputRun, lambda one: one.protocol != "udp" and one.role != "interval")
    for run in runs:
        link = next(
            (rate for rate in STANDARD_BITS_PER_S if PLATEAU_RATIO[0] <= run.rate_bits_per_s / rate <= PLATEAU_RATIO[1]), None
        )
        faster = [one for one in spoken if link is not None and one.value >= 2.4 * link]
        if link is not None and link <= 10e9 and faster and all(one.rate_bits_per_s <= link for one in runs):
            return (run, faster[0])
    return ()


_FABRIC = Text(
    en="the fabric tool finds {links_count} links slower or narrower than they could be, such as {near} to {far}",
    zh="网络工具发现 {links_count} 条链路低于其可达速率或宽度，例如 {near} 到 {far}",
)
_STAGE = Text(en="ibdiagnet counts links of unexpected speed or width", zh="ibdiagnet 统计到速率或宽度异常的链路")
_SLOW_BOTH = Text(
    en="every path from and to {host} reaches {share_ratio} of what the others reach, held by the path and not by the hosts",
    zh="{host} 收发的每条路径只达到其他路径的 {share_ratio}，受限于路径而非主机",
)
_SLOW_OUT = Text(
    en="every path from {host} reaches {share_ratio} of what the others reach; the paths to it are fine",
    zh="从 {host} 出发的每条路径只达到其他路径的 {share_ratio}；到它的路径正常",
)
_SLOW_IN = Text(
    en="every path to {host} reaches {share_ratio} of what the others reach; the paths from it are fine",
    zh="到 {host} 的每条路径只达到其他路径的 {share_ratio}；从它出发的路径正常",
)
_BELOW = Text(en="the link negotiated less than it advertises", zh="链路协商速率低于其宣告能力")
_HALF = Text(en="the link runs half duplex", zh="链路为半双工")
_NARROW = Text(en="this port runs slower than its siblings", zh="该端口比同类端口慢")
_DOWNSHIFT = Text(en="the port fell back from the speed it had negotiated", zh="端口从已协商的速率回退")
_BOARD = Text(en="the port runs below what this adapter was made for", zh="端口速率低于该网卡型号的设计速率")
_BELIEVED = Text(en="the fastest port read is half or less of the rate that is spoken of", zh="读到的最快端口不到所述速率的一半")
_EVENT = Text(en="the kernel saw the link come up at a low rate", zh="内核看到链路以低速建立")
_PLATEAU = Text(en="the measured rate is that of a slower standard link", zh="实测速率恰为某一较低标准链路的速率")
_SAID = Text(en="a lower link rate than believed is reported", zh="描述提到链路速率低于预期")
_FULL = Text(en="the link runs at the highest rate it advertises", zh="链路运行在其宣告的最高速率")

RULE = Rule(
    cause="link-speed-lower-than-assumed",
    title=Text(en="A link runs slower than believed", zh="链路实际速率低于预期"),
    summary=Text(
        en="Everything works, at the rate of a slower link: negotiation fell back, lanes are missing, or the traffic takes another port.",
        zh="一切正常，但速率是较慢链路的：协商回退、缺少通道，或流量走了另一端口。",
    ),
    needs=(
        (FlowRun,),
        (wants(Link, lambda one: one.link_rate_bits_per_s is not None),),
        (wants(RdmaPort, lambda one: one.link_rate_bits_per_s is not None),),
        (ThroughputRun,),
        (wants(KernelEvent, lambda one: one.topic == "link-downshift"),),
        (FabricLink,),
        (wants(Counter, lambda one: one.scope == "ibdiagnet"),),
        (wants(Statement, lambda one: one.topic == "link-slower-than-thought"),),
    ),
    judge=_judge,
    explain=Explain(
        what=Text(
            en="Auto-negotiation takes the best rate that cable, module and both ports agree on.",
            zh="自动协商取线缆、模块与两端端口都支持的最高速率。",
        ),
        shows=Text(
            en="Throughput stops at 0.94 of 1, 10, 25 Gb/s; 20 GB takes three minutes on gigabit.",
            zh="吞吐停在 1、10、25 Gb/s 的 0.94；千兆上 20 GB 约三分钟。",
        ),
        sources=("IEEE 802.3 framing (1448/1538 of the rate is TCP payload)", "facebookresearch/gcm check_ethlink"),
    ),
    told_apart_from=(
        LookAlike(
            cause="tcp-single-flow-limit",
            because=Text(en="there more flows go faster; a link's rate does not move", zh="彼处增加流会更快；链路速率不会变"),
        ),
        LookAlike(
            cause="pcie-link-degraded",
            because=Text(en="there the port's rate is right and its slot is slow", zh="彼处端口速率正确，插槽慢"),
        ),
        LookAlike(cause="nic-firmware-state", because=Text(en="there the negotiated rate is right too", zh="彼处协商速率也正确")),
    ),
    changes=(
        Change(
            what=Text(
                en="Replace cable or module, let both sides negotiate, check the switch port profile and FEC",
                zh="更换线缆或模块，两侧自动协商，检查交换机端口配置与 FEC",
            ),
            commands=("ethtool {link}",),
        ),
        Change(
            what=Text(en="If the traffic takes the wrong port, route it over the fast one", zh="若流量走错端口，改走高速端口"),
            commands=("ip route get PEER",),
        ),
    ),
    checks=(
        Check(
            what=Text(en="The rate reads as expected and iperf3 reaches 0.9 of it", zh="速率读数正确，iperf3 达到其 0.9"),
            commands=("cat /sys/class/net/{link}/speed",),
        ),
    ),
    gain=Text(en="Up to the ratio of the rates: tenfold from 1 to 10 Gb/s", zh="最多为速率之比：1 到 10 Gb/s 为十倍"),
    severity="high",
    explains=("bandwidth-insufficient",),
)
