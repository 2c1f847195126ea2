"""The overlay's MTU plus its header does not fit the network underneath."""

import re
from dataclasses import dataclass

from wirespeed.diagnosis.joins.flows import is_swallowed, told, with_side
from wirespeed.diagnosis.joins.pieces import (
    ALONE,
    Configured,
    configured,
    is_setting_named,
    piece,
)
from wirespeed.model.case import Case
from wirespeed.model.facts.host import EnvVar
from wirespeed.model.facts.link import Link
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
    contradicts,
    supports,
)
from wirespeed.model.flows import FlowEnd, IcmpReport, TcpFlow
from wirespeed.model.kinds import Explain, Rule, wants
from wirespeed.model.record import Record
from wirespeed.model.settings import Setting, Statement
from wirespeed.model.text import Text

OVERHEAD_BYTES = {"vxlan": 50, "geneve": 58, "ipip": 20, "tunl": 20, "wireguard": 60, "gre": 24, "plain": 0}
"""Bytes an overlay adds on IPv4: VXLAN RFC 7348 (14 + 20 + 8 + 8), GENEVE with one option, IP in IP RFC 2003, WireGuard, GRE."""
_USUAL_MTUS = (1500, 9000, 9001)
"""Ethernet, jumbo frames, AWS."""
_OVERLAY_NAMES = (
    (re.compile(r"(?i)vxlan|flannel\.\d|cilium_vxlan|^vx"), "vxlan"),
    (re.compile(r"(?i)geneve|genev_sys|ovn"), "geneve"),
    (re.compile(r"(?i)^wg|wireguard|flannel-wg|cilium_wg"), "wireguard"),
    (re.compile(r"(?i)ipip|^tunl"), "ipip"),
    (re.compile(r"(?i)^gre"), "gre"),
    (re.compile(r"(?i)^(docker0|br-[0-9a-f]+|cni0|cali|veth|lxc)"), "plain"),
)
_NAMED_MTU = re.compile(r"(?i)\b([a-z][\w.-]{1,14}) (?:has |with |at )?mtu\W{1,3}(\d{4})\b")
_PHYSICAL = re.compile(r"^(en|eth|bond|ens|eno|enp|p\d|em\d|ib)")
_ENCAPSULATION = re.compile(r"(?i)vxlan|geneve|wireguard|ipip|\bgre\b")
_BACKEND = r"backend_type$|vxlan(_mode)?$|ipip(_mode)?$|tunnel(_protocol|_mode)?$|encapsulation$|calico_backend$|wireguard_enabled$"
"""Settings that name the encapsulation: flannel's `Backend.Type`, Calico's `vxlanMode`, `ipipMode` and `encapsulation`, Cilium's `tunnel-protocol`."""
_MTU_VARIABLES = frozenset({"FLANNEL_MTU", "FELIX_VXLANMTU", "FELIX_IPINIPMTU", "FELIX_WIREGUARDMTU", "CLUSTER_NETWORK_MTU"})
"""What flannel writes to /run/flannel/subnet.env, and what Calico and kube-ovn take from their environment."""
_OFF = re.compile(r"(?i)^\W*(?:never|disabled|false|none|off)\W*$")
_UNDERLAY_MTU = r"(?:underlay|host|node|physical|uplink|nic|vpc|eth0|network).*mtu"
_OVERLAY_MTU = r"veth_mtu|pod.*mtu|cni.*mtu|calico.*mtu|flannel.*mtu|cilium.*mtu|vxlan.*mtu|overlay.*mtu|^mtu$"


def _kind(name: str, type_name: str | None) -> str | None:
    if type_name in OVERHEAD_BYTES:
        return type_name
    return next((kind for pattern, kind in _OVERLAY_NAMES if pattern.search(name)), None)


@dataclass(frozen=True, slots=True)
class _Interface:
    """One interface with its MTU, wherever it was named; `kind` is None for a physical one."""

    name: str
    kind: str | None
    mtu_bytes: int
    record: Record

    @property
    def needed_bytes(self) -> int:
        """What a full packet of this interface needs below it."""
        return self.mtu_bytes + OVERHEAD_BYTES[self.kind or "plain"]


