"""How transfers go on: one that collapses to a lower rate, one whose end crawls, copies of many small files."""

from collections import defaultdict
from dataclasses import dataclass
from statistics import median

from wirespeed.diagnosis.joins.levels import break_of
from wirespeed.model.case import Case
from wirespeed.model.measurement import CopySummary, TransferProgress

COLLAPSE_TIMES = 2.0
STEADY_RATIO = 0.3
"""Half the rate and less, for the rest of what is told, between levels that vary by a third; starting points, not calibrated."""
TAIL_RATIO = 0.9
TAIL_TIMES = 20.0
"""Past nine tenths a twentieth of the usual rate."""
_FEWEST_BEFORE_THE_TAIL = 4
LOCAL_TOOLS = ("dd", "pv")
SMALL_FILE_BYTES = 256 * 1024
MANY_FILES_COUNT = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Collapse:
    """A transfer that went at one rate and from some place on at a much lower one."""

    before: TransferProgress
    after: TransferProgress
    fast_bits_per_s: float
    slow_bits_per_s: float


def _transfers(case: Case) -> list[list[TransferProgress]]:
    found: dict[tuple[str, str, int], list[TransferProgress]] = defaultdict(list)
    for one in case.every(TransferProgress):
        found[one.source.path, one.tool, one.transfer_index].append(one)
    return list(found.values())


def collapsed(case: Case, *, is_local: bool) -> Collapse | None:
    """The clearest collapse of a transfer by tools that copy locally, or by those that use the network."""
    found = [
        one
        for moments in _transfers(case)
        if (moments[0].tool in LOCAL_TOOLS) == is_local and (one := _collapse_of(moments)) is not None
    ]
    return max(found, key=lambda one: one.fast_bits_per_s / one.slow_bits_per_s, default=None)


def _collapse_of(moments: list[TransferProgress]) -> Collapse | None:
    moving = [one for one in moments if one.rate_bits_per_s > 0]
    place = break_of([1.0 / one.rate_bits_per_s for one in moving], COLLAPSE_TIMES, STEADY_RATIO)
    if place is None:
        return None
    fast, slow = (median(one.rate_bits_per_s for one in side) for side in (moving[:place], moving[place:]))
    return Collapse(before=moving[place - 1], after=moving[place], fast_bits_per_s=fast, slow_bits_per_s=slow)


def crawling_end(case: Case) -> Collapse | None:
    """A transfer that is nearly done and goes at a small part of the rate it had."""
    for moments in _transfers(case):
        early = [one for one in moments if (one.done_ratio or 0.0) < TAIL_RATIO and one.rate_bits_per_s > 0]
        late = [one for one in moments if TAIL_RATIO <= (one.done_ratio or 0.0) < 1.0]
        if len(early) < _FEWEST_BEFORE_THE_TAIL or not late:
            continue
        usual, last = median(one.rate_bits_per_s for one in early), late[-1]
        if TAIL_TIMES * last.rate_bits_per_s <= usual:
            return Collapse(before=early[-1], after=last, fast_bits_per_s=usual, slow_bits_per_s=last.rate_bits_per_s)
    return None


def small_files(case: Case) -> tuple[CopySummary, ...]:
    """Copies of many files that are small on average."""
    return case.every(
        CopySummary, lambda one: one.files_count >= MANY_FILES_COUNT and one.transferred_bytes / one.files_count <= SMALL_FILE_BYTES
    )
