"""The neighbour table is too small for the number of peers."""

from wirespeed.diagnosis.joins.pieces import piece
from wirespeed.model.case import Case
from wirespeed.model.events.log import KernelEvent
from wirespeed.model.facts.host import Sysctl
from wirespeed.model.facts.path import Neighbour
from wirespeed.model.finding import PROVES, STRONG, Change, Check, LookAlike, Verdict
from wirespeed.model.kinds import Explain, Rule, wants
from wirespeed.model.record import Record
from wirespeed.model.settings import Statement
from wirespeed.model.text import Text

NEAR_FULL_RATIO = 0.9


def _judge(case: Case) -> Verdict:
    return Verdict(
        evidence=(
            *piece(_LOGGED, PROVES, case.every(KernelEvent, topic="neighbour-overflow")),
            *piece(_FULL, STRONG, _full_table(case)),
            *piece(_SAID, STRONG, case.said("neighbours-full")),
        )
    )


def _full_table(case: Case) -> tuple[Record, ...]:
    """The limit and some neighbours, where the entries listed come near the limit."""
    limit = case.first(Sysctl, lambda one: one.name.endswith("default.gc_thresh3") and one.setting.strip().isdecimal())
    entries = case.every(Neighbour)
    if limit is None or len(entries) < NEAR_FULL_RATIO * int(limit.setting):
        return ()
    return (limit, *entries[:2])


_FULL = Text(en="the neighbours listed come near the table's limit", zh="所列邻居数接近表的上限")
_SAID = Text(en="a full neighbour table is reported", zh="描述提到邻居表已满")
_LOGGED = Text(en="the kernel says that its neighbour table overflowed", zh="内核报告邻居表溢出")

RULE = Rule(
    cause="neighbour-table-overflow",
    title=Text(en="The neighbour (ARP/NDP) table overflows", zh="邻居（ARP/NDP）表溢出"),
    summary=Text(
        en="More peers than the table holds: new ones cannot be reached while old ones work.",
        zh="对端数量超过表容量：新对端不可达，而旧的正常。",
    ),
    needs=(
        (wants(KernelEvent, lambda one: True),),
        (wants(Sysctl, lambda one: one.name.endswith("gc_thresh3")), Neighbour),
        (wants(Statement, lambda one: one.topic == "neighbours-full"),),
    ),
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
