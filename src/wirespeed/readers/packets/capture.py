"""A capture as a whole: its packets go to whoever follows them, and what they say together comes out as records."""

import re
from collections import OrderedDict
from collections.abc import Iterator
from typing import Literal, TypeAlias

import msgspec

from wirespeed.model.facts.path import Neighbour
from wirespeed.model.flows import CaptureSummary, DnsQuery, IcmpReport, TcpFlow
from wirespeed.model.measurement import NameLookup, PortProbe
from wirespeed.model.record import Record
from wirespeed.model.source import Problem, Quote, Source
from wirespeed.model.text import Text
from wirespeed.readers.packets.flows import Flow, Flows, summed
from wirespeed.readers.packets.lines import NOTE
from wirespeed.readers.packets.names import Names
from wirespeed.readers.packets.packet import ArpAnswer, DnsMessage, Packet, Report, Segment, Topic
from wirespeed.readers.packets.tcpdump import Tcpdump

Outcome: TypeAlias = Literal["connected", "refused", "timed-out", "no-route", "prohibited"]
MOST_FLOWS, MOST_PLAIN_FLOWS = 5_000, 2_500
"""Connections told in all, and of these without anything odd."""
MOST_QUERIES = 5_000
MOST_HOSTS = 50_000
MOST_PORTS = 500
MOST_REPORTS = 500
MOST_ADDRESSES = 2_000
SYN_PATIENCE_NS = 900_000_000
"""Linux sends a SYN again after a second (TCP_TIMEOUT_INIT)."""
CONTEST_NS = 1_000_000_000
_CAPTURED = re.compile(r"^\s*(\d{1,12}) packets? captured")
_DROPPED = re.compile(r"^\s*(\d{1,12}) packets? dropped by (?:kernel|interface)")
_CUT = re.compile(r"\d+ packets are cut, at (\d{1,6}) bytes|(?:snapshot length|capture size) (\d{1,6})\b")
_WHOLE_SNAPSHOT_BYTES = 65_535
_DAMAGES = (
    (re.compile(r"is too short for a capture file"), "过短，不是完整的抓包文件"),
    (re.compile(r"ends in the middle of a packet"), "在一个包的中间结束"),
    (re.compile(r"ends in the middle of a block"), "在一个块的中间结束"),
    (re.compile(r"is damaged here and the rest cannot be read"), "此处已损坏，其余部分无法读取"),
    (re.compile(r"has a damaged block, which was passed over"), "有一个损坏的块，已跳过"),
    (re.compile(r"is damaged here; (?P<size>\d+) bytes were passed over"), "此处已损坏，跳过 {size} 字节"),
)


