"""TCP_INFO of chosen connections, or of the busiest (inet_diag): bytes, retransmits, round trips, windows, what held it up."""

from functools import lru_cache
from ipaddress import ip_address
from typing import Any

from wirespeed.machines.kept import kept_dump
from wirespeed.machines.machine import Machine, MachineProblem
from wirespeed.model.facts.sockets import TcpSocket
from wirespeed.model.samples import Key, Layout
from wirespeed.model.source import Problem, Source
from wirespeed.model.text import Text
from wirespeed.observation.asking import answer_of
from wirespeed.observation.sampler import Family, Probe, Raw, Row, Wanted
from wirespeed.readers.netlink import inet_diag

MOST_AT_ONCE = 64
MOST_IN_ALL = 512
"""Connections that come and go: each is 30 series."""
_COUNTERS = (
    ("bytes_sent_bytes", "sent", "bytes"), ("bytes_received_bytes", "received", "bytes"), ("bytes_retransmitted_bytes", "retransmitted", "bytes"),
    ("segments_out_packets", "segments_out", "packets"), ("segments_in_packets", "segments_in", "packets"),
    ("data_segments_out_packets", "data_segments_out", "packets"), ("retransmits_total_packets", "retransmits", "packets"), ("timeouts_count", "timeouts", "1"),
    ("reordering_seen_count", "reordering_seen", "1"), ("dsack_duplicates_count", "dsack_duplicates", "1"),
    ("delivered_ce_packets", "delivered_ce", "packets"), ("busy_s", "busy", "s"), ("rwnd_limited_s", "rwnd_limited", "s"),
    ("sndbuf_limited_s", "sndbuf_limited", "s"), ("socket_drops_count", "socket_drops", "packets"),
)  # fmt: skip
_GAUGES = (
    ("rtt_s", "rtt", "s"), ("min_rtt_s", "min_rtt", "s"), ("rto_s", "rto", "s"), ("congestion_window_packets", "congestion_window", "packets"),
    ("send_window_bytes", "send_window", "bytes"), ("receive_window_bytes", "receive_window", "bytes"), ("unacked_packets", "unacked", "packets"),
    ("lost_packets", "lost", "packets"), ("not_sent_bytes", "not_sent", "bytes"), ("recv_queue_bytes", "recv_queue", "bytes"),
    ("send_queue_bytes", "send_queue", "bytes"), ("backoff_count", "backoff", "1"), ("mss_bytes", "mss", "bytes"),
    ("path_mtu_bytes", "path_mtu", "bytes"), ("pacing_rate_bytes_per_s", "pacing_rate", "bytes/s"),
)  # fmt: skip
_FIELDS = tuple(name for name, _, _ in _COUNTERS + _GAUGES)
_SOURCE = Source(tool="inet_diag", path="inet_diag sockets")


@lru_cache(maxsize=256)
def _layout(scopes: tuple[str, ...]) -> Layout:
    return tuple(
        Key("flows", scope, name, unit, "counter" if number < len(_COUNTERS) else "gauge")
        for scope in scopes
        for number, (_, name, unit) in enumerate(_COUNTERS + _GAUGES)
    )


def _end(address: str, port: int) -> str:
    return f"[{address}]:{port}" if ":" in address else f"{address}:{port}"


