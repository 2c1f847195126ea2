"""Loss at a middle hop that does not reach the target is the router's limit on its own answers."""

from wirespeed.diagnosis.joins.pieces import piece
from wirespeed.model.case import Case
from wirespeed.model.finding import PROVES, STRONG, Change, Check, Evidence, LookAlike, Verdict, contradicts, supports
from wirespeed.model.kinds import Explain, Rule, wants
from wirespeed.model.measurement import PathHop
from wirespeed.model.settings import Statement
from wirespeed.model.text import Text

NOTABLE_RATIO = 0.05
CLEAN_RATIO = 0.01


def _judge(case: Case) -> Verdict:
    hops = case.every(PathHop, lambda one: one.loss_ratio is not None)
    evidence: list[Evidence] = []
    paths = {one.source.path for one in hops}
    for path in sorted(paths):
        evidence += _of_one_path([one for one in hops if one.source.path == path])
    if not evidence and not case.said("loss-to-the-end"):
        evidence += piece(_SAID, STRONG, case.said("loss-at-hop"))
    return Verdict(evidence=tuple(evidence[:1]))


def _of_one_path(hops: list[PathHop]) -> list[Evidence]:
    """Loss in the middle against loss at the last hop shown: real loss goes on to every later hop."""
    end = max(hops, key=lambda one: one.hop_index)
    middle = [one for one in hops if one.hop_index < end.hop_index and (one.loss_ratio or 0.0) >= NOTABLE_RATIO]
    if (end.loss_ratio or 0.0) > CLEAN_RATIO:
        return [contradicts(_END, STRONG, end, end_ratio=end.loss_ratio)]
    if not middle:
        return []
    worst = max(middle, key=lambda one: one.loss_ratio or 0.0)
    return [supports(_MIDDLE, PROVES, worst, end, hop_index=worst.hop_index, loss_ratio=worst.loss_ratio, end_ratio=end.loss_ratio)]


_SAID = Text(en="loss is told of a hop on the way, not of the target", zh="所述丢失在途中某一跳，而非目标")
_MIDDLE = Text(
    en="hop {hop_index} shows {loss_ratio} loss, the target {end_ratio}",
    zh="第 {hop_index} 跳显示丢失 {loss_ratio}，目标为 {end_ratio}",
)
_END = Text(en="the target itself shows {end_ratio} loss", zh="目标自身丢失 {end_ratio}")

RULE = Rule(
    cause="no-fault-metric-misread",
    title=Text(en="Loss at a middle hop is no loss of traffic", zh="中间跳的丢失不是流量丢失"),
    summary=Text(
        en="A router on the way answers only some probes; what passes through it arrives.",
        zh="途中的路由器只应答部分探测；经过它的流量都能到达。",
    ),
    needs=((wants(PathHop, lambda one: one.loss_ratio is not None),), (Statement,)),
    judge=_judge,
    explain=Explain(
        what=Text(
            en="Routers limit the ICMP answers their CPU makes; forwarding is done in hardware. Real loss at a hop shows on every later hop.",
            zh="路由器限制 CPU 生成的 ICMP 应答；转发由硬件完成。某跳真实丢包会体现在其后所有跳上。",
        ),
        shows=Text(en="Loss or high delay at one hop, none at the end.", zh="某一跳有丢失或高延迟，末端没有。"),
        sources=(
            "RFC 1812 section 4.3.2.8 (rate limiting of ICMP)",
            "Steenbergen: A Practical Guide to (Correctly) Troubleshooting with Traceroute",
        ),
    ),
    told_apart_from=(
        LookAlike(cause="packet-loss", because=Text(en="real loss goes on to the last hop", zh="真实丢包会延续到最后一跳")),
    ),
    changes=(Change(what=Text(en="Nothing to change; look at the last line of the report", zh="无需改动；看报告的最后一行")),),
    checks=(
        Check(
            what=Text(en="The last hop has no loss over 100 probes", zh="最后一跳 100 次探测无丢失"),
            commands=("mtr -rwc 100 TARGET",),
        ),
    ),
    gain=Text(en="None: nothing is lost", zh="无：没有丢失"),
    severity="info",
    explains=("packet-loss", "distance", "l3-detour"),
)
