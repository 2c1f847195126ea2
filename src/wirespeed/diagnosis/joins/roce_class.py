"""In which priority RoCE travels: joins its type of service with the priority of its DSCP and with what is protected."""

from collections.abc import Iterator
from dataclasses import dataclass

from wirespeed.diagnosis.joins.pieces import snake
from wirespeed.model.case import Case
from wirespeed.model.facts.host import EnvVar
from wirespeed.model.facts.link import PriorityFlowControl
from wirespeed.model.record import Record
from wirespeed.model.settings import Setting

DSCP_SHIFT = 2
"""A type of service holds the DSCP in its upper six bits (RFC 2474)."""
PRIORITY_SHIFT = 3
"""Where no map is listed, a NIC that trusts DSCP takes its upper three bits (mlx5 default, `mlnx_qos`)."""
TRAFFIC_CLASSES = ("NCCL_IB_TC", "NCCL_GIN_IB_TC", "NVSHMEM_IB_TRAFFIC_CLASS", "UCX_IB_TRAFFIC_CLASS")
UNSET_TOS = 0
"""What the libraries take where the variable is said to be unset (NCCL user guide: NCCL_IB_TC)."""
LARGEST_TOS = 255


@dataclass(frozen=True, slots=True, kw_only=True)
class RoceClass:
    """One type of service RoCE is sent with, its priority on one interface, and whether that priority is lossless there."""

    dscp_code: int
    priority: int
    enabled_priorities: tuple[int, ...]
    records: tuple[Record, ...]

    @property
    def is_protected(self) -> bool:
        """Whether PFC covers the priority."""
        return self.priority in self.enabled_priorities


def roce_classes(case: Case) -> tuple[RoceClass, ...]:
    """Every class on every interface that trusts DSCP (or does not say) and has PFC on some priority."""
    controls = case.every(
        PriorityFlowControl, lambda one: bool(one.enabled_priorities) and one.trust in (None, "dscp") and "(peer)" not in one.link
    )
    maps = case.every(PriorityFlowControl, lambda one: one.dscp_priorities is not None)
    found: dict[tuple[int, int, tuple[int, ...]], RoceClass] = {}
    for tos, said in _types_of_service(case):
        for control in controls:
            mapped = control.dscp_priorities or next((one.dscp_priorities for one in maps if one.link == control.link), None) or {}
            dscp = tos >> DSCP_SHIFT
            priority = mapped.get(dscp, dscp >> PRIORITY_SHIFT)
            enabled = control.enabled_priorities or ()
            found.setdefault(
                (dscp, priority, enabled),
                RoceClass(dscp_code=dscp, priority=priority, enabled_priorities=enabled, records=(said, control)),
            )
    return tuple(found.values())


def _types_of_service(case: Case) -> Iterator[tuple[int, Record]]:
    for variable in case.every(EnvVar, lambda one: one.name in TRAFFIC_CLASSES):
        if variable.setting in (None, ""):
            yield UNSET_TOS, variable
        tos = _tos(variable.setting)
        if tos is not None:
            yield tos, variable
    for setting in case.every(Setting, lambda one: snake(one.name) == "roce_tos"):
        tos = _tos(setting.setting)
        if tos is not None:
            yield tos, setting


def _tos(text: str | None) -> int | None:
    return int(text) if text and text.isdecimal() and len(text) <= 3 and int(text) <= LARGEST_TOS else None
