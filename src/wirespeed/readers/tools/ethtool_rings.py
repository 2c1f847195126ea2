"""`ethtool -g IFACE`: receive and transmit rings, at present and at most."""

from collections.abc import Iterator

from wirespeed.model.facts.link import LinkRings
from wirespeed.model.kinds import Reader
from wirespeed.model.lines import Lines, source
from wirespeed.model.record import Record
from wirespeed.model.source import Problem
from wirespeed.model.text import Text
from wirespeed.readers.parsing.ethtool import Block, blocks, now_and_most
from wirespeed.readers.parsing.marks import marked
from wirespeed.readers.parsing.regex import regex

_HEADER = regex(r"^\s*Ring parameters for (?P<link>[^\s:]+):")
_ROW = regex(r"^\s*(?P<key>Pre-set maximums|Current hardware settings|RX(?: Mini| Jumbo)?|TX):[ \t]*(?P<value>\d+|n/a)?\s*$")
_RECOGNISED = regex(r"Ring parameters for |\bRX (?:Mini|Jumbo):|\bethtool (?:-g|--show-ring)\b")
_QUOTED = frozenset({"RX", "TX", "Pre-set maximums", "Current hardware settings"})


def _read(lines: Lines) -> Iterator[Record | Problem]:
    for block in blocks(lines, _ROW, frozenset({"-g", "--show-ring"}), _HEADER, first_key="Pre-set maximums"):
        rings = _rings(lines, block)
        if rings is not None:
            yield rings


def _rings(lines: Lines, block: Block) -> LinkRings | None:
    if not block.is_named and not any(found["key"] in ("RX Mini", "RX Jumbo") for _, found in block.rows):
        return None
    now, most = now_and_most(block)
    if not most and not now:
        return None
    return LinkRings(
        source=source(lines, "ethtool -g", block.host),
        quotes=block.quotes(lines, _QUOTED),
        link=block.link,
        rx_entries=now.get("RX"),
        rx_max_entries=most.get("RX"),
        tx_entries=now.get("TX"),
        tx_max_entries=most.get("TX"),
    )


READER = Reader(
    title=Text(en="descriptor rings (ethtool -g)", zh="描述符环（ethtool -g）"),
    gives=(LinkRings,),
    recognises=marked(_RECOGNISED),
    read=_read,
    obtained_by=("ethtool -g IFACE",),
)
