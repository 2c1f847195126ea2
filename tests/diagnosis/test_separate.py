"""The next measurement: worth most a second, rivals of the leading cause first, nothing once it is certain."""

import math

from wirespeed.diagnosis import rules
from wirespeed.diagnosis.judge import Judged
from wirespeed.diagnosis.separate import Offer, next_measurement
from wirespeed.model import shelf
from wirespeed.model.finding import Verdict
from wirespeed.model.kinds import Rule
from wirespeed.model.link_runs import DatagramTrain, HeaderRun, LatencyRun, PathMtuRun
from wirespeed.model.measurement import PortProbe

RULES = shelf.every(rules, Rule)
OFFERS = {
    "trains": Offer(gives=(DatagramTrain,), cost_s=2.0),
    "hops": Offer(gives=(HeaderRun,), cost_s=2.0),
    "mtu": Offer(gives=(PathMtuRun,), cost_s=2.0),
    "ports": Offer(gives=(PortProbe,), cost_s=2.0),
    "pings": Offer(gives=(LatencyRun,), cost_s=2.0),
}


def _judged(**sure: float) -> list[Judged]:
    """Every rule unknown, but for those that are as sure as given."""
    return [
        Judged(
            rule_id=name,
            rule=rule,
            state="present" if name in sure else "unknown",
            verdict=Verdict(),
            confidence_ratio=sure.get(name, 0.0),
            score_nats=math.log(sure[name] / (1.0 - sure[name])) if name in sure else -math.inf,
        )
        for name, rule in RULES.items()
    ]


def test_what_tells_the_leader_from_its_look_alikes_comes_first() -> None:
    """A black hole is taken for a filter, and what tells them apart are ports; nothing about hops does."""
    choice = next_measurement(_judged(pmtu_blackhole=0.6), OFFERS, 60.0)
    assert choice is not None
    assert choice.leader == "pmtu-blackhole"
    assert choice.name in ("ports", "mtu")
    assert set(choice.rivals) & {"firewall-blocks-ports", "mtu-mismatch", "pmtu-blackhole"}


def test_a_certain_cause_needs_only_what_bears_on_its_rivals() -> None:
    offers = {name: offer for name, offer in OFFERS.items() if name == "hops"}
    assert next_measurement(_judged(pmtu_blackhole=0.99), offers, 60.0) is None


def test_what_does_not_fit_into_the_time_is_not_chosen() -> None:
    assert next_measurement(_judged(), OFFERS, 1.9) is None
    cheap = {**OFFERS, "hops": Offer(gives=(HeaderRun,), cost_s=0.5)}
    choice = next_measurement(_judged(), cheap, 1.9)
    assert choice is not None
    assert choice.name == "hops"


def test_nothing_is_measured_for_what_is_settled() -> None:
    settled = [
        Judged(rule_id=name, rule=rule, state="absent", verdict=Verdict(evidence=(_against(),)), confidence_ratio=0.0)
        for name, rule in RULES.items()
    ]
    assert next_measurement(settled, OFFERS, 60.0) is None


def _against():  # type: ignore[no-untyped-def]
    from wirespeed.model.finding import Evidence
    from wirespeed.model.text import Text

    return Evidence(says=Text(en="seen otherwise", zh="所见不同"), weight_nats=-3.5)
