"""Rules on packet captures: each injected fault is found, its look-alikes are not, and without the packets nothing is known."""

import pytest

from readers.packets.captures import content, read, read_text
from wirespeed.diagnosis import rules
from wirespeed.diagnosis.judge import judge_rule, record_type
from wirespeed.model import shelf
from wirespeed.model.case import Case
from wirespeed.model.flows import CaptureSummary, TcpFlow
from wirespeed.model.kinds import Rule
from wirespeed.model.record import Record

RULES = shelf.every(rules, Rule)
FAULTS = {
    "accept": "accept_queue_overflow",
    "arp_twice": "duplicate_address",
    "blackhole_server": "pmtu_blackhole",
    "dns_dead": "dns_slow",
    "dns_race": "dns_conntrack_race",
    "dns_slow": "dns_slow",
    "frag_needed": "mtu_mismatch",
    "idle_drop": "firewall_idle_timeout",
    "keepalive": "keepalive_timeout_reset",
    "loss": "packet_loss",
    "loss_receiver": "packet_loss",
    "nagle": "nagle_delayed_ack",
    "new_each": "connection_reuse_missing",
    "prohibited": "firewall_blocks_ports",
    "reorder": "packet_reordering",
    "slow_server": "no_fault_not_network_bound",
    "syn_dropped": "firewall_blocks_ports",
    "tls_alert": "no_fault_not_network_bound",
    "window": "tcp_window_limited",
    "window_client": "tcp_window_limited",
    "zero_window": "no_fault_not_network_bound",
}
ALSO = {"dns_race": {"dns_slow"}, "slow_server": {"server_saturated"}}
"""Rules that rightly speak up beside: the victim, or the same thing said with less certainty."""
QUIET = ("healthy", "stream", "tls_ok", "dns_ok", "refused", "any", "blackhole_client")
"""Nothing is wrong, or nothing can be said."""


def _case(name: str) -> Case:
    return Case([item for item in read(content(name)) if isinstance(item, Record)])


def _present(case: Case) -> dict[str, float]:
    judged = {name: judge_rule(name, rule, case) for name, rule in RULES.items()}
    return {name: one.confidence_ratio for name, one in judged.items() if one.state == "present"}


@pytest.mark.parametrize(("capture", "rule"), FAULTS.items())
def test_an_injected_fault_is_the_only_one_found(capture: str, rule: str) -> None:
    assert set(_present(_case(capture))) == {rule} | ALSO.get(capture, set())


@pytest.mark.parametrize("capture", QUIET)
def test_nothing_is_found_where_nothing_is_wrong(capture: str) -> None:
    assert not _present(_case(capture))


@pytest.mark.parametrize(("capture", "rule"), FAULTS.items())
def test_without_the_packets_nothing_is_known(capture: str, rule: str) -> None:
    case = _case(capture)
    wanted = {record_type(need) for needs in RULES[rule].needs for need in needs}
    bare = Case([record for record in case.records if type(record) not in wanted])
    assert judge_rule(rule, RULES[rule], bare).state == "unknown"


@pytest.mark.parametrize(("capture", "rule"), FAULTS.items())
def test_the_proof_quotes_packets(capture: str, rule: str) -> None:
    judged = judge_rule(rule, RULES[rule], _case(capture))
    for evidence in judged.verdict.evidence:
        assert evidence.quotes or any(record.quotes for record in evidence.records)


@pytest.mark.parametrize(
    ("capture", "rule"),
    [
        ("healthy", "nagle_delayed_ack"),
        ("healthy", "no_fault_not_network_bound"),
        ("window", "packet_loss"),
        ("loss", "pmtu_blackhole"),
        ("loss", "packet_reordering"),
        ("reorder", "packet_loss"),
        ("stream", "keepalive_timeout_reset"),
        ("nagle", "no_fault_not_network_bound"),
    ],
)
def test_what_a_capture_shows_to_be_absent(capture: str, rule: str) -> None:
    assert judge_rule(rule, RULES[rule], _case(capture)).state == "absent"


@pytest.mark.parametrize(
    ("capture", "rule"),
    [
        ("blackhole_client", "pmtu_blackhole"),  # nothing large was seen at all
        ("refused", "tcp_window_limited"),
        ("keepalive", "firewall_idle_timeout"),  # no silence is long enough to be forgotten
        ("dns_ok", "accept_queue_overflow"),
        ("loss", "dns_slow"),
    ],
)
def test_what_a_capture_cannot_tell_is_unknown(capture: str, rule: str) -> None:
    assert judge_rule(rule, RULES[rule], _case(capture)).state == "unknown"


def test_loss_seen_by_a_capture_that_lost_packets_counts_less() -> None:
    case = _case("loss")
    blind = [
        CaptureSummary(source=one.source, quotes=one.quotes, packets_count=one.packets_count, tcp_flows_count=1, dropped_packets=40)
        if isinstance(one, CaptureSummary)
        else one
        for one in case.records
    ]
    before = judge_rule("packet_loss", RULES["packet_loss"], case)
    after = judge_rule("packet_loss", RULES["packet_loss"], Case(blind))
    assert after.confidence_ratio < before.confidence_ratio