class Capture:
    """Takes in the lines of one capture and gives its records; what needs the whole of it comes at the end."""

    def __init__(self, source: Source, head: str) -> None:
        self._source = source
        self._tcpdump = Tcpdump(head)
        self._flows = Flows()
        self._names = Names(source)
        self._done: list[TcpFlow] = []
        self._left_out_count = 0
        self._queries_count = 0
        self._flows_count = 0
        self._heard: set[str] = set()
        """Hosts that some packet was sent to: their answers would have been seen."""
        self._reports: OrderedDict[tuple[str, str, str | None, int | None], tuple[int, Report]] = OrderedDict()
        self._claims: dict[str, list[ArpAnswer]] = {}
        self._first: Quote | None = None
        self._dropped: int | None = None
        self._snapshot_bytes: int | None = None
        self._notes: list[Quote] = []

    def take(self, index: int, line: str) -> Iterator[Record | Problem]:
        """Take in a line; gives what is settled by it."""
        packet = self._tcpdump.packet(index, line)
        if packet is None:
            yield from self._noted(index, line)
            return
        if self._first is None:
            self._first = self._quote(packet)
        match packet:
            case Segment():
                if len(self._heard) < MOST_HOSTS:
                    self._heard.add(packet.target)
                for flow in self._flows.take(packet):
                    self._finish(flow)
            case DnsMessage():
                for item in self._names.take(packet):
                    yield from self._bounded(item)
            case Report():
                self._reported(packet)
            case ArpAnswer():
                self._claimed(packet)

    def rest(self) -> Iterator[Record | Problem]:
        """Everything that only the end of the capture settles."""
        cut_count = self._tcpdump.cut_count
        if cut_count:
            said = f"{cut_count} lines of packets break off and were not used", f"有 {cut_count} 行数据包不完整，未使用"
            yield self._problem(*said, self._tcpdump.first_cut_index)
        for item in self._names.rest(self._tcpdump.last_ns):
            yield from self._bounded(item)
        for flow in self._flows.rest():
            self._finish(flow)
        heard = {(one.client.address, one.client.port) for one in self._done if one.is_answered}
        flows = [self._with_answer(one, (one.client.address, one.client.port) in heard) for one in self._done]
        yield from flows
        if self._left_out_count:
            yield self._problem(
                f"only {len(flows)} of {self._flows_count} connections were used, those with anything odd first",
                f"连接共 {self._flows_count} 条，仅使用 {len(flows)} 条，优先保留有异常的",
            )
        yield from self._probes(flows)
        yield from self._told_reports()
        yield from self._neighbours()
        if self._first is not None:
            summary = self._summary(flows, self._first)
            yield summary
            yield from self._blind_spots(summary)

    def _finish(self, flow: Flow) -> None:
        self._flows_count += 1
        one = summed(flow, self._source, self._span_ns())
        is_odd = _is_odd(one)
        if len(self._done) >= MOST_FLOWS or (len(self._done) >= MOST_PLAIN_FLOWS and not is_odd):
            self._left_out_count += 1
        else:
            self._done.append(one)

    def _span_ns(self) -> tuple[int, int] | None:
        first_ns = self._tcpdump.first_ns
        return None if first_ns is None else (first_ns, self._tcpdump.last_ns)

    def _with_answer(self, flow: TcpFlow, is_heard_elsewhere: bool) -> TcpFlow:
        """Whether a SYN was answered, now that it is known whether answers to its sender could be seen at all.

        Where the same client port is answered by another host, an address was translated, and the answer went another way.
        """
        if flow.is_answered is not None or not flow.syn_count:
            return flow
        if is_heard_elsewhere:
            return msgspec.structs.replace(flow, missing={"is_answered": "unsupported"})
        span = self._span_ns()
        left_s = (span[1] - span[0]) / 1e9 - (flow.started_s or 0.0) if span else 0.0
        is_unanswered = flow.syn_count > 1 or (flow.client.address in self._heard and left_s >= SYN_PATIENCE_NS / 1e9)
        if is_unanswered:
            return msgspec.structs.replace(flow, is_answered=False)
        return msgspec.structs.replace(flow, missing={"is_answered": "absent"})

    def _bounded(self, item: DnsQuery | NameLookup) -> Iterator[Record]:
        self._queries_count += 1
        if self._queries_count <= MOST_QUERIES or (isinstance(item, DnsQuery) and item.is_answered is False):
            yield item

    def _reported(self, report: Report) -> None:
        key = (report.topic, report.reporter, report.target, report.mtu_bytes)
        count, first = self._reports.get(key, (0, report))
        if count or len(self._reports) < MOST_REPORTS:
            self._reports[key] = (count + 1, first)

    def _told_reports(self) -> Iterator[Record]:
        for count, first in self._reports.values():
            yield IcmpReport(
                source=self._source,
                quotes=(self._quote(first),),
                topic=first.topic,
                reporter=first.reporter,
                target=first.target,
                mtu_bytes=first.mtu_bytes,
                reports_count=count,
            )

    def _claimed(self, claim: ArpAnswer) -> None:
        """Keep a claim that differs from the one before it."""
        known = self._claims.get(claim.address)
        if known is None:
            if len(self._claims) < MOST_ADDRESSES:
                self._claims[claim.address] = [claim]
        elif known[-1].mac != claim.mac and len(known) < 4:
            known.append(claim)

    def _neighbours(self) -> Iterator[Record]:
        """One entry an address; two where it is contested: both claim it at once, or it goes back. A takeover alone is none."""
        for claims in self._claims.values():
            is_contested = len(claims) > 2 or (
                len(claims) == 2 and claims[0].at_ns > 0 and claims[1].at_ns - claims[0].at_ns <= CONTEST_NS
            )
            for one in claims[:2] if is_contested else claims[-1:]:
                yield Neighbour(source=self._source, quotes=(self._quote(one),), address=one.address, mac_address=one.mac)

    def _probes(self, flows: list[TcpFlow]) -> Iterator[Record]:
        """How connections to each port ended: one attempt a port and outcome."""
        connected = {(one.server.address, one.server.port) for one in flows if one.is_established}
        reported: dict[str, Topic] = {report.target: report.topic for _, report in self._reports.values() if report.target}
        seen: set[tuple[str, int | None, str]] = set()
        for flow in flows:
            place = (flow.server.address, flow.server.port)
            outcome = _outcome(flow, reported.get(flow.server.address), place in connected)
            if outcome is None or (*place, outcome) in seen or len(seen) >= MOST_PORTS:
                continue
            seen.add((*place, outcome))
            yield PortProbe(
                source=self._source,
                quotes=flow.quoted("start", "sent-again", "answer", "reset")[:3],
                target=flow.server.address,
                port=flow.server.port,
                outcome=outcome,
                time_s=flow.connect_s if outcome == "connected" else flow.syn_wait_s if outcome == "timed-out" else None,
            )

    def _noted(self, index: int, line: str) -> Iterator[Problem]:
        """What stands behind the packets, or before them: how many there were, and what the file lacks."""
        if "packets" not in line and NOTE not in line and "captur" not in line and "snapshot" not in line:
            return
        if dropped := _DROPPED.search(line):
            self._dropped = int(dropped[1]) + (self._dropped or 0)
        elif cut := _CUT.search(line):
            size = int(cut[1] or cut[2])
            self._snapshot_bytes = size if cut[1] or size < _WHOLE_SNAPSHOT_BYTES else None
        elif not _CAPTURED.search(line):
            if line.startswith(NOTE):
                yield self._damage(index, line)
            return
        if len(self._notes) < 4:
            self._notes.append(Quote(source=self._source.path, line_index=index, text=line))

    def _damage(self, index: int, line: str) -> Problem:
        told = line.removeprefix(NOTE)
        for wording, zh in _DAMAGES:
            if found := wording.search(told):
                place = re.search(r"after packet (\d+)", told)
                at = f"第 {place[1]} 个包之后" if place else ""
                return self._problem(told, f"{at}{zh.format(**found.groupdict())}", index)
        return self._problem(told, told, index)

    def _problem(self, en: str, zh: str, index: int | None = None) -> Problem:
        return Problem(source=self._source, why=Text(en=en, zh=zh), line_index=index)

    def _summary(self, flows: list[TcpFlow], first: Quote) -> CaptureSummary:
        span = self._span_ns()
        return CaptureSummary(
            source=self._source,
            quotes=(first, *self._notes),
            packets_count=self._tcpdump.packets_count,
            tcp_flows_count=self._flows_count,
            duration_s=(span[1] - span[0]) / 1e9 if span else None,
            dropped_packets=self._dropped,
            snapshot_bytes=self._snapshot_bytes,
            has_times=span is not None,
            is_one_way=any(_goes_on(one) for one in flows) and all(one.seen != "both" for one in flows),
        )

    def _blind_spots(self, summary: CaptureSummary) -> Iterator[Problem]:
        """What this capture cannot tell, and why."""
        if summary.is_one_way:
            yield self._problem(
                "shows one direction of each connection only: what was answered, and how fast, is not known",
                "每个连接只抓到一个方向：是否有应答、多快应答均不可知",
            )
        if summary.dropped_packets:
            yield self._problem(
                f"lacks {summary.dropped_packets} packets that the kernel dropped while capturing: what is missing in it may have been there",
                f"缺少抓包时被内核丢弃的 {summary.dropped_packets} 个包：其中看不到的未必没有发生",
            )
        if not summary.has_times:
            yield self._problem("prints no times: nothing is known of how long anything took", "没有打印时间：无从得知各项耗时")

    def _quote(self, packet: Packet) -> Quote:
        return Quote(source=self._source.path, line_index=packet.index, text=packet.line)


def _outcome(flow: TcpFlow, reported: Topic | None, is_open: bool) -> Outcome | None:
    """How an attempt to connect ended; None where that was not seen, or where others do get through."""
    if not flow.has_start:
        return None
    if flow.is_established:
        return "connected"
    if flow.reset_on == "syn":
        return "refused"
    if flow.seen == "client" and reported in ("prohibited", "host-unreachable"):
        return "prohibited" if reported == "prohibited" else "no-route"
    return "timed-out" if flow.is_answered is False and not is_open else None


def _goes_on(flow: TcpFlow) -> bool:
    """Whether more than attempts to connect were seen: then the other end has answered."""
    return not flow.has_start or flow.client.payload_bytes + flow.server.payload_bytes > 0


def _is_odd(flow: TcpFlow) -> bool:
    """Whether a connection shows anything that a rule may ask for."""
    sides = (flow.client, flow.server)
    return (
        flow.ended.endswith("reset")
        or flow.syn_count > 1
        or flow.waiting_s is not None
        or any(
            side.retransmits_count
            or side.zero_windows_count
            or side.stuck_bytes
            or side.held_back_count
            or side.never_arrived_bytes
            for side in sides
        )
    )
