"""Show what is set up on this machine or on one saved elsewhere, and save it to keep or to send."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec

import wirespeed
from wirespeed.archive import casefile, store
from wirespeed.archive.redact import redacted
from wirespeed.archive.store import Run
from wirespeed.machines.local import Local
from wirespeed.machines.machine import Machine, MachineProblem
from wirespeed.machines.recording import Recording
from wirespeed.model import shelf
from wirespeed.model.document import AnyBlock, Document, FactList, Grid, Headline, Prose
from wirespeed.model.errors import BadRequest, CouldNot
from wirespeed.model.facts.link import Counter, LinkOffload
from wirespeed.model.kinds import Option
from wirespeed.model.record import Record
from wirespeed.model.run import Manifest
from wirespeed.model.source import Problem
from wirespeed.model.text import Text, same
from wirespeed.observation import facts
from wirespeed.observation.collector import Collector
from wirespeed.report.numbers import printed
from wirespeed.verbs._look import observed, open_machine, without_identities

SCHEMA = "wirespeed/inspect/1"
MOST_ROWS = 12
"""Records of one kind that text and page show; JSON has all."""
MOST_COLUMNS = 6
"""A table with more columns does not fit a terminal; such records are listed instead."""


class Options(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What to look at, from where, and what to keep."""

    inputs: Annotated[
        tuple[str, ...],
        Option(
            help=Text(
                en="a saved run, a case file, or a directory with copies of /proc and /sys; nothing means this machine",
                zh="已保存的运行、案例文件，或含 /proc 与 /sys 副本的目录；不给则查看本机",
            ),
            is_argument=True,
            metavar="INPUT",
        ),
    ] = ()
    from_: Annotated[
        str | None, Option(help=Text(en="the same as INPUT", zh="与 INPUT 相同"), flags=("--from",), metavar="DIR|case.json")
    ] = None
    save: Annotated[
        str | None,
        Option(
            help=Text(
                en="write a run to this new directory, or a case to this new file ending in .json; secrets are always replaced",
                zh="将运行写入此新目录，或将案例写入以 .json 结尾的新文件；密钥与口令总会被替换",
            ),
            metavar="DIR|case.json",
        ),
    ] = None
    redact: Annotated[
        bool,
        Option(
            help=Text(
                en="also replace host names, addresses and serial numbers in what is saved, consistently",
                zh="同时以一致的方式替换所保存内容中的主机名、地址和序列号",
            )
        ),
    ] = False
    only: Annotated[
        tuple[str, ...],
        Option(help=Text(en="only this kind of fact (repeatable)", zh="只查看该类信息（可重复）"), choices=shelf.ids(facts)),
    ] = ()
    look_up: Annotated[
        str | None,
        Option(help=Text(en="also resolve this name and time it", zh="同时解析该名称并计时"), metavar="NAME"),
    ] = None


class Facts(msgspec.Struct, frozen=True, kw_only=True):
    """The facts of one collector."""

    group: str
    title: Text
    records: tuple[Record, ...]


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """The answer of `inspect`; its JSON is the contract `wirespeed/inspect/1`."""

    schema: str = SCHEMA
    host: str | None
    source: Literal["live", "saved"]
    facts: tuple[Facts, ...]
    problems: tuple[Problem, ...]
    duration_s: float
    saved: str | None = None


def run(options: Options) -> Answer:
    """Look, and keep what was seen where that was asked. Raises BadRequest for an unknown kind, CouldNot where nothing can be read or kept."""
    places = (*options.inputs, *((options.from_,) if options.from_ else ()))
    if len(places) > 1:
        raise BadRequest(
            Text(en=f"one place is looked at at a time; {len(places)} were named", zh=f"一次只查看一处；给出了 {len(places)} 处")
        )
    unknown = [name for name in options.only if name not in shelf.ids(facts)]
    if unknown:
        raise BadRequest(Text(en=f"there is no kind of fact called {unknown[0]}", zh=f"没有名为 {unknown[0]} 的信息类别"))
    if options.save is not None:
        _check_target(Path(options.save))
    start = time.perf_counter()
    named = next(iter(places), None)
    machine, problems = open_machine(named) if named else (Local(), ())
    recording = Recording(machine)
    started_at_s = _clock(recording)
    groups: list[Facts] = []
    everything: list[Record | Problem] = list(problems)
    for name, items in observed(recording, options.only or None, options.look_up):
        everything.extend(items)
        records = tuple(item for item in items if isinstance(item, Record))
        groups.append(Facts(group=name, title=shelf.take(facts, name, Collector).title, records=records))
    if options.save is not None:
        manifest = Manifest(wirespeed_version=wirespeed.__version__, host=machine.host, started_at_s=started_at_s)
        kept = Run(manifest=manifest, replies=recording.replies, records=tuple(everything))
        _save(redacted(kept, identities=options.redact, rewrite=without_identities), Path(options.save))
    return Answer(
        host=machine.host,
        source="saved" if named else "live",
        facts=tuple(groups),
        problems=tuple(item for item in everything if isinstance(item, Problem)),
        duration_s=time.perf_counter() - start,
        saved=options.save,
    )


