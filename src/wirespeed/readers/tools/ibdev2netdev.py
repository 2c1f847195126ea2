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
_VERBOSE = regex(
    r"(?<![\w.-])(?P<device>[a-z][\w.-]{1,63}) \([^()]{1,80}\) .{0,200}?\bport (?P<port>\d{1,3}) \((?P<logical>[A-Z]{2,8}) *\)"
    r" ={1,3}> (?P<link>[\w.@-]{1,32}) \((?P<state>Up|Down)\)"
)
"""`ibdev2netdev -v` prints the port's own state, which an interface that is down does not tell."""
_COLUMNS = frozenset({"RDMA", "Net", "LnkStat", "Link"})
_LOGICAL = {"up": "active", "active": "active", "init": "init", "armed": "armed", "down": "down"}
_MOST_LINE_CHARACTERS = 1_000
_STATES = {"Up": "active", "Down": "down"}


def _read(lines: Lines) -> Iterator[Record | Problem]:
    names: list[str] = []
    for index, line in lines:
        cells = [cell.strip() for cell in line.split("|")] if "|" in line and len(line) <= _MOST_LINE_CHARACTERS else []
        if set(cells) >= _COLUMNS:
            names = cells
        elif names and len(cells) == len(names):
            yield from _from_row(lines, index, line, dict(zip(names, cells, strict=True)))
        elif found := _VERBOSE.search(line):
            yield RdmaPort(
                source=source(lines, "ibdev2netdev"),
                quotes=(quote(lines, index, line),),
                device=found["device"],
                port=int(found["port"]),
                state=_LOGICAL.get(found["logical"].lower()),
                link=found["link"],
            )
        elif found := _LINE.search(line):
            yield RdmaPort(
                source=source(lines, "ibdev2netdev"),
                quotes=(quote(lines, index, line),),
                device=found["device"],
                port=int(found["port"]),
                state=_STATES[found["state"]],
                link=found["link"],
            )


def _from_row(lines: Lines, index: int, line: str, cells: dict[str, str]) -> Iterator[RdmaPort]:
    """A row of the table that names RDMA device, interface, state and kind of link."""
    state = _LOGICAL.get(cells["LnkStat"].lower())
    if state is None or not cells["RDMA"]:
        return
    kind = cells["Link"].upper()
    yield RdmaPort(
        source=source(lines, "ibdev2netdev"),
        quotes=(quote(lines, index, line),),
        device=cells["RDMA"],
        state=state,
        link_layer="infiniband" if kind == "IB" else "ethernet" if kind.startswith("ETH") else None,
        link_rate_bits_per_s=1e9 * float(cells["Rate"]) if cells.get("Rate", "").isdecimal() else None,
        link=cells["Net"] or None,
    )


READER = Reader(
    title=Text(en="RDMA ports and their interfaces (ibdev2netdev)", zh="RDMA 端口与网络接口（ibdev2netdev）"),
    gives=(RdmaPort,),
    recognises=marked(_LINE, _VERBOSE, regex(r"\bRDMA *\| *Net\b[^\n]{0,80}\| *LnkStat\b")),
    read=_read,
    obtained_by=("ibdev2netdev",),
)
