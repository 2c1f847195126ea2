"""Open what the user names: files, directories, archives, compressed streams, runs and standard input, as bounded lines."""

import base64
import binascii
import os
import re
import stat
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import BinaryIO, cast

import msgspec

from wirespeed.machines.archives import (
    DAMAGE,
    Budget,
    Refused,
    compression_of,
    decompressed,
    is_tar,
    is_zip,
    problem,
    tar_members,
    zip_members,
)
from wirespeed.machines.machine import problem_of
from wirespeed.machines.streams import CHUNK_BYTES, Opener, StreamLines, shown, spooled
from wirespeed.model.lines import Lines, MemoryLines
from wirespeed.model.run import MANIFEST_NAME, RAW_NAME, RECORDS_NAME, CaseFile, Manifest
from wirespeed.model.source import Problem
from wirespeed.model.text import Text

STDIN = "-"
MOST_STDIN_BYTES = 2 * 1024**3
MOST_FILES = 20_000
"""Files read of one directory."""
MOST_NESTING = 2
"""An archive, and an archive or compressed file inside it."""
MOST_CASE_BYTES = 256 * 1024**2
_MARK_WITHIN_BYTES = 512
_RUN_MARK = re.compile(rb'\s*\{(?s:.*)"schema"\s*:\s*"wirespeed/run/')
_CASE_MARK = re.compile(rb'\s*\{(?s:.*)"schema"\s*:\s*"wirespeed/case/')
_OF_SHELL = re.compile(r"/dev/stdin|/(?:dev|proc/self)/fd/(?P<number>\d+)")
"""Names of open descriptors; the shell gives `<(command)` such a name."""
UNREADABLE = DAMAGE
"""What opening and reading an input may fail with; whatever else is raised is our own mistake."""
_SKIPPED_FOLDERS = frozenset({".git", ".hg", ".svn", "__pycache__", "node_modules"})

_TOO_LARGE = Text(en=f"is larger than {MOST_CASE_BYTES} bytes", zh=f"大于 {MOST_CASE_BYTES} 字节")
_BINARY = Text(en="is a binary file of a kind that is not read", zh="是无法读取的二进制文件")


def open_inputs(paths: tuple[str, ...]) -> Iterator[Lines | Problem]:
    """Every text in the inputs, in a stable order; what cannot be opened is a problem and the rest is still read."""
    for name in paths:
        yield from _guarded(name, _open_named(name))


def unreadable(name: str, error: Exception) -> Problem:
    """The problem that an error of `UNREADABLE` stands for."""
    if isinstance(error, OSError):
        trouble = problem_of(error, shown(name))
        return msgspec.structs.replace(problem(name, trouble.why), reason=trouble.reason)
    said = shown(str(error)) or type(error).__name__
    return problem(name, Text(en=f"cannot be read: {said}", zh=f"无法读取：{said}"))


def _guarded(name: str, items: Iterator[Lines | Problem]) -> Iterator[Lines | Problem]:
    """What an input gives; whatever it fails with costs no other input."""
    try:
        yield from items
    except UNREADABLE as error:
        yield unreadable(name, error)


def _open_named(name: str) -> Iterator[Lines | Problem]:
    path = Path(name)
    if name == STDIN:
        yield from _open_stream(name, sys.stdin.buffer)
    elif path.is_dir():
        yield from _open_directory(path, name)
    elif (given := _OF_SHELL.fullmatch(name)) and not stat.S_ISREG(path.stat().st_mode):
        with os.fdopen(os.dup(int(given["number"] or 0)), "rb") as stream:
            yield from _open_stream(name, stream)
    else:
        yield from _open_file(path, name, is_named=True)


