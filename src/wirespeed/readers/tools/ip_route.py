"""`ip route`, `ip route get` (also `-j`) and `route -n`: routes and route look-ups."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from wirespeed.model.facts.path import Route
from wirespeed.model.kinds import Reader
from wirespeed.model.lines import Lines, source
from wirespeed.model.record import Record
from wirespeed.model.source import Problem
from wirespeed.model.text import Text
from wirespeed.readers.parsing.excerpt import Seen, arguments_of, excerpt
from wirespeed.readers.parsing.ip import is_address, number_after, value_after
from wirespeed.readers.parsing.json_excerpt import documents, number, word
from wirespeed.readers.parsing.marks import marked
from wirespeed.readers.parsing.regex import regex

_TYPES = "unicast|local|broadcast|multicast|anycast|blackhole|unreachable|prohibit|throw|nat"
_DESTINATION = r"(?P<destination>default|\d{1,3}(?:\.\d{1,3}){3}(?:/\d+)?|[0-9A-Fa-f]*:[0-9A-Fa-f:.]*(?:/\d+)?)"
_ROUTE = regex(
    rf"^\s*(?:(?P<type>{_TYPES}) )?{_DESTINATION}(?P<rest>(?: from \S+)?(?: (?:via|dev|nhid|proto|table|scope"
    rf"|encap|src|metric)\b.*)?)\s*$"
)
_NEIGHBOUR = regex(r"\blladdr\b|\b(?:REACHABLE|STALE|DELAY|PROBE|FAILED|INCOMPLETE|PERMANENT|NOARP)\s*$")
_HOP = regex(r"^\s+nexthop (?P<rest>.*\S)\s*$")
_CACHE = regex(r"^\s+cache\b(?P<rest>.*)$")
_TABLE_ROW = regex(
    r"^(?P<destination>\d+(?:\.\d+){3}|default) +(?P<gateway>\S+) +(?P<mask>\d+(?:\.\d+){3}) +[UGHRDMAC!]+ +"
    r"(?P<numbers>\d+ +\d+ +\d+) +(?P<link>\S+)\s*$"
)
_RECOGNISED = regex(
    rf"(?m)^[ \t]*(?:[\w.-]+: *)?(?:(?:{_TYPES}) )?(?:default|[0-9a-fA-F.:]+(?:/\d+)?) (?:from \S+ )?(?:via|dev|proto) \S"
    r"|^[ \t]+nexthop (?:via|dev)|^Destination +Gateway +Genmask|\"dst\":"
)


@dataclass(slots=True)
class _Open:
    """A route whose next hops or cache line may follow."""

    seen: Seen
    found: re.Match[str]
    hops: list[Seen] = field(default_factory=list)
    cache: Seen | None = None


_MOST_HOPS = 512


def _read(lines: Lines) -> Iterator[Record | Problem]:
    at_hand: _Open | None = None
    for seen in excerpt(lines, _is_own):
        if at_hand and not seen.is_prompt and _HOP.match(seen.text):
            if len(at_hand.hops) < _MOST_HOPS:
                at_hand.hops.append(seen)
            continue
        if at_hand and not seen.is_prompt and _CACHE.match(seen.text):
            at_hand.cache = seen
            continue
        if at_hand and _says_something(at_hand):
            yield _route(lines, at_hand)
        at_hand = None
        if seen.is_prompt:
            continue
        found = _ROUTE.match(seen.text)
        row = _TABLE_ROW.match(seen.text)
        if found:
            at_hand = _Open(seen, found)
        elif row:
            yield _row(lines, seen, row)
    if at_hand and _says_something(at_hand):
        yield _route(lines, at_hand)
    yield from _from_json(lines)


def _says_something(at_hand: _Open) -> bool:
    """A lone address on a line is no route, one with next hops below it is; a neighbour's line only looks like one."""
    return not _NEIGHBOUR.search(at_hand.found["rest"]) and bool(
        at_hand.found["rest"].strip() or at_hand.found["type"] or at_hand.hops
    )


def _is_own(text: str) -> bool:
    return any(shape.match(text) for shape in (_ROUTE, _HOP, _CACHE, _TABLE_ROW))


