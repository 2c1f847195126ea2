"""`wirespeed inspect`: the facts of a machine, live or from a run that was saved on another."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import msgspec

import wirespeed
from wirespeed.archive import casefile, store
from wirespeed.archive.redact import redacted
from wirespeed.archive.store import Run
from wirespeed.archive.substitutes import Substitutes
from wirespeed.machines.captured import Captured, Tree
from wirespeed.machines.local import Local
from wirespeed.machines.machine import Machine, MachineProblem
from wirespeed.machines.recording import Recording
from wirespeed.model import shelf
from wirespeed.model.record import Record
from wirespeed.model.run import MANIFEST_NAME, Manifest, Reply
from wirespeed.model.source import Problem, Source
from wirespeed.model.text import Text
from wirespeed.observation import facts
from wirespeed.observation.collector import Collector
from wirespeed.observation.facts.resolver import look_up as timed_look_up
from wirespeed.observation.pci_config import without_serial
from wirespeed.readers.netlink.identities import rewritten

SCHEMA = "wirespeed/inspect/1"


class Options(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What to look at, from where, and what to keep."""

    inputs: tuple[str, ...] = ()
    """As `from_`, for those who name it without a flag."""
    save: str | None = None
    """A directory to write a run to, or a file ending in `.json` for a case file."""
    from_: str | None = None
    """A run, a case file, or a directory with copies of /proc and /sys."""
    redact: bool = False
    """Replace identities (host names, addresses, serial numbers) in what is saved; secrets are always replaced."""
    only: tuple[str, ...] = ()
    """Kinds of fact, by the names of the shelf; empty means all."""
    look_up: str | None = None
    """A name to resolve and time, beside the machine's own."""


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


def observe(machine: Machine, only: tuple[str, ...] | None = None) -> list[Record | Problem]:
    """Everything the collectors find on one machine; a collector that cannot go on gives a problem and the rest goes on."""
    return [item for _, items in _observed(machine, only) for item in items]


def open_machine(path: str) -> tuple[Machine, tuple[Problem, ...]]:
    """The captured machine of a run, a case file or a plain tree, with what was damaged in it."""
    place = Path(path)
    if place.is_dir() and not (place / MANIFEST_NAME).exists():
        return Tree(place), ()
    run = store.open_run(place) if place.is_dir() else casefile.open_case(place)
    return captured(run), run.problems


def captured(run: Run) -> Captured:
    """The machine a run was taken of."""
    return Captured(run.replies, run.manifest.host, run.manifest.started_at_s)


def run(options: Options) -> Answer:
    """Look, and keep what was seen where that was asked."""
    start = time.perf_counter()
    named = options.from_ or next(iter(options.inputs), None)
    machine, problems = open_machine(named) if named else (Local(), ())
    recording = Recording(machine)
    started_at_s = _clock(recording)
    groups: list[Facts] = []
    everything: list[Record | Problem] = list(problems)
    for name, items in _observed(recording, options.only or None, options.look_up):
        everything.extend(items)
        records = tuple(item for item in items if isinstance(item, Record))
        groups.append(Facts(group=name, title=shelf.take(facts, name, Collector).title, records=records))
    if options.save is not None:
        manifest = Manifest(wirespeed_version=wirespeed.__version__, host=machine.host, started_at_s=started_at_s)
        kept = Run(manifest=manifest, replies=recording.replies, records=tuple(everything))
        _save(redacted(kept, identities=options.redact, rewrite=_without_identities), Path(options.save))
    return Answer(
        host=machine.host,
        source="saved" if named else "live",
        facts=tuple(groups),
        problems=tuple(item for item in everything if isinstance(item, Problem)),
        duration_s=time.perf_counter() - start,
        saved=options.save,
    )


def _without_identities(reply: Reply, substitutes: Substitutes) -> bytes:
    """A binary reply with its addresses and serial numbers replaced."""
    content = reply.content or b""
    if reply.kind == "netlink":
        family = int(reply.request.partition(" ")[0])
        return rewritten(family, content, substitutes.address, substitutes.mac)
    return without_serial(content) if reply.kind == "file" else content


def _save(kept: Run, place: Path) -> None:
    if place.suffix == ".json":
        casefile.write_case(kept, place)
    else:
        store.write_run(kept, place)


def _observed(
    machine: Machine, only: tuple[str, ...] | None = None, look_up: str | None = None
) -> Iterator[tuple[str, list[Record | Problem]]]:
    for name, collector in shelf.every(facts, Collector).items():
        if only is not None and name not in only:
            continue
        items = _collected(name, collector, machine)
        if name == "resolver" and look_up:
            items.extend(timed_look_up(machine, look_up))
        yield name, items


def _collected(name: str, collector: Collector, machine: Machine) -> list[Record | Problem]:
    items: list[Record | Problem] = []
    source = Source(tool=name, path=name, host=machine.host)
    try:
        for item in collector.observe(machine):
            items.append(item)  # noqa: PERF402 - what came before a failure is kept
    except MachineProblem as trouble:
        items.append(Problem(source=source, why=trouble.why, reason=trouble.reason))
    except Exception as error:  # noqa: BLE001 - one collector's mistake must not cost the user every other fact
        said = f"{type(error).__name__}: {error}"
        items.append(Problem(source=source, why=Text(en=f"our mistake while looking: {said}", zh=f"采集时出现内部错误：{said}")))
    return items


def _clock(machine: Machine) -> float | None:
    try:
        return machine.now()
    except MachineProblem:
        return None
