"""One end of a TCP connection, followed segment by segment: what it sent again, what is on its way, how its window stood."""

from collections import deque
from dataclasses import dataclass, field

from wirespeed.model.flows import FlowEnd
from wirespeed.readers.packets.packet import Segment

MOST_ON_THE_WAY = 4096
"""Unacknowledged segments remembered of one end; a window of 6 MiB is as many."""
MOST_IN_ALL = 100_000
"""Of all ends together: a capture of one direction acknowledges nothing."""
MOST_HOLES = 16
TIMEOUT_NS = 190_000_000
"""Linux resends no sooner than after 200 ms where acknowledgements stay away (TCP_RTO_MIN); captures see it a little early."""
LEAST_LATE_NS = 3_000_000
"""A segment that fills a hole within 3 ms or a round trip was overtaken (Wireshark's rule), where nothing surer tells."""
FULL_RATIO = 0.9
"""Of the largest segment that both ends allow: options take up to 40 bytes."""
LEAST_MSS = 536
"""Where no SYN was seen and nothing larger was sent (RFC 9293, default MSS)."""
HELD_BACK_NS = (30_000_000, 250_000_000)
"""Delayed acknowledgements come after 40 to 200 ms on Linux."""
FREELY_TIMES = 3
"""A stream of small pieces every 40 ms meets delayed acknowledgements by chance; it also sends some before them, which Nagle never does."""
AT_ONCE_NS = 3_000_000
FEWEST_SENDS_COUNT = 3
FEWEST_DATA_PACKETS = 10
_HALF, _MASK = 1 << 31, 0xFFFFFFFF


@dataclass(slots=True)
class Sent:
    """A data segment on its way."""

    start: int
    end: int
    first_ns: int
    last_ns: int
    idle_ns: int
    count: int = 1


@dataclass(slots=True)
class Room:
    """What all ends of a capture remember together."""

    taken_count: int = 0


@dataclass(slots=True)
class Hole:
    """Numbers that were passed over, and the segment that did so."""

    start: int
    end: int
    opener: Segment


