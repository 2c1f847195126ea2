"""What moved with a symptom in a recording, as the rules ask for it (requirement E6)."""

from wirespeed.model.case import Case
from wirespeed.model.series import Moved

STRONG_RATIO = 0.5
"""Rank correlation from which on the two are worth a sentence; chance is judged where it was found."""


def moved_with(case: Case, symptoms: tuple[str, ...], families: tuple[str, ...]) -> tuple[Moved, ...]:
    """Series of some families that rose with one of these symptoms (by the counter's name), strongest first."""
    found = case.every(
        Moved,
        lambda one: (
            one.coefficient_ratio >= STRONG_RATIO
            and one.symptom.rpartition("/")[2] in symptoms
            and one.series.partition(" ")[2].partition("/")[0] in families
        ),
    )
    return tuple(sorted(found, key=lambda one: -one.coefficient_ratio))