def _interfaces(case: Case) -> list[_Interface]:
    found = [_Interface(one.name, _kind(one.name, one.type_name), one.mtu_bytes, one) for one in case.every(Link) if one.mtu_bytes]
    for said in case.said("interface-mtu"):
        for name, mtu in (pair for quote in said.quotes for pair in _NAMED_MTU.findall(quote.text)):
            found.append(_Interface(name, _kind(name, None), int(mtu), said))
    return [one for one in found if one.kind or _PHYSICAL.match(one.name)]


def _tightest(interfaces: list[_Interface]) -> tuple[_Interface | None, _Interface | None]:
    """The overlay and the physical interface of one host between which the least room is left; any host where none has both."""
    hosts = {one.record.host for one in interfaces}
    pairs = [
        (max(over, key=lambda one: one.needed_bytes), min(under, key=lambda one: one.mtu_bytes))
        for host in hosts
        if (over := [one for one in interfaces if one.kind and one.record.host in (host, None)])
        and (under := [one for one in interfaces if not one.kind and one.record.host in (host, None)])
    ]
    return min(pairs, key=lambda pair: pair[1].mtu_bytes - pair[0].needed_bytes, default=(None, None))


def _judge(case: Case) -> Verdict:
    over, under = _tightest(_interfaces(case))
    evidence: list[Evidence] = []
    values: dict[str, Value] = {"right_mtu_bytes": None}
    if over and under:
        room = under.mtu_bytes
        values = {"right_mtu_bytes": room - OVERHEAD_BYTES[over.kind or "plain"]}
        numbers: dict[str, Value] = {
            "overlay": over.name,
            "overlay_mtu_bytes": over.mtu_bytes,
            "needed_mtu_bytes": over.needed_bytes,
            "under_mtu_bytes": room,
        }
        if over.needed_bytes > room:
            is_bridge = OVERHEAD_BYTES[over.kind or "plain"] == 0
            evidence.append(supports(_TOO_BIG, FAIR if is_bridge else STRONG, over.record, under.record, **numbers))
        else:
            evidence.append(contradicts(_FITS, FAIR, over.record, under.record, **numbers))
    evidence += _from_settings(case)
    evidence += _captured(case)
    evidence += piece(_SAID, ALONE, case.said("overlay-mtu"))
    evidence += piece(_NOT_SENT, ALONE, case.said("encapsulated-not-sent"))
    if evidence or case.said("overlay-network"):
        evidence += piece(_BIG_HANG, FAIR, case.said("big-hang-small-pass"))
    if evidence:
        evidence += piece(_OVERLAY, SLIGHT, case.said("overlay-network"))
        evidence += piece(_ACROSS, SLIGHT, case.said("across-nodes-only"))
    return Verdict(evidence=tuple(evidence), values=values)


def _captured(case: Case) -> list[Evidence]:
    """A capture in which what is lacking is just the header of an encapsulation."""
    reports = [one for one in case.every(IcmpReport, topic="too-big") if _lacks(one.mtu_bytes) is not None]
    unequal = with_side(case, _is_short_of_a_header)
    evidence = [*piece(_REPORTED, FAIR + SLIGHT, reports, mtu_bytes=reports[0].mtu_bytes if reports else None)]
    if unequal:
        flow, sender, receiver = unequal[0]
        evidence += told(
            _UNEQUAL, FAIR, [flow], "start", "answer", "sent-again", mss_bytes=sender.mss_bytes, other_mss_bytes=receiver.mss_bytes
        )
    return evidence


def _lacks(mtu_bytes: int | None) -> int | None:
    """The header that a usual MTU lacks; None where it lacks none that is known."""
    missing = {usual - (mtu_bytes or 0) for usual in _USUAL_MTUS} & {size for size in OVERHEAD_BYTES.values() if size}
    return min(missing, default=None)


def _is_short_of_a_header(flow: TcpFlow, sender: FlowEnd, receiver: FlowEnd) -> bool:
    """A full segment that does not arrive, between ends whose segments differ by such a header."""
    both = (sender.mss_bytes or 0, receiver.mss_bytes or 0)
    return is_swallowed(flow, sender, receiver) and abs(both[0] - both[1]) in {size for size in OVERHEAD_BYTES.values() if size}


