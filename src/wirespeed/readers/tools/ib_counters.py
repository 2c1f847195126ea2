"""InfiniBand port counters of `perfquery` (dotted lines) and `ibqueryerrors` (bracketed lists), and sysfs names quoted in a line."""

import re
from collections.abc import Iterator

from wirespeed.model.counters import canonical_name
from wirespeed.model.facts.link import Counter
from wirespeed.model.kinds import Reader
from wirespeed.model.lines import Lines, quote, source
from wirespeed.model.record import Record
from wirespeed.model.source import Problem, Quote
from wirespeed.model.text import Text
from wirespeed.readers.parsing.marks import marked
from wirespeed.readers.parsing.regex import regex

_HEADER = regex(r"# Port (?:extended )?counters: (?P<end>.{0,120}?)\bport (?P<port>\d{1,3})")
_COMMAND = regex(r"\bperfquery\b.{0,60} -C (?P<device>[\w.-]{1,64})(?:.{0,40} -P (?P<port>\d{1,3}))?")
_LID = regex(r"\bLid (?P<lid>\d{1,6})")
_DOTTED = regex(r"(?:^|\s)(?P<name>[A-Z][A-Za-z0-9]{3,47}):\.{2,48}(?P<number>\S{1,24})\s*$")
_GUID = regex(r"\bGUID (?P<guid>0x[0-9a-f]{8,16}) port (?P<port>ALL|\d{1,3}):")
_BRACKETED = regex(r"\[(?P<name>[A-Z][A-Za-z0-9]{3,47}) == (?P<number>\d{1,20})")
_SYSFS_NAME = (
    r"(?:symbol_error|link_downed|link_error_recovery|port_rcv_errors|port_xmit_discards|local_link_integrity_errors|packet_seq_err"
    r"|out_of_sequence|local_ack_timeout_err|rnr_nak_retry_err|roce_slow_restart|roce_adp_retrans)"
)
_LOOSE = regex(rf"(?<![\w./-])(?P<name>{_SYSFS_NAME})(?:\s{{0,3}}[:=]\s{{0,3}}|\s{{1,3}})(?P<number>\d{{1,20}})(?![\w.%/])")
_DATA_DELTA = regex(
    r"\b(?P<name>port_(?:xmit|rcv)_data|Port(?:Xmit|Rcv)Data)\b.{0,24}?\b(?:delta|diff\w*|in|over|during)\b.{0,16}?(?P<over_s>\d{1,6}(?:\.\d{1,6})?) ?s(?:ec\w*)?\b"
    r"\W{1,4}(?P<number>\d{1,20}(?:,\d{3}){0,6})(?![\w.%/]|,\d)"
)
"""A difference that somebody took of a data counter, with its time."""
_DEVICE = regex(r"\b(?P<device>(?:mlx|bnxt_re|irdma|hfi|rocep|ibp)[\w-]{1,24}(?:/\d{1,3})?)\b")
_WHOLE_LINE = regex(r"\blink \S{1,64}/\d{1,3} ")
_RECOGNISED = regex(
    rf"# Port (?:extended )?counters:|\bport_(?:xmit|rcv)_data\b.{{0,24}}\d|[A-Z][A-Za-z0-9]{{3,47}}:\.{{6,}}\S|\[[A-Z][A-Za-z0-9]{{3,47}} == \d|{_LOOSE.pattern}"
)
_NO_COUNTERS = frozenset({"PortSelect", "CounterSelect", "CounterSelect2"})
_BAD_VALUE = Text(en="a port counter is no number", zh="端口计数器不是数字")


def _read(lines: Lines) -> Iterator[Record | Problem]:
    scope, device = "", None
    for index, line in lines:
        said = quote(lines, index, line)
        if command := _COMMAND.search(line):
            device = command["device"]
            scope = f"{device}/{command['port'] or 1}"
        elif header := _HEADER.search(line):
            lid = _LID.search(header["end"])
            end = f"lid{lid['lid']}" if lid else ""
            scope = f"{device or end}/{header['port']}"
        elif dotted := _DOTTED.search(line):
            name, number = dotted["name"], dotted["number"]
            if name in _NO_COUNTERS:
                continue
            if number.isdecimal():
                yield _counter(lines, "perfquery", said, scope, name, int(number))
            elif not number.startswith("0x"):
                yield Problem(source=source(lines, "perfquery"), why=_BAD_VALUE, line_index=index)
        elif guid := _GUID.search(line):
            for found in _BRACKETED.finditer(line):
                port = f"{guid['guid']}/{guid['port']}"
                yield _counter(lines, "ibqueryerrors", said, port, found["name"], int(found["number"]))
        elif not _WHOLE_LINE.search(line):  # `rdma statistic` has its own reader
            named = _DEVICE.search(line)
            if delta := _DATA_DELTA.search(line):
                yield _difference(lines, said, named["device"] if named else "?", delta)
            for loose in _LOOSE.finditer(line):
                yield _counter(lines, "port counters", said, named["device"] if named else "?", loose["name"], int(loose["number"]))


def _counter(lines: Lines, tool: str, said: Quote, scope: str, name: str, count: int) -> Counter:
    return Counter(
        source=source(lines, tool), quotes=(said,), scope=scope, name=name, value_count=count, canonical=canonical_name(name)
    )


def _difference(lines: Lines, said: Quote, scope: str, delta: re.Match[str]) -> Counter:
    return Counter(
        source=source(lines, "port counters"),
        quotes=(said,),
        scope=scope,
        name=delta["name"],
        value_count=int(delta["number"].replace(",", "")),
        is_delta=True,
        over_s=float(delta["over_s"]),
    )


READER = Reader(
    title=Text(en="InfiniBand port counters", zh="InfiniBand 端口计数器"),
    gives=(Counter,),
    recognises=marked(_RECOGNISED),
    read=_read,
    obtained_by=("perfquery -x", "ibqueryerrors -c"),
)
