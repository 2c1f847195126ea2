"""Show what one run holds: where it comes from, its facts in numbers, its busiest series, its measurements, its problems."""

from collections import Counter
from typing import Annotated

import msgspec

from wirespeed.diagnosis.changed_facts import FACTS
from wirespeed.diagnosis.relevance import least_of_series
from wirespeed.model.document import AnyBlock, Document, FactList, Grid, Headline, Prose
from wirespeed.model.errors import BadRequest
from wirespeed.model.record import Record
from wirespeed.model.series import SeriesSummary
from wirespeed.model.source import Problem
from wirespeed.model.text import Text, same
from wirespeed.report.numbers import in_unit, printed
from wirespeed.verbs.runs._shared import WHERE, WHICH, Told, folder_of, opened, told

SCHEMA = "wirespeed/runs-show/1"
MOST_SERIES = 25
MOST_MEASUREMENTS = 20
MOST_PROBLEMS = 15
"""Rows that text and page show; JSON has all."""
_MEASURED_IN = ("wirespeed.model.link_runs", "wirespeed.model.measurement")


class Options(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which run."""

    inputs: Annotated[tuple[str, ...], WHICH] = ("last",)
    runs: Annotated[str | None, WHERE] = None


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """The answer of `runs show`."""

    schema: str = SCHEMA
    run: Told
    records_counts: dict[str, int]
    """Records by kind."""
    series: tuple[SeriesSummary, ...]
    measurements: tuple[Record, ...]
    problems: tuple[Problem, ...]


def run(options: Options) -> Answer:
    """Open one run. Raises BadRequest where the name means none, CouldNot where nothing can be read."""
    if len(options.inputs) > 1:
        raise BadRequest(Text(en="one run is shown at a time", zh="一次只显示一个运行"))
    found = opened(next(iter(options.inputs), "last"), folder_of(options.runs))
    records = [item for item in found.run.records if isinstance(item, Record)]
    problems = [item for item in found.run.records if isinstance(item, Problem)]
    return Answer(
        run=told(found),
        records_counts=dict(Counter(type(record).__name__ for record in records)),
        series=tuple(sorted((one for one in records if isinstance(one, SeriesSummary)), key=_weight, reverse=True)),
        measurements=tuple(record for record in records if type(record).__module__ in _MEASURED_IN),
        problems=(*found.run.problems, *problems),
    )


def _weight(one: SeriesSummary) -> float:
    """How much there is to see: the mean as a multiple of what matters of such a figure."""
    least = least_of_series(one.family, one.name, one.unit, is_rate=one.first_count is not None or one.unit.endswith("/s"))
    return abs(one.values.mean) / least.amount if least.amount else 0.0


def present(answer: Answer, options: Options) -> Document:
    """Its head, facts in numbers, the busiest series, measurements and problems."""
    about = answer.run
    blocks: list[AnyBlock] = [
        Headline(text=Text(en=f"Run {about.name}", zh=f"运行 {about.name}")),
        FactList(
            rows=(
                (Text(en="host", zh="主机"), same(printed("host", about.host))),
                (Text(en="time", zh="时间"), same(printed("started_at_s", about.started_at_s))),
                (
                    Text(en="made by", zh="来源"),
                    same(" ".join(part for part in (about.made_by, about.wirespeed_version) if part) or "?"),
                ),
                (Text(en="replaced", zh="已替换"), same(", ".join(about.redacted) or "–")),
                (Text(en="place", zh="位置"), same(about.place)),
            )
        ),
    ]
    facts = [(kind.__name__, answer.records_counts[kind.__name__]) for kind in FACTS if kind.__name__ in answer.records_counts]
    if facts:
        blocks.append(Headline(text=Text(en="Facts", zh="配置"), level=2))
        blocks.append(Prose(text=same(", ".join(f"{name} {count}" for name, count in facts))))
    blocks.extend(_series(answer))
    if answer.measurements:
        blocks.append(Headline(text=Text(en="Measurements", zh="测量"), level=2))
        blocks.append(FactList(rows=tuple(map(_measurement, answer.measurements[:MOST_MEASUREMENTS]))))
        blocks.extend(_more(len(answer.measurements) - MOST_MEASUREMENTS))
    if answer.problems:
        blocks.append(Headline(text=Text(en="What could not be had", zh="未能获取的信息"), level=2))
        blocks.append(FactList(rows=tuple((same(one.source.path), one.why) for one in answer.problems[:MOST_PROBLEMS])))
        blocks.extend(_more(len(answer.problems) - MOST_PROBLEMS))
    return Document(title=Text(en=f"wirespeed run {about.name}", zh=f"wirespeed 运行 {about.name}"), blocks=tuple(blocks))


def _series(answer: Answer) -> list[AnyBlock]:
    if not answer.series:
        return []
    columns = (Text(en="series", zh="序列"), Text(en="mean", zh="均值"), same("P50"), same("P99"), Text(en="largest", zh="最大"))
    rows = tuple(
        (
            same(f"{one.family}/{one.scope}/{one.name}"),
            *(same(in_unit(one.unit, value)) for value in (one.values.mean, one.values.p50, one.values.p99, one.values.maximum)),
        )
        for one in answer.series[:MOST_SERIES]
    )
    head = Headline(text=Text(en="Busiest series", zh="最活跃的序列"), level=2)
    return [head, Grid(columns=columns, rows=rows), *_more(len(answer.series) - MOST_SERIES)]


def _more(count: int) -> list[AnyBlock]:
    return [Prose(text=Text(en=f"{count} more in the JSON answer", zh=f"另有 {count} 条见 JSON 输出"))] if count > 0 else []


def _measurement(record: Record) -> tuple[Text, Text]:
    values = {name: getattr(record, name) for name in record.__struct_fields__ if name not in ("source", "quotes", "missing")}
    known = {name: value for name, value in values.items() if value not in (None, (), "")}
    return same(type(record).__name__), same(", ".join(f"{name} {printed(name, value)}" for name, value in known.items()))
