"""Ask: stories that end at the right cause in at most ten questions, and conversations that end in odd ways."""

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

import pytest

import wirespeed
from wirespeed.diagnosis import questions, rules
from wirespeed.diagnosis.interview import Memory, effects_of
from wirespeed.diagnosis.judge import SPOKEN_SHARE, judge_all, judge_rule
from wirespeed.model import shelf
from wirespeed.model.case import Case
from wirespeed.model.document import Document, FactList, Headline, Steps
from wirespeed.model.kinds import Question, Rule, Symptoms
from wirespeed.readers import symptoms
from wirespeed.verbs import _interview

RULES = shelf.every(rules, Rule)
QUESTIONS = shelf.every(questions, Question)
MOST_QUESTIONS = 10
RINGS = (
    "Ring parameters for eth2:\nPre-set maximums:\nRX:\t\t4096\nTX:\t\t4096\nCurrent hardware settings:\nRX:\t\t256\nTX:\t\t256\n"
)
DROPS = "NIC statistics for eth2:\n     rx_packets: 918273645\n     rx_out_of_buffer: 482110\n"
CURL = "dns 5.004 connect 5.021 ttfb 5.630 total 6.100\n"


@dataclass
class Person:
    """Somebody with a problem: knows some things, can run some commands, and says so when asked."""

    kind: str
    happens: str
    words: str = ""
    sees: frozenset[str] = frozenset()
    outputs: dict[str, str] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    waiting: list[str] = field(default_factory=list)

    def show(self, document: Document) -> None:
        heads = [block for block in document.blocks if isinstance(block, Headline)]
        if heads:
            self.asked.append(heads[0].text.en)
            self.waiting = self.answer(heads[0].text.en, document)

    def hear(self) -> str | None:
        return self.waiting.pop(0) if self.waiting else None

    def answer(self, asks: str, document: Document) -> list[str]:
        if asks == _interview._KIND.en:
            return [self.kind]
        if asks == _interview._HAPPENS.en:
            return [self.happens]
        if asks == _interview._WORDS.en:
            return [self.words]
        for block in document.blocks:
            if isinstance(block, Steps):
                ((_, (command,)),) = block.steps
                found = next((text for start, text in self.outputs.items() if command.startswith(start)), None)
                return [""] if found is None else [*found.split("\n"), "."]
            if isinstance(block, FactList):
                topics = [_topic_of(text.en) for _, text in block.rows]
                seen = [str(number) for number, topic in enumerate(topics, 1) if topic in self.sees]
                return [" ".join(seen) or "0"]
        raise AssertionError(asks)


def _topic_of(text: str) -> str:
    return next(topic for one in QUESTIONS.values() for topic, said in one.choices.items() if said.en == text)


