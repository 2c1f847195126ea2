"""TCP connections, followed packet by packet from the first sighting to the last, in bounded memory."""

from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, field
from statistics import median
from typing import Literal, TypeAlias

from wirespeed.model.flows import End, Mark, TcpFlow
from wirespeed.model.source import Quote, Source
from wirespeed.readers.packets.packet import Segment
from wirespeed.readers.packets.sides import AT_ONCE_NS, HELD_BACK_NS, Room, Side

MOST_OPEN = 5_000
"""Connections followed at once; the one that was silent longest is let go first."""
MOST_QUOTES_A_MARK = 2
MOST_FIRST_BYTES = 1_000
SAME_SIGHTING_NS = 50_000_000
"""A packet is forwarded, and seen again, within this time."""
AT_ONE_PLACE_NS = 10_000
STEP_NS = 10_000_000
_HIGHEST_SERVER_PORT = 32_767
"""Above begin the ports that Linux gives to clients (ip_local_port_range)."""

Key: TypeAlias = tuple[tuple[str, int], tuple[str, int]]
Reset: TypeAlias = Literal["syn", "request", "data", "idle", "closed"]


@dataclass(slots=True)
class Exchange:
    """A request and its answer."""

    asked: Segment
    asked_ns: int
    acked_ns: int | None = None
    first_ns: int | None = None
    last_ns: int = 0
    packets: int = 0
    steps: int = 0

    @property
    def wait_ns(self) -> int:
        """From the last packet of the request to the first of the answer."""
        return (self.first_ns or self.asked_ns) - self.asked_ns


@dataclass(slots=True)
class Flow:
    """A connection as far as it was seen."""

    client: Side
    server: Side
    started_ns: int
    last_ns: int
    is_client_known: bool = False
    syn_count: int = 0
    syn_ack_count: int = 0
    first_syn_ns: int | None = None
    last_syn_ns: int | None = None
    syn_ack_ns: int | None = None
    ack_ns: int | None = None
    missed: int = 0
    exchange: Exchange | None = None
    slowest: Exchange | None = None
    longest: Exchange | None = None
    exchanges: int = 0
    first_bytes_ns: list[int] = field(default_factory=list)
    last_data_by: End | None = None
    silence_ns: int = 0
    silent: End | None = None
    ended: Literal["open", "client-fin", "server-fin", "client-reset", "server-reset"] = "open"
    closed_idle_ns: int | None = None
    late_request: Segment | None = None
    reset_on: Reset | None = None
    reset_idle_ns: int | None = None
    reset_ttl_differs: bool | None = None
    hello_ns: int | None = None
    tls_hello_ns: int | None = None
    tls_alert: str | None = None
    recent: dict[End, Segment] = field(default_factory=dict)
    quoted: dict[Mark, list[tuple[int, str]]] = field(default_factory=dict)

    def quote(self, mark: Mark, *packets: Segment) -> None:
        """Keep the first packets that show something."""
        kept = self.quoted.setdefault(mark, [])
        kept += [(one.index, one.line) for one in packets][: MOST_QUOTES_A_MARK - len(kept)]

    def quote_instead(self, mark: Mark, packet: Segment) -> None:
        """Keep the packet that shows something best."""
        self.quoted[mark] = [(packet.index, packet.line)]

    @property
    def trip_ns(self) -> int | None:
        """The round trip between the ends: the handshake's, or the shortest halves together."""
        if self.first_syn_ns is not None and self.syn_count == 1 and self.syn_ack_ns is not None and self.ack_ns is not None:
            return self.ack_ns - self.first_syn_ns
        halves = (self.client.half_trip_ns, self.server.half_trip_ns)
        return halves[0] + halves[1] if halves[0] is not None and halves[1] is not None else None


class Flows:
    """All connections of a capture; each is given out when its place is needed, or at the end."""

    def __init__(self) -> None:
        self._open: OrderedDict[Key, Flow] = OrderedDict()
        self._room = Room()

    def take(self, segment: Segment) -> Iterator[Flow]:
        """Take in a segment; gives the connections that are over for this capture."""
        here, there = (segment.source, segment.source_port or 0), (segment.target, segment.target_port or 0)
        key = (here, there) if here <= there else (there, here)
        flow = self._open.get(key)
        if flow is not None and _begins_anew(flow, segment):
            yield self._over(self._open.pop(key))
            flow = None
        if flow is None:
            flow = self._open[key] = _begun(segment, self._room)
            if len(self._open) > MOST_OPEN:
                yield self._over(self._open.popitem(last=False)[1])
        else:
            self._open.move_to_end(key)
        follow(flow, segment)

    def _over(self, flow: Flow) -> Flow:
        flow.client.is_over()
        flow.server.is_over()
        return flow

    def rest(self) -> Iterator[Flow]:
        """What is still open at the end of the capture."""
        while self._open:
            yield self._over(self._open.popitem(last=False)[1])


