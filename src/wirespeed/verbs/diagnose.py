"""Name what limits a job or a service, from logs, measurements, configuration, prose, or this machine."""

from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Annotated, Literal

import msgspec

from wirespeed.diagnosis import rules
from wirespeed.diagnosis.judge import PRESENT_AT, Judged, judge_all, judge_rule, record_type
from wirespeed.diagnosis.rank import explained_by, ranked
from wirespeed.emulation.state import DEFAULT_NAME
from wirespeed.model import shelf
from wirespeed.model.case import Case
from wirespeed.model.document import AnyBlock, Bar, BarChart, Document, FindingBlock, Grid, Headline, Prose, Steps, Tone
from wirespeed.model.finding import Evidence, Finding, Severity, ShownEvidence, Verdict
from wirespeed.model.kinds import Option, Reader, Rule
from wirespeed.model.labels import MEANINGS, Label
from wirespeed.model.lines import QUESTION_PATH
from wirespeed.model.measurement import PortProbe
from wirespeed.model.progress import Progress, unheard
from wirespeed.model.secrets import REDACTED, spread_secrets, without_secrets
from wirespeed.model.source import Problem, Quote, Source
from wirespeed.model.text import Text, same
from wirespeed.readers import tools
from wirespeed.report import words
from wirespeed.report.numbers import all_printed
from wirespeed.report.plain import visible
from wirespeed.report.verdict import filled_change, filled_check
from wirespeed.report.ways import way_of
from wirespeed.verbs._durations import asked_s
from wirespeed.verbs._gathered import Gathered, Input, check_target, fresh_lines
from wirespeed.verbs._live import Step, look, way_taken
from wirespeed.verbs._measure import Fleet
from wirespeed.verbs._peers import asked_peers
from wirespeed.verbs._this_host import this_host
from wirespeed.verbs.peer import TOKEN_VARIABLE

