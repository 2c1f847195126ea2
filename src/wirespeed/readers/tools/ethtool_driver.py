"""`ethtool -i IFACE`: driver, its version, firmware and PCI address."""

from collections.abc import Iterator

from wirespeed.model.facts.link import Link
from wirespeed.model.kinds import Reader
from wirespeed.model.lines import Lines, source
from wirespeed.model.record import Record
from wirespeed.model.source import Problem
from wirespeed.model.text import Text
from wirespeed.readers.parsing.ethtool import Block, blocks
from wirespeed.readers.parsing.marks import marked
from wirespeed.readers.parsing.regex import regex

_ROW = regex(r"^\s*(?P<key>driver|version|firmware-version|bus-info):[ \t]*(?P<value>\S.*)?$")
_RECOGNISED = regex(
    r"(?m)^[ \t]*(?:[\w.-]+: *)?(?:firmware-version|bus-info): |\bethtool (?:-i|--driver) |^[ \t]*driver:"
    r" \S+[ \t]*\n[ \t]*version: "
)
_KEYS = frozenset({"driver", "version", "firmware-version", "bus-info"})


def _read(lines: Lines) -> Iterator[Record | Problem]:
    for block in blocks(lines, _ROW, frozenset({"-i", "--driver"}), first_key="driver"):
        link = _link(lines, block)
        if link is not None:
            yield link


def _link(lines: Lines, block: Block) -> Link | None:
    values = {found["key"]: (found["value"] or "").strip() or None for _, found in block.rows}
    if not block.is_named and not values.keys() & {"firmware-version", "bus-info"}:
        return None
    return Link(
        source=source(lines, "ethtool -i", block.host),
        quotes=block.quotes(lines, _KEYS),
        name=block.link,
        driver=values.get("driver"),
        driver_version=values.get("version"),
        firmware=values.get("firmware-version"),
        pci_address=values.get("bus-info"),
    )


READER = Reader(
    title=Text(en="interface driver (ethtool -i)", zh="网卡驱动（ethtool -i）"),
    gives=(Link,),
    recognises=marked(_RECOGNISED),
    read=_read,
    obtained_by=("ethtool -i IFACE",),
)
