"""A link goes down and comes back by itself."""

from wirespeed.diagnosis.joins.pieces import piece
from wirespeed.model.case import Case
from wirespeed.model.events.log import KernelEvent
from wirespeed.model.events.nccl import NcclWarning
from wirespeed.model.facts.link import Counter, Link
from wirespeed.model.finding import FAIR, PROVES, SLIGHT, STRONG, Change, Check, LookAlike, Verdict
from wirespeed.model.kinds import Explain, Rule, wants
from wirespeed.model.settings import Statement
from wirespeed.model.text import Text

FLAPS_COUNT = 2
"""Two losses of carrier in one window (NVSentinel's default); one also happens at boot or a change of settings."""


def _judge(case: Case) -> Verdict:
    downs = case.every(KernelEvent, topic="link-down")
    ups = case.every(KernelEvent, topic="link-up")
    counted = case.every(Counter, lambda one: one.canonical in ("link_down", "link_recovery") and one.value_count >= FLAPS_COUNT)
    carrier = case.every(Link, lambda one: (one.carrier_changes_count or 0) >= 2 * FLAPS_COUNT + 2)
    seen = case.every(Counter, lambda one: one.is_delta and one.canonical == "carrier_changes" and one.value_count > 0)
    events = case.every(NcclWarning, topic="async-event")
    is_repeated = len(downs) >= FLAPS_COUNT and bool(ups)
    return Verdict(
        evidence=(
            *piece(
                _REPEATED if is_repeated else _ONCE,
                PROVES if is_repeated else FAIR if ups else SLIGHT,
                downs + ups[:1] if downs else (),
            ),
            *piece(_SEEN, STRONG + FAIR, seen, link=seen[0].scope if seen else None, host=seen[0].host if seen else None),
            *piece(_COUNTED, STRONG, counted),
            *piece(_CARRIER, FAIR, carrier),
            *piece(_EVENT, SLIGHT, events if downs or counted else ()),
            *piece(_RETURNED, STRONG, events if _goes_and_returns(events) else ()),
            *piece(_RESETS, FAIR, case.every(KernelEvent, topic="tx-timeout")),
            *piece(_SAID, STRONG, case.said("link-flaps")),
        )
    )


def _goes_and_returns(events: tuple[NcclWarning, ...]) -> bool:
    """Whether NCCL was told of a port's error and of its return."""
    told = " ".join(one.message.lower() for one in events)
    return "port error" in told and "port active" in told


_RETURNED = Text(en="NCCL was told that a port failed and that it came back", zh="NCCL 收到端口出错与恢复两种事件")
_REPEATED = Text(en="the kernel saw the link go down and up again, more than once", zh="内核多次看到链路断开又恢复")
_ONCE = Text(en="the kernel saw the link go down once", zh="内核看到链路断开一次")
_SEEN = Text(en="the carrier of {link} on {host} changed while we looked", zh="观察期间 {host} 的 {link} 载波发生变化")
_COUNTED = Text(en="the port counts link losses", zh="端口计到链路丢失")
_CARRIER = Text(en="carrier changed many times since boot", zh="自启动以来载波多次变化")
_EVENT = Text(en="NCCL was told of a port event while it ran", zh="NCCL 运行中收到端口事件")
_RESETS = Text(en="the driver reset a stuck interface", zh="驱动复位了卡住的接口")
_SAID = Text(en="a flapping link is reported", zh="描述提到链路闪断")

RULE = Rule(
    cause="link-flapping",
    title=Text(en="A link goes down and up by itself", zh="链路自行反复断开恢复"),
    summary=Text(
        en="Each loss of the link stalls or kills what ran over it, and by the time somebody looks it is up again.",
        zh="每次断链都会使其上的任务停顿或失败，等有人查看时又恢复了。",
    ),
    needs=(
        (wants(KernelEvent, lambda one: one.topic in ("link-down", "link-up", "tx-timeout")),),
        (wants(NcclWarning, lambda one: one.topic == "async-event"),),
        (wants(Counter, lambda one: one.canonical in ("link_down", "link_recovery", "carrier_changes")),),
        (wants(Link, lambda one: one.carrier_changes_count is not None),),
        (wants(Statement, lambda one: one.topic == "link-flaps"),),
    ),
    judge=_judge,
    explain=Explain(
        what=Text(
            en="A marginal optic or cable, a hot module, a loose cage or a firmware fault.",
            zh="光模块或线缆临界、模块过热、接触不良或固件缺陷。",
        ),
        shows=Text(
            en="Random job aborts, NCCL async events, carrier_changes and link_down_events_phy rising.",
            zh="任务随机中止、NCCL 异步事件，carrier_changes 与 link_down_events_phy 上升。",
        ),
        sources=(
            "NVIDIA/NVSentinel NIC health monitor (delta 2)",
            "azurehpc-health-checks (5 flaps in 24 h)",
            "Linux mlx5 counters.rst",
        ),
    ),
    told_apart_from=(
        LookAlike(cause="ib-port-down", because=Text(en="there the port stays down", zh="彼处端口一直断开")),
        LookAlike(
            cause="packet-loss",
            because=Text(
                en="errors without loss of carrier are a damaged path, not a flap", zh="有错误而载波未失，是路径受损而非闪断"
            ),
        ),
    ),
    changes=(
        Change(
            what=Text(
                en="Clean or replace optic and cable, try another switch port, align firmware; drain the node until then",
                zh="清洁或更换光模块与线缆，换交换机端口，统一固件；此前先隔离节点",
            )
        ),
        Change(
            what=Text(en="To ride out short losses", zh="为度过短暂断链"),
            commands=("export NCCL_IB_TIMEOUT=22 NCCL_IB_RETRY_CNT=7",),
            side="training",
        ),
    ),
    checks=(
        Check(
            what=Text(en="No new carrier change in 24 h under load", zh="负载下 24 小时无新的载波变化"),
            commands=("cat /sys/class/net/IFACE/carrier_changes",),
        ),
    ),
    gain=Text(en="Random aborts end", zh="随机中止消失"),
    severity="high",
    explains=("ib-port-down", "packet-loss", "peer-process-died", "collective-timeout-too-short"),
)
