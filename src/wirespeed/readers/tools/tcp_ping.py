"""Probes that ping with more than an echo: hping3, nping, the tcpings and tcpping, paping, and httping.

A TCP probe times the handshake's first exchange, which is a round trip of the path. httping times a whole request with its connection:
that is an `HttpTiming`. A refused probe was answered: it says nothing about loss.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from wirespeed.model.kinds import Reader
from wirespeed.model.lines import Lines, quote, source
from wirespeed.model.measurement import HttpTiming, PingRun, PortProbe
from wirespeed.model.record import Record
from wirespeed.model.source import Problem, Quote
from wirespeed.model.text import Text
from wirespeed.readers.parsing.marks import marked

MOST_QUOTES = 6

_MS = r"(?P<ms>\d{1,9}(?:[.,]\d{1,9})?) ?ms"
_HOST = r"(?P<host>\[?[\w.:-]{1,253}?\]?)"
_REPLIES = (
    re.compile(rf"\blen=\d{{1,6}} ip={_HOST} ttl=(?P<ttl>\d{{1,3}}) (?P<rest>.{{0,200}}?)\brtt={_MS}"),
    re.compile(rf"\bProbing {_HOST}:(?P<port>\d{{1,5}})/tcp - (?:HTTP is|Port is) open - time={_MS}"),
    re.compile(rf"\bReply from {_HOST} (?:\([^)]{{1,60}}\) )?on port (?P<port>\d{{1,5}}) .{{0,40}}?TCP_conn=\d{{1,9}} time={_MS}"),
    re.compile(rf"\bseq \d{{1,9}}: tcp response from {_HOST} (?:\([^)]{{1,60}}\) )?\[(?P<state>open|closed)\] +{_MS}"),
    re.compile(rf"\bConnected to {_HOST}: time={_MS} protocol=TCP port=(?P<port>\d{{1,5}})"),
)
_HPING_PORT, _HPING_FLAGS = re.compile(r"\bsport=(\d{1,5})"), re.compile(r"\bflags=([A-Z]{1,8})")
_HTTPING = re.compile(
    rf"\bconnected to {_HOST}:(?P<port>\d{{1,5}}) \(\d{{1,9}} bytes\), seq=\d{{1,9}} time= ?{_MS}(?: (?P<status>\d{{3}}))?"
)
_SILENT = re.compile(
    rf"\bProbing {_HOST}:(?P<port>\d{{1,5}})/tcp - No response|\bNo reply from (?P<host2>[\w.:-]{{1,253}}) .{{0,80}}?on port (?P<port2>\d{{1,5}}) "
    r"|\bseq \d{1,9}: no response \(timeout\)|^\s*Connection timed out\s*$"
)
_START = re.compile(
    r"\bHPING (?P<hping>[\w.:-]{1,253}) \([^)]{1,80}\): (?P<mode>.{1,40}? set|\w+ mode set|NO FLAGS are set)"
    r"|\bStarting TCP Handshake > (?P<nping>[\w.:-]{1,253}?):(?P<nping_port>\d{1,5})\b|\bStatistics for host (?P<each>[\w.:-]{1,253}?)(?: \([^)]{1,60}\))?:$"
    r"|--- (?P<named>[\w.:-]{1,253}?)(?::(?P<named_port>\d{1,5}))?(?: \([^)]{1,60}\))? (?:hping statistic|[Tt][Cc][Pp]ing statistics) ---"
    r"|\bPing statistics for (?P<windows>[\w.:-]{1,253}?):(?P<windows_port>\d{1,5})\s*$"
)
_COUNTS = re.compile(
    r"\b(?P<a>\d{1,9}) packets (?:transmitted|tramitted), (?P<a2>\d{1,9}) packets received|\b(?P<b>\d{1,9}) (?:\w+ )?probes transmitted on port \d{1,5} \| (?P<b2>\d{1,9}) received"
    r"|TCP connection attempts: (?P<c>\d{1,9}) \| Successful connections: (?P<c2>\d{1,9})|(?:Raw packets|Probes) [Ss]ent: (?P<d>\d{1,9}).{0,24}\| Rcvd: (?P<d2>\d{1,9})"
    r"|\b(?P<e>\d{1,9}) probes sent, (?P<e2>\d{1,9}) successful"
)
_WINDOWS_SENT, _WINDOWS_OKAY = (
    re.compile(r"^\s*(\d{1,9}) probes sent\.\s*$"),
    re.compile(r"^\s*(\d{1,9}) successful, \d{1,9} failed\."),
)
_N = r"\d{1,9}(?:\.\d{1,9})?"
_TIMES = re.compile(
    rf"(?:[Rr]ound-trip|rtt) min/avg/max(?: =|:) (?P<a_low>{_N})(?:ms)?/(?P<a_mean>{_N})(?:ms)?/(?P<a_high>{_N}) ?ms"
    rf"|Max rtt: (?P<b_high>{_N})ms \| Min rtt: (?P<b_low>{_N})ms \| Avg rtt: (?P<b_mean>{_N})ms"
    rf"|Minimum = (?P<c_low>{_N})ms, Maximum = (?P<c_high>{_N})ms, Average = (?P<c_mean>{_N})ms"
)
_HTTP_COUNTS = re.compile(r"\b(?P<sent>\d{1,9}) connects, (?P<okay>\d{1,9}) ok, [\d.]{1,9}% failed")
_HTTP_STATISTICS = re.compile(r"--- (?P<url>\S{1,400}) ping statistics ---")
_RECOGNISED = re.compile(
    r"\bHPING \S+ \([^)]+\): |hping statistic ---|flags=[A-Z]+ seq=\d+ win=\d+ rtt=|/tcp - (?:Port is open|No response) - time=|TCP_conn=\d+ time="
    r"|\bTCPing statistics ---|\btcping statistics ---|: tcp response from \S+|: time=[\d.]+ms protocol=TCP port=|Max rtt: [\d.]+ms \| Min rtt: "
    r"|TCP connection attempts: \d+ \| |\bconnected to \S+:\d+ \(\d+ bytes\), seq=\d+ time=|\d connects, \d+ ok, "
)
_HINTS = (
    "rtt",
    "time=",
    "HPING",
    "probes",
    "packets",
    "tatistic",
    "esponse",
    "Rcvd",
    "connects",
    "round-trip",
    "Round-trip",
    "ttempts",
    "Handshake",
    "Minimum",
    "uccessful",
    "reply",
    "timed out",
)


@dataclass(slots=True)
class _Run:
    """Probes of one target so far."""

    target: str = ""
    port: int | None = None
    protocol: Literal["icmp", "tcp", "udp"] = "tcp"
    times_ms: list[float] = field(default_factory=list)
    silent_count: int = 0
    is_refused: bool = False
    sent_count: int | None = None
    received_count: int | None = None
    summary: re.Match[str] | None = None
    is_web: bool = False
    status_code: int | None = None
    ttl: int | None = None
    quotes: list[Quote] = field(default_factory=list)

    def says_something(self) -> bool:
        """Whether anything was measured."""
        return bool(self.times_ms or self.silent_count or self.summary or self.sent_count is not None)

    def is_over(self) -> bool:
        """Whether its summary was read, so that a new probe is of the next run."""
        return self.summary is not None or (self.sent_count is not None and self.received_count == 0)


def _read(lines: Lines) -> Iterator[Record | Problem]:
    run = _Run()
    for index, line in lines:
        if not any(hint in line for hint in _HINTS):
            continue
        begun = _begun(line, run)
        if begun is not None:
            yield from _records(lines, run)
            run = begun
        if _take(run, line) and len(run.quotes) < MOST_QUOTES:
            run.quotes.append(quote(lines, index, line))
    yield from _records(lines, run)


def _begun(line: str, run: _Run) -> _Run | None:
    """A new run, where this line is of another target or follows a summary."""
    target, port = _named(line)
    start = _START.search(line)
    is_other = bool(target) and run.says_something() and run.target not in ("", target)
    is_next = run.is_over() and (bool(target) or (start is not None and bool(start["hping"] or start["nping"] or start["each"])))
    if not is_other and not is_next:
        return None
    return _Run(target=target, port=port, protocol=run.protocol, is_web=_HTTPING.search(line) is not None)


def _named(line: str) -> tuple[str, int | None]:
    """Target and port that a probe's line names."""
    found = next((one for shape in (*_REPLIES, _HTTPING) if (one := shape.search(line))), None)
    if found:
        return found["host"], _port(found)
    silent = _SILENT.search(line)
    if silent and (silent["host"] or silent["host2"]):
        return silent["host"] or silent["host2"], int(silent["port"] or silent["port2"])
    return "", None


