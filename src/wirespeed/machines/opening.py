"""Open what the user names: files, directories, archives, compressed streams, runs and standard input, as bounded lines."""

import base64
import binascii
import os
import re
import stat
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import BinaryIO, TypeAlias, cast

import msgspec

from wirespeed.machines.archives import (
    DAMAGE,
    Advance,
    Budget,
    Refused,
    compression_of,
    decompressed,
    is_tar,
    is_zip,
    problem,
    unheard,
)
from wirespeed.machines.bundles import Bundle, bundle_of, bundles_below, bundles_in, is_told, packed_bundle, untold
from wirespeed.machines.captured import MOST_FILE_BYTES, Packed, Tree
from wirespeed.machines.contents import Contents, Entry, links_told, tar_contents, zip_contents
from wirespeed.machines.cutting import MARK_WITHIN_BYTES, cut, is_made_of_many
from wirespeed.machines.machine import MachineProblem, problem_of
from wirespeed.machines.streams import CHUNK_BYTES, Opener, StreamBytes, StreamLines, is_capture, shown, spooled
from wirespeed.model.lines import UNKNOWN_ORIGIN, Lines, MemoryLines, Origin
from wirespeed.model.run import MANIFEST_NAME, RAW_NAME, RECORDS_NAME, CaseFile, Manifest
from wirespeed.model.source import Problem
from wirespeed.model.text import Text

STDIN = "-"
MOST_STDIN_BYTES = 2 * 1024**3
MOST_FILES = 20_000
"""Files read of one directory."""
MOST_NESTING = 2
"""An archive, and an archive inside it. Either may hold compressed files."""
MOST_CASE_BYTES = 256 * 1024**2
_RUN_MARK = re.compile(rb'\s*\{(?s:.*)"schema"\s*:\s*"wirespeed/run/')
_CASE_MARK = re.compile(rb'\s*\{(?s:.*)"schema"\s*:\s*"wirespeed/case/')
_INVOKED = re.compile(rb"Invoked Command: ([^\r\n]{1,400})")
_OF_SHELL = re.compile(r"/dev/stdin|/(?:dev|proc/self)/fd/(?P<number>\d+)")
"""Names of open descriptors; the shell gives `<(command)` such a name."""
UNREADABLE = DAMAGE
"""What opening and reading an input may fail with; whatever else is raised is our own mistake."""
_SKIPPED_FOLDERS = frozenset({".git", ".hg", ".svn", "__pycache__", "node_modules"})

_TOO_LARGE = Text(en=f"is larger than {MOST_CASE_BYTES} bytes", zh=f"大于 {MOST_CASE_BYTES} 字节")
_BINARY = Text(en="is a binary file of a kind that is not read", zh="是无法读取的二进制文件")


@dataclass(frozen=True, slots=True)
class Found:
    """A machine whose /proc and /sys were copied into an input. Whoever takes its facts does so before asking for the next text:
    files that were read for facts are not given again."""

    path: str
    machine: Packed | Tree


Opened: TypeAlias = Lines | StreamBytes | Problem | Found
"""A text, a packet capture as bytes, what could not be opened, or a machine."""


def open_inputs(paths: tuple[str, ...], tell: Callable[[Advance], None] = unheard) -> Iterator[Opened]:
    """Every text, packet capture and copied machine in the inputs, in a stable order; what cannot be opened is a problem, the rest is read.

    `tell` hears how far the reading of an archive has come.
    """
    for name in paths:
        yield from _guarded(name, _open_named(name, tell))


def unreadable(name: str, error: Exception) -> Problem:
    """The problem that an error of `UNREADABLE` stands for."""
    if isinstance(error, OSError):
        trouble = problem_of(error, shown(name))
        return msgspec.structs.replace(problem(name, trouble.why), reason=trouble.reason)
    said = shown(str(error)) or type(error).__name__
    return problem(name, Text(en=f"cannot be read: {said}", zh=f"无法读取：{said}"))


