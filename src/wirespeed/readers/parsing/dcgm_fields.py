"""DCGM's fields: their names in metrics and in the columns of `dcgmi dmon`, their units, and the values that stand for none.

Names and columns: NVIDIA/DCGM, dcgmlib/dcgm_fields.h (old names are aliases of those of DCGM 5) and dcgmlib/src/dcgm_fields.cpp. Fields whose
unit changed between releases (the times of violation) or whose new name tells another unit than their value (GPU_UTIL_RATIO) are left out.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass

from wirespeed.model.facts.gpu import Gpu, clocks_event_reasons
from wirespeed.model.source import Quote, Source

_INT64_BLANK = float(0x7FFFFFFFFFFFFFF0)
_INT32_BLANKS = range(0x7FFFFFF0, 0x80000000)
_FP64_BLANKS = frozenset(140737488355328.0 + number for number in range(8))
"""dcgmlib/dcgm_structs.h: not given, not found, not supported, not permitted."""
MEBIBYTE_BYTES = 1024.0 * 1024.0
REASONS = "clocks_event_reasons"


@dataclass(frozen=True, slots=True)
class Field:
    """A field that a record has a place for; the value times `factor` is in the record's unit. `kind` is that of the record's value."""

    name: str
    kind: type
    factor: float = 1.0


_SM_CLOCK, _SM_MAX = Field("sm_clock_hz", float, 1e6), Field("sm_clock_max_hz", float, 1e6)
_HEAT, _POWER, _LIMIT = Field("temperature_celsius", float), Field("power_w", float), Field("power_limit_w", float)
_LIMIT_MAX, _BUSY = Field("power_limit_max_w", float), Field("utilisation_ratio", float, 0.01)
_ACTIVE = Field("sm_active_ratio", float)
_USED, _TOTAL = Field("memory_used_bytes", float, MEBIBYTE_BYTES), Field("memory_total_bytes", float, MEBIBYTE_BYTES)
_BAR1, _DOUBLE = Field("bar1_total_bytes", float, MEBIBYTE_BYTES), Field("ecc_uncorrected_count", int)
_REPLAYS, _XID = Field("pcie_replays_count", int), Field("last_xid_number", int)
_GENERATION, _GENERATION_MAX = Field("pcie_generation_number", int), Field("pcie_generation_max_number", int)
_WIDTH, _WIDTH_MAX = Field("pcie_width_lanes", int), Field("pcie_width_max_lanes", int)
_REMAPPED, _FAILED, _PENDING = (
    Field("remapped_rows_uncorrected_count", int),
    Field("is_remap_failed", bool),
    Field("is_remap_pending", bool),
)
_CAPPED, _BRAKED, _HEATED = (
    Field("power_capped_s", float, 1e-9),
    Field("power_braked_s", float, 1e-9),
    Field("thermal_slowed_s", float, 1e-9),
)
_REASONS = Field(REASONS, int)

BY_METRIC: dict[str, Field] = {
    "SM_CLOCK": _SM_CLOCK, "MAX_SM_CLOCK": _SM_MAX,
    "GPU_TEMP": _HEAT, "GPU_TEMP_CELSIUS": _HEAT,
    "POWER_USAGE": _POWER, "BOARD_POWER_WATTS": _POWER,
    "ENFORCED_POWER_LIMIT": _LIMIT, "BOARD_POWER_LIMIT_ENFORCED_WATTS": _LIMIT,
    "POWER_MGMT_LIMIT": _LIMIT, "BOARD_POWER_LIMIT_REQUESTED_WATTS": _LIMIT,
    "POWER_MGMT_LIMIT_MAX": _LIMIT_MAX, "BOARD_POWER_LIMIT_MAX_WATTS": _LIMIT_MAX,
    "GPU_UTIL": _BUSY, "SM_ACTIVE": _ACTIVE, "FB_USED": _USED, "FB_TOTAL": _TOTAL, "BAR1_TOTAL": _BAR1, "ECC_DBE_VOL_TOTAL": _DOUBLE,
    "PCIE_REPLAY_COUNTER": _REPLAYS, "PCIE_REPLAY_TOTAL": _REPLAYS, "XID_ERRORS": _XID, "XID_ERROR": _XID,
    "PCIE_LINK_GEN": _GENERATION, "PCIE_MAX_LINK_GEN": _GENERATION_MAX, "PCIE_LINK_WIDTH": _WIDTH, "PCIE_MAX_LINK_WIDTH": _WIDTH_MAX,
    "UNCORRECTABLE_REMAPPED_ROWS": _REMAPPED, "ROW_REMAP_UNCORRECTABLE_TOTAL": _REMAPPED,
    "ROW_REMAP_FAILURE": _FAILED, "ROW_REMAP_FAILED": _FAILED, "ROW_REMAP_PENDING": _PENDING,
    "CLOCK_THROTTLE_REASONS": _REASONS, "CLOCKS_EVENT_REASONS": _REASONS,
    "CLOCKS_EVENT_REASON_SW_POWER_CAP_NS": _CAPPED, "CLOCKS_EVENT_REASON_HW_POWER_BRAKE_SLOWDOWN_NS": _BRAKED,
    "CLOCKS_EVENT_REASON_SW_THERM_SLOWDOWN_NS": _HEATED, "CLOCKS_EVENT_REASON_HW_THERM_SLOWDOWN_NS": _HEATED,
}  # fmt: skip
"""By the name behind `DCGM_FI_DEV_` or `DCGM_FI_PROF_`."""

BY_COLUMN: dict[str, Field] = {
    "SMCLK": _SM_CLOCK, "SMMAX": _SM_MAX, "TMPTR": _HEAT, "POWER": _POWER, "EPLMT": _LIMIT, "PMLMT": _LIMIT, "PMMAX": _LIMIT_MAX,
    "GPUTL": _BUSY, "SMACT": _ACTIVE, "FBUSD": _USED, "FBTTL": _TOTAL, "B1TTL": _BAR1, "EDVTL": _DOUBLE, "RPCTR": _REPLAYS, "XIDER": _XID,
    "PCILG": _GENERATION, "PCIMG": _GENERATION_MAX, "PCILW": _WIDTH, "PCIMW": _WIDTH_MAX, "URMPS": _REMAPPED, "RRF": _FAILED,
    "RRP": _PENDING, "DVCCTR": _REASONS, "CLKPCNS": _CAPPED, "CLKEPBSNS": _BRAKED, "CLKSWTHNS": _HEATED, "CLKHWTHNS": _HEATED,
}  # fmt: skip

NVLINK_BY_METRIC = {
    "NVLINK_CRC_FLIT_ERROR_COUNT_TOTAL": "crc_errors_count", "NVLINK_CRC_FLIT_ERROR_TOTAL": "crc_errors_count",
    "NVLINK_CRC_DATA_ERROR_COUNT_TOTAL": "crc_errors_count", "NVLINK_CRC_DATA_ERROR_TOTAL": "crc_errors_count",
    "NVLINK_REPLAY_ERROR_COUNT_TOTAL": "replay_count", "NVLINK_REPLAY_ERROR_TOTAL": "replay_count",
    "NVLINK_RECOVERY_ERROR_COUNT_TOTAL": "recovery_count", "NVLINK_RECOVERY_ERROR_TOTAL": "recovery_count",
}  # fmt: skip
NVLINK_BY_COLUMN = {"NFELT": "crc_errors_count", "NDELT": "crc_errors_count", "NRELT": "replay_count", "NRCLT": "recovery_count"}
"""Counts over all links of a GPU; errors of flits and of data are added."""


def value(printed: str) -> float | None:
    """A value that is none of those that stand for none."""
    try:
        found = float(printed)
    except ValueError:
        return None
    is_blank = not math.isfinite(found) or found >= _INT64_BLANK or found in _INT32_BLANKS or found in _FP64_BLANKS
    return None if is_blank or found < 0 else found


def gpu_of(
    told_by: Source, quotes: tuple[Quote, ...], index: int, values: Iterable[tuple[Field, float]], **names: str | None
) -> Gpu:
    """The GPU that these values describe; of slowdowns for heat, which may overlap, the longest is kept."""
    fields: dict[str, object] = {}
    reasons: tuple[str, ...] | None = None
    for one, printed in values:
        if one is _REASONS:
            reasons = clocks_event_reasons(int(printed))
        elif one is _HEATED:
            before = fields.get(one.name)
            fields[one.name] = max(printed * one.factor, before if isinstance(before, float) else 0.0)
        else:
            fields.setdefault(one.name, one.kind(printed * one.factor))
    return Gpu(source=told_by, quotes=quotes, index=index, throttle_reasons=reasons, **names, **fields)  # type: ignore[arg-type]
