"""The conversation of `ask`: what is asked, in which words, and what becomes of an answer."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypeVar

import msgspec

from wirespeed.diagnosis import questions, rules
from wirespeed.diagnosis.calibration import calibrated
from wirespeed.diagnosis.interview import Asking, Memory, askings, effects_of
from wirespeed.diagnosis.judge import PRESENT_AT, Judged, judge_rule
from wirespeed.diagnosis.next_steps import next_commands, shares_of
from wirespeed.diagnosis.separate import Choice, leader_of
from wirespeed.diagnosis.settling import Settling
from wirespeed.model import shelf
from wirespeed.model.case import Case
from wirespeed.model.document import AnyBlock, Document, FactList, Headline, Prose, Steps
from wirespeed.model.kinds import Activity, Happening, Question, Rule
from wirespeed.model.lines import MemoryLines
from wirespeed.model.record import Record
from wirespeed.model.talk import Talk
from wirespeed.model.text import Text, same
from wirespeed.readers.parsing.own_records import INTERVIEW_HEAD
from wirespeed.verbs._diagnosis import NextStep, judged_all, next_step
from wirespeed.verbs._diagnosis_page import would_tell
from wirespeed.verbs._gathered import Gathered

T = TypeVar("T")
ANSWERS_NAME = "answers.txt"
WORDS_NAME = "in-your-words.txt"
MOST_STEPS = 7
"""Questions and commands after the first three: nobody answers more than ten."""
MOST_COMMANDS = 3
FIRST_QUESTIONS = 3
"""Steps before a command is suggested, unless a cause leads already: people look before they type."""
AT_HAND_S = 60.0
"""Somebody who answers questions sits at a terminal already."""
MOST_TRIES = 2
"""How often an answer that makes no sense is asked for again."""
MOST_PASTED_CHARACTERS = 4 * 1024 * 1024
"""What a hand can paste; more is in a file."""
QUESTION_S = 20.0
"""What it costs a person to read a question and answer it."""
LEAST_GAIN_NATS = 0.004
"""An answer that is expected to tell less is not worth a question; a twentieth of what a first question tells."""
LEAST_COMMAND_NATS = 0.2
"""A command that is expected to tell less is not worth the trouble."""
ASKED_KINDRED_SHARE, ASKED_STRANGER_SHARE = 0.6, 0.25
"""A question costs little, so that it may be about what nothing points to yet."""
SO_FAR_COUNT = 3

_END_OF_PASTE = "."
_NONE = frozenset({"0", "none", "no", "n", "无", "没有", "否", "都不是"})
_UNKNOWN = frozenset({"", "?", "？", "d", "don't know", "dont know", "不知道", "不清楚"})
_ENOUGH = frozenset({"q", "quit", "exit", "结束", "退出"})
_NUMBERS = re.compile(r"^\d{1,2}(?:[\s,，、]+\d{1,2})*$")
_KINDS: tuple[tuple[Activity | None, Text], ...] = (
    ("training", Text(en="a training job", zh="训练任务")),
    ("serving", Text(en="an inference service", zh="推理服务")),
    ("download", Text(en="a download, or the loading of a model or data", zh="下载，或模型、数据的加载")),
    ("benchmark", Text(en="a benchmark or measurement", zh="基准测试或测量")),
    (None, Text(en="something else", zh="其他")),
)


_HAPPENINGS: tuple[tuple[Happening, Text], ...] = (
    ("does-not-start", Text(en="it does not start, or cannot connect", zh="无法启动，或连接不上")),
    ("stops", Text(en="it starts, then hangs, stops or fails", zh="能启动，之后挂起、停止或失败")),
    ("slow", Text(en="it runs, but is slow", zh="能运行，但慢")),
    ("now-and-then", Text(en="it is slow or fails now and then", zh="时而变慢或失败")),
    ("works", Text(en="it works; a figure or a message makes me wonder", zh="工作正常，但某个数值或消息令人疑惑")),
)


class Turn(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that was asked, what came back, and the information that was expected of it (None for what is always asked)."""

    asked: Text
    answered: str
    gain_nats: float | None = None


