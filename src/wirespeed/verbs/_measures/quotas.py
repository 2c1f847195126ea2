"""CPU quotas again, now that the tests have asked for CPU time."""

from wirespeed.model.case import Case
from wirespeed.model.facts.host import CpuQuota
from wirespeed.model.text import Text
from wirespeed.verbs._measure import Measure


def _has_quota(case: Case) -> bool:
    return case.first(CpuQuota, lambda one: one.quota_cpus_ratio is not None) is not None


MEASURE = Measure(
    title=Text(en="how often CPU quotas stopped the tests", zh="CPU 配额让测试停顿的次数"),
    gives=(CpuQuota,),
    cost_s=lambda fleet: 0.2,
    run=lambda fleet, case: fleet.ask([(host, "observe", {"only": ("containers",)}) for host in fleet.hosts], 10.0),
    is_worth_it=_has_quota,
)
