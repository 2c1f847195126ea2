"""Bytes that can be read again from the start, and their lines as text in bounded memory."""

import codecs
import hashlib
import io
import os
import re
import tempfile
import threading
import weakref
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import BinaryIO, cast

from wirespeed.model.lines import (
    CAPTURE_HEADS,
    HEAD_CHARACTERS,
    MOST_LINE_CHARACTERS,
    MOST_WHOLE_CHARACTERS,
    UNKNOWN_ORIGIN,
    Origin,
    sample_windows,
    whole_lines_of,
)

CHUNK_BYTES = 1024 * 1024
HEAD_BYTES = 4 * HEAD_CHARACTERS
"""Enough for the head in any encoding."""
MEMORY_BYTES = 4 * 1024 * 1024
"""Spooled content up to this size stays in memory ..."""
MEMORY_IN_ALL_BYTES = 64 * 1024 * 1024
"""... as long as all of it together is no larger than this."""
MOST_FEEDS_RATIO = 10
"""From this many carriage returns a line feed on, it is the carriage returns that end lines."""
_CONTROLS = bytes(sorted(set(range(32)) - set(b"\t\n\r\f\x08\x07\x1b")))
_MOST_CONTROLS_RATIO = 0.1

_ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]{0,4096}(?:\x07|\x1b\\)|[ -/]{0,4}[0-~])")
_BINARY_HEADS = (
    b"\x7fELF", b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"%PDF", b"SQLite format 3\0", b"\x80\x02}", b"\x80\x04\x95", b"PAR1",
)  # fmt: skip
"""Programs, pictures, databases and pickles: no text, whatever else they hold."""

Opener = Callable[[], BinaryIO]


def shown(name: str) -> str:
    """A name as it can be printed: bytes of a file name that are no UTF-8 become question marks."""
    return name.encode(errors="replace").decode()


class _Room:
    """Memory that all spools share."""

    def __init__(self) -> None:
        self._taken_bytes = 0
        self._lock = threading.Lock()

    def take(self, size_bytes: int) -> bool:
        """Take room where there is some."""
        with self._lock:
            has_room = self._taken_bytes + size_bytes <= MEMORY_IN_ALL_BYTES
            self._taken_bytes += size_bytes if has_room else 0
        return has_room

    def give_back(self, size_bytes: int) -> None:
        """Room of a spool that is gone."""
        with self._lock:
            self._taken_bytes -= size_bytes


_ROOM = _Room()


@cache
def _folder() -> tempfile.TemporaryDirectory[str]:
    """Where spools lie that memory has no room for; it goes with the process."""
    return tempfile.TemporaryDirectory(prefix="wirespeed-")


class _InMemory:
    """Content kept in memory; the room is free again when nobody can open it any more."""

    def __init__(self, content: bytes) -> None:
        self._content = content
        weakref.finalize(self, _ROOM.give_back, len(content)).atexit = False

    def __call__(self) -> BinaryIO:
        return io.BytesIO(self._content)


class _OnDisk:
    """Content kept in a temporary file, by path: an open descriptor each would soon be too many. It is removed with the last reader."""

    def __init__(self) -> None:
        descriptor, path = tempfile.mkstemp(dir=_folder().name)
        os.close(descriptor)
        self.path = Path(path)
        weakref.finalize(self, self.path.unlink, missing_ok=True).atexit = False

    def __call__(self) -> BinaryIO:
        return cast(BinaryIO, self.path.open("rb"))


def spooled(pieces: Iterator[bytes]) -> Opener:
    """Keep a stream: in memory while it is small and there is room, in a temporary file otherwise."""
    memory = bytearray()
    for piece in pieces:
        memory += piece
        if len(memory) > MEMORY_BYTES:
            return _spooled_to_disk(bytes(memory), pieces)
    content = bytes(memory)
    return _InMemory(content) if _ROOM.take(len(content)) else _spooled_to_disk(content, pieces)