def _guarded(name: str, items: Iterator[Opened]) -> Iterator[Opened]:
    """What an input gives; whatever it fails with costs no other input."""
    try:
        yield from items
    except UNREADABLE as error:
        yield unreadable(name, error)


def _open_named(name: str, tell: Callable[[Advance], None]) -> Iterator[Opened]:
    path = Path(name)
    budget = Budget()
    budget.tell = tell
    if name == STDIN:
        yield from _open_stream(name, sys.stdin.buffer, budget)
    elif path.is_dir():
        yield from _open_directory(path, name)
    elif (given := _OF_SHELL.fullmatch(name)) and not stat.S_ISREG(path.stat().st_mode):
        with os.fdopen(os.dup(int(given["number"] or 0)), "rb") as stream:
            yield from _open_stream(name, stream, budget)
    else:
        yield from _open_file(path, name, budget, is_named=True)


def _open_stream(name: str, stream: BinaryIO, budget: Budget) -> Iterator[Opened]:
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

    yield from _open_content(name, spooled(pieces()), budget, MOST_NESTING)
    if is_cut:
        yield problem(name, Text(en=f"only the first {MOST_STDIN_BYTES} bytes were read", zh=f"仅读取了前 {MOST_STDIN_BYTES} 字节"))


def _open_directory(folder: Path, name: str) -> Iterator[Opened]:
    """Plain files below a directory. Links are followed only to plain files inside it."""
    if is_run(folder):
        yield from _open_run(folder, name)
        return
    bundles = bundles_below(folder)
    left_out = _LeftOut(name)
    yield from _machines_of(bundles, name)
    refused: list[OSError] = []
    for place, inside in _walked(folder, name, refused):
        if isinstance(place, Problem):
            yield place
        elif inside is None:
            yield from _open_run(place, str(place))
        else:
            bundle = bundle_of(bundles, inside)
            if bundle is None or not left_out.counts(bundle, inside):
                origin = bundle.origin_of(inside) if bundle else UNKNOWN_ORIGIN
                yield from left_out.without_binaries(_guarded(str(place), _open_listed(place, folder.resolve(), origin)))
    yield from left_out.told()
    yield from (unreadable(str(error.filename), error) for error in refused)


def _walked(folder: Path, name: str, refused: list[OSError]) -> Iterator[tuple[Path, str | None] | tuple[Problem, None]]:
    """Every file of a directory with its name inside, and every saved run, which has none."""
    seen = 0
    for place, folders, files in os.walk(folder, onerror=refused.append):
        folders[:] = sorted(one for one in folders if one not in _SKIPPED_FOLDERS)
        if Path(place) != folder and is_run(Path(place)):
            folders.clear()
            yield Path(place), None
            continue
        for file in sorted(files):
            seen += 1
            if seen > MOST_FILES:
                yield (
                    problem(name, Text(en=f"only the first {MOST_FILES} files were read", zh=f"仅读取了前 {MOST_FILES} 个文件")),
                    None,
                )
                return
            path = Path(place) / file
            yield path, path.relative_to(folder).as_posix()