def _open_stream(name: str, stream: BinaryIO) -> Iterator[Lines | Problem]:
    """Standard input, or a pipe that the shell made: read once, and kept."""
    left = MOST_STDIN_BYTES
    is_cut = False

    def pieces() -> Iterator[bytes]:
        nonlocal left, is_cut
        while piece := stream.read(CHUNK_BYTES):
            if len(piece) > left:
                is_cut = True
                return
            left -= len(piece)
            yield piece

    yield from _open_content(name, spooled(pieces()), Budget(), MOST_NESTING, is_named=True)
    if is_cut:
        yield problem(name, Text(en=f"only the first {MOST_STDIN_BYTES} bytes were read", zh=f"仅读取了前 {MOST_STDIN_BYTES} 字节"))


def _open_directory(folder: Path, name: str) -> Iterator[Lines | Problem]:
    """Plain files below a directory. Links are followed only to plain files inside it."""
    if is_run(folder):
        yield from _open_run(folder, name)
        return
    root = folder.resolve()
    seen = 0
    refused: list[OSError] = []
    for place, folders, files in os.walk(folder, onerror=refused.append):
        folders[:] = sorted(one for one in folders if one not in _SKIPPED_FOLDERS)
        if Path(place) != folder and is_run(Path(place)):
            folders.clear()
            yield from _open_run(Path(place), place)
            continue
        for file in sorted(files):
            path = Path(place) / file
            seen += 1
            if seen > MOST_FILES:
                yield problem(name, Text(en=f"only the first {MOST_FILES} files were read", zh=f"仅读取了前 {MOST_FILES} 个文件"))
                return
            yield from _guarded(str(path), _open_listed(path, root))
    yield from (unreadable(str(error.filename), error) for error in refused)


def _open_listed(path: Path, root: Path) -> Iterator[Lines | Problem]:
    """A file found in a directory. A manifest is missed when it is none, as if it had been named."""
    if path.is_symlink() and not path.resolve().is_relative_to(root):
        yield problem(str(path), Text(en="a link that leads out of the directory", zh="指向目录之外的链接"))
    else:
        yield from _open_file(path, str(path), is_named=path.name == MANIFEST_NAME)


def _open_file(path: Path, name: str, is_named: bool) -> Iterator[Lines | Problem]:
    if not stat.S_ISREG(path.stat().st_mode):
        if is_named:
            yield problem(name, Text(en="is not a plain file", zh="不是普通文件"))
        return
    yield from _open_content(name, partial(_opened, path), Budget(), MOST_NESTING, is_named)


def _opened(path: Path) -> BinaryIO:
    return cast(BinaryIO, path.open("rb"))


def _open_content(name: str, opener: Opener, budget: Budget, nesting: int, is_named: bool) -> Iterator[Lines | Problem]:
    """Text as lines; what is packed is unpacked first, as deep as `nesting` allows."""
    with opener() as file:
        head = file.read(_MARK_WITHIN_BYTES)
    compression = compression_of(head)
    if (compression or is_tar(head) or is_zip(head)) and nesting == 0:
        yield problem(name, Text(en="is packed too deep and was not opened", zh="嵌套层数过多，未打开"))
        return
    if compression:
        yield from _open_compressed(name, opener, compression, budget, nesting, is_named)
    elif is_tar(head) or is_zip(head):
        members = tar_members(opener, name, budget) if is_tar(head) else zip_members(opener, name, budget)
        for member in members:
            if isinstance(member, Problem):
                yield member
            else:
                yield from _guarded(member[0], _open_content(*member, budget, nesting - 1, is_named=False))
    elif _CASE_MARK.match(head):
        yield from _open_case(name, opener)
    else:
        lines = StreamLines(name, opener)
        if not lines.is_binary:
            yield lines
        elif is_named:
            yield problem(name, _BINARY)


