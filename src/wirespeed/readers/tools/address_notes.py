"""Addresses as people note them: `head: enp1s0 192.0.2.20   ib0 198.51.100.10`, `rocep1s0f0 -> 192.0.2.2/24`."""

from collections.abc import Iterator

from wirespeed.model.facts.link import Link
from wirespeed.model.facts.path import Address
from wirespeed.model.kinds import Reader
from wirespeed.model.lines import Lines, quote, source
from wirespeed.model.record import Record
from wirespeed.model.source import Problem
from wirespeed.model.text import Text
from wirespeed.readers.parsing.ip import is_address
from wirespeed.readers.parsing.marks import marked
from wirespeed.readers.parsing.regex import regex

_INTERFACE = (
    r"(?:eth|ib|bond|br|docker|cni|flannel|veth|vlan|team|wlan|hsn|tun|tap|wg|rdma|mlx5_|bnxt_re|irdma|rxe|siw)\d[\w.-]*"
    r"|(?:en|wl|ib|roce|iwp)[oPpsxX]\w*\d[\w.-]*"
)
_NOTE = regex(
    rf"\b(?<![./-])(?<!-i )(?<!-I )(?<!dev )(?P<link>{_INTERFACE})\s*(?:->|=>|=|:(?!\w)|\s)\s*"
    r"(?:inet6? )?(?:(?P<address>\d{1,3}(?:\.\d{1,3}){3}|[0-9a-fA-F]{1,4}:[0-9a-fA-F:]+)(?:/(?P<length>\d{1,3}))?(?![\w.:])"
    r"|(?:is )?(?P<dead>no carrier|NO-CARRIER|down|no link)\b)"
)
_HOST = regex(r"^\s*(?:[-*] +)?(?P<host>[A-Za-z][\w.-]*) ?: +")
_MACHINE_LINE = regex(
    r"NCCL (?:INFO|WARN)|\binet6? \S+/\d+ |<[A-Z_,]+> mtu|\bkernel:|^\s*\[\s*\d+\.\d+\]| dev \S+ (?:proto|src|scope|lladdr)"
)


def _read(lines: Lines) -> Iterator[Record | Problem]:
    for index, line in lines:
        if _MACHINE_LINE.search(line):
            continue
        named = _HOST.match(line)
        for found in _NOTE.finditer(line):
            host = named["host"] if named and named.end() <= found.start() else None
            if found["dead"]:
                yield Link(
                    source=source(lines, "note", host),
                    quotes=(quote(lines, index, line),),
                    name=found["link"],
                    has_carrier=False,
                )
            elif is_address(found["address"]):
                yield Address(
                    source=source(lines, "note", host),
                    quotes=(quote(lines, index, line),),
                    link=found["link"],
                    address=found["address"],
                    prefix_length_number=int(found["length"]) if found["length"] else None,
                )


READER = Reader(
    title=Text(en="addresses in notes", zh="笔记中的地址"),
    gives=(Address, Link),
    recognises=marked(_NOTE),
    read=_read,
    voice="loose",
)
