"""What is inside archives and compressed files, recognised by content and bounded in size, ratio and number.

Nothing is ever extracted to a path: members are read as streams, so a name cannot lead anywhere. Links and device files are
refused all the same, since what they would show is not in the archive.
"""

import bz2
import gzip
import lzma
import struct
import tarfile
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import IO, BinaryIO, Protocol, cast

import zstandard

from wirespeed.machines.streams import CHUNK_BYTES, Opener, shown, spooled
from wirespeed.model.source import Problem, Source
from wirespeed.model.text import Text

MOST_TOTAL_BYTES = 4 * 1024**3
"""Unpacked bytes of one input named by the user."""
MOST_MEMBERS = 20_000
MOST_HEADER_BYTES = 64 * 1024**2
MOST_RATIO = 400
"""Unpacked to packed size; repetitive logs reach about 100."""
RATIO_COUNTS_FROM_BYTES = 64 * 1024**2
"""Smaller content is never a bomb, whatever its ratio."""
MOST_WINDOW_BYTES = 2**27
TAR_MAGIC_AT = 257
_ZSTD_HEADER_BYTES = 18
_ZSTD_SKIPPABLE = range(0x184D2A50, 0x184D2A60)
DAMAGE = (
    OSError,
    EOFError,
    ValueError,
    RuntimeError,
    OverflowError,
    IndexError,
    MemoryError,
    struct.error,
    tarfile.TarError,
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    zstandard.ZstdError,
)
"""What the libraries raise for content that is damaged or made to harm (RecursionError and NotImplementedError are RuntimeErrors)."""


@dataclass(slots=True)
class Budget:
    """What may still be unpacked of one input."""

    left_bytes: int = MOST_TOTAL_BYTES
    left_members: int = MOST_MEMBERS
    damage: list[Text] = field(default_factory=list)
    """What was found damaged since it was last told."""

    def told_damage(self, path: str) -> Iterator[Problem]:
        """The damage as problems, once."""
        yield from (problem(path, why) for why in self.damage)
        self.damage.clear()


class Refused(Exception):
    """Content that is not unpacked any further, and why."""

    def __init__(self, why: Text) -> None:
        super().__init__(why.en)
        self.why = why


def compression_of(head: bytes) -> str | None:
    """The compression of a stream by its first bytes."""
    heads = ((b"\x1f\x8b\x08", "gzip"), (b"\xfd7zXZ\0", "xz"), (b"BZh", "bzip2"), (b"\x28\xb5\x2f\xfd", "zstd"))
    return next((name for magic, name in heads if head.startswith(magic)), None)


def is_tar(head: bytes) -> bool:
    """Whether this is a tar archive (POSIX or GNU)."""
    return head[TAR_MAGIC_AT : TAR_MAGIC_AT + 5] == b"ustar"


def is_zip(head: bytes) -> bool:
    """Whether this is a zip archive."""
    return head.startswith((b"PK\x03\x04", b"PK\x05\x06"))


def decompressed(opener: Opener, kind: str, budget: Budget) -> Opener:
    """The content of a compressed stream, spooled. Raises `Refused` for bombs and damage."""
    with opener() as packed:
        packed_bytes = packed.seek(0, 2)
        packed.seek(0)
        return spooled(_bounded(_unpacked(packed, kind), budget, packed_bytes))


def _unpacked(packed: BinaryIO, kind: str) -> Iterator[bytes]:
    """Unpacked pieces. `read1` gives what it has before it meets damage, where `read` would lose it."""
    stream = _STREAMS[kind](packed)
    yield from iter(lambda: stream.read1(CHUNK_BYTES), b"")
    if kind == "zstd" and _is_cut_zstd(packed):
        raise EOFError("the stream ends before its end mark")


class _Stream(Protocol):
    def read1(self, size: int, /) -> bytes:
        """At least one byte and at most `size`, or nothing at the end."""


