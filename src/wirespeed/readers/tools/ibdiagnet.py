"""`ibdiagnet`: errors of each stage of its summary, links slower or narrower than they should be, counters that rose, subnet managers."""

import re
from collections.abc import Iterator

from wirespeed.model.counters import canonical_name
from wirespeed.model.facts.fabric import FabricLink, SubnetManager
from wirespeed.model.facts.link import Counter
from wirespeed.model.kinds import Reader
from wirespeed.model.lines import Lines, quote, source
from wirespeed.model.record import Record
from wirespeed.model.source import Problem, Quote
from wirespeed.model.text import Text
from wirespeed.readers.parsing.marks import marked
from wirespeed.readers.parsing.regex import regex

TOOL = "ibdiagnet"
SCOPE = "ibdiagnet"

_STAGE = regex(
    r"(?m)^-[IWE]-[ \t]+(?P<stage>(?:Discovery|Lids Check|Links Check|Subnet Manager|Port Counters|Nodes Information|Speed / Width checks|Cable Report"
    r"|Partition Keys|Temperature Sensing|Routing|SHARP|Virtualization))[ \t]+(?P<warnings>\d{1,9})[ \t]+(?P<errors>\d{1,9})(?=[ \t]|$)"
)
_UNEXPECTED = regex(
    r"(?m)^-[WE]- (?:Link: )?(?P<near>[^\s<]{1,120})<-->(?P<far>[^\s<]{1,120}) - Unexpected actual link (?P<what>speed|width) (?P<actual>[\w.]{1,12})(?P<why>[^\n]{0,300})"
)
_SHOULD = regex(r"final (?:speed|width) should be (?P<should>[\w.]{1,12})")
_ROSE = regex(
    r"(?m)^(?:-[IWE]-[ \t]+)?(?P<port>\S{1,120}) - \"(?P<name>\w{3,60})\" increased during the run \(difference value=(?P<count>\d{1,15})"
)
_NO_SM = regex(r"(?im)^-[WE]-.{0,60}\b(?:missing|no|not found)\b.{0,30}\bmaster\b.{0,10}\b(?:SM|subnet manager)\b")
_LANES = regex(r"^(?P<lanes>\d{1,2})x?$")


def _read(lines: Lines) -> Iterator[Record | Problem]:
    for index, line in lines:
        if not line.startswith("-") and '" increased during' not in line:
            continue
        said = quote(lines, index, line)
        if stage := _STAGE.match(line):
            yield _counter(lines, said, SCOPE, stage["stage"], int(stage["errors"]))
        elif unexpected := _UNEXPECTED.match(line):
            yield _link(lines, said, unexpected)
        elif rose := _ROSE.match(line):
            yield _counter(lines, said, rose["port"], rose["name"], int(rose["count"]), is_delta=True)
        elif _NO_SM.match(line):
            yield SubnetManager(source=source(lines, TOOL), quotes=(said,), is_answering=False)


def _link(lines: Lines, said: Quote, found: re.Match[str]) -> FabricLink:
    near, far = (found[end].rpartition("/") for end in ("near", "far"))
    lanes = _LANES.match(found["actual"]) if found["what"] == "width" else None
    is_rate = found["what"] == "speed" and re.fullmatch(r"\d+(?:\.\d+)?", found["actual"]) is not None
    should = _SHOULD.search(found["why"])
    return FabricLink(
        source=source(lines, TOOL),
        quotes=(said,),
        near=near[0] or near[2],
        near_port=near[2],
        far=far[0] or far[2],
        far_port=far[2],
        width_lanes=int(lanes["lanes"]) if lanes else None,
        lane_rate_bits_per_s=float(found["actual"]) * 1e9 if is_rate else None,
        could_be=f"{found['what']} {should['should']}" if should else f"another {found['what']}",
    )


def _counter(lines: Lines, said: Quote, scope: str, name: str, count: int, is_delta: bool = False) -> Counter:
    return Counter(
        source=source(lines, TOOL),
        quotes=(said,),
        scope=scope,
        name=name,
        value_count=count,
        canonical=canonical_name(name) if is_delta else None,
        is_delta=is_delta,
    )


READER = Reader(
    title=Text(en="ibdiagnet", zh="ibdiagnet"),
    gives=(Counter, FabricLink, SubnetManager),
    recognises=marked(_STAGE, _UNEXPECTED, _ROSE, _NO_SM),
    read=_read,
    obtained_by=("ibdiagnet -r --pm_pause_time 60",),
)
