"""Records as wirespeed writes them, one line of JSON each: measurements and recordings of its own."""

import re
from collections.abc import Iterator

import msgspec

from wirespeed.model import record_lines
from wirespeed.model.kinds import Reader
from wirespeed.model.lines import Lines, quote
from wirespeed.model.link_runs import DatagramTrain, FlowRun, HeaderRun, LatencyRun, PathMtuRun
from wirespeed.model.measurement import NameServerRun, PortProbe
from wirespeed.model.record import Record
from wirespeed.model.series import Burst, FlowSummary, Moved, SeriesSummary
from wirespeed.model.source import Problem
from wirespeed.model.text import Text

_GIVES = (
    DatagramTrain,
    FlowRun,
    HeaderRun,
    LatencyRun,
    PathMtuRun,
    NameServerRun,
    PortProbe,
    Burst,
    FlowSummary,
    Moved,
    SeriesSummary,
)
_LINE = re.compile(r'^\{"kind":"[A-Z]\w{2,40}","source":\{"tool":"')
_RECOGNISED = re.compile(_LINE.pattern, re.MULTILINE)


def _read(lines: Lines) -> Iterator[Record | Problem]:
    for index, line in lines:
        if not _LINE.match(line):
            continue
        for item in record_lines.decoded([line.encode("utf-8", "replace")], lines.path):
            if isinstance(item, Problem):
                yield msgspec.structs.replace(item, line_index=index)
            elif isinstance(item, _GIVES):
                yield msgspec.structs.replace(item, quotes=(quote(lines, index, line),))


READER = Reader(
    title=Text(en="records of wirespeed's own measurements", zh="wirespeed 自身测量的记录"),
    gives=_GIVES,
    recognises=lambda sample: _RECOGNISED.search(sample) is not None,
    read=_read,
    obtained_by=("wirespeed bench links PEER", "wirespeed record --for 10s"),
)
