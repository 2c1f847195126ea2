"""Figures of equals, one a place, without a table's heading: `node-a 186`, `node-a-node-b: 48.1 GB/s`, `tokens per rank: 4096 4100 3900`.

A list of places counts from four lines on that follow each other, so that one can stand out; from three where replicas' requests are counted. What the figures are is told by their
unit or by the line above.
"""

import re
from collections.abc import Iterator

from wirespeed.model.kinds import Reader
from wirespeed.model.lines import Lines, quote, source
from wirespeed.model.record import Record
from wirespeed.model.settings import Table
from wirespeed.model.source import Problem
from wirespeed.model.text import Text
from wirespeed.readers.parsing.marks import marked
from wirespeed.readers.parsing.regex import regex

FEWEST_PLACES = 4
FEWEST_REPLICAS = 3
"""So many are enough where the line above says that requests or connections of replicas are counted."""
MOST_PLACES = 2_000
MOST_LINE_CHARACTERS = 2_000

_NO_PLACE = (
    r"(?!(?:mlx|eth|en[opsx]|ib|cpu|nvme|sd|port|queue|core|rx|tx|step|epoch|iter\w*|layer|batch|size|run|attempt|try|trial|seq|id|pid"
    r"|level|block|channel|ch|line|day|[a-gi-mo-z])[-_ ]?\d+[:=\s])"
)
"""Devices, steps, sizes and percentiles are numbered too, but are no equals that should be alike."""
_ONE = r"(?:[A-Za-z][\w.]*[-_ ]?\d+|(?:node|host|worker|server|machine|gpu|box|vm|pod)[-_ ]\w+)"
_PLACE = regex(
    rf"^\s*[(\[]?{_NO_PLACE}(?P<place>{_ONE}(?:(?:\s?[-+,<>/&]{{1,3}}\s?|\s){_ONE})?)[)\]]?\s*[:=]?\s+(?P<number>\d+(?:\.\d+)?)"
    r"\s*(?P<unit>[A-Za-z][\w/%]{0,12}|%)?\s*(?:#.*)?$"
)
_LISTED = regex(
    r"^\s*(?:[^\[\]]{0,60}[,;]\s+)?(?P<label>[A-Za-z][^:=\[]{2,60}?\b(?:per|by|on each|of each|each)\s(?:\w+\s)?(?P<place>rank|expert|gpu|node|host|worker)s?\b"
    r"[^:=\[]{0,24}?)(?:\s*[:=]\s*\[?|\s+\[)(?P<numbers>\d[\d.]*(?:[ ,]+\d[\d.]*){3,})\]?\s*$",
    re.IGNORECASE,
)
_PAIRED = regex(
    r"^\s*(?P<label>[A-Za-z][^:=\[]{2,60}?\b(?:per|by|on each|of each|each)\s(?:\w+\s)?(?P<place>rank|expert|gpu|node|host|worker)s?\b"
    r"[^:=\[]{0,24})\s*[:=]\s*(?P<pairs>(?:[A-Za-z]{1,8}[-_ ]?\d{1,5}\s*[:=]?\s+\d[\d.]*[ ,;]*){3,})\s*$",
    re.IGNORECASE,
)
"""The same with each figure behind its place: `backward ms per rank: r0 611 r1 488 r2 490`."""
_PAIR = regex(r"([A-Za-z]{1,8}[-_ ]?\d{1,5})\s*[:=]?\s+(\d[\d.]*)")
_RECOGNISED = regex(
    rf"(?m){_PLACE.pattern}|(?i:\b(?:per|by|each)\s(?:\w+\s)?(?:rank|expert|gpu|node|host|worker)s?\b.{{0,24}}[:=\[])"
)

_COUNTS_LOAD = regex(r"(?i)\b(?:\w*requests?\w*|\w*connections?|rps|qps|rpcs?|calls|hits|streams)\b")
_REPLICA = regex(r"^[a-z][a-z0-9-]*-(?:[0-9a-f]{6,10}-[a-z0-9]{5}|\d{1,4})$")

Place = tuple[int, str, str, str, str]
"""Line index, line, place, number and unit."""


def _read(lines: Lines) -> Iterator[Record | Problem]:
    above = ""
    places: list[Place] = []
    for index, line in lines:
        if len(line) > MOST_LINE_CHARACTERS:
            continue
        found = _PLACE.match(line)
        if found and len(places) < MOST_PLACES:
            places.append((index, line, found["place"], found["number"], found["unit"] or ""))
            continue
        yield from _table(lines, above, places)
        places, above = [], line
        listed = _LISTED.match(line)
        if listed:
            yield _list(lines, index, line, listed)
        elif paired := _PAIRED.match(line):
            yield _pairs(lines, index, line, paired)
    yield from _table(lines, above, places)


def _table(lines: Lines, above: str, places: list[Place]) -> Iterator[Table]:
    """The places as a table, when they are several different ones with one unit."""
    units = {unit for *_, unit in places}
    names = {place for _, _, place, _, _ in places}
    of_load = _COUNTS_LOAD.search(above) is not None and all(_REPLICA.match(name) for name in names)
    if len(names) < (FEWEST_REPLICAS if of_load else FEWEST_PLACES) or len(units) > 1:
        return
    yield Table(
        source=source(lines, "figures_by_place"),
        quotes=tuple(quote(lines, index, line) for index, line, *_ in places),
        columns=("node", units.pop() or above.strip()[-80:] or "figure"),
        rows=tuple((place, number) for _, _, place, number, _ in places),
    )


def _list(lines: Lines, index: int, line: str, listed: re.Match[str]) -> Table:
    numbers = re.split(r"[ ,]+", listed["numbers"].strip(" ,"))
    return Table(
        source=source(lines, "figures_by_place"),
        quotes=(quote(lines, index, line),),
        columns=(listed["place"].lower(), listed["label"].strip()),
        rows=tuple((f"{listed['place'].lower()} {position}", number) for position, number in enumerate(numbers)),
    )


def _pairs(lines: Lines, index: int, line: str, paired: re.Match[str]) -> Table:
    return Table(
        source=source(lines, "figures_by_place"),
        quotes=(quote(lines, index, line),),
        columns=(paired["place"].lower(), paired["label"].strip()),
        rows=tuple((place, number.strip(".")) for place, number in _PAIR.findall(paired["pairs"])),
    )


READER = Reader(
    title=Text(en="figures of several nodes, ranks or experts", zh="多个节点、进程或专家的数值"),
    gives=(Table,),
    recognises=marked(_RECOGNISED),
    read=_read,
    voice="loose",
)
