"""Name what limits a job or a service, from logs, measurements, configuration, prose, or this machine."""

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal

import msgspec

import wirespeed
from wirespeed.archive.casefile import write_case
from wirespeed.archive.redact import redacted
from wirespeed.archive.store import Run
from wirespeed.diagnosis import rules
from wirespeed.diagnosis.judge import Judged, judge_all, record_type
from wirespeed.diagnosis.rank import explained_by, ranked
from wirespeed.machines.local import Local
from wirespeed.machines.opening import open_inputs
from wirespeed.machines.recording import Recording
from wirespeed.model import shelf
from wirespeed.model.case import Case
from wirespeed.model.document import AnyBlock, Bar, BarChart, Document, FactList, FindingBlock, Grid, Headline, Prose, Steps, Tone
from wirespeed.model.errors import CouldNot
from wirespeed.model.finding import Change, Check, Evidence, Finding, Severity, ShownEvidence
from wirespeed.model.kinds import Option, Reader, Rule
from wirespeed.model.labels import MEANINGS, Label
from wirespeed.model.lines import QUESTION_PATH, Lines, MemoryLines
from wirespeed.model.record import Record
from wirespeed.model.run import Manifest, Reply
from wirespeed.model.source import Problem
from wirespeed.model.text import Text, same
from wirespeed.readers import tools
from wirespeed.readers.recognise import read_all
from wirespeed.report import words
from wirespeed.report.numbers import all_printed
from wirespeed.report.ways import way_of
from wirespeed.verbs._look import guarded, machine_in, observe, without_identities

SCHEMA = "wirespeed/diagnose/1"
QUESTION_NAME = "question.txt"
"""An input of this name is what the user asks, not what happened."""
SEVERITIES: tuple[Severity, ...] = ("high", "medium", "low", "info")
_VOICES = ("machine", "loose", "prose")
"""An input is named after the reader whose lines are surest to be its own."""
MOST_QUOTES = 6
"""Quotes shown for one piece of evidence; more repeat the same."""
LEADING_RATIO = 0.5
"""From this confidence on a finding may decide whether the network is the limit."""
MOST_NEXT_STEPS = 4
SHOWN_IN_FULL = 3
"""Findings that text and page show in full at most; the others stand in the list (JSON has all)."""


