"""The next command: what tells the leader from its rivals, nothing the machine cannot have, nothing that was looked for already."""

from wirespeed.diagnosis import rules
from wirespeed.diagnosis.judge import Judged, judge_all
from wirespeed.diagnosis.next_steps import STRANGER_SHARE, next_commands, shares_of
from wirespeed.diagnosis.settling import Settling
from wirespeed.model import shelf
from wirespeed.model.case import Case
from wirespeed.model.facts.gpu import Gpu
from wirespeed.model.facts.link import Counter, LinkRings
from wirespeed.model.facts.rdma import RdmaPort
from wirespeed.model.kinds import Reader, Rule
from wirespeed.model.settings import Statement
from wirespeed.model.source import Quote, Source
from wirespeed.readers import tools

RULES = shelf.every(rules, Rule)
SETTLING = Settling(shelf.every(tools, Reader))
HERE = Source(tool="test", path="test")


def _said(topic: str) -> Statement:
    return Statement(source=HERE, topic=topic, quotes=(Quote(source="test", line_index=0, text="so it is"),))


def _judged(case: Case) -> tuple[Judged, ...]:
    return judge_all(RULES, case)


def _drops() -> Counter:
    return Counter(source=HERE, scope="eth0", name="rx_out_of_buffer", value_count=90_000, canonical="rx_no_buffer")


def test_a_suspicion_is_settled_by_its_own_command() -> None:
    """Somebody speaks of ring overflows; nic_ring_too_small needs LinkRings, which `ethtool -g` gives."""
    case = Case([_said("ring-overflow"), _said("receive-buffer-errors")])
    first = [one.name for one in next_commands(_judged(case), case, SETTLING)[:3]]
    assert "ethtool -g IFACE" in first or "ethtool -S IFACE" in first


def test_what_is_at_hand_is_not_asked_for() -> None:
    case = Case([LinkRings(source=HERE, link="eth0", rx_entries=256, rx_max_entries=4096), _drops()])
    wanted = {one.name: one for one in next_commands(_judged(case), case, SETTLING)}
    assert "nic-ring-too-small" not in {*wanted.get("ethtool -g IFACE", _NOTHING).rivals}


class _NOTHING:
    rivals = ()


def test_a_machine_without_gpus_and_rdma_is_asked_for_neither() -> None:
    case = Case([_drops()])
    without = [one.name for one in next_commands(_judged(case), case, SETTLING, (Gpu, RdmaPort))]
    assert without
    assert not [name for name in without if name.startswith(("nvidia-smi", "ib", "NCCL_DEBUG", "p2p", "show_gids"))]
    anyhow = [one.name for one in next_commands(_judged(case), case, SETTLING)]
    assert set(without) < set(anyhow)


def test_what_speaks_counts_in_full_and_strangers_hardly() -> None:
    case = Case([_drops()])
    shares = shares_of(_judged(case), case)
    assert shares["nic_ring_too_small"] == 1.0
    assert shares["moe_imbalance"] == STRANGER_SHARE


def test_suggestions_are_in_the_order_of_information_for_effort() -> None:
    case = Case([_said("packet-loss")])
    found = next_commands(_judged(case), case, SETTLING)
    worth = [one.gain_nats / one.cost_s for one in found]
    assert worth == sorted(worth, reverse=True)
    assert all(one.gain_nats > 0 for one in found)
