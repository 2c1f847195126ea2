"""Look at a machine, live or saved, with every collector; shared by the verbs that need facts."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

import msgspec

from wirespeed.archive import casefile, store
from wirespeed.archive.store import Run
from wirespeed.archive.substitutes import Substitutes
from wirespeed.machines.captured import Captured
from wirespeed.machines.machine import Machine, MachineProblem
from wirespeed.machines.opening import UNREADABLE, Found, is_case, is_packed, is_run, open_inputs, unreadable
from wirespeed.machines.streams import shown
from wirespeed.model import shelf
from wirespeed.model.errors import BadRequest, CouldNot
from wirespeed.model.kinds import Reader
from wirespeed.model.lines import Lines
from wirespeed.model.record import Record
from wirespeed.model.run import MANIFEST_NAME, Reply
from wirespeed.model.source import Problem, Source
from wirespeed.model.text import Text
from wirespeed.observation import facts
from wirespeed.observation.collector import Collector
from wirespeed.observation.facts.resolver import is_name
from wirespeed.observation.facts.resolver import look_up as timed_look_up
from wirespeed.observation.pci_config import without_serial
from wirespeed.readers.netlink.identities import rewritten


def observe(machine: Machine, only: tuple[str, ...] | None = None) -> list[Record | Problem]:
    """Everything the collectors find on one machine; a collector that cannot go on gives a problem and the rest goes on."""
    return [item for _, items in observed(machine, only) for item in items]


def open_machine(path: str) -> tuple[Machine, tuple[Problem, ...]]:
    """The captured machine of a run, a case file, a plain tree or a support archive, with what was damaged in it.

    Raises CouldNot when there is nothing in it at all.
    """
    try:
        return _opened(Path(path), shown(path))
    except UNREADABLE as error:
        why = unreadable(path, error).why
        raise CouldNot(why) from error


def _opened(place: Path, path: str) -> tuple[Machine, tuple[Problem, ...]]:
    if (place.is_dir() and not is_run(place)) or (place.is_file() and not is_case(place) and is_packed(place)):
        found = [one.machine for one in open_inputs((str(place),)) if isinstance(one, Found)]
        if not found:
            if (place / MANIFEST_NAME).exists() and not (place / MANIFEST_NAME).is_file():
                raise CouldNot(
                    Text(
                        en=f"{path}/{MANIFEST_NAME} is not a plain file, so this is no saved machine",
                        zh=f"{path}/{MANIFEST_NAME} 不是普通文件，因此这不是保存的机器",
                    )
                )
            raise CouldNot(
                Text(
                    en=f"{path} holds no saved machine (for logs and other files there is `diagnose`)",
                    zh=f"{path} 中没有保存的机器（日志等文件请用 diagnose）",
                )
            )
        return found[0], _others(path, found)
    run = store.open_run(place) if place.is_dir() else casefile.open_case(place)
    if run.problems and not run.replies:
        why = run.problems[0].why
        raise CouldNot(Text(en=f"{path}: {why.en}", zh=f"{path}：{why.zh}"))
    return captured(run), run.problems


def _others(path: str, found: Sequence[Machine]) -> tuple[Problem, ...]:
    if len(found) < 2:
        return ()
    named = ", ".join(one.host or "?" for one in found[1:])
    why = Text(
        en=f"holds {len(found)} machines; the first is shown, not {named}",
        zh=f"包含 {len(found)} 台机器；仅显示第一台，不含 {named}",
    )
    return (Problem(source=Source(tool="file", path=path), why=why),)


def captured(run: Run) -> Captured:
    """The machine a run was taken of."""
    return Captured(run.replies, run.manifest.host, run.manifest.started_at_s)


def guarded(name: str, reader: Reader, lines: Lines) -> Iterator[Record | Problem]:
    """Read a text; should a reader fail, what it gave is kept, the failure is a problem, and the other readers go on."""
    try:
        yield from reader.read(lines)
    except Exception as error:  # noqa: BLE001 - one reader's mistake must not cost the user every other reading
        said = f"{type(error).__name__}: {error}"
        yield Problem(source=Source(tool=name, path=lines.path), why=_mistake("reading", "读取", said))


def machine_in(path: str) -> tuple[Machine | None, tuple[Problem, ...]]:
    """The machine that a run or a case file holds; None where there is none.

    Never raises: what keeps the place from being looked at at all is a problem of opening it, and told there.
    """
    try:
        machine, problems = _machine_in(Path(path))
    except OSError:
        return None, ()
    except UNREADABLE as error:
        return None, (unreadable(path, error),)
    return machine, tuple(_shown(problem) for problem in problems)


def _machine_in(place: Path) -> tuple[Machine | None, tuple[Problem, ...]]:
    if not (is_run(place) if place.is_dir() else is_case(place)):
        return None, ()
    run = store.open_run(place) if place.is_dir() else casefile.open_case(place)
    was_asked = any(reply.kind != "input" for reply in run.replies)
    return (captured(run) if was_asked else None), run.problems


def _shown(problem: Problem) -> Problem:
    source = msgspec.structs.replace(problem.source, path=shown(problem.source.path))
    return msgspec.structs.replace(problem, source=source)


def observed(
    machine: Machine, only: tuple[str, ...] | None = None, look_up: str | None = None
) -> Iterator[tuple[str, list[Record | Problem]]]:
    """What each collector finds, and the timed look-up of a name. Raises BadRequest where that can be no name."""
    if look_up and not is_name(look_up):
        raise BadRequest(Text(en=f"{look_up[:80]!a} is no host name or address", zh=f"{look_up[:80]!a} 不是主机名或地址"))
    for name, collector in shelf.every(facts, Collector).items():
        if only is not None and name not in only:
            continue
        items = _collected(name, collector.observe, machine)
        if name == "resolver" and look_up:
            items.extend(_collected(name, partial(timed_look_up, name=look_up), machine))
        yield name, items


def _collected(
    name: str, observe_with: Callable[[Machine], Iterator[Record | Problem]], machine: Machine
) -> list[Record | Problem]:
    items: list[Record | Problem] = []
    source = Source(tool=name, path=name, host=machine.host)
    try:
        for item in observe_with(machine):
            items.append(item)  # noqa: PERF402 - what came before a failure is kept
    except MachineProblem as trouble:
        items.append(Problem(source=source, why=trouble.why, reason=trouble.reason))
    except Exception as error:  # noqa: BLE001 - one collector's mistake must not cost the user every other fact
        said = f"{type(error).__name__}: {error}"
        items.append(Problem(source=source, why=_mistake("looking", "采集", said)))
    return items


def _mistake(doing_en: str, doing_zh: str, said: str) -> Text:
    return Text(en=f"our mistake while {doing_en}: {said}", zh=f"{doing_zh}时出现内部错误：{said}")


def without_identities(reply: Reply, substitutes: Substitutes) -> bytes:
    """A binary reply with its addresses and serial numbers replaced."""
    content = reply.content or b""
    if reply.kind == "netlink":
        family = int(reply.request.partition(" ")[0])
        return rewritten(family, content, substitutes.address, substitutes.mac)
    return without_serial(content) if reply.kind == "file" else content
