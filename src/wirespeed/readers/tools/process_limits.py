"""`ulimit`, `prlimit`, /proc/PID/limits, limits.conf and systemd's Limit lines: locked memory, open files and the like."""

import re
from collections.abc import Iterator

from wirespeed.model.facts.host import ProcessLimit
from wirespeed.model.kinds import Reader
from wirespeed.model.lines import Lines, source
from wirespeed.model.record import Record
from wirespeed.model.source import Problem, Quote
from wirespeed.model.text import Text
from wirespeed.readers.parsing.excerpt import Seen, excerpt
from wirespeed.readers.parsing.marks import marked

_NAMES = {
    "max locked memory": "memlock", "open files": "nofile", "max open files": "nofile", "max user processes": "nproc",
    "max processes": "nproc", "stack size": "stack", "max stack size": "stack", "virtual memory": "as", "max address space": "as",
    "max memory size": "rss", "max resident set": "rss", "core file size": "core", "max core file size": "core",
    "pending signals": "sigpending", "max pending signals": "sigpending", "file size": "fsize", "max file size": "fsize",
    "data seg size": "data", "max data size": "data",
}  # fmt: skip
_BYTE_NAMES = frozenset({"memlock", "stack", "as", "rss", "core", "fsize", "data", "msgqueue"})
_OPTIONS = {"l": "memlock", "n": "nofile", "u": "nproc", "s": "stack", "v": "as", "m": "rss"}
_KIB_NAMES = frozenset({"memlock", "stack", "as", "rss"})
"""Limits that `ulimit -X` prints in KiB."""
_LIMIT = r"(?P<limit>unlimited|infinity|-1|\d+[KMGT]?i?B?)"
_ULIMIT_ROW = re.compile(rf"^\s*(?P<words>[a-z][a-z ]+?)\s+\((?P<unit>[\w ]+, )?-(?P<option>\w)\)\s+{_LIMIT}\s*$")
_PROC_ROW = re.compile(rf"^\s*(?P<words>Max [a-z][a-z ]+?)\s{{2,}}{_LIMIT}\s+(?:unlimited|\d+)(?:\s+(?P<unit>[a-z]+))?\s*$")
_PRLIMIT_ROW = re.compile(
    rf"^\s*(?P<name>MEMLOCK|NOFILE|NPROC|STACK|AS|RSS)\s.*?\s{_LIMIT}\s+(?:unlimited|\d+)(?:\s+(?P<unit>[a-z]+))?\s*$"
)
_CONF_ROW = re.compile(
    rf"^\s*(?P<domain>[*@%\w.:-]+)\s+(?P<kind>soft|hard|-)\s+(?P<name>memlock|nofile|nproc|stack|as|rss)\s+{_LIMIT}\s*(?:#.*)?$"
)
_UNIT_ROW = re.compile(rf"^\s*(?:Default)?Limit(?P<name>MEMLOCK|NOFILE|NPROC|STACK|AS|RSS)(?P<soft>Soft)?={_LIMIT}(?::\S+)?\s*$")
_BARE = re.compile(rf"^\s*(?:\[[^\]]*\]\s*)?{_LIMIT}\s*$")
_INLINE = re.compile(
    rf"\bulimit -(?P<option>[lnusvm])\b\s*(?:\([^)]*\)\s*)?(?:is|=|:|->|says|gives|prints|reports|shows)\s*{_LIMIT}\b"
)
_ASKED = re.compile(r"\bulimit\s+(?:-[HS]\s+)?-[HS]?(?P<option>[lnusvm])\b(?!\s+(?:unlimited|\d))")
_RECOGNISED = re.compile(
    r"(?m)\bulimit -|\([\w ]*,? ?-[lnu]\) +(?:unlimited|\d)|\bMax (?:locked memory|open files) +(?:unlimited"
    r"|\d)|\bLimit(?:MEMLOCK|NOFILE|NPROC|STACK)\w*="
    r"|^[ \t]*(?:[\w.-]+: *)?\S+\s+(?:soft|hard|-)\s+(?:memlock|nofile|nproc)\s|^[ \t]*(?:MEMLOCK|NOFILE)\s"
)
_SCALES = {"": 1, "K": 1024, "M": 1024**2, "G": 1024**3, "T": 1024**4}
_LAUNCHERS = ("mpirun", "mpiexec", "srun", "docker", "podman", "kubectl", "ssh", "pdsh", "sbatch", "torchrun")
_SHAPES = (_ULIMIT_ROW, _PROC_ROW, _PRLIMIT_ROW, _CONF_ROW, _UNIT_ROW)


