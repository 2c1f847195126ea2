"""`ibdev2netdev`: which network interface belongs to which RDMA port, and whether that interface is up."""

from collections.abc import Iterator

from wirespeed.model.facts.rdma import RdmaPort
from wirespeed.model.kinds import Reader
from wirespeed.model.lines import Lines, quote, source
from wirespeed.model.record import Record
from wirespeed.model.source import Problem
from wirespeed.model.text import Text
from wirespeed.readers.parsing.marks import marked
from wirespeed.readers.parsing.regex import regex

_LINE = regex(
    r"(?<![\w.-])(?P<device>[a-z][\w.-]{1,63}) port (?P<port>\d{1,3}) ={1,3}> (?P<link>[\w.@-]{1,32}) "
    r"\((?P<state>Up|Down)\)"
)
_STATES = {"Up": "active", "Down": "down"}


def _read(lines: Lines) -> Iterator[Record | Problem]:
    for index, line in lines:
        if found := _LINE.search(line):
            yield RdmaPort(
                source=source(lines, "ibdev2netdev"),
                quotes=(quote(lines, index, line),),
                device=found["device"],
                port=int(found["port"]),
                state=_STATES[found["state"]],
                link=found["link"],
            )


READER = Reader(
    title=Text(en="RDMA ports and their interfaces (ibdev2netdev)", zh="RDMA 端口与网络接口（ibdev2netdev）"),
    gives=(RdmaPort,),
    recognises=marked(_LINE),
    read=_read,
    obtained_by=("ibdev2netdev",),
)
