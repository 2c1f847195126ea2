"""Compare two runs: what changed in the facts, and which figures moved by more than chance and by more than matters."""

import math
from pathlib import Path
from typing import Annotated, Literal

import msgspec

from wirespeed.diagnosis.changed_facts import DAMAGE, changed_facts
from wirespeed.diagnosis.comparison import compared
from wirespeed.model.comparison import FactChange, FieldChange, FigureChange
from wirespeed.model.document import AnyBlock, Difference, Document, FactList, Grid, Headline, Prose, Span
from wirespeed.model.errors import BadRequest
from wirespeed.model.kinds import Option
from wirespeed.model.source import Problem
from wirespeed.model.text import Text, same
from wirespeed.report.numbers import in_unit, printed
from wirespeed.verbs.runs._shared import WHERE, Opened, Told, folder_of, opened, told

SCHEMA = "wirespeed/runs-compare/1"
MOST_FACTS = 40
MOST_MOVERS = 15
MOST_UNCLEAR = 5
"""Rows that text and page show; JSON has all."""
FULL_SCALE_TIMES = 100.0
"""A difference this many times what matters fills the picture; places between are as the inverse hyperbolic sine."""
MOST_FIELDS = 4


class Options(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which two runs."""

    inputs: Annotated[
        tuple[str, ...],
        Option(
            help=Text(
                en="two runs, the earlier state first: a name, a prefix of it, last, last~1, or a path",
                zh="两个运行，较早的在前：名称或其前缀、last、last~1，或路径",
            ),
            is_argument=True,
            metavar="BEFORE AFTER",
        ),
    ] = ()
    runs: Annotated[str | None, WHERE] = None
    fail_on: Annotated[
        Literal["moved", "changed", "any"] | None,
        Option(
            help=Text(
                en="exit with 1 when a figure moved, a fact changed, or any of both",
                zh="若有指标变动（moved）、配置变化（changed）或任一情况（any），则以 1 退出",
            ),
            choices=("moved", "changed", "any"),
        ),
    ] = None


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """The answer of `runs compare`; its JSON is the contract `wirespeed/runs-compare/1`.

    `figures` are in order: what moved, most first; what cannot be told; what stood still. Figures without any difference are left out.
    """

    schema: str = SCHEMA
    before: Told
    after: Told
    notes: tuple[Text, ...]
    """What to keep in mind: different hosts, replaced identities, a missing recording."""
    facts: tuple[FactChange, ...]
    figures: tuple[FigureChange, ...]
    moved_count: int
    unknown_count: int
    still_count: int
    problems: tuple[Problem, ...]


def run(options: Options) -> Answer:
    """Open both and compare. Raises BadRequest where a name means no run, CouldNot where one cannot be read."""
    if len(options.inputs) != 2:
        raise BadRequest(
            Text(en=f"two runs are compared; {len(options.inputs)} were named", zh=f"需要两个运行；给出了 {len(options.inputs)} 个")
        )
    folder = folder_of(options.runs)
    before, after = (opened(name, folder) for name in options.inputs)
    return comparison_of(before, after)


def comparison_of(before: Opened, after: Opened) -> Answer:
    """What is different between two opened runs."""
    (old_series, old_lost), (new_series, new_lost) = before.series(), after.series()
    is_redacted = any("identities" in one.run.manifest.redacted for one in (before, after))
    is_same = before.place.resolve() == after.place.resolve()
    facts = changed_facts(
        (*before.run.records, *before.run.problems),
        (*after.run.records, *after.run.problems),
        with_identities=is_same or not is_redacted,
    )
    figures = compared((old_series, before.run.records), (new_series, after.run.records))
    counts = {verdict: sum(one.verdict == verdict for one in figures) for verdict in ("moved", "unknown", "still")}
    has_series = bool(old_series) and bool(new_series)
    return Answer(
        before=told(before),
        after=told(after),
        notes=tuple(_notes(before, after, is_redacted=is_redacted and not is_same, has_series=has_series)),
        facts=facts,
        figures=figures,
        moved_count=counts["moved"],
        unknown_count=counts["unknown"],
        still_count=counts["still"],
        problems=(*_damage(before), *old_lost, *_damage(after), *new_lost),
    )


def _damage(opened_run: Opened) -> list[Problem]:
    """What of a run could not be read; what its machine did not give is no damage."""
    lost = [item for item in opened_run.run.records if isinstance(item, Problem) and item.source.tool == DAMAGE]
    return [*opened_run.run.problems, *lost]


def _notes(before: Opened, after: Opened, *, is_redacted: bool, has_series: bool) -> list[Text]:
    old, new = before.run.manifest, after.run.manifest
    notes: list[Text] = []
    if is_redacted:
        notes.append(
            Text(
                en="names and addresses were replaced in one of the runs, so what rests on them is not compared",
                zh="其中一次运行的名称和地址已被替换，依赖它们的内容不作比较",
            )
        )
    elif old.host and new.host and old.host != new.host:
        notes.append(
            Text(
                en=f"these are runs of different hosts ({old.host} and {new.host})",
                zh=f"这是不同主机的运行（{old.host} 与 {new.host}）",
            )
        )
    if old.started_at_s is not None and new.started_at_s is not None and new.started_at_s < old.started_at_s:
        notes.append(Text(en="the second run is the earlier one by its clock", zh="按各自的时钟，第二个运行更早"))
    if not has_series:
        notes.append(
            Text(
                en="at least one run holds no samples: its series cannot be told to have moved",
                zh="至少一个运行没有样本：无法判断其序列是否变动",
            )
        )
    return notes


def exit_code(answer: Answer, options: Options) -> int:
    """1 where what was asked for is there; 3 where that cannot be told because a run is damaged."""
    if options.fail_on is not None and answer.problems:
        return 3
    has_moved, has_changed = answer.moved_count > 0, bool(answer.facts)
    wanted = options.fail_on
    return int((has_moved and wanted in ("moved", "any")) or (has_changed and wanted in ("changed", "any")))


def present(answer: Answer, options: Options) -> Document:
    """Facts first, then the movers with their intervals, then what cannot be told."""
    blocks: list[AnyBlock] = [_headline(answer), FactList(rows=(_side("before", answer.before), _side("after", answer.after)))]
    blocks.extend(Prose(text=note) for note in answer.notes)
    blocks.extend(_facts(answer))
    blocks.extend(_movers(answer))
    if answer.problems:
        blocks.append(Headline(text=Text(en="What could not be read", zh="无法读取的内容"), level=2))
        blocks.append(FactList(rows=tuple((same(problem.source.path), problem.why) for problem in answer.problems)))
    return Document(title=Text(en="wirespeed comparison of two runs", zh="wirespeed 运行对比"), blocks=tuple(blocks))


def _headline(answer: Answer) -> Headline:
    facts, moved = len(answer.facts), answer.moved_count
    if not facts and not moved:
        return Headline(text=Text(en="Nothing changed and nothing moved", zh="配置无变化，指标无变动"), tone="good")
    changed = Text(en=f"{facts} fact{'s' if facts != 1 else ''} changed", zh=f"{facts} 项配置有变化")
    figures = Text(en=f"{moved} figure{'s' if moved != 1 else ''} moved", zh=f"{moved} 项指标有变动")
    return Headline(text=Text(en=f"{changed.en}, {figures.en}", zh=f"{changed.zh}，{figures.zh}"), tone="warn")


def _side(which: Literal["before", "after"], one: Told) -> tuple[Text, Text]:
    name = {"before": Text(en="before", zh="之前"), "after": Text(en="after", zh="之后")}[which]
    parts = (Path(one.place).name, printed("started_at_s", one.started_at_s), one.host or "", one.made_by)
    return name, same(" · ".join(part for part in parts if part))


def _facts(answer: Answer) -> list[AnyBlock]:
    if not answer.facts:
        return []
    columns = (
        Text(en="fact", zh="配置"),
        Text(en="of", zh="对象"),
        Text(en="field", zh="字段"),
        Text(en="before", zh="之前"),
        Text(en="after", zh="之后"),
    )
    rows = [row for change in answer.facts for row in _fact_rows(change)]
    blocks: list[AnyBlock] = [Headline(text=Text(en="What changed in the facts", zh="配置变化"), level=2)]
    blocks.append(Grid(columns=columns, rows=tuple(rows[:MOST_FACTS])))
    if len(rows) > MOST_FACTS:
        more = len(rows) - MOST_FACTS
        blocks.append(Prose(text=Text(en=f"{more} more in the JSON answer", zh=f"另有 {more} 条见 JSON 输出")))
    return blocks


def _fact_rows(change: FactChange) -> list[tuple[Text, ...]]:
    """A row a field; what came or went is one row with its first fields."""
    if change.change == "changed":
        return [
            (
                same(change.fact),
                same(change.identity),
                same(one.name),
                same(printed(one.name, _word(one.old))),
                same(printed(one.name, _word(one.new))),
            )
            for one in change.fields
        ]
    shown = ", ".join(_field(one, is_new=change.change == "appeared") for one in change.fields[:MOST_FIELDS])
    what = Text(en="appeared", zh="出现") if change.change == "appeared" else Text(en="gone", zh="消失")
    sides = (same("–"), same(shown)) if change.change == "appeared" else (same(shown), same("–"))
    return [(same(change.fact), same(change.identity), what, *sides)]


def _field(one: FieldChange, *, is_new: bool) -> str:
    return f"{one.name} {printed(one.name, _word(one.new if is_new else one.old))}"


def _word(value: object) -> object:
    if isinstance(value, tuple):
        return " ".join(map(str, value)) or "–"
    return "–" if value is None else value


def _movers(answer: Answer) -> list[AnyBlock]:
    moved = [one for one in answer.figures if one.verdict == "moved"]
    unclear = [one for one in answer.figures if one.verdict == "unknown" and abs(one.times_least) >= 1 and _is_worth_showing(one)]
    blocks: list[AnyBlock] = []
    if moved:
        blocks.append(Headline(text=Text(en="What moved in the figures", zh="指标变动"), level=2))
        blocks.append(
            _spans(Text(en="surest and largest first", zh="按确定的变动幅度排序"), _each_once(moved)[:MOST_MOVERS], "warn")
        )
    if unclear:
        blocks.append(Headline(text=Text(en="What cannot be told", zh="无法判断的指标"), level=2))
        blocks.append(
            _spans(Text(en="differs, but may be chance", zh="有差异，但可能是偶然"), _each_once(unclear)[:MOST_UNCLEAR], "plain")
        )
    if answer.figures:
        blocks.append(
            Prose(
                text=Text(
                    en=f"{answer.moved_count} figures moved, {answer.still_count} stood still, {answer.unknown_count} cannot be told; all are in the JSON "
                    f"answer. Intervals are of 95 %; the shaded middle of a picture does not matter.",
                    zh=f"{answer.moved_count} 项变动，{answer.still_count} 项未变，{answer.unknown_count} 项无法判断；全部见 JSON 输出。区间为 95 %；图中间的阴影部分无关紧要。",
                )
            )
        )
    return blocks


def _is_worth_showing(change: FigureChange) -> bool:
    """A measurement always; a series where its interval has ends, since a tail of a few samples differs every time."""
    return change.group == "measurement" or (change.lowest is not None and change.highest is not None)


def _each_once(changes: list[FigureChange]) -> list[FigureChange]:
    """One statistic of each series, the mean where it is among them, at the place of the first."""
    shown: dict[str, FigureChange] = {}
    for one in changes:
        if one.figure not in shown or one.statistic != "p99":
            shown[one.figure] = one
    return list(shown.values())


def _spans(title: Text, changes: list[FigureChange], tone: Literal["warn", "plain"]) -> Difference:
    return Difference(title=title, spans=tuple(_span(one, tone) for one in changes), least_ratio=_place(1.0))


def _span(change: FigureChange, tone: Literal["warn", "plain"]) -> Span:
    low = change.lowest if change.lowest is not None else -math.inf
    high = change.highest if change.highest is not None else math.inf
    label = change.figure if change.statistic in ("mean", "value") else f"{change.figure} {change.statistic}"
    return Span(
        label=same(label),
        before=same(in_unit(change.unit, change.before)),
        after=same(in_unit(change.unit, change.after)),
        change=_change(change),
        low_ratio=_place(low / change.least),
        middle_ratio=_place(change.times_least),
        high_ratio=_place(high / change.least),
        tone=tone,
    )


def _change(change: FigureChange) -> Text:
    """The difference with its interval: both ends, the one that is known, or why there is none."""
    said, low, high = (in_unit(change.unit, value, is_signed=True) for value in (change.difference, change.lowest, change.highest))
    if change.lowest is not None and change.highest is not None:
        return same(f"{said} ({low} … {high})")
    if change.lowest is not None:
        return same(f"{said} (≥ {low})")
    if change.highest is not None:
        return same(f"{said} (≤ {high})")
    return same(said) if change.why is None else Text(en=f"{said} ({change.why.en})", zh=f"{said}（{change.why.zh}）")


def _place(times_least: float) -> float:
    return max(-1.0, min(1.0, math.asinh(times_least) / math.asinh(FULL_SCALE_TIMES)))