def _port(reply: re.Match[str]) -> int | None:
    parts = reply.groupdict()
    of_hping = _HPING_PORT.search(parts.get("rest") or "")
    port = parts.get("port") or (of_hping[1] if of_hping else None)
    return int(port) if port else None


def _take(run: _Run, line: str) -> bool:
    """Take what the line says into the run; false when it says nothing about a probe."""
    target, port = _named(line)
    run.target, run.port = run.target or target, run.port if run.port is not None else port
    reply = next((one for shape in (*_REPLIES, _HTTPING) if (one := shape.search(line))), None)
    if reply:
        return _take_reply(run, reply)
    if found := _START.search(line):
        return _take_start(run, found)
    if _SILENT.search(line) and run.target:
        run.silent_count += 1
    elif web := _HTTP_COUNTS.search(line):
        run.is_web, run.sent_count, run.received_count = True, int(web["sent"]), int(web["okay"])
    elif url := _HTTP_STATISTICS.search(line):
        run.target = url["url"] if run.is_web else run.target
        return run.is_web
    elif counts := _COUNTS.search(line):
        given = [int(text) for text in counts.groups() if text is not None]
        run.sent_count, run.received_count = given[0], given[1]
    elif sent := _WINDOWS_SENT.match(line):
        run.sent_count = int(sent[1])
    elif okay := _WINDOWS_OKAY.match(line):
        run.received_count = int(okay[1])
    elif times := _TIMES.search(line):
        run.summary = times
    else:
        return False
    return True


