"""GPU peer matrices of `p2pBandwidthLatencyTest`: bandwidth (GB/s) and latency (us), with peer access on or off."""

import re
from collections.abc import Iterator

from wirespeed.model.facts.gpu import PeerAccess
from wirespeed.model.kinds import Reader
from wirespeed.model.lines import Lines, quote, source
from wirespeed.model.record import Record
from wirespeed.model.source import Problem, Quote
from wirespeed.model.text import Text
from wirespeed.readers.parsing.marks import marked
from wirespeed.readers.parsing.regex import regex

_CAN = regex(r"Device=(?P<near>\d{1,3}) (?P<can>CAN|CANNOT) Access Peer Device=(?P<far>\d{1,3})")
_TITLE = regex(r"\b(?:Bandwidth|Latency)\b.{0,40}\bMatrix \((?P<unit>GB/s|us)\)", re.IGNORECASE)
_DISABLED = regex(r"P2P=Disabled", re.IGNORECASE)
_RECOGNISED = regex(r"Device=\d{1,3} (?:CAN|CANNOT) Access Peer|Matrix \((?:GB/s|us)\)")
_COLUMNS = regex(r"^\s*(?:GPU|CPU|D\\D)\s+\d+(?:\s+\d+)*\s*$")
_NUMBER = regex(r"^\d{1,12}(?:\.\d{1,6})?$")
_MOST_COLUMNS = 128
_BAD_CELL = Text(en="a row of the peer matrix could not be read", zh="对等矩阵的一行无法读取")


def _read(lines: Lines) -> Iterator[Record | Problem]:
    """Matrices measured with P2P disabled are passed over: they tell of host memory, not of peers."""
    unit: str | None = None
    columns: list[int] = []
    above: tuple[Quote, ...] = ()
    for index, line in lines:
        can = _CAN.search(line)
        title = _TITLE.search(line)
        if can:
            yield _access(lines, index, line, can)
        elif title:
            unit = None if _DISABLED.search(line) else title["unit"].lower()
            columns, above = [], (quote(lines, index, line),)
        elif unit and _COLUMNS.match(line):
            is_cpu_half = line.lstrip().startswith("CPU")
            columns = [] if is_cpu_half else [int(word) for word in line.split()[1 : _MOST_COLUMNS + 1] if len(word) < 6]
            above = (*above[:1], quote(lines, index, line))
        elif unit and columns and (words := line.split()):
            if words[0].isdecimal() and len(words[0]) < 4:
                yield from _row(lines, index, line, words, columns, unit, above)
            else:
                columns = []


def _access(lines: Lines, index: int, line: str, can: re.Match[str]) -> PeerAccess:
    return PeerAccess(
        source=source(lines, "p2pBandwidthLatencyTest"),
        quotes=(quote(lines, index, line),),
        near_index=int(can["near"]),
        far_index=int(can["far"]),
        is_supported=can["can"] == "CAN",
    )


def _row(
    lines: Lines, index: int, line: str, words: list[str], columns: list[int], unit: str, above: tuple[Quote, ...]
) -> Iterator[PeerAccess | Problem]:
    """Cells off the diagonal of one row."""
    near = int(words[0])
    if not all(_NUMBER.match(word) for word in words[1:]):
        yield Problem(source=source(lines, "p2pBandwidthLatencyTest"), why=_BAD_CELL, line_index=index)
        return
    for far, word in zip(columns, words[1:], strict=False):
        if far != near:
            yield PeerAccess(
                source=source(lines, "p2pBandwidthLatencyTest"),
                quotes=(*above, quote(lines, index, line)),
                near_index=near,
                far_index=far,
                latency_s=float(word) * 1e-6 if unit == "us" else None,
                bandwidth_bytes_per_s=float(word) * 1e9 if unit == "gb/s" else None,
            )


READER = Reader(
    title=Text(en="GPU peer bandwidth and latency matrices", zh="GPU 对等带宽与时延矩阵"),
    gives=(PeerAccess,),
    recognises=marked(_RECOGNISED),
    read=_read,
    obtained_by=("p2pBandwidthLatencyTest",),
)
