"""Archives and compressed streams, recognised by content, and the bounds on what is unpacked of them: size, ratio, number."""

import bz2
import lzma
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import BinaryIO, Protocol

import zstandard

from wirespeed.machines.streams import CHUNK_BYTES, Opener, shown, spooled
from wirespeed.model.source import Problem, Source
from wirespeed.model.text import Text

MOST_TOTAL_BYTES = 4 * 1024**3
"""Unpacked bytes of one input named by the user."""
MOST_MEMBERS = 100_000
"""Files and links of one archive; support archives of large hosts hold tens of thousands."""
MOST_HEADER_BYTES = 64 * 1024**2
MOST_RATIO = 400
"""Unpacked to packed size; repetitive logs reach about 100."""
RATIO_COUNTS_FROM_BYTES = 64 * 1024**2
"""Smaller content is never a bomb, whatever its ratio."""
MOST_WINDOW_BYTES = 2**27
TAR_MAGIC_AT = 257
_GZIP_BITS = 16 + zlib.MAX_WBITS
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


@dataclass(frozen=True, slots=True)
class Advance:
    """How far the reading of an archive has come: files gone through and their bytes, of all."""

    path: str
    files_count: int
    all_files_count: int
    size_bytes: int
    all_bytes: int


def unheard(advance: Advance) -> None:
    """Nobody wants to know how far it has come."""


@dataclass(slots=True)
class Budget:
    """What may still be unpacked of one input."""

    left_bytes: int = MOST_TOTAL_BYTES
    left_members: int = MOST_MEMBERS
    damage: list[Text] = field(default_factory=list)
    """What was found damaged since it was last told."""
    tell: Callable[[Advance], None] = unheard
    """Hears of each file of an archive that is gone through."""

    def told_damage(self, path: str) -> Iterator[Problem]:
        """The damage as problems, once."""
        yield from (problem(path, why) for why in self.damage)
        self.damage.clear()

    def told_full(self, name: str) -> Iterator[Problem]:
        """Whether there were more members than are read."""
        if self.left_members <= 0:
            yield problem(
                name, _text("holds more than {n} files; the rest was left out", "文件数超过 {n}，其余未读取", MOST_MEMBERS)
            )


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
        return spooled(bounded(_unpacked(packed, kind), budget, packed_bytes))


def _unpacked(packed: BinaryIO, kind: str) -> Iterator[bytes]:
    """Unpacked pieces. `read1` gives what it has before it meets damage, where `read` would lose it."""
    if kind == "gzip":
        yield from _gunzipped(packed)
        return
    stream = _STREAMS[kind](packed)
    yield from iter(lambda: stream.read1(CHUNK_BYTES), b"")
    if kind == "zstd" and _is_cut_zstd(packed):
        raise EOFError("the stream ends before its end mark")


def _gunzipped(packed: BinaryIO) -> Iterator[bytes]:
    """The members of a gzip stream one after another. The standard library's reader gives 8 KiB at a time, which costs twice as much."""
    tail = packed.read(CHUNK_BYTES)
    while tail.strip(b"\0"):
        member = zlib.decompressobj(_GZIP_BITS)
        while not member.eof:
            piece = member.decompress(tail, CHUNK_BYTES)
            yield piece
            tail = member.unconsumed_tail
            if not tail and not member.eof and len(piece) < CHUNK_BYTES:
                tail = packed.read(CHUNK_BYTES)
                if not tail:
                    raise EOFError("the stream ends before its end mark")
        tail = member.unused_data or packed.read(CHUNK_BYTES)


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
    "xz": lzma.LZMAFile,
    "bzip2": bz2.BZ2File,
    "zstd": _zstd,
}


def bounded(pieces: Iterator[bytes], budget: Budget, packed_bytes: int) -> Iterator[bytes]:
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


class SmallReads:
    """A file that refuses to be read in one gulp: headers that claim to be huge are damage, or meant to exhaust memory."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.seek, self.tell, self.seekable = file.seek, file.tell, file.seekable

    def read(self, size: int = -1, /) -> bytes:
        """At most `MOST_HEADER_BYTES` at once."""
        if size > MOST_HEADER_BYTES:
            raise OSError(f"a header claims {size} bytes")
        return self._file.read(size if size >= 0 else MOST_HEADER_BYTES)


def problem(path: str, why: Text) -> Problem:
    """A problem with an input as a whole."""
    return Problem(source=Source(tool="file", path=shown(path)), why=why)


def _text(en: str, zh: str, number: int) -> Text:
    return Text(en=en.format(n=number), zh=zh.format(n=number))
