"""What an archive or a directory holds: plain files by name, links as they are written, and what was refused.

Nothing is ever extracted to a path: content is read as streams, so a name cannot lead anywhere. Links are never followed out of the
archive, device files and pipes are refused.
"""

import io
import tarfile
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import IO, BinaryIO, cast

from wirespeed.machines.archives import DAMAGE, Budget, SmallReads, bounded, problem
from wirespeed.machines.streams import CHUNK_BYTES, Opener, spooled
from wirespeed.model.source import Problem
from wirespeed.model.text import Text


@dataclass(frozen=True, slots=True)
class Entry:
    """A plain file. `content` gives its bytes, unpacked where it is packed; raises `Refused` or an error of `DAMAGE`."""

    name: str
    size_bytes: int
    content: Callable[[], Opener]


@dataclass(slots=True)
class Contents:
    """Files and links by their names inside. Where a name stands twice the last counts, as it would when unpacked."""

    files: dict[str, Entry] = field(default_factory=dict)
    links: dict[str, str] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)


def tar_contents(opener: Opener, name: str, budget: Budget) -> Contents:
    """The contents of a tar archive. Content is a window of the archive itself, unless it is sparse."""
    found = _Found(name, budget)
    with opener() as file:
        packed_bytes = file.seek(0, 2)
        file.seek(0)
        try:
            with tarfile.open(fileobj=cast(IO[bytes], SmallReads(file)), mode="r:") as archive:
                for member in archive:
                    found.take_tar(member, opener, packed_bytes)
                    if found.is_full:
                        break
        except DAMAGE as error:
            found.is_damaged_by(error)
    return found.contents()


def zip_contents(opener: Opener, name: str, budget: Budget) -> Contents:
    """The contents of a zip archive."""
    found = _Found(name, budget)
    with opener() as file:
        try:
            with zipfile.ZipFile(cast(IO[bytes], SmallReads(file))) as archive:
                for info in archive.infolist():
                    found.take_zip(info, opener)
                    if found.is_full:
                        break
        except DAMAGE as error:
            found.is_damaged_by(error)
    return found.contents()


class _Found:
    """Contents while an archive is listed, and what was refused of it."""

    def __init__(self, archive: str, budget: Budget) -> None:
        self._archive = archive
        self._budget = budget
        self._found = Contents()
        self._refused: Counter[str] = Counter()

    @property
    def is_full(self) -> bool:
        return self._budget.left_members <= 0

    def take_tar(self, member: tarfile.TarInfo, opener: Opener, packed_bytes: int) -> None:
        is_link = member.issym() or member.islnk()
        reason = refusal(member.name, member.isreg() or member.isdir() or is_link)
        if reason is not None:
            self._refused[reason] += 1
        elif is_link:
            self._take_link(member.name, member.linkname, is_hard=member.islnk())
        elif member.issparse():
            self._take(Entry(member.name, member.size, lambda: _extracted(opener, member, self._budget, packed_bytes)))
        elif member.isreg():
            held = max(0, min(member.size, packed_bytes - member.offset_data))
            self._refused["cut"] += held < member.size
            window = window_of(opener, member.offset_data, held)
            self._take(Entry(member.name, held, lambda: window))

    def take_zip(self, info: zipfile.ZipInfo, opener: Opener) -> None:
        mode = info.external_attr >> 28
        reason = refusal(info.filename, mode in (0, 0x4, 0x8, 0xA)) or ("encrypted" if info.flag_bits & 1 else None)
        if reason is not None:
            self._refused[reason] += 1
        elif mode == 0xA:
            self._take_link(info.filename, "", is_hard=False)
        elif not info.is_dir():
            self._take(Entry(info.filename, info.file_size, lambda: _unzipped(opener, info, self._budget)))

    def _take(self, entry: Entry) -> None:
        self._budget.left_members -= 1
        inside = inside_name(entry.name)
        self._refused["twice"] += inside in self._found.files
        self._found.links.pop(inside, None)
        self._found.files[inside] = entry

    def _take_link(self, name: str, target: str, is_hard: bool) -> None:
        """A link is kept as it is written: it leads where a captured machine's paths lead, and nowhere else."""
        self._budget.left_members -= 1
        self._found.files.pop(inside_name(name), None)
        self._found.links[inside_name(name)] = f"/{inside_name(target)}" if is_hard else target

    def is_damaged_by(self, error: Exception) -> None:
        why = Text(en=f"the archive is damaged: {error}", zh=f"归档已损坏：{error}")
        self._found.problems.append(problem(self._archive, why))

    def contents(self) -> Contents:
        """What was found, with a problem for each kind of refusal."""
        self._found.problems.extend(_told(self._archive, self._refused, self._budget))
        return self._found


