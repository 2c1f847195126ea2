"""How much each host's tcpdump saw, in a transcript of several: packets printed below a prompt, or `0 packets captured`.

The filter is the counter's scope (`capture udp port 4789`), so that what one host sent can be held against what another received.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from wirespeed.model.facts.link import Counter
from wirespeed.model.kinds import Reader
from wirespeed.model.lines import Lines, source
from wirespeed.model.record import Record
from wirespeed.model.source import Problem, Quote
from wirespeed.model.text import Text
from wirespeed.readers.parsing.excerpt import Seen, arguments_of, excerpt
from wirespeed.readers.parsing.marks import marked
from wirespeed.readers.parsing.regex import regex

_PACKET = regex(r"^\s*(?:\d{4}-\d\d-\d\d )?(?:\d\d:\d\d:\d\d\.\d{1,9} )?(?:IP6?|ARP)\b.{0,200}? > ")
_SUMMARY = regex(r"^\s*(?P<count>\d{1,12}) packets? captured\b")
_FILTER_WORDS = frozenset(
    {
        "host",
        "net",
        "port",
        "portrange",
        "src",
        "dst",
        "udp",
        "tcp",
        "icmp",
        "icmp6",
        "ip",
        "ip6",
        "arp",
        "proto",
        "vxlan",
        "ether",
        "not",
    }
)


@dataclass(slots=True)
class _Running:
    """One tcpdump of the transcript."""

    scope: str
    host: str
    quotes: list[Quote]
    count: int = 0


def _read(lines: Lines) -> Iterator[Record | Problem]:
    running: _Running | None = None
    for seen in excerpt(lines, _PACKET.match):
        if seen.is_prompt:
            yield from _ended(lines, running)
            running = _started(lines, seen)
        elif running is not None and (summary := _SUMMARY.match(seen.text)) is not None:
            running.count = int(summary["count"])
            running.quotes = [running.quotes[0], seen.quoted(lines)]
            yield _counter(lines, running)
            running = None
        elif running is not None and _PACKET.match(seen.text):
            running.count += 1
            if running.count == 1:
                running.quotes.append(seen.quoted(lines))
    yield from _ended(lines, running)


def _started(lines: Lines, seen: Seen) -> _Running | None:
    """A tcpdump whose host and filter are known; without a filter it sees what nobody can compare."""
    words = arguments_of(seen.command, "tcpdump")
    if words is None or seen.host is None:
        return None
    begins = next((place for place, word in enumerate(words) if word in _FILTER_WORDS), None)
    return None if begins is None else _Running(" ".join(("capture", *words[begins:])), seen.host, [seen.quoted(lines)])


def _ended(lines: Lines, running: _Running | None) -> Iterator[Counter]:
    """A capture that printed packets and no sum; one that printed nothing may have been cut."""
    if running is not None and running.count:
        yield _counter(lines, running)


def _counter(lines: Lines, running: _Running) -> Counter:
    return Counter(
        source=source(lines, "tcpdump", running.host),
        quotes=tuple(running.quotes),
        scope=running.scope,
        name="packets_captured",
        value_count=running.count,
    )


READER = Reader(
    title=Text(en="packets seen by each host (tcpdump)", zh="各主机抓到的包数（tcpdump）"),
    gives=(Counter,),
    recognises=marked(regex(r"[$#] (?:sudo )?tcpdump\s")),
    read=_read,
    obtained_by=("tcpdump -ni IFACE udp port PORT",),
    voice="loose",
)
