"""Take one run elsewhere: its series as Parquet or CSV, its records as JSON lines, or a case file that is fit to send."""

import csv
import os
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Literal, TypeAlias

import msgspec

from wirespeed.archive import casefile
from wirespeed.archive.drafts import draft_of
from wirespeed.archive.redact import redacted
from wirespeed.model import record_lines
from wirespeed.model.document import AnyBlock, Document, FactList, Headline, Prose
from wirespeed.model.errors import BadRequest, CouldNot
from wirespeed.model.kinds import Option
from wirespeed.model.samples import Series
from wirespeed.model.source import Problem
from wirespeed.model.text import Text, same
from wirespeed.report.numbers import printed
from wirespeed.verbs._look import without_identities
from wirespeed.verbs.runs._shared import WHERE, WHICH, Opened, folder_of, opened, trouble_with

SCHEMA = "wirespeed/runs-export/1"
Form: TypeAlias = Literal["parquet", "csv", "records", "case"]
_BY_ENDING: dict[str, Form] = {".parquet": "parquet", ".csv": "csv", ".jsonl": "records", ".json": "case"}
_FILES: dict[Form, str] = {"parquet": "series.parquet", "records": "records.jsonl", "case": "case.json"}
"""What a directory gets."""


class Options(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which run, to where, as what."""

    inputs: Annotated[tuple[str, ...], WHICH]
    to: Annotated[
        str,
        Option(
            help=Text(
                en="a new file, whose ending says what it is (.parquet or .csv: series, .jsonl: records, .json: a case), or a new directory for all of them",
                zh="新文件，由扩展名决定内容（.parquet 或 .csv：序列；.jsonl：记录；.json：案例），或用于存放全部内容的新目录",
            ),
            metavar="DIR|FILE",
        ),
    ]
    runs: Annotated[str | None, WHERE] = None
    redact: Annotated[
        bool,
        Option(
            help=Text(
                en="in a case also replace host names, addresses and serial numbers; secrets are always replaced",
                zh="在案例中同时替换主机名、地址和序列号；密钥与口令总会被替换",
            )
        ),
    ] = False


class Written(msgspec.Struct, frozen=True, kw_only=True):
    """One file that was written."""

    place: str
    form: Form
    size_bytes: int


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """The answer of `runs export`."""

    schema: str = SCHEMA
    run: str
    written: tuple[Written, ...]
    problems: tuple[Problem, ...]


def run(options: Options) -> Answer:
    """Write each file whole or not at all, and over nothing. Raises BadRequest for a wrong use, CouldNot where it cannot be written."""
    if len(options.inputs) != 1:
        raise BadRequest(Text(en="one run is exported at a time", zh="一次只导出一个运行"))
    target = Path(options.to)
    form = _BY_ENDING.get(target.suffix)
    if options.redact and form not in ("case", None):
        raise BadRequest(
            Text(
                en="series and records keep names and addresses; with --redact only a case can be exported",
                zh="序列和记录保留名称与地址；使用 --redact 时只能导出案例",
            )
        )
    if os.path.lexists(target):
        raise CouldNot(Text(en=f"{target} is there already, and is not overwritten", zh=f"{target} 已存在，不会覆盖"))
    found = opened(options.inputs[0], folder_of(options.runs))
    series, lost = found.series()
    if form in ("parquet", "csv") and not series:
        raise CouldNot(Text(en=f"{found.name} holds no series", zh=f"{found.name} 中没有序列"))
    with trouble_with(target):
        if form is None:
            written = _directory(found, series, target, options)
        else:
            written = (_file(form, found, series, target, redact=options.redact),)
    return Answer(run=found.name, written=written, problems=(*found.run.problems, *lost))


def _directory(found: Opened, series: tuple[Series, ...], target: Path, options: Options) -> tuple[Written, ...]:
    """Everything there is; with identities replaced that is the case alone."""
    forms = [form for form in _FILES if (form != "parquet" or series) and (form == "case" or not options.redact)]
    target.mkdir(parents=True)
    return tuple(_file(form, found, series, target / _FILES[form], redact=options.redact) for form in forms)


def _file(form: Form, found: Opened, series: tuple[Series, ...], target: Path, *, redact: bool) -> Written:
    if form == "case":
        casefile.write_case(redacted(found.run, identities=redact, rewrite=without_identities), target)
    else:
        write: dict[Form, Callable[[Path], None]] = {
            "parquet": lambda draft: _write_parquet(series, draft),
            "csv": lambda draft: _write_csv(series, draft),
            "records": lambda draft: _write_records(found, draft),
        }
        with draft_of(target) as draft:
            write[form](draft)
            os.link(draft, target)  # unlike renaming this replaces nothing that came meanwhile
    return Written(place=str(target), form=form, size_bytes=target.stat().st_size)


def _write_parquet(series: tuple[Series, ...], draft: Path) -> None:
    from wirespeed.archive.series import write_parquet

    write_parquet(series, draft)


def _write_csv(series: tuple[Series, ...], draft: Path) -> None:
    """A row a sample, with the same columns as the Parquet file."""
    with draft.open("w", encoding="utf-8", errors="backslashreplace", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(("host", "family", "scope", "name", "unit", "kind", "t_s", "value"))
        for one in series:
            names = (one.host or "", one.key.family, one.key.scope, one.key.name, one.key.unit, one.key.kind)
            rows.writerows((*names, t_s, value) for t_s, value in zip(one.t_s.tolist(), one.value.tolist(), strict=True))


def _write_records(found: Opened, draft: Path) -> None:
    clean = redacted(found.run, identities=False, rewrite=without_identities)
    with draft.open("wb") as file:
        file.writelines(record_lines.encoded(item) + b"\n" for item in clean.records)


def present(answer: Answer, options: Options) -> Document:
    """What was written."""
    blocks: list[AnyBlock] = [Headline(text=Text(en=f"{answer.run} was exported", zh=f"已导出 {answer.run}"))]
    rows = tuple((same(one.place), same(printed("size_bytes", one.size_bytes))) for one in answer.written)
    blocks.append(FactList(rows=rows))
    blocks.extend(Prose(text=problem.why) for problem in answer.problems)
    return Document(title=Text(en="wirespeed export of a run", zh="wirespeed 运行导出"), blocks=tuple(blocks))
