"""Packet captures: tcpdump's lines, and pcap and pcapng files, which come as such lines, one a packet."""

from collections.abc import Iterator

from wirespeed.model.facts.path import Neighbour
from wirespeed.model.flows import CaptureSummary, DnsQuery, IcmpReport, TcpFlow
from wirespeed.model.kinds import Reader
from wirespeed.model.lines import Lines, source
from wirespeed.model.measurement import NameLookup, PortProbe
from wirespeed.model.record import Record
from wirespeed.model.source import Problem
from wirespeed.model.text import Text
from wirespeed.readers.packets.capture import Capture
from wirespeed.readers.packets.lines import is_capture


def _read(lines: Lines) -> Iterator[Record | Problem]:
    capture = Capture(source(lines, "tcpdump"), lines.head)
    for index, line in lines:
        yield from capture.take(index, line)
    yield from capture.rest()


READER = Reader(
    title=Text(en="packets of a capture (tcpdump, pcap, pcapng)", zh="抓包（tcpdump、pcap、pcapng）"),
    gives=(TcpFlow, DnsQuery, NameLookup, IcmpReport, Neighbour, PortProbe, CaptureSummary),
    recognises=is_capture,
    read=_read,
    needs_every_line=True,
    obtained_by=("tcpdump -ni any -s 200 -w capture.pcap host PEER",),
)
