"""`mpstat -P ALL`, `top` and `ps`: how busy each core and each process is, and each core's share in softirq."""

import re
from collections.abc import Iterator

from wirespeed.model.facts.host import ProcessUse, SoftirqCpu
from wirespeed.model.kinds import Reader
from wirespeed.model.lines import Lines, source
from wirespeed.model.record import Record
from wirespeed.model.source import Problem, Quote
from wirespeed.model.text import Text
from wirespeed.readers.parsing.excerpt import Seen, excerpt
from wirespeed.readers.parsing.marks import marked
from wirespeed.readers.parsing.regex import regex

_TIME = r"(?:\d\d:\d\d:\d\d(?: [AP]M)?|Average:)"
_MPSTAT_HEADER = regex(rf"^\s*(?:{_TIME}\s+)?CPU(?P<columns>(?:\s+%\w+)+)\s*$")
_MPSTAT_ROW = regex(rf"^\s*(?:{_TIME}\s+)?(?P<cpu>all|\d+)(?P<numbers>(?:\s+\d+\.\d+){{5,12}})\s*$")
_TOP_CORE = regex(r"^\s*%?Cpu(?P<cpu>\d+)\s*:\s*(?P<rest>.*\bid\b.*)$", re.IGNORECASE)
_TOP_PART = regex(r"(\d+(?:\.\d+)?)[ %]+(us|sy|ni|id|wa|hi|si|st)\b")
_TOP_PROCESS = regex(
    r"^\s*\d+ +\S+ +(?:-?\d+|rt) +-?\d+ +[\d.]+[kmgt]? +[\d.]+[kmgt]? +[\d.]+[kmgt]? +[RSDZTItX] +(?P<cpu>\d+"
    r"(?:\.\d+)?) +\d+(?:\.\d+)? +\d+:\d+(?:[.:]\d+)? +(?P<name>\S.*)$"
)
_PS_PROCESS = regex(
    r"^\S+ +\d+ +(?P<cpu>\d+(?:\.\d+)?) +\d+(?:\.\d+)? +\d+ +\d+ +\S+ +[RSDZTI][\w<+]* +\S+ +\d+:\d+ +(?P<name>\S.*)$"
)
_RECOGNISED = regex(
    r"(?m)\bCPU +%usr\b|^[ \t]*(?:[\w.-]+: *)?%Cpu\d+ *:|^[ \t]*(?:[\w.-]+: *)?Cpu\d+ *: +[\d.]+ ?%?us|%CPU +%MEM"
    r"|^[ \t]*(?:[\w.-]+: *)?\d+ +\S+ +(?:-?\d+|rt) +-?\d+ +\S+ +\S+ +\S+ +[RSDZTI] +[\d.]+ +[\d.]+ +\d+:"
)


def _read(lines: Lines) -> Iterator[Record | Problem]:
    columns: list[str] = []
    heading: tuple[Quote, ...] = ()
    for seen in excerpt(lines, _is_own, ("mpstat",)):
        if seen.is_prompt:
            continue
        header = _MPSTAT_HEADER.match(seen.text)
        if header:
            columns, heading = header["columns"].split(), (seen.quoted(lines),)
            continue
        row = _MPSTAT_ROW.match(seen.text) if columns else None
        core = _TOP_CORE.match(seen.text)
        if row and row["cpu"] != "all":
            shares = dict(zip((name.lstrip("%") for name in columns), map(float, row["numbers"].split()), strict=False))
            yield from _core(lines, seen, int(row["cpu"]), shares.get("soft"), shares.get("idle"), "mpstat", heading)
        elif core:
            parts = {name: float(number) for number, name in _TOP_PART.findall(core["rest"])}
            yield from _core(lines, seen, int(core["cpu"]), parts.get("si"), parts.get("id"), "top", ())
        else:
            yield from _process(lines, seen)


def _is_own(text: str) -> bool:
    return any(shape.match(text) for shape in (_MPSTAT_HEADER, _MPSTAT_ROW, _TOP_CORE, _TOP_PROCESS))


def _core(
    lines: Lines, seen: Seen, cpu: int, softirq: float | None, idle: float | None, tool: str, heading: tuple[Quote, ...]
) -> Iterator[Record]:
    quotes = (*heading, seen.quoted(lines))
    if softirq is not None:
        yield SoftirqCpu(source=source(lines, tool, seen.host), quotes=quotes, cpu=cpu, busy_ratio=softirq / 100.0)
    if idle is not None:
        yield ProcessUse(
            source=source(lines, tool, seen.host),
            quotes=quotes,
            subject=f"cpu{cpu}",
            cpu_ratio=round(1.0 - idle / 100.0, 6),
            is_core=True,
        )


def _process(lines: Lines, seen: Seen) -> Iterator[ProcessUse]:
    top = _TOP_PROCESS.match(seen.text)
    found = top or _PS_PROCESS.match(seen.text)
    if found:
        yield ProcessUse(
            source=source(lines, "top" if top else "ps", seen.host),
            quotes=(seen.quoted(lines),),
            subject=found["name"].strip(),
            cpu_ratio=float(found["cpu"]) / 100.0,
        )


READER = Reader(
    title=Text(en="CPU use (mpstat, top)", zh="CPU 占用（mpstat、top）"),
    gives=(SoftirqCpu, ProcessUse),
    recognises=marked(_RECOGNISED),
    read=_read,
    obtained_by=("mpstat -P ALL 1 5", "top -1 -b -n 1"),
)
