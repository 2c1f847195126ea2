"""TCP connection attempts and how they ended: nc, telnet, curl, wget, nmap, `/dev/tcp`, and the connect errors of libraries."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

from wirespeed.model.kinds import Reader
from wirespeed.model.lines import Lines, quote, source
from wirespeed.model.measurement import PortProbe
from wirespeed.model.record import Record
from wirespeed.model.source import Problem, Quote
from wirespeed.model.text import Text
from wirespeed.readers.parsing.marks import marked
from wirespeed.readers.parsing.regex import regex

Outcome: TypeAlias = Literal["connected", "refused", "timed-out", "no-route", "unreachable", "reset", "aborted", "prohibited"]

REFUSED_WITHIN_S = 1.0
"""curl names no reason since 7.84; a refusal comes back at once, an unanswered address resolution takes about 3 s."""

_OUTCOMES: tuple[tuple[re.Pattern[str], Outcome], ...] = (
    (regex(r"(?i)connection refused|\bECONNREFUSED\b|actively refused"), "refused"),
    (regex(r"(?i)no route to host|\bEHOSTUNREACH\b|host is unreachable"), "no-route"),
    (regex(r"(?i)network is unreachable|\bENETUNREACH\b"), "unreachable"),
    (
        regex(
            r"(?i)connect(?:ion)? timed out|connect timeout|\bETIMEDOUT\b|dial tcp \S+ i/o timeout|\bConnectTimeout(?:Error)?(?![\s=]*\d)"
        ),
        "timed-out",
    ),
    (regex(r"(?i)connection reset|\bECONNRESET\b"), "reset"),
    (regex(r"(?i)operation not permitted|permission denied|administratively prohibited"), "prohibited"),
)
_LOOSE_TIMEOUT = regex(r"(?i)\btime(?:d )?-?out\b|operation now in progress|operation timed out")
_SAYS_CONNECTED = regex(r"(?i)\bsucceeded\b|\bopen$|^connected to ")
_NOT_CONNECTING = regex(r"(?i)while (?:reading|sending|waiting)|read timed out|readtimeout|\brecv\(\) failed|NCCL (?:WARN|INFO)")

_HOST = r"(?P<host>\[[0-9a-fA-F:.%\w]+\]|[\w.-]{1,253})"
_PORT = r"(?P<port>\d{1,5})"
_NC_COMMAND = regex(rf"(?:^|[\s$#/])(?:nc|ncat|netcat|telnet)\s+(?:-\w+\s+(?:\d{{1,15}}\s+)?)*{_HOST}\s+{_PORT}\b(?P<rest>.*)")
_URL_COMMAND = regex(rf"(?:^|[\s$#])(?:curl|wget)\s.{{0,2000}}?(?P<scheme>https?)://(?:[^\s@/]+@)?{_HOST}(?::{_PORT})?")
_CURL_BARE_COMMAND = regex(rf"(?:^|[\s$#])curl\s+(?:-\S+\s+)*{_HOST}:{_PORT}(?:[/\s]|$)")
_DEV_TCP = regex(rf"/dev/tcp/{_HOST}/{_PORT}\b(?P<rest>.*)")
_PROMPT = regex(r"^\S*[$#] \S|^\S+ [$#] \S")

_NC_RESULT = regex(rf"(?:Connection to {_HOST}(?: \([^)]*\))? {_PORT} port .{{0,60}}(?P<open>succeeded))")
_NC_FAILED = regex(rf"\bconnect to {_HOST}(?: \([^)]*\))? port {_PORT}(?: \((?:tcp|udp)\))? (?:failed|timed out)(?P<why>.*)")
_NC_TRADITIONAL = regex(
    rf"^\s*{_HOST}? ?\[(?P<address>[\d.]+)\] {_PORT} \([^)]*\)(?: :)? ?(?P<why>open|.*(?:refused|timed out|unreachable|No route).*)$"
)
_NCAT_OPEN = regex(rf"^\s*Ncat: Connected to {_HOST}:{_PORT}\.")
_BARE = regex(
    r"^\s*(?:Ncat|nc|netcat|ncat|telnet): (?P<why>\S.*)$|^\s*(?P<alone>Connection (?:refused|timed out|reset by peer)|No route to host)\.?\s*$"
)
_TELNET_OPEN = regex(rf"^\s*Connected to {_HOST}\.\s*$")
_SSH = regex(rf"\bconnect to host {_HOST} port {_PORT}: (?P<why>.*)$")
_WGET = regex(rf"Connecting to {_HOST}(?: \([^)]*\))?(?:\|[^|]*\|)?:{_PORT}\.\.\. (?P<why>connected\.|failed: .*)")

_CURL_CONNECT = regex(
    rf"curl: \((?:7|28)\) Failed(?: to)? connect to {_HOST}(?::| port ){_PORT}(?: \([^)]*\))?(?: after (?P<ms>\d{{1,15}}) ms)?[:;] (?P<why>.*)"
)
_CURL_VERBOSE = regex(
    rf"^\s*\*\s+(?:connect to (?P<failed>\S+) port (?P<failed_port>\d{{1,5}}).* failed: (?P<why>.*)|Connected to {_HOST} \([^)]*\) port {_PORT})"
)
_CURL_TIMEOUT = regex(r"curl: \(28\) Connect(?:ion)? timed? ?out(?: after (?P<ms>\d{1,15}) (?:milliseconds|ms))?")
_CURL_CLOSED = regex(r"curl: \((?P<code>52|55|56|35)\) (?P<why>.*)")

_TARGETS = (
    regex(rf"dial tcp {_HOST}:{_PORT}"),
    regex(rf"upstream: \"https?://{_HOST}:{_PORT}"),
    regex(rf"\b(?:ECONNREFUSED|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ECONNRESET) {_HOST}:{_PORT}"),
    regex(rf"host='{_HOST}', port={_PORT}"),
    regex(rf"Connect call failed \('{_HOST}', {_PORT}"),
    regex(rf"(?i)(?:could ?n.t|cannot|failed to|unable to) connect to (?:host |server |address )?(?:https?://)?{_HOST}:{_PORT}"),
    regex(rf"\burl[=:]\s?['\"]?(?P<scheme>https?)://{_HOST}(?::{_PORT})?"),
    regex(rf"(?i)connect\w* (?:to )?(?P<scheme>https?)://{_HOST}(?::{_PORT})?"),
)
_LIBRARY_CONNECTS = regex(
    r"\bconnect_tcp\.started host='(?P<host>[\w.:-]{1,253})' port=(?P<port>\d{1,5})"
    r"|\bStarting new HTTPS? connection \(\d{1,9}\): (?P<name>[\w.-]{1,253}):(?P<number>\d{1,5})"
)
"""What httpcore (of httpx and the clients built on it) and urllib3 (of requests) log for each connection that they make."""
_NMAP_TARGET = regex(r"Nmap scan report for (?P<host>\S+)")
_NMAP_PORT = regex(r"^\s*(?P<port>\d{1,5})/tcp\s+(?P<state>open|closed|filtered)\b")
_NMAP_OUTCOMES: dict[str, Outcome] = {"open": "connected", "closed": "refused", "filtered": "timed-out"}
_MARK = regex(
    r"(?i)connection refused|ECONNREFUSED|no route to host|EHOSTUNREACH|network is unreachable|connect(?:ion)? timed out|ETIMEDOUT"
    r"|i/o timeout|curl: \((?:7|28|35|52|55|56)\)|port .{0,60} succeeded|^[ \t]*Ncat: |Connecting to \S+:\d{1,15}\.\.\. |^Connected to \S+\.$"
    r"|^[ \t]*\d{1,5}/tcp\s+(?:open|closed|filtered)|\* +Connected to \S+ \(.{0,80}\) port \d|couldn.t connect to \S+:\d"
    r"|connect_tcp\.started host='|Starting new HTTPS? connection \(\d",
    re.MULTILINE,
)


_HINTS = (
    "refused", "no route", "unreachable", "timed out", "timeout", "reset", "permitted", "denied", "prohibited", "connect", "curl", "wget",
    "nc ", "ncat", "netcat", "telnet", "nmap", "/tcp", "econn", "etimedout", "enet", "ehost", "$ ", "# ", "] ",
)  # fmt: skip
"""One of these is on every line that bears on a connection; the other lines of a long log are passed over quickly."""


@dataclass(slots=True)
class _Asked:
    """Host and port that the last command named; a result that names none belongs to it."""

    target: str = ""
    port: int | None = None
    command: Quote | None = None


def _read(lines: Lines) -> Iterator[Record | Problem]:
    asked = _Asked()
    for index, line in lines:
        low = line.lower()
        if not any(hint in low for hint in _HINTS):
            continue
        row = quote(lines, index, line)
        made = _LIBRARY_CONNECTS.search(line)
        if made is not None:
            yield _made(lines, row, made)
            continue
        command = _command(line)
        if command is not None:
            asked = _Asked(target=command[0], port=command[1], command=row)
            outcome = _outcome(command[2]) or ("timed-out" if _LOOSE_TIMEOUT.search(command[2]) else None)
            if outcome is not None:
                yield _probe(lines, (row,), asked.target, asked.port, outcome)
            continue
        if _PROMPT.search(line):
            asked = _Asked()
        scanned = _NMAP_TARGET.search(line)
        if scanned:
            asked = _Asked(target=scanned["host"], command=row)
        elif not _NOT_CONNECTING.search(line):
            yield from _result(lines, row, asked)


def _made(lines: Lines, row: Quote, made: re.Match[str]) -> PortProbe:
    tool = "httpcore" if made["host"] else "urllib3"
    target, port = made["host"] or made["name"], made["port"] or made["number"]
    return PortProbe(source=source(lines, tool), quotes=(row,), target=target, port=int(port), outcome="connected")


def _command(line: str) -> tuple[str, int | None, str] | None:
    """Host, port and what stands behind the command, where the line is one that connects."""
    if line.lstrip().startswith(("curl:", "nc:", "Ncat:", "wget:")):
        return None
    opened = _NC_COMMAND.search(line)
    if opened and opened["host"] not in ("-l", "localhost:") and not re.search(r"\s-\w*l", line[: opened.start("host")]):
        return _plain(opened["host"]), int(opened["port"]), opened["rest"]
    device = _DEV_TCP.search(line)
    if device and not _outcome(device["rest"]):
        return _plain(device["host"]), int(device["port"]), ""
    url = _URL_COMMAND.search(line)
    if url:
        return _plain(url["host"]), _port(url), ""
    bare = _CURL_BARE_COMMAND.search(line)
    return (_plain(bare["host"]), int(bare["port"]), "") if bare else None


def _result(lines: Lines, row: Quote, asked: _Asked) -> Iterator[PortProbe]:
    """What the line says about an attempt; the first shape that fits decides."""
    for shape in (_from_curl, _from_nc, _from_others, _from_nmap, _from_libraries):
        probe = shape(lines, row, asked)
        if probe is not None:
            yield probe
            return


def _from_curl(lines: Lines, row: Quote, asked: _Asked) -> PortProbe | None:
    if connect := _CURL_CONNECT.search(row.text):
        time_s = int(connect["ms"]) / 1e3 if connect["ms"] else None
        ended = _outcome(connect["why"]) or _unexplained(connect["why"], time_s)
        return _probe(lines, (row,), connect["host"], int(connect["port"]), ended, time_s)
    if verbose := _CURL_VERBOSE.match(row.text):
        if verbose["host"]:
            return _probe(lines, (row,), verbose["host"], int(verbose["port"]), "connected")
        return _probe(lines, (row,), verbose["failed"], int(verbose["failed_port"]), _outcome(verbose["why"]) or "unreachable")
    if timeout := _CURL_TIMEOUT.search(row.text):
        return _asked_probe(lines, row, asked, "timed-out", int(timeout["ms"]) / 1e3 if timeout["ms"] else None)
    if closed := _CURL_CLOSED.search(row.text):
        if closed["code"] == "52":
            return _asked_probe(lines, row, asked, "aborted")
        outcome = _outcome(closed["why"])
        return _asked_probe(lines, row, asked, outcome) if outcome else None
    return None


def _unexplained(why: str, time_s: float | None) -> Outcome:
    if _LOOSE_TIMEOUT.search(why):
        return "timed-out"
    return "refused" if time_s is not None and time_s < REFUSED_WITHIN_S else "unreachable"


def _from_nc(lines: Lines, row: Quote, asked: _Asked) -> PortProbe | None:
    if opened := _NC_RESULT.search(row.text) or _NCAT_OPEN.match(row.text):
        return _probe(lines, (row,), opened["host"], int(opened["port"]), "connected")
    if failed := _NC_FAILED.search(row.text):
        outcome = _outcome(failed["why"]) or ("timed-out" if "timed out" in failed[0] else None)
        return _probe(lines, (row,), failed["host"], int(failed["port"]), outcome) if outcome else None
    if old := _NC_TRADITIONAL.match(row.text):
        outcome = "connected" if old["why"] == "open" else _outcome(old["why"])
        return _probe(lines, (row,), old["address"], int(old["port"]), outcome) if outcome else None
    bare = _BARE.match(row.text)
    if bare is None or (bare["alone"] and not asked.target):
        return None
    why = bare["why"] or bare["alone"]
    outcome = _outcome(why) or ("timed-out" if _LOOSE_TIMEOUT.search(why) else None)
    return _asked_probe(lines, row, asked, outcome) if outcome else None


def _from_others(lines: Lines, row: Quote, asked: _Asked) -> PortProbe | None:
    if device := _DEV_TCP.search(row.text):
        outcome = _outcome(device["rest"])
        return _probe(lines, (row,), device["host"], int(device["port"]), outcome) if outcome else None
    if _TELNET_OPEN.match(row.text) and asked.target:
        return _asked_probe(lines, row, asked, "connected")
    if ssh := _SSH.search(row.text):
        outcome = _outcome(ssh["why"])
        return _probe(lines, (row,), ssh["host"], int(ssh["port"]), outcome) if outcome else None
    if wget := _WGET.search(row.text):
        outcome = "connected" if wget["why"] == "connected." else _outcome(wget["why"])
        return _probe(lines, (row,), wget["host"], int(wget["port"]), outcome) if outcome else None
    return None


def _from_nmap(lines: Lines, row: Quote, asked: _Asked) -> PortProbe | None:
    found = _NMAP_PORT.match(row.text)
    if found is None or asked.command is None:
        return None
    return _probe(lines, (asked.command, row), asked.target, int(found["port"]), _NMAP_OUTCOMES[found["state"]])


def _from_libraries(lines: Lines, row: Quote, asked: _Asked) -> PortProbe | None:
    """A connect error that names where it went."""
    outcome = _outcome(row.text)
    target = next((found for shape in _TARGETS if (found := shape.search(row.text))), None)
    if target is None:
        return None
    if outcome is None and re.search(r"(?i)could ?n.t connect to", row.text):
        outcome = "unreachable"
    return _probe(lines, (row,), target["host"], _port(target), outcome) if outcome not in (None, "reset") else None


def _outcome(words: str) -> Outcome | None:
    found = next((outcome for shape, outcome in _OUTCOMES if shape.search(words)), None)
    return "connected" if found is None and _SAYS_CONNECTED.search(words.strip()) else found


def _port(found: re.Match[str]) -> int | None:
    """The port named, or the scheme's own."""
    groups = found.groupdict()
    if groups.get("port"):
        return int(groups["port"])
    return {"http": 80, "https": 443}.get(groups.get("scheme") or "")


def _plain(host: str) -> str:
    return host.strip("[]")


def _asked_probe(lines: Lines, row: Quote, asked: _Asked, outcome: Outcome, time_s: float | None = None) -> PortProbe:
    quotes = (asked.command, row) if asked.command is not None else (row,)
    return _probe(lines, quotes, asked.target, asked.port, outcome, time_s)


def _probe(
    lines: Lines, quotes: tuple[Quote, ...], host: str, port: int | None, outcome: Outcome | None, time_s: float | None = None
) -> PortProbe:
    assert outcome is not None
    return PortProbe(
        source=source(lines, "port-probe"), quotes=quotes, target=_plain(host), port=port, outcome=outcome, time_s=time_s
    )


READER = Reader(
    title=Text(en="TCP connection attempts", zh="TCP 连接尝试"),
    gives=(PortProbe,),
    recognises=marked(_MARK),
    read=_read,
    obtained_by=("nc -zvw3 PEER PORT",),
    voice="loose",
)