def _zstd(packed: BinaryIO) -> _Stream:
    decompressor = zstandard.ZstdDecompressor(max_window_size=MOST_WINDOW_BYTES)
    return decompressor.stream_reader(packed, read_across_frames=True)


def _is_cut_zstd(packed: BinaryIO) -> bool:
    """Whether the last frame lacks blocks, which the library does not tell. Walks over the heads of frames and blocks."""
    size = packed.seek(0, 2)
    at = 0
    while at < size:
        packed.seek(at)
        head = packed.read(_ZSTD_HEADER_BYTES)
        if len(head) >= 8 and int.from_bytes(head[:4], "little") in _ZSTD_SKIPPABLE:
            at += 8 + int.from_bytes(head[4:8], "little")
            continue
        at += zstandard.frame_header_size(head)
        is_last = False
        while not is_last:
            packed.seek(at)
            block = int.from_bytes(packed.read(3).ljust(3, b"\0"), "little")
            is_last, is_repeat, length = bool(block & 1), (block >> 1) & 3 == 1, block >> 3
            at += 3 + (1 if is_repeat else length)
            if at > size:
                return True
        at += 4 if zstandard.get_frame_parameters(head).has_checksum else 0
    return at > size


_STREAMS: dict[str, Callable[[BinaryIO], _Stream]] = {
    "gzip": lambda packed: gzip.GzipFile(fileobj=packed),
    "xz": lzma.LZMAFile,
    "bzip2": bz2.BZ2File,
    "zstd": _zstd,
}


def _bounded(pieces: Iterator[bytes], budget: Budget, packed_bytes: int) -> Iterator[bytes]:
    """Pass on what is within the bounds; a damaged stream ends where the damage is, unless nothing came before."""
    total = 0
    try:
        for piece in pieces:
            total += len(piece)
            budget.left_bytes -= len(piece)
            if budget.left_bytes < 0:
                raise Refused(
                    _text("unpacks to more than {n} bytes in all, and is refused", "解压后超过 {n} 字节，已拒绝", MOST_TOTAL_BYTES)
                )
            if total > RATIO_COUNTS_FROM_BYTES and total > MOST_RATIO * max(packed_bytes, 1):
                raise Refused(
                    _text(
                        "unpacks to more than {n} times its size, and is refused", "解压后超过原大小的 {n} 倍，已拒绝", MOST_RATIO
                    )
                )
            yield piece
    except DAMAGE as error:
        if total == 0:
            raise Refused(Text(en=f"cannot be unpacked: {error}", zh=f"无法解压：{error}")) from error
        budget.damage.append(
            Text(
                en=f"is damaged after {total} unpacked bytes ({error}); what came before was read",
                zh=f"解压 {total} 字节后损坏（{error}）；此前的内容已读取",
            )
        )


