"""The neighbour table is too small for the number of peers."""

from wirespeed.diagnosis.rules._pieces import piece
from wirespeed.model.case import Case
from wirespeed.model.events.log import KernelEvent
from wirespeed.model.finding import PROVES, Change, Check, LookAlike, Verdict
from wirespeed.model.kinds import Explain, Rule, wants
from wirespeed.model.text import Text


def _judge(case: Case) -> Verdict:
    return Verdict(evidence=piece(_LOGGED, PROVES, case.every(KernelEvent, topic="neighbour-overflow")))


_LOGGED = Text(en="the kernel says that its neighbour table overflowed", zh="内核报告邻居表溢出")

RULE = Rule(
    cause="neighbour-table-overflow",
    title=Text(en="The neighbour (ARP/NDP) table overflows", zh="邻居（ARP/NDP）表溢出"),
    summary=Text(
        en="More peers than the table holds: new ones cannot be reached while old ones work.",
        zh="对端数量超过表容量：新对端不可达，而旧的正常。",
    ),
    needs=((wants(KernelEvent, lambda one: True),),),
    judge=_judge,
    explain=Explain(
        what=Text(
            en="Linux keeps at most gc_thresh3 neighbours (1,024 by default), for the whole machine.",
            zh="Linux 全机最多保存 gc_thresh3 个邻居（默认 1,024）。",
        ),
        shows=Text(
            en="'neighbour: arp_cache: neighbor table overflow!' in the kernel log, random unreachable peers in large flat networks.",
            zh="内核日志出现 neighbor table overflow；大型二层网络中随机不可达。",
        ),
        sources=("Linux ip-sysctl neigh/default/gc_thresh3",),
    ),
    told_apart_from=(
        LookAlike(
            cause="duplicate-address",
            because=Text(en="there one address flips between two machines", zh="彼处一个地址在两台机器间切换"),
        ),
    ),
    changes=(
        Change(
            what=Text(en="Raise the thresholds", zh="提高阈值"),
            commands=(
                "sysctl -w net.ipv4.neigh.default.gc_thresh1=4096 net.ipv4.neigh.default.gc_thresh2=8192 net.ipv4.neigh.default.gc_thresh3=16384",
            ),
        ),
    ),
    checks=(
        Check(what=Text(en="No new line in the log", zh="日志无新行"), commands=("dmesg | grep -i 'neighbor table overflow'",)),
    ),
    gain=Text(en="New peers become reachable", zh="新对端可达"),
    severity="high",
)
