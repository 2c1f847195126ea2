"""`ss` and `netstat`: TCP connections with TCP_INFO, listening sockets, and how many sockets are in which state."""

import re
from collections import Counter as Tally
from collections.abc import Iterator

from wirespeed.model.facts.sockets import Listener, SocketSummary, TcpSocket
from wirespeed.model.kinds import Reader
from wirespeed.model.lines import Lines, source
from wirespeed.model.record import Record
from wirespeed.model.source import Problem, Quote
from wirespeed.model.text import Text
from wirespeed.readers.parsing.excerpt import Seen, arguments_of, excerpt
from wirespeed.readers.parsing.marks import marked
from wirespeed.readers.parsing.tcp_info import info_fields, is_info

_STATE_NAMES = {
    "ESTABLISHED": "ESTAB",
    "TIME_WAIT": "TIME-WAIT",
    "CLOSE_WAIT": "CLOSE-WAIT",
    "FIN_WAIT1": "FIN-WAIT-1",
    "FIN_WAIT2": "FIN-WAIT-2",
    "LAST_ACK": "LAST-ACK",
    "SYN_SENT": "SYN-SENT",
    "SYN_RECV": "SYN-RECV",
    "CLOSE": "UNCONN",
}
_STATES = "|".join(
    (
        "ESTAB(?:LISHED)?",
        "(?:TIME|CLOSE)[-_]WAIT",
        "FIN[-_]WAIT[-_]?[12]",
        "LAST[-_]ACK",
        "SYN[-_](?:SENT|RECV)",
        "CLOSING",
        "LISTEN",
        "UNCONN",
        "CLOSE",
    )
)
_END = r"(?P<{0}>\[[0-9A-Fa-f:.]+\](?:%[\w.-]+)?|[0-9A-Fa-f:.]*[0-9A-Fa-f:.](?:%[\w.-]+)?|\*):(?P<{0}_port>[\w-]+|\*)"
_SS = re.compile(
    rf"^\s*(?:tcp +)?(?P<state>{_STATES}) +(?P<received>\d+) +(?P<sent>\d+) +{_END.format('local')}"
    rf" +{_END.format('peer')}(?P<rest>.*)$"
)
_LISTEN_CUT = re.compile(rf"^\s*(?:tcp +)?(?P<state>LISTEN) +(?P<received>\d+) +(?P<sent>\d+) +{_END.format('local')}(?P<rest>) *$")
"""A listener without the column of peers, as people shorten it."""
_SS_FILTERED = re.compile(
    rf"^\s*(?:tcp +)?(?P<received>\d+) +(?P<sent>\d+) +{_END.format('local')} +{_END.format('peer')}(?P<rest>.*)$"
)
_NETSTAT = re.compile(
    rf"^\s*tcp6? +(?P<received>\d+) +(?P<sent>\d+) +{_END.format('local')} +{_END.format('peer')} +"
    rf"(?P<state>{_STATES})(?P<rest>.*)$"
)
_TALLY = re.compile(rf"^\s*(?P<count>\d+) +(?P<state>{_STATES})(?: +(?P<remote>\S+:\d+))?\s*$")
_TALLY_REVERSED = re.compile(rf"^\s*(?P<state>{_STATES})[ :=]+(?P<count>\d+)\s*$")
_SUMMARY = re.compile(r"^\s*TCP: +\d+ \((?P<states>[^)]+)\)")
_SOCKSTAT = re.compile(r"^\s*TCP: inuse (?P<used>\d+) orphan (?P<orphans>\d+) tw (?P<waiting>\d+)")
_SUMMARY_NAMES = {"estab": "ESTAB", "timewait": "TIME-WAIT", "synrecv": "SYN-RECV", "closed": "CLOSED", "orphaned": "ORPHANED"}
_PROCESS = re.compile(r'users:\(\("(?P<ss>[^"]*)"|\b\d+/(?P<netstat>\S+)')
_SHAPES = (_SS, _LISTEN_CUT, _NETSTAT, _TALLY, _TALLY_REVERSED, _SUMMARY, _SOCKSTAT)
_RECOGNISED = re.compile(
    rf"(?m)\b(?:{_STATES}) +\d+ +\d+ +\S+:\S+ +\S+:|^[ \t]*(?:[\w.-]+: *)?tcp6? +\d+ +\d+ +\S+:\S+ +\S+:\S+"
    rf" +[A-Z]|^[ \t]*\d+ +(?:{_STATES})\b"
    rf"|^[ \t]*(?:tcp +)?LISTEN +\d+ +\d+ +\S+:\d+[ \t]*$|\bcwnd:\d|^[ \t]*(?:{_STATES})[ :=]+\d+[ \t]*$|\bTCP: +\d+ \(estab|\bTCP: inuse \d|Recv-Q +Send-Q|\bss (?:-\w+ )*state \w"
)
_MOST_REMOTES = 4096
"""Remote ends counted apart; connections to further ones are counted with the first `_MOST_REMOTES` full, under no name."""


class _Waiting:
    """Connections in TIME-WAIT by remote end, with the first line of each."""

    def __init__(self) -> None:
        self.counts: Tally[str] = Tally()
        self.first: dict[str, tuple[Quote, str | None]] = {}

    def add(self, lines: Lines, seen: Seen, remote: str) -> None:
        """Count one connection."""
        if remote not in self.first:
            if len(self.first) >= _MOST_REMOTES:
                return
            self.first[remote] = (seen.quoted(lines), seen.host)
        self.counts[remote] += 1

    def summaries(self, lines: Lines) -> Iterator[SocketSummary]:
        """One record a remote end."""
        for remote, count in self.counts.items():
            place, host = self.first[remote]
            yield SocketSummary(
                source=source(lines, "ss", host), quotes=(place,), state="TIME-WAIT", socket_count=count, remote=remote
            )


