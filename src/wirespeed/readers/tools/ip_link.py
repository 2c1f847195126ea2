"""`ip link` and `ip addr`, with `-d`, `-s`, `-br` or `-j`: interfaces and what the kernel counts on them."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from wirespeed.model.counters import canonical_name
from wirespeed.model.facts.link import Counter, Link
from wirespeed.model.kinds import Reader
from wirespeed.model.lines import Lines, source
from wirespeed.model.record import Record
from wirespeed.model.source import Problem, Quote
from wirespeed.model.text import Text
from wirespeed.readers.parsing.excerpt import Seen, excerpt
from wirespeed.readers.parsing.ip import HEADER, RECOGNISED, number_after, value_after
from wirespeed.readers.parsing.json_excerpt import documents, number, word
from wirespeed.readers.parsing.marks import marked
from wirespeed.readers.parsing.regex import regex

_HARDWARE = regex(r"^\s+link/(?P<type>[\w/-]+)(?: (?P<mac>[0-9a-f]{2}(?::[0-9a-f]{2})+))?")
_KINDS = (
    "vxlan|geneve|bridge|bond|veth|vlan|macvlan|ipvlan|dummy|ipip|sit|gre|gretap|ip6tnl|ip6gre|wireguard|tun|tap|ifb|vrf|team|ipoib"
)
_KIND = regex(rf"^\s+(?P<kind>{_KINDS})\b(?!_)")
_COUNTED = regex(r"^\s+(?P<way>RX|TX)(?P<errors> errors)?:(?P<columns>(?: +\w+)+)\s*$")
_NUMBERS = regex(r"^\s+\d+(?: +\d+)+\s*$")
_BRIEF = regex(
    r"^(?P<name>[A-Za-z0-9_][\w.:-]*)(?:@\S+)? +(?P<state>UP|DOWN|UNKNOWN|LOWERLAYERDOWN|DORMANT) +"
    r"(?P<mac>[0-9a-f:]{17}) <(?P<flags>[A-Z0-9_,-]+)>"
)
_COLUMN_NAMES = {
    "missed": "missed_errors",
    "overrun": "over_errors",
    "crc": "crc_errors",
    "length": "length_errors",
    "fifo": "fifo_errors",
    "frame": "frame_errors",
    "carrier": "carrier_errors",
    "aborted": "aborted_errors",
    "window": "window_errors",
    "heartbt": "heartbeat_errors",
    "nohandler": "nohandler",
}
_WHOLE_NAMES = {"mcast": "multicast", "collsns": "collisions", "transns": "carrier_changes"}
_MOST_QUOTES = 6


@dataclass(slots=True)
class _Open:
    """The interface whose lines are being read."""

    name: str
    host: str | None
    fields: dict[str, object]
    quotes: list[Quote] = field(default_factory=list)
    columns: tuple[str, ...] = ()
    heading: Quote | None = None


def _read(lines: Lines) -> Iterator[Record | Problem]:
    at_hand: _Open | None = None
    for seen in excerpt(lines, _is_own):
        header = None if seen.is_prompt else HEADER.match(seen.text)
        brief = None if seen.is_prompt else _BRIEF.match(seen.text)
        if header or brief or seen.is_prompt:
            if at_hand:
                yield _link(lines, at_hand)
            at_hand = None
        if header:
            at_hand = _opened(lines, seen, header)
        elif brief:
            yield _brief(lines, seen, brief)
        elif at_hand:
            yield from _more(lines, at_hand, seen)
    if at_hand:
        yield _link(lines, at_hand)
    yield from _from_json(lines)


def _is_own(text: str) -> bool:
    return any(shape.match(text) for shape in (HEADER, _HARDWARE, _KIND, _COUNTED, _NUMBERS, _BRIEF))


def _opened(lines: Lines, seen: Seen, header: re.Match[str]) -> _Open:
    words = header["rest"].replace("\\", " ").split()
    fields: dict[str, object] = {
        "mtu_bytes": int(header["mtu"]),
        "master": value_after(words, "master"),
        "tx_queue_packets": number_after(words, "qlen"),
        **_states(header["flags"].split(",")),
    }
    return _Open(name=header["name"], host=seen.host, fields=fields, quotes=[seen.quoted(lines)])


def _states(flags: list[str]) -> dict[str, object]:
    is_up = "UP" in flags
    carrier = True if "LOWER_UP" in flags else False if "NO-CARRIER" in flags else None
    return {"is_up": is_up, "has_carrier": carrier}


def _more(lines: Lines, at_hand: _Open, seen: Seen) -> Iterator[Counter]:
    hardware = _HARDWARE.match(seen.text)
    kind = _KIND.match(seen.text)
    counted = _COUNTED.match(seen.text)
    if hardware:
        at_hand.fields["type_name"] = hardware["type"]
        at_hand.fields["mac_address"] = hardware["mac"]
        at_hand.quotes.append(seen.quoted(lines))
    elif kind:
        at_hand.fields["type_name"] = kind["kind"]
        at_hand.quotes.append(seen.quoted(lines))
    elif counted:
        at_hand.columns = tuple(
            _counter_name(counted["way"], column, bool(counted["errors"])) for column in counted["columns"].split()
        )
        at_hand.heading = seen.quoted(lines)
    elif at_hand.columns and _NUMBERS.match(seen.text):
        yield from _counters(lines, at_hand, seen)
        at_hand.columns = ()


def _counter_name(way: str, column: str, is_detail: bool) -> str:
    if column in _WHOLE_NAMES:
        return _WHOLE_NAMES[column]
    if column == "carrier" and not is_detail:
        return f"{way.lower()}_carrier_errors"
    return f"{way.lower()}_{_COLUMN_NAMES.get(column, column)}"


def _counters(lines: Lines, at_hand: _Open, seen: Seen) -> Iterator[Counter]:
    heading = (at_hand.heading,) if at_hand.heading else ()
    for name, text in zip(at_hand.columns, seen.text.split(), strict=False):
        if name == "carrier_changes":
            at_hand.fields["carrier_changes_count"] = int(text)
            at_hand.quotes.extend((*heading, seen.quoted(lines)))
        yield Counter(
            source=source(lines, "ip -s link", at_hand.host),
            quotes=(*heading, seen.quoted(lines)),
            scope=at_hand.name,
            name=name,
            value_count=int(text),
            canonical=canonical_name(name),
        )


def _link(lines: Lines, at_hand: _Open) -> Link:
    return Link(
        source=source(lines, "ip link", at_hand.host),
        quotes=tuple(at_hand.quotes[:_MOST_QUOTES]),
        name=at_hand.name,
        **at_hand.fields,  # type: ignore[arg-type]
    )


def _brief(lines: Lines, seen: Seen, found: re.Match[str]) -> Link:
    return Link(
        source=source(lines, "ip -br link", seen.host),
        quotes=(seen.quoted(lines),),
        name=found["name"],
        mac_address=found["mac"],
        **_states(found["flags"].split(",")),  # type: ignore[arg-type]
    )


def _from_json(lines: Lines) -> Iterator[Record]:
    if '"ifname"' not in lines.sample:
        return
    for document in documents(lines):
        for one in document.objects():
            name = word(one.get("ifname"))
            if name is None or "mtu" not in one:
                continue
            flags = one.get("flags")
            kind = one.get("linkinfo")
            place = document.quoted(lines, f'"{name}"')
            yield Link(
                source=source(lines, "ip -j link"),
                quotes=(place,),
                name=name,
                mtu_bytes=number(one.get("mtu")),
                master=word(one.get("master")),
                tx_queue_packets=number(one.get("txqlen")),
                type_name=(word(kind.get("info_kind")) if isinstance(kind, dict) else None) or word(one.get("link_type")),
                mac_address=word(one.get("address")),
                **_states([str(flag) for flag in flags] if isinstance(flags, list) else []),  # type: ignore[arg-type]
            )
            yield from _json_counters(lines, name, one, place)


def _json_counters(lines: Lines, name: str, one: dict[str, object], place: Quote) -> Iterator[Counter]:
    statistics = one.get("stats64")
    for way, counts in statistics.items() if isinstance(statistics, dict) else ():
        for column, value in counts.items() if isinstance(counts, dict) else ():
            count = number(value)
            if count is None:
                continue
            full = column if column in ("multicast", "collisions") else f"{way}_{column}"
            yield Counter(
                source=source(lines, "ip -j link"),
                quotes=(place,),
                scope=name,
                name=full,
                value_count=count,
                canonical=canonical_name(full),
            )


READER = Reader(
    title=Text(en="interfaces (ip link)", zh="网络接口（ip link）"),
    gives=(Link, Counter),
    recognises=marked(RECOGNISED, '"ifname"', r"[0-9a-f:]{17} <[A-Z]"),
    read=_read,
    obtained_by=("ip -s -d link",),
)
