"""/proc/net/softnet_stat: packets each CPU took, dropped for a full backlog, and left for want of time."""

import re
from collections.abc import Iterator

from wirespeed.model.facts.host import SoftnetCpu
from wirespeed.model.kinds import Reader
from wirespeed.model.lines import Lines, source
from wirespeed.model.record import Record
from wirespeed.model.source import Problem
from wirespeed.model.text import Text
from wirespeed.readers.parsing.excerpt import Seen, excerpt
from wirespeed.readers.parsing.marks import marked
from wirespeed.readers.parsing.regex import regex

_HEX_ROW = regex(r"^\s*(?:cpu\d+:?\s+)?(?P<columns>[0-9a-f]{8}(?: [0-9a-f]{8}){8,15})\s*$", re.IGNORECASE)
_HEADING = regex(r"^\s*cpu\s+.*\bdropped\b.*squeeze", re.IGNORECASE)
_DECIMAL_ROW = regex(r"^\s*(?:cpu)?(?P<columns>\d+:?(?:\s+\d+)+)\s*$", re.IGNORECASE)
_LABELLED = regex(
    r"\bcpu\s?(?P<cpu>\d+)\b.{0,40}?\bprocessed[ =:]+(?P<processed>\d+)\W+dropped[ =:]+(?P<dropped>\d+)\W+"
    r"(?:time_)?squeezed?[ =:]+(?P<squeezed>\d+)",
    re.IGNORECASE,
)
_RECOGNISED = regex(
    r"(?im)^[ \t]*(?:[\w.-]+: *)?(?:cpu\d+:?\s+)?[0-9a-f]{8}(?: [0-9a-f]{8}){8,15}[ \t]*$"
    r"|\bcpu\s.*\bdropped\b.*squeeze|\bcpu\s?\d+\b.{0,40}\bprocessed[ =:]+\d"
)
_RPS, _CPU_ID, _BACKLOG = 9, 12, 11
"""Columns after `processed dropped time_squeeze 0 0 0 0 0 cpu_collision`: received_rps, flow_limit; since 5.10 backlog and CPU."""
_ALIASES = {
    "total": "processed",
    "squeezed": "squeeze",
    "time_squeeze": "squeeze",
    "time_squeezed": "squeeze",
    "rps": "received_rps",
}


def _read(lines: Lines) -> Iterator[Record | Problem]:
    row_number = 0
    names: list[str] | None = None
    for seen in excerpt(lines, _is_own):
        found = None if seen.is_prompt else _HEX_ROW.match(seen.text)
        if found:
            yield _from_hex(lines, seen, found["columns"].split(), row_number)
            row_number += 1
            continue
        if not _HEADING.match(seen.text) and (seen.is_prompt or not seen.text.strip()):
            row_number, names = 0, None
            continue
        if _HEADING.match(seen.text):
            names = [_ALIASES.get(word, word) for word in seen.text.lower().split()]
            continue
        yield from _from_words(lines, seen, names)


def _is_own(text: str) -> bool:
    return any(shape.match(text) for shape in (_HEX_ROW, _HEADING, _DECIMAL_ROW))


def _from_hex(lines: Lines, seen: Seen, columns: list[str], row_number: int) -> SoftnetCpu:
    values = [int(one, 16) for one in columns]
    return SoftnetCpu(
        source=source(lines, "/proc/net/softnet_stat", seen.host),
        quotes=(seen.quoted(lines),),
        cpu=values[_CPU_ID] if len(values) > _CPU_ID else row_number,
        processed_count=values[0],
        dropped_count=values[1],
        squeezed_count=values[2],
        received_rps_count=values[_RPS] if len(values) > _RPS else None,
        backlog_packets=values[_BACKLOG] if len(values) > _CPU_ID else None,
    )


def _from_words(lines: Lines, seen: Seen, names: list[str] | None) -> Iterator[SoftnetCpu]:
    values: dict[str, int] = {}
    row = _DECIMAL_ROW.match(seen.text) if names else None
    labelled = _LABELLED.search(seen.text)
    if names and row:
        values = dict(zip(names, (int(one.rstrip(":")) for one in row["columns"].split()), strict=False))
    elif labelled:
        values = {"cpu": int(labelled["cpu"]), "processed": int(labelled["processed"])}
        values |= {"dropped": int(labelled["dropped"]), "squeeze": int(labelled["squeezed"])}
    if {"cpu", "processed", "dropped", "squeeze"} <= values.keys():
        yield SoftnetCpu(
            source=source(lines, "softnet_stat", seen.host),
            quotes=(seen.quoted(lines),),
            cpu=values["cpu"],
            processed_count=values["processed"],
            dropped_count=values["dropped"],
            squeezed_count=values["squeeze"],
            received_rps_count=values.get("received_rps"),
        )


READER = Reader(
    title=Text(en="receive work of each CPU (softnet_stat)", zh="各 CPU 的收包处理（softnet_stat）"),
    gives=(SoftnetCpu,),
    recognises=marked(_RECOGNISED),
    read=_read,
    obtained_by=("cat /proc/net/softnet_stat",),
)
