"""Bytes that can be read again from the start, and their lines as text in bounded memory."""

import codecs
import io
import os
import re
import tempfile
from collections.abc import Callable, Iterator
from typing import IO, BinaryIO

from wirespeed.model.lines import MOST_LINE_CHARACTERS, MOST_WHOLE_CHARACTERS, SAMPLE_CHARACTERS

CHUNK_BYTES = 1024 * 1024
HEAD_BYTES = 4 * SAMPLE_CHARACTERS
"""Head kept for recognition: enough for the sample in any encoding."""
MEMORY_BYTES = 4 * 1024 * 1024
"""Spooled content up to this size stays in memory."""
_CONTROLS = bytes(sorted(set(range(32)) - set(b"\t\n\r\f\x08\x07\x1b")))
_MOST_CONTROLS_RATIO = 0.1

_ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]{0,4096}(?:\x07|\x1b\\)|[ -/]{0,4}[0-~])")
_BINARY_HEADS = (
    b"\x7fELF", b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"%PDF", b"SQLite format 3\0", b"\xd4\xc3\xb2\xa1", b"\xa1\xb2\xc3\xd4",
    b"\x4d\x3c\xb2\xa1", b"\x0a\x0d\x0d\x0a", b"\x80\x02}", b"\x80\x04\x95", b"PAR1",
)  # fmt: skip
"""Programs, pictures, databases, packet captures and pickles: no text, whatever else they hold."""

Opener = Callable[[], BinaryIO]


class _Positioned(io.RawIOBase):
    """A reader of a descriptor with a position of its own, so that one spool can be read by several at once."""

    def __init__(self, owner: IO[bytes]) -> None:
        self._owner = owner
        self._position = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET, /) -> int:
        starts = {os.SEEK_SET: 0, os.SEEK_CUR: self._position}
        start = starts[whence] if whence in starts else os.fstat(self._owner.fileno()).st_size
        self._position = max(start + offset, 0)
        return self._position

    def readinto(self, buffer: object, /) -> int:
        view = memoryview(buffer).cast("B")  # type: ignore[arg-type]
        content = os.pread(self._owner.fileno(), len(view), self._position)
        view[: len(content)] = content
        self._position += len(content)
        return len(content)


def spooled(pieces: Iterator[bytes]) -> Opener:
    """Keep a stream, in memory while it is small and in an unnamed temporary file beyond."""
    memory = bytearray()
    for piece in pieces:
        memory += piece
        if len(memory) > MEMORY_BYTES:
            return _spooled_to_disk(bytes(memory), pieces)
    content = bytes(memory)
    return lambda: io.BytesIO(content)


def _spooled_to_disk(head: bytes, pieces: Iterator[bytes]) -> Opener:
    file = tempfile.TemporaryFile(prefix="wirespeed-")  # noqa: SIM115 - lives as long as the lines that read it
    file.write(head)
    for piece in pieces:
        file.write(piece)
    file.flush()
    return lambda: io.BufferedReader(_Positioned(file))


class StreamLines:
    """Lines of bytes that can be opened again and again; never more than a chunk of them in memory."""

    def __init__(self, path: str, opener: Opener) -> None:
        self.path = path
        self._open = opener
        with opener() as file:
            self._head = file.read(HEAD_BYTES)
        self._encoding = encoding_of(self._head)

    @property
    def is_binary(self) -> bool:
        """Whether this is no text."""
        return is_binary(self._head)

    @property
    def sample(self) -> str:
        """The first `SAMPLE_CHARACTERS` of the text."""
        return "\n".join(self._texts(iter((self._head,))))[:SAMPLE_CHARACTERS]

    def __iter__(self) -> Iterator[tuple[int, str]]:
        index = 0
        with self._open() as file:
            for text in self._texts(iter(lambda: file.read(CHUNK_BYTES), b"")):
                for line in text.split("\n"):
                    yield index, line[:MOST_LINE_CHARACTERS]
                    index += 1

    def whole(self) -> str | None:
        """The text, unless it is too large."""
        with self._open() as file:
            if file.seek(0, os.SEEK_END) > 4 * MOST_WHOLE_CHARACTERS:
                return None
            file.seek(0)
            content = file.read(4 * MOST_WHOLE_CHARACTERS + 1)
        text = "\n".join(self._texts(iter((content,)), len(content)))
        return text if len(text) <= MOST_WHOLE_CHARACTERS else None

    def _texts(self, chunks: Iterator[bytes], most_carried_bytes: int = 4 * MOST_LINE_CHARACTERS) -> Iterator[str]:
        """Runs of whole lines, joined by line ends, cleaned."""
        chunks = chunks if self._encoding == "utf-8" else _transcoded(chunks, self._encoding)
        for piece in _whole_lines(chunks, most_carried_bytes):
            yield cleaned(_decoded(piece))


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
    """Without carriage returns at line ends, terminal colours and NULs; a carriage return inside a line (progress bars) stays."""
    if "\r" in text:
        text = text.replace("\r\n", "\n").removesuffix("\r")
    if "\x1b" in text:
        text = _ANSI.sub("", text)
    return text.replace("\0", "") if "\0" in text else text


_MOST_UNREADABLE_RATIO = 0.3
"""Of random bytes two thirds are no UTF-8; of latin-1 or GBK prose mixed with commands and numbers far less."""


def encoding_of(head: bytes) -> str:
    """UTF-16 by its mark, or by every second byte being zero; everything else is read as UTF-8 with a latin-1 fallback."""
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    if head.startswith(codecs.BOM_UTF8):
        return "utf-8-sig"
    start = head[:4096]
    if len(start) >= 8 and start[1::2].count(0) > len(start) * 0.4 and start[::2].count(0) < len(start) * 0.05:
        return "utf-16-le"
    if len(start) >= 8 and start[::2].count(0) > len(start) * 0.4 and start[1::2].count(0) < len(start) * 0.05:
        return "utf-16-be"
    return "utf-8"


def is_binary(head: bytes) -> bool:
    """Whether this is no text: a known binary head, or more control bytes than any log has."""
    if head.startswith(_BINARY_HEADS):
        return True
    if encoding_of(head) != "utf-8" or not head:
        return False
    controls = len(head) - len(head.translate(None, _CONTROLS))
    return controls > len(head) * _MOST_CONTROLS_RATIO or _is_noise(head[:4096])


def _is_noise(head: bytes) -> bool:
    """Whether much of this is neither UTF-8 nor plain: text in an old encoding still has mostly ASCII letters and blanks."""
    readable = head.decode("utf-8", errors="ignore").encode()
    return len(head) - len(readable) > len(head) * _MOST_UNREADABLE_RATIO