def _read(lines: Lines) -> Iterator[Record | Problem]:
    asked: tuple[str, str, Quote] | None = None
    for seen in excerpt(lines, _is_own, ("ulimit", "mpirun", "srun")):
        if seen.is_prompt:
            option = _ASKED.search(seen.text)
            asked = (_OPTIONS[option["option"]], _subject(seen.command), seen.quoted(lines)) if option else None
            continue
        bare = _BARE.match(seen.text) if asked else None
        if bare and asked:
            name, subject, prompt = asked
            yield _limit(lines, seen, name, subject, bare["limit"], 1024 if name in _KIB_NAMES else 1, (prompt,))
        else:
            asked = None if seen.text.strip() else asked
            yield from _row(lines, seen)


def _is_own(text: str) -> bool:
    return any(shape.match(text) for shape in (*_SHAPES, _BARE))


def _row(lines: Lines, seen: Seen) -> Iterator[ProcessLimit]:
    found = next((match for shape in _SHAPES if (match := shape.match(seen.text))), None)
    inline = _INLINE.search(seen.text) if found is None else None
    if inline:
        name = _OPTIONS[inline["option"]]
        yield _limit(lines, seen, name, "shell", inline["limit"], 1024 if name in _KIB_NAMES else 1)
    if found is None:
        return
    groups = found.groupdict()
    known = (groups.get("name") or "").lower() or _NAMES.get((groups.get("words") or "").lower())
    if known is None:
        return
    yield _limit(
        lines, seen, known, _subject_of_row(seen, found), found["limit"], _scale(found.re, known, groups.get("unit") or "")
    )


def _subject_of_row(seen: Seen, found: re.Match[str]) -> str | None:
    if found.re is _CONF_ROW:
        return f"limits.conf {found['domain']}"
    if found.re is _UNIT_ROW:
        return "systemd"
    if found.re is _ULIMIT_ROW:
        return _subject(seen.command)
    pid = next((word.split("/")[2] for word in seen.command if word.startswith("/proc/") and word.endswith("/limits")), None)
    return f"pid {pid}" if pid and pid.isdecimal() else None


def _scale(shape: re.Pattern[str], name: str, unit: str) -> int:
    """Bytes of one unit that the format prints this limit in."""
    if shape is _CONF_ROW:
        return 1024 if name in _BYTE_NAMES else 1
    if shape is _ULIMIT_ROW:
        return 1024 if unit.startswith("kbytes") else 512 if unit.startswith(("512", "blocks")) else 1
    return 1


def _subject(command: tuple[str, ...]) -> str:
    """Inside which launcher a shell asked for its limits."""
    words = [word.rpartition("/")[2] for word in command]
    return next((word for word in words if word in _LAUNCHERS), "shell")


def _limit(
    lines: Lines, seen: Seen, name: str, subject: str | None, limit: str, scale: int, before: tuple[Quote, ...] = ()
) -> ProcessLimit:
    is_unlimited = limit in ("unlimited", "infinity", "-1")
    number = None if is_unlimited else _number(limit)
    is_size = name in _BYTE_NAMES
    return ProcessLimit(
        source=source(lines, "limits", seen.host),
        quotes=(*before, seen.quoted(lines)),
        name=name,
        subject=subject,
        is_unlimited=is_unlimited,
        limit_bytes=number * scale if is_size and number is not None else None,
        limit_count=number if not is_size else None,
    )


def _number(text: str) -> int:
    digits = re.match(r"\d+", text)
    suffix = text[digits.end() : digits.end() + 1] if digits else ""
    return int(digits[0]) * _SCALES.get(suffix, 1) if digits else 0


READER = Reader(
    title=Text(en="process limits (ulimit)", zh="进程资源限制（ulimit）"),
    gives=(ProcessLimit,),
    recognises=marked(_RECOGNISED),
    read=_read,
    obtained_by=("ulimit -l", "cat /proc/PID/limits"),
    voice="machine",
)
