"""Open what the user names: files, directories, archives, compressed streams, runs and standard input, as bounded lines."""

import base64
import binascii
import os
import stat
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import BinaryIO, cast

import msgspec

from wirespeed.machines.archives import (
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
from wirespeed.machines.streams import CHUNK_BYTES, Opener, StreamLines, spooled
from wirespeed.model.lines import Lines, MemoryLines
from wirespeed.model.run import MANIFEST_NAME, RAW_NAME, CaseFile, Manifest
from wirespeed.model.source import Problem
from wirespeed.model.text import Text

STDIN = "-"
MOST_STDIN_BYTES = 2 * 1024**3
MOST_FILES = 20_000
"""Files read of one directory."""
MOST_NESTING = 2
"""An archive, and an archive or compressed file inside it."""
MOST_CASE_BYTES = 256 * 1024**2
_RUN_MARK, _CASE_MARK = b'"wirespeed/run/', b'"wirespeed/case/'
_MARK_WITHIN_BYTES = 512
_SKIPPED_FOLDERS = frozenset({".git", ".hg", ".svn", "__pycache__", "node_modules"})


def open_inputs(paths: tuple[str, ...]) -> Iterator[Lines | Problem]:
    """Every text in the inputs, in a stable order; what cannot be opened is a problem and the rest is still read."""
    for name in paths:
        try:
            if name == STDIN:
                yield from _open_stdin()
            elif Path(name).is_dir():
                yield from _open_directory(Path(name), name)
            else:
                yield from _open_file(Path(name), name, is_named=True)
        except OSError as error:
            yield _of_error(name, error)


def _open_stdin() -> Iterator[Lines | Problem]:
    left = MOST_STDIN_BYTES
    is_cut = False

    def pieces() -> Iterator[bytes]:
        nonlocal left, is_cut
        while piece := sys.stdin.buffer.read(CHUNK_BYTES):
            if len(piece) > left:
                is_cut = True
                return
            left -= len(piece)
            yield piece

    yield from _open_content(STDIN, spooled(pieces()), Budget(), MOST_NESTING, is_named=True)
    if is_cut:
        yield problem(
            STDIN, Text(en=f"only the first {MOST_STDIN_BYTES} bytes were read", zh=f"仅读取了前 {MOST_STDIN_BYTES} 字节")
        )


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
            if path.is_symlink() and not path.resolve().is_relative_to(root):
                yield problem(str(path), Text(en="a link that leads out of the directory", zh="指向目录之外的链接"))
                continue
            try:
                yield from _open_file(path, str(path), is_named=False)
            except OSError as error:
                yield _of_error(str(path), error)
    yield from (_of_error(str(error.filename), error) for error in refused)


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
                yield from _open_content(*member, budget, nesting - 1, is_named=False)
    elif _CASE_MARK in head:
        yield from _open_case(name, opener)
    else:
        lines = StreamLines(name, opener)
        if not lines.is_binary:
            yield lines
        elif is_named:
            yield problem(name, Text(en="is a binary file of a kind that is not read", zh="是无法读取的二进制文件"))


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
    """Whether a directory is a saved run."""
    try:
        with (folder / MANIFEST_NAME).open("rb") as file:
            return _RUN_MARK in file.read(_MARK_WITHIN_BYTES)
    except OSError:
        return False


def is_case(path: Path) -> bool:
    """Whether a file is a case file."""
    try:
        with path.open("rb") as file:
            return _CASE_MARK in file.read(_MARK_WITHIN_BYTES)
    except OSError:
        return False


def _open_run(folder: Path, name: str) -> Iterator[Lines | Problem]:
    """The texts a user gave that a run holds; what its machine answered is for the collectors."""
    try:
        manifest = msgspec.json.decode((folder / MANIFEST_NAME).read_bytes(), type=Manifest)
    except (msgspec.DecodeError, UnicodeDecodeError, OSError, RecursionError) as error:
        yield problem(name, Text(en=f"the run's manifest is damaged: {error}", zh=f"运行清单已损坏：{error}"))
        return
    root = (folder / RAW_NAME).resolve()
    for held in manifest.sources:
        if held.file is None or held.kind != "input":
            continue
        path = (root / held.file).resolve()
        if not path.is_relative_to(root) or not path.is_file():
            yield problem(f"{name}!{held.request}", Text(en="is missing from the run", zh="运行目录中缺少该内容"))
            continue
        yield from _open_reply(name, held.request, path.read_bytes())


def _open_case(name: str, opener: Opener) -> Iterator[Lines | Problem]:
    """The texts a user gave that a case file holds."""
    with opener() as file:
        content = file.read(MOST_CASE_BYTES + 1)
    if len(content) > MOST_CASE_BYTES:
        yield problem(name, Text(en=f"is larger than {MOST_CASE_BYTES} bytes", zh=f"大于 {MOST_CASE_BYTES} 字节"))
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
        yield from _open_reply(name, held.request, raw)


def _open_reply(name: str, request: str, raw: bytes) -> Iterator[Lines]:
    if raw and b"\0" not in raw:
        yield MemoryLines(raw.decode(errors="replace"), f"{name}!{request}")


def _of_error(name: str, error: OSError) -> Problem:
    trouble = problem_of(error, name)
    return msgspec.structs.replace(problem(name, trouble.why), reason=trouble.reason)
