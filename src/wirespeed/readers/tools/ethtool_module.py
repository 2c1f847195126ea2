"""`ethtool -m IFACE`: transceiver or cable, its temperature and its alarms."""

from collections.abc import Iterator

from wirespeed.model.facts.link import LinkModule
from wirespeed.model.kinds import Reader
from wirespeed.model.lines import Lines, source
from wirespeed.model.record import Record
from wirespeed.model.source import Problem
from wirespeed.model.text import Text
from wirespeed.readers.parsing.ethtool import Block, blocks
from wirespeed.readers.parsing.marks import marked
from wirespeed.readers.parsing.regex import regex

_ROW = regex(
    r"^\s*(?P<key>Identifier|Vendor name|Vendor PN|Module temperature(?: high warning threshold)?"
    r"|[A-Z][\w (),.+-]*(?:alarm|warning)(?: \([^)]*\))?)\s*:\s(?P<value>\S.*)$"
)
_RECOGNISED = regex(
    r"(?m)^[ \t]*(?:[\w.-]+: *)?(?:Identifier|Vendor PN|Module temperature[\w ]*)\s+: |\bethtool (?:-m|--module-info)\b"
)
_CELSIUS = regex(r"^(-?\d+(?:\.\d+)?) degrees C")
_FLAG = regex(r"(?:alarm|warning)(?: \([^)]*\))?$")


def _read(lines: Lines) -> Iterator[Record | Problem]:
    for block in blocks(lines, _ROW, frozenset({"-m", "--module-info", "--dump-module-eeprom"}), first_key="Identifier"):
        yield _module(lines, block)


def _module(lines: Lines, block: Block) -> LinkModule:
    values = {found["key"].strip(): found["value"].strip() for _, found in block.rows}
    flags = [value for key, value in values.items() if _FLAG.search(key)]
    alarmed = {key for key, value in values.items() if _FLAG.search(key) and value.startswith("On")}
    warning = values.get("Module temperature high warning threshold")
    return LinkModule(
        source=source(lines, "ethtool -m", block.host),
        quotes=block.quotes(lines, frozenset(key for key in values if not _FLAG.search(key) or key in alarmed)),
        link=block.link,
        identifier=values.get("Identifier"),
        vendor=values.get("Vendor name"),
        part_number_text=values.get("Vendor PN"),
        temperature_celsius=_celsius(values.get("Module temperature")),
        temperature_warning_celsius=_celsius(warning),
        has_alarm=bool(alarmed) if flags else None,
    )


def _celsius(text: str | None) -> float | None:
    found = _CELSIUS.match(text or "")
    return float(found[1]) if found else None


READER = Reader(
    title=Text(en="transceiver (ethtool -m)", zh="光模块或线缆（ethtool -m）"),
    gives=(LinkModule,),
    recognises=marked(_RECOGNISED),
    read=_read,
    obtained_by=("ethtool -m IFACE",),
)
