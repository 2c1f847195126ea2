"""Times of requests, checked by hand."""

import pytest

from wirespeed.theory import requests


def test_phases_of_a_tls_request() -> None:
    split = requests.phases(total_s=0.900, namelookup_s=0.004, connect_s=0.204, appconnect_s=0.409, starttransfer_s=0.712)
    assert split.name_s == 0.004
    assert split.connect_s == pytest.approx(0.200)
    assert split.tls_s == pytest.approx(0.205)
    assert split.wait_s == pytest.approx(0.303)
    assert split.transfer_s == pytest.approx(0.188)


def test_plain_http_has_no_tls() -> None:
    """curl prints 0 for time_appconnect without TLS."""
    split = requests.phases(total_s=0.3, namelookup_s=0.0, connect_s=0.001, appconnect_s=0.0, starttransfer_s=0.25)
    assert split.tls_s is None
    assert split.wait_s == pytest.approx(0.249)


def test_unknown_phase_stays_unknown() -> None:
    split = requests.phases(total_s=0.3)
    assert (split.name_s, split.connect_s, split.wait_s, split.transfer_s) == (None, None, None, None)


def test_handshake_share() -> None:
    split = requests.phases(total_s=0.240, namelookup_s=0.003, connect_s=0.058, appconnect_s=0.172, starttransfer_s=0.236)
    assert requests.handshake_share_ratio(split) == pytest.approx(0.169 / 0.240)


def test_queue_share() -> None:
    assert requests.queue_share_ratio(12.0, 1.37) == pytest.approx(12.0 / 13.37)
    assert requests.queue_share_ratio(0.0, 0.0) == 0.0


@pytest.mark.parametrize(
    ("extra_s", "is_one"),
    [(0.040, True), (0.0424, True), (0.060, True), (0.200, True), (0.012, False), (0.100, False), (0.300, False)],
)
def test_delayed_ack(extra_s: float, is_one: bool) -> None:
    assert requests.is_delayed_ack(extra_s) is is_one


@pytest.mark.parametrize(
    ("delay_s", "is_one"), [(5.012, True), (10.03, True), (15.2, True), (4.7, False), (7.5, False), (0.01, False)]
)
def test_multiple_of_the_dns_retry(delay_s: float, is_one: bool) -> None:
    assert requests.is_multiple_of(delay_s, requests.DNS_RETRY_S) is is_one


def test_new_connections_before_ports_run_out() -> None:
    """Linux's default range 32768 to 60999 holds 28,232 ports; each rests 60 s."""
    assert requests.most_new_connections_per_s(60_999 - 32_768 + 1) == pytest.approx(470.5, abs=0.1)
