"""Lines of tcpdump in all the ways it can print them give the same connection; odd ones are read as far as they go."""

import re

import msgspec
import pytest

from readers.packets.captures import content, every, lines_of, read_text, the
from wirespeed.model.flows import CaptureSummary, DnsQuery, IcmpReport, TcpFlow
from wirespeed.model.measurement import NameLookup
from wirespeed.model.source import Problem

SECONDS = (45.158740, 45.182719, 45.182756, 45.182905, 45.206736, 45.206764, 45.206779, 47.205205)
TAILS = (
    "10.7.0.1.60352 > 10.7.0.2.8000: Flags [S], seq 3305831458, win 64240, options [mss 1460,sackOK,nop,wscale 10], length 0",
    "10.7.0.2.8000 > 10.7.0.1.60352: Flags [S.], seq 3157010167, ack 3305831459, win 65160, options [mss 1410,sackOK,nop,wscale 10], length 0",
    "10.7.0.1.60352 > 10.7.0.2.8000: Flags [.], ack {1c}, win 63, length 0",
    "10.7.0.1.60352 > 10.7.0.2.8000: Flags [P.], seq {1s}:{38s}, ack {1c}, win 63, length 37: HTTP: GET /v1/models HTTP/1.1",
    "10.7.0.2.8000 > 10.7.0.1.60352: Flags [.], ack {38s}, win 64, length 0",
    "10.7.0.2.8000 > 10.7.0.1.60352: Flags [P.], seq {1c}:{141c}, ack {38s}, win 64, length 140: HTTP: HTTP/1.1 200 OK",
    "10.7.0.1.60352 > 10.7.0.2.8000: Flags [.], ack {141c}, win 63, length 0",
    "10.7.0.2.8000 > 10.7.0.1.60352: Flags [F.], seq {141c}, ack {38s}, win 64, length 0",
)
CLIENT_ISN, SERVER_ISN = 3305831458, 3157010167


def _tails(is_absolute: bool) -> list[str]:
    def number(found: re.Match[str]) -> str:
        base = {"s": CLIENT_ISN, "c": SERVER_ISN}[found[2]] if is_absolute else 0
        return str(int(found[1]) + base)

    return [re.sub(r"\{(\d+)([sc])\}", number, tail) for tail in TAILS]


def _clock(seconds: float) -> str:
    return f"21:50:{seconds:09.6f}"


def _about(ttl: int, place: int) -> str:
    return f"(tos 0x0, ttl {ttl}, id {100 + place}, offset 0, flags [DF], proto TCP (6), length 60)"


def _printed(way: str) -> str:
    tails = _tails(is_absolute=way == "-S")
    lines = []
    for place, (at, tail) in enumerate(zip(SECONDS, tails, strict=True)):
        before = SECONDS[place - 1] if place else at
        match way:
            case "-tttt":
                lines.append(f"2026-11-29 {_clock(at)} IP {tail}")
            case "-tt":
                lines.append(f"{1796000000 + at:.6f} IP {tail}")
            case "-ttt":
                lines.append(f" 00:00:{at - before:09.6f} IP {tail}")
            case "-ttttt":
                lines.append(f" 00:00:{at - SECONDS[0]:09.6f} IP {tail}")
            case "-e":
                lines.append(f"{_clock(at)} 02:00:00:00:00:01 > 02:00:00:00:00:02, ethertype IPv4 (0x0800), length 74: {tail}")
            case "-e vlan":
                tag = "ethertype 802.1Q (0x8100), length 78: vlan 100, p 0, ethertype IPv4 (0x0800), "
                lines.append(f"{_clock(at)} 02:00:00:00:00:01 > 02:00:00:00:00:02, {tag}{tail}")
            case "-v":
                lines.append(f"{_clock(at)} IP {_about(64, place)}\n    {tail}")
            case "-ev":
                lines.append(
                    f"{_clock(at)} 02:00:00:00:00:01 > 02:00:00:00:00:02, ethertype IPv4 (0x0800), length 74: {_about(64, place)}\n    {tail}"
                )
            case "-i any":
                lines.append(f"{_clock(at)} eth0  {'Out' if '10.7.0.1.6' in tail[:12] else 'In '} IP {tail}")
            case "names":
                lines.append(
                    f"{_clock(at)} IP {tail.replace('10.7.0.2.8000', 'gw.example.com.http-alt').replace('10.7.0.1', 'node-a')}"
                )
            case "IPv6":
                lines.append(f"{_clock(at)} IP6 {tail.replace('10.7.0.2', '2001:db8::2').replace('10.7.0.1', '2001:db8::1')}")
            case "#":
                lines.append(f"{place + 1:5d}  {_clock(at)} IP {tail}")
            case "kubectl":
                lines.append(f"[pod/gw-0] {_clock(at)} IP {tail}")
            case _:
                lines.append(f"{_clock(at)} IP {tail}")
    return "tcpdump: listening on eth0, snapshot length 262144 bytes\n" + "\n".join(lines) + "\n8 packets captured\n"


