"""Evidence, verdicts and findings: what speaks for a cause, and what the engine made of it."""

from typing import Literal

import msgspec

from wirespeed.model.labels import Label
from wirespeed.model.record import Record
from wirespeed.model.source import Quote
from wirespeed.model.text import Text

PROVES = 5.0
"""Weight of evidence that alone settles a cause: the tool says so in its own words and nothing else prints it."""
STRONG = 3.5
"""Weight of evidence that is rarely seen without the cause."""
FAIR = 2.0
"""Weight of evidence that is several times likelier with the cause than without."""
SLIGHT = 1.0
"""Weight of evidence that only tips the scale."""

Severity = Literal["high", "medium", "low", "info"]
Value = str | int | float | bool | None


class Evidence(msgspec.Struct, frozen=True, kw_only=True):
    """One observation that bears on one claim.

    `weight_nats` is the logarithm of how much likelier the observation is when the claim holds than when it does not;
    negative speaks against. `says` may use the names in `values`, which carry units in their names.
    """

    says: Text
    weight_nats: float
    values: dict[str, Value] = {}
    records: tuple[Record, ...] = ()
    quotes: tuple[Quote, ...] = ()
    """Chosen quotes; empty takes those of the records."""


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """What a rule says of a case: its evidence. No evidence at all means the cause is absent (or unknown, if nothing could speak).

    `values` fill the rule's title and summary.
    """

    evidence: tuple[Evidence, ...] = ()
    values: dict[str, Value] = {}


class LookAlike(msgspec.Struct, frozen=True, kw_only=True):
    """A cause this one is mistaken for, and what tells them apart."""

    cause: Label
    because: Text


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """Something to set: in words, and as commands or lines where that is possible."""

    what: Text
    commands: tuple[str, ...] = ()
    side: Literal["both", "training", "serving"] = "both"
    risk: Text | None = None


class Check(msgspec.Struct, frozen=True, kw_only=True):
    """How one will know that the change worked."""

    what: Text
    commands: tuple[str, ...] = ()


def supports(says: Text, weight_nats: float, *proof: Record | Quote, **values: Value) -> Evidence:
    """Evidence for the claim, resting on records or on single quotes."""
    return _evidence(says, abs(weight_nats), proof, values)


def contradicts(says: Text, weight_nats: float, *proof: Record | Quote, **values: Value) -> Evidence:
    """Evidence against the claim."""
    return _evidence(says, -abs(weight_nats), proof, values)


def _evidence(says: Text, weight_nats: float, proof: tuple[Record | Quote, ...], values: dict[str, Value]) -> Evidence:
    return Evidence(
        says=says,
        weight_nats=weight_nats,
        values=values,
        records=tuple(one for one in proof if isinstance(one, Record)),
        quotes=tuple(one for one in proof if isinstance(one, Quote)),
    )


class ShownEvidence(msgspec.Struct, frozen=True, kw_only=True):
    """One piece of evidence with its sentence filled, as answers carry it."""

    says: Text
    bears: Literal["for", "against"]
    weight_nats: float
    values: dict[str, Value]
    quotes: tuple[Quote, ...]


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """One cause that was found, with its proof, its look-alikes, its fix and its check; every sentence is filled.

    `also` names weaker rules of the same cause whose evidence stands here too; `explains` names other findings that are only
    victims of this one, `explained_by` those of which this one may be the victim. The confidence is calibrated: of findings that are
    this sure, so many are right (`diagnosis/calibration.py`).
    """

    cause: Label
    rule: str
    also: tuple[str, ...] = ()
    explains: tuple[Label, ...]
    explained_by: tuple[Label, ...] = ()
    confidence_ratio: float
    severity: Severity
    title: Text
    summary: Text
    evidence: tuple[ShownEvidence, ...]
    told_apart_from: tuple[LookAlike, ...]
    gain: Text
    changes: tuple[Change, ...]
    checks: tuple[Check, ...]


class Conflict(msgspec.Struct, frozen=True, kw_only=True):
    """Two likely findings that contradict each other, and why; or that are taken for one another, and what tells them apart."""

    causes: tuple[Label, Label]
    because: Text
    may_both_be: bool = False