@dataclass(slots=True)
class Side:
    """One end and what it sent so far. Sequence numbers are unwrapped: they grow without limit."""

    address: str
    port: int | None
    room: Room
    base: int | None = None
    next: int = 0
    """The first number not sent yet."""
    acked: int | None = None
    mss: int | None = None
    scale: int | None = None
    scales: bool | None = None
    """Whether its SYN offered to scale windows; both ends must (RFC 7323). None where the SYN was not seen, or cut."""
    ttl: int | None = None
    edge: int | None = None
    """The first number that the other end's window does not allow."""
    packets: int = 0
    payload: int = 0
    data_packets: int = 0
    first_data_ns: int = 0
    last_data_ns: int = 0
    largest: int = 0
    largest_acked: int = 0
    again: int = 0
    again_full: int = 0
    timeouts: int = 0
    late: int = 0
    filled: int = 0
    told_twice: int = 0
    duplicate_acks: int = 0
    last_ack: tuple[int, int] | None = None
    zero_windows: int = 0
    zero_since_ns: int | None = None
    zero_ns: int = 0
    window_max: int | None = None
    flight_max: int = 0
    acks_heard: int = 0
    acks_full: int = 0
    held_back: int = 0
    held_back_ns: int = 0
    half_trip_ns: int | None = None
    """Shortest time from a segment of this end to its acknowledgement, as the capture saw them."""
    fin_ns: int | None = None
    has_syn: bool = False
    on_the_way: deque[Sent] = field(default_factory=deque)
    by_start: dict[int, Sent] = field(default_factory=dict)
    holes: list["Hole"] = field(default_factory=list)
    other_heard_ns: int = 0
    """When the other end was last heard."""
    sent_freely: int = 0
    """Small segments sent while another was on its way: then nothing holds them back."""
    is_last_small: bool = False
    last_small_ns: int | None = None
    """When it sent a small segment that is alone on its way."""
    answered_small: tuple[int, int] | None = None
    """When that was acknowledged, and how long it took."""

    def place(self, number: int) -> int:
        """A printed sequence number of this end, absolute or relative to its first, as an unwrapped one."""
        if self.base is None:
            self.base = self.next = number
            return number
        absolute = _nearest(number, self.next)
        relative = _nearest(self.base + number, self.next)
        return absolute if abs(absolute - self.next) <= abs(relative - self.next) else relative

    def place_ack(self, number: int) -> int:
        """The same of an acknowledgement of this end's data; tcpdump counts from the byte before it, where nothing was seen yet."""
        if self.base is None:
            self.base, self.next = number - 1, number
            return number
        return self.place(number)

    def segment_limit(self, other: "Side") -> int | None:
        """The largest segment that both ends allow; None where no SYN was seen."""
        return min((mss for mss in (self.mss, other.mss) if mss), default=None)

    def full_size(self, other: "Side") -> int:
        """Size from which on a segment counts as large as any."""
        return int(FULL_RATIO * min(self.segment_limit(other) or self.largest, self.largest))

    def small_below(self, other: "Side") -> int:
        """Size below which a segment is not a full one, even where only small ones were seen."""
        limit = self.segment_limit(other)
        return int(FULL_RATIO * limit) if limit else self.full_size(other) or LEAST_MSS

    def synchronises(self, number: int) -> None:
        """A SYN fixes where numbers begin."""
        self.has_syn = True
        self.base, self.next = number, number + 1

    def sends(self, start: int, segment: Segment, idle_ns: int, other: "Side", trip_ns: int) -> str:
        """Take in data; says whether it was `new`, sent `again`, came `late`, `filled` a hole, or only `probes`."""
        end, at_ns = start + segment.length, segment.at_ns
        if end <= self.next and segment.length <= 1 and start == self.next - 1:
            return "probes"
        if start >= self.next:
            if start > self.next and len(self.holes) < MOST_HOLES:
                self.holes.append(Hole(self.next, start, segment))
            self._goes_on(start, end, segment, idle_ns)
            return "new"
        opener = self._fills(start, end)
        if opener is not None:
            self.payload += segment.length
            is_late = _was_sent_before(segment, opener, trip_ns)
            self.late += is_late
            self.filled += not is_late
            return "late" if is_late else "filled"
        before = self.by_start.get(start)
        if before is None and not self.has_syn and (self.acked is None or start >= self.acked):
            self._comes_first(start, end, segment, idle_ns)
            return "new"
        self.again += 1
        self.again_full += segment.length >= self.full_size(other)
        if before is not None:
            self.timeouts += at_ns - before.last_ns >= TIMEOUT_NS
            before.last_ns, before.count, before.end = at_ns, before.count + 1, end
        if end > self.next:
            self._goes_on(self.next, end, segment, idle_ns)
        return "again"

    def _comes_first(self, start: int, end: int, segment: Segment, idle_ns: int) -> None:
        """Data from before the first that was seen, of a connection whose start was not: nobody knows whether it was sent before."""
        self.largest = max(self.largest, segment.length)
        self.room.taken_count += 1
        self.on_the_way.appendleft(Sent(start, end, segment.at_ns, segment.at_ns, idle_ns))
        self.by_start[start] = self.on_the_way[0]

    def _goes_on(self, start: int, end: int, segment: Segment, idle_ns: int) -> None:
        self.next = end
        self.payload += end - start
        self.data_packets += 1
        self.first_data_ns = self.first_data_ns or segment.at_ns
        self.last_data_ns = segment.at_ns
        self.largest = max(self.largest, segment.length)
        sent = Sent(start, end, segment.at_ns, segment.at_ns, idle_ns)
        if self.on_the_way and (len(self.on_the_way) >= MOST_ON_THE_WAY or self.room.taken_count >= MOST_IN_ALL):
            self._forget()
        self.room.taken_count += 1
        self.on_the_way.append(sent)
        self.by_start[start] = sent
        self.flight_max = max(self.flight_max, end - (self.acked if self.acked is not None else start))

    def _forget(self) -> Sent:
        """The oldest segment on its way is on its way no longer."""
        sent = self.on_the_way.popleft()
        self.by_start.pop(sent.start, None)
        self.room.taken_count -= 1
        return sent

    def is_over(self) -> None:
        """Give back what is remembered for nothing."""
        self.room.taken_count -= len(self.on_the_way)

    def _fills(self, start: int, end: int) -> Segment | None:
        """Who opened the hole that these bytes lie in; what they leave of it stays."""
        for place, hole in enumerate(self.holes):
            if start < hole.end and end > hole.start:
                rest = [Hole(hole.start, start, hole.opener)] if start > hole.start else []
                rest += [Hole(end, hole.end, hole.opener)] if end < hole.end else []
                self.holes[place : place + 1] = rest
                return hole.opener
        return None

    def is_acknowledged(self, ack: int, at_ns: int, other: "Side") -> int:
        """The other end has everything up to `ack`; gives the bytes among them that the capture never saw."""
        missed = 0
        if self.acked is not None and ack > self.next:
            missed = ack - self.next
            self.next = ack
        if self.acked is None or ack > self.acked:
            self.acked = ack
        limit = self.segment_limit(other)
        while self.on_the_way and self.on_the_way[0].end <= ack:
            sent = self._forget()
            size = sent.end - sent.start
            self.largest_acked = max(self.largest_acked, min(size, limit) if limit else size)
            if sent.count == 1:
                trip_ns = at_ns - sent.first_ns
                self.half_trip_ns = trip_ns if self.half_trip_ns is None else min(self.half_trip_ns, trip_ns)
        return missed

    def advertises(self, window: int, flags: str, at_ns: int) -> int | None:
        """A window this end offers, in bytes; None where its scale is not known."""
        if "S" in flags:
            return window
        if window == 0 and self.zero_since_ns is None:
            self.zero_windows += 1
            self.zero_since_ns = at_ns
        elif window > 0 and self.zero_since_ns is not None:
            self.zero_ns += at_ns - self.zero_since_ns
            self.zero_since_ns = None
        if self.scale is None:
            return None
        size = window << self.scale
        self.window_max = max(size, self.window_max or 0)
        return size

    def hears_window(self, ack: int, size: int | None, other: "Side") -> None:
        """An acknowledgement arrives with a window: was everything sent that the one before allowed?"""
        if self.edge is not None and self.acked is not None and ack > self.acked and self.next > self.acked:
            self.acks_heard += 1
            self.acks_full += self.next >= self.edge - self.full_size(other)
        self.edge = ack + size if size is not None else None

    def stuck(self) -> Sent | None:
        """The oldest segment on its way, where it was sent again and again."""
        return next((one for one in self.on_the_way if one.count >= FEWEST_SENDS_COUNT), None)

    def summed(self, has_times: bool, last_ns: int) -> FlowEnd:
        """This end as a record holds it; the connection's last packet came at `last_ns`."""
        stuck = self.stuck()
        spread_s = (self.last_data_ns - self.first_data_ns) / 1e9
        has_rate = has_times and self.data_packets >= FEWEST_DATA_PACKETS and spread_s > 0
        is_held = self.held_back > FREELY_TIMES * self.sent_freely
        knows_full = has_times and self.acks_heard >= FEWEST_DATA_PACKETS
        return FlowEnd(
            address=self.address,
            port=self.port,
            packets_count=self.packets,
            payload_bytes=self.payload,
            rate_bytes_per_s=round(self.payload / spread_s, 1) if has_rate else None,
            mss_bytes=self.mss,
            window_scale_number=self.scale,
            largest_payload_bytes=self.largest,
            largest_acked_bytes=self.largest_acked,
            retransmits_count=self.again,
            retransmits_full_count=self.again_full,
            timeouts_count=self.timeouts if has_times else 0,
            late_count=self.late,
            filled_count=self.filled,
            never_arrived_bytes=sum(hole.end - hole.start for hole in self.holes),
            never_arrived_s=(last_ns - min(hole.opener.at_ns for hole in self.holes)) / 1e9 if self.holes and has_times else None,
            duplicates_told_count=self.told_twice,
            duplicate_acks_count=self.duplicate_acks,
            zero_windows_count=self.zero_windows,
            zero_window_s=self.zero_ns / 1e9 if self.zero_windows and has_times else None,
            window_max_bytes=self.window_max,
            window_full_ratio=round(self.acks_full / self.acks_heard, 4) if knows_full else None,
            flight_max_bytes=self.flight_max or None,
            stuck_bytes=stuck.end - stuck.start if stuck else None,
            stuck_sends_count=stuck.count if stuck else None,
            stuck_s=(stuck.last_ns - stuck.first_ns) / 1e9 if stuck and has_times else None,
            stuck_idle_s=stuck.idle_ns / 1e9 if stuck and has_times else None,
            is_heard_while_stuck=self.other_heard_ns - stuck.first_ns >= TIMEOUT_NS if stuck and has_times else None,
            held_back_count=self.held_back if is_held else 0,
            held_back_s=self.held_back_ns / 1e9 if self.held_back and is_held else None,
        )


def _was_sent_before(segment: Segment, opener: Segment, trip_ns: int) -> bool:
    """Whether a segment that fills a hole left before the one that opened it, and was overtaken; otherwise it was lost and sent again.

    Linux numbers the packets of a connection (IP identification) and stamps them (TS val); where neither tells, the time does.
    """
    if segment.identity and opener.identity:
        return (segment.identity - opener.identity) & 0xFFFF >= 1 << 15
    stamp, opened = _stamp(segment), _stamp(opener)
    if stamp is not None and opened is not None and stamp != opened:
        return (stamp - opened) & _MASK >= _HALF
    return segment.at_ns - opener.at_ns <= max(LEAST_LATE_NS, trip_ns)


def _stamp(segment: Segment) -> int | None:
    digits = segment.options.partition("TS val ")[2].partition(" ")[0]
    return int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 11 else None


def _nearest(number: int, to: int) -> int:
    """The unwrapped number that is `number` modulo 2^32 and lies nearest."""
    return to + ((number - to + _HALF) & _MASK) - _HALF