WAYS = ("", "-S", "-tttt", "-tt", "-ttt", "-ttttt", "-e", "-e vlan", "-v", "-ev", "-i any", "names", "IPv6", "#", "kubectl")


@pytest.mark.parametrize("way", WAYS)
def test_every_way_of_printing_gives_the_same_connection(way: str) -> None:
    flow = the(read_text(_printed(way)), TcpFlow)
    assert (flow.client.payload_bytes, flow.server.payload_bytes) == (37, 140)
    assert (flow.client.mss_bytes, flow.server.mss_bytes, flow.client.window_scale_number) == (1460, 1410, 10)
    assert flow.client.window_max_bytes == 63 << 10
    assert flow.connect_s == pytest.approx(0.024016, abs=2e-6)
    assert flow.first_byte_max_s == pytest.approx(0.023859, abs=2e-6)
    assert flow.request_ack_s == pytest.approx(0.023831, abs=2e-6)
    assert flow.closed_idle_s == pytest.approx(1.998426, abs=2e-6)
    assert (flow.ended, flow.near, flow.exchanges_count) == ("server-fin", "client", 1)
    assert flow.missed_bytes == flow.client.retransmits_count == flow.server.retransmits_count == 0
    assert flow.server.port == (8080 if way == "names" else 8000)


def test_without_times_no_time_is_told() -> None:
    text = "\n".join(f"IP {tail}" for tail in _tails(is_absolute=False))
    items = read_text(text)
    flow = the(items, TcpFlow)
    times = {name: value for name, value in msgspec.to_builtins(flow).items() if name.endswith("_s")}
    assert not times
    assert flow.is_established and flow.exchanges_count == 1
    assert not the(items, CaptureSummary).has_times


def test_a_day_may_end() -> None:
    text = _printed("").replace("21:50:45", "23:59:59").replace("21:50:47", "00:00:01")
    assert the(read_text(text), TcpFlow).closed_idle_s == pytest.approx(1.998426, abs=2e-6)


def test_one_packet_at_two_interfaces_is_one_packet() -> None:
    lines = []
    for at, tail in zip(SECONDS, _tails(is_absolute=False), strict=True):
        lines += [f"{_clock(at)} veth1 In  IP {tail}", f"{_clock(at + 0.00001)} eth0  Out IP {tail}"]
    flow = the(read_text("\n".join(lines)), TcpFlow)
    assert flow.client.packets_count + flow.server.packets_count == len(TAILS)
    assert flow.syn_count == 1 and not flow.client.retransmits_count and not flow.client.duplicate_acks_count