def _begins_anew(flow: Flow, segment: Segment) -> bool:
    """Whether a SYN opens another connection between the same ports."""
    if segment.flags[:1] != "S" or "." in segment.flags or segment.sequence is None:
        return False
    side = flow.client if segment.source == flow.client.address and segment.source_port == flow.client.port else flow.server
    return side.base is not None and side.base != segment.sequence


def _begun(segment: Segment, room: Room) -> Flow:
    here, there = Side(segment.source, segment.source_port, room), Side(segment.target, segment.target_port, room)
    is_syn = "S" in segment.flags
    is_from_client = "." not in segment.flags if is_syn else _asks(segment)
    client, server = (here, there) if is_from_client else (there, here)
    return Flow(client, server, segment.at_ns, segment.at_ns, is_client_known=is_syn)


def _asks(segment: Segment) -> bool:
    """Whether the sender seems to be the client: its port is one that systems give away, the other's is not, or is the lower."""
    source, target = segment.source_port, segment.target_port
    if source is None or target is None:
        return target is None  # a port with a name is a service
    if (source > _HIGHEST_SERVER_PORT) != (target > _HIGHEST_SERVER_PORT):
        return source > target
    return source >= target


def follow(flow: Flow, segment: Segment) -> None:
    """Take in one segment of a connection."""
    end: End = "client" if (segment.source, segment.source_port) == (flow.client.address, flow.client.port) else "server"
    side, other = (flow.client, flow.server) if end == "client" else (flow.server, flow.client)
    if _is_same_sighting(flow.recent.get(end), segment):
        return
    flow.recent[end] = segment
    idle_ns = max(0, segment.at_ns - flow.last_ns)
    turn: End = "server" if flow.exchange is not None and flow.exchange.first_ns is None else "client"
    side.packets += 1
    other.other_heard_ns = segment.at_ns
    if "S" in segment.flags:
        _opens(flow, segment, side, end)
    if "R" in segment.flags:
        _resets(flow, segment, side, other, end, idle_ns)
        flow.last_ns = segment.at_ns
        return
    if side.ttl is None:
        side.ttl = segment.ttl
    is_probe = False
    if segment.length > 0 and segment.sequence is not None and "S" not in segment.flags:
        is_probe = _sends(flow, segment, side, other, end, idle_ns)
    if segment.ack is not None and "." in segment.flags:
        _acknowledges(flow, segment, side, other, end)
    if "F" in segment.flags:
        _closes(flow, segment, side, end, idle_ns)
    if not is_probe:
        if idle_ns > flow.silence_ns:
            flow.silence_ns, flow.silent = idle_ns, turn
            flow.quote_instead("silence", segment)
        flow.last_ns = segment.at_ns


def _is_same_sighting(before: Segment | None, segment: Segment) -> bool:
    """Whether this is the packet before, seen at another interface or twice by a mirror port, and not one sent again."""
    if before is None or segment.at_ns - before.at_ns > SAME_SIGHTING_NS:
        return False
    if (before.flags, before.sequence, before.length, before.ack, before.window, before.options) != (
        segment.flags, segment.sequence, segment.length, segment.ack, segment.window, segment.options
    ):  # fmt: skip
        return False
    if segment.identity:
        return segment.identity == before.identity
    return segment.label != before.label or (
        bool(segment.at_ns) and segment.at_ns - before.at_ns <= AT_ONE_PLACE_NS and bool(segment.length)
    )


