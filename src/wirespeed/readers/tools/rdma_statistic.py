"""`rdma statistic`: one line a port, counter names and values in turn, or JSON (`rdma -j statistic`)."""

from collections.abc import Iterator

from wirespeed.model.counters import canonical_name
from wirespeed.model.facts.link import Counter
from wirespeed.model.kinds import Reader
from wirespeed.model.lines import Lines, quote, source
from wirespeed.model.record import Record
from wirespeed.model.source import Problem
from wirespeed.model.text import Text
from wirespeed.readers.parsing.json_excerpt import documents, number, word
from wirespeed.readers.parsing.marks import marked
from wirespeed.readers.parsing.regex import regex

_LINE = regex(r"\blink (?P<scope>[\w.-]{1,64}/\d{1,3}) (?P<rest>[a-z][a-z0-9_]{2,63} \d.*)$")
_NAME = regex(r"^[a-z][a-z0-9_]{2,63}$")
_JSON = regex(r"\"ifname\"\s*:\s*\"[^\"\n]{1,64}\"\s*,\s*\"port\"\s*:\s*\d{1,3}\s*,\s*\"[a-z][a-z0-9_]{2,63}\"\s*:\s*\d")
_NO_COUNTERS = frozenset({"ifindex", "port", "lid", "sm_lid", "lmc", "netdev_index"})
MOST_COUNTERS = 200
_BAD_PAIR = Text(en="a counter of rdma statistic has no value", zh="rdma statistic 的某计数器没有数值")


def _read(lines: Lines) -> Iterator[Record | Problem]:
    if _JSON.search(lines.sample):
        yield from _from_json(lines)
    scope = ""
    for index, line in lines:
        found = _LINE.search(line)
        words = found["rest"].split() if found else line.split() if scope and _is_continued(line) else []
        scope = found["scope"] if found else scope if words else ""
        for name, count in zip(words[::2], [*words[1::2], ""][: len(words[::2])], strict=True):
            if not _NAME.match(name) or not count.isdecimal() or len(count) > 20:
                yield Problem(source=source(lines, "rdma statistic"), why=_BAD_PAIR, line_index=index)
                break
            yield Counter(
                source=source(lines, "rdma statistic"),
                quotes=(quote(lines, index, line),),
                scope=scope,
                name=name,
                value_count=int(count),
                canonical=canonical_name(name),
            )


def _from_json(lines: Lines) -> Iterator[Counter]:
    for document in documents(lines):
        for told in document.objects():
            device, port = word(told.get("ifname")), number(told.get("port"))
            counts = [(name, count) for name, value in told.items() if _NAME.match(name) and (count := number(value)) is not None]
            for name, count in counts[:MOST_COUNTERS] if device is not None and port is not None else ():
                if name not in _NO_COUNTERS:
                    yield Counter(
                        source=source(lines, "rdma statistic"),
                        quotes=(document.quoted(lines, f'"{name}"'),),
                        scope=f"{device}/{port}",
                        name=name,
                        value_count=count,
                        canonical=canonical_name(name),
                    )


def _recognises(sample: str) -> bool:
    return _JSON.search(sample) is not None or any(_LINE.search(line) for line in sample.splitlines() if "link " in line)


def _is_continued(line: str) -> bool:
    """A long line is often pasted in several: the rest starts with a name and a number."""
    words = line.split()
    return len(words) > 1 and _NAME.match(words[0]) is not None and words[1].isdecimal()


READER = Reader(
    title=Text(en="rdma statistic", zh="rdma statistic"),
    gives=(Counter,),
    recognises=marked(_LINE, _JSON, confirmed=_recognises),
    read=_read,
    obtained_by=("rdma statistic",),
)
