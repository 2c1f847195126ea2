"""`ethtool -a IFACE`: 802.3x flow control."""

from collections.abc import Iterator

from wirespeed.model.facts.link import LinkPause
from wirespeed.model.kinds import Reader
from wirespeed.model.lines import Lines, source
from wirespeed.model.record import Record
from wirespeed.model.source import Problem
from wirespeed.model.text import Text
from wirespeed.readers.parsing.ethtool import Block, blocks, on_or_off
from wirespeed.readers.parsing.marks import marked
from wirespeed.readers.parsing.regex import regex

_HEADER = regex(r"^\s*Pause parameters for (?P<link>[^\s:]+):")
_ROW = regex(r"^\s*(?P<key>Autonegotiate|RX|TX|RX negotiated|TX negotiated):\s*(?P<value>on|off)\s*$")
_RECOGNISED = regex(r"Pause parameters for |\bethtool (?:-a|--show-pause)\b|\bAutonegotiate:\s+(?:on|off)")
_QUOTED = frozenset({"Autonegotiate", "RX", "TX", "RX negotiated", "TX negotiated"})


def _read(lines: Lines) -> Iterator[Record | Problem]:
    for block in blocks(lines, _ROW, frozenset({"-a", "--show-pause"}), _HEADER, first_key="Autonegotiate"):
        yield _pause(lines, block)


def _pause(lines: Lines, block: Block) -> LinkPause:
    values = {found["key"]: on_or_off(found["value"]) for _, found in block.rows}
    return LinkPause(
        source=source(lines, "ethtool -a", block.host),
        quotes=block.quotes(lines, _QUOTED),
        link=block.link,
        autonegotiates=values.get("Autonegotiate"),
        rx_is_on=values.get("RX negotiated", values.get("RX")),
        tx_is_on=values.get("TX negotiated", values.get("TX")),
    )


READER = Reader(
    title=Text(en="flow control (ethtool -a)", zh="流量控制（ethtool -a）"),
    gives=(LinkPause,),
    recognises=marked(_RECOGNISED),
    read=_read,
    obtained_by=("ethtool -a IFACE",),
)
