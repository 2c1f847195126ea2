"""RoCE runs without working flow control or congestion marking, and loses packets when senders meet."""

from wirespeed.diagnosis.joins.pieces import ALONE, against, piece
from wirespeed.diagnosis.joins.received import is_negligible
from wirespeed.diagnosis.joins.roce_class import RoceClass, roce_classes
from wirespeed.model.case import Case
from wirespeed.model.events.nccl import NcclHca, NcclWarning
from wirespeed.model.facts.link import Counter, PriorityFlowControl
from wirespeed.model.facts.rdma import RdmaPort
from wirespeed.model.finding import FAIR, SLIGHT, STRONG, Change, Check, LookAlike, Value, Verdict
from wirespeed.model.kinds import Explain, Rule, wants
from wirespeed.model.record import Record
from wirespeed.model.settings import Statement
from wirespeed.model.text import Text

_RDMA_LOSS = ("rdma_sequence_error", "rdma_out_of_sequence", "rdma_ack_timeout", "rdma_adaptive_retransmit", "rdma_slow_restart")
_DISCARDS = ("rx_phy_discard", "rx_priority_discard", "tx_phy_discard", "rx_dropped")
_CONTROL = ("pfc_rx", "pfc_tx", "cnp_sent", "cnp_handled", "ecn_marked")
RETRY_EXCEEDED_CODE = 12


def _judge(case: Case) -> Verdict:
    loss = case.every(Counter, lambda one: one.canonical in _RDMA_LOSS and one.value_count > 0)
    roce = _roce(case)
    discards = (
        case.every(Counter, lambda one: one.canonical in _DISCARDS and one.value_count > 0 and not is_negligible(case, one))
        if roce
        else ()
    )
    damaged = case.every(Counter, lambda one: one.canonical in ("fcs_errors", "rx_symbol_damage") and one.value_count > 0)
    pauses = case.every(Counter, lambda one: one.canonical in _CONTROL and one.value_count > 0)
    quiet = case.every(Counter, lambda one: one.canonical in _CONTROL and one.value_count == 0) if not pauses else ()
    off = case.every(PriorityFlowControl, enabled_priorities=())
    on = case.every(PriorityFlowControl, lambda one: bool(one.enabled_priorities))
    bare = [one for one in roce_classes(case) if not one.is_protected]
    protected = [one for one in roce_classes(case) if one.is_protected]
    retries = case.every(NcclWarning, topic="completion-error", status_code=RETRY_EXCEEDED_CODE)
    retries_said = case.said("rdma-retry-exceeded")
    said = case.said("pfc-not-set")
    load = case.said("many-to-one-collapses")
    has_symptom = bool(loss or discards or retries or retries_said or load or said)
    return Verdict(
        evidence=(
            *piece(_SAID, STRONG, said),
            *piece(_OFF, STRONG if has_symptom else ALONE, off),
            *piece(
                _BARE, STRONG if not protected else FAIR, [record for one in bare[:1] for record in one.records], **_of_class(bare)
            ),
            *against(_PROTECTED, FAIR, [record for one in protected[:1] for record in one.records] if not bare else ()),
            *(piece(_QUIET, FAIR, quiet) if discards or loss else ()),
            *piece(_LOSS, FAIR, loss or case.said("uses-roce-counters")),
            *(piece(_DISCARDED, SLIGHT, discards) if loss or load or quiet else ()),
            *piece(_LOAD, FAIR if roce or loss or said else SLIGHT, load),
            *(piece(_ROCE, SLIGHT, roce) if has_symptom else ()),
            *(piece(_RETRIES, SLIGHT, retries or retries_said) if loss or discards or off or load or said or bare else ()),
            *against(_WIRE, FAIR, damaged),
            *against(_PAUSES, SLIGHT if discards and loss else FAIR, pauses),
            *against(_ON, SLIGHT, on),
        )
    )


def _of_class(classes: list[RoceClass]) -> dict[str, Value]:
    if not classes:
        return {}
    enabled = ", ".join(str(one) for one in classes[0].enabled_priorities)
    return {"dscp_code": classes[0].dscp_code, "priority_number": classes[0].priority, "enabled": enabled}


def _roce(case: Case) -> tuple[Record, ...]:
    """Whatever says that RDMA runs over Ethernet here: ports, adapters, RDMA counters of a device with Ethernet's, words."""
    ports = case.every(RdmaPort, link_layer="ethernet")
    adapters = case.every(NcclHca, lambda one: (one.link_layer or "").lower() == "roce")
    counted = case.every(Counter, lambda one: (one.canonical or "").startswith(("rdma_", "cnp_")))
    return (*ports, *adapters, *case.every(PriorityFlowControl), *counted, *case.said("roce-in-use", "uses-roce-counters"))