class Enough(Exception):
    """The conversation is over."""


class Interview:
    """One conversation; what it learns goes into `gathered`."""

    def __init__(self, gathered: Gathered, talk: Talk, kind: Activity | None) -> None:
        self.gathered = gathered
        self.turns: list[Turn] = []
        self.memory = Memory(kind=kind)
        self._talk = talk
        self._rules = shelf.every(rules, Rule)
        self._questions = shelf.every(questions, Question)
        self._settling = Settling(gathered.readers)
        self._lines: list[str] = []
        self._pasted_count = 0

    def hold(self) -> None:
        """Ask until nothing is worth asking, until the cause is certain, or until there are no more answers."""
        try:
            if self.memory.kind is None:
                self.memory.kind = self._ask_one(_KIND, _KINDS)
            self.memory.happening = self._ask_one(_HAPPENS, _HAPPENINGS)
            self._ask_words()
            for number in range(MOST_STEPS):
                if not self._ask_next(number):
                    break
        except Enough:
            pass
        if any(line.startswith("yes ") for line in self._lines):
            self.gathered.take(self._answers())

    def case(self) -> Case:
        """Everything known so far."""
        said = [one for one in self.gathered.readers["interview"].read(self._answers()) if isinstance(one, Record)]
        return Case([*self.gathered.records, *said], self.gathered.question, self.gathered.texts)

    def _answers(self) -> MemoryLines:
        return MemoryLines("\n".join([INTERVIEW_HEAD, *self._lines]), ANSWERS_NAME)

    def _ask_one(self, asks: Text, choices: Sequence[tuple[T | None, Text]]) -> T | None:
        """One of several things; None where nobody knows."""
        names = {str(name): place for place, (name, _) in enumerate(choices)}
        chosen = self._choose(asks, [text for _, text in choices], _ONE, names)
        said = choices[chosen[0]][1].en if chosen else "?"
        self._lines.append(f"{asks.en} {said}")
        self.turns.append(Turn(asked=asks, answered=said))
        return choices[chosen[0]][0] if chosen else None

    def _ask_words(self) -> None:
        self._show(Headline(text=_WORDS, level=2), Prose(text=_WORDS_HOW))
        line = self._hear()
        if line.lower() not in _UNKNOWN:
            self._take_words(line)
        self.turns.append(Turn(asked=_WORDS, answered=line))

    def _ask_next(self, number: int) -> bool:
        """Ask the best question, or for the best command's output; False where nothing is worth it."""
        case = self.case()
        judged = judged_all(case, self.gathered.problems)
        if number:
            self._tell_so_far(judged)
        shares = self.memory.scaled(shares_of(judged, case, (), ASKED_KINDRED_SHARE, ASKED_STRANGER_SHARE), self._rules)
        effects = self._effects(judged, case)
        worth = [one for one in askings(judged, effects, self._questions, self.memory, shares) if one.gain_nats >= LEAST_GAIN_NATS]
        first = next((one for one in worth if one.question.is_first), None) if self.memory.kind and not number else None
        asking = first or next(iter(worth), None)
        is_early = number < FIRST_QUESTIONS and leader_of(judged) is None
        command = None if is_early and asking else self._best_command(judged, case, shares)
        if command is not None and (asking is None or command.gain_nats / command.cost_s > asking.gain_nats / QUESTION_S):
            self._ask_command(command)
        elif asking is not None:
            self._ask_question(asking, effects)
        else:
            return False
        return True

    def _effects(self, judged: tuple[Judged, ...], case: Case) -> dict[str, dict[str, float]]:
        wanted = [topic for one in self._questions.values() for topic in one.choices if topic not in self.memory.topics]
        return effects_of(wanted, judged, self._rules, case, judge_rule)

    def _best_command(self, judged: tuple[Judged, ...], case: Case, shares: Mapping[str, float]) -> Choice | None:
        if len(self.memory.commands) >= MOST_COMMANDS:
            return None
        found = next_commands(judged, case, self._settling, self.gathered.out_of_reach(case), shares, AT_HAND_S)
        left = (one for one in found if one.name not in self.memory.commands and one.gain_nats >= LEAST_COMMAND_NATS)
        return next(left, None)

    def _ask_question(self, asking: Asking, effects: Mapping[str, Mapping[str, float]]) -> None:
        choices = [asking.question.choices[topic] for topic in asking.topics]
        self.memory.topics.update(asking.topics)
        chosen = self._choose(asking.question.asks, choices, _MANY)
        self._lines.append(asking.question.asks.en)
        if chosen is None:
            self.turns.append(Turn(asked=asking.question.asks, answered="?", gain_nats=round(asking.gain_nats, 3)))
            return
        for place, topic in enumerate(asking.topics):
            if place in chosen:
                self._lines.append(f"yes {topic}: {choices[place].en}")
            else:
                self.memory.leave_out(effects[topic])
        said = ", ".join(asking.topics[place] for place in chosen) or "none of these"
        if not chosen:
            self._lines.append(said)
        self.turns.append(Turn(asked=asking.question.asks, answered=said, gain_nats=round(asking.gain_nats, 3)))

    def _ask_command(self, command: Choice) -> None:
        step = next_step(command, self._settling)
        self.memory.commands.add(command.name)
        self._show(
            Headline(text=_RUN, level=2), Steps(title=would_tell(step), steps=((_CAPITALS, (step.command,)),)), Prose(text=_PASTE)
        )
        answered = self._take_output(step)
        self.turns.append(Turn(asked=same(f"$ {step.command}"), answered=answered, gain_nats=round(command.gain_nats, 3)))

    def _take_output(self, step: NextStep) -> str:
        """What was pasted, or the file that was named; its name, or `?`."""
        for _ in range(MOST_TRIES):
            line = self._hear()
            if line.lower() in _UNKNOWN | _NONE | {_END_OF_PASTE}:
                return "?"
            if _is_there(line):
                return self._take_file(line)
            if not _looks_like_path(line):
                return self._take_pasted(line)
            self._show(Prose(text=Text(en=f"There is no file {line}.", zh=f"没有文件 {line}。")))
        return "?"

    def _take_pasted(self, first: str) -> str:
        lines = [first]
        left_characters = MOST_PASTED_CHARACTERS - len(first)
        is_over = False
        while left_characters > 0:
            line = self._talk.hear()
            is_over = line is None
            if line is None or line.strip() == _END_OF_PASTE:
                break
            lines.append(line)
            left_characters -= len(line) + 1
        self._pasted_count += 1
        name = f"pasted-{self._pasted_count}.txt"
        self.gathered.take(MemoryLines("\n".join(lines), name))
        self._tell_read()
        if is_over:
            self.turns.append(Turn(asked=_RUN, answered=name))
            raise Enough
        return name

    def _take_file(self, path: str) -> str:
        self.gathered.gather((str(Path(path).expanduser()),))
        self._tell_read()
        return path

    def _take_words(self, line: str) -> None:
        if _is_there(line):
            self._take_file(line)
            return
        self._pasted_count += 1
        self.gathered.take(MemoryLines(line, WORDS_NAME if self._pasted_count == 1 else f"in-your-words-{self._pasted_count}.txt"))

    def _choose(self, asks: Text, choices: list[Text], how: Text, names: Mapping[str, int] | None = None) -> list[int] | None:
        """Places of what was chosen; none of these is an empty list, and None is that nobody knows."""
        rows = tuple((same(str(number)), text) for number, text in enumerate(choices, 1))
        self._show(Headline(text=asks, level=2), FactList(rows=rows), Prose(text=how))
        for _ in range(MOST_TRIES):
            line = self._hear()
            if line.lower() in _UNKNOWN:
                return None
            if line.lower() in _NONE:
                return []
            if names and line.lower() in names:
                return [names[line.lower()]]
            if not _NUMBERS.match(line):
                self._take_words(line)
                return None
            numbers = [int(found) for found in re.findall(r"\d+", line)]
            if all(1 <= number <= len(choices) for number in numbers):
                return sorted({number - 1 for number in numbers})
            self._show(Prose(text=Text(en=f"Numbers from 1 to {len(choices)}, please.", zh=f"请输入 1 到 {len(choices)} 的数字。")))
        return None

    def _hear(self) -> str:
        line = self._talk.hear()
        if line is None or line.strip().lower() in _ENOUGH:
            raise Enough
        return line.strip()

    def _show(self, *blocks: AnyBlock) -> None:
        self._talk.show(Document(title=same("wirespeed ask"), blocks=blocks))

    def _tell_read(self) -> None:
        """What the last input was taken for."""
        last = self.gathered.inputs[-1] if self.gathered.inputs else None
        if last is None or not last.records:
            self._show(Prose(text=Text(en="Nothing in it was understood; that is no matter.", zh="未能识别其中内容；没有关系。")))
            return
        title = (
            self.gathered.readers[last.recognised_as].title
            if last.recognised_as in self.gathered.readers
            else same(last.recognised_as)
        )
        self._show(Prose(text=Text(en=f"Read as: {title.en}.", zh=f"识别为：{title.zh}。")))

    def _tell_so_far(self, judged: tuple[Judged, ...]) -> None:
        likely = sorted((one for one in judged if one.confidence_ratio >= PRESENT_AT), key=lambda one: -one.confidence_ratio)
        if likely:
            named = ", ".join(f"{one.rule.cause} {calibrated(one.confidence_ratio):.0%}" for one in likely[:SO_FAR_COUNT])
            self._show(Prose(text=Text(en=f"So far: {named}", zh=f"目前：{named}")))


