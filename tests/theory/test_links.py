"""Links: values worked out by hand from the formulas of the named standards."""

import pytest

from wirespeed.model.units import BitsPerS, Bytes, Seconds
from wirespeed.theory.links import (
    bandwidth_delay_product_bytes,
    share_of_line_ratio,
    tcp_payload_ratio,
    transfer_s,
    window_limited_bits_per_s,
)


def test_bandwidth_delay_product_of_10_gigabits_and_80_ms() -> None:
    """10e9 / 8 x 0.08 = 100 MB."""
    assert bandwidth_delay_product_bytes(BitsPerS(10e9), Seconds(0.08)) == pytest.approx(100e6)


def test_window_of_64_kib_over_100_ms() -> None:
    """65,536 x 8 / 0.1 = 5.24 Mb/s: the limit without window scaling."""
    assert window_limited_bits_per_s(Bytes(65536), Seconds(0.1)) == pytest.approx(5.24288e6)


def test_window_of_the_product_gives_the_rate_back() -> None:
    rate, round_trip = BitsPerS(25e9), Seconds(0.003)
    assert window_limited_bits_per_s(bandwidth_delay_product_bytes(rate, round_trip), round_trip) == pytest.approx(rate)


def test_transfer_of_one_gigabyte_at_8_gigabits_takes_one_second_and_half_a_round_trip() -> None:
    assert transfer_s(Bytes(1e9), BitsPerS(8e9), Seconds(0.02)) == pytest.approx(1.01)


@pytest.mark.parametrize(("mtu", "wanted"), [(1500, 1448 / 1538), (9000, 8948 / 9038)])
def test_tcp_payload_share(mtu: int, wanted: float) -> None:
    """1500: 941 Mb/s of a gigabit link, the figure iperf3 shows everywhere."""
    assert tcp_payload_ratio(Bytes(mtu)) == pytest.approx(wanted)


def test_share_of_line() -> None:
    assert share_of_line_ratio(BitsPerS(11.3e9), BitsPerS(25e9)) == pytest.approx(0.452)