def _route(lines: Lines, at_hand: _Open) -> Route:
    seen, found = at_hand.seen, at_hand.found
    words = found["rest"].split()
    cached = _CACHE.match(at_hand.cache.text) if at_hand.cache else None
    cache_words = cached["rest"].split() if cached else []
    hops = tuple(_hop(hop.text) for hop in at_hand.hops)
    is_lookup = at_hand.cache is not None or "uid" in words or _asked_for_lookup(seen.command)
    quotes = (seen.quoted(lines), *(hop.quoted(lines) for hop in at_hand.hops))
    return Route(
        source=source(lines, "ip route get" if is_lookup else "ip route", seen.host),
        quotes=quotes if at_hand.cache is None else (*quotes, at_hand.cache.quoted(lines)),
        destination=found["destination"],
        link=value_after(words, "dev"),
        gateway=_gateway(words),
        preferred_source=value_after(words, "src"),
        metric_number=number_after(words, "metric"),
        table=value_after(words, "table"),
        mtu_bytes=number_after(words, "mtu") or number_after(cache_words, "mtu"),
        congestion_control=value_after(words, "congctl") or value_after(cache_words, "congctl"),
        next_hops=hops,
        is_lookup=is_lookup,
    )


def _gateway(words: list[str]) -> str | None:
    via = value_after(words, "via")
    return value_after(words, via) if via in ("inet", "inet6") else via


def _hop(text: str) -> str:
    found = _HOP.match(text)
    return " ".join(found["rest"].split()) if found else text.strip()


def _asked_for_lookup(command: tuple[str, ...]) -> bool:
    arguments = arguments_of(command, "ip")
    return arguments is not None and "get" in arguments and any(one in ("r", "ro", "route") for one in arguments)


def _row(lines: Lines, seen: Seen, row: re.Match[str]) -> Route:
    length = sum(bin(int(part)).count("1") for part in row["mask"].split(".") if int(part) < 256)
    destination = "default" if row["destination"] in ("0.0.0.0", "default") else f"{row['destination']}/{length}"  # noqa: S104
    return Route(
        source=source(lines, "route -n", seen.host),
        quotes=(seen.quoted(lines),),
        destination=destination,
        link=row["link"],
        gateway=row["gateway"] if is_address(row["gateway"]) and row["gateway"] != "0.0.0.0" else None,  # noqa: S104
        metric_number=int(row["numbers"].split()[0]),
    )


def _from_json(lines: Lines) -> Iterator[Route]:
    if '"dst"' not in lines.sample:
        return
    for document in documents(lines):
        for one in document.objects():
            destination = word(one.get("dst"))
            if destination is None or "state" in one or not ("dev" in one or "nexthops" in one):
                continue
            metrics = one.get("metrics")
            measured = metrics[0] if isinstance(metrics, list) and metrics and isinstance(metrics[0], dict) else {}
            is_lookup = "uid" in one or "cache" in one
            yield Route(
                source=source(lines, "ip -j route get" if is_lookup else "ip -j route"),
                quotes=(document.quoted(lines, f'"{destination}"'),),
                destination=destination,
                link=word(one.get("dev")),
                gateway=word(one.get("gateway")),
                preferred_source=word(one.get("prefsrc")),
                metric_number=number(one.get("metric")),
                table=word(one.get("table")),
                mtu_bytes=number(measured.get("mtu")),
                congestion_control=word(measured.get("congestion")),
                next_hops=_json_hops(one.get("nexthops")),
                is_lookup=is_lookup,
            )


def _json_hops(hops: object) -> tuple[str, ...]:
    shown = []
    for hop in hops if isinstance(hops, list) else ():
        if isinstance(hop, dict):
            parts = (("via", hop.get("gateway")), ("dev", hop.get("dev")), ("weight", hop.get("weight")))
            shown.append(" ".join(f"{key} {value}" for key, value in parts if value is not None))
    return tuple(shown)


READER = Reader(
    title=Text(en="routes (ip route)", zh="路由（ip route）"),
    gives=(Route,),
    recognises=marked(_RECOGNISED),
    read=_read,
    obtained_by=("ip route", "ip route get PEER"),
)
