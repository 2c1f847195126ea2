"""What does not fit together: two findings that cannot both be the answer, or that are taken for one another."""

from collections.abc import Sequence

from wirespeed.model.finding import Conflict, Finding, LookAlike
from wirespeed.model.labels import MEANINGS
from wirespeed.model.text import Text

LIKELY_RATIO = 0.5
"""Only findings that are more likely than not contradict each other."""


def conflicts_of(findings: Sequence[Finding]) -> tuple[Conflict, ...]:
    """Pairs of likely findings of which one denies the other, then pairs that are easily mistaken for one another.

    A finding that explains another does not conflict with it.
    """
    likely = [one for one in findings if one.confidence_ratio >= LIKELY_RATIO]
    pairs = [(one, other) for place, one in enumerate(likely) for other in likely[place + 1 :] if not _explained(one, other)]
    denied = [Conflict(causes=(one.cause, other.cause), because=why) for one, other in pairs if (why := _why_not_both(one, other))]
    settled = {one.causes for one in denied}
    alike = [
        Conflict(causes=(one.cause, other.cause), because=like.because, may_both_be=True)
        for one, other in pairs
        if (one.cause, other.cause) not in settled and (like := _likeness(one, other)) is not None
    ]
    return (*denied, *alike)


def _explained(one: Finding, other: Finding) -> bool:
    return other.cause in one.explains or one.cause in other.explains


def _why_not_both(one: Finding, other: Finding) -> Text | None:
    """Why two findings exclude each other, None where they do not."""
    if one.cause.startswith("no-fault-") != other.cause.startswith("no-fault-"):
        return _NO_FAULT
    bearings = {MEANINGS[one.cause].bearing, MEANINGS[other.cause].bearing}
    return _BEARING if bearings == {"network", "not-network"} else None


def _likeness(one: Finding, other: Finding) -> LookAlike | None:
    named = (like for this, that in ((one, other), (other, one)) for like in this.told_apart_from if like.cause == that.cause)
    return next(named, None)


_NO_FAULT = Text(en="one says that nothing is wrong, the other names a fault", zh="一个说明没有故障，另一个指出了故障")
_BEARING = Text(
    en="one puts the limit into the network, the other outside of it; only one of them limits now",
    zh="一个认为瓶颈在网络，另一个认为不在网络；此刻的瓶颈只能是其一",
)
