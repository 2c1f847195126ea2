"""Packets of one flow arrive out of order, so that TCP sends again what was not lost."""

from collections import Counter

from wirespeed.diagnosis.joins.flows import FEWEST_DATA_COUNT, data_packets, told, with_side
from wirespeed.diagnosis.joins.pieces import against, piece
from wirespeed.diagnosis.joins.rates import sound_flows
from wirespeed.model.case import Case
from wirespeed.model.finding import FAIR, SLIGHT, STRONG, Change, Check, LookAlike, Verdict
from wirespeed.model.flows import FlowEnd, TcpFlow
from wirespeed.model.kinds import Explain, Rule, wants
from wirespeed.model.link_runs import DatagramTrain, FlowRun
from wirespeed.model.settings import Statement
from wirespeed.model.text import Text

FEWEST_SEEN_COUNT = 60
FEWEST_DUPLICATES_COUNT = 80
SPURIOUS_RATIO = 0.2
"""Of one flow of half a second to a second, and of what it sent again: four healthy flows that fill one queue see up to 90 such
events, but 12 duplicates at most (measured in the lab: 163 to 416 where packets are sprayed over unequal ways)."""
REORDERED_RATIO = 0.05
"""Datagrams that share a busy path with bursts of a host of two cores overtake each other in up to 1.6 % of cases (measured)."""
FEWEST_DATAGRAMS_COUNT = 100
FEWEST_LATE_COUNT, LATE_RATIO = 5, 0.01


def _judge(case: Case) -> Verdict:
    spurious = _spurious(case)
    seen = sound_flows(case, lambda one: (one.reordering_seen_count or 0) >= FEWEST_SEEN_COUNT)
    trains = case.every(DatagramTrain, _is_reordered)
    overtaken = with_side(case, _is_overtaken)
    orderly = case.every(DatagramTrain, lambda one: one.received_count >= FEWEST_DATAGRAMS_COUNT and not _is_reordered(one))
    return Verdict(
        evidence=(
            *piece(
                _SPURIOUS,
                STRONG + SLIGHT,
                spurious,
                duplicates_count=max((one.dsack_duplicates_count or 0 for one in spurious), default=0),
            ),
            *piece(_SEEN, SLIGHT, seen if not spurious else ()),
            *piece(_TRAINS, STRONG, trains),
            *told(
                _OVERTAKEN,
                STRONG,
                [flow for flow, _, _ in overtaken],
                "late",
                late_count=max((one.late_count for _, one, _ in overtaken), default=0),
                twice_count=max((other.duplicates_told_count for _, _, other in overtaken), default=0),
            ),
            *piece(_SPREAD, STRONG, case.said("spread-by-packet")),
            *piece(_TOLD, FAIR, case.said("overtaken-packets")),
            *against(_ORDERLY, SLIGHT, orderly if not trains else ()),
        )
    )


def _spurious(case: Case) -> tuple[FlowRun, ...]:
    """Flows whose data arrived twice in numbers; one alone of the flows of a path is not the path's."""
    found = case.every(
        FlowRun,
        lambda one: (
            (one.reordering_seen_count or 0) >= FEWEST_SEEN_COUNT
            and (one.dsack_duplicates_count or 0) >= max(FEWEST_DUPLICATES_COUNT, SPURIOUS_RATIO * (one.retransmits_packets or 0))
        ),
    )
    alike = Counter((one.test, one.sender, one.receiver) for one in found)
    among = Counter((one.test, one.sender, one.receiver) for one in case.every(FlowRun))
    return tuple(one for one in found if 2 * alike[one.test, one.sender, one.receiver] >= among[one.test, one.sender, one.receiver])


def _is_overtaken(flow: TcpFlow, sender: FlowEnd, receiver: FlowEnd) -> bool:
    """Segments that arrive behind later ones, more of them than are lost: the capture stands behind where they overtake."""
    packets = data_packets(sender)
    if packets < FEWEST_DATA_COUNT:
        return False
    is_seen = sender.late_count >= max(FEWEST_LATE_COUNT, LATE_RATIO * packets) and sender.late_count > sender.filled_count
    is_told = receiver.duplicates_told_count >= max(FEWEST_LATE_COUNT, SPURIOUS_RATIO * sender.retransmits_count)
    return is_seen or is_told


