"""ping of iputils, busybox and macOS: whole runs, single replies, summaries alone, and path MTU messages."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from wirespeed.model.kinds import Reader
from wirespeed.model.lines import Lines, quote, source
from wirespeed.model.measurement import PingRun
from wirespeed.model.record import Record
from wirespeed.model.source import Problem, Quote
from wirespeed.model.text import Text
from wirespeed.readers.parsing.marks import marked
from wirespeed.readers.parsing.regex import regex

MOST_QUOTES = 8
"""Lines quoted for one run."""
MOST_REPLY_QUOTES = 2
ICMP_HEADER_BYTES = 8

_COMMAND = regex(r"(?:^|[\s$#>])ping6?\s+(?P<words>\S.*)")
_TAKES_VALUE = frozenset("cisMIWwtQSmplBFhGg")
_LOOKS_LIKE_HOST = regex(r"^[A-Za-z0-9_][\w.:%-]*[\w]$")
_START = regex(r"\bPING (?P<target>[^\s(]+).{0,160}?\s(?P<payload>\d{1,15})(?:\(\d{1,15}\))? (?:data bytes|bytes of data)")
_REPLY = regex(r"\b(?P<size>\d{1,15}) bytes from (?P<target>\S+?)(?: \([^)\s]+\))?:? (?:icmp_)?seq=\d{1,15}(?P<rest>.*)")
_REPLY_TTL = regex(r"\b(?:ttl|hlim)=(?P<ttl>\d{1,15})")
_REPLY_TIME = regex(r"\btime[=<](?P<ms>\d{1,15}(?:\.\d+)?) ?ms")
_STATISTICS = regex(r"--- (?P<target>\S+) ping6? statistics ---")
_COUNTS = regex(r"\b(?P<sent>\d{1,15}) packets transmitted, (?P<received>\d{1,15}) (?:packets )?received(?P<rest>.*)")
_DUPLICATES = regex(r"\+(?P<count>\d{1,15}) duplicates")
_LOSS = regex(r"(?<![\d.])(?P<percent>\d{1,15}(?:\.\d+)?)% (?:packet )?loss")
_TIMES = regex(
    r"(?:rtt|round-trip) min/avg/max(?:/(?:mdev|stddev))? = "
    r"(?P<low>\d{1,15}(?:\.\d+)?)/(?P<mean>\d{1,15}(?:\.\d+)?)/(?P<high>\d{1,15}(?:\.\d+)?)(?:/(?P<spread>\d{1,15}(?:\.\d+)?|nan))? ms"
)
_TOO_LONG = regex(
    r"(?i)message too long(?:, mtu[=: ]+(?P<local>\d{1,15}))?|frag(?:mentation)? needed and DF set(?: ?\(mtu ?=? ?(?P<hop>\d{1,15})\))?"
    r"|packet too big: mtu=(?P<hop6>\d{1,15})"
)
_REFUSED = regex(
    r"(?i)destination (?:host|net|port) \w+|packet filtered|time to live exceeded|network is unreachable|no route to host"
    r"|operation not permitted|name or service not known|unknown host|temporary failure in name resolution|no buffer space available"
    r"|request timeout for icmp_seq|no answer yet for icmp_seq"
)
_MARKED = regex(
    r"(?i)\bping6?: |\bfrom \S+ icmp_seq=\d{1,15} \D|\bfrag(?:mentation)? needed and DF set|\bmessage too long,? mtu"
    r"|\brequest timeout for icmp_seq|\bno answer yet for icmp_seq|^connect: network is unreachable"
)
_DONT_FRAGMENT = regex(r"(?:^|\s)(?:-M\s*do|-D)\b")
_PAYLOAD_FLAG = regex(r"(?:^|\s)-[A-Za-z]*s\s*(?P<bytes>\d{1,6})\b")
_OF_OTHERS = regex(r"(?i)hping statistic|tcping statistics|\d connects, \d{1,9} ok,")
"""Summaries of programs that print counts and times as ping does."""
_SUMMARY = regex(r"\b\d{1,15} packets transmitted, \d{1,15} (?:packets )?received")


_HINTS = (
    "ping", "PING", "Ping", "connects", "bytes from", "packets transmitted", "min/avg/max", "icmp", "DF set", "too long", "oo big", "etwork is unreachable",
)  # fmt: skip
"""One of these is on every line of ping; the other lines of a long log are passed over quickly."""


@dataclass(slots=True)
class _Run:
    """One ping that is being read."""

    target: str = ""
    is_announced: bool = False
    """A command, a PING line or a summary heading named the target; what follows belongs to it."""
    payload_bytes: int | None = None
    dont_fragment: bool = False
    quotes: list[Quote] = field(default_factory=list)
    reply_count: int = 0
    sum_ms: float = 0.0
    low_ms: float | None = None
    high_ms: float | None = None
    ttl: int | None = None
    error: str | None = None
    reported_mtu_bytes: int | None = None
    loss_ratio: float | None = None
    counts: re.Match[str] | None = None
    times: re.Match[str] | None = None

    def says_something(self) -> bool:
        """Whether anything was measured."""
        return self.counts is not None or self.reply_count > 0 or self.error is not None or self.loss_ratio is not None


def _read(lines: Lines) -> Iterator[Record | Problem]:
    run = _Run()
    is_of_others = False
    for index, line in lines:
        if not any(hint in line for hint in _HINTS):
            continue
        if _OF_OTHERS.search(line):
            is_of_others, run = True, run if run.says_something() else _Run()
            continue
        if is_of_others and (_COUNTS.search(line) or _TIMES.search(line)):
            continue
        is_of_others = False
        begun = _begun(line, run)
        if begun is not None:
            if run.says_something():
                yield _record(lines, run)
            run = begun
        if _take(run, line):
            _keep(run, quote(lines, index, line))
        elif _SUMMARY.search(line) is None and "packets transmitted" in line and run.is_announced:
            yield _damaged(lines, index)
    if run.says_something():
        yield _record(lines, run)


def _begun(line: str, run: _Run) -> _Run | None:
    """A new run, where this line begins one."""
    start = _START.search(line)
    if start:
        fresh = _Run(target=start["target"], is_announced=True, payload_bytes=int(start["payload"]))
        if not run.says_something():
            fresh.dont_fragment, fresh.quotes = run.dont_fragment, run.quotes
        return fresh
    statistics = _STATISTICS.search(line)
    if statistics and (run.counts is not None or (run.is_announced and run.target != statistics["target"])):
        return _Run(target=statistics["target"], is_announced=True)
    reply = _REPLY.search(line)
    if reply and (run.counts is not None or (not run.is_announced and run.target not in ("", reply["target"]))):
        return _Run(target=reply["target"])
    if _COUNTS.search(line) and run.counts is not None:
        return _Run()
    return _commanded(line)


def _commanded(line: str) -> _Run | None:
    command = _COMMAND.search(line)
    target = _target(command["words"]) if command else None
    if command is None or target is None:
        return None
    payload = _PAYLOAD_FLAG.search(command["words"])
    return _Run(
        target=target,
        is_announced=True,
        payload_bytes=int(payload["bytes"]) if payload else None,
        dont_fragment=_DONT_FRAGMENT.search(command["words"]) is not None,
    )


def _target(words: str) -> str | None:
    """The host of a ping command: the first word that is neither an option nor the value of one; None where it is prose."""
    is_value = False
    for word in words.split():
        if is_value:
            is_value = False
        elif word.startswith("-"):
            is_value = len(word) > 1 and word[-1] in _TAKES_VALUE
        else:
            host = word.rstrip(":;")
            is_host = _LOOKS_LIKE_HOST.match(host) is not None and (
                re.search(r"[\d.:-]", host) is not None or "-" in words.split()[0]
            )
            return host if is_host else None
    return None


def _take(run: _Run, line: str) -> bool:
    """Take what the line says into the run; false when it says nothing about a ping."""
    command = _COMMAND.search(line) if run.is_announced else None
    reply, counts, times = _REPLY.search(line), _COUNTS.search(line), _TIMES.search(line)
    statistics = _STATISTICS.search(line)
    if reply:
        return _take_reply(run, reply)
    if counts:
        run.counts = counts
    elif times:
        run.times = times
    elif statistics:
        run.target, run.is_announced = statistics["target"], True
    elif _MARKED.search(line):
        _take_error(run, line)
    elif command and _target(command["words"]) == run.target:
        loss = _LOSS.search(line)
        run.loss_ratio = float(loss["percent"]) / 100.0 if loss else None
        if _TOO_LONG.search(line):
            _take_error(run, line)
    else:
        return _START.search(line) is not None
    return True


def _take_reply(run: _Run, reply: re.Match[str]) -> bool:
    time = _REPLY_TIME.search(reply["rest"])
    ttl = _REPLY_TTL.search(reply["rest"])
    run.target = run.target or reply["target"]
    if run.payload_bytes is None:
        run.payload_bytes = int(reply["size"]) - ICMP_HEADER_BYTES
    if time is None:
        return False
    milliseconds = float(time["ms"])
    run.reply_count += 1
    run.sum_ms += milliseconds
    run.low_ms = milliseconds if run.low_ms is None else min(run.low_ms, milliseconds)
    run.high_ms = milliseconds if run.high_ms is None else max(run.high_ms, milliseconds)
    run.ttl = int(ttl["ttl"]) if ttl else run.ttl
    return run.reply_count <= MOST_REPLY_QUOTES


def _take_error(run: _Run, line: str) -> None:
    too_long = _TOO_LONG.search(line)
    found = too_long or _REFUSED.search(line)
    if found is None:
        return
    if run.error is None:
        run.error = found[0].lower()
    if too_long:
        mtu = too_long["local"] or too_long["hop"] or too_long["hop6"]
        run.reported_mtu_bytes = int(mtu) if mtu else run.reported_mtu_bytes


def _keep(run: _Run, line: Quote) -> None:
    if len(run.quotes) < MOST_QUOTES:
        run.quotes.append(line)


def _record(lines: Lines, run: _Run) -> PingRun:
    counts, times = run.counts, run.times
    loss = _LOSS.search(counts["rest"]) if counts else None
    duplicates = _DUPLICATES.search(counts["rest"]) if counts else None
    mean_ms = run.sum_ms / run.reply_count if run.reply_count else None
    return PingRun(
        source=source(lines, "ping"),
        quotes=tuple(run.quotes),
        target=run.target,
        payload_bytes=run.payload_bytes,
        dont_fragment=run.dont_fragment or _says_dont_fragment(run.error),
        sent_count=int(counts["sent"]) if counts else None,
        received_count=int(counts["received"]) if counts else None,
        loss_ratio=float(loss["percent"]) / 100.0 if loss else run.loss_ratio,
        rtt_min_s=_seconds(times["low"] if times else run.low_ms),
        rtt_mean_s=_seconds(times["mean"] if times else mean_ms),
        rtt_max_s=_seconds(times["high"] if times else run.high_ms),
        rtt_deviation_s=_seconds(times["spread"]) if times and times["spread"] != "nan" else None,
        duplicates_count=int(duplicates["count"]) if duplicates else None,
        ttl_hops=run.ttl,
        error=run.error,
        reported_mtu_bytes=run.reported_mtu_bytes,
    )


def _says_dont_fragment(error: str | None) -> bool:
    """The kernel refuses a long message, and a router asks for fragments, only when fragmenting is forbidden."""
    return error is not None and ("mtu" in error or "df set" in error)


def _seconds(milliseconds: str | float | None) -> float | None:
    return None if milliseconds is None else round(float(milliseconds) / 1e3, 9)


def _damaged(lines: Lines, index: int) -> Problem:
    return Problem(
        source=source(lines, "ping"),
        why=Text(en="this ping summary is cut or damaged", zh="该 ping 汇总行不完整或已损坏"),
        line_index=index,
    )


_SHAPES = (_REPLY, _SUMMARY, _STATISTICS, _MARKED, _TIMES)


def _recognises(sample: str) -> bool:
    return any(shape.search(sample) for shape in _SHAPES) or any(
        _commanded(line) is not None
        for line in sample.split("\n")
        if "ping" in line and (_LOSS.search(line) or _TOO_LONG.search(line))
    )


READER = Reader(
    title=Text(en="ping", zh="ping"),
    gives=(PingRun,),
    recognises=marked(*_SHAPES, "ping", confirmed=_recognises),
    read=_read,
    obtained_by=("ping -c 10 PEER", "ping -M do -s 8972 -c 3 PEER"),
)