def _check_target(place: Path) -> None:
    """Whether it can be written there, before anything is looked at."""
    check = casefile.check_target if place.suffix == ".json" else store.check_target
    with _trouble_with(place):
        check(place)


def _save(kept: Run, place: Path) -> None:
    write = casefile.write_case if place.suffix == ".json" else store.write_run
    with _trouble_with(place):
        write(kept, place)


@contextmanager
def _trouble_with(place: Path) -> Iterator[None]:
    """What keeps a run from being written there, as a sentence."""
    try:
        yield
    except FileExistsError as error:
        raise CouldNot(Text(en=f"{place} is there already, and is not overwritten", zh=f"{place} 已存在，不会覆盖")) from error
    except OSError as error:
        raise CouldNot(Text(en=f"{place} cannot be written: {error.strerror}", zh=f"{place} 无法写入：{error.strerror}")) from error


def _clock(machine: Machine) -> float | None:
    try:
        return machine.now()
    except MachineProblem:
        return None


def present(answer: Answer, options: Options) -> Document:
    """The facts as tables, one for each kind of record, and what could not be had."""
    host = answer.host or "?"
    blocks: list[AnyBlock] = [Headline(text=Text(en=f"What is set up on {host}", zh=f"{host} 的配置"))]
    if answer.saved:
        blocks.append(Prose(text=Text(en=f"Saved as {answer.saved}", zh=f"已保存为 {answer.saved}")))
    for group in answer.facts:
        tables = [block for kind in dict.fromkeys(map(type, group.records)) for block in _table(kind, group.records)]
        if tables:
            blocks.append(Headline(text=group.title, level=2))
            blocks.extend(tables)
    if answer.problems:
        blocks.append(Headline(text=Text(en="What could not be had", zh="未能获取的信息"), level=2))
        blocks.append(FactList(rows=tuple((same(problem.source.path), problem.why) for problem in answer.problems)))
    return Document(title=Text(en=f"wirespeed inspection of {host}", zh=f"wirespeed 查看 {host}"), blocks=tuple(blocks))


def _table(kind: type[Record], records: tuple[Record, ...]) -> list[AnyBlock]:
    """The telling records of one kind, with the fields that any of them has."""
    telling = [record for record in records if type(record) is kind and _is_telling(record)]
    shown = [_plain(record) for record in telling[:MOST_ROWS]]
    columns = [name for name in kind.__struct_fields__ if any(row.get(name) is not None for row in shown)]
    if not columns:
        return []
    blocks: list[AnyBlock] = [_grid(columns, shown) if len(columns) <= MOST_COLUMNS else _list(columns, shown)]
    if len(telling) > len(shown):
        more = len(telling) - len(shown)
        blocks.append(Prose(text=Text(en=f"{more} more in the JSON answer", zh=f"另有 {more} 条见 JSON 输出")))
    return blocks


def _grid(columns: list[str], rows: list[dict[str, Any]]) -> Grid:
    cells = tuple(tuple(same(printed(name, row.get(name))) for name in columns) for row in rows)
    return Grid(columns=tuple(same(name) for name in columns), rows=cells)


def _list(columns: list[str], rows: list[dict[str, Any]]) -> FactList:
    """For records of many fields: what each is called, and what is known of it."""
    first, *others = columns
    return FactList(
        rows=tuple(
            (
                same(printed(first, row.get(first))),
                same(", ".join(f"{name} {printed(name, row[name])}" for name in others if name in row)),
            )
            for row in rows
        )
    )


def _is_telling(record: Record) -> bool:
    """Counters that count something known, and offloads that could be switched; the rest only fills pages."""
    if isinstance(record, Counter):
        return record.canonical is not None and record.value_count > 0
    return not (isinstance(record, LinkOffload) and record.is_fixed)


def _plain(record: Record) -> dict[str, Any]:
    """Field values, lists as one word each, without sources and quotes."""
    values = {name: getattr(record, name) for name in record.__struct_fields__ if name not in ("source", "quotes", "missing")}
    joined = {name: " ".join(map(str, value)) if isinstance(value, tuple) else value for name, value in values.items()}
    return {name: value for name, value in joined.items() if value not in (None, "")}
