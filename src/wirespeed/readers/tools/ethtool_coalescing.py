"""`ethtool -c IFACE`: interrupt moderation."""

from collections.abc import Iterator

from wirespeed.model.facts.link import LinkCoalescing
from wirespeed.model.kinds import Reader
from wirespeed.model.lines import Lines, source
from wirespeed.model.record import Record
from wirespeed.model.source import Problem
from wirespeed.model.text import Text
from wirespeed.model.units import time_in_s
from wirespeed.readers.parsing.ethtool import Block, blocks, on_or_off, whole_number
from wirespeed.readers.parsing.marks import marked
from wirespeed.readers.parsing.regex import regex

_HEADER = regex(r"^\s*Coalesce parameters for (?P<link>[^\s:]+):")
_ROW = regex(
    r"^\s*(?:(?P<key>rx-usecs|tx-usecs|rx-frames|tx-frames):\s*(?P<value>\d+|n/a)|Adaptive RX: *(?P<rx>\S+)\s+TX: *(?P<tx>\S+))\s*$"
)
_RECOGNISED = regex(
    r"(?m)Coalesce parameters for |\bAdaptive RX: |^[ \t]*(?:[\w.-]+: *)?[rt]x-usecs: |\bethtool (?:-c|--show-coalesce)\b"
)


def _read(lines: Lines) -> Iterator[Record | Problem]:
    for block in blocks(lines, _ROW, frozenset({"-c", "--show-coalesce"}), _HEADER):
        yield _coalescing(lines, block)


def _coalescing(lines: Lines, block: Block) -> LinkCoalescing:
    values = {found["key"]: whole_number(found["value"]) for _, found in block.rows if found["key"]}
    adaptive = next((found for _, found in block.rows if found["rx"]), None)
    opener = [] if block.opened_by is None else [block.opened_by]
    return LinkCoalescing(
        source=source(lines, "ethtool -c", block.host),
        quotes=tuple(seen.quoted(lines) for seen in (*opener, *(seen for seen, _ in block.rows))),
        link=block.link,
        is_adaptive_rx=on_or_off(adaptive["rx"]) if adaptive else None,
        is_adaptive_tx=on_or_off(adaptive["tx"]) if adaptive else None,
        rx_delay_s=_seconds(values.get("rx-usecs")),
        tx_delay_s=_seconds(values.get("tx-usecs")),
        rx_frames_count=values.get("rx-frames"),
        tx_frames_count=values.get("tx-frames"),
    )


def _seconds(microseconds: int | None) -> float | None:
    return None if microseconds is None else time_in_s(microseconds, "us")


READER = Reader(
    title=Text(en="interrupt moderation (ethtool -c)", zh="中断合并（ethtool -c）"),
    gives=(LinkCoalescing,),
    recognises=marked(_RECOGNISED),
    read=_read,
    obtained_by=("ethtool -c IFACE",),
)
