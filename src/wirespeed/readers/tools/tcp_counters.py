"""`nstat`, `netstat -s`, /proc/net/netstat and snmp: what the kernel's IP, TCP and UDP count, under the kernel's names."""

from collections.abc import Iterator

from wirespeed.model.counters import canonical_name
from wirespeed.model.facts.link import Counter
from wirespeed.model.kinds import Reader
from wirespeed.model.lines import Lines, source
from wirespeed.model.record import Record
from wirespeed.model.source import Problem, Quote
from wirespeed.model.text import Text
from wirespeed.readers.parsing.excerpt import Seen, arguments_of, excerpt
from wirespeed.readers.parsing.json_excerpt import documents, number
from wirespeed.readers.parsing.marks import marked
from wirespeed.readers.parsing.netstat_sentences import SENTENCES
from wirespeed.readers.parsing.regex import regex

_TABLES = "MPTcpExt|TcpExt|IpExt|IcmpMsg|Icmp6|Icmp|UdpLite6|UdpLite|Udp6|Udp|Tcp|Ip6|Ip"
_JOINED = regex(rf"^(?P<table>{_TABLES})(?P<name>[A-Z]\w*)$")
_NSTAT = regex(rf"^\s*(?P<full>(?:{_TABLES})[A-Z]\w*)\s*[:=]?\s*(?P<count>\d+)(?:\s+\d+\.\d+)?\s*$")
_PROC = regex(rf"^\s*(?P<table>{_TABLES}): (?P<rest>\S.*)$")
_SECTION = regex(rf"^(?P<table>{_TABLES}):\s*$")
_NAMED = regex(r"^\s+(?P<name>[A-Z][A-Za-z0-9]+): (?P<count>\d+)\s*$")
_WELL_KNOWN = regex(
    r"^\s*(?P<name>TCP[A-Z]\w+|ListenOverflows|ListenDrops|RetransSegs|SyncookiesSent|SyncookiesFailed"
    r"|PruneCalled|RcvPruned|OfoPruned"
    r"|EmbryonicRsts|DelayedACKLost|TCPTimeouts|RcvbufErrors|SndbufErrors|InErrs|AttemptFails"
    r"|EstabResets)\s*[:=]?\s+(?P<count>\d+)(?:\s+\d+\.\d+)?\s*$"
)
_HOMES = {
    "RetransSegs": "Tcp",
    "InErrs": "Tcp",
    "AttemptFails": "Tcp",
    "EstabResets": "Tcp",
    "RcvbufErrors": "Udp",
    "SndbufErrors": "Udp",
}
_SENTENCE_START = regex(r"^\s*(?:\d+ [a-zA-Z-]+|Quick ack mode|Detected reordering|TCP ran low)\b")
_VAGUE = frozenset({"InDatagrams", "OutDatagrams", "ForwDatagrams", "InReceives"})
"""Sentences too ordinary to be taken for a counter outside their table (`4 packets received` is a ping)."""
_SETTINGS = frozenset({"Forwarding", "DefaultTTL", "RtoAlgorithm", "RtoMin", "RtoMax", "MaxConn", "CurrEstab"})
"""Members of the kernel's tables that are settings or levels, not counters."""
_RECOGNISED = regex(
    rf"(?m)^[ \t]*(?:[\w.-]+: *)?(?:{_TABLES})[A-Z]\w+\s*[:=]?\s*\d|^#kernel[ \t]*$|^[ \t]*(?:[\w.-]+: *)?"
    rf"(?:TcpExt|Tcp|Udp|Ip): \S|^(?:TcpExt|Tcp):[ \t]*$"
    r"|\bsegments retransmitted\b|\blisten queue of a socket overflowed|\bSYNs to LISTEN sockets dropped|\b\d+ "
    r"(?:fast retransmits|receive buffer errors)"
    r"|^[ \t]*(?:TCP[A-Z]\w+|ListenOverflows|ListenDrops|RetransSegs)\s*[:=]?\s+\d"
)


def _read(lines: Lines) -> Iterator[Record | Problem]:
    table = ""
    names: tuple[str, Quote, list[str]] | None = None
    for seen in excerpt(lines, _is_own, ("nstat", "netstat")):
        if seen.is_prompt:
            table, names = "", None
            continue
        proc = _PROC.match(seen.text)
        if proc:
            values = proc["rest"].split()
            if not values[0].lstrip("-").isdecimal():
                names = (proc["table"], seen.quoted(lines), values)
            elif names and names[0] == proc["table"]:
                yield from _proc(lines, seen, names, values)
                names = None
            continue
        section = _SECTION.match(seen.text)
        if section:
            table = section["table"]
            continue
        yield from _line(lines, seen, table)
    yield from _from_json(lines)


