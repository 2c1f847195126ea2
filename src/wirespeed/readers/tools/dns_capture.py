"""Name look-ups in a packet capture (`tcpdump port 53`): each name that was answered in the end, with the tries before it.

A resolver appends the domains of its search list and asks again after each `NXDomain`; the tries belong to one look-up, which
begins with the first question for the name and ends with the answer to the last.
"""

import re
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass

from wirespeed.model.kinds import Reader
from wirespeed.model.lines import Lines, quote, source
from wirespeed.model.measurement import NameLookup
from wirespeed.model.record import Record
from wirespeed.model.source import Problem, Quote
from wirespeed.model.text import Text
from wirespeed.readers.parsing.marks import marked

TOOL = "tcpdump"
MOST_OPEN = 1_000
DAY_S = 86_400.0
LONGEST_LOOKUP_S = 60.0
_CLOCK = r"(?:^|\s)(?P<hours>\d\d):(?P<minutes>\d\d):(?P<seconds>\d\d\.\d{1,9}) IP6? "
_QUERY = re.compile(
    _CLOCK
    + r"(?P<client>\S{1,80}) > \S{1,80}\.(?:53|domain): (?:\d{1,5}[+*%-]* )?(?:\[\w+\] )?(?P<kind>A|AAAA)\? (?P<name>[\w.-]{1,255})"
)
_ANSWER = re.compile(_CLOCK + r"\S{1,80}\.(?:53|domain) > (?P<client>\S{1,80}): (?P<rest>.*)$")
_NO_SUCH_NAME = re.compile(r"\bNXDomain\b")


@dataclass(slots=True)
class _Lookup:
    """A name that is being looked up: the questions so far."""

    base: str
    started_s: float
    queries_count: int
    quote: Quote


def _read(lines: Lines) -> Iterator[Record | Problem]:
    asked: OrderedDict[str, tuple[str, str, float]] = OrderedDict()
    failed: dict[str, _Lookup] = {}
    for index, line in lines:
        query = _QUERY.search(line) if "? " in line else None
        if query:
            client, name, at_s = query["client"].rstrip(":"), query["name"].rstrip("."), _clock_s(query)
            asked[client] = (query["kind"], name, at_s)
            started = _Lookup(name, at_s, 0, quote(lines, index, line))
            lookup = failed.setdefault(query["kind"], started)
            if not _belongs(lookup, name, at_s):
                lookup = failed[query["kind"]] = started
            lookup.base = min(lookup.base, name, key=len)
            lookup.queries_count += 1
            if len(asked) > MOST_OPEN:
                asked.popitem(last=False)
            continue
        answer = _ANSWER.search(line)
        question = asked.pop(answer["client"].rstrip(":"), None) if answer else None
        if answer is None or question is None or _NO_SUCH_NAME.search(answer["rest"]):
            continue
        done = failed.pop(question[0], None)
        if done is None or not question[1].startswith(done.base):
            continue
        yield NameLookup(
            source=source(lines, TOOL),
            quotes=(done.quote, quote(lines, index, line)),
            name=done.base,
            time_s=round((_clock_s(answer) - done.started_s) % DAY_S, 9),
            is_answered=True,
            queries_count=done.queries_count,
        )


def _belongs(lookup: _Lookup, name: str, at_s: float) -> bool:
    """Whether this question is a further try of the look-up: one name begins the other, within the patience of a resolver."""
    short, long = sorted((lookup.base, name), key=len)
    shared = _common_start(short, long)
    return (at_s - lookup.started_s) % DAY_S <= LONGEST_LOOKUP_S and (shared == short or shared.count(".") >= 2)


def _common_start(left: str, right: str) -> str:
    """The labels with which both names begin."""
    labels = []
    for mine, other in zip(left.split("."), right.split("."), strict=False):
        if mine != other:
            break
        labels.append(mine)
    return ".".join(labels)


def _clock_s(found: re.Match[str]) -> float:
    return 3600.0 * int(found["hours"]) + 60.0 * int(found["minutes"]) + float(found["seconds"])


READER = Reader(
    title=Text(en="name look-ups in a packet capture", zh="抓包中的域名查询"),
    gives=(NameLookup,),
    recognises=marked(r"\.(?:53|domain): [^\n]{0,24}\b(?:A|AAAA)\? "),
    read=_read,
    obtained_by=("tcpdump -ni any port 53",),
)
