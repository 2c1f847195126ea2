"""`ethtool -l IFACE`: how many queues the interface uses, and how many it could."""

from collections.abc import Iterator

from wirespeed.model.facts.link import LinkChannels
from wirespeed.model.kinds import Reader
from wirespeed.model.lines import Lines, source
from wirespeed.model.record import Record
from wirespeed.model.source import Problem
from wirespeed.model.text import Text
from wirespeed.readers.parsing.ethtool import Block, blocks, now_and_most
from wirespeed.readers.parsing.marks import marked
from wirespeed.readers.parsing.regex import regex

_HEADER = regex(r"^\s*Channel parameters for (?P<link>[^\s:]+):")
_ROW = regex(r"^\s*(?P<key>Pre-set maximums|Current hardware settings|RX|TX|Other|Combined):[ \t]*(?P<value>\d+|n/a)?\s*$")
_RECOGNISED = regex(r"(?m)Channel parameters for |^[ \t]*(?:[\w.-]+: *)?Combined:\s+\d|\bethtool (?:-l|--show-channels)\b")
_QUOTED = frozenset({"RX", "TX", "Combined", "Pre-set maximums", "Current hardware settings"})


def _read(lines: Lines) -> Iterator[Record | Problem]:
    for block in blocks(lines, _ROW, frozenset({"-l", "--show-channels"}), _HEADER, first_key="Pre-set maximums"):
        channels = _channels(lines, block)
        if channels is not None:
            yield channels


def _channels(lines: Lines, block: Block) -> LinkChannels | None:
    if not block.is_named and not any(found["key"] == "Combined" for _, found in block.rows):
        return None
    now, most = now_and_most(block)
    if not most and not now:
        return None
    return LinkChannels(
        source=source(lines, "ethtool -l", block.host),
        quotes=block.quotes(lines, _QUOTED),
        link=block.link,
        rx_count=now.get("RX"),
        rx_max_count=most.get("RX"),
        tx_count=now.get("TX"),
        tx_max_count=most.get("TX"),
        combined_count=now.get("Combined"),
        combined_max_count=most.get("Combined"),
    )


READER = Reader(
    title=Text(en="interface queues (ethtool -l)", zh="网卡队列（ethtool -l）"),
    gives=(LinkChannels,),
    recognises=marked(_RECOGNISED),
    read=_read,
    obtained_by=("ethtool -l IFACE",),
)
