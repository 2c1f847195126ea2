"""Captures of faults that were injected on purpose: what is read of each is what was done."""

import pytest

from readers.packets.captures import NAMES, about, content, every, read, the
from wirespeed.model.facts.path import Neighbour
from wirespeed.model.flows import CaptureSummary, DnsQuery, IcmpReport, TcpFlow
from wirespeed.model.measurement import NameLookup, PortProbe
from wirespeed.model.source import Problem


def _flow(name: str) -> TcpFlow:
    return the(read(content(name)), TcpFlow)


def test_every_capture_says_where_it_comes_from() -> None:
    told = about()
    assert sorted([*told["truth"], *told["synthetic"]]) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_captures_are_small_and_whole(name: str) -> None:
    assert len(content(name)) < 20_000
    assert not every(read(content(name)), Problem)


@pytest.mark.parametrize("name", NAMES)
def test_every_record_quotes_a_packet(name: str) -> None:
    for item in read(content(name)):
        assert item.quotes, item


def test_full_segments_vanish_and_small_ones_do_not() -> None:
    flow = _flow("blackhole_server")
    assert (flow.server.stuck_bytes, flow.server.stuck_sends_count) == (1448, 5)
    assert flow.server.is_heard_while_stuck
    assert flow.server.retransmits_full_count == flow.server.retransmits_count == flow.server.timeouts_count == 4
    assert (flow.client.largest_acked_bytes, flow.server.largest_acked_bytes) == (37, 0)
    # RFC 6298: the timer doubles, from 200 ms and the round trip on
    assert flow.server.stuck_s == pytest.approx(0.26 + 0.45 + 0.9 + 1.76, abs=0.05)


def test_at_the_other_end_of_a_black_hole_only_silence_is_seen() -> None:
    flow = _flow("blackhole_client")
    assert flow.waiting_s == pytest.approx(5.9, abs=0.1)
    assert flow.exchanges_count == 0
    assert flow.silent == "server"


def test_a_window_that_is_too_small_is_full_all_the_time() -> None:
    near_sender, near_receiver = _flow("window"), _flow("window_client")
    assert (near_sender.near, near_receiver.near) == ("server", "client")
    assert near_sender.server.window_full_ratio is not None and near_sender.server.window_full_ratio > 0.9
    for flow in (near_sender, near_receiver):
        assert flow.client.window_max_bytes == 8688  # six segments of 1448
        assert flow.server.rate_bytes_per_s is not None and flow.rtt_s is not None
        assert flow.server.rate_bytes_per_s * flow.rtt_s == pytest.approx(8688, rel=0.1)


def test_a_program_that_does_not_read_closes_its_window() -> None:
    flow = _flow("zero_window")
    assert flow.server.zero_windows_count == 1
    assert flow.server.zero_window_s == pytest.approx(3.0, abs=0.1)
    assert flow.client.zero_windows_count == 0


@pytest.mark.parametrize(("name", "resent", "filled"), [("loss", 5, 0), ("loss_receiver", 0, 5)])
def test_losses_are_counted_before_and_behind_the_place_of_loss(name: str, resent: int, filled: int) -> None:
    server = _flow(name).server
    assert (server.retransmits_count, server.filled_count, server.late_count) == (resent, filled, 0)


def test_overtaken_segments_are_not_lost_ones() -> None:
    server = _flow("reorder").server
    assert (server.retransmits_count, server.filled_count, server.late_count) == (0, 0, 6)


def test_two_small_writes_wait_for_the_acknowledgement() -> None:
    flow = _flow("nagle")
    assert flow.client.held_back_count == 7  # of eight requests; a new connection acknowledges the first at once
    assert flow.server.held_back_count == 0


def test_a_stream_of_pieces_holds_nothing_back() -> None:
    flow = _flow("stream")
    assert flow.answer_s == pytest.approx(2.0, abs=0.3)
    assert flow.answer_steps_count == 20
    assert flow.server.held_back_count == flow.client.held_back_count == 0


def test_the_kernel_acknowledges_and_the_program_is_late() -> None:
    flow = _flow("slow_server")
    assert flow.exchanges_count == 3
    assert flow.first_byte_p50_s == pytest.approx(1.5, abs=0.02)
    assert flow.request_ack_s is not None and flow.request_ack_s < 0.01