def _opens(flow: Flow, segment: Segment, side: Side, end: End) -> None:
    """A SYN or SYN-ACK: where numbers begin, and what each end offers."""
    if segment.sequence is not None and (side.base is None or not side.has_syn):
        side.synchronises(segment.sequence)
    side.mss = _offered(segment.options, "mss ") or side.mss
    side.scale = _offered(segment.options, "wscale ")
    side.scales = True if side.scale is not None else None if "[|" in segment.options else False
    if end == "client":
        flow.syn_count += 1
        flow.first_syn_ns = segment.at_ns if flow.first_syn_ns is None else flow.first_syn_ns
        flow.last_syn_ns = segment.at_ns
        flow.quote("start" if flow.syn_count == 1 else "sent-again", segment)
        return
    flow.syn_ack_count += 1
    flow.quote("answer" if flow.syn_ack_count == 1 else "sent-again", segment)
    if flow.syn_ack_ns is None:
        flow.syn_ack_ns = segment.at_ns
    if False in (flow.client.scales, flow.server.scales):
        flow.client.scale = flow.server.scale = 0


def _offered(options: str, name: str) -> int | None:
    place = options.find(name)
    if place < 0:
        return None
    digits = options[place + len(name) :].partition(",")[0].strip()
    return int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 6 else None


def _sends(flow: Flow, segment: Segment, side: Side, other: Side, end: End, idle_ns: int) -> bool:
    """Data: is it new, and does it ask or answer? Says whether it only probes."""
    assert segment.sequence is not None
    start = side.place(segment.sequence)
    kind = side.sends(start, segment, idle_ns, other, flow.trip_ns or 0)
    if kind == "probes":
        return True
    if kind == "again":
        flow.quote("sent-again", segment)
    elif kind in ("late", "filled"):
        flow.quote("late", segment)
    else:
        _is_held_back(flow, segment, side, other)
        _exchanges(flow, segment, end)
        if end == "client" and flow.server.fin_ns is not None:
            flow.late_request = segment
    if segment.says.startswith("TLS "):
        _greets(flow, segment, end)
    flow.last_data_by = end
    return False


def _is_held_back(flow: Flow, segment: Segment, side: Side, other: Side) -> None:
    """Nagle: a small piece waits until the one before is acknowledged, and goes out as soon as it is."""
    if side.answered_small is not None:
        acked_ns, took_ns = side.answered_small
        is_prompt = segment.at_ns - acked_ns <= max(AT_ONCE_NS, int(1.2 * (flow.trip_ns or 0)))
        if is_prompt and HELD_BACK_NS[0] <= took_ns <= HELD_BACK_NS[1]:
            side.held_back += 1
            side.held_back_ns = max(side.held_back_ns, took_ns)
            flow.quote("held-back", segment)
        side.answered_small = None
    is_alone = side.acked is None or segment.length == side.next - side.acked
    is_small = segment.length < side.small_below(other)
    side.sent_freely += is_small and not is_alone and side.is_last_small
    side.is_last_small = is_small
    side.last_small_ns = segment.at_ns if is_alone and is_small else None
    other.last_small_ns = other.answered_small = None


def _exchanges(flow: Flow, segment: Segment, end: End) -> None:
    """Requests and answers, as far as turns tell them."""
    current = flow.exchange
    if end == "client":
        if current is None or current.first_ns is not None:
            _finish(flow)
            flow.exchange = Exchange(segment, segment.at_ns)
        else:
            current.asked_ns, current.acked_ns = segment.at_ns, None
        return
    if current is None:
        return
    if current.first_ns is None:
        current.first_ns = current.last_ns = segment.at_ns
        flow.exchanges += 1
        if len(flow.first_bytes_ns) < MOST_FIRST_BYTES:
            flow.first_bytes_ns.append(current.wait_ns)
        if flow.slowest is None or current.wait_ns > flow.slowest.wait_ns:
            flow.slowest = current
            flow.quote_instead("request", current.asked)
            flow.quote_instead("response", segment)
    current.steps += segment.at_ns - current.last_ns >= STEP_NS
    current.last_ns = segment.at_ns
    current.packets += 1


def _finish(flow: Flow) -> None:
    """Remember the longest answer when the next request begins, or at the end."""
    done = flow.exchange
    if done is None or done.first_ns is None:
        return
    if flow.longest is None or done.last_ns - done.first_ns > flow.longest.last_ns - (flow.longest.first_ns or 0):
        flow.longest = done


