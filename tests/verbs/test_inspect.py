"""`inspect` live, saved, opened elsewhere and made fit to send."""

import os
import time
from collections import Counter
from pathlib import Path

import msgspec
import pytest

from observation.trees import lay_out, machine, written
from wirespeed.machines.captured import Tree
from wirespeed.machines.local import Local
from wirespeed.machines.machine import Machine, MachineProblem, problem_of
from wirespeed.machines.questions import QUESTIONS
from wirespeed.model import shelf
from wirespeed.model.errors import BadRequest, CouldNot
from wirespeed.model.facts.host import HostIdentity
from wirespeed.model.facts.path import Address, Route
from wirespeed.model.facts.rdma import RdmaPort
from wirespeed.model.kinds import Renderer
from wirespeed.model.record import Record
from wirespeed.model.source import Problem
from wirespeed.observation import facts
from wirespeed.observation.facts.resolver import is_name
from wirespeed.report import renderers
from wirespeed.verbs import inspect
from wirespeed.verbs._look import observe, open_machine
from wirespeed.verbs.inspect import Answer, Options


def kinds(answer: Answer) -> dict[str, Counter[str]]:
    return {group.group: Counter(type(record).__name__ for record in group.records) for group in answer.facts}


def test_the_live_machine_within_two_seconds() -> None:
    start = time.perf_counter()
    answer = inspect.run(Options())
    assert time.perf_counter() - start < 2.0
    assert (answer.schema, answer.source, answer.host) == ("wirespeed/inspect/1", "live", Local().host)
    assert [group.group for group in answer.facts] == list(shelf.ids(facts))
    assert not [one for one in answer.problems if "mistake" in one.why.en]
    assert all(one.why.zh for one in answer.problems)
    assert msgspec.json.decode(msgspec.json.encode(answer))["facts"]


def test_only_what_is_asked_for() -> None:
    answer = inspect.run(Options(only=("sysctls", "numa")))
    assert [group.group for group in answer.facts] == ["numa", "sysctls"]


def test_a_look_up_of_a_name_is_timed() -> None:
    (group,) = inspect.run(Options(only=("resolver",), look_up="localhost")).facts
    assert any(getattr(record, "name", None) == "localhost" and hasattr(record, "time_s") for record in group.records)


@pytest.mark.parametrize("name", ["run", "case.json"])
def test_saved_and_opened_again_it_says_the_same(tmp_path: Path, name: str) -> None:
    place = str(tmp_path / name)
    live = inspect.run(Options(save=place))
    saved = inspect.run(Options(from_=place))
    assert live.facts == saved.facts
    assert live.problems == saved.problems
    assert (saved.source, saved.host) == ("saved", live.host)


def test_redacted_it_has_the_same_shape(tmp_path: Path) -> None:
    """Every collector finds as many facts of each kind, and a route still holds the addresses in it."""
    live = inspect.run(Options(save=str(tmp_path / "case.json"), redact=True))
    sent = inspect.run(Options(from_=str(tmp_path / "case.json")))
    assert kinds(live) == kinds(sent)
    text = (tmp_path / "case.json").read_text()
    for group in live.facts:
        for record in group.records:
            if isinstance(record, Address) and record.scope == "global":
                assert record.address not in text
    routes = [record for group in sent.facts for record in group.records if isinstance(record, Route)]
    assert len({route.destination for route in routes}) == len(
        {record.destination for group in live.facts for record in group.records if isinstance(record, Route)}
    )


def test_what_cannot_be_done_is_said_in_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "other.json").write_text("{}")
    for options in (
        Options(from_=str(tmp_path / "nothing.json")),
        Options(inputs=(str(tmp_path / "other.json"),)),
        Options(only=("numa",), save=str(tmp_path / "other.json")),
        Options(only=("numa",), save="/proc/nowhere/run"),
    ):
        with pytest.raises(CouldNot) as caught:
            inspect.run(options)
        assert caught.value.why.zh
    with pytest.raises(BadRequest):
        inspect.run(Options(only=("weather",)))
    assert not list(tmp_path.glob(".*"))


def test_it_can_be_shown(tmp_path: Path) -> None:
    document = inspect.present(inspect.run(Options(save=str(tmp_path / "run"))), Options())
    shown = shelf.take(renderers, "text", Renderer).render(document, "en", 100)
    assert Local().host in shown
    assert "TCP and IP counters" in shown
    assert "内核参数" in shelf.take(renderers, "markdown", Renderer).render(document, "zh", 100)


