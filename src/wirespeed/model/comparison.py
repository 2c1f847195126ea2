"""What a comparison of two runs says: facts that changed, and figures with how much they moved and how sure that is."""

from typing import Literal, TypeAlias

import msgspec

from wirespeed.model.text import Text

Plain: TypeAlias = str | int | float | bool | tuple[str | int | float, ...] | None


class FieldChange(msgspec.Struct, frozen=True, kw_only=True):
    """One field of a fact; the unit is in its name."""

    name: str
    old: Plain
    new: Plain


class FactChange(msgspec.Struct, frozen=True, kw_only=True):
    """One fact that is not what it was. `fact` is the record's kind, `identity` what it is about (`eth0`, `net.core.somaxconn`)."""

    fact: str
    identity: str
    change: Literal["changed", "appeared", "gone"]
    fields: tuple[FieldChange, ...] = ()


class FigureChange(msgspec.Struct, frozen=True, kw_only=True):
    """One figure of two runs. All values are in `unit`; None is not known.

    `moved` means that the true difference is larger than `least`, the smallest that matters, with at most one false call in twenty among all that
    are called so; `still` that the 95 % interval lies within `least`; `unknown` that neither can be told, for the reason in `why`.
    """

    group: Literal["series", "measurement"]
    figure: str
    """`family/scope/name` of a series, or what was measured between whom."""
    statistic: Literal["mean", "p99", "value"]
    unit: str
    before: float
    after: float
    before_count: int
    """Samples or repeats."""
    after_count: int
    difference: float
    lowest: float | None
    """Ends of the 95 % interval of the difference; None where that has no end."""
    highest: float | None
    least: float
    chance_ratio: float
    """How often chance calls a difference of at most `least` this large, corrected for the number of figures (Benjamini & Hochberg)."""
    verdict: Literal["moved", "still", "unknown"]
    why: Text | None = None

    @property
    def times_least(self) -> float:
        """The difference as a multiple of the smallest that matters."""
        return self.difference / self.least