def test_a_connection_that_began_before_the_capture() -> None:
    text = "\n".join(_printed("").split("\n")[4:])
    flow = the(read_text(text), TcpFlow)
    assert not flow.has_start
    assert flow.client.address == "10.7.0.1"
    assert flow.client.window_max_bytes is None, "its scale was told in the SYN, which was not seen"
    assert flow.missed_bytes == 0


def test_packets_that_the_capture_lost_are_noticed() -> None:
    lines = _printed("").split("\n")
    flow = the(read_text("\n".join(lines[:6] + lines[7:])), TcpFlow)  # without the answer itself
    assert flow.missed_bytes == 140
    assert flow.server.retransmits_count == 0


def test_the_packet_inside_an_icmp_message_is_none_of_its_own() -> None:
    text = (
        "14:00:00.000000 IP (tos 0xc0, ttl 64, id 1, offset 0, flags [none], proto ICMP (1), length 576)\n"
        "    192.0.2.254 > 192.0.2.1: ICMP 198.51.100.7 unreachable - need to frag (mtu 1450), length 556\n"
        "\tIP (tos 0x0, ttl 63, id 9, offset 0, flags [DF], proto TCP (6), length 1500)\n"
        "    192.0.2.1.40000 > 198.51.100.7.443: Flags [.], seq 1:1449, ack 1, win 502, length 1448\n"
    )
    items = read_text(text)
    report = the(items, IcmpReport)
    assert (report.reporter, report.target, report.mtu_bytes) == ("192.0.2.254", "198.51.100.7", 1450)
    assert not every(items, TcpFlow)


@pytest.mark.parametrize(
    ("line", "topic"),
    [
        ("IP 192.0.2.254 > 192.0.2.1: ICMP host 192.0.2.9 unreachable, length 92", "host-unreachable"),
        ("IP 192.0.2.254 > 192.0.2.1: ICMP net 192.0.2.9 unreachable, length 92", "net-unreachable"),
        ("IP 192.0.2.9 > 192.0.2.1: ICMP 192.0.2.9 udp port 53 unreachable, length 36", "port-unreachable"),
        ("IP 192.0.2.9 > 192.0.2.1: ICMP 192.0.2.9 tcp port 80 unreachable, length 36", "prohibited"),
        ("IP 192.0.2.9 > 192.0.2.1: ICMP host 192.0.2.9 unreachable - admin prohibited, length 68", "prohibited"),
        ("IP 192.0.2.254 > 192.0.2.1: ICMP time exceeded in-transit, length 36", "expired"),
        ("IP6 2001:db8::ff > 2001:db8::1: ICMP6, packet too big, mtu 1280, length 1240", "too-big"),
        (
            "IP6 2001:db8::ff > 2001:db8::1: ICMP6, destination unreachable, unreachable prohibited 2001:db8::9, length 88",
            "prohibited",
        ),
        (
            "IP6 2001:db8::9 > 2001:db8::1: ICMP6, destination unreachable, unreachable port, 2001:db8::9 udp port 53, length 60",
            "port-unreachable",
        ),
    ],
)
def test_reports(line: str, topic: str) -> None:
    assert the(read_text(f"10:00:00.000000 {line}"), IcmpReport).topic == topic


@pytest.mark.parametrize(
    ("question", "answer", "code"),
    [
        ("4711+ A? api.example. (29)", "4711 1/0/0 A 192.0.2.80 (45)", "NoError"),
        ("4711+ [1au] A? api.example. (40)", "4711 NXDomain* 0/1/1 (104)", "NXDomain"),
        (
            "[bad udp cksum 0x1c4e -> 0xfb4b!] 4711+ AAAA? api.example. (58)",
            "[udp sum ok] 4711 ServFail q: AAAA? api.example. 0/0/0 (58)",
            "ServFail",
        ),
        ("4711+% SRV? _api._tcp.example. (29)", "4711$ 0/1/0 (90)", "NoError"),
        ("A? api.example.", "Refused", "Refused"),
    ],
)
def test_questions_and_answers(question: str, answer: str, code: str) -> None:
    text = f"10:00:00.000000 IP 192.0.2.1.40000 > 192.0.2.53.53: {question}\n10:00:00.012000 IP 192.0.2.53.domain > 192.0.2.1.40000: {answer}\n"
    query = the(read_text(text), DnsQuery)
    assert (query.answer, query.is_answered, query.server) == (code, True, "192.0.2.53")
    assert query.time_s == pytest.approx(0.012)


