"""Questions to name servers and their answers: each question, and each look-up of a name through its search list.

A resolver appends the domains of its search list and asks again after each `NXDomain`; the tries belong to one look-up, which
begins with the first question for the name and ends with the answer to the last.
"""

from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass

from wirespeed.model.flows import DnsQuery
from wirespeed.model.measurement import NameLookup
from wirespeed.model.source import Quote, Source
from wirespeed.readers.packets.packet import DnsMessage

MOST_OPEN = 1_000
LONGEST_LOOKUP_NS = 60_000_000_000
PATIENCE_NS = 1_000_000_000
"""An answer may still be on its way when the capture ends; after a second resolvers think otherwise."""
SAME_SIGHTING_NS = 50_000_000

_Key = tuple[str, int | None, int | None]


@dataclass(slots=True)
class _Asked:
    """A question without its answer so far."""

    message: DnsMessage
    server: str
    sent_count: int
    last: DnsMessage


@dataclass(slots=True)
class _Lookup:
    """A name that is being looked up: the questions so far."""

    base: str
    first: DnsMessage
    queries_count: int = 0


class Names:
    """All look-ups of a capture, in bounded memory."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._asked: OrderedDict[_Key, _Asked] = OrderedDict()
        self._lookups: dict[tuple[str, str], _Lookup] = {}
        self._answering: set[str] = set()

    def take(self, message: DnsMessage) -> Iterator[DnsQuery | NameLookup]:
        """Take in a message; gives what it settles."""
        if message.answer is None:
            yield from self._asks(message)
        else:
            yield from self._answers(message)

    def _asks(self, message: DnsMessage) -> Iterator[DnsQuery]:
        kind, name = message.query_type or "", message.name or ""
        key = (message.client, message.client_port, message.number)
        asked = self._asked.get(key)
        if asked is not None and (asked.message.name, asked.message.query_type) == (message.name, message.query_type):
            is_seen_again = message.server == asked.server and message.at_ns - asked.last.at_ns < SAME_SIGHTING_NS
            asked.sent_count += not (is_seen_again and message.at_ns)
            asked.last = message
            return
        if asked is not None:
            yield self._settled(self._asked.pop(key), None, message.at_ns)
        self._asked[key] = _Asked(message, message.server, 1, message)
        if len(self._asked) > MOST_OPEN:
            yield self._settled(self._asked.popitem(last=False)[1], None, message.at_ns)
        if kind in ("A", "AAAA"):
            self._tries(message, kind, name)

    def _tries(self, message: DnsMessage, kind: str, name: str) -> None:
        place = (message.client, kind)
        lookup = self._lookups.get(place)
        if lookup is None or not _belongs(lookup, name, message.at_ns):
            if len(self._lookups) >= MOST_OPEN:
                self._lookups.clear()
            lookup = self._lookups[place] = _Lookup(name, message)
        lookup.base = min(lookup.base, name, key=len)
        lookup.queries_count += 1

    def _answers(self, message: DnsMessage) -> Iterator[DnsQuery | NameLookup]:
        if len(self._answering) < MOST_OPEN:
            self._answering.add(message.client)
        asked = self._asked.pop((message.client, message.client_port, message.number), None)
        if asked is None:
            return
        yield self._settled(asked, message, message.at_ns)
        kind, name = asked.message.query_type or "", asked.message.name or ""
        lookup = self._lookups.get((message.client, kind))
        if message.answer == "NXDomain" or lookup is None or not name.startswith(lookup.base):
            return
        del self._lookups[message.client, kind]
        if message.at_ns:
            yield NameLookup(
                source=self._source,
                quotes=(self._quote(lookup.first), self._quote(message)),
                name=lookup.base,
                time_s=(message.at_ns - lookup.first.at_ns) / 1_000_000_000,
                is_answered=message.answer == "NoError",
                queries_count=lookup.queries_count,
            )

    def rest(self, end_ns: int) -> Iterator[DnsQuery]:
        """What was not answered before the capture ended."""
        while self._asked:
            yield self._settled(self._asked.popitem(last=False)[1], None, end_ns)

    def _settled(self, asked: _Asked, answer: DnsMessage | None, end_ns: int) -> DnsQuery:
        first = asked.message
        told = (first, answer) if answer else (first, asked.last) if asked.last is not first else (first,)
        had_time = asked.sent_count > 1 or (first.at_ns > 0 and end_ns - first.at_ns >= PATIENCE_NS)
        could_be_seen = asked.sent_count > 1 or first.client in self._answering
        return DnsQuery(
            source=self._source,
            quotes=tuple(self._quote(one) for one in told),
            client=first.client,
            client_port=first.client_port,
            server=first.server,
            name=first.name or "",
            query_type=first.query_type or "",
            asked_s=first.at_ns / 1_000_000_000 if first.at_ns else None,
            sent_count=asked.sent_count,
            time_s=(answer.at_ns - first.at_ns) / 1_000_000_000 if answer and answer.at_ns else None,
            answer=answer.answer if answer else None,
            is_answered=True if answer else False if had_time and could_be_seen else None,
        )

    def _quote(self, message: DnsMessage) -> Quote:
        return Quote(source=self._source.path, line_index=message.index, text=message.line)


def _belongs(lookup: _Lookup, name: str, at_ns: int) -> bool:
    """Whether this question is a further try of the look-up: one name begins the other, within the patience of a resolver."""
    short, long = sorted((lookup.base, name), key=len)
    shared = _common_start(short, long)
    return at_ns - lookup.first.at_ns <= LONGEST_LOOKUP_NS and (shared == short or shared.count(".") >= 2)


def _common_start(left: str, right: str) -> str:
    """The labels with which both names begin."""
    labels = []
    for mine, other in zip(left.split("."), right.split("."), strict=False):
        if mine != other:
            break
        labels.append(mine)
    return ".".join(labels)
