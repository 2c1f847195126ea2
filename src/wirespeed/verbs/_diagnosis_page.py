"""The page of a diagnosis: what it is, where it sits, how sure, what does not fit, the proof, the fix, and what would tell more."""

from collections.abc import Sequence

from wirespeed.diagnosis.calibration import calibrated
from wirespeed.diagnosis.judge import PRESENT_AT
from wirespeed.model.document import AnyBlock, Bar, BarChart, Document, FindingBlock, Grid, Headline, Prose, Steps, Tone
from wirespeed.model.finding import Conflict, Finding
from wirespeed.model.labels import Label
from wirespeed.model.source import Problem
from wirespeed.model.text import Text, same
from wirespeed.report import words
from wirespeed.report.numbers import seconds
from wirespeed.report.plain import visible
from wirespeed.report.ways import way_of
from wirespeed.verbs._diagnosis import LEADING_RATIO, Answer, NextStep
from wirespeed.verbs._live import way_taken

LISTED_RATIO = calibrated(PRESENT_AT)
"""Findings below are weak hints."""
MOST_NEXT_STEPS = 4
"""Commands that text and page show; JSON has more."""
NAMED_COUNT = 3
MOST_CONTRADICTIONS = 5
MOST_PROBLEMS = 12
MOST_INPUTS = 40
"""Inputs that text and page list; JSON has all."""
SHOWN_IN_FULL = 3
"""Findings that text and page show in full at most; the others stand in the list (JSON has all)."""


def page_of(answer: Answer) -> Document:
    """The answer as blocks: what it is, where it sits, how sure, the proof, the fix, and what is not known."""
    blocks: list[AnyBlock] = [_headline(answer), Prose(text=_network_sentence(answer)), *_troubles(answer)]
    causes = tuple((one.cause, _tone(one)) for one in _told(answer.findings))
    if (drawn := way_of(causes)) is not None:
        blocks.append(drawn)
    if answer.findings:
        blocks.append(_how_sure(answer.findings))
    blocks.extend(_contradictions(answer))
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
    if findings and findings[0].confidence_ratio < LISTED_RATIO:
        return ()
    return findings[:1] + tuple(one for one in findings[1:SHOWN_IN_FULL] if one.confidence_ratio >= LEADING_RATIO)


def _headline(answer: Answer) -> Headline:
    if answer.unread and not any(one.records for one in answer.inputs):
        return Headline(text=Text(en="Nothing could be read", zh="没有可读取的内容"), tone="warn")
    if not answer.findings:
        return Headline(text=Text(en="No cause found in what was given", zh="在所给材料中没有找到原因"), tone="plain")
    best = answer.findings[0]
    if best.confidence_ratio < LISTED_RATIO:
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
    """The title, and how it hangs together with other findings: a cause comes before its victim although that may be surer."""
    if finding.explains:
        named = ", ".join(finding.explains)
        return Text(en=f"{finding.title.en} (explains {named})", zh=f"{finding.title.zh}（解释了 {named}）")
    if finding.explained_by:
        named = ", ".join(finding.explained_by)
        return Text(en=f"{finding.title.en} (explained by {named})", zh=f"{finding.title.zh}（可归因于 {named}）")
    return finding.title


def _not_known(answer: Answer) -> list[AnyBlock]:
    """Commands that would tell most for their effort, each with what it would tell."""
    steps = tuple((would_tell(one), (one.command,)) for one in answer.next_steps[:MOST_NEXT_STEPS])
    return [Steps(title=Text(en="What would tell more", zh="还可以收集"), steps=steps)] if steps else []


def would_tell(step: NextStep) -> Text:
    """What a command's output is, how long it takes, and what it would tell."""
    if step.leader is not None and (rivals := [one for one in step.tells_from_leader if one != step.leader]):
        told = Text(en=f"tells {step.leader} from {_named(rivals)}", zh=f"可区分 {step.leader} 与 {_named(rivals)}")
    elif step.leader is not None and step.leader in step.tells_from_leader:
        told = Text(en=f"proves or refutes {step.leader}", zh=f"证实或排除 {step.leader}")
    else:
        told = Text(en=f"bears on {_named(step.bears_on)}", zh=f"涉及 {_named(step.bears_on)}")
    time = seconds(step.takes_s)
    return Text(en=f"{step.title.en}, {time}: {told.en}", zh=f"{step.title.zh}，{time}：{told.zh}")


def _named(causes: Sequence[Label]) -> str:
    return ", ".join(causes[:NAMED_COUNT]) + (" ..." if len(causes) > NAMED_COUNT else "")


def _contradictions(answer: Answer) -> list[AnyBlock]:
    """What does not fit together: likely findings that exclude each other, and what speaks against those that are listed."""
    items = [_conflict(one) for one in answer.conflicts]
    for finding in answer.findings:
        if finding.confidence_ratio >= LISTED_RATIO:
            against = [one.says for one in finding.evidence if one.bears == "against"]
            items.extend(_joined(finding.cause, says) for says in against)
    steps = tuple((item, ()) for item in items[:MOST_CONTRADICTIONS])
    return [Steps(title=Text(en="What does not fit", zh="相互矛盾之处"), steps=steps)] if steps else []


def _conflict(one: Conflict) -> Text:
    first, second = one.causes
    if one.may_both_be:
        return Text(
            en=f"{first} and {second} are easily mistaken for one another: {one.because.en}",
            zh=f"{first} 与 {second} 容易混淆：{one.because.zh}",
        )
    return Text(
        en=f"{first} and {second} cannot both be: {one.because.en}", zh=f"{first} 与 {second} 不能同时成立：{one.because.zh}"
    )


def _joined(cause: Label, says: Text) -> Text:
    return Text(en=f"against {cause}: {says.en}", zh=f"不支持 {cause}：{says.zh}")


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
