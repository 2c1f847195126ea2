"""How the GPUs of one machine are joined."""

from wirespeed.model.case import Case
from wirespeed.model.facts.gpu import DevicePath

MOST_WITHOUT_SWITCH_COUNT = 4
"""Up to four GPUs are joined by bridges or by their board; NVSwitches are built into machines of eight and more."""


def joined_directly(case: Case) -> tuple[DevicePath, ...]:
    """Paths between GPUs where each pair of the few that a machine has is joined by NVLink; empty otherwise."""
    pairs = case.every(DevicePath, lambda one: one.near.startswith("GPU") and one.far.startswith("GPU") and one.near != one.far)
    names = {name for one in pairs for name in (one.near, one.far)}
    is_whole = len({(one.near, one.far) for one in pairs}) == len(names) * (len(names) - 1)
    are_joined = all(one.path_class.startswith("NV") for one in pairs)
    return pairs if pairs and len(names) <= MOST_WITHOUT_SWITCH_COUNT and is_whole and are_joined else ()
