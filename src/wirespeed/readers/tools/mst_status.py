"""`mst status -v`: which PCIe device, RDMA device and interface are one adapter, and its NUMA node."""

from collections.abc import Iterator

from wirespeed.model.facts.link import Link
from wirespeed.model.kinds import Reader
from wirespeed.model.lines import Lines, quote, source
from wirespeed.model.record import Record
from wirespeed.model.source import Problem
from wirespeed.model.text import Text
from wirespeed.readers.parsing.marks import marked
from wirespeed.readers.parsing.regex import regex

_ROW = regex(
    r"(?m)^[ \t]*(?P<type>(?:ConnectX|BlueField|ConnectIB)[\w()-]{0,8}\(rev:\w{1,3}\)|NA)[ \t]+(?:/dev/mst/\S{1,60}|NA)[ \t]+(?P<pci>(?:[0-9a-f]{4}:)?[0-9a-f]{2}:[0-9a-f]{2}\.[0-7])"
    r"[ \t]+(?P<rdma>[a-z][\w.]{0,30})(?:[ \t]+net-(?P<link>[\w.@-]{1,32}))?[ \t]+(?P<numa>\d{1,3})[ \t]*$"
)


def _read(lines: Lines) -> Iterator[Record | Problem]:
    for index, line in lines:
        found = _ROW.match(line)
        if found:
            pci = found["pci"]
            yield Link(
                source=source(lines, "mst status"),
                quotes=(quote(lines, index, line),),
                name=found["link"] or found["rdma"],
                pci_address=pci if pci.count(":") == 2 else f"0000:{pci}",
                numa_node_index=int(found["numa"]),
            )


READER = Reader(
    title=Text(en="mst status", zh="mst status"),
    gives=(Link,),
    recognises=marked(_ROW),
    read=_read,
    obtained_by=("mst status -v",),
)