def _spooled_to_disk(head: bytes, pieces: Iterator[bytes]) -> Opener:
    spool = _OnDisk()
    with spool.path.open("wb") as file:
        file.write(head)
        for piece in pieces:
            file.write(piece)
    return spool


class StreamBytes:
    """Bytes that can be opened again and again, in chunks."""

    def __init__(self, path: str, opener: Opener, origin: Origin = UNKNOWN_ORIGIN) -> None:
        self.path = shown(path)
        self.origin = origin
        self._open = opener

    @property
    def size_bytes(self) -> int:
        """How many there are."""
        with self._open() as file:
            return file.seek(0, os.SEEK_END)

    def __iter__(self) -> Iterator[bytes]:
        with self._open() as file:
            yield from iter(lambda: file.read(CHUNK_BYTES), b"")


class StreamLines:
    """Lines of bytes that can be opened again and again; never more than a chunk of them in memory."""

    def __init__(self, path: str, opener: Opener, origin: Origin = UNKNOWN_ORIGIN) -> None:
        self.path = shown(path)
        self.origin = origin
        self._open = opener
        with opener() as file:
            head = file.read(HEAD_BYTES)
        self._encoding = encoding_of(head)
        self._has_returns = ends_lines_with_returns(head.replace(b"\0", b""))
        self.is_binary = is_binary(head)
        """Whether this is no text."""

    @property
    def head(self) -> str:
        """The first `HEAD_CHARACTERS` of the text."""
        with self._open() as file:
            return self._text_of(file.read(HEAD_BYTES))[:HEAD_CHARACTERS]

    @property
    def sample(self) -> str:
        """The text, or whole lines from all over it."""
        width_bytes = 1 if self._encoding == "utf-8" else 2
        with self._open() as file:
            size = -(-file.seek(0, os.SEEK_END) // width_bytes)
            pieces: list[str] = []
            for start, end in sample_windows(size):
                file.seek(start * width_bytes)
                window = self._text_of(file.read((end - start) * width_bytes))
                pieces.append(whole_lines_of(window, begins=start == 0, ends=end == size))
        return "\n".join(pieces)

    def __iter__(self) -> Iterator[tuple[int, str]]:
        index = 0
        for text in self.runs():
            for line in text.split("\n"):
                yield index, line[:MOST_LINE_CHARACTERS]
                index += 1

    def runs(self) -> Iterator[str]:
        """The text in runs of whole lines, without the end of the last."""
        with self._open() as file:
            yield from self._texts(iter(lambda: file.read(CHUNK_BYTES), b""))

    @property
    def size_bytes(self) -> int:
        """How long it is."""
        with self._open() as file:
            return file.seek(0, os.SEEK_END)

    def fingerprint(self) -> bytes:
        """The same for the same content."""
        digest = hashlib.sha256()
        with self._open() as file:
            while chunk := file.read(CHUNK_BYTES):
                digest.update(chunk)
        return digest.digest()

    def whole(self) -> str | None:
        """The text, unless it is too large."""
        with self._open() as file:
            if file.seek(0, os.SEEK_END) > 4 * MOST_WHOLE_CHARACTERS:
                return None
            file.seek(0)
            text = self._text_of(file.read(4 * MOST_WHOLE_CHARACTERS + 1))
        return text if len(text) <= MOST_WHOLE_CHARACTERS else None

    def _text_of(self, content: bytes) -> str:
        return "\n".join(self._texts(iter((content,)), len(content)))

    def _texts(self, chunks: Iterator[bytes], most_carried_bytes: int = 4 * MOST_LINE_CHARACTERS) -> Iterator[str]:
        """Runs of whole lines, joined by line ends, cleaned."""
        chunks = chunks if self._encoding == "utf-8" else _transcoded(chunks, self._encoding)
        chunks = _with_line_feeds(chunks) if self._has_returns else chunks
        for piece in _whole_lines(chunks, most_carried_bytes):
            yield cleaned(_decoded(piece))


def ends_lines_with_returns(head: bytes) -> bool:
    """Whether carriage returns alone end the lines, as progress bars and old editors write them: line feeds are rare beside them."""
    return head.replace(b"\r\n", b"\n").count(b"\r") > MOST_FEEDS_RATIO * head.count(b"\n")


def _with_line_feeds(chunks: Iterator[bytes]) -> Iterator[bytes]:
    """Every carriage return, alone or before a line feed, as one line feed."""
    is_open = False
    for chunk in chunks:
        rest = chunk.removeprefix(b"\n") if is_open else chunk
        is_open = chunk.endswith(b"\r")
        yield rest.replace(b"\r\n", b"\n").replace(b"\r", b"\n")


def _transcoded(chunks: Iterator[bytes], encoding: str) -> Iterator[bytes]:
    decoder = codecs.getincrementaldecoder(encoding)(errors="replace")
    for chunk in chunks:
        yield decoder.decode(chunk).encode()


def _whole_lines(chunks: Iterator[bytes], most_carried_bytes: int) -> Iterator[bytes]:
    """Each chunk up to its last line end, which is left out. A line that spans chunks is carried, but no more of it than can be."""
    carried = b""
    for chunk in chunks:
        head, end, tail = chunk.rpartition(b"\n")
        if end:
            yield carried + head
            carried = tail
        else:
            carried += tail[: max(most_carried_bytes - len(carried), 0)]
    if carried:
        yield carried


def _decoded(piece: bytes) -> str:
    """UTF-8, or line by line latin-1 where a line is not."""
    try:
        return piece.decode("utf-8")
    except UnicodeDecodeError:
        return "\n".join(_decoded_line(line) for line in piece.split(b"\n"))


def _decoded_line(line: bytes) -> str:
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError:
        return line.decode("latin-1")


def cleaned(text: str) -> str:
    """Without carriage returns at line ends, terminal colours, NULs and byte order marks; a carriage return inside a line stays."""
    if "\r" in text:
        text = text.replace("\r\n", "\n").removesuffix("\r")
    if "\x1b" in text:
        text = _ANSI.sub("", text)
    return text.replace("\0", "").replace("\ufeff", "")


_MOST_UNREADABLE_RATIO = 0.3
"""Of random bytes two thirds are no UTF-8; of latin-1 or GBK prose mixed with commands and numbers far less."""


def encoding_of(head: bytes) -> str:
    """UTF-16 by its mark, or by every second byte being zero; everything else is read as UTF-8 with a latin-1 fallback."""
    for mark, encoding in ((codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be")):
        if head.startswith(mark):
            return encoding
    start = head[:4096]
    if len(start) >= 8 and start[1::2].count(0) > len(start) * 0.4 and start[::2].count(0) < len(start) * 0.05:
        return "utf-16-le"
    if len(start) >= 8 and start[::2].count(0) > len(start) * 0.4 and start[1::2].count(0) < len(start) * 0.05:
        return "utf-16-be"
    return "utf-8"


def is_binary(head: bytes) -> bool:
    """Whether this is no text: a known binary head, or more control bytes than any log has."""
    if head.startswith(_BINARY_HEADS) or is_capture(head):
        return True
    if encoding_of(head) != "utf-8" or not head:
        return False
    controls = len(head) - len(head.translate(None, _CONTROLS))
    return controls > len(head) * _MOST_CONTROLS_RATIO or _is_noise(head[:4096])


def is_capture(head: bytes) -> bool:
    """Whether this is a packet capture, by its magic number."""
    return head.startswith(CAPTURE_HEADS)


def _is_noise(head: bytes) -> bool:
    """Whether much of this is neither UTF-8 nor plain: text in an old encoding still has mostly ASCII letters and blanks."""
    readable = head.decode("utf-8", errors="ignore").encode()
    return len(head) - len(readable) > len(head) * _MOST_UNREADABLE_RATIO