def _is_there(line: str) -> bool:
    """Whether an answer names a file, or a directory by a path; a bare word that happens to be a directory is a word."""
    if line.strip(". /") == "":
        return False
    try:
        place = Path(line).expanduser()
        return place.is_file() or (place.is_dir() and "/" in line)
    except (OSError, ValueError, RuntimeError):
        return False


def _looks_like_path(line: str) -> bool:
    return line.startswith(("/", "./", "../", "~/")) and len(line.split()) == 1


_KIND = Text(en="What is it about?", zh="是关于什么的？")
_HAPPENS = Text(en="What happens?", zh="发生了什么？")
_ONE = Text(en="One number; Enter if you do not know; q ends and concludes.", zh="输入一个编号；不知道请按回车；q 结束并给出结论。")
_WORDS = Text(
    en="What is slow, or what fails? Say it in a sentence, in your own words.", zh="什么慢，或什么失败？用自己的话说一句。"
)
_WORDS_HOW = Text(en="Or name a file or directory that says it; Enter to go on.", zh="也可以给出记录它的文件或目录；按回车继续。")
_MANY = Text(
    en="Numbers of all that are so (1 3); 0 for none of these; Enter if you do not know; or a sentence, or a file name.",
    zh="输入所有符合的编号（如 1 3）；都不是请输入 0；不知道请按回车；也可以输入一句话或文件名。",
)
_RUN = Text(en="Can you run this?", zh="能运行这条命令吗？")
_CAPITALS = Text(
    en="words in capitals are yours to fill in; a log you have already will do", zh="大写的词由你填写；已有的日志也可以"
)
_PASTE = Text(
    en="Paste its output and end it with a line that holds only a dot; or name a file that holds it; Enter if you cannot.",
    zh="粘贴输出，以只含一个点的行结束；或给出保存它的文件名；做不到请按回车。",
)