class _Flows:
    """Which connections are watched. One that is, stays so to its end; there is room for new ones as others end."""

    def __init__(self, wanted: tuple[str, ...], problems: list[Problem]) -> None:
        self._wanted = wanted
        self._watched: set[bytes] = set()
        self._refused: set[bytes] = set()
        self._seen_count = 0
        self._most_left_out = 0
        self.problems = problems
        self._unseen = [problem for problem in problems if problem.reason == "absent"]
        self.labels: dict[str, str] = {}

    def choose(self, raws: list[Raw]) -> None:
        """Take in the busiest of those seen between two flushes."""
        first, last = dict(inet_diag.traffic(raws[0][0])), dict(inet_diag.traffic(raws[-1][0]))
        alive = first.keys() | last.keys()
        self._watched &= alive
        if self._wanted:
            alive = {ends for ends in alive - self._refused if self._is_wanted(ends, raws)}
        if alive and self._unseen:
            self.problems.remove(self._unseen.pop())
        moved = {ends: last.get(ends, 0) - first.get(ends, 0) for ends in alive - self._watched}
        for ends in sorted(moved, key=lambda one: -moved[one]):
            if len(self._watched) < MOST_AT_ONCE and self._seen_count < MOST_IN_ALL:
                self._watched.add(ends)
                self._seen_count += 1
        self._tell(len(alive - self._watched))

    def _is_wanted(self, ends: bytes, raws: list[Raw]) -> bool:
        if ends in self._watched:
            return True
        for raw in (raws[0], raws[-1]):
            for one in inet_diag.sockets(raw[0], {}, _SOURCE, only=(ends,)):
                near, far = (one.local_address, one.local_port), (one.remote_address, one.remote_port)
                if any(_names(text, *end) for text in self._wanted for end in (near, far)):
                    return True
        self._refused.add(ends)
        return False

    def _tell(self, left_out: int) -> None:
        if left_out > self._most_left_out:
            self._most_left_out = left_out
            why = Text(
                en=f"up to {left_out} less busy connections at a time were not watched",
                zh=f"最多同时有 {left_out} 条较闲的连接未被观察",
            )
            kept = [problem for problem in self.problems if problem.reason is not None]
            self.problems[:] = [*kept, Problem(source=_SOURCE, why=why)]

    def parse(self, raw: Raw) -> Row:
        """The scope is `LOCAL:PORT>REMOTE:PORT`."""
        scopes: list[str] = []
        values: list[float] = []
        for one in inet_diag.sockets(raw[0], {}, _SOURCE, only=self._watched):
            scope = f"{_end(one.local_address, one.local_port)}>{_end(one.remote_address, one.remote_port)}"
            scopes.append(scope)
            values += _values(one)
            if one.congestion_control:
                self.labels[scope] = one.congestion_control
        return _layout(tuple(scopes)), values


def _values(one: TcpSocket) -> list[float]:
    found = [getattr(one, name) for name in _FIELDS]
    return [float("nan") if value is None else float(value) for value in found]


def _names(text: str, address: str, port: int) -> bool:
    """Whether `HOST:PORT`, `:PORT` or `HOST` is this end; an IPv6 address stands in brackets where a port follows."""
    if text in (address, f"[{address}]", f":{port}"):
        return True
    return text in (_end(address, port), _end(address.removeprefix("::ffff:"), port))


def _resolved(machine: Machine, wanted: tuple[str, ...]) -> tuple[tuple[str, ...], list[Problem]]:
    """Names of hosts as addresses, and why one has none."""
    ends: list[str] = []
    problems: list[Problem] = []
    for text in wanted:
        host, colon, port = text.rpartition(":") if text.count(":") == 1 else (text, "", "")
        if not host or _is_address(host.strip("[]")) or text.startswith("["):
            ends.append(text)
            continue
        try:
            found = answer_of(machine, "name-lookup", host, dict[str, Any]).get("addresses", [])
        except MachineProblem:
            found = []
        ends += [f"[{address}]:{port}" if ":" in address and colon else f"{address}{colon}{port}" for address in found]
        if not found:
            why = Text(en=f"{host} does not resolve to an address", zh=f"{host} 无法解析为地址")
            problems.append(Problem(source=_SOURCE, why=why, reason="unsupported"))
    return tuple(ends), problems


def _is_address(text: str) -> bool:
    try:
        ip_address(text)
    except ValueError:
        return False
    return True


def _open(machine: Machine, wanted: Wanted) -> Probe:
    ends, problems = _resolved(machine, wanted.flows)
    if wanted.flows and not ends:
        raise MachineProblem("absent", problems[0].why)
    if ends:
        why = Text(en=f"no connection with {', '.join(wanted.flows)} was seen", zh=f"未见到端点为 {', '.join(wanted.flows)} 的连接")
        problems.append(Problem(source=_SOURCE, why=why, reason="absent"))
    flows = _Flows(ends, problems)
    dump = kept_dump(machine, inet_diag.NETLINK_SOCK_DIAG, inet_diag.OPEN_REQUESTS)
    return Probe(sources=(dump,), parse=flows.parse, parse_many=flows.choose, problems=flows.problems, labels=flows.labels)


FAMILY = Family(title=Text(en="TCP connections", zh="TCP 连接"), open=_open, period_s=0.5, named_period_s=0.02)
"""A look walks the kernel's whole table of connections, twice, however few there are."""
