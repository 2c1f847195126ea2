"""/proc/softirqs: network softirqs of each CPU."""

from collections.abc import Iterator

from wirespeed.model.facts.host import SoftirqCpu
from wirespeed.model.kinds import Reader
from wirespeed.model.lines import Lines, source
from wirespeed.model.record import Record
from wirespeed.model.source import Problem, Quote
from wirespeed.model.text import Text
from wirespeed.readers.parsing.excerpt import Seen, excerpt
from wirespeed.readers.parsing.marks import marked
from wirespeed.readers.parsing.regex import regex

_HEADER = regex(r"^\s*CPU\d+(?:\s+CPU\d+)*\s*$")
_ROW = regex(r"^\s*(?P<name>NET_RX|NET_TX):(?P<counts>(?:\s+\d+)+)\s*$")
_RECOGNISED = regex(r"\bNET_[RT]X:\s+\d")


def _read(lines: Lines) -> Iterator[Record | Problem]:
    rows: dict[str, tuple[Seen, list[int]]] = {}
    cpus: list[int] | None = None
    heading: tuple[Quote, ...] = ()
    for seen in excerpt(lines, _is_own):
        is_header = not seen.is_prompt and _HEADER.match(seen.text) is not None
        row = None if seen.is_prompt else _ROW.match(seen.text)
        if seen.is_prompt or is_header or (row and (row["name"] in rows or _host_of(rows) not in (None, seen.host))):
            yield from _cpu_records(lines, rows, cpus, heading)
            rows, cpus, heading = {}, (cpus if row else None), (heading if row else ())
        if is_header:
            cpus = [int(word[3:]) for word in seen.text.split()]
            heading = (seen.quoted(lines),)
        elif row:
            rows[row["name"]] = (seen, [int(one) for one in row["counts"].split()])
    yield from _cpu_records(lines, rows, cpus, heading)


def _is_own(text: str) -> bool:
    return _HEADER.match(text) is not None or _ROW.match(text) is not None


def _host_of(rows: dict[str, tuple[Seen, list[int]]]) -> str | None:
    return next((seen.host for seen, _ in rows.values()), None)


def _cpu_records(
    lines: Lines, rows: dict[str, tuple[Seen, list[int]]], cpus: list[int] | None, heading: tuple[Quote, ...]
) -> Iterator[SoftirqCpu]:
    received = rows["NET_RX"][1] if "NET_RX" in rows else []
    sent = rows["NET_TX"][1] if "NET_TX" in rows else []
    quotes = (*heading, *(seen.quoted(lines) for seen, _ in rows.values()))
    for place in range(max(len(received), len(sent))):
        yield SoftirqCpu(
            source=source(lines, "/proc/softirqs", _host_of(rows)),
            quotes=quotes,
            cpu=cpus[place] if cpus and place < len(cpus) else place,
            net_rx_count=received[place] if place < len(received) else None,
            net_tx_count=sent[place] if place < len(sent) else None,
        )


READER = Reader(
    title=Text(en="network softirqs", zh="网络软中断"),
    gives=(SoftirqCpu,),
    recognises=marked(_RECOGNISED),
    read=_read,
    obtained_by=("cat /proc/softirqs",),
)
