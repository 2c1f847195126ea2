"""NCCL's RAS: what `ncclras` (or `echo verbose status | nc localhost 28028`) prints as text, and the events of its monitor mode.

Of the ranks that differ RAS lists the smaller group, which may be the one ahead (NVIDIA/nccl#1911); the counts tell. Forms of 2.24 to 2.30
(src/ras/client_support.cc).
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from wirespeed.model.events.nccl import NcclRankState
from wirespeed.model.kinds import Reader
from wirespeed.model.lines import Lines, quote, source
from wirespeed.model.record import Record
from wirespeed.model.source import Problem, Quote
from wirespeed.model.text import Text
from wirespeed.readers.parsing.marks import marked
from wirespeed.readers.parsing.regex import regex

_TOOL = "nccl-ras"
_REPORT = regex(r"^\s*Communicators\.\.\.(?: \(|\s*$)")
_ROW = regex(
    r"^\s*(?P<group>\d{1,6})\s+\d{1,7}\s+\d{1,6}\s+\d{1,6}(?:-\d{1,6})?\s+\d{1,7}\s+(?P<ranks>\d{1,8})\s+"
    r"(?P<status>RUNNING|INIT|FINALIZE|ABORT|NOCOMM|UNKNOWN|MIXED|MISMATCH)\s+(?P<errors>[A-Z]{2,12})\s*$"
)
_COMMUNICATOR = regex(r"^\s*#\d{1,6}-\d{1,6} \((?P<hash>[0-9a-f]{6,16})\) (?P<what>INCOMPLETE|ERROR|MISMATCH|TIMEOUT)\s*$")
_SECTION = regex(r"^\s*(?P<what>INCOMPLETE|DEAD|TIMEOUT)\s*$")
_COUNTS = regex(r"\bCommunicator ranks have different (?P<operation>\w{1,24}) operation counts\b")
_DIFFERENT_STATUS = regex(r"\bCommunicator ranks have different status\b")
_MISSING_RANKS = regex(r"\bMissing communicator data from \d{1,8} ranks?\b|\bThe missing ranks?: (?P<ranks>[\d, ]{1,2000})\s*$")
_GROUP = regex(
    r"^\s*(?P<ranks>\d{1,8}) ranks? (?:(?:have|has) launched up to operation (?P<count>\d{1,15})|(?:have|has) not launched (?P<none>any) operations"
    r"|(?:have|has) status (?P<status>[A-Z]{3,12})|reported (?P<error>\S.{0,120}?))\s*$"
)
_RANK = regex(
    r"^\s*Rank (?P<rank>\d{1,8})(?: has launched up to operation (?P<count>\d{1,15})| has not launched (?P<none>any) operations"
    r"| has status (?P<status>[A-Z]{3,12})| reported (?P<error>\S.{0,120}?))? -- (?P<where>.{1,400})$"
)
_WHERE = regex(r"GPU (?P<gpu>\d{1,3})(?: \(NVML \d{1,3}\))? managed by process (?P<pid>\d{1,10}) on node (?P<node>\S{1,253})")
_PROCESS = regex(r"\bProcess (?P<pid>\d{1,10}) on node (?P<node>\S{1,253}) managing GPUs? (?P<gpu>\d{1,3})")
_EVENT = regex(r"^\s*\[(?P<at>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)\] (?P<event>PEER_(?:DEAD|UNRESPONSIVE|SUSPECT))\b")
_RECOGNISED = regex(
    r"(?m)^\s*Group +Comms +Nodes +Ranks|^\s*#\d+-\d+ \([0-9a-f]{6,16}\) (?:INCOMPLETE|ERROR|MISMATCH)"
    r"|ranks? (?:have|has) launched up to operation \d|Process \d+ on node \S+ managing GPU|\] PEER_[A-Z]+: Process \d+ on node"
    r"|considered dead \(unreachable via the RAS network\)|^\s*Communicators\.\.\. \(\d"
)
_CUT = Text(en="a line of the RAS report is cut or damaged", zh="RAS 报告中的一行不完整或已损坏")


@dataclass(slots=True)
class _Group:
    """Ranks that are counted together; they may be listed below, or not."""

    found: re.Match[str]
    said: Quote
    is_listed: bool = False


@dataclass(slots=True)
class _Now:
    """Where in the report the reading is."""

    report: int = 0
    communicator: str = ""
    title: Quote | None = None
    what: str = ""
    """`counts`, `status`, `missing`, `error`, `dead`: what the lines of a block are about."""
    operation: str = ""
    group: _Group | None = None


def _read(lines: Lines) -> Iterator[Record | Problem]:
    now = _Now()
    for index, line in lines:
        rank = _RANK.match(line)
        group = None if rank else _GROUP.match(line)
        if rank:
            yield from _rank(lines, now, rank, quote(lines, index, line))
            continue
        if group or not line.strip() or _starts(line):
            yield from _closed(lines, now)
        if group:
            now.group = _Group(group, quote(lines, index, line))
        elif row := _ROW.match(line):
            yield _summary(lines, now, row, quote(lines, index, line))
        elif process := _PROCESS.search(line):
            yield _process(lines, now, process, line, quote(lines, index, line))
        elif missing := _MISSING_RANKS.search(line):
            now.what = "missing" if now.communicator else now.what
            yield from _listed(lines, now, missing, quote(lines, index, line))
        elif re.match(r"^\s*Rank \d{1,8} --? ?\S{0,40}$", line) and now.communicator:
            yield Problem(source=source(lines, _TOOL), why=_CUT, line_index=index)
        else:
            _place(now, line, quote(lines, index, line))
    yield from _closed(lines, now)


def _starts(line: str) -> bool:
    return any(shape.search(line) for shape in (_REPORT, _COMMUNICATOR, _SECTION, _COUNTS, _DIFFERENT_STATUS))


def _place(now: _Now, line: str, said: Quote) -> None:
    """Follow the headings of the report."""
    communicator, section, counts = _COMMUNICATOR.match(line), _SECTION.match(line), _COUNTS.search(line)
    if _REPORT.match(line):
        now.report += 1
    elif communicator:
        now.communicator, now.title = communicator["hash"], said
        now.what = {"INCOMPLETE": "missing", "ERROR": "error"}.get(communicator["what"], "")
    elif section:
        now.communicator, now.title = "", said
        now.what = {"INCOMPLETE": "missing", "DEAD": "dead"}.get(section["what"], "")
    elif counts:
        now.what, now.title = "counts", said
        now.operation = "" if counts["operation"] == "collective" else counts["operation"]
    elif _DIFFERENT_STATUS.search(line):
        now.what, now.title = "status", said


def _closed(lines: Lines, now: _Now) -> Iterator[NcclRankState]:
    """A group whose ranks were not listed stands for itself."""
    group, now.group = now.group, None
    if group is not None and not group.is_listed:
        yield _state(lines, now, group.found, (group.said,), ranks_count=int(group.found["ranks"]))


def _rank(lines: Lines, now: _Now, found: re.Match[str], said: Quote) -> Iterator[NcclRankState]:
    """A listed rank: it tells its figure itself, or has that of the group above."""
    where = _WHERE.search(found["where"])
    tells = any(found[name] for name in ("count", "none", "status", "error"))
    if tells or now.group is None:
        yield _state(lines, now, found, (said,), rank=int(found["rank"]), where=where)
    else:
        now.group.is_listed = True
        yield _state(lines, now, now.group.found, (now.group.said, said), rank=int(found["rank"]), where=where)


def _state(
    lines: Lines,
    now: _Now,
    parts: re.Match[str],
    quotes: tuple[Quote, ...],
    *,
    rank: int | None = None,
    ranks_count: int = 1,
    where: re.Match[str] | None = None,
) -> NcclRankState:
    groups = parts.groupdict()
    counts = {now.operation: int(groups["count"])} if groups.get("count") else {now.operation: 0} if groups.get("none") else {}
    state = (groups.get("status") or "").lower() or (
        "error" if groups.get("error") else "missing" if now.what == "missing" else "running"
    )
    return NcclRankState(
        source=source(lines, _TOOL, where["node"] if where else None),
        quotes=quotes if now.title is None else (now.title, *quotes),
        communicator=now.communicator,
        rank=rank,
        ranks_count=ranks_count,
        state=state,
        pid=int(where["pid"]) if where else None,
        gpu_index=int(where["gpu"]) if where else None,
        launched_counts=counts,
        error=groups.get("error"),
        report_index=now.report,
    )


def _summary(lines: Lines, now: _Now, row: re.Match[str], said: Quote) -> NcclRankState:
    return NcclRankState(
        source=source(lines, _TOOL),
        quotes=(said,),
        communicator=f"group {row['group']}",
        ranks_count=int(row["ranks"]),
        state=row["status"].lower(),
        error=None if row["errors"] == "OK" else row["errors"],
        report_index=now.report,
    )


def _process(lines: Lines, now: _Now, found: re.Match[str], line: str, said: Quote) -> NcclRankState:
    event = _EVENT.match(line)
    is_dead = (event is not None and event["event"] == "PEER_DEAD") or (event is None and now.what == "dead")
    return NcclRankState(
        source=source(lines, _TOOL, found["node"]),
        quotes=(said,) if event or now.title is None else (now.title, said),
        communicator="",
        state="dead" if is_dead else "missing",
        pid=int(found["pid"]),
        gpu_index=int(found["gpu"]),
        report_index=now.report,
        taken_at=event["at"] if event else None,
    )


def _listed(lines: Lines, now: _Now, missing: re.Match[str], said: Quote) -> Iterator[NcclRankState]:
    for text in (missing["ranks"] or "").replace(",", " ").split():
        yield NcclRankState(
            source=source(lines, _TOOL),
            quotes=(said,) if now.title is None else (now.title, said),
            communicator=now.communicator,
            rank=int(text) if len(text) < 9 else None,
            state="missing",
            report_index=now.report,
        )


READER = Reader(
    title=Text(en="NCCL RAS report", zh="NCCL RAS 报告"),
    gives=(NcclRankState,),
    recognises=marked(_RECOGNISED),
    read=_read,
    obtained_by=("ncclras -v",),
)