SCHEMA = "wirespeed/diagnose/1"
SEVERITIES: tuple[Severity, ...] = ("high", "medium", "low", "info")
MOST_QUOTES = 6
"""Quotes shown for one piece of evidence; more repeat the same."""
LEADING_RATIO = 0.5
"""From this confidence on a finding may decide whether the network is the limit."""
MOST_NEXT_STEPS = 4
NO_TIME = ("0", "0s")
LONGEST_S = 3600.0
PATIENCE_S = 30.0
"""Responders outlive the budget by so much at most: the last measurement may end late."""
MOST_PROBLEMS = 12
MOST_INPUTS = 40
"""Inputs that text and page list; JSON has all."""
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
    lab: Annotated[
        bool,
        Option(
            help=Text(
                en="diagnose the hosts of the lab: look, then measure what tells the remaining causes apart",
                zh="诊断实验室中的主机：先查看，再测量能区分剩余原因的内容",
            )
        ),
    ] = False
    name: Annotated[str, Option(help=Text(en="which lab", zh="哪个实验室"), metavar="NAME")] = DEFAULT_NAME
    peers: Annotated[
        tuple[str, ...],
        Option(
            help=Text(
                en="also measure the path to this host, where `wirespeed peer` runs (repeatable)",
                zh="同时测量到该主机的路径，其上运行 `wirespeed peer`（可重复）",
            ),
            flags=("--peer",),
            metavar="HOST[:PORT]",
        ),
    ] = ()
    token: Annotated[
        str | None,
        Option(
            help=Text(en=f"of the peers; or in {TOKEN_VARIABLE}", zh=f"对端的口令；也可放在 {TOKEN_VARIABLE} 中"), metavar="TOKEN"
        ),
    ] = None
    budget: Annotated[
        str,
        Option(
            help=Text(
                en="longest time for looking at what lives; 0 takes its facts only",
                zh="查看与测量运行中系统的最长时间；0 表示只看配置",
            ),
            metavar="60s",
        ),
    ] = "60s"
    fail_on: Annotated[
        Severity | None,
        Option(
            help=Text(
                en="exit with 1 when a finding that is more likely than not is at least this severe",
                zh="有把握过半且不低于该级别的结论时以 1 退出",
            ),
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


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """The answer of `diagnose`; its JSON is the contract `wirespeed/diagnose/1`."""

    schema: str = SCHEMA
    findings: tuple[Finding, ...]
    network_is_the_limit: bool | None
    unknown: tuple[Unknown, ...]
    problems: tuple[Problem, ...]
    inputs: tuple[Input, ...]
    unread: tuple[str, ...] = ()
    """Inputs that were named and of which nothing could be read."""
    saved: str | None = None
    steps: tuple[Step, ...] = ()
    """Measurements that a live diagnosis made, in order, each with its reason."""


def run(options: Options, progress: Progress = unheard) -> Answer:
    """Read everything, judge every cause, order what was found. Bad input becomes a problem; raises CouldNot where a lab is asked for and none lives."""
    return examine(options, progress)[0]


def examine(options: Options, progress: Progress = unheard) -> tuple[Answer, Case]:
    """The same, with all that was read and measured."""
    if options.save is not None:
        check_target(Path(options.save))
    gathered = Gathered(shelf.every(tools, Reader))
    gathered.question = options.question
    if options.inputs or not options.lab:
        gathered.gather(options.inputs)
    gathered.ask()
    steps = _look(gathered, options, progress) if options.lab or options.peers or not options.inputs else ()
    if options.save is not None:
        gathered.save(Path(options.save))
    case = Case(gathered.records, gathered.question, gathered.texts)
    return _answer(case, gathered, options, steps), case


def _look(gathered: Gathered, options: Options, progress: Progress) -> tuple[Step, ...]:
    """Look at what lives, and measure. No time means that the facts, which are gathered already, have to do."""
    budget_s = 0.0 if options.budget in NO_TIME else asked_s(options.budget, "--budget", most_s=LONGEST_S)
    if not options.lab and not budget_s:
        return ()
    with _fleet(options, budget_s + PATIENCE_S) as fleet:
        looked = look(
            fleet,
            gathered.records,
            budget_s,
            lambda case: _judged_all(case, gathered.problems),
            progress,
            has_facts=not options.lab and not options.inputs,
        )
    for log in fleet.logs:
        gathered.take(fresh_lines(log))
    gathered.take_measured(f"{options.name}.jsonl" if options.lab else "measured.jsonl", looked.records, looked.problems)
    lost = {one.source.host for one in looked.problems if one.source.tool == "agent"}
    if lost >= {host.name for host in fleet.everything}:
        gathered.unread.append(f"lab {options.name}" if options.lab else "this machine")
    for peer in fleet.peers:
        if not any(
            isinstance(one, PortProbe) and one.target in peer.addresses and one.outcome == "connected" for one in looked.records
        ):
            gathered.problems.append(Problem(source=Source(tool="peer", path=peer.name), why=_NO_PEER))
            gathered.unread.append(peer.name)
    return tuple(looked.steps)


_NO_PEER = Text(en="does not answer; is `wirespeed peer` running there?", zh="没有应答；那里是否在运行 `wirespeed peer`？")


def _fleet(options: Options, for_s: float) -> AbstractContextManager[Fleet]:
    """The lab's hosts, or this one."""
    if not options.lab:
        return nullcontext(this_host(*asked_peers(options.peers, options.token)))
    from wirespeed.verbs._lab_hosts import lab_fleet

    return lab_fleet(options.name, for_s)


def _judged_all(case: Case, problems: list[Problem]) -> tuple[Judged, ...]:
    return judge_all(shelf.every(rules, Rule), case, lambda name, rule, case: _judged(name, rule, case, problems))


def exit_code(answer: Answer, options: Options) -> int:
    """3 when an input that was named could not be read; 1 when a finding that is more likely than not is severe enough; else 0."""
    if answer.unread:
        return 3
    if options.fail_on is None:
        return 0
    severe = SEVERITIES[: SEVERITIES.index(options.fail_on) + 1]
    likely = [finding for finding in answer.findings if finding.confidence_ratio >= LEADING_RATIO]
    return int(any(finding.severity in severe for finding in likely))


def _answer(case: Case, gathered: Gathered, options: Options, steps: tuple[Step, ...] = ()) -> Answer:
    judged = _judged_all(case, gathered.problems)
    findings = _without(
        frozenset(word for text in gathered.texts.values() for word in spread_secrets(text)),
        tuple(_finding(one, same_cause, judged, options.side) for one, same_cause in ranked(judged)),
    )
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
        unread=tuple(gathered.unread),
        saved=options.save,
        steps=steps,
    )


def _judged(name: str, rule: Rule, case: Case, problems: list[Problem]) -> Judged:
    """Judge one rule; should it fail, that is a problem, its cause is unknown, and the other rules go on."""
    try:
        return judge_rule(name, rule, case)
    except Exception as error:  # noqa: BLE001 - one rule's mistake must not cost the user every other finding
        said = f"{type(error).__name__}: {error}"
        why = Text(en=f"our mistake while judging: {said}", zh=f"判断时出现内部错误：{said}")
        problems.append(Problem(source=Source(tool="rule", path=name), why=why))
        return Judged(rule_id=name, rule=rule, state="unknown", verdict=Verdict(), confidence_ratio=0.0)


def _finding(one: Judged, same_cause: tuple[Judged, ...], judged: tuple[Judged, ...], side: str | None) -> Finding:
    rule = one.rule
    shown = all_printed(one.verdict.values)
    evidence = [*one.verdict.evidence, *(extra for other in same_cause for extra in other.verdict.evidence)]
    present = [other for other in judged if other.state == "present"]
    return Finding(
        cause=rule.cause,
        rule=one.rule_id,
        also=tuple(other.rule_id for other in same_cause),
        explains=tuple(dict.fromkeys(explained_by(one, present))) if one.state == "present" else (),
        confidence_ratio=round(one.confidence_ratio, 3),
        severity=rule.severity,
        title=rule.title.filled(shown),
        summary=rule.summary.filled(shown),
        evidence=tuple(_shown(each) for each in sorted(evidence, key=_order)),
        told_apart_from=rule.told_apart_from,
        gain=rule.gain.filled(shown),
        changes=tuple(filled_change(each, shown) for each in rule.changes if side is None or each.side in ("both", side)),
        checks=tuple(filled_check(each, shown) for each in rule.checks),
    )


def _order(evidence: Evidence) -> tuple[bool, float]:
    """What rests on records first, weightiest first; mere wording last."""
    return not evidence.records, -abs(evidence.weight_nats)


def _without(secrets: frozenset[str], findings: tuple[Finding, ...]) -> tuple[Finding, ...]:
    """The findings without secrets whose name stands on another line than they do: no quote of one line shows what it holds."""
    if not secrets:
        return findings
    encoded = msgspec.json.encode(findings)
    for secret in secrets:
        encoded = encoded.replace(msgspec.json.encode(secret)[1:-1], REDACTED.encode())
    return msgspec.json.decode(encoded, type=tuple[Finding, ...])


def _shown(one: Evidence) -> ShownEvidence:
    quotes = one.quotes or tuple(quote for record in one.records for quote in record.quotes)
    unique = tuple(dict.fromkeys(_safe(quote) for quote in quotes if quote.source != QUESTION_PATH))
    return ShownEvidence(
        says=one.says.filled(all_printed(one.values)),
        bears="for" if one.weight_nats > 0 else "against",
        weight_nats=one.weight_nats,
        values=one.values,
        quotes=unique[:MOST_QUOTES],
    )


def _safe(quote: Quote) -> Quote:
    """The quote as it stands in the input, but for passwords, tokens and keys: answers are pasted everywhere."""
    return Quote(source=quote.source, line_index=quote.line_index, text=without_secrets(quote.text))


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
    blocks: list[AnyBlock] = [_headline(answer), Prose(text=_network_sentence(answer)), *_troubles(answer)]
    causes = tuple((one.cause, _tone(one)) for one in _told(answer.findings))
    if (drawn := way_of(causes)) is not None:
        blocks.append(drawn)
    if answer.findings:
        blocks.append(_how_sure(answer.findings))
    blocks.extend(FindingBlock(finding=finding, rank_number=rank) for rank, finding in enumerate(_told(answer.findings), 1))
    blocks.extend(_not_known(answer))
    blocks.extend(way_taken(answer.steps))
    blocks.extend(_what_was_read(answer))
    return Document(title=Text(en="wirespeed diagnosis", zh="wirespeed 诊断"), blocks=tuple(blocks))


def _troubles(answer: Answer) -> list[AnyBlock]:
    """What could not be read, said before anything is concluded."""
    blocks: list[AnyBlock] = []
    if answer.inputs and not any(one.records for one in answer.inputs):
        blocks.append(Prose(text=Text(en="Nothing in what was given was understood.", zh="所给材料均未能识别。")))
    for problem in answer.problems[:MOST_PROBLEMS]:
        where = _where(problem)
        blocks.append(Prose(text=Text(en=f"! {where}: {problem.why.en}", zh=f"! {where}：{problem.why.zh}")))
    if len(answer.problems) > MOST_PROBLEMS:
        more = len(answer.problems) - MOST_PROBLEMS
        blocks.append(Prose(text=Text(en=f"! {more} more problems in the JSON answer", zh=f"! 另有 {more} 个问题见 JSON 输出")))
    return blocks


def _told(findings: tuple[Finding, ...]) -> tuple[Finding, ...]:
    """The findings worth telling in full: the first that is present, and further ones that are more likely than not."""
    if findings and findings[0].confidence_ratio < PRESENT_AT:
        return ()
    return findings[:1] + tuple(one for one in findings[1:SHOWN_IN_FULL] if one.confidence_ratio >= LEADING_RATIO)


def _headline(answer: Answer) -> Headline:
    if answer.unread and not any(one.records for one in answer.inputs):
        return Headline(text=Text(en="Nothing could be read", zh="没有可读取的内容"), tone="warn")
    if not answer.findings:
        return Headline(text=Text(en="No cause found in what was given", zh="在所给材料中没有找到原因"), tone="plain")
    best = answer.findings[0]
    if best.confidence_ratio < PRESENT_AT:
        return Headline(text=Text(en="No cause found; weak hints follow", zh="没有找到原因；以下仅为弱线索"), tone="plain")
    if best.confidence_ratio < LEADING_RATIO:
        said = f"{best.confidence_ratio:.0%}"
        text = Text(en=f"Not sure; perhaps ({said}): {best.title.en}", zh=f"不确定；可能（{said}）：{best.title.zh}")
        return Headline(text=text, tone="plain")
    return Headline(text=best.title, tone="good" if best.cause.startswith("no-fault") else _tone(best))


def _network_sentence(answer: Answer) -> Text:
    match answer.network_is_the_limit:
        case True:
            return Text(
                en="The network is the limit: a link, a path, a transport, or how one of them is set up.",
                zh="瓶颈在网络：链路、路径、传输，或其配置。",
            )
        case False:
            return Text(en="The network itself is not the limit.", zh="瓶颈不在网络本身。")
    return Text(en="Whether the network is the limit is not decided by this evidence.", zh="现有证据尚不能判定瓶颈是否在网络。")


def _tone(finding: Finding) -> Tone:
    return words.TONE_OF_SEVERITY[finding.severity]


def _how_sure(findings: tuple[Finding, ...]) -> BarChart:
    bars = tuple(
        Bar(label=same(one.cause), share_ratio=one.confidence_ratio, note=_note(one), tone=_bar_tone(one)) for one in findings[:8]
    )
    return BarChart(title=Text(en="How sure each cause is", zh="各原因的把握"), bars=bars)


def _bar_tone(finding: Finding) -> Tone:
    return _tone(finding) if finding.confidence_ratio >= LEADING_RATIO else "plain"


def _note(finding: Finding) -> Text:
    """The title, and what else the finding explains: such causes come first although others may be surer."""
    if not finding.explains:
        return finding.title
    named = ", ".join(finding.explains)
    return Text(en=f"{finding.title.en} (explains {named})", zh=f"{finding.title.zh}（解释了 {named}）")


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
            (same(visible(one.path)), same(", ".join((one.recognised_as, *one.also))), same(str(one.records)))
            for one in answer.inputs[:MOST_INPUTS]
        )
        blocks.append(Grid(columns=columns, rows=rows))
    if answer.saved:
        blocks.append(Prose(text=Text(en=f"Saved as {answer.saved}", zh=f"已保存为 {answer.saved}")))
    return blocks


def _where(problem: Problem) -> str:
    path = visible(problem.source.path)
    return path if problem.line_index is None else f"{path}:{problem.line_index + 1}"