def _read(lines: Lines) -> Iterator[Record | Problem]:
    waiting = _Waiting()
    at_hand: tuple[Seen, re.Match[str], str] | None = None
    for seen in excerpt(lines, _is_own):
        row, state = (None, "") if seen.is_prompt else _row(seen)
        is_second_line = row is None and not seen.is_prompt and is_info(seen.text)
        if at_hand:
            yield from _socket(lines, *at_hand, seen if is_second_line else None)
            at_hand = None
            if is_second_line:
                continue
        if seen.is_prompt:
            continue
        if row is None:
            yield from _other(lines, seen)
        elif state == "LISTEN":
            yield from _listener(lines, seen, row)
        elif state == "TIME-WAIT":
            waiting.add(lines, seen, f"{_bare(row['peer'])}:{row['peer_port']}")
        else:
            at_hand = (seen, row, state)
    if at_hand:
        yield from _socket(lines, *at_hand, None)
    yield from waiting.summaries(lines)


def _is_own(text: str) -> bool:
    return any(shape.match(text) for shape in _SHAPES) or is_info(text)


def _row(seen: Seen) -> tuple[re.Match[str] | None, str]:
    found = _SS.match(seen.text) or _LISTEN_CUT.match(seen.text) or _NETSTAT.match(seen.text)
    if found:
        return found, _STATE_NAMES.get(found["state"], found["state"])
    arguments = arguments_of(seen.command, "ss") or ()
    if "state" in arguments[:-1]:
        asked = arguments[arguments.index("state") + 1]
        state = "ESTAB" if asked == "established" else asked.upper()
        return _SS_FILTERED.match(seen.text), state
    return None, ""


def _socket(lines: Lines, seen: Seen, row: re.Match[str], state: str, info: Seen | None) -> Iterator[TcpSocket]:
    local_port, remote_port = _port(row["local_port"]), _port(row["peer_port"])
    if local_port is None or remote_port is None:
        return
    yield TcpSocket(
        source=source(lines, "ss" if row.re is not _NETSTAT else "netstat", seen.host),
        quotes=(seen.quoted(lines),) if info is None else (seen.quoted(lines), info.quoted(lines)),
        local_address=_bare(row["local"]),
        local_port=local_port,
        remote_address=_bare(row["peer"]),
        remote_port=remote_port,
        state=state,
        process=_process(row["rest"]),
        recv_queue_bytes=int(row["received"]),
        send_queue_bytes=int(row["sent"]),
        **info_fields(info.text if info else row["rest"]),  # type: ignore[arg-type]
    )


def _listener(lines: Lines, seen: Seen, row: re.Match[str]) -> Iterator[Listener]:
    port = _port(row["local_port"])
    if port is None:
        return
    is_ss = row.re is not _NETSTAT
    yield Listener(
        source=source(lines, "ss" if is_ss else "netstat", seen.host),
        quotes=(seen.quoted(lines),),
        address=_bare(row["local"]),
        port=port,
        queue_count=int(row["received"]),
        backlog_count=int(row["sent"]) if is_ss else None,
        process=_process(row["rest"]),
    )


def _other(lines: Lines, seen: Seen) -> Iterator[Record]:
    tally = _TALLY.match(seen.text) or _TALLY_REVERSED.match(seen.text)
    summary = _SUMMARY.match(seen.text)
    sockstat = _SOCKSTAT.match(seen.text)
    if tally:
        state = _STATE_NAMES.get(tally["state"], tally["state"])
        yield _summary(lines, seen, state, int(tally["count"]), tally.groupdict().get("remote"))
    elif summary:
        for part in summary["states"].split(","):
            name, _, count = part.strip().partition(" ")
            number = count.partition("/")[0]
            if name in _SUMMARY_NAMES and number.isdecimal():
                yield _summary(lines, seen, _SUMMARY_NAMES[name], int(number), None)
    elif sockstat:
        yield _summary(lines, seen, "TIME-WAIT", int(sockstat["waiting"]), None)
        yield _summary(lines, seen, "ORPHANED", int(sockstat["orphans"]), None)
    elif is_info(seen.text):
        yield TcpSocket(
            source=source(lines, "ss", seen.host),
            quotes=(seen.quoted(lines),),
            missing=dict.fromkeys(("local_address", "local_port", "remote_address", "remote_port", "state"), "absent"),
            local_address="?",
            local_port=0,
            remote_address="?",
            remote_port=0,
            state="?",
            **info_fields(seen.text),  # type: ignore[arg-type]
        )


def _summary(lines: Lines, seen: Seen, state: str, count: int, remote: str | None) -> SocketSummary:
    return SocketSummary(
        source=source(lines, "ss", seen.host), quotes=(seen.quoted(lines),), state=state, socket_count=count, remote=remote
    )


def _bare(address: str) -> str:
    return address.replace("[", "").replace("]", "")


def _port(text: str) -> int | None:
    return int(text) if text.isdecimal() else None


def _process(rest: str) -> str | None:
    found = _PROCESS.search(rest)
    return (found["ss"] or found["netstat"]) if found else None


READER = Reader(
    title=Text(en="sockets (ss, netstat)", zh="套接字（ss、netstat）"),
    gives=(TcpSocket, Listener, SocketSummary),
    recognises=marked(_RECOGNISED),
    read=_read,
    obtained_by=("ss -tinm", "ss -ltn", "ss -s"),
)