def test_a_question_at_the_end_of_a_capture_may_be_answered_yet() -> None:
    asked = "10:00:00.000000 IP 192.0.2.1.40000 > 192.0.2.53.53: 4711+ A? api.example. (29)\n"
    assert the(read_text(asked), DnsQuery).is_answered is None
    later = "10:00:09.000000 IP 192.0.2.1.40000 > 192.0.2.53.53: 4711+ A? api.example. (29)\n"
    assert the(read_text(asked + later), DnsQuery).is_answered is False
    assert not every(read_text(asked + later), NameLookup)


def test_what_the_kernel_dropped_stands_behind_the_packets() -> None:
    text = _printed("") + "10 packets received by filter\n2 packets dropped by kernel\n"
    assert the(read_text(text), CaptureSummary).dropped_packets == 2


def test_a_text_that_only_speaks_of_packets_is_not_claimed() -> None:
    from wirespeed.readers.tools.packet_capture import READER

    for text in (
        "We ran tcpdump on eth0 > out.txt: Flags were odd, many packets were dropped by kernel",
        "iptables -A INPUT -p tcp --tcp-flags SYN,RST SYN -j TCPMSS --clamp-mss-to-pmtu",
        "if a > b: Flags [x] = 1",
        "ICMP host unreachable was logged",
    ):
        assert not READER.recognises(text), text
        assert not read_text(text), text


def test_numbers_wrap() -> None:
    """A sequence number goes over 2^32 in the middle of a transfer."""
    first = 2**32 - 500
    lines = [
        f"10:00:00.0{index}0000 IP 192.0.2.1.40000 > 192.0.2.9.80: Flags [P.], seq {(first + 100 * index) % 2**32}:{(first + 100 * index + 100) % 2**32}, ack 7, win 5, length 100"
        for index in range(9)
    ]
    lines.append(f"10:00:00.200000 IP 192.0.2.9.80 > 192.0.2.1.40000: Flags [.], ack {(first + 900) % 2**32}, win 5, length 0")
    flow = the(read_text("\n".join(lines)), TcpFlow)
    assert flow.client.payload_bytes == 900
    assert flow.client.retransmits_count == flow.missed_bytes == flow.client.never_arrived_bytes == 0


def test_lines_of_a_capture_file_are_such_lines() -> None:
    flow = the(read_text("\n".join(lines_of(content("keepalive")))), TcpFlow)
    assert flow.is_request_after_fin


def test_what_a_capture_cannot_tell_is_said() -> None:
    whole = _printed("") + "40 packets dropped by kernel\n"
    said = [one.why.en for one in every(read_text(whole), Problem)]
    assert len(said) == 1 and "40 packets that the kernel dropped" in said[0]
    half = "\n".join(line for line in _printed("").split("\n") if "> 10.7.0.2" in line)
    assert ["one direction" in one.why.en for one in every(read_text(half), Problem)] == [True]
    assert not every(read_text(_printed("")), Problem)


def test_services_without_a_known_number() -> None:
    text = (
        "10:00:00.000000 IP node-a.some-service > node-a.other-service: Flags [P.], seq 1:9, ack 1, win 5, length 8\n"
        "10:00:00.000100 IP node-a.40000 > node-a.some-service: Flags [P.], seq 1:9, ack 1, win 5, length 8\n"
    )
    assert [(one.server.port, one.client.port) for one in every(read_text(text), TcpFlow)] == [(None, None), (None, 40000)]