def inside_name(name: str) -> str:
    """A name without `./` and doubled slashes."""
    return "/".join(part for part in name.split("/") if part not in ("", "."))


def refusal(member: str, is_plain: bool) -> str | None:
    """Why a member is not read, by its name and kind."""
    if not member:
        return "nameless"
    if member.startswith(("/", "\\")) or ".." in member.replace("\\", "/").split("/") or "\0" in member:
        return "outside"
    return None if is_plain else "device"


_REASONS = {
    "nameless": ("members without a name were refused", "个成员没有名称，已拒绝"),
    "outside": ("members whose names lead out of the archive were refused", "个成员的名称指向归档之外，已拒绝"),
    "link": ("links were not followed", "个链接未跟随"),
    "device": ("device files and pipes were refused", "个设备文件或管道已拒绝"),
    "encrypted": ("members are encrypted and cannot be read", "个成员已加密，无法读取"),
    "cut": ("members are cut short", "个成员被截断"),
    "twice": ("members stand in the archive again further on, and the last counts", "个成员在归档中重复出现，以最后一个为准"),
}


def _told(name: str, refused: Counter[str], budget: Budget) -> Iterator[Problem]:
    for reason, count in refused.items():
        if count:
            en, zh = _REASONS[reason]
            yield problem(name, Text(en=f"{count} {en}", zh=f"{count} {zh}"))
    yield from budget.told_full(name)


def links_told(name: str, contents: Contents) -> Iterator[Problem]:
    """That links were left alone, for archives that hold no machine within which they could lead."""
    if contents.links:
        en, zh = _REASONS["link"]
        yield problem(name, Text(en=f"{len(contents.links)} {en}", zh=f"{len(contents.links)} {zh}"))


def _extracted(opener: Opener, member: tarfile.TarInfo, budget: Budget, packed_bytes: int) -> Opener:
    with opener() as file, tarfile.open(fileobj=cast(IO[bytes], SmallReads(file)), mode="r:") as archive:
        content = archive.extractfile(member)
        if content is None:
            raise OSError("is no plain file")
        return spooled(bounded(iter(lambda: content.read(CHUNK_BYTES), b""), budget, packed_bytes))


def _unzipped(opener: Opener, info: zipfile.ZipInfo, budget: Budget) -> Opener:
    with opener() as file, zipfile.ZipFile(cast(IO[bytes], SmallReads(file))) as archive, archive.open(info) as content:
        return spooled(bounded(iter(lambda: content.read(CHUNK_BYTES), b""), budget, info.compress_size))


def window_of(opener: Opener, start: int, size: int) -> Opener:
    """A stretch of a file, as a file of its own."""

    def opened() -> BinaryIO:
        return cast(BinaryIO, _Window(opener(), start, size))

    return opened


class _Window(io.RawIOBase):
    """A stretch of another file, as a file."""

    def __init__(self, file: BinaryIO, start: int, size: int) -> None:
        self._file, self._start, self._size, self._at = file, start, size, 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def read(self, size: int = -1, /) -> bytes:
        left = max(self._size - self._at, 0)
        self._file.seek(self._start + self._at)
        content = self._file.read(left if size < 0 else min(size, left))
        self._at += len(content)
        return content

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        self._at = offset + {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._size}[whence]
        return self._at

    def tell(self) -> int:
        return self._at

    def close(self) -> None:
        self._file.close()
        super().close()