def _greets(flow: Flow, segment: Segment, end: End) -> None:
    if segment.says.startswith("TLS Alert"):
        flow.tls_alert = flow.tls_alert or f"{end} {segment.says.rpartition(' ')[2]}"
        flow.quote("hello", segment)
    elif end == "client" and segment.says.startswith("TLS ClientHello"):
        flow.hello_ns = segment.at_ns
        flow.quote("hello", segment)
    elif end == "server" and flow.hello_ns is not None and flow.tls_hello_ns is None:
        flow.tls_hello_ns = segment.at_ns - flow.hello_ns
        flow.quote("hello", segment)


def _acknowledges(flow: Flow, segment: Segment, side: Side, other: Side, end: End) -> None:
    assert segment.ack is not None
    ack = other.place_ack(segment.ack)
    size = side.advertises(segment.window, segment.flags, segment.at_ns) if segment.window is not None else None
    if side.zero_since_ns == segment.at_ns and segment.window == 0:
        flow.quote("zero-window", segment)
    other.hears_window(ack, size, side)
    is_pure = segment.length == 0 and not set(segment.flags) & set("SFR")
    if is_pure and other.on_the_way and side.last_ack == (ack, segment.window):
        side.duplicate_acks += 1
    side.last_ack = (ack, segment.window if segment.window is not None else -1)
    if "sack " in segment.options:
        _reports_blocks(segment.options, ack, side, other)
    if is_pure and other.last_small_ns is not None and ack >= other.next:
        other.answered_small = (segment.at_ns, segment.at_ns - other.last_small_ns)
    flow.missed += other.is_acknowledged(ack, segment.at_ns, side)
    if end == "client" and flow.syn_ack_ns is not None and flow.ack_ns is None:
        flow.ack_ns = segment.at_ns
    current = flow.exchange
    is_waiting = current is not None and current.first_ns is None and current.acked_ns is None
    if current is not None and is_waiting and end == "server" and is_pure and ack >= other.next:
        current.acked_ns = segment.at_ns


def _reports_blocks(options: str, ack: int, side: Side, other: Side) -> None:
    """The first block of SACK: what arrived behind a hole or, where it lies below the acknowledgement (RFC 2883), arrived twice."""
    start, _, end = options.partition("{")[2].partition("}")[0].partition(":")
    if not (start.isdecimal() and end.isdecimal() and len(start) < 11 and len(end) < 11):
        return
    first, last = other.place(int(start)), other.place(int(end))
    if last <= ack:
        side.told_twice += 1
    else:
        other.largest_acked = max(other.largest_acked, min(last - first, other.largest, other.segment_limit(side) or other.largest))


def _closes(flow: Flow, segment: Segment, side: Side, end: End, idle_ns: int) -> None:
    if side.fin_ns is not None:
        return
    side.fin_ns = segment.at_ns
    side.next = max(side.next, side.place(segment.sequence) + segment.length + 1) if segment.sequence is not None else side.next
    if flow.ended == "open":
        flow.ended = "client-fin" if end == "client" else "server-fin"
        flow.closed_idle_ns = idle_ns
        flow.quote("closed", segment)


def _resets(flow: Flow, segment: Segment, side: Side, other: Side, end: End, idle_ns: int) -> None:
    """Who gave up on what. A second reset says nothing new, nor does one behind both FINs that answers no request."""
    is_refusal = end == "server" and flow.late_request is not None
    is_over = flow.client.fin_ns is not None and flow.server.fin_ns is not None
    if flow.ended.endswith("reset") or (is_over and not is_refusal):
        return
    waits = flow.exchange is not None and flow.exchange.first_ns is None
    flow.reset_idle_ns = idle_ns
    if is_refusal and flow.late_request is not None:
        flow.quote("request", flow.late_request)
    if end == "server" and flow.syn_count and not flow.syn_ack_count:
        flow.reset_on = "syn"
    elif flow.ended != "open":
        flow.reset_on = "closed"
    elif end == "server" and waits:
        flow.reset_on = "request"
        flow.reset_idle_ns = other.on_the_way[0].idle_ns if other.on_the_way else idle_ns
    else:
        flow.reset_on = "data" if other.on_the_way or side.on_the_way else "idle"
    if side.ttl is not None and segment.ttl is not None:
        flow.reset_ttl_differs = segment.ttl != side.ttl
    flow.ended = "client-reset" if end == "client" else "server-reset"
    flow.quote("reset", segment)


