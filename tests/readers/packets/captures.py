"""Captures at hand for tests: as chunks of bytes, and as the records that are read of them."""

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeVar

from wirespeed.model.lines import UNKNOWN_ORIGIN, MemoryLines
from wirespeed.model.record import Record
from wirespeed.model.source import Problem
from wirespeed.readers.packets.lines import PacketLines
from wirespeed.readers.tools.packet_capture import READER

DATA = Path(__file__).parents[2] / "data" / "captures"
NAMES = sorted(path.stem for path in DATA.glob("*.pcap"))
R = TypeVar("R", bound=Record)


class Bytes:
    """Content of a capture file, in chunks of a chosen size."""

    path = "capture.pcap"
    origin = UNKNOWN_ORIGIN

    def __init__(self, content: bytes, chunk_bytes: int = 1024) -> None:
        self._content = content
        self._chunk_bytes = chunk_bytes

    @property
    def size_bytes(self) -> int:
        return len(self._content)

    def __iter__(self) -> Iterator[bytes]:
        return (self._content[start : start + self._chunk_bytes] for start in range(0, len(self._content), self._chunk_bytes))


def content(name: str) -> bytes:
    return (DATA / f"{name}.pcap").read_bytes()


def lines_of(capture: bytes) -> list[str]:
    return [line for _, line in PacketLines(Bytes(capture))]


def read(capture: bytes) -> list[Record | Problem]:
    return list(READER.read(PacketLines(Bytes(capture))))


def read_text(text: str) -> list[Record | Problem]:
    return list(READER.read(MemoryLines(text, "capture.txt")))


def every(items: list[Record | Problem], kind: type[R]) -> list[R]:
    return [item for item in items if isinstance(item, kind)]


def the(items: list[Record | Problem], kind: type[R], **fields: Any) -> R:
    """The only record of a kind with these fields."""
    (found,) = [item for item in every(items, kind) if all(getattr(item, name) == value for name, value in fields.items())]
    return found


def about() -> dict[str, Any]:
    return tomllib.loads((DATA / "about.toml").read_text(encoding="utf-8"))