def _is_own(text: str) -> bool:
    return any(shape.match(text) for shape in (_NSTAT, _PROC, _SECTION, _WELL_KNOWN)) or _sentence(text, "") is not None


def _line(lines: Lines, seen: Seen, table: str) -> Iterator[Record]:
    nstat = _NSTAT.match(seen.text)
    named = _NAMED.match(seen.text) if table else None
    known = _WELL_KNOWN.match(seen.text)
    if nstat:
        joined = _JOINED.match(nstat["full"])
        if joined and joined["name"] not in _SETTINGS:
            yield _counter(lines, seen, joined["table"], joined["name"], int(nstat["count"]), is_delta=_asks_for_increments(seen))
    elif named:
        if named["name"] not in _SETTINGS:
            yield _counter(lines, seen, table, named["name"], int(named["count"]))
    elif known:
        yield _counter(lines, seen, _HOMES.get(known["name"], "TcpExt"), known["name"], int(known["count"]))
    else:
        found = _sentence(seen.text, table)
        if found and found[1] not in _SETTINGS:
            yield _counter(lines, seen, *found)


def _sentence(text: str, table: str) -> tuple[str, str, int] | None:
    """Table, kernel name and count of a sentence of `netstat -s`; one sentence may stand for different counters in two tables."""
    if not _SENTENCE_START.match(text):
        return None
    for home, name, shape in SENTENCES:
        if (home != table) if table else (name in _VAGUE):
            continue
        found = shape.match(text)
        if found:
            return home, name, int(found["count"])
    return None


def _proc(lines: Lines, seen: Seen, names: tuple[str, Quote, list[str]], values: list[str]) -> Iterator[Record | Problem]:
    table, heading, columns = names
    if len(columns) != len(values):
        yield Problem(
            source=source(lines, "/proc/net/netstat", seen.host),
            line_index=seen.index,
            why=Text(
                en=f"{len(columns)} names and {len(values)} values",
                zh=f"名称 {len(columns)} 个，数值 {len(values)} 个",
            ),
        )
        return
    for name, text in zip(columns, values, strict=True):
        if text.isdecimal() and name not in _SETTINGS:
            yield _counter(lines, seen, table, name, int(text), heading=heading)


def _asks_for_increments(seen: Seen) -> bool:
    """`nstat` without `-a` prints what was added since its last use."""
    arguments = arguments_of(seen.command, "nstat")
    return arguments is not None and not any(one.startswith("-") and ("a" in one or "s" in one) for one in arguments)


def _counter(
    lines: Lines, seen: Seen, table: str, name: str, count: int, heading: Quote | None = None, is_delta: bool = False
) -> Counter:
    return Counter(
        source=source(lines, "nstat", seen.host),
        quotes=(seen.quoted(lines),) if heading is None else (heading, seen.quoted(lines)),
        scope=table,
        name=name,
        value_count=count,
        canonical=canonical_name(name) if table in ("Tcp", "TcpExt") else None,
        is_delta=is_delta,
    )


def _from_json(lines: Lines) -> Iterator[Counter]:
    if '"kernel"' not in lines.sample:
        return
    for document in documents(lines):
        for one in document.objects():
            held = one.get("kernel")
            for full, value in held.items() if isinstance(held, dict) else ():
                joined = _JOINED.match(full)
                count = number(value)
                if joined and count is not None:
                    yield Counter(
                        source=source(lines, "nstat -j"),
                        quotes=(document.quoted(lines, f'"{full}"'),),
                        scope=joined["table"],
                        name=joined["name"],
                        value_count=count,
                        canonical=canonical_name(joined["name"]) if joined["table"] in ("Tcp", "TcpExt") else None,
                    )


READER = Reader(
    title=Text(en="kernel protocol counters (nstat, netstat -s)", zh="内核协议计数（nstat、netstat -s）"),
    gives=(Counter,),
    recognises=marked(_RECOGNISED, r'\{"kernel"'),
    read=_read,
    obtained_by=("nstat -az", "netstat -s"),
)
