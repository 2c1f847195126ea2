"""Texts that are many texts: NVIDIA's bug report and `kubectl cluster-info dump`, cut into the files and outputs they are made of.

`nvidia-bug-report.sh` writes a rule of underscores before each part, then `*** /path` and `*** ls: ...` before a file and the command
before an output (the script ships with every driver). `kubectl cluster-info dump` writes objects as JSON, and the logs of containers
between `==== START logs for container C of pod N/P ====` and its END (kubernetes/kubectl, pkg/cmd/clusterinfo/clusterinfo_dump.go).
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import count

from wirespeed.machines.contents import Contents, Entry, inside_name, window_of
from wirespeed.machines.streams import CHUNK_BYTES, Opener

MARK_WITHIN_BYTES = 1024
MOST_PARTS = 20_000
_HEADING_BYTES = 2048
_REPORT_MARK = b"Start of NVIDIA bug report log file"
_RULE = re.compile(rb"(?m)^_{44}\r?\n")
_POD_LOGS = re.compile(rb"(?m)^==== (?:START|END) logs for container \S+ of pod \S+ ====\r?\n")
_DUMP_MARK = re.compile(rb"^\s*\{\s*\"kind\":\s*\"NodeList\"")
_FILE = re.compile(r"^\*\*\* (?P<path>/\S.*?)\s*$")
_UNAME = re.compile(r"(?m)^uname: Linux (?P<host>[\w.-]+) ")
_POD = re.compile(r"START logs for container (?P<container>\S+) of pod (?P<pod>\S+) ====")


@dataclass(frozen=True, slots=True)
class Cut:
    """The parts of a text as the contents of an archive, the commands of those that a command printed, and the machine's name."""

    contents: Contents
    commands: dict[str, str]
    host: str | None


def is_made_of_many(head: bytes) -> bool:
    """Whether a text is one of those that are cut, by its first `MARK_WITHIN_BYTES`."""
    return _REPORT_MARK in head or _DUMP_MARK.match(head) is not None


def cut(opener: Opener) -> Cut | None:
    """The parts; None where the text has only one."""
    with opener() as file:
        is_report = _REPORT_MARK in file.read(MARK_WITHIN_BYTES)
    found = Cut(Contents(), {}, _host(opener) if is_report else None)
    for start, end in _parts(opener, _RULE if is_report else _POD_LOGS):
        with opener() as file:
            file.seek(start)
            heading = file.read(min(_HEADING_BYTES, end - start)).decode(errors="replace")
        name, command, skipped_bytes = _report_part(heading) if is_report else _dump_part(heading)
        size = end - start - skipped_bytes
        if size <= 0:
            continue
        name = _unused(name, found.contents)
        found.contents.files[name] = Entry(name, size, partial(window_of, opener, start + skipped_bytes, size))
        if command is not None:
            found.commands[name] = command
    return found if len(found.contents.files) > 1 else None


def _unused(name: str, contents: Contents) -> str:
    """The name, numbered where another part has it: commands are repeated and containers restart."""
    if name not in contents.files:
        return name
    return next(f"{name} ({number})" for number in count(2) if f"{name} ({number})" not in contents.files)


def _parts(opener: Opener, rule: re.Pattern[bytes]) -> Iterator[tuple[int, int]]:
    """Start and end of each part; a part begins after a line that is a rule, or with a line that names it."""
    starts = [0]
    with opener() as file:
        at, carried = 0, b""
        while piece := file.read(CHUNK_BYTES):
            text = carried + piece
            whole = text.rfind(b"\n") + 1 or len(text)
            for found in rule.finditer(text, 0, whole):
                starts.append(at + (found.end() if rule is _RULE else found.start()))
            carried = text[whole:]
            at += whole
            if len(starts) > MOST_PARTS:
                break
        size = file.seek(0, 2)
    for start, following in zip(starts, [*starts[1:], None], strict=True):
        end = size if following is None else following - (45 if rule is _RULE else 0)
        if end > start:
            yield start, end


def _host(opener: Opener) -> str | None:
    with opener() as file:
        found = _UNAME.search(file.read(_HEADING_BYTES).decode(errors="replace"))
    return found["host"] if found else None


def _report_part(heading: str) -> tuple[str, str | None, int]:
    """Name, command and how many bytes of heading a part has."""
    path = command = None
    skipped_bytes = 0
    for line in heading.splitlines(keepends=True):
        named = _FILE.match(line)
        if named:
            path = inside_name(named["path"])
        elif path is None and command is None and line.strip() and not line.startswith(("*** ", "Start of")):
            command = line.strip().rstrip(":")
        elif line.strip() and not line.startswith("*** ls:"):
            break
        skipped_bytes += len(line.encode())
    return path or command or "report", None if path else command, skipped_bytes


def _dump_part(heading: str) -> tuple[str, str | None, int]:
    line = heading.partition("\n")[0]
    found = _POD.search(line)
    if found:
        return f"logs {found['pod']}/{found['container']}", None, len(line.encode()) + 1
    return "objects", None, len(line.encode()) + 1 if line.startswith("====") else 0
