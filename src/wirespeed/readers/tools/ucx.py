"""UCX's transports: what `ucx_info -d` offers, and the lanes that `UCX_LOG_LEVEL=info` prints for each configuration of peers."""

from collections.abc import Iterator

from wirespeed.model.events.ucx import UcxTransport
from wirespeed.model.kinds import Reader
from wirespeed.model.lines import Lines, quote, source
from wirespeed.model.record import Record
from wirespeed.model.source import Problem
from wirespeed.model.text import Text
from wirespeed.readers.parsing.marks import marked
from wirespeed.readers.parsing.regex import regex

_OFFERED = regex(r"^\s*#\s*Transport:\s*(?P<transport>[\w-]+)\s*$")
_DEVICE = regex(r"^\s*#\s*Device:\s*(?P<device>\S+)\s*$")
_CHOSEN = regex(r"\b(?:inter-node cfg#\d+|intra-node cfg#\d+|self cfg#\d+|ep_cfg\[\d+\]:)\s+(?P<lanes>.*\S)")
_LANE = regex(r"(?P<operation>[a-z_]+)\((?P<uses>[^()]*)\)")
_USE = regex(r"(?P<transport>[a-z][\w]*)/(?P<device>[\w:.\-]+)")
_RECOGNISED = regex(r"(?m)^\s*#\s*Transport:\s*[\w-]+\s*$|(?:inter-node|intra-node|self) cfg#\d+ |ep_cfg\[\d+\]: ")


def _read(lines: Lines) -> Iterator[Record | Problem]:
    offered: tuple[int, str, str] | None = None
    for index, line in lines:
        found = _OFFERED.match(line)
        if found:
            if offered:
                yield _offer(lines, offered)
            offered = (index, line, found["transport"])
            continue
        device = _DEVICE.match(line) if offered else None
        if offered and device:
            yield _offer(lines, offered, (index, line, device["device"]))
            offered = None
        chosen = _CHOSEN.search(line)
        if chosen:
            yield from _lanes(lines, index, line, chosen["lanes"])
    if offered:
        yield _offer(lines, offered)


def _offer(lines: Lines, offered: tuple[int, str, str], device: tuple[int, str, str] | None = None) -> UcxTransport:
    index, line, transport = offered
    quotes = (quote(lines, index, line), *((quote(lines, device[0], device[1]),) if device else ()))
    return UcxTransport(source=source(lines, "ucx"), quotes=quotes, transport=transport, device=device[2] if device else None)


def _lanes(lines: Lines, index: int, line: str, text: str) -> Iterator[UcxTransport]:
    for lane in _LANE.finditer(text):
        for use in _USE.finditer(lane["uses"]):
            yield UcxTransport(
                source=source(lines, "ucx"),
                quotes=(quote(lines, index, line),),
                transport=use["transport"],
                device=use["device"],
                operation=lane["operation"],
                is_chosen=True,
            )


READER = Reader(
    title=Text(en="transports of UCX", zh="UCX 的传输"),
    gives=(UcxTransport,),
    recognises=marked(_RECOGNISED),
    read=_read,
    obtained_by=("ucx_info -d", "UCX_LOG_LEVEL=info <your command>"),
)
