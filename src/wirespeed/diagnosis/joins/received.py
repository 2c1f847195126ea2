"""Counters of lost packets, judged against the packets that were received beside them."""

from collections.abc import Sequence

from wirespeed.model.case import Case
from wirespeed.model.facts.link import Counter

NEGLIGIBLE_RATIO = 1e-7
"""Fewer lost packets than this share explain nothing: one in ten million costs TCP and RDMA no measurable rate."""
SLIGHT_RATIO = 1e-6
"""Below this share, loss may be a single burst long ago."""
FEW_COUNT = 100
"""Without a count of received packets, fewer lost ones than this (from boot) say little."""


def lost_ratio(case: Case, lost: Sequence[Counter]) -> float | None:
    """Lost packets as a share of the received ones of the same scope; None where no received packets were counted.

    Counters of queues and of the whole device overlap, and so do those of priorities: the largest of each kind is taken, which
    errs towards a larger share.
    """
    shares = [
        max(one.value_count for one in lost if one.scope == scope) / received
        for scope in {one.scope for one in lost}
        if (received := _received_count(case, scope, lost[0].is_delta))
    ]
    return max(shares, default=None)


def _received_count(case: Case, scope: str, is_delta: bool) -> int:
    counted = case.every(Counter, scope=scope, is_delta=is_delta, canonical="rx_packets")
    return max((one.value_count for one in counted), default=0)


def is_negligible(case: Case, counter: Counter) -> bool:
    """Whether so few of the received packets were counted here that it means nothing."""
    share = lost_ratio(case, (counter,))
    return share is not None and share < NEGLIGIBLE_RATIO
