"""A diagnosis of what lives: facts, a short look, then one measurement after another, each chosen for what it tells apart (E7)."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from wirespeed.diagnosis.judge import Judged
from wirespeed.diagnosis.separate import Choice, Offer, next_measurement
from wirespeed.model import shelf
from wirespeed.model.case import Case
from wirespeed.model.document import AnyBlock, Grid, Headline
from wirespeed.model.facts.link import Counter
from wirespeed.model.labels import Label
from wirespeed.model.progress import Progress, Update
from wirespeed.model.record import Record
from wirespeed.model.series import BEFORE_TESTS
from wirespeed.model.source import Problem
from wirespeed.model.text import Text, same
from wirespeed.verbs import _measures
from wirespeed.verbs._hosts import Host
from wirespeed.verbs._measure import Fleet, Measure, can_be_made, relabelled
from wirespeed.verbs._starved import starved_tests

WATCH_S = 2.2
WATCH_EVERY_S = 0.03
FACTS_S = 1.0
HOST_FAMILIES = ("links", "link_errors", "protocols", "softnet", "flows", "listeners", "sockets", "qdiscs", "cpu", "cgroup")
ROUTER_FAMILIES = ("links", "link_errors", "qdiscs")
_FACTS = Text(en="what is set up on every host", zh="各主机的配置")
_WATCH = Text(en="what moves by itself on every host", zh="各主机自身的变化")
_FIRST = Text(en="always first: it puts no load on the network", zh="总是先做：不给网络增加负载")
NAMED_COUNT = 3
"""Causes named as the reason for a measurement; JSON has all."""


class Step(msgspec.Struct, frozen=True, kw_only=True):
    """One measurement that was made, and why that one."""

    measure: str
    title: Text
    why: Text
    expected_nats: float
    """Information expected of it, by the entropy of the causes it bears on; 0 for what is always done first."""
    cost_expected_s: float
    duration_s: float
    records_count: int
    leader: Label | None = None
    tells_from_leader: tuple[Label, ...] = ()
    bears_on: tuple[Label, ...] = ()


@dataclass(slots=True)
class Looked:
    """Everything a live look found, and the way to it."""

    records: list[Record] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)

    def take(self, items: list[Record | Problem]) -> int:
        """Add what a measurement found; the number of records."""
        found = [item for item in items if isinstance(item, Record)]
        self.records.extend(found)
        self.problems.extend(
            item for item in items if isinstance(item, Problem) and item.reason is None and item.source.tool != "record"
        )
        return len(found)


def look(
    fleet: Fleet,
    known: Sequence[Record],
    budget_s: float,
    judge: Callable[[Case], tuple[Judged, ...]],
    progress: Progress,
    *,
    has_facts: bool,
) -> Looked:
    """Facts (unless `known` has them), a recording, then measurements until nothing is worth its time, the cause is certain, or the budget is spent."""
    start_s = time.monotonic()
    looked = Looked()
    if not has_facts:
        _always(fleet, "facts", _FACTS, [(host, "observe", {}) for host in fleet.everything], looked, progress)
    quietly: list[tuple[Host, str, Mapping[str, Any]]] = [
        (host, "watch", {"for_s": WATCH_S, "every_s": WATCH_EVERY_S, "families": families_of(host)}) for host in fleet.everything
    ]
    quietly += [(host, "name_servers", {}) for host in fleet.hosts]
    _always(fleet, "watch", _WATCH, quietly, looked, progress)
    left = {name: one for name, one in shelf.every(_measures, Measure).items() if can_be_made(one, fleet)}
    while left:
        case = Case([*known, *looked.records])
        offers = {name: Offer(gives=one.gives, cost_s=one.cost_s(fleet)) for name, one in left.items() if one.is_worth_it(case)}
        choice = next_measurement(judge(case), offers, budget_s - (time.monotonic() - start_s))
        if choice is None:
            break
        _make(fleet, case, choice, left.pop(choice.name), looked, progress)
    looked.problems.extend(starved_tests(looked.records))
    return looked


def families_of(host: Host) -> tuple[str, ...]:
    """What is recorded of a host; of a router only what its links and queues do."""
    return HOST_FAMILIES if host.role == "host" else ROUTER_FAMILIES


def _always(
    fleet: Fleet, name: str, title: Text, calls: Sequence[tuple[Host, str, Mapping[str, Any]]], looked: Looked, progress: Progress
) -> None:
    progress(Update(says=title))
    start_s = time.monotonic()
    items = fleet.ask(calls, 30.0)
    count = looked.take(relabelled(items, BEFORE_TESTS) if name == "watch" else [one for one in items if not _is_of_the_past(one)])
    looked.steps.append(
        Step(
            measure=name,
            title=title,
            why=_FIRST,
            expected_nats=0.0,
            cost_expected_s=WATCH_S if name == "watch" else FACTS_S,
            duration_s=time.monotonic() - start_s,
            records_count=count,
        )
    )


def _is_of_the_past(item: Record | Problem) -> bool:
    """Whether this is a count since boot: it keeps what was mended long ago, and the recording tells what counts now."""
    return isinstance(item, Counter) and not item.is_delta


def _make(fleet: Fleet, case: Case, choice: Choice, measure: Measure, looked: Looked, progress: Progress) -> None:
    why = reason_of(choice)
    progress(Update(says=Text(en=f"{measure.title.en}: {why.en}", zh=f"{measure.title.zh}：{why.zh}")))
    start_s = time.monotonic()
    count = looked.take(list(measure.run(fleet, case)))
    looked.steps.append(
        Step(
            measure=choice.name,
            title=measure.title,
            why=why,
            expected_nats=round(choice.gain_nats, 3),
            cost_expected_s=choice.cost_s,
            duration_s=time.monotonic() - start_s,
            records_count=count,
            leader=choice.leader,
            tells_from_leader=choice.rivals,
            bears_on=choice.others,
        )
    )


def reason_of(choice: Choice) -> Text:
    """Why a measurement was chosen, in a sentence."""
    if choice.leader is not None and choice.rivals:
        named = ", ".join(one for one in choice.rivals if one != choice.leader) or choice.leader
        return Text(en=f"may tell {choice.leader} from {named}", zh=f"可区分 {choice.leader} 与 {named}")
    named = ", ".join(choice.others[:NAMED_COUNT])
    more = len(choice.others) - NAMED_COUNT
    if more > 0:
        return Text(en=f"bears on {named} and {more} more causes", zh=f"涉及 {named} 及另外 {more} 个原因")
    return Text(en=f"bears on {named}", zh=f"涉及 {named}")


def way_taken(steps: tuple[Step, ...]) -> list[AnyBlock]:
    """The measurements in their order, with the reason for each."""
    if not steps:
        return []
    columns = (Text(en="measured", zh="测量"), Text(en="why", zh="原因"), Text(en="time", zh="用时"))
    rows = tuple((one.title, one.why, same(f"{one.duration_s:.1f} s")) for one in steps)
    return [Headline(text=Text(en="How it was found", zh="诊断过程"), level=2), Grid(columns=columns, rows=rows)]
