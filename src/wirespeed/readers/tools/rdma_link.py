"""`rdma link`: one line a port of key-value words, or JSON (`rdma -j link`)."""

from collections.abc import Iterator
from itertools import pairwise

from wirespeed.model.facts.rdma import RdmaPort
from wirespeed.model.kinds import Reader
from wirespeed.model.lines import Lines, quote, source
from wirespeed.model.record import Record
from wirespeed.model.source import Problem
from wirespeed.model.text import Text
from wirespeed.readers.parsing.json_excerpt import documents, number, word
from wirespeed.readers.parsing.marks import marked
from wirespeed.readers.parsing.regex import regex

_LINE = regex(r"(?:\blink |\b\d{1,4}/\d{1,4}: )(?P<device>[\w.-]{1,64})/(?P<port>\d{1,3}):? (?P<rest>.*\bstate [A-Z].*)$")


_JSON = regex(r"\"ifname\"\s*:\s*\"[^\"\n]{1,64}\"\s*,\s*\"port\"\s*:\s*\d{1,3}\s*,\s*(?:\"subnet_prefix\"|\"state\")")


def _read(lines: Lines) -> Iterator[Record | Problem]:
    if _JSON.search(lines.sample):
        yield from _from_json(lines)
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


def _recognises(sample: str) -> bool:
    return _JSON.search(sample) is not None or any(_LINE.search(line) for line in sample.splitlines() if " state " in line)


def _from_json(lines: Lines) -> Iterator[RdmaPort]:
    for document in documents(lines):
        for told in document.objects():
            device, port, state = word(told.get("ifname")), number(told.get("port")), word(told.get("state"))
            if device is None or port is None or state is None:
                continue
            physical = word(told.get("physical_state"))
            yield RdmaPort(
                source=source(lines, "rdma link"),
                quotes=(document.quoted(lines, f'"{device}"'),),
                device=device,
                port=port,
                state=state.lower(),
                physical_state=physical.replace("_", "").lower() if physical else None,
                link_layer="infiniband" if "subnet_prefix" in told else "ethernet" if "netdev" in told else None,
                link=word(told.get("netdev")),
                lid_number=number(told.get("lid")),
                sm_lid_number=number(told.get("sm_lid")),
            )


def _whole(text: str | None) -> int | None:
    return int(text) if text and text.isdecimal() else None


READER = Reader(
    title=Text(en="rdma link", zh="rdma link"),
    gives=(RdmaPort,),
    recognises=marked(_LINE, _JSON, confirmed=_recognises),
    read=_read,
    obtained_by=("rdma link",),
)
