"""Keep what this machine is and does now as one run, to compare with later: facts, a recording, and the measurements that are possible."""

import secrets
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated

import msgspec

import wirespeed
from wirespeed.archive import store
from wirespeed.archive.redact import redacted
from wirespeed.archive.runs_directory import run_name
from wirespeed.archive.store import Run
from wirespeed.diagnosis.changed_facts import FACTS
from wirespeed.diagnosis.comparison import MEASURES, is_measured
from wirespeed.diagnosis.correlated import correlated, without_host
from wirespeed.machines.local import Local
from wirespeed.machines.recording import Recording as Asked
from wirespeed.model.document import AnyBlock, Document, FactList, Headline, Prose, Steps
from wirespeed.model.errors import BadRequest, CouldNot
from wirespeed.model.kinds import Option
from wirespeed.model.link_runs import FlowRun
from wirespeed.model.progress import Progress, Update, unheard
from wirespeed.model.record import Record
from wirespeed.model.run import Manifest, RecordingNote
from wirespeed.model.series import Moved, Periodic
from wirespeed.model.source import Problem, Source
from wirespeed.model.text import Text, same
from wirespeed.observation.recording import Recording, Sink, family_names, record
from wirespeed.report.numbers import printed
from wirespeed.verbs._durations import asked_s
from wirespeed.verbs._keeping import (
    LEAST_PERIOD_S,
    MOST_DURATION_S,
    MOST_PERIOD_S,
    kept_recording,
    stopped_by_interrupt,
    told,
)
from wirespeed.verbs._look import observe, without_identities
from wirespeed.verbs.bench import links
from wirespeed.verbs.peer import TOKEN_VARIABLE
from wirespeed.verbs.runs._shared import WHERE, folder_of, trouble_with

SCHEMA = "wirespeed/baseline/1"
NAMING_FAMILIES = frozenset({"flows", "listeners"})
"""Families whose series are called by addresses; left out where identities are to be replaced."""
MEASURED_FOR = "1s"
"""Of one measurement in one round."""
MEASURING = Source(tool="baseline", path="peers")
MOST_TOLD = 8
MOST_PROBLEMS = 8


