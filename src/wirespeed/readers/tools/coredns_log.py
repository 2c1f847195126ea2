"""CoreDNS' log: queries with their time (the `log` plug-in), upstream servers that do not answer (`errors`), loops and overload.

All queries of a text are one `NameServerRun` (the median as CoreDNS itself measures it, so without the way to the client), each slow one also
a `NameLookup`; answers of `NXDOMAIN` are counted. The `loop` plug-in's own question (`HINFO` of two random numbers) is nobody's look-up.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from wirespeed.model.events.log import FrameworkEvent
from wirespeed.model.facts.link import Counter
from wirespeed.model.kinds import Reader
from wirespeed.model.lines import Lines, quote, source
from wirespeed.model.measurement import NameLookup, NameServerRun
from wirespeed.model.record import Record
from wirespeed.model.source import Problem, Quote
from wirespeed.model.text import Text
from wirespeed.readers.parsing.marks import marked
from wirespeed.readers.parsing.regex import regex

TOOL = "coredns"
SLOW_S = 0.1
"""Of a resolver next door; a cached answer takes well under a millisecond, one from outside some ten."""
FEWEST_QUERIES_COUNT = 20
"""From which on a median and a share say something."""
MOST_SLOW_COUNT = 1_000
MOST_TIMES_COUNT = 200_000

_QUERY = regex(
    r"(?P<client>[\d.:a-fA-F\[\]]{3,60}):\d{1,5} - \d{1,5} \"(?P<kind>[A-Z0-9]{1,10}) IN (?P<name>\S{1,255}) (?:udp|tcp|tls|https) [^\"]{1,40}\""
    r" (?P<code>NOERROR|NXDOMAIN|SERVFAIL|REFUSED|FORMERR|NOTIMP|-) \S{1,40} \d{1,6} (?P<time>\d{1,9}\.\d{1,9})s\b"
)
_ERROR = regex(r"plugin/errors: \d{1,3} (?P<name>\S{1,255}) (?P<kind>[A-Z0-9]{1,10}): (?P<why>\S.*)$")
_SILENT = regex(
    r"(?:read|dial) (?:udp|tcp)4?6? (?:\S{1,80}->)?(?P<server>\[?[\w.:-]{2,60}\]?:\d{1,5}): (?:i/o timeout|connection timed out)"
)
_BUSY = regex(r"concurrent queries exceeded maximum \d+|Local health request to \S+ took more than \d")
_LOOP = regex(r"plugin/loop: Loop \(.{1,120}\) detected")


@dataclass(slots=True)
class _Seen:
    """What the queries of one log come to."""

    first: Quote | None = None
    slowest: tuple[float, Quote] | None = None
    times_s: list[float] = field(default_factory=list)
    queries_count: int = 0
    slow_count: int = 0
    unknown_count: int = 0
    unknown: Quote | None = None


def _read(lines: Lines) -> Iterator[Record | Problem]:
    seen = _Seen()
    for index, line in lines:
        query = _QUERY.search(line) if " IN " in line else None
        if query:
            yield from _query(lines, quote(lines, index, line), query, seen)
        elif "plugin/" in line:
            event = _event(lines, quote(lines, index, line), line)
            if event is not None:
                yield event
    yield from _summary(lines, seen)


def _query(lines: Lines, said: Quote, found: re.Match[str], seen: _Seen) -> Iterator[NameLookup]:
    time_s = float(found["time"])
    seen.first = seen.first or said
    seen.queries_count += 1
    if len(seen.times_s) < MOST_TIMES_COUNT:
        seen.times_s.append(time_s)
    if seen.slowest is None or time_s > seen.slowest[0]:
        seen.slowest = (time_s, said)
    if found["code"] == "NXDOMAIN":
        seen.unknown_count, seen.unknown = seen.unknown_count + 1, seen.unknown or said
    if time_s >= SLOW_S and seen.slow_count < MOST_SLOW_COUNT and found["kind"] != "HINFO":
        seen.slow_count += 1
        yield NameLookup(
            source=source(lines, TOOL),
            quotes=(said,),
            name=found["name"].rstrip("."),
            time_s=time_s,
            is_answered=found["code"] not in ("SERVFAIL", "-"),
        )


def _event(lines: Lines, said: Quote, line: str) -> FrameworkEvent | None:
    error = _ERROR.search(line)
    silent = _SILENT.search(error["why"]) if error and error["kind"] != "HINFO" else None
    topic = (
        "name-server-silent"
        if silent
        else "name-server-busy"
        if _BUSY.search(line)
        else "name-server-loop"
        if _LOOP.search(line)
        else None
    )
    if topic is None:
        return None
    return FrameworkEvent(
        source=source(lines, TOOL),
        quotes=(said,),
        topic=topic,
        message=line.strip()[:500],
        peer=silent["server"] if silent else None,
    )


def _summary(lines: Lines, seen: _Seen) -> Iterator[Record]:
    if seen.first is None or seen.slowest is None or seen.queries_count < FEWEST_QUERIES_COUNT:
        return
    times = sorted(seen.times_s)
    yield NameServerRun(
        source=source(lines, TOOL),
        quotes=tuple(dict.fromkeys((seen.first, seen.slowest[1]))),
        server="CoreDNS",
        name="*",
        sent_count=seen.queries_count,
        answered_count=seen.queries_count,
        time_p50_s=times[len(times) // 2],
        time_max_s=seen.slowest[0],
    )
    for name, count, said in (
        ("queries", seen.queries_count, seen.first),
        ("NXDOMAIN", seen.unknown_count, seen.unknown or seen.first),
    ):
        yield Counter(source=source(lines, TOOL), quotes=(said,), scope="coredns", name=name, value_count=count)


READER = Reader(
    title=Text(en="CoreDNS log", zh="CoreDNS 日志"),
    gives=(Counter, FrameworkEvent, NameLookup, NameServerRun),
    recognises=marked(_QUERY, r"plugin/(?:errors: \d|loop: Loop|health: .*took more)", r"CoreDNS-1\.\d"),
    read=_read,
    obtained_by=("kubectl -n kube-system logs -l k8s-app=kube-dns --tail=1000",),
    voice="loose",
)