def _from_settings(case: Case) -> tuple[Evidence, ...]:
    under = [(one, mtu) for one in configured(case, _UNDERLAY_MTU) if (mtu := _mtu(one.setting))]
    over = [
        (one, mtu)
        for one in configured(case, _OVERLAY_MTU)
        if (mtu := _mtu(one.setting)) and not re.search(_UNDERLAY_MTU, one.name)
    ]
    over += [
        (Configured(one.name.lower(), one.setting or "", None, one), mtu)
        for one in case.every(EnvVar, lambda one: one.name in _MTU_VARIABLES)
        if (mtu := _mtu(one.setting or ""))
    ]
    if over and not under:
        return _against_interfaces(case, over)
    if not under or not over:
        return ()
    room, mtu = min(mtu for _, mtu in under), max(mtu for _, mtu in over)
    numbers: dict[str, Value] = {"overlay_mtu_bytes": mtu, "under_mtu_bytes": room}
    return piece(_SET_TOO_BIG, STRONG, [over[0][0].record, under[0][0].record], **numbers) if mtu >= room else ()


def _against_interfaces(case: Case, over: list[tuple[Configured, int]]) -> tuple[Evidence, ...]:
    """What the overlay is set to against the host's own interfaces, where none of the overlay's was listed.

    Without a known encapsulation nothing is added: pod networks of clouds route packets as they are.
    """
    physical = [
        one for one in case.every(Link) if one.mtu_bytes and _PHYSICAL.match(one.name) and _kind(one.name, one.type_name) is None
    ]
    if not physical or any(one.kind for one in _interfaces(case)):
        return ()
    room = min(physical, key=lambda one: one.mtu_bytes or 0)
    widest, mtu = max(over, key=lambda one: one[1])
    backends = [one for one in configured(case, _BACKEND) if not _OFF.match(one.setting)]
    named = next((found[0].lower() for one in backends if (found := _ENCAPSULATION.search(f"{one.name} {one.setting}"))), "plain")
    numbers: dict[str, Value] = {
        "overlay": widest.name,
        "overlay_mtu_bytes": mtu,
        "needed_mtu_bytes": mtu + OVERHEAD_BYTES[named],
        "under_mtu_bytes": room.mtu_bytes,
    }
    says, weigh = (_TOO_BIG, supports) if mtu + OVERHEAD_BYTES[named] > (room.mtu_bytes or 0) else (_FITS, contradicts)
    return (weigh(says, STRONG if weigh is supports else FAIR, widest.record, room, **numbers),)


def _mtu(setting: str) -> int | None:
    found = re.match(r"\"?(\d{4})\b", setting.strip())
    return int(found[1]) if found else None


_TOO_BIG = Text(
    en="{overlay} sends {overlay_mtu_bytes} bytes, {needed_mtu_bytes} with its header; the link below takes {under_mtu_bytes}",
    zh="{overlay} 发送 {overlay_mtu_bytes} 字节，加封装头为 {needed_mtu_bytes}；下层链路只容 {under_mtu_bytes}",
)
_FITS = Text(
    en="{overlay} with its header needs {needed_mtu_bytes} bytes, the link below takes {under_mtu_bytes}",
    zh="{overlay} 加封装头需要 {needed_mtu_bytes} 字节，下层链路可容 {under_mtu_bytes}",
)
_SET_TOO_BIG = Text(
    en="the overlay is set to {overlay_mtu_bytes} bytes on a network of {under_mtu_bytes}",
    zh="覆盖网设为 {overlay_mtu_bytes} 字节，而底层为 {under_mtu_bytes}",
)
_SAID = Text(en="the MTU of pods or overlay is named", zh="提到了 Pod 或覆盖网的 MTU")
_NOT_SENT = Text(en="frames vanish after encapsulation", zh="封装后的帧消失")
_BIG_HANG = Text(en="big messages hang while small ones pass", zh="大消息挂起而小消息通过")
_OVERLAY = Text(en="traffic goes through an overlay", zh="流量经过覆盖网")
_ACROSS = Text(en="only traffic between nodes is hit", zh="仅跨节点流量受影响")