def _take_start(run: _Run, found: re.Match[str]) -> bool:
    names = ("hping", "nping", "each", "named", "windows")
    run.target = next(found[name] for name in names if found[name])
    port = found["nping_port"] or found["named_port"] or found["windows_port"]
    run.port = int(port) if port else run.port
    mode = (found["mode"] or "").split()[:1]
    if mode in (["icmp"], ["udp"]):
        run.protocol = "icmp" if mode == ["icmp"] else "udp"
    return not run.quotes


def _take_reply(run: _Run, reply: re.Match[str]) -> bool:
    parts = reply.groupdict()
    run.times_ms.append(float(reply["ms"].replace(",", ".")))
    flags = _HPING_FLAGS.search(parts.get("rest") or "")
    run.is_refused = run.is_refused or parts.get("state") == "closed" or (flags is not None and "R" in flags[1])
    run.ttl = int(parts["ttl"]) if parts.get("ttl") else run.ttl
    if reply.re is _HTTPING:
        run.is_web = True
        run.status_code = int(reply["status"]) if reply["status"] else run.status_code
    return len(run.times_ms) <= 2


def _records(lines: Lines, run: _Run) -> Iterator[Record]:
    if not run.says_something() or not run.quotes:
        return
    low, mean, high = _statistics(run)
    if run.is_web:
        yield HttpTiming(
            source=source(lines, "httping"),
            quotes=tuple(run.quotes),
            label="httping",
            url=run.target or None,
            total_s=mean,
            status_code=run.status_code,
        )
        return
    sent = run.sent_count if run.sent_count is not None else len(run.times_ms) + run.silent_count
    received = run.received_count if run.received_count is not None else len(run.times_ms)
    yield PingRun(
        source=source(lines, "tcp-ping"),
        quotes=tuple(run.quotes),
        target=run.target,
        protocol=run.protocol,
        port=run.port,
        sent_count=sent or None,
        received_count=received if sent else None,
        loss_ratio=None if not sent or run.is_refused else max(0.0, 1.0 - received / sent),
        rtt_min_s=low,
        rtt_mean_s=mean,
        rtt_max_s=high,
        ttl_hops=run.ttl,
        error="refused" if run.is_refused else None,
    )
    if run.protocol == "tcp" and sent:
        yield PortProbe(
            source=source(lines, "tcp-ping"),
            quotes=tuple(run.quotes),
            target=run.target,
            port=run.port,
            outcome="refused" if run.is_refused else "connected" if received else "timed-out",
            time_s=mean,
        )


def _statistics(run: _Run) -> tuple[float | None, float | None, float | None]:
    """Shortest, mean and longest time in seconds. hping prints 0.0 for answers that it cannot match: they are no times."""
    if run.summary is not None:
        found = {name[2:]: float(text) for name, text in run.summary.groupdict().items() if text is not None}
        if found["high"] > 0:
            return found["low"] / 1e3, found["mean"] / 1e3, found["high"] / 1e3
    times = [one for one in run.times_ms if one > 0]
    return (min(times) / 1e3, sum(times) / len(times) / 1e3, max(times) / 1e3) if times else (None, None, None)


READER = Reader(
    title=Text(
        en="TCP and HTTP pings (hping3, nping, tcping, tcpping, paping, httping)",
        zh="TCP 与 HTTP ping（hping3、nping、tcping、tcpping、paping、httping）",
    ),
    gives=(PingRun, PortProbe, HttpTiming),
    recognises=marked(_RECOGNISED),
    read=_read,
    obtained_by=("nping --tcp-connect -p PORT -c 10 PEER", "hping3 -S -p PORT -c 10 PEER"),
)
