"""`ethtool -k IFACE`: offloads by the kernel's feature names."""

from collections.abc import Iterator

from wirespeed.model.facts.link import LinkOffload
from wirespeed.model.kinds import Reader
from wirespeed.model.lines import Lines, source
from wirespeed.model.record import Record
from wirespeed.model.source import Problem
from wirespeed.model.text import Text
from wirespeed.readers.parsing.ethtool import blocks
from wirespeed.readers.parsing.marks import marked
from wirespeed.readers.parsing.regex import regex

_HEADER = regex(r"^\s*(?:Features|Offload parameters) for (?P<link>[^\s:]+):")
_ROW = regex(r"^\s*(?P<key>[a-z][\w-]*): (?P<value>on|off)\b *(?P<note>\[[^\]]*\])?\s*$")
_WELL_KNOWN = regex(
    r"^(?:[rt]x-[\w-]+|scatter-gather|(?:tcp|udp|generic)-(?:segmentation|fragmentation|receive)-offload|large-receive-offload"
    r"|ntuple-filters|receive-hashing|highdma|hw-tc-offload|esp-hw-offload|l2-fwd-offload|loopback)$"
)
_RECOGNISED = regex(
    r"(?m)(?:Features|Offload parameters) for \S+:|\b(?:segmentation|receive|vlan)-offload: (?:on|off)"
    r"|^[ \t]*(?:[\w.-]+: *)?[rt]x-[\w-]+: (?:on|off)\b|\bethtool (?:-k|--show-features)\b"
)


def _read(lines: Lines) -> Iterator[Record | Problem]:
    for block in blocks(lines, _ROW, frozenset({"-k", "--show-features", "--show-offload"}), _HEADER):
        for seen, found in block.rows:
            if not block.is_named and not _WELL_KNOWN.match(found["key"]):
                continue
            yield LinkOffload(
                source=source(lines, "ethtool -k", block.host),
                quotes=(seen.quoted(lines),),
                link=block.link,
                feature=found["key"],
                is_on=found["value"] == "on",
                is_fixed=found["note"] == "[fixed]",
            )


READER = Reader(
    title=Text(en="offloads (ethtool -k)", zh="网卡卸载功能（ethtool -k）"),
    gives=(LinkOffload,),
    recognises=marked(_RECOGNISED),
    read=_read,
    obtained_by=("ethtool -k IFACE",),
)