_SAID = Text(
    en="flow control or ECN is said to be missing, inconsistent, or to have been the cure",
    zh="描述称流控或 ECN 缺失、不一致，或开启后即恢复",
)
_OFF = Text(en="PFC is enabled on no priority of this port", zh="该端口没有任何优先级启用 PFC")
_BARE = Text(
    en="RoCE is sent with DSCP {dscp_code}, which is priority {priority_number}, and PFC is on for {enabled} only",
    zh="RoCE 以 DSCP {dscp_code} 发送，对应优先级 {priority_number}，而 PFC 只在 {enabled} 启用",
)
_PROTECTED = Text(en="PFC covers the priority that RoCE is sent with", zh="PFC 覆盖 RoCE 所用的优先级")
_LOSS = Text(
    en="the RDMA transport saw gaps, retries or slow restarts: packets were lost", zh="RDMA 传输层出现乱序、重传或慢启动：有丢包"
)
_QUIET = Text(en="packets are lost while no pause and no congestion mark is counted", zh="有丢包，却没有暂停帧或拥塞标记计数")
_DISCARDED = Text(en="frames were discarded at a full buffer", zh="缓冲满时丢弃了帧")
_LOAD = Text(en="a pair is fine, many senders at once are not", zh="单对正常，多发送方同时则不正常")
_ROCE = Text(en="the transport is RoCE, which suffers from any loss", zh="传输为 RoCE，对任何丢包都敏感")
_RETRIES = Text(en="transfers ended with retries exceeded", zh="传输因重试次数用尽而失败")
_WIRE = Text(en="frames are damaged on the wire: that loss needs no congestion", zh="线路上有坏帧：这种丢包与拥塞无关")
_PAUSES = Text(en="pause or congestion notification is at work", zh="暂停或拥塞通知正在起作用")
_ON = Text(en="PFC is enabled on this port", zh="该端口已启用 PFC")

RULE = Rule(
    cause="roce-pfc-missing",
    title=Text(
        en="RoCE loses packets because flow control and congestion marking are not in place", zh="RoCE 缺少流控与拥塞标记而丢包"
    ),
    summary=Text(
        en="RoCE assumes a network that does not drop. Without PFC on its priority (or ECN with DCQCN) on every hop, bursts from several "
        "senders overflow a switch buffer, and each lost packet costs a whole window.",
        zh="RoCE 假定网络不丢包。若沿途没有在其优先级上启用 PFC（或 ECN 配合 DCQCN），多发送方突发会溢出交换机缓冲，每丢一包就要重传整个窗口。",
    ),
    needs=(
        (PriorityFlowControl,),
        (wants(Counter, lambda one: one.canonical in (*_RDMA_LOSS, *_CONTROL)),),
        (wants(Statement, lambda one: one.topic in ("pfc-not-set", "many-to-one-collapses", "uses-roce-counters")),),
    ),
    judge=_judge,
    explain=Explain(
        what=Text(
            en="Go-back-N retransmission: 0.1 % loss can cost most of the bandwidth, where TCP would hardly notice.",
            zh="回退 N 重传：0.1% 的丢包可能损失大部分带宽，而 TCP 几乎不受影响。",
        ),
        shows=Text(
            en="packet_seq_err, out_of_sequence and local_ack_timeout_err rise under load while no port counts pause frames; one pair of "
            "hosts is fast, the whole job collapses or hangs.",
            zh="负载下 packet_seq_err、out_of_sequence、local_ack_timeout_err 上升，而各端口没有暂停帧计数；单对主机很快，整个任务却塌陷或挂起。",
        ),
        sources=("Linux mlx5 counters.rst", "NVIDIA/nccl#378", "drivers/infiniband/hw/mlx5/counters.c"),
    ),
    told_apart_from=(
        LookAlike(
            cause="packet-loss",
            because=Text(
                en="damaged frames (FCS, symbol errors) mean a bad cable or optic; there congestion plays no part",
                zh="坏帧（FCS、符号错误）说明线缆或光模块坏，与拥塞无关",
            ),
        ),
        LookAlike(
            cause="roce-gid-index-wrong",
            because=Text(
                en="there the very first transfer fails; here small tests pass and load breaks it",
                zh="彼处首个传输就失败；此处小测试通过，负载才出错",
            ),
        ),
        LookAlike(
            cause="mtu-mismatch",
            because=Text(
                en="there small messages pass and every full-size one fails, whatever the load",
                zh="彼处小消息通过、满长消息必败，与负载无关",
            ),
        ),
    ),
    changes=(
        Change(
            what=Text(
                en="Enable PFC on exactly one priority and trust DSCP, on hosts and on every switch of the path",
                zh="在主机和沿途每台交换机上，仅对一个优先级启用 PFC 并信任 DSCP",
            ),
            commands=("mlnx_qos -i IFACE --pfc 0,0,0,1,0,0,0,0 --trust dscp", "export NCCL_IB_TC=106"),
            risk=Text(
                en="A wrong PFC set-up can spread pauses; the switch side must match", zh="PFC 配置错误会扩散暂停；交换机侧必须一致"
            ),
        ),
        Change(
            what=Text(
                en="Let switches mark ECN below the pause threshold, with DCQCN on the NICs",
                zh="交换机在暂停门限之下标记 ECN，网卡启用 DCQCN",
            )
        ),
    ),
    checks=(
        Check(
            what=Text(
                en="In an incast test the sequence-error counters stay flat and the pause or CNP counters move instead",
                zh="incast 测试中乱序计数不再增长，而暂停或 CNP 计数变化",
            ),
            commands=("grep . /sys/class/infiniband/*/ports/1/hw_counters/{{packet_seq_err,out_of_sequence,np_cnp_sent}}",),
        ),
    ),
    gain=Text(en="Often twofold and more under load; hangs end", zh="负载下往往提升一倍以上；挂起消失"),
    severity="high",
    explains=("packet-loss", "collective-timeout-too-short"),
)
