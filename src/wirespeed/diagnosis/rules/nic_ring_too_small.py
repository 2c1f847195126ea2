"""The receive ring is far below what the NIC can hold, and bursts overflow it."""

from wirespeed.diagnosis.joins.received import FEW_COUNT, NEGLIGIBLE_RATIO, SLIGHT_RATIO, lost_ratio
from wirespeed.model.case import Case
from wirespeed.model.facts.link import Counter, LinkRings
from wirespeed.model.finding import FAIR, SLIGHT, STRONG, Change, Check, Evidence, LookAlike, Value, Verdict, contradicts, supports
from wirespeed.model.kinds import Explain, Rule, wants
from wirespeed.model.settings import Statement
from wirespeed.model.text import Text

SMALL_SHARE_RATIO = 0.25
"""A ring at a quarter of its maximum or less is small; drivers ship 256 to 1,024 of 4,096 to 16,384 (ENA best practices)."""


def _judge(case: Case) -> Verdict:
    evidence: list[Evidence] = []
    values: dict[str, Value] = {"link": "IFACE", "rx_max_entries": "MAX"}
    for ring in case.every(LinkRings):
        if ring.rx_entries is None or not ring.rx_max_entries:
            continue
        if ring.rx_entries <= SMALL_SHARE_RATIO * ring.rx_max_entries:
            values = {"link": ring.link, "rx_max_entries": ring.rx_max_entries}
            evidence.append(supports(_SMALL, FAIR, ring, rx_entries=ring.rx_entries, **values))
        elif ring.rx_entries == ring.rx_max_entries:
            evidence.append(contradicts(_FULL, FAIR, ring, link=ring.link))
    evidence.extend(_drops(case))
    for said in case.said("host-sends-pause", "receive-buffer-errors", "ring-overflow")[:2]:
        evidence.append(supports(_SAID, SLIGHT + 0.5, said))
    return Verdict(evidence=tuple(evidence), values=values)


def _drops(case: Case) -> tuple[Evidence, ...]:
    """What the counters say, all queues together, measured by what was received beside them."""
    counters = case.every(Counter, canonical="rx_no_buffer")
    dropped = sorted((one for one in counters if one.value_count > 0), key=lambda one: -one.value_count)
    if not dropped:
        return (contradicts(_NONE, FAIR, counters[0], counter=counters[0].name),) if counters else ()
    worst = dropped[0]
    share = lost_ratio(case, dropped)
    names: dict[str, Value] = {"counter": worst.name, "drops_count": worst.value_count}
    if share is not None and share < NEGLIGIBLE_RATIO:
        return (contradicts(_FEW, FAIR, worst, **names),)
    is_little = worst.value_count < FEW_COUNT if share is None else share < SLIGHT_RATIO
    return (supports(_DROPS, SLIGHT if is_little else STRONG, *dropped[:3], **names),)


_SMALL = Text(en="{link}: receive ring {rx_entries} of {rx_max_entries}", zh="{link}：接收环 {rx_entries}，上限 {rx_max_entries}")
_FULL = Text(en="{link}: the receive ring is already at its maximum", zh="{link}：接收环已是最大值")
_DROPS = Text(en="{counter} = {drops_count}: the device had no free descriptor", zh="{counter} = {drops_count}：网卡没有空闲描述符")
_FEW = Text(
    en="{counter} = {drops_count}: fewer than one in ten million of the packets received",
    zh="{counter} = {drops_count}：不到所收数据包的千万分之一",
)
_NONE = Text(en="{counter} = 0: no frame met a full ring", zh="{counter} = 0：没有帧遇到已满的接收环")
_SAID = Text(en="bursts meet a full receive buffer", zh="突发流量遇到已满的接收缓冲")

RULE = Rule(
    cause="nic-ring-too-small",
    title=Text(en="The receive ring is too small for bursts", zh="接收环容不下突发流量"),
    summary=Text(
        en="Bursts overflow the NIC's receive ring before the CPU drains it, so frames are dropped or the NIC pauses its switch port.",
        zh="突发在 CPU 取走之前把网卡接收环填满，于是丢帧，或网卡向交换机发暂停帧。",
    ),
    needs=((LinkRings,), (wants(Counter, lambda one: one.canonical == "rx_no_buffer"),), (Statement,)),
    judge=_judge,
    explain=Explain(
        what=Text(
            en="A ring of 256 frames of 1,500 bytes lasts 0.03 ms at 100 Gb/s; if softirq runs later than that, frames are lost.",
            zh="256 项、每帧 1,500 字节的环在 100 Gb/s 下只能撑 0.03 ms；软中断来得更晚就会丢帧。",
        ),
        shows=Text(
            en="rx_out_of_buffer, rx_missed_errors or the driver's own drop counter rises in bursts while the CPU is idle on average.",
            zh="rx_out_of_buffer、rx_missed_errors 或驱动自己的丢包计数在突发时上升，而 CPU 平均空闲。",
        ),
        sources=("ENA Linux best practices (ring 1K default, up to 16K)", "mlx5 counters.rst", "LibreQoE/LibreQoS#417"),
    ),
    told_apart_from=(
        LookAlike(
            cause="cpu-bound-host",
            because=Text(
                en="one core at 100 % softirq overflows any ring; look at the core first",
                zh="若某核软中断已满载，环再大也会溢出；先看该核",
            ),
        ),
        LookAlike(
            cause="pause-frames-throttling",
            because=Text(
                en="here this host sends the pause frames; there it receives them", zh="此处是本机发出暂停帧；彼处是本机收到暂停帧"
            ),
        ),
    ),
    changes=(
        Change(
            what=Text(
                en="Raise the receive ring: to the maximum for training, 1,024 to 2,048 for serving",
                zh="增大接收环：训练取上限，推理取 1,024 至 2,048",
            ),
            commands=("ethtool -G {link} rx {rx_max_entries}",),
            risk=Text(
                en="Resets the queues for some milliseconds; some drivers take the link down", zh="会重置队列数毫秒，部分驱动会断链"
            ),
        ),
    ),
    checks=(
        Check(
            what=Text(en="The drop counter stays flat under the same burst", zh="相同突发下丢包计数不再增长"),
            commands=("ethtool -S {link} | grep -iE 'out_of_buffer|missed|no_buf|drop'",),
        ),
    ),
    gain=Text(
        en="Removes burst loss; throughput returns to the line's where loss or pause held it down",
        zh="消除突发丢包；若此前被丢包或暂停压低，吞吐恢复到线速",
    ),
    severity="medium",
)