class Options(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How long, how often, and where to keep it."""

    for_: Annotated[str, Option(help=Text(en="how long to record", zh="记录多久"), flags=("--for",), metavar="30s|5m")] = "5m"
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
    repeats_count: Annotated[
        int,
        Option(
            help=Text(
                en="how often each path is measured; fewer than four leave later differences unknown",
                zh="每条路径的测量次数；少于四次则之后的差异无法判断",
            ),
            flags=("--repeats",),
            metavar="N",
        ),
    ] = 4
    runs: Annotated[str | None, WHERE] = None
    redact: Annotated[
        bool,
        Option(
            help=Text(
                en="also replace host names, addresses and serial numbers, and record no series that is called by an address",
                zh="同时替换主机名、地址和序列号，并且不记录以地址命名的序列",
            )
        ),
    ] = False


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """The answer of `baseline`; its JSON is the contract `wirespeed/baseline/1`."""

    schema: str = SCHEMA
    name: str
    """What `runs` calls it."""
    place: str
    host: str | None
    started_at_s: float
    duration_s: float
    ended: str | None
    """`finished`, `interrupted` (what there was by then is kept), or `not-kept` where the disk could take no more."""
    series_count: int
    records_counts: dict[str, int]
    """Records by kind."""
    together: tuple[Moved | Periodic, ...]
    """What moved with the strongest symptoms, and what came evenly."""
    problems: tuple[Problem, ...]


def run(options: Options, progress: Progress = unheard) -> Answer:
    """Look, record and keep. Raises BadRequest for impossible options, CouldNot where the run cannot be begun."""
    for_s = asked_s(options.for_, "--for", most_s=MOST_DURATION_S)
    every_s = asked_s(options.every, "--every", LEAST_PERIOD_S, MOST_PERIOD_S)
    if options.repeats_count < 1:
        raise BadRequest(Text(en="--repeats is at least 1", zh="--repeats 至少为 1"))
    folder = folder_of(options.runs)
    key = secrets.token_bytes(32)
    cleaned = partial(redacted, identities=options.redact, rewrite=without_identities, key=key)
    progress(Update(says=Text(en="looking at what is set up", zh="正在查看配置")))
    machine = Asked(Local())
    started_at_s = machine.now()
    facts = observe(machine)
    manifest = Manifest(wirespeed_version=wirespeed.__version__, host=machine.host, started_at_s=started_at_s, made_by="baseline")
    place = folder / run_name(started_at_s, cleaned(Run(manifest=manifest)).manifest.host, key)
    with trouble_with(place):
        store.check_target(place)
    facts.extend(_measured(options, progress))
    first = cleaned(Run(manifest=manifest, replies=machine.replies, records=tuple(facts)))
    with trouble_with(place):
        recording, manifest = _recorded(first, place, options, (for_s, every_s), progress)
    progress(Update(says=Text(en="summing up", zh="正在汇总")))
    series = tuple(recording.series())
    found = (*facts, *recording.records(), *correlated(series))
    kept = cleaned(Run(manifest=msgspec.structs.replace(manifest, host=machine.host), replies=machine.replies, records=found))
    return _answer(kept, place, len(series), _end(kept, place))


def _measured(options: Options, progress: Progress) -> Iterator[Record | Problem]:
    """The paths to the peers, measured again and again before the recording: traffic of our own would be in it.

    Raises BadRequest and CouldNot where the first round cannot be made, so that nobody waits for a baseline without what was asked for.
    Ctrl-C ends the measurements, and what there is by then is kept.
    """
    for number in range(options.repeats_count if options.peers else 0):

        def round_told(update: Update, number: int = number) -> None:
            done = (number + (update.done_ratio or 0.0)) / options.repeats_count
            progress(msgspec.structs.replace(update, done_ratio=done, remaining_s=None))

        try:
            answer = links.run(
                links.Options(peers=options.peers, token=options.token, for_=MEASURED_FOR, flows_count=2), round_told
            )
        except CouldNot as error:
            if not number:
                raise
            yield Problem(source=MEASURING, why=error.why)
            return
        except KeyboardInterrupt:
            yield Problem(source=MEASURING, why=Text(en="the measurements were stopped early", zh="测量被提前停止"))
            return
        if not number and not any(map(is_measured, answer.records)):
            raise CouldNot(
                answer.problems[0].why if answer.problems else Text(en="no peer could be measured", zh="无法测量任何对端")
            )
        yield from answer.problems
        yield from (_in_round(one, number) for one in answer.records)


def _in_round(found: Record, number: int) -> Record:
    """Flows of one round run together, those of two rounds do not."""
    return msgspec.structs.replace(found, test=f"{found.test}, round {number + 1}") if isinstance(found, FlowRun) else found


def _recorded(
    first: Run, place: Path, options: Options, times_s: tuple[float, float], progress: Progress
) -> tuple[Recording, Manifest]:
    """The recording, kept as it grows; the facts are there from its start, should this process be killed."""
    for_s, every_s = times_s
    families = tuple(name for name in family_names() if name not in NAMING_FAMILIES) if options.redact else None

    def start(sink: Sink) -> Recording:
        note = RecordingNote(every_s=every_s, started_at_s=first.manifest.started_at_s)
        store.end_run(replace(first, manifest=msgspec.structs.replace(first.manifest, recording=note)), place)
        with stopped_by_interrupt() as should_stop:
            on_tick = told(progress, for_s)
            return record(Local(), families, for_s=for_s, every_s=every_s, sink=sink, on_tick=on_tick, should_stop=should_stop)

    return kept_recording(place, first.manifest, every_s, start)


def _end(kept: Run, place: Path) -> tuple[Problem, ...]:
    """Put the sums beside the series; where the disk takes no more, the run stays as it was and that is told."""
    try:
        store.end_run(kept, place)
    except OSError as error:
        said = error.strerror or str(error)
        why = Text(en=f"the summary could not be written beside the series: {said}", zh=f"汇总无法写入序列旁：{said}")
        return (Problem(source=Source(tool="baseline", path=str(place)), why=why),)
    return ()


def _answer(kept: Run, place: Path, series_count: int, troubles: tuple[Problem, ...]) -> Answer:
    manifest, note = kept.manifest, kept.manifest.recording
    assert manifest.started_at_s is not None and note is not None, "a baseline is always timed and recorded"
    records = [item for item in kept.records if isinstance(item, Record)]
    return Answer(
        name=place.name,
        place=str(place),
        host=manifest.host,
        started_at_s=manifest.started_at_s,
        duration_s=note.duration_s or 0.0,
        ended="interrupted" if note.ended == "stopped" else note.ended,
        series_count=series_count,
        records_counts=dict(Counter(type(record).__name__ for record in records)),
        together=tuple(item for item in records if isinstance(item, Moved | Periodic)),
        problems=(*troubles, *(item for item in kept.records if isinstance(item, Problem))),
    )


def present(answer: Answer, options: Options) -> Document:
    """What was kept, what moved together, and how to compare with it."""
    facts_count = sum(answer.records_counts.get(kind.__name__, 0) for kind in FACTS)
    blocks: list[AnyBlock] = [_headline(answer)]
    rows = [
        (Text(en="run", zh="运行"), same(answer.name)),
        (Text(en="place", zh="位置"), same(answer.place)),
        (Text(en="facts", zh="配置"), same(printed("facts_count", facts_count))),
        (
            Text(en="series", zh="序列"),
            Text(
                en=f"{answer.series_count} over {printed('duration_s', answer.duration_s)}",
                zh=f"{answer.series_count} 条，时长 {printed('duration_s', answer.duration_s)}",
            ),
        ),
    ]
    blocks.append(FactList(rows=tuple(rows)))
    measured_count = sum(answer.records_counts.get(kind.__name__, 0) for kind in MEASURES)
    if measured_count:
        blocks.append(FactList(rows=((Text(en="measurements", zh="测量"), same(printed("measured_count", measured_count))),)))
    if answer.together:
        blocks.append(Headline(text=Text(en="What moved together", zh="一同变动的序列"), level=2))
        blocks.extend(Prose(text=sentence(one)) for one in answer.together[:MOST_TOLD])
    if answer.problems:
        blocks.append(Headline(text=Text(en="What could not be had", zh="未能获取的信息"), level=2))
        blocks.append(FactList(rows=tuple((same(one.source.path), one.why) for one in answer.problems[:MOST_PROBLEMS])))
    later = (
        Text(en="after a change, or another day", zh="更改之后，或另一天"),
        ("wirespeed baseline", f"wirespeed runs compare {answer.name} last"),
    )
    blocks.append(Steps(title=Text(en="Compare with it", zh="与之对比"), steps=(later,)))
    return Document(title=Text(en="wirespeed baseline", zh="wirespeed 基线"), blocks=tuple(blocks))


def _headline(answer: Answer) -> Headline:
    host = answer.host or "?"
    if answer.ended == "finished":
        return Headline(text=Text(en=f"Baseline of {host} is kept", zh=f"{host} 的基线已保存"), tone="good")
    how = {
        "interrupted": Text(en="was stopped early; what there was by then is kept", zh="被提前停止；此前的内容已保存"),
        "not-kept": Text(en="could not be kept to its end", zh="未能完整保存"),
    }.get(answer.ended or "", Text(en="did not end", zh="未正常结束"))
    return Headline(text=Text(en=f"The baseline of {host} {how.en}", zh=f"{host} 的基线{how.zh}"), tone="warn")


def sentence(one: Moved | Periodic) -> Text:
    """One relation in words."""
    series = without_host(one.series, one.host)
    if isinstance(one, Periodic):
        period = printed("period_s", one.period_s)
        return Text(
            en=f"{series} spikes every {period} ({one.repeats_count} times)",
            zh=f"{series} 每 {period} 出现一次峰值（共 {one.repeats_count} 次）",
        )
    symptom = without_host(one.symptom, one.host)
    lag = printed("lag_s", abs(one.lag_s))
    when = (
        Text(en="at the same time", zh="同时")
        if one.lag_s == 0
        else Text(en=f"{lag} before", zh=f"提前 {lag}")
        if one.lag_s > 0
        else Text(en=f"{lag} after", zh=f"滞后 {lag}")
    )
    way = Text(en="with", zh="同向") if one.coefficient_ratio > 0 else Text(en="against", zh="反向")
    strength = printed("coefficient_ratio", abs(one.coefficient_ratio))
    return Text(
        en=f"{series} moved {way.en} {symptom}, {when.en} (rank correlation {strength})",
        zh=f"{series} 与 {symptom} {way.zh}变动，{when.zh}（秩相关 {strength}）",
    )