_REPORTED = Text(
    en="a router reports an MTU of {mtu_bytes}, a usual one less the header of an encapsulation",
    zh="路由器报告 MTU 为 {mtu_bytes}，恰为常用值减去封装头",
)
_UNEQUAL = Text(
    en="one end announces segments of {mss_bytes}, the other of {other_mss_bytes}: they differ by the header of an encapsulation, and full ones do not arrive",
    zh="一端声明报文段 {mss_bytes}，另一端 {other_mss_bytes}：相差一个封装头，且满长的到不了",
)

RULE = Rule(
    cause="mtu-overlay",
    title=Text(en="The overlay's MTU does not fit the network underneath", zh="覆盖网 MTU 与底层网络不匹配"),
    summary=Text(
        en="Encapsulated packets are larger than the link below carries; full-sized ones are dropped or fragmented while small ones pass.",
        zh="封装后的包大于下层链路所能承载；满长包被丢弃或分片，小包通过。",
    ),
    needs=(
        (wants(Link, lambda one: one.mtu_bytes is not None and _kind(one.name, one.type_name) is not None),),
        (wants(Setting, lambda one: is_setting_named(one, r"mtu")),),
        (wants(EnvVar, lambda one: one.name in _MTU_VARIABLES),),
        (wants(IcmpReport, lambda one: one.topic == "too-big"),),
        (Statement,),
    ),
    judge=_judge,
    explain=Explain(
        what=Text(
            en="Each overlay adds a header (VXLAN 50, WireGuard 60, IP in IP 20 bytes); pod MTU + header must not exceed the smallest MTU below.",
            zh="每种覆盖网都加封装头（VXLAN 50、WireGuard 60、IPIP 20 字节）；Pod MTU 加头不得超过下层最小 MTU。",
        ),
        shows=Text(
            en="Handshakes and small requests work, bodies over about 1.4 kB or TLS certificates hang, only between nodes.",
            zh="握手与小请求正常，约 1.4 kB 以上的内容或 TLS 证书挂起，且仅跨节点。",
        ),
        sources=("RFC 7348 section 4.3", "Calico: configure MTU", "Cilium: MTU", "Docker: com.docker.network.driver.mtu"),
    ),
    told_apart_from=(
        LookAlike(
            cause="pmtu-blackhole",
            because=Text(
                en="without an overlay, the small MTU is on a hop further away", zh="没有覆盖网时，较小的 MTU 在更远的某一跳"
            ),
        ),
        LookAlike(
            cause="mtu-mismatch",
            because=Text(en="there two hosts or ports of one layer differ", zh="那里是同层的两台主机或端口不同"),
        ),
        LookAlike(cause="firewall-blocks-ports", because=Text(en="a filter does not look at sizes", zh="过滤器不看包长")),
    ),
    changes=(
        Change(
            what=Text(
                en="Set the overlay's MTU to the underlay's less the header ({right_mtu_bytes} here), or raise the underlay's",
                zh="把覆盖网 MTU 设为底层减封装头（此处 {right_mtu_bytes}），或提高底层 MTU",
            ),
            commands=(
                'kubectl patch installation.operator.tigera.io default --type merge -p \'{{"spec":{{"calicoNetwork":{{"mtu":{right_mtu_bytes}}}}}}}\'',
            ),
            risk=Text(en="Pods keep the old MTU until they are recreated", zh="Pod 重建前仍用旧 MTU"),
        ),
    ),
    checks=(
        Check(
            what=Text(
                en="A full-sized ping with DF passes from pod to pod on another node", zh="Pod 到另一节点 Pod 的满长 DF ping 可通过"
            ),
            commands=("ping -M do -s 1422 POD_IP",),
        ),
    ),
    gain=Text(
        en="Large requests pass; throughput between nodes rises where packets were fragmented",
        zh="大请求得以通过；若此前被分片，跨节点吞吐上升",
    ),
    severity="high",
    explains=("pmtu-blackhole", "mtu-mismatch", "firewall-blocks-ports", "packet-loss", "gateway-timeout-too-short"),
    settled_by=("ping -M do -s 8972 -c 3 PEER",),
)
