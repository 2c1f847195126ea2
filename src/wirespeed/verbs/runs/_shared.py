"""What the verbs on runs share: where runs are kept, and opening the one that a name means."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import msgspec

from wirespeed.archive import casefile, store
from wirespeed.archive.runs_directory import Ambiguous, find_run, runs_directory
from wirespeed.archive.store import Run
from wirespeed.model.errors import BadRequest, CouldNot
from wirespeed.model.kinds import Option
from wirespeed.model.run import MANIFEST_NAME
from wirespeed.model.samples import Series
from wirespeed.model.source import Problem
from wirespeed.model.text import Text

MOST_NAMED = 5
"""Runs named in a sentence when a prefix means several."""
WHERE = Option(
    help=Text(
        en="directory of runs (default: $WIRESPEED_RUNS, then wirespeed/runs below $XDG_DATA_HOME or ~/.local/share)",
        zh="运行所在目录（默认：$WIRESPEED_RUNS，其次为 $XDG_DATA_HOME 或 ~/.local/share 下的 wirespeed/runs）",
    ),
    flags=("--runs",),
    metavar="DIR",
)
WHICH = Option(
    help=Text(
        en="name of a run, a prefix of it, last, last~1, or a path",
        zh="运行的名称或其前缀、last、last~1，或路径",
    ),
    is_argument=True,
    metavar="RUN",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """One run with its name and place."""

    name: str
    place: Path
    run: Run

    def series(self) -> tuple[tuple[Series, ...], tuple[Problem, ...]]:
        """The samples, and what was lost of them; nothing for a case file, which holds none."""
        if not self.place.is_dir():
            return (), ()
        from wirespeed.archive.series import read_series

        return read_series(self.place, self.run.manifest.host)


class Told(msgspec.Struct, frozen=True, kw_only=True):
    """Which run an answer is about."""

    name: str
    place: str
    host: str | None
    started_at_s: float | None
    wirespeed_version: str
    made_by: str
    redacted: tuple[str, ...]


def told(opened: Opened) -> Told:
    """The head of a run, for an answer."""
    manifest = opened.run.manifest
    return Told(
        name=opened.name,
        place=str(opened.place),
        host=manifest.host,
        started_at_s=manifest.started_at_s,
        wirespeed_version=manifest.wirespeed_version,
        made_by=manifest.made_by,
        redacted=manifest.redacted,
    )


def folder_of(given: str | None) -> Path:
    """The directory of runs that was asked for, or the usual one. Raises CouldNot where no home is known."""
    if given is not None:
        return Path(given)
    try:
        return runs_directory(os.environ)
    except RuntimeError as error:
        raise CouldNot(
            Text(en="no home directory is known: name one with --runs", zh="找不到用户主目录：请用 --runs 指定目录")
        ) from error


def opened(name: str, folder: Path) -> Opened:
    """The run that a name means. Raises BadRequest where the name means none or several, CouldNot where there is nothing readable in it."""
    with trouble_with(folder):
        place = _found(name, folder)
        is_file = place.is_file()
        if not is_file and not os.path.lexists(place / MANIFEST_NAME):
            raise CouldNot(
                Text(en=f"{place} is no run: it has no {MANIFEST_NAME}", zh=f"{place} 不是运行目录：缺少 {MANIFEST_NAME}")
            )
        run = casefile.open_case(place) if is_file else store.open_run(place)
    if run.problems and not run.replies and not run.records and not (place / "series").is_dir():
        why = run.problems[0].why
        raise CouldNot(Text(en=f"{place}: {why.en}", zh=f"{place}：{why.zh}"))
    return Opened(name=place.name, place=place, run=run)


def _found(name: str, folder: Path) -> Path:
    try:
        return find_run(name, folder)
    except Ambiguous as error:
        names = ", ".join(error.args[:MOST_NAMED]) + (" ..." if len(error.args) > MOST_NAMED else "")
        raise BadRequest(Text(en=f"{name} means several runs: {names}", zh=f"{name} 对应多个运行：{names}")) from error
    except LookupError as error:
        raise BadRequest(Text(en=f"there is no run {name} in {folder}", zh=f"{folder} 中没有运行 {name}")) from error


@contextmanager
def trouble_with(place: Path) -> Iterator[None]:
    """What keeps a place from being read or written, as a sentence."""
    try:
        yield
    except FileExistsError as error:
        raise CouldNot(Text(en=f"{place} is there already, and is not overwritten", zh=f"{place} 已存在，不会覆盖")) from error
    except OSError as error:
        said = error.strerror or error
        raise CouldNot(Text(en=f"{error.filename or place}: {said}", zh=f"{error.filename or place}：{said}")) from error