def _open_compressed(
    name: str, opener: Opener, compression: str, budget: Budget, nesting: int, is_named: bool
) -> Iterator[Lines | Problem]:
    """A compressed archive counts as one level, as people see it."""
    try:
        content = decompressed(opener, compression, budget)
    except Refused as refusal:
        yield problem(name, refusal.why)
        return
    yield from budget.told_damage(name)
    with content() as file:
        head = file.read(_MARK_WITHIN_BYTES)
    inner = nesting if is_tar(head) else nesting - 1
    yield from _open_content(name, content, budget, inner, is_named)


def is_run(folder: Path) -> bool:
    """Whether a directory is a saved run: by its manifest, or by what lies beside a manifest that is lost."""
    if _RUN_MARK.match(_first_bytes(folder / MANIFEST_NAME)):
        return True
    return os.path.isfile(folder / RECORDS_NAME) and os.path.isdir(folder / RAW_NAME)  # noqa: PTH112, PTH113 - these never raise


def is_case(path: Path) -> bool:
    """Whether a file is a case file."""
    return _CASE_MARK.match(_first_bytes(path)) is not None


def _first_bytes(path: Path) -> bytes:
    """The head of a plain file; nothing of anything else, since opening a pipe would wait for its writer."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            return b""
        with path.open("rb") as file:
            return file.read(_MARK_WITHIN_BYTES)
    except (OSError, ValueError):
        return b""


def _open_run(folder: Path, name: str) -> Iterator[Lines | Problem]:
    """The texts a user gave that a run holds; what its machine answered is for the collectors."""
    raw = folder / RAW_NAME
    try:
        manifest = _manifest(folder / MANIFEST_NAME)
    except (msgspec.DecodeError, *UNREADABLE) as error:
        yield problem(name, Text(en=f"the run's manifest is damaged: {error}", zh=f"运行清单已损坏：{error}"))
        given = sorted((raw / "input").iterdir()) if (raw / "input").is_dir() else []
        held = [(str(path.relative_to(raw)), path.name) for path in given]
    else:
        held = [(one.file, one.request) for one in manifest.sources if one.file is not None and one.kind == "input"]
    for file, request in held:
        yield from _guarded(f"{name}!{request}", _open_held(raw.resolve(), file, f"{name}!{request}"))


def _manifest(path: Path) -> Manifest:
    if not stat.S_ISREG(path.lstat().st_mode):
        raise OSError("is not a plain file")
    with path.open("rb") as file:
        return msgspec.json.decode(file.read(MOST_CASE_BYTES), type=Manifest)


def _open_held(raw: Path, file: str, name: str) -> Iterator[Lines | Problem]:
    path = (raw / file).resolve()
    if not path.is_relative_to(raw) or not path.is_file():
        yield problem(name, Text(en="is missing from the run", zh="运行目录中缺少该内容"))
        return
    if path.stat().st_size > MOST_CASE_BYTES:
        yield problem(name, _TOO_LARGE)
        return
    lines = StreamLines(name, partial(_opened, path))
    yield problem(name, _BINARY) if lines.is_binary else lines


def _open_case(name: str, opener: Opener) -> Iterator[Lines | Problem]:
    """The texts a user gave that a case file holds."""
    with opener() as file:
        content = file.read(MOST_CASE_BYTES + 1)
    if len(content) > MOST_CASE_BYTES:
        yield problem(name, _TOO_LARGE)
        return
    try:
        case = msgspec.json.decode(content, type=CaseFile)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        yield problem(name, Text(en=f"the case file is damaged: {error}", zh=f"案例文件已损坏：{error}"))
        return
    for held in case.replies:
        if (held.text is None and held.base64 is None) or held.kind != "input":
            continue
        try:
            raw = held.text.encode() if held.text is not None else base64.b64decode(held.base64 or "", validate=True)
        except (binascii.Error, ValueError):
            yield problem(f"{name}!{held.request}", Text(en="is damaged in the case file", zh="案例文件中的该内容已损坏"))
            continue
        if raw and b"\0" not in raw:
            yield MemoryLines(raw.decode(errors="replace"), shown(f"{name}!{held.request}"))