class Options(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What to diagnose and for whom."""

    inputs: Annotated[
        tuple[str, ...],
        Option(
            help=Text(
                en="files, directories, archives, saved cases or - for standard input; nothing means this machine",
                zh="文件、目录、归档、保存的案例，或 - 表示标准输入；不给则诊断本机",
            ),
            is_argument=True,
            metavar="INPUT",
        ),
    ] = ()
    question: Annotated[
        str,
        Option(
            help=Text(
                en="what you want to know, in your words (or a file question.txt in the directory)",
                zh="用自己的话提出的问题（或目录中的 question.txt）",
            ),
            metavar="TEXT",
        ),
    ] = ""
    side: Annotated[
        Literal["training", "serving"] | None,
        Option(
            help=Text(en="show the fix for this side only", zh="只显示该侧的修复方法"),
            flags=("--for",),
            choices=("training", "serving"),
        ),
    ] = None
    save: Annotated[
        str | None,
        Option(
            help=Text(
                en="write everything that was read as one case file, secrets redacted",
                zh="把读到的一切写成一个案例文件，密钥已隐去",
            ),
            metavar="FILE",
        ),
    ] = None
    fail_on: Annotated[
        Severity | None,
        Option(
            help=Text(en="exit with 1 when a finding is at least this severe", zh="有不低于该级别的结论时以 1 退出"),
            choices=SEVERITIES,
        ),
    ] = None


class Unknown(msgspec.Struct, frozen=True, kw_only=True):
    """A cause that could not be judged, how far it is suspected, what is missing and which commands would settle it."""

    cause: Label
    rule: str
    suspicion_ratio: float
    missing: tuple[str, ...]
    would_settle: tuple[str, ...]


class Input(msgspec.Struct, frozen=True, kw_only=True):
    """One text that was read: the reader that got most of it, the others, and how many records it gave."""

    path: str
    recognised_as: str
    also: tuple[str, ...] = ()
    records: int


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """The answer of `diagnose`; its JSON is the contract `wirespeed/diagnose/1`."""

    schema: str = SCHEMA
    findings: tuple[Finding, ...]
    network_is_the_limit: bool | None
    unknown: tuple[Unknown, ...]
    problems: tuple[Problem, ...]
    inputs: tuple[Input, ...]


def run(options: Options) -> Answer:
    """Read everything, judge every cause, order what was found. Raises nothing for bad input: that becomes a problem."""
    gathered = _Gathered(shelf.every(tools, Reader))
    gathered.question = options.question
    if not options.inputs:
        gathered.look(Recording(Local()), "this machine")
    for path in options.inputs:
        machine, problems = machine_in(path)
        gathered.problems.extend(problems)
        if machine is not None:
            gathered.look(Recording(machine), path)
        for opened in open_inputs((path,)):
            if machine is None or not _is_of_machine(opened, path):
                gathered.take(opened)
    gathered.ask()
    if options.save is not None:
        gathered.save(Path(options.save))
    return _answer(Case(gathered.records, gathered.question, gathered.texts), gathered, options)


def _is_of_machine(opened: Lines | Problem, root: str) -> bool:
    """Whether a text is one of a captured machine's own files, which the collectors read."""
    if isinstance(opened, Problem):
        return False
    inside = Path(opened.path).relative_to(root) if Path(opened.path).is_relative_to(root) else Path()
    return inside.parts[:1] in (("proc",), ("sys",), ("etc",), ("dev",))


def exit_code(answer: Answer, options: Options) -> int:
    """1 when a finding that is more likely than not is at or above the severity asked for; 3 when nothing could be read; else 0."""
    if options.inputs and not answer.inputs:
        return 3
    if options.fail_on is None:
        return 0
    severe = SEVERITIES[: SEVERITIES.index(options.fail_on) + 1]
    likely = [finding for finding in answer.findings if finding.confidence_ratio >= LEADING_RATIO]
    return int(any(finding.severity in severe for finding in likely))


class _Gathered:
    """Records and problems of all inputs as they are read, and the raw bytes they were read from."""

    def __init__(self, readers: Mapping[str, Reader]) -> None:
        self.readers = readers
        self.question = ""
        self.records: list[Record] = []
        self.problems: list[Problem] = []
        self.inputs: list[Input] = []
        self.texts: dict[str, str] = {}
        self._opened: list[Lines] = []
        self._machines: list[Recording] = []

    def look(self, machine: Recording, name: str) -> None:
        """Take in the facts of a machine."""
        items = observe(machine)
        found = [item for item in items if isinstance(item, Record)]
        self.records.extend(found)
        self.problems.extend(item for item in items if isinstance(item, Problem) and item.reason is None)
        self.inputs.append(Input(path=name, recognised_as="machine", records=len(found)))
        self._machines.append(machine)

    def take(self, opened: Lines | Problem) -> None:
        """Take in one text: the question, or something to read."""
        if isinstance(opened, Problem):
            self.problems.append(opened)
        elif Path(opened.path.rpartition("!")[2]).name == QUESTION_NAME:
            self.question = self.question or (opened.whole() or "").strip()
        else:
            self.read(opened)

    def read(self, lines: Lines) -> None:
        """Read one text with every reader that knows it."""
        self._opened.append(lines)
        counts: Counter[str] = Counter()
        self.texts[lines.path] = lines.sample
        for name, item in read_all(lines, self.readers, guarded):
            if isinstance(item, Problem):
                self.problems.append(item)
            else:
                self.records.append(item)
                counts[name] += 1
        names = sorted(counts, key=lambda name: (_VOICES.index(self.readers[name].voice), -counts[name], name))
        main = names[0] if names else "unknown"
        self.inputs.append(Input(path=lines.path, recognised_as=main, also=tuple(names[1:]), records=counts.total()))

    def ask(self) -> None:
        """Take in what the user says in the question."""
        if self.question:
            asked = read_all(MemoryLines(self.question, QUESTION_PATH), self.readers, guarded)
            self.records.extend(item for _, item in asked if isinstance(item, Record))

    def save(self, place: Path) -> None:
        """Write all of it as one case file, secrets replaced. Raises CouldNot where that fails."""
        replies = [reply for machine in self._machines for reply in machine.replies]
        replies += [_given(lines.path, lines.whole() or "") for lines in self._opened]
        if self.question:
            replies.append(_given(QUESTION_NAME, self.question))
        host = next((machine.host for machine in self._machines), None)
        manifest = Manifest(wirespeed_version=wirespeed.__version__, host=host)
        kept = Run(manifest=manifest, replies=tuple(replies), records=(*self.records, *self.problems))
        try:
            write_case(redacted(kept, identities=False, rewrite=without_identities), place)
        except FileExistsError as error:
            raise CouldNot(Text(en=f"{place} is there already, and is not overwritten", zh=f"{place} 已存在，不会覆盖")) from error
        except OSError as error:
            raise CouldNot(
                Text(en=f"{place} cannot be written: {error.strerror}", zh=f"{place} 无法写入：{error.strerror}")
            ) from error


def _given(path: str, text: str) -> Reply:
    """A text the user gave, under its name without the folders: those are nobody's business."""
    return Reply(kind="input", request=Path(path.rpartition("!")[2]).name, content=text.encode())


def _answer(case: Case, gathered: _Gathered, options: Options) -> Answer:
    judged = judge_all(shelf.every(rules, Rule), case)
    findings = tuple(_finding(one, same_cause, judged, options.side) for one, same_cause in ranked(judged))
    return Answer(
        findings=findings,
        network_is_the_limit=_network_is_the_limit(findings),
        unknown=tuple(
            _unknown(one, gathered.readers)
            for one in sorted(judged, key=lambda one: -one.confidence_ratio)
            if one.state == "unknown"
        ),
        problems=tuple(gathered.problems),
        inputs=tuple(gathered.inputs),
    )


def _finding(one: Judged, same_cause: tuple[Judged, ...], judged: tuple[Judged, ...], side: str | None) -> Finding:
    rule = one.rule
    shown = all_printed(one.verdict.values)
    evidence = [*one.verdict.evidence, *(extra for other in same_cause for extra in other.verdict.evidence)]
    present = [other for other in judged if other.state == "present"]
    return Finding(
        cause=rule.cause,
        rule=one.rule_id,
        also=tuple(other.rule_id for other in same_cause),
        explains=tuple(dict.fromkeys(explained_by(one, present))),
        confidence_ratio=round(one.confidence_ratio, 3),
        severity=rule.severity,
        title=rule.title.filled(shown),
        summary=rule.summary.filled(shown),
        evidence=tuple(_shown(each) for each in sorted(evidence, key=lambda each: -abs(each.weight_nats))),
        told_apart_from=rule.told_apart_from,
        gain=rule.gain.filled(shown),
        changes=tuple(_filled_change(each, shown) for each in rule.changes if side is None or each.side in ("both", side)),
        checks=tuple(Check(what=each.what.filled(shown), commands=_filled_all(each.commands, shown)) for each in rule.checks),
    )


def _filled_change(change: Change, shown: Mapping[str, str]) -> Change:
    return Change(what=change.what.filled(shown), commands=_filled_all(change.commands, shown), side=change.side, risk=change.risk)


def _filled_all(commands: tuple[str, ...], shown: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(command.format_map(shown) for command in commands)


def _shown(one: Evidence) -> ShownEvidence:
    quotes = one.quotes or tuple(quote for record in one.records for quote in record.quotes)
    unique = tuple(dict.fromkeys(quote for quote in quotes if quote.source != QUESTION_PATH))
    return ShownEvidence(
        says=one.says.filled(all_printed(one.values)),
        bears="for" if one.weight_nats > 0 else "against",
        weight_nats=one.weight_nats,
        values=one.values,
        quotes=unique[:MOST_QUOTES],
    )


def _unknown(one: Judged, readers: Mapping[str, Reader]) -> Unknown:
    wanted = tuple(dict.fromkeys(record_type(need) for need in one.missing))
    obtained = (
        command for kind in wanted for reader in readers.values() if kind in reader.gives for command in reader.obtained_by[:1]
    )
    commands = dict.fromkeys((*one.rule.settled_by, *obtained))
    return Unknown(
        cause=one.rule.cause,
        rule=one.rule_id,
        suspicion_ratio=round(one.confidence_ratio, 3),
        missing=tuple(kind.__name__ for kind in wanted),
        would_settle=tuple(commands)[:3],
    )


def _network_is_the_limit(findings: tuple[Finding, ...]) -> bool | None:
    """What the surest finding says of the network; None when nothing is sure enough or it does not decide."""
    leading = [one for one in findings if one.confidence_ratio >= LEADING_RATIO and MEANINGS[one.cause].bearing != "neither"]
    return None if not leading else MEANINGS[leading[0].cause].bearing == "network"


def present(answer: Answer, options: Options) -> Document:
    """The answer as blocks: what it is, where it sits, how sure, the proof, the fix, and what is not known."""
    blocks: list[AnyBlock] = [_headline(answer), Prose(text=_network_sentence(answer))]
    causes = tuple((one.cause, _tone(one)) for one in _told(answer.findings))
    if (drawn := way_of(causes)) is not None:
        blocks.append(drawn)
    if answer.findings:
        blocks.append(_how_sure(answer.findings))
    blocks.extend(FindingBlock(finding=finding, rank_number=rank) for rank, finding in enumerate(_told(answer.findings), 1))
    blocks.extend(_not_known(answer))
    blocks.extend(_what_was_read(answer))
    return Document(title=Text(en="wirespeed diagnosis", zh="wirespeed 诊断"), blocks=tuple(blocks))


def _told(findings: tuple[Finding, ...]) -> tuple[Finding, ...]:
    """The findings worth telling in full: the first, and further ones that are more likely than not."""
    return findings[:1] + tuple(one for one in findings[1:SHOWN_IN_FULL] if one.confidence_ratio >= LEADING_RATIO)


def _headline(answer: Answer) -> Headline:
    if not answer.findings:
        return Headline(text=Text(en="No cause found in what was given", zh="在所给材料中没有找到原因"), tone="plain")
    best = answer.findings[0]
    if best.confidence_ratio < LEADING_RATIO:
        said = f"{best.confidence_ratio:.0%}"
        text = Text(en=f"Not sure; perhaps ({said}): {best.title.en}", zh=f"不确定；可能（{said}）：{best.title.zh}")
        return Headline(text=text, tone="plain")
    return Headline(text=best.title, tone="good" if best.cause.startswith("no-fault") else _tone(best))


def _network_sentence(answer: Answer) -> Text:
    match answer.network_is_the_limit:
        case True:
            return Text(
                en="The network (a link, path, transport or its set-up) is the limit.",
                zh="瓶颈在网络（链路、路径、传输或其配置）。",
            )
        case False:
            return Text(en="The network is not the limit.", zh="瓶颈不在网络。")
    return Text(en="Whether the network is the limit is not decided by this evidence.", zh="现有证据尚不能判定瓶颈是否在网络。")


def _tone(finding: Finding) -> Tone:
    return words.TONE_OF_SEVERITY[finding.severity]


def _how_sure(findings: tuple[Finding, ...]) -> BarChart:
    bars = tuple(
        Bar(label=same(one.cause), share_ratio=one.confidence_ratio, note=one.title, tone=_tone(one)) for one in findings[:8]
    )
    return BarChart(title=Text(en="How sure each cause is", zh="各原因的把握"), bars=bars)


def _not_known(answer: Answer) -> list[AnyBlock]:
    """Commands that would decide most of what could not be judged: suspected causes first, then by how many they decide."""
    decided: dict[str, list[Unknown]] = {}
    for one in answer.unknown:
        for command in one.would_settle[:1]:
            decided.setdefault(command, []).append(one)
    if not decided:
        return []
    telling = sorted(decided, key=lambda command: (-sum(one.suspicion_ratio for one in decided[command]), -len(decided[command])))
    steps = tuple((_would_decide(decided[command]), (command,)) for command in telling[:MOST_NEXT_STEPS])
    return [Steps(title=Text(en="What would tell more", zh="还可以收集"), steps=steps)]


def _would_decide(causes: list[Unknown]) -> Text:
    named = list(dict.fromkeys(one.cause for one in causes))
    shown = ", ".join(named[:3]) + (" ..." if len(named) > 3 else "")
    return Text(en=f"to judge {len(named)} more causes: {shown}", zh=f"可再判定 {len(named)} 个原因：{shown}")


def _what_was_read(answer: Answer) -> list[AnyBlock]:
    blocks: list[AnyBlock] = []
    if answer.inputs:
        columns = (Text(en="input", zh="输入"), Text(en="read as", zh="识别为"), Text(en="records", zh="记录数"))
        rows = tuple(
            (same(one.path), same(", ".join((one.recognised_as, *one.also))), same(str(one.records))) for one in answer.inputs
        )
        blocks.append(Grid(columns=columns, rows=rows))
    if answer.problems:
        blocks.append(FactList(rows=tuple((same(_where(problem)), problem.why) for problem in answer.problems[:20])))
    return blocks


def _where(problem: Problem) -> str:
    return problem.source.path if problem.line_index is None else f"{problem.source.path}:{problem.line_index + 1}"