class _LeftOut:
    """How many files of an archive or a directory were not read, and why."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._counts: Counter[str] = Counter()
        self._binaries_count = 0

    def counts(self, bundle: Bundle, inside: str) -> bool:
        """Whether a file of a gathered tree is left out."""
        reason = bundle.left_out(inside)
        if reason is not None:
            self._counts[reason] += 1
        return reason is not None

    def without_binaries(self, items: Iterator[Opened]) -> Iterator[Opened]:
        """What a member gives; binary files are counted."""
        for item in items:
            if isinstance(item, Problem) and item.why is _BINARY:
                self._binaries_count += 1
            else:
                yield item

    def told(self) -> Iterator[Problem]:
        """One problem for each kind."""
        for reason, count in self._counts.items():
            if is_told(reason):
                yield problem(self._name, untold(reason, count))
        if self._binaries_count:
            en, zh = (
                f"{self._binaries_count} binary files of kinds that are not read",
                f"{self._binaries_count} 个无法读取的二进制文件",
            )
            yield problem(self._name, Text(en=en, zh=zh))


def _machines_of(bundles: tuple[Bundle, ...], name: str) -> Iterator[Found]:
    for bundle in bundles:
        if bundle.machine is not None:
            yield Found(shown(f"{name}!{bundle.root}" if bundle.root else name), bundle.machine)


def _open_listed(path: Path, root: Path, origin: Origin) -> Iterator[Opened]:
    """A file found in a directory. A manifest is missed when it is none, as if it had been named."""
    if path.is_symlink() and not path.resolve().is_relative_to(root):
        yield problem(str(path), Text(en="a link that leads out of the directory", zh="指向目录之外的链接"))
    else:
        yield from _open_file(path, str(path), Budget(), is_named=path.name == MANIFEST_NAME, origin=origin)


def _open_file(path: Path, name: str, budget: Budget, is_named: bool, origin: Origin = UNKNOWN_ORIGIN) -> Iterator[Opened]:
    if not stat.S_ISREG(path.stat().st_mode):
        if is_named:
            yield problem(name, Text(en="is not a plain file", zh="不是普通文件"))
        return
    yield from _open_content(name, partial(_opened, path), budget, MOST_NESTING, origin)


def _opened(path: Path) -> BinaryIO:
    return cast(BinaryIO, path.open("rb"))


def _open_content(name: str, opener: Opener, budget: Budget, nesting: int, origin: Origin = UNKNOWN_ORIGIN) -> Iterator[Opened]:
    """Text as lines; what is packed is unpacked first, as deep as `nesting` allows."""
    with opener() as file:
        head = file.read(MARK_WITHIN_BYTES)
    compression = compression_of(head)
    if nesting <= 0 and (is_tar(head) or is_zip(head) or (compression and nesting < 0)):
        yield problem(name, Text(en="is packed too deep and was not opened", zh="嵌套层数过多，未打开"))
    elif compression:
        yield from _open_compressed(name, opener, compression, budget, nesting, origin)
    elif is_tar(head) or is_zip(head):
        contents = tar_contents(opener, name, budget) if is_tar(head) else zip_contents(opener, name, budget)
        bundles = bundles_in(_readings(contents), contents.links)
        if not any(bundle.machine for bundle in bundles):
            contents.problems.extend(links_told(name, contents))
        yield from _open_contents(name, contents, bundles, budget, nesting - 1, origin)
    elif _CASE_MARK.match(head):
        yield from _open_case(name, opener)
    elif nesting >= 0 and is_made_of_many(head) and (parts := cut(opener)) is not None:
        bundle = packed_bundle("", "parts", _readings(parts.contents), {}, parts.host or origin.host, parts.commands)
        yield from _open_contents(name, parts.contents, (bundle,), budget, -1, origin)
    elif is_capture(head):
        yield StreamBytes(name, opener, origin)
    else:
        lines = StreamLines(name, opener, _with_command(head, origin))
        yield problem(name, _BINARY) if lines.is_binary else lines


def _with_command(head: bytes, origin: Origin) -> Origin:
    """NVIDIA's sysinfo-snapshot writes above each output which command it is of."""
    found = _INVOKED.match(head) if origin.is_collected and origin.command is None else None
    return origin if found is None else msgspec.structs.replace(origin, command=found[1].decode(errors="replace"))


