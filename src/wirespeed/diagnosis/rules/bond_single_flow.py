"""One flow, or a few, on a bond use one of its members."""

from wirespeed.diagnosis.joins.pieces import against, piece
from wirespeed.model.case import Case
from wirespeed.model.events.nccl import NcclBootstrap, NcclHca
from wirespeed.model.facts.host import EnvVar
from wirespeed.model.facts.link import Bond, Link
from wirespeed.model.facts.rdma import RdmaPort
from wirespeed.model.finding import FAIR, SLIGHT, STRONG, Change, Check, LookAlike, Verdict
from wirespeed.model.kinds import Explain, Rule, wants
from wirespeed.model.record import Record
from wirespeed.model.settings import Statement
from wirespeed.model.text import Text


def _judge(case: Case) -> Verdict:
    bonds = _bonds(case)
    said = case.said("bonded")
    if not bonds and not said:
        return Verdict()
    down = case.every(Bond, lambda one: bool(one.members_down))
    layer2 = case.every(Bond, lambda one: (one.hash_policy or "").startswith("layer2") and "+" not in (one.hash_policy or ""))
    is_short = bool(case.said("one-member-only", "more-flows-scale", "single-flow-limited", "plateau-near-half") or layer2 or down)
    one_qp = case.every(EnvVar, name="NCCL_IB_QPS_PER_CONNECTION", setting="1")
    return Verdict(
        evidence=(
            *piece(_BOND, FAIR if is_short else 0.5, bonds + said),
            *piece(_MEMBER, STRONG, case.said("one-member-only")),
            *piece(_FLOWS, FAIR + SLIGHT, case.said("more-flows-scale", "single-flow-limited")),
            *piece(_HALF, SLIGHT, case.said("plateau-near-half")),
            *piece(_LAYER2, FAIR, layer2),
            *piece(_QP, FAIR, one_qp),
            *piece(_DOWN, STRONG, down),
            *against(_TIERS, SLIGHT, case.said("several-switch-tiers", "few-flows-hash")),
        )
    )


def _bonds(case: Case) -> tuple[Record, ...]:
    return (
        *case.every(Bond),
        *case.every(NcclHca, lambda one: "bond" in (one.device or "") or "bond" in (one.oob or "")),
        *case.every(RdmaPort, lambda one: "bond" in one.device),
        *case.every(Link, lambda one: one.name.startswith("bond") or one.type_name == "bond"),
        *case.every(NcclBootstrap, lambda one: one.interface.startswith("bond")),
    )


_BOND = Text(en="the traffic goes over a bond", zh="流量经过绑定链路")
_MEMBER = Text(en="one member carries the traffic, the other idles", zh="一个成员承载流量，另一个空闲")
_FLOWS = Text(en="more flows or queue pairs fill the link, few do not", zh="更多流或队列对能占满链路，少量则不能")
_HALF = Text(en="the rate stops near half", zh="速率停在一半附近")
_LAYER2 = Text(
    en="the bond hashes by MAC address only: two hosts always use one member", zh="绑定仅按 MAC 哈希：两台主机之间总走同一成员"
)
_QP = Text(en="one queue pair per connection", zh="每连接仅一个队列对")
_DOWN = Text(en="a member of the bond is down", zh="绑定有成员断开")
_TIERS = Text(en="several switch tiers are involved: the collision may be there", zh="涉及多级交换机：碰撞可能在那里")

RULE = Rule(
    cause="bond-lag-single-flow",
    title=Text(en="The bond's members are not all used", zh="绑定链路的成员未被充分使用"),
    summary=Text(
        en="A bond spreads flows, not packets: one flow (or a few queue pairs with unlucky hashes) gets the rate of one member.",
        zh="绑定按流而非按包分配：单流（或哈希不巧的少量队列对）只得到一个成员的速率。",
    ),
    needs=(
        (wants(NcclHca, lambda one: "bond" in (one.device or "") or "bond" in (one.oob or "")),),
        (Bond,),
        (wants(Link, lambda one: one.name.startswith("bond")),),
        (wants(RdmaPort, lambda one: "bond" in one.device),),
        (wants(NcclBootstrap, lambda one: one.interface.startswith("bond")),),
        (wants(Statement, lambda one: one.topic == "bonded"),),
    ),
    silence_needs=((Bond,),),
    judge=_judge,
    explain=Explain(
        what=Text(
            en="The hash of addresses and ports (or of the queue pair) picks the member; few flows cannot spread evenly.",
            zh="地址端口（或队列对）的哈希决定成员；流太少无法均匀分布。",
        ),
        shows=Text(
            en="perftest with many queue pairs is full, NCCL or one iperf3 stream stops at one member or a bit above.",
            zh="多队列对的 perftest 跑满，而 NCCL 或单流 iperf3 停在一个成员或略高。",
        ),
        sources=(
            "Linux bonding documentation (xmit_hash_policy)",
            "NCCL environment documentation (NCCL_IB_QPS_PER_CONNECTION)",
            "NVIDIA/nccl-tests#265",
        ),
    ),
    told_apart_from=(
        LookAlike(
            cause="ecmp-collision",
            because=Text(
                en="there the host has one port and the uplinks of switches collide", zh="彼处主机只有一个端口，碰撞在交换机上行"
            ),
        ),
        LookAlike(
            cause="tcp-single-flow-limit",
            because=Text(en="there a single port cannot be filled by one TCP flow either", zh="彼处单端口也无法被单条 TCP 流占满"),
        ),
    ),
    changes=(
        Change(
            what=Text(en="More queue pairs or sockets per connection", zh="每连接使用更多队列对或套接字"),
            commands=(
                "export NCCL_IB_QPS_PER_CONNECTION=4 NCCL_IB_SPLIT_DATA_ON_QPS=1",
                "export NCCL_NSOCKS_PERTHREAD=4 NCCL_SOCKET_NTHREADS=4",
            ),
            side="training",
        ),
        Change(
            what=Text(en="Hash by layer 3 and 4 on host and switch", zh="主机与交换机按三四层哈希"),
            commands=("ip link set bond0 type bond xmit_hash_policy layer3+4",),
            risk=Text(en="Flows in flight are reordered briefly", zh="在途流会短暂乱序"),
        ),
    ),
    checks=(
        Check(
            what=Text(en="With eight flows the members carry within 60/40", zh="八条流时成员负载在 60/40 以内"),
            commands=("grep . /sys/class/net/*/statistics/tx_bytes",),
        ),
    ),
    gain=Text(en="Up to the number of members", zh="最多为成员数倍"),
    severity="medium",
)