def test_a_plain_tree_of_files(tmp_path: Path) -> None:
    """A support bundle's copy of /proc and /sys: what is in it is found, the rest is absent."""
    lay_out("roce_host", tmp_path)
    tree, problems = open_machine(str(tmp_path))
    assert isinstance(tree, Tree)
    assert not problems
    found = observe(tree)
    whole = [item for item in observe(machine("roce_host")) if isinstance(item, RdmaPort)]
    ports = [item for item in found if isinstance(item, RdmaPort)]
    assert [(port.device, port.state, port.link_rate_bits_per_s) for port in ports] == [
        (port.device, port.state, port.link_rate_bits_per_s) for port in whole
    ]
    assert next(item for item in found if isinstance(item, HostIdentity)).hostname == written("roce_host")["host"]
    assert all(item.source.host == "node-a" for item in found if isinstance(item, Record))


class _Unprivileged(Local):
    """The live machine as a user without rights sees it."""

    def read(self, path: str) -> bytes:
        if path.endswith(("/config", "/environ")):
            return super().read(path)[:64]
        if path.startswith("/proc/sys/net/core"):
            raise problem_of(PermissionError(13, "Permission denied"), path)
        return super().read(path)


def test_denied_is_not_absent() -> None:
    ordinary: Machine = _Unprivileged()
    denied = [item for item in observe(ordinary, ("sysctls",)) if isinstance(item, Problem)]
    assert denied
    assert {item.reason for item in denied} == {"denied"}


def test_one_broken_collector_costs_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    class Broken(Local):
        def listing(self, path: str) -> tuple[str, ...]:
            if path.startswith("/sys/devices/system/node"):
                raise ZeroDivisionError("a mistake of ours")
            if path == "/sys/kernel/iommu_groups":
                raise MachineProblem("timed-out", problem_of(TimeoutError(), path).why)
            return super().listing(path)

    items = observe(Broken(), ("numa", "iommu", "sysctls"))
    problems = {item.source.tool: item for item in items if isinstance(item, Problem)}
    assert "mistake" in problems["numa"].why.en
    assert problems["iommu"].reason == "timed-out"
    assert any(isinstance(item, Record) for item in items)


@pytest.mark.parametrize("name", [".", "..", "x..y", "a" * 300, ".".join(["label"] * 60), "a b", "a\0b"])
def test_what_can_be_no_name_is_not_looked_up(name: str) -> None:
    with pytest.raises(BadRequest) as caught:
        inspect.run(Options(only=("resolver",), look_up=name))
    assert "no host name" in caught.value.why.en


@pytest.mark.parametrize("name", ["localhost", "localhost.", "node_a.example", "192.0.2.1", "2001:db8::1", "bücher.example"])
def test_what_can_be_a_name(name: str) -> None:
    assert is_name(name)


def test_a_machine_with_an_impossible_name_of_its_own() -> None:
    """The question is answered with no, at once and without a traceback from its thread."""
    answer = msgspec.json.decode(QUESTIONS["name-lookup"]("x..y"))
    assert answer["is_answered"] is False


def test_pipes_are_no_saved_machine(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "folder" / "manifest.json")
    for path in (tmp_path / "pipe", tmp_path / "folder"):
        with pytest.raises(CouldNot, match="is not a plain file"):
            open_machine(str(path))


@pytest.mark.parametrize("name", ["x" * 300, "a\0b", "\ud800"])
def test_names_that_no_file_can_have(name: str) -> None:
    with pytest.raises(CouldNot) as caught:
        open_machine(name)
    assert caught.value.why.zh.encode()


def test_a_run_whose_manifest_is_lost_is_opened_by_its_files(tmp_path: Path) -> None:
    inspect.run(Options(only=("sysctls",), save=str(tmp_path / "run")))
    (tmp_path / "run" / "manifest.json").unlink()
    (group,) = inspect.run(Options(only=("sysctls",), inputs=(str(tmp_path / "run"),))).facts
    assert group.records


@pytest.mark.parametrize("options", [Options(inputs=("a", "b")), Options(inputs=("a",), from_="b")])
def test_one_place_at_a_time(options: Options) -> None:
    with pytest.raises(BadRequest) as caught:
        inspect.run(options)
    assert "2 were named" in caught.value.why.en