def test_a_request_into_a_closing_connection() -> None:
    flow = _flow("keepalive")
    assert flow.is_request_after_fin
    assert flow.closed_idle_s == pytest.approx(2.0, abs=0.05)
    assert flow.ended == "server-reset"
    assert flow.reset_ttl_differs is False
    assert [quote.line_index + 1 for quote in flow.quoted("closed", "reset")] == [10, 14]  # as tcpdump numbers them


def test_what_is_sent_after_a_long_silence_is_lost() -> None:
    flow = _flow("idle_drop")
    assert flow.client.stuck_idle_s == pytest.approx(14.0, abs=0.05)
    assert flow.client.stuck_bytes == 37
    assert flow.client.is_heard_while_stuck is False


def test_unanswered_syns_and_ports_that_answer() -> None:
    items = read(content("syn_dropped"))
    silent = the(items, TcpFlow, is_answered=False)
    assert (silent.syn_count, silent.server.port) == (7, 9000)
    assert {(one.port, one.outcome) for one in every(items, PortProbe)} == {(8000, "connected"), (9000, "timed-out")}


def test_refused_and_prohibited() -> None:
    assert the(read(content("refused")), PortProbe).outcome == "refused"
    items = read(content("prohibited"))
    assert the(items, PortProbe, port=9000).outcome == "prohibited"
    assert the(items, IcmpReport).topic == "prohibited"


def test_a_full_accept_queue_keeps_some_out() -> None:
    flows = every(read(content("accept")), TcpFlow)
    assert sorted((one.is_established is True, one.syn_count > 1) for one in flows) == [(False, True)] * 4 + [(True, False)]


def test_a_router_that_reports_its_mtu() -> None:
    assert the(read(content("frag_needed")), IcmpReport).mtu_bytes == 1400


def test_two_owners_of_one_address() -> None:
    owners = [one for one in every(read(content("arp_twice")), Neighbour) if one.address == "10.7.0.2"]
    assert len({one.mac_address for one in owners}) == 2


def test_look_ups() -> None:
    race = every(read(content("dns_race")), DnsQuery)
    (lost,) = [one for one in race if one.query_type == "AAAA"]
    assert (lost.sent_count, lost.time_s) == (2, pytest.approx(5.0, abs=0.05))
    quick = race[0]
    assert (quick.query_type, quick.client_port, quick.sent_count) == ("A", lost.client_port, 1)
    assert quick.time_s is not None and quick.time_s < 0.1
    slow = every(read(content("dns_slow")), NameLookup)
    assert {(one.name, one.queries_count) for one in slow} == {("api.example.com", 4)}
    assert all(one.time_s == pytest.approx(0.6, abs=0.06) for one in slow)
    dead = every(read(content("dns_dead")), DnsQuery)
    assert all(one.is_answered is False and one.sent_count == 2 for one in dead)
    assert {one.answer for one in every(read(content("dns_servfail")), DnsQuery)} == {"ServFail"}


def test_tls_in_plain_text() -> None:
    alert = _flow("tls_alert")
    assert alert.tls_alert == "client unknown_ca"
    assert alert.tls_hello_s is not None and 0.02 <= alert.tls_hello_s < 0.1
    assert _flow("tls_ok").tls_alert is None
    assert any("server name gw.example" in quote.text for quote in alert.quoted("hello"))


def test_a_capture_of_one_direction_knows_what_it_does_not_know() -> None:
    whole = content("healthy")
    one_way = whole[:24]
    place = 24
    while place < len(whole):
        kept = int.from_bytes(whole[place + 8 : place + 12], "little")
        packet = whole[place : place + 16 + kept]
        if packet[16 + 26 : 16 + 30] == bytes([10, 7, 0, 1]):
            one_way += packet
        place += 16 + kept
    items = read(one_way)
    flow = the(items, TcpFlow)
    assert flow.seen == "client"
    assert flow.is_answered is None and flow.missing["is_answered"] == "absent"
    assert flow.rtt_s is None
    assert the(items, CaptureSummary).is_one_way
    assert not every(items, PortProbe)
