"""Pause frames hold the sender down without a single drop."""

from wirespeed.diagnosis.joins.pieces import against, piece
from wirespeed.diagnosis.joins.received import is_negligible
from wirespeed.model.case import Case
from wirespeed.model.facts.link import Counter, LinkPause, LinkRings
from wirespeed.model.finding import FAIR, SLIGHT, STRONG, Change, Check, LookAlike, Verdict
from wirespeed.model.kinds import Explain, Rule, wants
from wirespeed.model.settings import Statement
from wirespeed.model.text import Text

_RECEIVED = ("pause_rx", "pause_rx_us", "pfc_rx", "pfc_rx_us", "pause_storm")
_SENT = ("pause_tx", "pause_tx_us", "pfc_tx", "pfc_tx_us")
_DROPS = ("rx_no_buffer", "rx_phy_discard", "fcs_errors")


def _judge(case: Case) -> Verdict:
    received = case.every(Counter, lambda one: one.canonical in _RECEIVED and one.value_count > 0)
    sent = case.every(Counter, lambda one: one.canonical in _SENT and one.value_count > 0)
    dropped = case.every(Counter, lambda one: one.canonical in _DROPS and one.value_count > 0 and not is_negligible(case, one))
    no_drops = case.every(Counter, lambda one: one.canonical in _DROPS and one.value_count == 0)
    small_ring = case.every(
        LinkRings, lambda one: bool(one.rx_entries and one.rx_max_entries and one.rx_entries * 4 <= one.rx_max_entries)
    )
    storms = case.every(Counter, lambda one: one.canonical == "pause_storm" and one.value_count > 0)
    said = case.said("receives-pause")
    is_on = case.every(LinkPause, lambda one: bool(one.rx_is_on))
    return Verdict(
        evidence=(
            *piece(_GOT, STRONG, received),
            *piece(_STORM, FAIR, storms),
            *piece(_ON, SLIGHT, is_on if received or said else ()),
            *piece(_SAID, FAIR + SLIGHT, said),
            *piece(
                _CLEAN, FAIR if received or said else 0.5, no_drops or case.said("no-drops-anywhere") if received or said else ()
            ),
            *piece(_WE_SEND, SLIGHT, sent if not received else ()),
            *against(_OWN_RING, STRONG, small_ring),
            *against(_HOST, FAIR, case.said("host-sends-pause") if not received else ()),
            *against(_DROPPED, SLIGHT, dropped),
        )
    )


_GOT = Text(en="the port received pause frames", zh="端口收到暂停帧")
_STORM = Text(en="the device itself reports a pause storm", zh="设备自身报告暂停风暴")
_ON = Text(en="receive pause is switched on", zh="接收暂停已开启")
_SAID = Text(en="received pause frames are reported", zh="描述提到收到暂停帧")
_CLEAN = Text(en="nothing is dropped anywhere", zh="各处均无丢包")
_WE_SEND = Text(en="this host sends pause frames: it cannot take what arrives", zh="本机发出暂停帧：来不及接收")
_OWN_RING = Text(en="the own receive ring is small and may be what pauses", zh="自身接收环过小，暂停可能由此而来")
_HOST = Text(en="it is this host that pauses its switch", zh="是本机在暂停交换机")
_DROPPED = Text(en="there are drops, which working pause would prevent", zh="存在丢包，而有效的暂停本应避免")

RULE = Rule(
    cause="pause-frames-throttling",
    title=Text(en="Pause frames throttle the sender", zh="暂停帧压住了发送方"),
    summary=Text(
        en="The switch (or a slow receiver behind it) tells this port to stop sending, again and again. Nothing is lost, everything is slow.",
        zh="交换机（或其后的慢接收方）一再要求该端口停发。没有丢包，只是慢。",
    ),
    needs=(
        (wants(Counter, lambda one: one.canonical in (*_RECEIVED, *_SENT)),),
        (wants(Statement, lambda one: one.topic == "receives-pause"),),
    ),
    judge=_judge,
    explain=Explain(
        what=Text(
            en="802.3x pause stops the whole port, PFC one priority; a slow receiver spreads it upstream.",
            zh="802.3x 暂停整个端口，PFC 暂停一个优先级；慢接收方会把它向上游扩散。",
        ),
        shows=Text(
            en="rx_pause_ctrl_phy, rx_prioN_pause or their durations grow during the run; every drop counter is flat.",
            zh="运行期间 rx_pause_ctrl_phy、rx_prioN_pause 或其时长增长；丢包计数不变。",
        ),
        sources=("Linux mlx5 counters.rst", "NVIDIA/daqiri#250 (308 of 400 Gb/s, no drop)"),
    ),
    told_apart_from=(
        LookAlike(
            cause="nic-ring-too-small",
            because=Text(en="there this host sends the pauses because its ring is full", zh="彼处是本机因环满而发出暂停"),
        ),
        LookAlike(
            cause="roce-pfc-missing", because=Text(en="there packets are lost because nobody pauses", zh="彼处因无人暂停而丢包")
        ),
    ),
    changes=(
        Change(
            what=Text(
                en="Find who sends the pauses first (the host whose tx pause grows) and mend it",
                zh="先找出暂停的源头（tx pause 增长的主机）并修复",
            )
        ),
        Change(
            what=Text(en="Where PFC is used, switch global pause off", zh="使用 PFC 时关闭全局暂停"),
            commands=("ethtool -A IFACE rx off tx off",),
            risk=Text(en="Packets are lost if nothing else controls the flow", zh="若无其他流控则会丢包"),
        ),
    ),
    checks=(
        Check(
            what=Text(en="The pause counters stay flat over a run", zh="一次运行中暂停计数不变"),
            commands=("ethtool -S IFACE | grep -i pause",),
        ),
    ),
    gain=Text(en="The share of time paused; a fifth of the line in one report", zh="即被暂停的时间占比；有报告为线速的五分之一"),
    severity="medium",
)