def _is_reordered(train: DatagramTrain) -> bool:
    return train.received_count >= FEWEST_DATAGRAMS_COUNT and train.reordered_count >= REORDERED_RATIO * train.received_count


_SPURIOUS = Text(
    en="the receiver reported {duplicates_count} segments that arrived twice: they were sent again although nothing was lost",
    zh="接收方报告 {duplicates_count} 个报文段重复到达：未丢失却被重传",
)
_SEEN = Text(en="TCP saw segments overtake each other", zh="TCP 发现报文段相互超越")
_OVERTAKEN = Text(
    en="{late_count} segments of a captured connection arrived behind ones that left later, {twice_count} were received twice",
    zh="抓包中一条连接有 {late_count} 个报文段晚于其后发出的到达，{twice_count} 个被重复接收",
)
_TRAINS = Text(en="datagrams of a paced train arrive out of order", zh="限速数据报乱序到达")
_SPREAD = Text(en="packets of one flow are spread over several links", zh="同一条流的包被分散到多条链路")
_TOLD = Text(
    en="segments are sent again although all arrive, or arrive out of order", zh="报文段虽全部到达仍被重传，或到达顺序错乱"
)
_ORDERLY = Text(en="datagrams arrive in order", zh="数据报按序到达")

RULE = Rule(
    cause="packet-reordering",
    title=Text(en="Packets overtake each other", zh="数据包相互超越（乱序）"),
    summary=Text(
        en="Packets of one flow take paths of different length. TCP takes the gaps for loss, sends again and slows down; RDMA resends whole windows.",
        zh="同一条流的数据包走了长短不同的路径。TCP 把空隙当作丢包而重传、降速；RDMA 会重传整个窗口。",
    ),
    needs=(
        (wants(FlowRun, lambda one: one.reordering_seen_count is not None),),
        (DatagramTrain,),
        (wants(TcpFlow, lambda one: any(data_packets(end) >= FEWEST_DATA_COUNT for end in (one.client, one.server))),),
        (wants(Statement, lambda one: one.topic in ("spread-by-packet", "overtaken-packets")),),
    ),
    judge=_judge,
    explain=Explain(
        what=Text(
            en="Spraying packet by packet over unequal paths, or a bond in round-robin mode, lets later packets overtake earlier ones.",
            zh="在不等价路径上逐包喷洒，或绑定使用轮询模式，会使后发的包先到。",
        ),
        shows=Text(
            en="TCPSACKReorder and TCPDSACKRecv rise together, PAWSEstab at the receiver, retransmissions without any drop counter.",
            zh="TCPSACKReorder 与 TCPDSACKRecv 同时上升，接收端出现 PAWSEstab；有重传而无任何丢包计数。",
        ),
        sources=("RFC 4737", "RFC 2883 (DSACK)", "measured in network namespaces, Linux 6.18 (reorder_spray_unequal)"),
    ),
    told_apart_from=(
        LookAlike(
            cause="packet-loss", because=Text(en="there datagrams are missing; here all arrive", zh="彼处数据报缺失；此处全部到达")
        ),
        LookAlike(
            cause="ecmp-collision",
            because=Text(
                en="there whole flows share a path; here one flow takes several", zh="彼处多条流同走一路；此处一条流走多条路"
            ),
        ),
    ),
    changes=(
        Change(
            what=Text(
                en="Hash by flow instead of spraying packets, or make the paths equal; on bonds use layer3+4 hashing, not balance-rr",
                zh="按流哈希而非逐包喷洒，或使各路径等价；绑定使用 layer3+4 哈希而非 balance-rr",
            )
        ),
        Change(
            what=Text(
                en="With adaptive routing for RDMA, switch on out-of-order placement at both ends",
                zh="RDMA 自适应路由须在两端启用乱序放置",
            ),
            side="training",
        ),
    ),
    checks=(
        Check(
            what=Text(en="Reordering and DSACK counters stay flat under load", zh="负载下乱序与 DSACK 计数不变"),
            commands=("nstat -az TcpExtTCPSACKReorder TcpExtTCPDSACKRecv",),
        ),
    ),
    gain=Text(en="Spurious retransmissions disappear; RDMA returns to line rate", zh="多余的重传消失；RDMA 恢复线速"),
    severity="medium",
    explains=("packet-loss", "oversubscribed-fabric", "ecmp-collision"),
)
