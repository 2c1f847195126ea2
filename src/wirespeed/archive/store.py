"""The run as a directory: written once and whole, or grown while it is recorded; opened as far as possible."""

import errno
import hashlib
import os
import shutil
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote, unquote

import msgspec

from wirespeed.archive.drafts import check_parent, draft_of
from wirespeed.model import record_lines
from wirespeed.model.record import Record
from wirespeed.model.run import MANIFEST_NAME, RAW_NAME, RECORDS_NAME, RUN_SCHEMA, Held, Manifest, Reply
from wirespeed.model.source import Problem, Source
from wirespeed.model.text import Text

MOST_MANIFEST_BYTES = 256 * 1024 * 1024
MOST_RAW_BYTES = 64 * 1024 * 1024
MOST_RECORDS_BYTES = 1024 * 1024 * 1024
LONGEST_NAME = 200
"""File systems take 255 bytes a name; the rest is room for quoting."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """Everything kept of one look at one machine. `problems` tells what was damaged when it was opened."""

    manifest: Manifest
    replies: tuple[Reply, ...] = ()
    records: tuple[Record | Problem, ...] = ()
    problems: tuple[Problem, ...] = field(default=())


def write_run(run: Run, place: Path) -> None:
    """Write a run where nothing is yet. It appears whole or not at all, even when the process is killed.

    Raises FileExistsError where something is already, and OSError where writing fails.
    """
    check_target(place)
    with draft_of(place) as draft:
        shutil.rmtree(draft, ignore_errors=True)
        _write_draft(run, draft)
        draft.rename(place)
        _sync(place.parent)


def begin_run(manifest: Manifest, place: Path) -> None:
    """Start a run that grows at its own place: after this it can be opened at any moment, also when the process is killed.

    Its manifest says `recording` without an end. Raises FileExistsError where something is already, OSError where writing fails.
    """
    check_target(place)
    place.mkdir(parents=True, exist_ok=True)
    _write_manifest(msgspec.structs.replace(manifest, schema=RUN_SCHEMA), place)
    _sync(place)
    _sync(place.parent)


def end_run(run: Run, place: Path) -> None:
    """Add what is to be kept to a run that was begun, the manifest last. Raises OSError; the run can then be opened as it was."""
    _write_draft(run, place)


def check_target(place: Path) -> None:
    """Raise FileExistsError where there is more than an empty directory, OSError where nothing can be written."""
    if os.path.lexists(place) and (not place.is_dir() or place.is_symlink() or any(place.iterdir())):
        raise FileExistsError(errno.EEXIST, f"{place} exists already; a run is written once")
    check_parent(place)


def _write_draft(run: Run, draft: Path) -> None:
    raw = draft / RAW_NAME
    raw.mkdir(parents=True, exist_ok=True)
    written: list[Path] = []
    held: list[Held] = []
    taken: set[str] = set()
    for reply in run.replies:
        name = None
        if reply.content is not None:
            name = _file_name(reply, taken)
            target = raw / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(reply.content)
            written.append(target)
        held.append(Held(kind=reply.kind, request=reply.request, file=name, reason=reply.reason, why=reply.why))
    for path in written:
        _sync(path)
    _write_whole(b"".join(record_lines.encoded(item) + b"\n" for item in run.records), draft / RECORDS_NAME)
    _write_manifest(msgspec.structs.replace(run.manifest, schema=RUN_SCHEMA, sources=tuple(held)), draft)
    for folder in {path.parent for path in written} | {draft, raw}:
        _sync(folder)


def _write_manifest(manifest: Manifest, folder: Path) -> None:
    _write_whole(msgspec.json.format(msgspec.json.encode(manifest), indent=1), folder / MANIFEST_NAME)


def _write_whole(content: bytes, path: Path) -> None:
    """Write or replace a file, whole or not at all."""
    part = path.parent / f".{path.name}.part"
    try:
        part.write_bytes(content)
        _sync(part)
        part.rename(path)
    finally:
        part.unlink(missing_ok=True)


def _file_name(reply: Reply, taken: set[str]) -> str:
    """A safe name below `raw/`: a file's own path, quoted; for other requests their kind and a digest.

    `taken` holds the names of files given so far and, with a slash at the end, of their directories.
    """
    digest = hashlib.sha256(reply.request.encode(errors="surrogateescape")).hexdigest()[:24]
    name = f"{reply.kind}/{digest}"
    if reply.kind == "file":
        parts = [_safe(part) for part in reply.request.split("/") if part]
        own = "/".join(["files", *parts])
        folders = {f"{'/'.join(['files', *parts[:count]])}" for count in range(1, len(parts))}
        if parts and own not in taken and f"{own}/" not in taken and not folders & taken:
            name = own
    taken.add(name)
    pieces = name.split("/")
    taken.update("/".join(pieces[:count]) + "/" for count in range(1, len(pieces)))
    return name


def _safe(part: str) -> str:
    quoted = quote(part.encode(errors="surrogateescape"), safe=" :@,=+-_.()[]")
    if quoted.strip(".") == "":
        quoted = quoted.replace(".", "%2E")
    return quoted if len(quoted) <= LONGEST_NAME else hashlib.sha256(quoted.encode()).hexdigest()


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def list_runs(folder: Path) -> tuple[Path, ...]:
    """Runs in a directory, by name; drafts of a process that was killed are none."""
    if not folder.is_dir():
        return ()
    return tuple(sorted(path for path in folder.iterdir() if not path.name.startswith(".") and _has_manifest(path)))


def _has_manifest(path: Path) -> bool:
    try:
        return (path / MANIFEST_NAME).is_file()
    except OSError:  # somebody else's, that may not be looked into
        return False


def open_run(place: Path) -> Run:
    """Open a run as far as it can be read; what cannot be is a problem."""
    problems: list[Problem] = []
    manifest = _manifest(place, problems)
    replies = tuple(_replies(place / RAW_NAME, manifest, problems)) if manifest else tuple(_found_files(place / RAW_NAME, problems))
    has_no_records_yet = manifest is not None and _is_open(manifest) and not (place / RECORDS_NAME).exists()
    lines = None if has_no_records_yet else _read(place, RECORDS_NAME, MOST_RECORDS_BYTES, problems)
    kept = tuple(record_lines.decoded((lines or b"").split(b"\n"), str(place / RECORDS_NAME)))
    return Run(manifest=manifest or Manifest(), replies=replies, records=kept, problems=tuple(problems))


def _manifest(place: Path, problems: list[Problem]) -> Manifest | None:
    content = _read(place, MANIFEST_NAME, MOST_MANIFEST_BYTES, problems)
    if content is None:
        return None
    try:
        manifest = msgspec.json.decode(content, type=Manifest)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        problems.append(_problem(place / MANIFEST_NAME, f"the manifest is damaged: {error}", f"清单已损坏：{error}"))
        return None
    problems.extend(newer(manifest.schema, RUN_SCHEMA, place / MANIFEST_NAME))
    if _is_open(manifest):
        en = "the recording was never ended: it has what was flushed until then, or is still going on"
        problems.append(_problem(place, en, "记录未正常结束：其中只有当时已写出的部分，或仍在记录"))
    return manifest


def _is_open(manifest: Manifest) -> bool:
    return manifest.recording is not None and manifest.recording.ended is None


def newer(schema: str, known: str, path: Path) -> Iterator[Problem]:
    """A problem when a schema is not the known one; reading goes on with what is understood."""
    if schema != known:
        yield _problem(path, f"written as {schema}; this version knows {known}", f"格式为 {schema}，本版本支持 {known}")


def _replies(raw: Path, manifest: Manifest, problems: list[Problem]) -> Iterator[Reply]:
    for held in manifest.sources:
        content = _read(raw, held.file, MOST_RAW_BYTES, problems) if held.file is not None else None
        lost = held.file is not None and content is None
        yield Reply(
            kind=held.kind,
            request=held.request,
            content=content,
            reason="absent" if lost else held.reason,
            why=None if lost else held.why,
        )


def _found_files(raw: Path, problems: list[Problem]) -> Iterator[Reply]:
    """Files below `raw/files`, when the manifest is lost: their names still say what they are."""
    root = raw / "files"
    if not root.is_dir() or root.is_symlink():
        return
    for path in sorted(root.rglob("*")):
        if path.is_file() and not path.is_symlink():
            name = str(path.relative_to(root))
            content = _read(root, name, MOST_RAW_BYTES, problems)
            yield Reply(kind="file", request="/" + unquote(name), content=content, reason=None if content is not None else "absent")


def _read(root: Path, name: str, most_bytes: int, problems: list[Problem]) -> bytes | None:
    """A plain file below `root`, bounded; a name that leads out of it, a link or a device is refused."""
    parts = name.split("/")
    path = root.joinpath(*parts)
    if name.startswith("/") or any(part in ("", ".", "..") for part in parts) or "\0" in name:
        problems.append(_problem(root, f"a name leads out of the run: {name!r}", f"名称指向运行目录之外：{name!r}"))
        return None
    try:
        if any(folder.is_symlink() for folder in [path, *path.parents][: len(parts)]) or not stat.S_ISREG(path.lstat().st_mode):
            problems.append(_problem(path, "is not a plain file", "不是普通文件"))
            return None
        with path.open("rb") as file:
            content = file.read(most_bytes + 1)
    except OSError as error:
        problems.append(_problem(path, f"cannot be read: {error.strerror}", f"无法读取：{error.strerror}"))
        return None
    if len(content) > most_bytes:
        problems.append(_problem(path, f"is larger than {most_bytes} bytes", f"大于 {most_bytes} 字节"))
        return None
    return content


def _problem(path: Path, en: str, zh: str) -> Problem:
    return Problem(source=Source(tool="archive", path=str(path)), why=Text(en=en, zh=zh))
