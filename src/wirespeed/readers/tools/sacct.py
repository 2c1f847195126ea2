"""`sacct`, in columns or parted by bars (`-p`, `-P`): how jobs and steps ended, and the nodes they ran on where listed."""

import re
from collections.abc import Iterator

from wirespeed.model.events.log import FrameworkEvent
from wirespeed.model.facts.cluster import JobNodes
from wirespeed.model.kinds import Reader
from wirespeed.model.lines import Lines, quote, source
from wirespeed.model.record import Record
from wirespeed.model.source import Problem
from wirespeed.model.text import Text
from wirespeed.readers.parsing.host_lists import expanded
from wirespeed.readers.parsing.marks import marked
from wirespeed.readers.parsing.regex import regex
from wirespeed.readers.parsing.slurm import job_end

TOOL = "slurm"
MOST_LINE_CHARACTERS = 8_000

_HEADING = regex(r"(?m)^[ \t]*JobID(?:Raw)?(?:[ \t]+|\|)(?:[^\n]*(?:[ \t]|\|))?State\b")
_RULE = regex(r"^-{2,}(?: -{2,})+\s*$")
_JOB = regex(r"^\d{1,10}(?:_\d{1,7})?(?:\+\d{1,4})?(?:\.\w{1,20}\+?)?$")


def _read(lines: Lines) -> Iterator[Record | Problem]:
    names: list[str] = []
    widths: list[tuple[int, int]] = []
    is_parted = False
    for index, line in lines:
        text = line[:MOST_LINE_CHARACTERS]
        if _HEADING.match(text):
            is_parted = "|" in text
            names, widths = (text.rstrip("|\n ").split("|"), []) if is_parted else (text.split(), [])
        elif names and not is_parted and _RULE.match(text):
            widths = [(found.start(), found.end()) for found in re.finditer(r"-+", text)]
        elif names:
            cells = text.split("|") if is_parted else [text[start:end].strip() for start, end in widths]
            row = dict(zip((name.lower().removesuffix("raw") for name in names), cells, strict=False))
            if not _JOB.match(row.get("jobid", "").strip()):
                names = [] if not text.strip() else names
                continue
            origin, said = source(lines, TOOL), (quote(lines, index, line),)
            yield from job_end(origin, said, row["jobid"], row.get("state", ""), row.get("exitcode", ""))
            nodes = expanded(row.get("nodelist", "")) if "." not in row["jobid"] else ()
            if nodes:
                yield JobNodes(source=origin, quotes=said, job=row["jobid"], nodes=nodes)


READER = Reader(
    title=Text(en="sacct", zh="sacct"),
    gives=(FrameworkEvent, JobNodes),
    recognises=marked(_HEADING),
    read=_read,
    obtained_by=("sacct -j JOBID -P -o JobID,State,ExitCode,NodeList",),
)
