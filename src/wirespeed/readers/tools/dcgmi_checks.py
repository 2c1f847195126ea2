"""The boxes of `dcgmi diag` (DCGM 3 and 4) and `dcgmi health -c`: what each check came to, for which GPU, and why.

Reasons are broken anywhere at the width of the box in `diag` (dcgmi/Diag.cpp, DisplayVerboseInfo), between words in `health`.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from wirespeed.model.facts.gpu import GpuCheck
from wirespeed.model.kinds import Reader
from wirespeed.model.lines import Lines, quote, source
from wirespeed.model.record import Record
from wirespeed.model.source import Problem, Quote
from wirespeed.model.text import Text
from wirespeed.readers.parsing.marks import marked
from wirespeed.readers.parsing.regex import regex

_TOOL = "dcgmi"
_DIAG = regex(r"^\| Diagnostic +\| Result +\|")
_HEALTH = regex(r"^\| Health Monitor Report +\|")
_HEADER = regex(r"^[|+]-+  (?:Metadata|Deployment|Hardware|Integration|Stress|Performance|Custom)  -+\+")
_ROW = regex(r"^\| (?P<name>[^|]{0,40}?) *\| ?(?P<said>[^|]{0,90})\|\s*$")
_RESULT = regex(r"^(?P<outcome>Pass|Fail|Warn|Skip|Not Run)(?: - (?:All|GPUs?: (?P<gpus>[\d, ]{1,400})))?$")
_GPU_RESULT = regex(r"^GPU(?P<gpu>\d{1,3}): (?P<outcome>Pass|Fail|Warn|Skip|Not Run)$")
_WARNING = regex(r"^Warning(?:: GPU(?P<gpu>\d{1,3}))?$")
_OF_GPU = regex(r"\bGPU (\d{1,3})\b")
_TREE = regex(r"^(?P<arrow>(?:-> )?) *(?P<name>\S.*)$")
_OUTCOMES: dict[str, Literal["pass", "warn", "fail"]] = {"Pass": "pass", "Warn": "warn", "Fail": "fail"}
_HEALTH_OUTCOMES: dict[str, Literal["pass", "warn", "fail"]] = {"Healthy": "pass", "Warning": "warn", "Failure": "fail"}
_MOST_DETAIL_CHARACTERS = 2_000
_WIDTH = 45
"""Characters of a reason on one row of `diag`."""
_MOST_GPUS = 128
_ANYTHING_BUT_CHECKS = frozenset(
    {"DCGM Version", "Driver Version Detected", "GPU Device IDs Detected", "EUD Test Version", "Diagnostic"}
)


@dataclass(slots=True)
class _Check:
    """One check, or its part that holds for one GPU."""

    name: str
    outcome: Literal["pass", "warn", "fail"]
    gpu: int | None
    quotes: list[Quote]
    detail: str = ""


@dataclass(slots=True)
class _Box:
    """Where reading stands in one box."""

    kind: Literal["diag", "health"] | None = None
    check: str | None = None
    """The check whose rows these are; for `health` the system."""
    gpu: int | None = None
    is_detail: bool = False
    """Whether rows without a name go on with a reason."""
    is_info: bool = False
    """Whether they go on with something else."""
    is_of_gpus: bool = False
    """Whether the entities of a health report are GPUs."""
    checks: list[_Check] = field(default_factory=list)


def _read(lines: Lines) -> Iterator[Record | Problem]:
    box = _Box()
    for index, line in lines:
        if _DIAG.match(line) or (_HEADER.match(line) and box.kind is None):
            yield from _told(lines, box)
            box = _Box(kind="diag")
        elif _HEALTH.match(line):
            yield from _told(lines, box)
            box = _Box(kind="health")
        row = _ROW.match(line) if box.kind is not None else None
        if row is None:
            continue
        said = quote(lines, index, line)
        if box.kind == "diag":
            _diag_row(box, row["name"], row["said"], said)
        else:
            _health_row(box, line[2 : line.index("|", 2)], row["said"].strip(), said)
    yield from _told(lines, box)


def _diag_row(box: _Box, name: str, said: str, quoted: Quote) -> None:
    result, one = _RESULT.match(said.strip()), _GPU_RESULT.match(said.strip())
    warning = _WARNING.match(name)
    if name:
        box.is_detail, box.is_info = warning is not None, name.startswith("Info")
    if warning:
        box.gpu = int(warning["gpu"]) if warning["gpu"] else _first_gpu(said)
        _explain(box, said, quoted)
    elif name and name not in _ANYTHING_BUT_CHECKS and not box.is_info:
        box.check = name if result else None
        if result:
            _add(box, result["outcome"], result["gpus"], quoted)
    elif not name and one and box.check:
        box.is_detail, box.is_info = False, False
        box.gpu = int(one["gpu"])
        _add(box, one["outcome"], one["gpu"], quoted)
    elif not name and result and box.check and not (box.is_detail or box.is_info):  # DCGM 3: GPUs that failed on a row of their own
        _add(box, result["outcome"], result["gpus"], quoted)
    elif not name and box.is_detail:
        _explain(box, said, quoted)


def _first_gpu(said: str) -> int | None:
    found = _OF_GPU.search(said)
    return int(found[1]) if found else None


def _add(box: _Box, outcome: str, gpus: str | None, quoted: Quote) -> None:
    """A check that ran; one for all GPUs goes once its GPUs follow one by one."""
    if box.check is None or outcome not in _OUTCOMES:
        return
    name = box.check.lower()
    if gpus is None:
        box.checks.append(_Check(name, _OUTCOMES[outcome], None, [quoted]))
        return
    box.checks = [one for one in box.checks if not (one.name == name and one.gpu is None and not one.detail)]
    numbers = [int(one) for one in re.findall(r"\d{1,3}", gpus)[:_MOST_GPUS]]
    box.checks += [_Check(name, _OUTCOMES[outcome], number, [quoted]) for number in numbers]


def _explain(box: _Box, said: str, quoted: Quote) -> None:
    """Add a line of a reason to the check of the GPU it names, or to the last one that did not pass."""
    name = (box.check or "").lower()
    told = [one for one in box.checks[-_MOST_GPUS:] if one.name == name and one.outcome != "pass"]
    place = next((one for one in told if one.gpu == box.gpu), told[-1] if told else None)
    if place is not None and len(place.detail) < _MOST_DETAIL_CHARACTERS:
        place.detail += said[:_WIDTH]
        place.quotes.append(quoted)


def _health_row(box: _Box, name: str, said: str, quoted: Quote) -> None:
    """Rows of a tree: the entity, `Errors`, the system with its state, and below it the reason."""
    entry = _TREE.match(name.strip())
    outcome = _HEALTH_OUTCOMES.get(said)
    if name.startswith("Overall Health"):
        if outcome == "pass":
            box.checks.append(_Check("overall health", "pass", None, [quoted]))
    elif entry and not entry["arrow"]:
        box.is_of_gpus = entry["name"].strip() == "GPU"
    elif entry and outcome and entry["name"].isdecimal():
        box.gpu, box.check = int(entry["name"][:3]) if box.is_of_gpus else None, None
    elif entry and outcome:
        box.check = entry["name"].strip()
        box.checks.append(_Check(box.check.lower(), outcome, box.gpu, [quoted]))
    elif not name.strip() and said and box.check and box.checks:
        place = box.checks[-1]
        if len(place.detail) < _MOST_DETAIL_CHARACTERS:
            place.detail += said + " "
            place.quotes.append(quoted)


def _told(lines: Lines, box: _Box) -> Iterator[GpuCheck]:
    for one in box.checks:
        yield GpuCheck(
            source=source(lines, f"{_TOOL} {box.kind}"),
            quotes=tuple(one.quotes),
            check=one.name,
            outcome=one.outcome,
            gpu_index=one.gpu,
            detail=" ".join(one.detail.split()) or None,
        )


READER = Reader(
    title=Text(en="dcgmi diag and health", zh="dcgmi diag 与 health"),
    gives=(GpuCheck,),
    recognises=marked(*(regex(one.pattern, re.MULTILINE) for one in (_DIAG, _HEALTH, _HEADER))),
    read=_read,
    obtained_by=("dcgmi diag -r 2", "dcgmi health -c -g 0"),
)
