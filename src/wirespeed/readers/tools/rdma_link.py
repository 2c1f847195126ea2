"""`rdma link`: one line a port of key-value words."""

import re
from collections.abc import Iterator
from itertools import pairwise

from wirespeed.model.facts.rdma import RdmaPort
from wirespeed.model.kinds import Reader
from wirespeed.model.lines import Lines, quote, source
from wirespeed.model.record import Record
from wirespeed.model.source import Problem
from wirespeed.model.text import Text
from wirespeed.readers.parsing.marks import marked

_LINE = re.compile(r"(?:\blink |\b\d{1,4}/\d{1,4}: )(?P<device>[\w.-]{1,64})/(?P<port>\d{1,3}):? (?P<rest>.*\bstate [A-Z].*)$")


def _read(lines: Lines) -> Iterator[Record | Problem]:
    for index, line in lines:
        found = _LINE.search(line)
        if not found:
            continue
        words = found["rest"].split()
        settings = dict(pairwise(words))
        yield RdmaPort(
            source=source(lines, "rdma link"),
            quotes=(quote(lines, index, line),),
            device=found["device"],
            port=int(found["port"]),
            state=settings.get("state", "").lower() or None,
            physical_state=settings.get("physical_state", "").replace("_", "").lower() or None,
            link_layer="infiniband" if "subnet_prefix" in settings else "ethernet" if "netdev" in settings else None,
            link=settings.get("netdev"),
            lid_number=_whole(settings.get("lid")),
            sm_lid_number=_whole(settings.get("sm_lid")),
        )


def _whole(word: str | None) -> int | None:
    return int(word) if word and word.isdecimal() else None


READER = Reader(
    title=Text(en="rdma link", zh="rdma link"),
    gives=(RdmaPort,),
    recognises=marked(_LINE, confirmed=lambda sample: any(_LINE.search(line) for line in sample.splitlines() if " state " in line)),
    read=_read,
    obtained_by=("rdma link",),
)
