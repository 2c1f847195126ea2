"""A CPU quota stops the process for the rest of each period, whatever its average use."""

import re

from wirespeed.diagnosis.joins.pieces import piece
from wirespeed.model.case import Case
from wirespeed.model.facts.host import (
    CpuQuota,
)
from wirespeed.model.finding import FAIR, PROVES, SLIGHT, STRONG, Change, Check, Evidence, LookAlike, Verdict, contradicts, supports
from wirespeed.model.kinds import Explain, Rule, wants
from wirespeed.model.settings import Setting, Statement, Table
from wirespeed.model.text import Text

NOTABLE_RATIO = 0.05
HEAVY_RATIO = 0.25
PERIOD_S = 0.1
"""The kernel's and Kubernetes' usual `cpu.cfs_period_us`."""
USUAL_RATIO = 0.2
_MEDIAN = re.compile(r"(?i)\bp50\b|\bmedian\b|\b50(?:th)? ?(?:%|percentile)")
_TAIL = re.compile(r"(?i)\bp99\d*\b|\bp99\.\d+|\b99(?:\.\d+)?(?:th)? ?(?:%|percentile)|\bmax\b")
FASTER_TIMES = 1.5
_LIMIT_COLUMN = re.compile(r"(?i)(?:cpu|core)s?\W{0,3}(?:limit|quota)|(?:limit|quota)s?\W{0,3}(?:cpu|core)|^(?:limit|quota)s?$")
_LATENCY_COLUMN = re.compile(r"(?i)\bp9\d+|latenc|\btail\b|\bms\b|ttft")
_AMOUNT = re.compile(r"(\d+(?:\.\d+)?)\s*(us|µs|ms|s|m)?\b")
_UNITS = {"us": 1e-3, "µs": 1e-3, "ms": 1.0, "s": 1e3, "m": 1e-3, None: 1.0}


def _ratio(one: CpuQuota) -> float | None:
    if one.throttled_ratio is not None:
        return one.throttled_ratio
    if one.throttled_count is not None and one.periods_count:
        return one.throttled_count / one.periods_count
    return None


def _faster_with_more(table: Table) -> bool:
    """Whether latency falls, row by row, while the CPU limit rises."""
    limit = next((place for place, name in enumerate(table.columns) if _LIMIT_COLUMN.search(name)), None)
    delay = next((place for place, name in enumerate(table.columns) if _LATENCY_COLUMN.search(name)), None)
    if limit is None or delay is None or limit == delay:
        return False
    rows = [row for row in table.rows if len(row) > max(limit, delay)]
    pairs = sorted((left, right) for row in rows if (left := _amount(row[limit])) and (right := _amount(row[delay])))
    delays = [right for _, right in pairs]
    return len(pairs) >= 2 and delays == sorted(delays, reverse=True) and delays[0] >= FASTER_TIMES * delays[-1]


def _amount(cell: str) -> float | None:
    """A number with its unit on one scale: `500m` and `1.5` cores, `60 ms` and `0.2 s`."""
    found = _AMOUNT.search(cell)
    return None if found is None else float(found[1]) * _UNITS[found[2]]


def _judge(case: Case) -> Verdict:
    ratios = [(one, ratio) for one in case.every(CpuQuota) if (ratio := _ratio(one)) is not None]
    worst = max(ratios, key=lambda one: one[1], default=None)
    evidence: list[Evidence] = []
    if worst and worst[1] >= NOTABLE_RATIO:
        evidence.append(
            supports(
                _THROTTLED, PROVES if worst[1] >= HEAVY_RATIO else STRONG, worst[0], subject=worst[0].subject, share_ratio=worst[1]
            )
        )
    elif worst:
        evidence.append(contradicts(_NOT, STRONG, worst[0], share_ratio=worst[1]))
    if not worst:
        evidence += piece(_SAID, STRONG, case.said("cpu-throttled"))
        evidence += piece(_FASTER, STRONG, [one for one in case.every(Table) if _faster_with_more(one)])
        evidence += _tail_of_a_period(case)
    if evidence:
        small = case.every(CpuQuota, lambda one: one.quota_cpus_ratio is not None and one.quota_cpus_ratio <= 1)
        evidence += piece(_LOW_LIMIT, SLIGHT, [*small, *case.said("cpu-limit-low")])
        evidence += piece(_IDLE, SLIGHT, case.said("pod-idle-on-average"))
    return Verdict(evidence=tuple(evidence))


