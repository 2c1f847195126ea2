"""Commands worth running next: what each would decide, the most telling for its effort first (requirement E7, by hand)."""

from collections.abc import Collection, Mapping, Sequence

from wirespeed.diagnosis.effort import HAND_S, cost_s
from wirespeed.diagnosis.judge import Judged, is_met, is_prose, record_type
from wirespeed.diagnosis.rank import SUSPECTED_AT
from wirespeed.diagnosis.separate import Choice, Offer, choices
from wirespeed.diagnosis.settling import Settling
from wirespeed.model.case import Case
from wirespeed.model.events import nccl
from wirespeed.model.facts.gpu import Gpu
from wirespeed.model.facts.rdma import RdmaPort
from wirespeed.model.kinds import Rule
from wirespeed.model.labels import MEANINGS
from wirespeed.model.measurement import CollectiveRun
from wirespeed.model.record import Record
from wirespeed.model.settings import Quantity, Statement

KINDRED_SHARE = 0.2
"""A cause to which nothing points, of a family that is suspected or of whose evidence some is at hand, counts so much."""
STRANGER_SHARE = 0.02
"""A cause to which nothing points and that has nothing to do with what is at hand."""
RIVAL_TIMES = 2.0
"""People run one command for several reasons, so that telling the leader from its rivals counts less than for measurements."""
SECOND_BEST_SHARE = 0.7
"""A second way to the same output tells as much, but the first was named first for a reason."""

_ONLY_WITH: Mapping[type[Record], frozenset[str]] = {
    Gpu: frozenset({"host-gpu", "host-pcie", "host-rdma", "nccl-config", "straggler", "strategy", "placement", "version"}),
    RdmaPort: frozenset({"host-rdma"}),
}
"""Families of causes that a machine without such a device cannot have."""
_WRITTEN_ON_GPUS: frozenset[type[Record]] = frozenset(
    {
        CollectiveRun,
        *(one for one in vars(nccl).values() if isinstance(one, type) and issubclass(one, Record) and one is not Record),
    }
)
"""Kinds of record that only programs on GPUs leave."""

# These were chosen on 179 inputs held back, one at a time, from published cases in which they told much: is the command whose output
# was held back among the first four named? 0.49, against 0.25 for suspicion and number of causes alone; `benchmarks/hints.py`.


def next_commands(
    judged: Sequence[Judged],
    case: Case,
    settling: Settling,
    out_of_reach: Collection[type[Record]] = (),
    shares: Mapping[str, float] | None = None,
    hand_s: float = HAND_S,
) -> tuple[Choice, ...]:
    """Commands worth running, best first.

    `out_of_reach` are kinds of record that have been looked for where the case comes from; `shares` say how much each rule's question
    counts (by default `shares_of`), and `hand_s` is what a person needs beside the command's own time.
    """
    if Gpu in out_of_reach:
        out_of_reach = {*out_of_reach, *_WRITTEN_ON_GPUS}
    offers = _offers(judged, case, settling, out_of_reach, hand_s)
    return choices(judged, offers, shares_of(judged, case, out_of_reach) if shares is None else shares, RIVAL_TIMES)


def shares_of(
    judged: Sequence[Judged],
    case: Case,
    out_of_reach: Collection[type[Record]] = (),
    kindred_share: float = KINDRED_SHARE,
    stranger_share: float = STRANGER_SHARE,
) -> dict[str, float]:
    """How much each rule's question counts: in full where something speaks for it, less where only its kind does, not at all where it cannot be."""
    suspected = {MEANINGS[one.rule.cause].family for one in judged if one.confidence_ratio >= SUSPECTED_AT}
    impossible = {family for kind in out_of_reach for family in _ONLY_WITH.get(kind, ())}
    shares = {}
    for one in judged:
        family = MEANINGS[one.rule.cause].family
        if any(evidence.weight_nats > 0 for evidence in one.verdict.evidence):
            shares[one.rule_id] = 1.0
        elif family in impossible:
            shares[one.rule_id] = 0.0
        else:
            shares[one.rule_id] = kindred_share if family in suspected or _is_some_at_hand(one.rule, case) else stranger_share
    return shares


def _is_some_at_hand(rule: Rule, case: Case) -> bool:
    """Whether a part of what a rule needs is there."""
    return any(is_met(need, case) for needs in rule.needs for need in needs if not is_prose((need,)))


def _offers(
    judged: Sequence[Judged], case: Case, settling: Settling, out_of_reach: Collection[type[Record]], hand_s: float
) -> Mapping[str, Offer]:
    """Every command that yields what a rule lacks, with the rules it bears on."""
    decides: dict[str, dict[str, float]] = {}
    for one in judged:
        for command, share in _wanted(one, case, settling, out_of_reach).items():
            decides.setdefault(command, {})[one.rule_id] = share
    return {command: Offer(cost_s=cost_s(command, hand_s), decides=shares) for command, shares in decides.items()}


def _wanted(one: Judged, case: Case, settling: Settling, out_of_reach: Collection[type[Record]]) -> dict[str, float]:
    """Commands for one rule, with the share of its question they settle: of what is needed together, each settles its part."""
    if one.state == "absent":
        return {}
    found = dict.fromkeys(one.rule.settled_by, 1.0)
    for needs in one.rule.needs:
        lacking = [need for need in needs if record_type(need) not in (Statement, Quantity) and not is_met(need, case)]
        if any(record_type(need) in out_of_reach for need in lacking):
            continue
        for need in lacking:
            for place, way in enumerate(settling.ways_to(need)):
                if way.command is not None:
                    share = (1.0 if place == 0 else SECOND_BEST_SHARE) / len(lacking)
                    found[way.command] = max(share, found.get(way.command, 0.0))
    return found
