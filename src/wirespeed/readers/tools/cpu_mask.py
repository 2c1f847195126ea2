"""CPUs a process may use: taskset, Cpus_allowed_list, launcher bindings, cpusets and notes such as `restricted to cores 0-71`."""

import re
from collections.abc import Iterator

from wirespeed.model.facts.host import CpuMask
from wirespeed.model.kinds import Reader
from wirespeed.model.lines import Lines, quote, source
from wirespeed.model.record import Record
from wirespeed.model.source import Problem, Quote
from wirespeed.model.text import Text
from wirespeed.readers.parsing.marks import marked
from wirespeed.readers.parsing.regex import regex

_LIST = r"(?P<cpus>\d{1,5}(?:-\d{1,5})?(?:,\d{1,5}(?:-\d{1,5})?)*)"
_HEX = r"(?P<hex>(?:0x)?[0-9a-fA-F]{1,16}(?:,[0-9a-fA-F]{8})*)"
_SHAPES: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("", regex(rf"\b(?P<subject>pid \d{{1,9}})'s (?:current|new) affinity list: {_LIST}")),
    ("", regex(rf"\b(?P<subject>pid \d{{1,9}})'s (?:current|new) affinity mask: {_HEX}(?=\s|$)")),
    ("", regex(rf"\bSetting affinity for (?P<subject>GPU \d{{1,3}}) to (?=\d[\d,]*-){_LIST}(?=\s|$)")),
    ("", regex(rf"\bSetting affinity for (?P<subject>GPU \d{{1,3}}) to {_HEX}(?=\s|$)")),
    ("process", regex(rf"\bCpus_allowed_list:\s+{_LIST}")),
    ("taskset", regex(rf"\btaskset (?:-a )?(?:-p )?(?:-c|-pc|-cp|--cpu-list)[ =]{_LIST}")),
    ("taskset", regex(rf"\btaskset (?:-p )?{_HEX.replace('(?:0x)?', '0x')}(?=\s)")),
    ("numactl", regex(rf"\bnumactl\b.{{0,120}}?(?:--physcpubind|-C)[ =]{_LIST}")),
    ("numactl", regex(r"^\s*physcpubind: (?P<spaced>\d{1,5}(?: \d{1,5})*)")),
    ("cpuset", regex(rf"--cpuset-cpus[ =]\"?{_LIST}")),
    ("cpuset", regex(rf"\bcpuset\.cpus(?:\.effective)?[\"']?\s*[:=]\s*[\"']?{_LIST}")),
    ("srun", regex(rf"--cpu[-_]bind=(?:\w+,)*map_cpu:{_LIST}")),
    ("srun", regex(rf"--cpu[-_]bind=(?:\w+,)*mask_cpu:{_HEX.replace('(?:0x)?', '0x')}")),
    ("", regex(rf"cpu[-_]bind=MASK - (?P<subject>[\w.-]+, task +\d+).{{0,40}}mask {_HEX} set")),
    ("", regex(r"(?P<subject>MCW rank \d{1,6}) bound to .{0,16}(?P<bound>core \d{1,5}.*)$")),
    (
        "",
        regex(rf"(?P<subject>[\w /#.-]{{0,60}}?)[ (]{{0,3}}\b(?:on |to )?(?:cores?|cpus?) {_LIST}(?![\w.]| ?%)", re.IGNORECASE),
    ),
)
_RECOGNISED = regex(
    r"(?i)affinity (?:list|mask): |affinity for GPU \d|Cpus_allowed_list:|\btaskset\b|physcpubind|numactl\b.{0,120}-C "
    r"|cpuset[-.]cpus|cpu[-_]bind=|MCW rank \d+ bound"
    r"|\b(?:cores?|cpus?) \d{1,5}-\d{1,5}\b"
)
_CORE = regex(r"core (\d{1,5})\[")
_OTHER_TOOLS = regex(r"\bnode \d+ cpus:|NUMA node\d+ CPU|On-line CPU|\bcores? \d+ (?:at|is|was)\b", re.IGNORECASE)
_MOST_CPUS = 8192
_BAD_MASK = Text(en="a CPU mask could not be read", zh="CPU 掩码无法读取")


def _read(lines: Lines) -> Iterator[Record | Problem]:
    for index, line in lines:
        if _OTHER_TOOLS.search(line):
            continue
        yield from _mask(lines, index, line, quote(lines, index, line))


def _mask(lines: Lines, index: int, line: str, said: Quote) -> Iterator[CpuMask | Problem]:
    """The first shape that fits; a note in words must name a range, for `core 7` alone says nothing of a mask."""
    for position, (default, shape) in enumerate(_SHAPES):
        found = shape.search(line)
        if not found:
            continue
        groups = found.groupdict()
        is_note = position == len(_SHAPES) - 1
        if is_note and not re.search(r"[-,]", groups["cpus"]):
            return
        cpus = _cpus(groups)
        if not cpus:
            yield Problem(source=source(lines, "cpu mask"), why=_BAD_MASK, line_index=index)
            return
        subject = (groups.get("subject") or "").strip(" (-") or default or "cores"
        yield CpuMask(source=source(lines, "cpu mask"), quotes=(said,), subject=subject, cpus=cpus)
        return


def _cpus(groups: dict[str, str | None]) -> tuple[int, ...]:
    if groups.get("cpus"):
        return _from_list(groups["cpus"] or "")
    if groups.get("spaced"):
        return tuple(int(word) for word in (groups["spaced"] or "").split())
    if groups.get("bound"):
        return tuple(dict.fromkeys(int(word) for word in _CORE.findall(groups["bound"] or "")))
    return _from_mask(groups.get("hex") or "")


def _from_list(text: str) -> tuple[int, ...]:
    """CPUs of `0-3,8`; empty where the list is absurd."""
    cpus: list[int] = []
    for word in text.split(","):
        first, _, last = word.partition("-")
        end = int(last or first)
        if end < int(first) or end - int(first) > _MOST_CPUS or len(cpus) > _MOST_CPUS:
            return ()
        cpus.extend(range(int(first), end + 1))
    return tuple(cpus)


def _from_mask(text: str) -> tuple[int, ...]:
    bits = int(text.replace(",", ""), 16) if text else 0
    return tuple(cpu for cpu in range(bits.bit_length()) if bits >> cpu & 1)


READER = Reader(
    title=Text(en="CPU masks", zh="CPU 绑定"),
    gives=(CpuMask,),
    recognises=marked(_RECOGNISED),
    read=_read,
    obtained_by=("taskset -pc PID", "grep Cpus_allowed_list /proc/PID/status"),
    voice="loose",
)
