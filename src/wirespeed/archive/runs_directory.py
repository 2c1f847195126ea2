"""The directory where runs are kept: names that people can read and sort, and the run that a name means."""

import hashlib
import os
import re
import stat
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from wirespeed.archive.store import list_runs
from wirespeed.model.run import MANIFEST_NAME

VARIABLE = "WIRESPEED_RUNS"
MOST_FILES = 20_000
"""Files of one run that are counted; beyond that its size is not known."""
MOST_HEAD_BYTES = 64 * 1024 * 1024
_LAST = re.compile(r"last(?:~(?P<back>\d{1,9}))?")
_UNSAFE = re.compile(r"[^A-Za-z0-9.-]+")


class Recorded(msgspec.Struct, frozen=True, kw_only=True):
    """How long a recording took and how it ended."""

    duration_s: float | None = None
    ended: str | None = None


class Head(msgspec.Struct, frozen=True, kw_only=True):
    """The part of a manifest that a list needs; what was asked of the machine is passed over while reading."""

    schema: str = ""
    wirespeed_version: str = ""
    host: str | None = None
    started_at_s: float | None = None
    redacted: tuple[str, ...] = ()
    made_by: str = ""
    recording: Recorded | None = None


class Ambiguous(LookupError):
    """A prefix that several runs have; `args` are their names."""


def runs_directory(environment: Mapping[str, str]) -> Path:
    """`$WIRESPEED_RUNS`, or `wirespeed/runs` below `$XDG_DATA_HOME` (by default `~/.local/share`, XDG Base Directory Specification 0.8).

    Raises RuntimeError where no home is known.
    """
    if environment.get(VARIABLE):
        return Path(environment[VARIABLE])
    data = environment.get("XDG_DATA_HOME", "")
    base = Path(data) if data.startswith("/") else Path(environment.get("HOME") or Path.home()) / ".local" / "share"
    return base / "wirespeed" / "runs"


def run_name(started_at_s: float, host: str | None, content: bytes) -> str:
    """Such as `20261129T185103Z-node-a-3f9c1e`: time in UTC, host, and six digits of a hash that keep runs of one second apart."""
    moment = datetime.fromtimestamp(started_at_s, UTC).strftime("%Y%m%dT%H%M%SZ")
    place = _UNSAFE.sub("-", host or "").strip("-.")[:64] or "host"
    digest = hashlib.sha256(repr(started_at_s).encode() + content).hexdigest()[:6]
    return f"{moment}-{place}-{digest}"


def find_run(name: str, folder: Path) -> Path:
    """The run that is meant by its name, a prefix that only one has, `last`, `last~1` (the one before), or a path.

    Raises LookupError where there is none, Ambiguous where a prefix means several. A path wins where it leads to something and has a slash; a
    name in the directory wins over a file of that name here.
    """
    if os.sep not in name:
        runs = list_runs(folder)
        last = _LAST.fullmatch(name)
        if last:
            back = int(last["back"] or 0)
            if back < len(runs):
                return runs[-1 - back]
            raise LookupError(name)
        found = [run for run in runs if run.name == name] or [run for run in runs if name and run.name.startswith(name)]
        if len(found) > 1:
            raise Ambiguous(*(run.name for run in found))
        if found:
            return found[0]
    if name and os.path.lexists(name):
        return Path(name)
    raise LookupError(name)


def head_of(run: Path) -> Head | None:
    """The head of a run's manifest; None where it cannot be read."""
    path = run / MANIFEST_NAME
    try:
        if not stat.S_ISREG(path.lstat().st_mode):
            return None
        with path.open("rb") as file:
            return msgspec.json.decode(file.read(MOST_HEAD_BYTES), type=Head)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def size_of(run: Path) -> int | None:
    """Bytes that a run takes, links not followed; None where it cannot be told."""
    size, count = 0, 0
    waiting = [run]
    try:
        while waiting:
            with os.scandir(waiting.pop()) as entries:
                for entry in entries:
                    count += 1
                    if count > MOST_FILES:
                        return None
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(Path(entry.path))
                    else:
                        size += entry.stat(follow_symlinks=False).st_size
    except OSError:
        return None
    return size
