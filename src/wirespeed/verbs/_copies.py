"""Which texts were read already under another name: the same evidence twice is one piece of evidence."""

import hashlib
from collections import defaultdict
from typing import TypeAlias

from wirespeed.machines.streams import StreamLines
from wirespeed.model.lines import Lines
from wirespeed.readers.packets.lines import PacketLines

_Key: TypeAlias = tuple[str | None, str | None, int]


class Copies:
    """Texts by content. What two machines, or one command for two devices, printed alike is not the same."""

    def __init__(self) -> None:
        self._seen: defaultdict[_Key, list[Lines]] = defaultdict(list)
        self._fingerprints: dict[str, bytes] = {}

    def first_of(self, lines: Lines) -> str | None:
        """The name under which a text was read already; else it is remembered. Only texts of one size are compared."""
        alike = self._seen[lines.origin.host, lines.origin.command, _size(lines)]
        for other in alike:
            if self._fingerprint(other) == self._fingerprint(lines):
                return other.path
        alike.append(lines)
        return None

    def _fingerprint(self, lines: Lines) -> bytes:
        found = self._fingerprints.get(lines.path)
        if found is None:
            found = self._fingerprints[lines.path] = _fingerprint(lines)
        return found


def _size(lines: Lines) -> int:
    return lines.size_bytes if isinstance(lines, StreamLines) else -1


def _fingerprint(lines: Lines) -> bytes:
    if isinstance(lines, StreamLines | PacketLines):
        return lines.fingerprint()
    return hashlib.sha256((lines.whole() or "").encode("utf-8", "surrogatepass")).digest()
