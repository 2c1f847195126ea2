"""Commands worth running next: what each would decide, the most telling for its effort first (requirement E7, by hand)."""

from collections.abc import Collection, Mapping, Sequence

from wirespeed.diagnosis.effort import cost_s
from wirespeed.diagnosis.judge import Judged, is_met, is_prose, record_type
from wirespeed.diagnosis.rank import SUSPECTED_AT
from wirespeed.diagnosis.separate import Choice, Offer, choices
from wirespeed.diagnosis.settling import Settling
from wirespeed.model.case import Case
from wirespeed.model.events import nccl
from wirespeed.model.facts.gpu import Gpu
from wirespeed.model.facts.rdma import RdmaPort
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
    judged: Sequence[Judged], case: Case, settling: Settling, out_of_reach: Collection[type[Record]] = ()
) -> tuple[Choice, ...]:
    """Commands worth running, best first. `out_of_reach` are kinds of record that have been looked for where the case comes from."""
    if Gpu in out_of_reach:
        out_of_reach = {*out_of_reach, *_WRITTEN_ON_GPUS}
    return choices(judged, _offers(judged, case, settling, out_of_reach), shares_of(judged, case, out_of_reach), RIVAL_TIMES)


def shares_of(judged: Sequence[Judged], case: Case, out_of_reach: Collection[type[Record]] = ()) -> dict[str, float]:
    """How much each rule's question counts: in full where something speaks for it, less where only its kind does, not at all where it cannot be."""
    suspected = {MEANINGS[one.rule.cause].family for one in judged if one.confidence_ratio >= SUSPECTED_AT}
    impossible = {family for kind in out_of_reach for family in _ONLY_WITH.get(kind, ())}
    return {one.rule_id: _share_of(one, case, suspected, impossible) for one in judged}


def _share_of(one: Judged, case: Case, suspected: Collection[str], impossible: Collection[str]) -> float:
    if any(evidence.weight_nats > 0 for evidence in one.verdict.evidence):
        return 1.0
    family = MEANINGS[one.rule.cause].family
    if family in impossible:
        return 0.0
    is_at_hand = any(is_met(need, case) for needs in one.rule.needs for need in needs if not is_prose((need,)))
    return KINDRED_SHARE if is_at_hand or family in suspected else STRANGER_SHARE


def _offers(
    judged: Sequence[Judged], case: Case, settling: Settling, out_of_reach: Collection[type[Record]]
) -> Mapping[str, Offer]:
    """Every command that yields what a rule lacks, with the rules it bears on."""
    decides: dict[str, dict[str, float]] = {}
    for one in judged:
        for command, share in _wanted(one, case, settling, out_of_reach).items():
            decides.setdefault(command, {})[one.rule_id] = share
    return {command: Offer(cost_s=cost_s(command), decides=shares) for command, shares in decides.items()}


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
