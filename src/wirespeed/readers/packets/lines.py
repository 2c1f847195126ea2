"""A capture file as text: one line a packet, as tcpdump prints it, so that a packet can be quoted and a case file holds no payload."""

import hashlib
import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime

from wirespeed.model.lines import HEAD_CHARACTERS, MOST_WHOLE_CHARACTERS, Chunks
from wirespeed.readers.packets.files import Frame, Totals, frames
from wirespeed.readers.packets.layers import printed
from wirespeed.readers.packets.tcpdump import LINES
from wirespeed.readers.parsing.marks import marked

NOTE = "[capture file] "
"""How a line begins that is no packet."""
MOST_WHOLE_BYTES = 16 * 1024 * 1024
"""A larger file is not held as text in one piece."""
_NANO = 1_000_000_000


is_capture = marked(*LINES, re.escape(NOTE))
"""Whether a text holds lines of tcpdump, or is a capture file told as such."""


class PacketLines:
    """The lines of a capture file, packet by packet, and behind them what else the file tells. Never raises for any bytes."""

    def __init__(self, content: Chunks) -> None:
        self._content = content
        self.path = content.path
        self.origin = content.origin

    @property
    def head(self) -> str:
        """The first lines."""
        pieces: list[str] = []
        left = HEAD_CHARACTERS
        for _, line in self:
            left -= len(line) + 1
            if left < 0:
                break
            pieces.append(line)
        return "\n".join(pieces)

    @property
    def sample(self) -> str:
        """The same: every line of a capture is of one kind."""
        return self.head

    def __iter__(self) -> Iterator[tuple[int, str]]:
        return enumerate(_lines(self._content))

    def whole(self) -> str | None:
        """The whole text, unless it is too large."""
        if self._content.size_bytes > MOST_WHOLE_BYTES:
            return None
        text = "\n".join(line for _, line in self)
        return text if len(text) <= MOST_WHOLE_CHARACTERS else None

    def fingerprint(self) -> bytes:
        """What two files of the same bytes share."""
        digest = hashlib.sha256()
        for chunk in self._content:
            digest.update(chunk)
        return digest.digest()


def _lines(chunks: Iterable[bytes]) -> Iterator[str]:
    totals = Totals()
    clock = _Clock()
    number = cut_count = longest_bytes = 0
    for frame in frames(chunks, totals):
        number += 1
        if frame.length_bytes > len(frame.content):
            cut_count += 1
            longest_bytes = max(longest_bytes, len(frame.content))
        place = f" {frame.interface}" if frame.interface else ""
        yield f"{number:5d}  {clock.shown(frame)}{place} {printed(frame.link_type, frame.content, frame.length_bytes)}"
    yield f"{number} packets captured"
    if totals.dropped_packets is not None:
        yield f"{totals.dropped_packets} packets dropped by kernel"
    if cut_count:
        yield f"{NOTE}{cut_count} packets are cut, at {longest_bytes} bytes"
    for count, what in totals.damage:
        yield f"{NOTE}after packet {count} it {what}"


class _Clock:
    """Times as tcpdump prints them with `-tttt`, in UTC; a second is written out once."""

    def __init__(self) -> None:
        self._second: int | None = None
        self._written = ""

    def shown(self, frame: Frame) -> str:
        """Date and time of a packet, with as many digits as its file has; nothing where it has none."""
        if frame.at_ns is None:
            return ""
        second, rest = divmod(frame.at_ns, _NANO)
        if second != self._second:
            self._second = second
            try:
                self._written = datetime.fromtimestamp(second, UTC).strftime("%Y-%m-%d %H:%M:%S")
            except (ValueError, OverflowError, OSError):
                return ""
        return f"{self._written}.{rest:09d}" if frame.has_nanoseconds else f"{self._written}.{rest // 1000:06d}"