STORIES = {
    "loader": (
        Person(kind="training", happens="slow", words="GPU utilisation goes up and down", sees=frozenset({"input-pipeline-waits", "synthetic-data-is-fast"})),
        "dataloader-bound",
        False,
    ),
    "stream": (
        Person(kind="serving", happens="slow", words="The chat shows nothing for a while, then the whole answer", sees=frozenset({"stream-in-one-piece"})),
        "proxy-buffering",
        None,
    ),
    "names": (
        Person(kind="serving", happens="now-and-then", words="some requests take five seconds longer", sees=frozenset({"dns-five-seconds"}), outputs={"curl -s -o": CURL}),
        "dns-slow",
        True,
    ),
    "rings": (
        Person(
            kind="training", happens="slow", words="packets are dropped in bursts at the card", sees=frozenset({"ring-overflow"}),
            outputs={"ethtool -g": RINGS, "ethtool -S": DROPS},
        ),
        "nic-ring-too-small",
        True,
    ),
    "generator": (
        Person(kind="benchmark", happens="slow", words="the load test stops at 800 requests", sees=frozenset({"client-is-limit", "tools-disagree"})),
        "client-bound-benchmark",
        None,
    ),
    "hub": (
        Person(kind="download", happens="stops", words="model download breaks off", sees=frozenset({"origin-throttles"})),
        "origin-rate-limited",
        None,
    ),
    "docker0": (
        Person(kind="training", happens="does-not-start", words="two nodes do not find each other", sees=frozenset({"interface-wrong", "interface-set-helps"})),
        "nccl-wrong-interface",
        None,
    ),
    "frames": (
        Person(
            kind="training", happens="stops", words="small all-reduce works, large ones hang between the nodes",
            sees=frozenset({"mtu-differs", "small-passes-large-hangs", "depends-on-mtu"}),
        ),
        "mtu-mismatch",
        True,
    ),
    "preempted": (
        Person(kind="serving", happens="slow", words="vLLM gets slower with more users", sees=frozenset({"kv-preempted", "kv-cache-full"})),
        "kv-cache-preemption",
        False,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", STORIES)
def test_a_story_ends_at_its_cause(name: str) -> None:
    person, cause, is_network = STORIES[name]
    answer = wirespeed.ask(talk=person)
    told = [(one.cause, one.confidence_ratio) for one in answer.diagnosis.findings]
    assert told[0][0] == cause, (told, person.asked)
    assert len(person.asked) <= MOST_QUESTIONS
    assert is_network is None or answer.diagnosis.network_is_the_limit in (is_network, None)
    assert answer.diagnosis.findings[0].changes


@pytest.mark.parametrize("name", STORIES)
def test_saved_and_diagnosed_again_it_says_the_same(name: str, tmp_path: Path) -> None:
    person = STORIES[name][0]
    again = Person(kind=person.kind, happens=person.happens, words=person.words, sees=person.sees, outputs=person.outputs)
    place = tmp_path / "case.json"
    first = wirespeed.ask(talk=again, save=str(place)).diagnosis
    second = wirespeed.diagnose(str(place))
    assert [(one.cause, one.confidence_ratio) for one in first.findings] == [
        (one.cause, one.confidence_ratio) for one in second.findings
    ]


def test_nobody_answers() -> None:
    answer = wirespeed.ask()
    assert answer.turns == () and answer.kind is None
    assert answer.diagnosis.findings == ()


@pytest.mark.parametrize(
    "line",
    [
        "",
        "?",
        "0",
        "99",
        "-1",
        "1 1 1",
        "1,2,9",
        "🐟",
        "a\x00b",
        "/no/such/file",
        "x" * 50_000,
        "1.5",
        "'; drop",
        ".",
        "..",
        "/",
        "~",
    ],
)
def test_whatever_is_answered_it_ends(line: str) -> None:
    class Stubborn(Person):
        def show(self, document: Document) -> None:
            self.asked.extend(block.text.en for block in document.blocks if isinstance(block, Headline))

        def hear(self) -> str | None:
            return line if len(self.asked) < 40 else None

    person = Stubborn(kind="", happens="")
    wirespeed.ask(talk=person)
    assert len(person.asked) <= MOST_QUESTIONS


@pytest.mark.parametrize("word", [".", "..", "/", "./", "rings"])
def test_a_word_that_happens_to_be_a_directory_is_no_input(word: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "rings").mkdir()
    (tmp_path / "rings" / "rings.txt").write_text(RINGS)
    monkeypatch.chdir(tmp_path / "rings" if word != "rings" else tmp_path)
    answer = wirespeed.ask(talk=Person(kind="training", happens="slow", words=word))
    assert not answer.diagnosis.findings


def test_a_file_that_is_named_is_read(tmp_path: Path) -> None:
    (tmp_path / "rings.txt").write_text(RINGS)
    (tmp_path / "drops.txt").write_text(DROPS)
    person = Person(kind="training", happens="slow", words=str(tmp_path))
    answer = wirespeed.ask(talk=person)
    assert answer.diagnosis.findings[0].cause == "nic-ring-too-small"
    assert answer.diagnosis.findings[0].confidence_ratio > 0.7


def test_every_choice_is_a_topic_that_a_rule_asks_for() -> None:
    known = {topic for family in shelf.every(symptoms, Symptoms).values() for topic in family.topics}
    sources = "".join((Path(rules.__path__[0]) / f"{name}.py").read_text(encoding="utf-8") for name in RULES)
    for name, question in QUESTIONS.items():
        assert set(question.choices) <= known, (name, set(question.choices) - known)
        for topic in question.choices:
            assert f'"{topic}"' in sources, (name, topic)


def test_texts_of_choices_are_told_apart() -> None:
    said = [(text.en, topic) for question in QUESTIONS.values() for topic, text in question.choices.items()]
    by_text = {text: {topic for other, topic in said if other == text} for text, _ in said}
    assert all(len(topics) == 1 for topics in by_text.values())


def test_each_kind_and_happening_has_questions_and_one_that_parts_the_network_off() -> None:
    for kind in ("training", "serving", "download", "benchmark"):
        assert any(one.is_first for one in QUESTIONS.values() if kind in one.kinds)
        for happening in ("does-not-start", "stops", "slow", "now-and-then", "works"):
            assert any(Memory(kind=kind, happening=happening).is_fitting(one) for one in QUESTIONS.values()), (kind, happening)  # type: ignore[arg-type]


def test_effects_are_those_the_rules_state() -> None:
    """packet_loss weighs what is said of loss with 3 nats (read from the rule), of which a statement keeps its share."""
    case = Case([])
    effects = effects_of(["packet-loss", "no-such-topic"], judge_all(RULES, case), RULES, case, judge_rule)
    assert effects["packet-loss"]["packet_loss"] == pytest.approx(SPOKEN_SHARE * 3.0)
    assert effects["no-such-topic"] == {}


def test_what_nobody_has_seen_makes_its_causes_less_likely() -> None:
    memory = Memory()
    memory.leave_out({"packet_loss": 3.0, "bufferbloat": -2.0})
    assert memory.doubts["packet_loss"] == pytest.approx((1 - 0.9) / (1 - 0.1))
    assert memory.doubts["bufferbloat"] == 1.0


def _run(*arguments: str, heard: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "wirespeed", "ask", *arguments]
    variables = {**os.environ, "LANG": "C.UTF-8", "LC_ALL": "", **environment}
    return subprocess.run(command, input=heard, capture_output=True, text=True, env=variables, check=False, timeout=120)


def test_piped_answers_end_with_the_input_and_the_answer_is_clean(tmp_path: Path) -> None:
    place = tmp_path / "case.json"
    done = _run("--format", "json", "--save", str(place), heard="1\nslow\nthe GPUs wait for the data loader\n")
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert answer["schema"] == "wirespeed/ask/1" and answer["kind"] == "training"
    assert [turn["answered"] for turn in answer["turns"]][2] == "the GPUs wait for the data loader"
    assert "> the GPUs wait for the data loader" in done.stderr
    assert json.loads(place.read_text())["replies"]


def test_it_speaks_chinese() -> None:
    done = _run("--lang", "zh", heard="training\n结束\n")
    assert done.returncode == 0, done.stderr
    assert "是关于什么的" in done.stderr and "发生了什么" in done.stderr


def test_interrupted_it_leaves_without_a_trace(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "wirespeed", "ask", "--save", str(tmp_path / "case.json")]
    running = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert running.stdin is not None and running.stderr is not None
    deadline_s = time.monotonic() + 30
    while "> " not in (seen := running.stderr.read(1) + "") and time.monotonic() < deadline_s:
        if seen == ">":
            break
    running.send_signal(signal.SIGINT)
    _, errors = running.communicate(timeout=30)
    assert running.returncode == 130
    assert "Traceback" not in errors
    assert not list(tmp_path.iterdir())