def _tail_of_a_period(case: Case) -> tuple[Evidence, ...]:
    """A quota below two CPUs beside a tail of most of a period, where the usual request takes a small part of it."""
    quota = case.first(CpuQuota, lambda one: one.quota_cpus_ratio is not None and one.quota_cpus_ratio < 2.0)
    usual = [one for one in case.every(Setting) if one.duration_s and _MEDIAN.search(one.name)]
    tail = [
        one for one in case.every(Setting) if one.duration_s and _TAIL.search(one.name) and _is_most_of_a_period(one.duration_s)
    ]
    if quota is None or not usual or not tail or min(one.duration_s or 0.0 for one in usual) > USUAL_RATIO * PERIOD_S:
        return ()
    return piece(_HELD, FAIR + SLIGHT, (quota, tail[-1]), tail_s=tail[-1].duration_s)


def _is_most_of_a_period(duration_s: float) -> bool:
    return 0.5 * PERIOD_S <= duration_s <= 1.2 * PERIOD_S


_HELD = Text(
    en="the slowest requests take {tail_s}, the rest of a scheduling period, under a small CPU quota",
    zh="在较小的 CPU 配额下，最慢的请求耗时 {tail_s}，相当于一个调度周期的剩余部分",
)
_THROTTLED = Text(en="{subject} was stopped in {share_ratio} of its periods", zh="{subject} 在 {share_ratio} 的周期中被暂停")
_NOT = Text(en="only {share_ratio} of the periods were throttled", zh="仅 {share_ratio} 的周期被限流")
_FASTER = Text(en="latency falls when the CPU limit rises", zh="提高 CPU 上限后延迟下降")
_SAID = Text(en="the CPU quota is said to throttle", zh="有人指出 CPU 配额在限流")
_LOW_LIMIT = Text(en="the CPU limit is low", zh="CPU 上限很低")
_IDLE = Text(en="average use is low, which hides the pauses", zh="平均用量很低，掩盖了停顿")

RULE = Rule(
    cause="cpu-cfs-throttling",
    title=Text(en="A CPU quota pauses the data path", zh="CPU 配额使数据路径停顿"),
    summary=Text(
        en="The container uses its quota early in a period of 100 ms and is then stopped to the period's end, so requests wait tens of milliseconds although the CPU is idle on average.",
        zh="容器在 100 ms 周期初用完配额后被暂停到周期末，虽然平均空闲，请求仍要等数十毫秒。",
    ),
    needs=((CpuQuota,), (wants(Table, lambda one: _faster_with_more(one)),), (Statement,)),
    judge=_judge,
    explain=Explain(
        what=Text(
            en="The CFS quota counts all threads: 8 threads use a quota of 500m (50 ms a period) in 6 ms and wait 94 ms.",
            zh="CFS 配额按所有线程计：8 个线程 6 ms 就用完 500m（每周期 50 ms）的配额，然后等 94 ms。",
        ),
        shows=Text(
            en="nr_throttled / nr_periods above a few percent with a low average; latency steps of up to 100 ms.",
            zh="平均用量低而 nr_throttled / nr_periods 高于百分之几；延迟出现最多 100 ms 的台阶。",
        ),
        sources=("Linux sched-bwc.rst", "Kubernetes: resource management for pods", "kubernetes/kubernetes#67577"),
    ),
    told_apart_from=(
        LookAlike(cause="server-saturated", because=Text(en="a saturated server is busy on average", zh="饱和的服务器平均就很忙")),
        LookAlike(
            cause="cpu-bound-host", because=Text(en="there a core is at 100 %, here it is stopped", zh="那里是核满载，这里是被暂停")
        ),
        LookAlike(cause="dns-slow", because=Text(en="DNS stalls last seconds", zh="DNS 停顿以秒计")),
    ),
    changes=(
        Change(
            what=Text(
                en="Take the CPU limit off proxies and data path pods, and keep the request; or raise it above the threads' bursts",
                zh="去掉代理等数据路径 Pod 的 CPU 上限，保留 request；或提高到线程突发以上",
            ),
            commands=("resources: {{requests: {{cpu: 500m}}}}  # no limits.cpu",),
        ),
    ),
    checks=(
        Check(
            what=Text(en="nr_throttled stays flat under load", zh="负载下 nr_throttled 不再增长"),
            commands=("cat /sys/fs/cgroup/cpu.stat",),
        ),
    ),
    gain=Text(en="Removes pauses of up to 100 ms a request and hop", zh="消除每请求每跳最多 100 ms 的停顿"),
    severity="medium",
    explains=("straggler-slow-node", "dns-slow", "too-many-layers", "server-saturated", "gateway-timeout-too-short"),
)