def _open_contents(
    name: str, contents: Contents, bundles: tuple[Bundle, ...], budget: Budget, nesting: int, around: Origin
) -> Iterator[Opened]:
    """The machines in an archive, then its texts; where no tree of its own tells more, they are of whence the archive is."""
    around = Origin(host=around.host, is_collected=around.is_collected)
    left_out = _LeftOut(name)
    yield from _machines_of(bundles, name)
    all_bytes = sum(entry.size_bytes for entry in contents.files.values())
    gone_bytes = 0
    for number, (inside, entry) in enumerate(contents.files.items()):
        budget.tell(Advance(name, number, len(contents.files), gone_bytes, all_bytes))
        gone_bytes += entry.size_bytes
        bundle = bundle_of(bundles, inside)
        if bundle is not None and left_out.counts(bundle, inside):
            continue
        path = f"{name}!{entry.name}"
        origin = bundle.origin_of(inside) if bundle else around
        yield from left_out.without_binaries(_guarded(path, _open_entry(path, entry, budget, nesting, origin)))
    yield from contents.problems
    yield from left_out.told()


def _open_entry(path: str, entry: Entry, budget: Budget, nesting: int, origin: Origin) -> Iterator[Opened]:
    try:
        opener = entry.content()
    except Refused as refusal:
        yield problem(path, refusal.why)
        return
    except DAMAGE as error:
        yield problem(path, Text(en=f"cannot be unpacked: {error}", zh=f"无法解压：{error}"))
        return
    yield from budget.told_damage(path)
    yield from _open_content(path, opener, budget, nesting, origin)


def _readings(contents: Contents) -> dict[str, Callable[[], bytes]]:
    return {name: partial(_reading, entry) for name, entry in contents.files.items()}


def _reading(entry: Entry) -> bytes:
    """The content of a file of a copied machine, or a MachineProblem."""
    try:
        with entry.content()() as file:
            return file.read(MOST_FILE_BYTES)
    except (Refused, *DAMAGE) as error:
        raise MachineProblem("unsupported", Text(en=f"{entry.name}: {error}", zh=f"{entry.name}：{error}")) from error


def _open_compressed(name: str, opener: Opener, compression: str, budget: Budget, nesting: int, origin: Origin) -> Iterator[Opened]:
    """A compressed archive counts as one level, as people see it."""
    try:
        content = decompressed(opener, compression, budget)
    except Refused as refusal:
        yield problem(name, refusal.why)
        return
    yield from budget.told_damage(name)
    with content() as file:
        head = file.read(MARK_WITHIN_BYTES)
    inner = nesting if is_tar(head) else nesting - 1
    yield from _open_content(name, content, budget, inner, origin)


def is_run(folder: Path) -> bool:
    """Whether a directory is a saved run: by its manifest, or by what lies beside a manifest that is lost."""
    if _RUN_MARK.match(_first_bytes(folder / MANIFEST_NAME)):
        return True
    return os.path.isfile(folder / RECORDS_NAME) and os.path.isdir(folder / RAW_NAME)  # noqa: PTH112, PTH113 - these never raise


def is_case(path: Path) -> bool:
    """Whether a file is a case file."""
    return _CASE_MARK.match(_first_bytes(path)) is not None


def is_packed(path: Path) -> bool:
    """Whether a file is an archive or a compressed stream."""
    head = _first_bytes(path)
    return compression_of(head) is not None or is_tar(head) or is_zip(head)


def _first_bytes(path: Path) -> bytes:
    """The head of a plain file; nothing of anything else, since opening a pipe would wait for its writer."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            return b""
        with path.open("rb") as file:
            return file.read(MARK_WITHIN_BYTES)
    except (OSError, ValueError):
        return b""


def _open_run(folder: Path, name: str) -> Iterator[Opened]:
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


def _open_held(raw: Path, file: str, name: str) -> Iterator[Opened]:
    path = (raw / file).resolve()
    if not path.is_relative_to(raw) or not path.is_file():
        yield problem(name, Text(en="is missing from the run", zh="运行目录中缺少该内容"))
        return
    if path.stat().st_size > MOST_CASE_BYTES:
        yield problem(name, _TOO_LARGE)
        return
    lines = StreamLines(name, partial(_opened, path))
    yield problem(name, _BINARY) if lines.is_binary else lines


def _open_case(name: str, opener: Opener) -> Iterator[Opened]:
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
