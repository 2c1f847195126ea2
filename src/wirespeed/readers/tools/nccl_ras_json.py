"""NCCL's RAS as JSON (`ncclras -f json`, NCCL 2.28.7 and later), and the JSON events of its monitor mode.

NCCL 2.28.7 to 2.28.9 leave out a comma in the list of missing ranks (ray-project/ray#64928): it is put in before the text is decoded.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass

from wirespeed.model.events.nccl import NcclRankState
from wirespeed.model.facts.host import SoftwareVersion
from wirespeed.model.kinds import Reader
from wirespeed.model.lines import Lines, quote, source
from wirespeed.model.record import Record
from wirespeed.model.source import Problem, Quote
from wirespeed.model.text import Text
from wirespeed.readers.parsing.json_excerpt import number, word
from wirespeed.readers.parsing.marks import marked
from wirespeed.readers.parsing.regex import regex

_TOOL = "nccl-ras-json"
MOST_REPORTS = 100
MOST_QUOTE_CHARACTERS = 400
_OPENING = regex(
    r'\{\s*"(?:nccl_version"\s*:\s*"[\d.]+[^"]*"\s*,\s*"cuda_runtime_version"|timestamp"\s*:\s*"[^"]*"\s*,\s*"group"\s*:)'
)
_RECOGNISED = regex(r'"communicators_count"\s*:|"missing_ranks_count"\s*:|"event"\s*:\s*"PEER_')
_NO_COMMA = regex(r'("nvml_dev"\s*:\s*-?\d{1,9})(\s*"status")')
_RANK = regex(r'"rank"\s*:\s*-?\d')
_DECODER = json.JSONDecoder()
_IN_PROGRESS = 7
"""ncclInProgress: a rank that is still being initialised."""


@dataclass(slots=True)
class _Report:
    """One decoded document with the lines it stands on, and how far its ranks have been found in them."""

    index: int
    first_line_index: int
    rows: list[str]
    at: int = 0

    def next_rank(self, lines: Lines) -> Quote:
        """The line of the next rank; the document's first line where its ranks are not found."""
        for place in range(self.at, len(self.rows)):
            found = _RANK.search(self.rows[place])
            if found:
                self.at = place + 1 if len(self.rows) > 1 else 0
                return quote(lines, self.first_line_index + place, self.rows[place][:MOST_QUOTE_CHARACTERS])
        return quote(lines, self.first_line_index, self.rows[0][:MOST_QUOTE_CHARACTERS])


def _read(lines: Lines) -> Iterator[Record | Problem]:
    text = lines.whole()
    if text is None:
        yield _problem(lines, None)
        return
    mended = _NO_COMMA.sub(r"\1,\2", text)
    rows = [line for _, line in lines]
    position = 0
    for index in range(MOST_REPORTS):
        found = _OPENING.search(mended, position)
        if found is None:
            return
        first = mended.count("\n", 0, found.start())
        try:
            document, position = _DECODER.raw_decode(mended, found.start())
        except (ValueError, RecursionError):
            position = found.end()
            yield _problem(lines, first)
            continue
        last = first + mended.count("\n", found.start(), position)
        report = _Report(index, first, rows[first : last + 1] or [""])
        yield from _event(lines, report, document) if "event" in document else _status(lines, report, document)


def _problem(lines: Lines, line_index: int | None) -> Problem:
    return Problem(
        source=source(lines, _TOOL),
        why=Text(en="this RAS document is cut, damaged or too large", zh="该 RAS 文档不完整、已损坏或过大"),
        line_index=line_index,
    )


def _event(lines: Lines, report: _Report, document: dict[str, object]) -> Iterator[NcclRankState]:
    peer = document.get("peer")
    event = word(document.get("event")) or ""
    if not isinstance(peer, dict) or not event.startswith("PEER_") or event in ("PEER_ALIVE", "PEER_RECOVERED"):
        return
    devices = peer.get("cuda_devs")
    yield NcclRankState(
        source=source(lines, _TOOL, word(peer.get("host"))),
        quotes=(quote(lines, report.first_line_index, report.rows[0][:MOST_QUOTE_CHARACTERS]),),
        communicator="",
        state="dead" if event == "PEER_DEAD" else "missing",
        pid=number(peer.get("pid")),
        gpu_index=number(devices[0]) if isinstance(devices, list) and devices else None,
        report_index=report.index,
        taken_at=word(document.get("timestamp")),
    )


def _status(lines: Lines, report: _Report, document: dict[str, object]) -> Iterator[Record]:
    version = word(document.get("nccl_version"))
    if version:
        head = next((place for place, row in enumerate(report.rows) if "nccl_version" in row), 0)
        said = quote(lines, report.first_line_index + head, report.rows[head][:MOST_QUOTE_CHARACTERS])
        yield SoftwareVersion(source=source(lines, _TOOL), quotes=(said,), name="nccl", version=version)
    taken_at = word(document.get("timestamp"))
    for communicator in _objects(document.get("communicators")):
        name = (word(communicator.get("hash")) or "?").removeprefix("0x")
        for rank in _objects(communicator.get("ranks")):
            yield _rank(lines, report, rank, name, _state_of(rank), taken_at)
        for rank in _objects(communicator.get("missing_ranks")):
            status = rank.get("status")
            is_dead = isinstance(status, dict) and status.get("considered_dead") is True
            yield _rank(lines, report, rank, name, "dead" if is_dead else "missing", taken_at)


def _objects(value: object) -> list[dict[str, object]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _state_of(rank: dict[str, object]) -> str:
    status = rank.get("status")
    status = status if isinstance(status, dict) else {}
    if status.get("abort_flag") is True:
        return "abort"
    if number(status.get("async_error")) not in (0, _IN_PROGRESS, None) or number(status.get("init_state")) not in (
        0,
        _IN_PROGRESS,
        None,
    ):
        return "error"
    if status.get("finalize_called") is True or status.get("destroy_flag") is True:
        return "finalize"
    return "init" if number(status.get("init_state")) == _IN_PROGRESS else "running"


def _rank(
    lines: Lines, report: _Report, rank: dict[str, object], communicator: str, state: str, taken_at: str | None
) -> NcclRankState:
    counts, status = rank.get("collective_counts"), rank.get("status")
    error = number(status.get("async_error")) if isinstance(status, dict) else None
    return NcclRankState(
        source=source(lines, _TOOL, word(rank.get("host"))),
        quotes=(report.next_rank(lines),),
        communicator=communicator,
        rank=number(rank.get("rank")),
        state=state,
        pid=number(rank.get("pid")),
        gpu_index=number(rank.get("cuda_dev")),
        launched_counts={name: launched for name, one in counts.items() if (launched := number(one)) is not None}
        if isinstance(counts, dict)
        else {},
        error=f"ncclResult {error}" if error and error != _IN_PROGRESS else None,
        report_index=report.index,
        taken_at=taken_at,
    )


READER = Reader(
    title=Text(en="NCCL RAS report (JSON)", zh="NCCL RAS 报告（JSON）"),
    gives=(NcclRankState, SoftwareVersion),
    recognises=marked(_RECOGNISED),
    read=_read,
    obtained_by=("ncclras -f json",),
)