class _SmallReads:
    """A file that refuses to be read in one gulp: headers that claim to be huge are damage, or meant to exhaust memory."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.seek, self.tell, self.seekable = file.seek, file.tell, file.seekable

    def read(self, size: int = -1, /) -> bytes:
        """At most `MOST_HEADER_BYTES` at once."""
        if size > MOST_HEADER_BYTES:
            raise OSError(f"a header claims {size} bytes")
        return self._file.read(size if size >= 0 else MOST_HEADER_BYTES)


def tar_members(opener: Opener, name: str, budget: Budget) -> Iterator[tuple[str, Opener] | Problem]:
    """Plain files of a tar archive, one after the other; what is left out is told at the end."""
    refused: Counter[str] = Counter()
    with opener() as file:
        packed_bytes = file.seek(0, 2)
        file.seek(0)
        try:
            with tarfile.open(fileobj=cast(IO[bytes], _SmallReads(file)), mode="r:") as archive:
                for member in archive:
                    reason = _refusal(member.name, member.issym() or member.islnk(), member.isreg() or member.isdir())
                    if reason is not None:
                        refused[reason] += 1
                        continue
                    if member.isdir():
                        continue
                    content = archive.extractfile(member)
                    if content is not None:
                        budget.left_members -= 1
                        yield from _member(name, member.name, content, budget, packed_bytes)
                    if budget.left_members <= 0 or budget.left_bytes <= 0:
                        break
        except DAMAGE as error:
            yield problem(name, Text(en=f"the archive is damaged: {error}", zh=f"归档已损坏：{error}"))
    yield from _told(name, refused, budget)


def zip_members(opener: Opener, name: str, budget: Budget) -> Iterator[tuple[str, Opener] | Problem]:
    """Plain files of a zip archive."""
    refused: Counter[str] = Counter()
    with opener() as file:
        try:
            with zipfile.ZipFile(cast(IO[bytes], _SmallReads(file))) as archive:
                for info in archive.infolist():
                    mode = info.external_attr >> 28
                    reason = _refusal(info.filename, mode == 0xA, mode in (0, 0x4, 0x8))
                    if reason is None and info.flag_bits & 1:
                        reason = "encrypted"
                    if reason is not None:
                        refused[reason] += 1
                    elif not info.is_dir():
                        budget.left_members -= 1
                        yield from _zip_member(archive, info, name, budget)
                    if budget.left_members <= 0 or budget.left_bytes <= 0:
                        break
        except DAMAGE as error:
            yield problem(name, Text(en=f"the archive is damaged: {error}", zh=f"归档已损坏：{error}"))
    yield from _told(name, refused, budget)


def _zip_member(
    archive: zipfile.ZipFile, info: zipfile.ZipInfo, name: str, budget: Budget
) -> Iterator[tuple[str, Opener] | Problem]:
    """One member; a method that is not known, or a damaged head, concerns no other."""
    try:
        with archive.open(info) as content:
            yield from _member(name, info.filename, content, budget, info.compress_size)
    except DAMAGE as error:
        yield problem(f"{name}!{info.filename}", Text(en=f"cannot be unpacked: {error}", zh=f"无法解压：{error}"))


def _member(
    archive: str, member: str, content: IO[bytes], budget: Budget, packed_bytes: int
) -> Iterator[tuple[str, Opener] | Problem]:
    path = f"{archive}!{member}"
    try:
        yield path, spooled(_bounded(iter(lambda: content.read(CHUNK_BYTES), b""), budget, packed_bytes))
        yield from budget.told_damage(path)
    except Refused as refusal:
        yield problem(path, refusal.why)


def _refusal(member: str, is_link: bool, is_plain: bool) -> str | None:
    if not member:
        return "nameless"
    if member.startswith(("/", "\\")) or ".." in member.replace("\\", "/").split("/") or "\0" in member:
        return "outside"
    if is_link:
        return "link"
    return None if is_plain else "device"


_REASONS = {
    "nameless": ("members without a name were refused", "个成员没有名称，已拒绝"),
    "outside": ("members whose names lead out of the archive were refused", "个成员的名称指向归档之外，已拒绝"),
    "link": ("links were not followed", "个链接未跟随"),
    "device": ("device files and pipes were refused", "个设备文件或管道已拒绝"),
    "encrypted": ("members are encrypted and cannot be read", "个成员已加密，无法读取"),
}


def _told(name: str, refused: Counter[str], budget: Budget) -> Iterator[Problem]:
    for reason, count in refused.items():
        en, zh = _REASONS[reason]
        yield problem(name, Text(en=f"{count} {en}", zh=f"{count} {zh}"))
    if budget.left_members <= 0:
        yield problem(name, _text("holds more than {n} files; the rest was left out", "文件数超过 {n}，其余未读取", MOST_MEMBERS))


def problem(path: str, why: Text) -> Problem:
    """A problem with an input as a whole."""
    return Problem(source=Source(tool="file", path=shown(path)), why=why)


def _text(en: str, zh: str, number: int) -> Text:
    return Text(en=en.format(n=number), zh=zh.format(n=number))