RESET_BY_ANOTHER = """\
10:00:00.000000 IP (tos 0x0, ttl 64, id 100, offset 0, flags [DF], proto TCP (6), length 90)
    192.0.2.1.40000 > 198.51.100.7.443: Flags [P.], seq 1:39, ack 1, win 502, options [nop,nop,TS val 1000 ecr 900], length 38
10:00:00.020000 IP (tos 0x0, ttl 52, id 200, offset 0, flags [DF], proto TCP (6), length 152)
    198.51.100.7.443 > 192.0.2.1.40000: Flags [P.], seq 1:101, ack 39, win 502, options [nop,nop,TS val 920 ecr 1000], length 100
10:06:00.000000 IP (tos 0x0, ttl 64, id 101, offset 0, flags [DF], proto TCP (6), length 90)
    192.0.2.1.40000 > 198.51.100.7.443: Flags [P.], seq 39:77, ack 101, win 502, options [nop,nop,TS val 361000 ecr 920], length 38
10:06:00.001000 IP (tos 0x0, ttl 254, id 0, offset 0, flags [DF], proto TCP (6), length 40)
    198.51.100.7.443 > 192.0.2.1.40000: Flags [R], seq 101, win 0, length 0
"""


def test_a_reset_with_another_ttl_is_not_the_servers() -> None:
    case = Case([item for item in read_text(RESET_BY_ANOTHER) if isinstance(item, Record)])
    flow = case.first(TcpFlow)
    assert flow is not None
    assert (flow.reset_on, flow.reset_ttl_differs) == ("request", True)
    assert flow.reset_idle_s == pytest.approx(359.98)
    assert _present(case) == {"firewall_idle_timeout": pytest.approx(0.924, abs=0.001)}
    own = RESET_BY_ANOTHER.replace("ttl 254", "ttl 52")
    weaker = Case([item for item in read_text(own) if isinstance(item, Record)])
    assert _present(weaker)["firewall_idle_timeout"] < 0.5


GIVES_UP = """\
10:00:00.000000 IP 192.0.2.1.40000 > 192.0.2.9.8000: Flags [S], seq 100, win 64240, options [mss 1460,nop,wscale 7], length 0
10:00:00.000200 IP 192.0.2.9.8000 > 192.0.2.1.40000: Flags [S.], seq 500, ack 101, win 65160, options [mss 1460,nop,wscale 7], length 0
10:00:00.000300 IP 192.0.2.1.40000 > 192.0.2.9.8000: Flags [.], ack 1, win 502, length 0
10:00:00.001000 IP 192.0.2.1.40000 > 192.0.2.9.8000: Flags [P.], seq 1:300, ack 1, win 502, length 299
10:00:00.001200 IP 192.0.2.9.8000 > 192.0.2.1.40000: Flags [.], ack 300, win 502, length 0
10:01:00.012000 IP 192.0.2.1.40000 > 192.0.2.9.8000: Flags [F.], seq 300, ack 1, win 502, length 0
"""


def test_a_client_that_closes_after_a_round_time_has_a_time_out() -> None:
    case = Case([item for item in read_text(GIVES_UP) if isinstance(item, Record)])
    assert "gateway_timeout_too_short" in _present(case)
    early = Case([item for item in read_text(GIVES_UP.replace("10:01:00.012", "10:00:47.012")) if isinstance(item, Record)])
    assert "gateway_timeout_too_short" not in _present(early)


def _legs(front_first_s: float, front_pieces: int) -> str:
    """Two legs of a proxy at 192.0.2.5: behind it 10 pieces over 2 s, in front of it as told."""
    lines = [
        (0.0, "192.0.2.1.50000 > 192.0.2.5.80", "[P.], seq 1:100, ack 1, win 502", 99),
        (0.001, "192.0.2.5.60000 > 192.0.2.9.8000", "[P.], seq 1:100, ack 1, win 502", 99),
    ]
    for piece in range(11):
        lines.append(
            (
                0.1 + 0.2 * piece,
                "192.0.2.9.8000 > 192.0.2.5.60000",
                f"[P.], seq {1 + 50 * piece}:{51 + 50 * piece}, ack 100, win 502",
                50,
            )
        )
    for piece in range(front_pieces):
        at = front_first_s + (0.2 * piece if front_pieces > 1 else 0.0)
        lines.append((at, "192.0.2.5.80 > 192.0.2.1.50000", f"[P.], seq {1 + 50 * piece}:{51 + 50 * piece}, ack 100, win 502", 50))
    return "\n".join(f"10:00:{at:09.6f} IP {ends}: Flags {rest}, length {size}" for at, ends, rest, size in sorted(lines))


def test_a_proxy_that_collects_is_seen_on_both_legs() -> None:
    held = Case([item for item in read_text(_legs(2.11, 1)) if isinstance(item, Record)])
    assert _present(held)["proxy_buffering"] > 0.8
    passed_on = Case([item for item in read_text(_legs(0.102, 11)) if isinstance(item, Record)])
    assert "proxy_buffering" not in _present(passed_on)
