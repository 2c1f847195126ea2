"""Record what this machine's network, cores and sockets do for a while, with bursts that a mean hides, and what recording cost."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec

import wirespeed
from wirespeed.archive import store
from wirespeed.archive.store import Run
from wirespeed.machines.local import Local
from wirespeed.model import shelf
from wirespeed.model.document import Document
from wirespeed.model.errors import CouldNot
from wirespeed.model.kinds import Option
from wirespeed.model.progress import Progress, unheard
from wirespeed.model.record import Record
from wirespeed.model.run import Manifest
from wirespeed.model.source import Problem
from wirespeed.model.text import Text
from wirespeed.observation import series
from wirespeed.verbs import _record_page
from wirespeed.verbs._durations import asked_s
from wirespeed.verbs._keeping import (
    LEAST_PERIOD_S,
    MOST_DURATION_S,
    MOST_PERIOD_S,
    kept_recording,
    stopped_by_interrupt,
    told,
)

if TYPE_CHECKING:
    from wirespeed.observation.recording import Recording, Sink

SCHEMA = "wirespeed/record/1"


class Options(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How long, how often, what, and where to keep it."""

    for_: Annotated[str, Option(help=Text(en="how long", zh="记录多久"), flags=("--for",), metavar="30s|5m")] = "30s"
    every: Annotated[
        str,
        Option(
            help=Text(
                en="how often link, protocol and softnet counters are read; the others at 10 Hz or more rarely",
                zh="读取链路、协议与 softnet 计数器的间隔；其余以 10 Hz 或更低频率读取",
            ),
            metavar="10ms|100ms|1s",
        ),
    ] = "100ms"
    save: Annotated[
        str | None,
        Option(
            help=Text(
                en="keep it in this new directory as a run, with its series as Parquet",
                zh="作为一次运行保存到此新目录，序列为 Parquet 格式",
            ),
            metavar="DIR",
        ),
    ] = None
    only: Annotated[
        tuple[str, ...],
        Option(
            help=Text(en="only this family of counters (repeatable)", zh="只记录该类计数器（可重复）"), choices=shelf.ids(series)
        ),
    ] = ()
    flows: Annotated[
        tuple[str, ...],
        Option(
            help=Text(
                en="watch TCP connections with this end, at up to 50 Hz (repeatable); otherwise the busiest",
                zh="以最高 50 Hz 观察具有该端点的 TCP 连接（可重复）；默认观察最繁忙的连接",
            ),
            metavar="HOST:PORT",
        ),
    ] = ()


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """The answer of `record`; its JSON is the contract `wirespeed/record/1`."""

    schema: str = SCHEMA
    host: str | None
    started_at_s: float
    duration_s: float
    ended: str | None
    """`finished`, `interrupted`, or `not-kept` where the disk could not take any more."""
    periods_s: dict[str, float]
    """How often each family was read."""
    records: tuple[Record, ...]
    problems: tuple[Problem, ...]
    saved: str | None = None


def run(options: Options, progress: Progress = unheard) -> Answer:
    """Record. Raises BadRequest for impossible options, CouldNot where it cannot be kept."""
    from wirespeed.observation.recording import record

    for_s = asked_s(options.for_, "--for", most_s=MOST_DURATION_S)
    every_s = asked_s(options.every, "--every", LEAST_PERIOD_S, MOST_PERIOD_S)
    machine = Local()
    with stopped_by_interrupt() as should_stop:
        start = partial(
            record,
            machine,
            options.only or None,
            for_s=for_s,
            every_s=every_s,
            flows=options.flows,
            on_tick=told(progress, for_s),
            should_stop=should_stop,
        )
        if options.save is None:
            recording = start()
            records = recording.records()
        else:
            manifest = Manifest(wirespeed_version=wirespeed.__version__, host=machine.host, started_at_s=machine.now())
            recording, records = _kept(Path(options.save), manifest, every_s, lambda sink: start(sink=sink))
    return Answer(
        host=recording.host,
        started_at_s=recording.started_at_s,
        duration_s=recording.duration_s,
        ended="interrupted" if recording.ended == "stopped" else recording.ended,
        periods_s=recording.periods_s,
        records=tuple(item for item in records if isinstance(item, Record)),
        problems=tuple(item for item in records if isinstance(item, Problem)),
        saved=options.save,
    )


def exit_code(answer: Answer, options: Options) -> int:
    """3 where it was to be kept and the disk took no more."""
    return 3 if answer.ended == "not-kept" else 0


def _kept(
    place: Path, manifest: Manifest, every_s: float, start: Callable[[Sink], Recording]
) -> tuple[Recording, list[Record | Problem]]:
    try:
        recording, manifest = kept_recording(place, manifest, every_s, start)
    except FileExistsError as error:
        raise CouldNot(Text(en=f"{place} is there already, and is not overwritten", zh=f"{place} 已存在，不会覆盖")) from error
    except OSError as error:
        raise CouldNot(Text(en=f"{place} cannot be written: {error.strerror}", zh=f"{place} 无法写入：{error.strerror}")) from error
    records = recording.records()
    try:
        store.end_run(Run(manifest=manifest, records=tuple(records)), place)
    except OSError as error:
        why = Text(
            en=f"the summary could not be written beside the series: {error.strerror}", zh=f"汇总无法写入序列旁：{error.strerror}"
        )
        records.append(Problem(source=recording.cost().source, why=why))
    return recording, records


def present(answer: Answer, options: Options) -> Document:
    """The summary: links with peaks against means, bursts, what moved, flows, and the recording's own cost."""
    return _record_page.page(
        answer.host or "?", answer.duration_s, answer.ended, answer.saved, answer.periods_s, answer.records, answer.problems
    )
