"""traceroute and tracepath: hops with their times, and the path MTU where it is told."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

import msgspec

from wirespeed.model.kinds import Reader
from wirespeed.model.lines import Lines, quote, source
from wirespeed.model.measurement import PathHop, PingRun
from wirespeed.model.record import Record
from wirespeed.model.source import Problem, Quote
from wirespeed.model.text import Text
from wirespeed.readers.parsing.marks import marked
from wirespeed.readers.parsing.regex import regex

_HEADING = regex(r"\btraceroute6? to (?P<target>\S+)|(?:^|[\s$#])tracepath6?\s+(?:-\S+\s+(?:\d{1,15}\s+)?)*(?P<traced>\S+)")
_HOP = regex(r"^\s*(?P<hop>\d{1,2}) {1,3}(?P<answers>\S.*)$")
_PROBE_TIME = regex(r"(?<![\w.])(?P<ms>\d{1,15}(?:\.\d+)?) ms\b")
_PROBE_LOST = regex(r"(?:^|\s)\*(?=\s|$)")
_ADDRESS = regex(
    r"(?<![\w.:%-])(?P<name>[\w.:%-]+)(?: \((?P<address>[^)\s]+)\))?\s+(?:\[[^\]]*\]\s+)?(?:F=\d{1,15}\s+)?\d{1,15}(?:\.\d+)? ms"
)
_FRAGMENT_SIZE = regex(r"\bF=(?P<bytes>\d{1,15})")
_TRACEPATH_HOP = regex(
    r"^\s*(?P<hop>\d{1,2})(?P<guess>\?)?:\s+(?P<address>\S+|no reply)\s*(?:\(\S+\)\s*)?(?:(?P<ms>\d{1,15}(?:\.\d+)?)ms)?(?P<rest>.*)$"
)
_PATH_MTU = regex(r"\bpmtu (?P<bytes>\d{1,15})")
_RESUME = regex(r"Resume: pmtu (?P<bytes>\d{1,15})")
_MARK = regex(
    r"(?m)\btraceroute6? to \S+|^[ \t]*\d{1,2}\??: .{0,400}(?:\bpmtu \d{1,15}|\d{1,15}ms\b|no reply)|Resume: pmtu \d{1,15}"
    r"|^[ \t]*\d{1,2} {1,3}(?:\*\s+\*\s+\*|\S+(?: \(\S+\))?\s+\d{1,15}\.\d+ ms\b)"
)


@dataclass(slots=True)
class _Path:
    """The path being read; the newest hop waits until it is known whether another follows."""

    target: str = ""
    is_whole: bool = False
    waiting: PathHop | None = None


def _read(lines: Lines) -> Iterator[Record | Problem]:
    path = _Path()
    for index, line in lines:
        heading = _HEADING.search(line)
        resume = _RESUME.search(line)
        if heading:
            yield from _last(path)
            path = _Path(target=heading["target"] or heading["traced"], is_whole=True)
        elif resume:
            target = path.target or (path.waiting.address if path.waiting else None) or ""
            yield from _last(path)
            yield _path_mtu(lines, target, int(resume["bytes"]), quote(lines, index, line))
            path = _Path()
        else:
            hop = _hop(lines, quote(lines, index, line))
            if hop is not None:
                yield from _follow(path, hop)
            elif line.strip() and not line[0].isspace():
                yield from _last(path)
                path = _Path()
    yield from _last(path)


def _follow(path: _Path, hop: PathHop) -> Iterator[PathHop]:
    waiting = path.waiting
    if waiting is not None and hop.hop_index == waiting.hop_index and hop.sent_count is None:
        path.waiting = msgspec.structs.replace(
            hop, path_mtu_bytes=hop.path_mtu_bytes or waiting.path_mtu_bytes, quotes=waiting.quotes[-1:] + hop.quotes
        )
        return
    if waiting is not None and hop.hop_index <= waiting.hop_index:
        yield from _last(path)
        path.is_whole = False
    elif waiting is not None:
        yield waiting
    path.is_whole = path.is_whole or hop.hop_index == 1
    path.waiting = hop


def _last(path: _Path) -> Iterator[PathHop]:
    if path.waiting is not None:
        yield msgspec.structs.replace(path.waiting, is_last=path.is_whole)
        path.waiting = None


def _hop(lines: Lines, row: Quote) -> PathHop | None:
    traced = _TRACEPATH_HOP.match(row.text)
    if traced and (traced["ms"] or traced["rest"] or traced["address"] == "no"):
        return _tracepath_hop(lines, row, traced)
    found = _HOP.match(row.text)
    return _traceroute_hop(lines, row, found) if found else None


def _traceroute_hop(lines: Lines, row: Quote, found: re.Match[str]) -> PathHop | None:
    answers = found["answers"]
    times_s = [float(probe["ms"]) / 1e3 for probe in _PROBE_TIME.finditer(answers)]
    lost = len(_PROBE_LOST.findall(answers))
    address = _ADDRESS.search(answers)
    if address is None and (times_s or lost < 2):
        return None
    sent = len(times_s) + lost
    if not sent:
        return None
    size = _FRAGMENT_SIZE.search(answers)
    return PathHop(
        source=source(lines, "traceroute"),
        quotes=(row,),
        hop_index=int(found["hop"]),
        address=(address["address"] or address["name"]) if address else None,
        sent_count=sent,
        loss_ratio=lost / sent,
        rtt_mean_s=round(sum(times_s) / len(times_s), 9) if times_s else None,
        rtt_min_s=round(min(times_s), 9) if times_s else None,
        rtt_max_s=round(max(times_s), 9) if times_s else None,
        path_mtu_bytes=int(size["bytes"]) if size else None,
    )


def _tracepath_hop(lines: Lines, row: Quote, found: re.Match[str]) -> PathHop | None:
    mtu = _PATH_MTU.search(found["rest"])
    is_silent = row.text.partition(":")[2].strip().startswith("no reply")
    if found["address"] == "[LOCALHOST]" or not (mtu or found["ms"] or is_silent):
        return None
    return PathHop(
        source=source(lines, "tracepath"),
        quotes=(row,),
        hop_index=int(found["hop"]),
        address=None if is_silent else found["address"],
        loss_ratio=1.0 if is_silent else None,
        rtt_mean_s=round(float(found["ms"]) / 1e3, 9) if found["ms"] else None,
        path_mtu_bytes=int(mtu["bytes"]) if mtu else None,
    )


def _path_mtu(lines: Lines, target: str, mtu_bytes: int, row: Quote) -> PingRun:
    """What tracepath found for the whole path: it probes as ping does with fragmenting forbidden."""
    return PingRun(
        source=source(lines, "tracepath"), quotes=(row,), target=target, dont_fragment=True, reported_mtu_bytes=mtu_bytes
    )


READER = Reader(
    title=Text(en="traceroute and tracepath", zh="traceroute 与 tracepath"),
    gives=(PathHop, PingRun),
    recognises=marked(_MARK),
    read=_read,
    obtained_by=("tracepath -n PEER", "traceroute -n PEER"),
)