def summed(flow: Flow, source: Source, span_ns: tuple[int, int] | None) -> TcpFlow:
    """A connection as a record. `span_ns` is when the capture began and ended, None where it printed no times: then none are told."""
    has_times = span_ns is not None
    first_ns, end_ns = span_ns or (0, 0)
    _finish(flow)
    at = sorted((index, line, mark) for mark, lines in flow.quoted.items() for index, line in lines)
    client, server = flow.client.summed(has_times, flow.last_ns), flow.server.summed(has_times, flow.last_ns)
    is_answered = True if flow.server.packets else None
    trip_ns = flow.trip_ns
    pending = flow.exchange if flow.exchange is not None and flow.exchange.first_ns is None else None
    return TcpFlow(
        source=source,
        quotes=tuple(Quote(source=source.path, line_index=index, text=line) for index, line, _ in at),
        marks=tuple(mark for _, _, mark in at),
        client=client,
        server=server,
        has_start=flow.syn_count > 0,
        seen="both" if flow.client.packets and flow.server.packets else "client" if flow.client.packets else "server",
        started_s=_timed(flow.started_ns - first_ns, has_times),
        duration_s=_timed(flow.last_ns - flow.started_ns, has_times),
        missed_bytes=flow.missed,
        syn_count=flow.syn_count,
        syn_wait_s=_timed(_between(flow.first_syn_ns, flow.last_syn_ns), has_times),
        syn_ack_count=flow.syn_ack_count,
        is_answered=is_answered,
        is_established=_is_established(flow),
        syn_ack_s=_timed(_between(flow.last_syn_ns, flow.syn_ack_ns), has_times),
        connect_s=_timed(_between(flow.first_syn_ns, flow.ack_ns), has_times),
        rtt_s=_timed(trip_ns, has_times),
        near=_near(flow) if has_times else None,
        tls_hello_s=_timed(flow.tls_hello_ns, has_times),
        tls_alert=flow.tls_alert,
        exchanges_count=flow.exchanges,
        first_byte_p50_s=_timed(int(median(flow.first_bytes_ns)), has_times) if flow.first_bytes_ns else None,
        first_byte_max_s=_timed(flow.slowest.wait_ns, has_times) if flow.slowest else None,
        request_ack_s=_acked_s(flow.slowest) if has_times else None,
        answer_s=_timed(flow.longest.last_ns - (flow.longest.first_ns or 0), has_times) if flow.longest else None,
        answer_packets=flow.longest.packets if flow.longest else None,
        answer_steps_count=flow.longest.steps if flow.longest and has_times else None,
        waiting_s=_timed((end_ns if flow.ended == "open" else flow.last_ns) - pending.asked_ns, has_times) if pending else None,
        silence_s=_timed(flow.silence_ns, has_times),
        silent=flow.silent if has_times else None,
        ended=flow.ended,
        closed_idle_s=_timed(flow.closed_idle_ns, has_times),
        is_request_after_fin=flow.late_request is not None and flow.ended == "server-reset",
        reset_on=flow.reset_on,
        reset_idle_s=_timed(flow.reset_idle_ns, has_times),
        reset_ttl_differs=flow.reset_ttl_differs,
    )


def _is_established(flow: Flow) -> bool | None:
    is_under_way = not flow.syn_count and flow.client.packets and flow.server.packets and flow.client.payload + flow.server.payload
    if flow.ack_ns is not None or (flow.client.payload and flow.server.payload) or is_under_way:
        return True
    return None if not flow.syn_count or not flow.server.packets else False


def _near(flow: Flow) -> End | None:
    """Whose side the capture stood on: the half of the handshake towards that end takes next to nothing."""
    to_server_ns, to_client_ns = _between(flow.last_syn_ns, flow.syn_ack_ns), _between(flow.syn_ack_ns, flow.ack_ns)
    if to_server_ns is None or to_client_ns is None:
        return None
    if to_client_ns < to_server_ns / 4:
        return "client"
    return "server" if to_server_ns < to_client_ns / 4 else None


def _acked_s(slowest: Exchange | None) -> float | None:
    if slowest is None or slowest.acked_ns is None:
        return None
    return _seconds(slowest.acked_ns - slowest.asked_ns)


def _between(start_ns: int | None, end_ns: int | None) -> int | None:
    return None if start_ns is None or end_ns is None else max(0, end_ns - start_ns)


def _timed(span_ns: int | None, has_times: bool) -> float | None:
    return _seconds(span_ns) if span_ns is not None and has_times else None


def _seconds(span_ns: int) -> float:
    return span_ns / 1_000_000_000
